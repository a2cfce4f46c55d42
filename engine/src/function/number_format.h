// Numbers by the patterns of to_char().
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace penumbra {

// A number without its sign, ended by a zero byte: "12.50", "0", "NaN".
struct NumberText {
  const char* text;
  uint32_t length;
  uint32_t integer_length;  // up to the point
  int decimals;             // what the format asks for, or fewer
  bool is_negative;
};

class NumberFormat {
 public:
  static constexpr size_t kBytesMax = 100;
  static constexpr size_t kResultBytesMax = 3 * kBytesMax;

  // Null: a wrong format, whose error is PostgreSQL's, or one with a pattern that stays PostgreSQL's.
  static std::shared_ptr<const NumberFormat> Parse(std::string_view format);

  int decimals() const { return decimals_; }
  // At most kResultBytesMax; returns how many.
  uint32_t Write(const NumberText& number, char* out) const;

 private:
  friend class NumberWalk;

  enum class Item : uint8_t { kNine, kZero, kPoint, kGroup, kMinus, kPlus, kSign, kByte };
  struct Node {
    Item item;
    char byte;
  };
  enum class Anchor : uint8_t { kNone, kBefore, kAfter };

  bool Add(std::string_view pattern);
  bool AddDigit(Item item);
  bool AddPoint();
  bool AddAnchoredSign();
  bool AddOwnSign(Item item, bool is_minus, bool is_plus);

  std::vector<Node> nodes_;
  int integers_ = 0;     // places before the point
  int decimals_ = 0;     // and after it
  int first_zero_ = -1;  // the first place of a 0 before the point
  int zeros_end_ = 0;    // behind the last place of a 0
  bool has_point_ = false;
  bool has_fill_mode_ = false;
  bool has_brackets_ = false;
  bool has_minus_ = false;         // MI or SG
  bool has_plus_ = false;          // PL or SG
  Anchor anchor_ = Anchor::kNone;  // of S
  int integers_before_anchor_ = 0;
};

}  // namespace penumbra
