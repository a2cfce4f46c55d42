#include "vector/vector.h"

#include <gtest/gtest.h>

#include "vector/arena.h"
#include "vector/string_load.h"

namespace penumbra {
namespace {

TEST(StringRefTest, ComparesBytes) {
  EXPECT_TRUE(StringRef("abcdefghijklm", 13) == StringRef(std::string_view("abcdefghijklm")));
  EXPECT_FALSE(StringRef("abc", 3) == StringRef("abd", 3));
  EXPECT_FALSE(StringRef("abcdefghijklm", 13) == StringRef("abcdefghijkln", 13));
  EXPECT_FALSE(StringRef("abc", 3) == StringRef("abc\0", 4));
}

TEST(StringRefTest, FastLoadIsTheConstructor) {
  const std::string bytes = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (uint32_t length = 0; length <= 20; ++length) {
    const StringRef fast = LoadStringRef(bytes.data(), length);
    EXPECT_TRUE(fast == StringRef(bytes.data(), length)) << length;
    EXPECT_EQ(fast.view(), bytes.substr(0, length));
  }
}

// A constant, or the rows `values` of a flat or dictionary vector of the type's width.
class VectorTest : public testing::TestWithParam<PenumbraType> {
 protected:
  static constexpr uint32_t kRows = 200;

  VectorTest() : width_(FlatWidth(GetParam(), NumericForm::kInt64)), bytes_(kRows * width_) {
    for (size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<char>(i * 37 % 251);
    for (uint32_t row = 0; row < kRows; ++row) validity_[row / 64] |= static_cast<uint64_t>(row % 7 != 3) << (row % 64);
    flat_.type = GetParam();
    flat_.data = bytes_.data();
  }
  std::string Value(const Vector& v, uint32_t row) const {
    return std::string(v.values<char>() + size_t{row} * width_, width_);
  }

  const uint32_t width_;
  std::vector<char> bytes_;
  uint64_t validity_[4] = {};
  Vector flat_;
  Arena arena_;
};

TEST_P(VectorTest, FlattensConstants) {
  Vector constant = flat_;
  constant.form = VectorForm::kConstant;
  const Vector flat = Flatten(constant, kRows, arena_);
  EXPECT_EQ(flat.form, VectorForm::kFlat);
  EXPECT_EQ(flat.validity, nullptr);
  for (uint32_t row = 0; row < kRows; ++row) EXPECT_EQ(Value(flat, row), Value(flat_, 0));

  constant.data = nullptr;
  const Vector nulls = Flatten(constant, kRows, arena_);
  EXPECT_EQ(nulls.form, VectorForm::kFlat);
  for (uint32_t row = 0; row < kRows; ++row) {
    EXPECT_FALSE(nulls.IsValid(row));
    EXPECT_EQ(Value(nulls, row), std::string(width_, '\0'));  // safe to read
  }
}

template <typename Code>
std::vector<Code> MakeCodes(uint32_t rows) {
  std::vector<Code> codes(rows);
  for (uint32_t row = 0; row < rows; ++row) codes[row] = static_cast<Code>(row * 11 % 50);
  return codes;
}

TEST_P(VectorTest, FlattensAndGathersDictionaries) {
  const auto check = [&](const auto& codes) {
    Vector dictionary = flat_;
    Vector v = flat_;
    v.form = VectorForm::kDictionary;
    v.dictionary = &dictionary;
    v.dictionary_size = 50;
    v.code_bytes = sizeof(codes[0]);
    v.data = codes.data();
    v.validity = validity_;
    const Vector flat = Flatten(v, kRows, arena_);
    EXPECT_EQ(flat.form, VectorForm::kFlat);
    for (uint32_t row = 0; row < kRows; ++row) {
      EXPECT_EQ(flat.IsValid(row), row % 7 != 3);
      EXPECT_EQ(Value(flat, row), Value(flat_, codes[row]));
    }
    const uint16_t selected[] = {5, 3, 5, 199, 0};
    const Vector gathered = Gather(v, selected, 5, arena_);
    EXPECT_EQ(gathered.form, VectorForm::kDictionary);
    for (uint32_t i = 0; i < 5; ++i) {
      EXPECT_EQ(gathered.Code(i), codes[selected[i]]);
      EXPECT_EQ(gathered.IsValid(i), selected[i] % 7 != 3);
    }
  };
  check(MakeCodes<uint8_t>(kRows));
  check(MakeCodes<uint16_t>(kRows));
  check(MakeCodes<uint32_t>(kRows));
}

TEST_P(VectorTest, GathersFlatRowsAndConstants) {
  flat_.validity = validity_;
  EXPECT_EQ(Flatten(flat_, kRows, arena_).data, flat_.data);
  const uint16_t selected[] = {199, 3, 3, 64, 10};
  const Vector gathered = Gather(flat_, selected, 5, arena_);
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(Value(gathered, i), Value(flat_, selected[i]));
    EXPECT_EQ(gathered.IsValid(i), selected[i] % 7 != 3);
  }
  // Without nulls among the rows the vector says so.
  EXPECT_EQ(Gather(flat_, selected + 3, 1, arena_).validity, nullptr);
  Vector constant = flat_;
  constant.form = VectorForm::kConstant;
  constant.validity = nullptr;
  EXPECT_EQ(Gather(constant, selected, 5, arena_).data, constant.data);
}

INSTANTIATE_TEST_SUITE_P(Widths, VectorTest,
                         testing::Values(PENUMBRA_BOOL, PENUMBRA_INT2, PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_UUID));

}  // namespace
}  // namespace penumbra
