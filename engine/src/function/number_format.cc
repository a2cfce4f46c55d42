// to_char() of numbers, as PostgreSQL has it in the C locale, down to what it does where a number has no digit left.
#include "function/number_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "function/text.h"
#include "numeric/numeric_rows.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

struct Pattern {
  std::string_view upper, lower;
};

// Those with the same first letter in the order in which PostgreSQL tries them.
constexpr Pattern kPatterns[] = {{",", ","},   {".", "."},   {"0", "0"},       {"9", "9"},   {"B", "b"},
                                 {"C", "c"},   {"D", "d"},   {"EEEE", "eeee"}, {"FM", "fm"}, {"G", "g"},
                                 {"L", "l"},   {"MI", "mi"}, {"PL", "pl"},     {"PR", "pr"}, {"RN", "rn"},
                                 {"SG", "sg"}, {"SP", "sp"}, {"S", "s"},       {"TH", "th"}, {"V", "v"}};

// The pattern at the begin, in capital letters; empty: there is none.
std::string_view PatternAt(std::string_view rest) {
  for (const Pattern& pattern : kPatterns) {
    if (rest.starts_with(pattern.upper) || rest.starts_with(pattern.lower)) return pattern.upper;
  }
  return {};
}

}  // namespace

// ---- the format

bool NumberFormat::AddDigit(Item item) {
  if (has_brackets_) return false;
  if (item == Item::kZero && first_zero_ < 0 && !has_point_) first_zero_ = integers_;
  ++(has_point_ ? decimals_ : integers_);
  if (item == Item::kZero) zeros_end_ = integers_ + decimals_;
  nodes_.push_back({item, 0});
  return true;
}

bool NumberFormat::AddPoint() {
  if (has_point_) return false;
  has_point_ = true;
  nodes_.push_back({Item::kPoint, 0});
  return true;
}

bool NumberFormat::AddAnchoredSign() {
  if (anchor_ != Anchor::kNone || has_minus_ || has_plus_ || has_brackets_) return false;
  anchor_ = has_point_ ? Anchor::kAfter : Anchor::kBefore;
  integers_before_anchor_ = integers_;
  return true;
}

bool NumberFormat::AddOwnSign(Item item, bool is_minus, bool is_plus) {
  if (anchor_ != Anchor::kNone) return false;
  has_minus_ |= is_minus;
  has_plus_ |= is_plus;
  nodes_.push_back({item, 0});
  return true;
}

bool NumberFormat::Add(std::string_view pattern) {
  switch (pattern[0]) {
    case '0': return AddDigit(Item::kZero);
    case '9': return AddDigit(Item::kNine);
    case '.':
    case 'D': return AddPoint();
    case ',':
    case 'G': nodes_.push_back({Item::kGroup, 0}); return true;
    case 'F': has_fill_mode_ = true; return true;
    case 'M': return AddOwnSign(Item::kMinus, true, false);
    default: break;
  }
  if (pattern == "PL") return AddOwnSign(Item::kPlus, false, true);
  if (pattern == "SG") return AddOwnSign(Item::kSign, true, true);
  if (pattern == "S") return AddAnchoredSign();
  if (pattern != "PR" || anchor_ != Anchor::kNone || has_minus_ || has_plus_) return false;
  has_brackets_ = true;
  return true;
}

std::shared_ptr<const NumberFormat> NumberFormat::Parse(std::string_view format) {
  if (format.size() > kBytesMax) return nullptr;
  auto parsed = std::make_shared<NumberFormat>();
  bool is_quoted = false;
  for (size_t i = 0; i < format.size();) {
    const std::string_view rest = format.substr(i);
    const std::string_view pattern = is_quoted ? std::string_view() : PatternAt(rest);
    if (!pattern.empty()) {
      if (!parsed->Add(pattern)) return nullptr;
      i += pattern.size();
    } else if (rest[0] == '"') {
      is_quoted = !is_quoted;
      ++i;
    } else {
      // In quotes a backslash takes whatever follows, elsewhere a quote only.
      const bool is_escape = rest[0] == '\\' && rest.size() > 1 && (is_quoted || rest[1] == '"');
      parsed->nodes_.push_back({Item::kByte, rest[is_escape ? 1 : 0]});
      i += is_escape ? 2 : 1;
    }
  }
  return parsed;
}

// ---- a number

// Goes along the format and the number.
class NumberWalk {
 public:
  NumberWalk(const NumberFormat& format, const NumberText& number, char* out)
      : format_(format), number_(number.text), sign_(number.is_negative ? '-' : '+'), out_(out), next_(number.text) {
    decimals_ = number.decimals;
    blanks_ = std::max(0, format.integers_ - static_cast<int>(number.integer_length));
    const bool is_filled_positive = format.has_fill_mode_ && !number.is_negative;
    if (format.has_plus_ || format.has_minus_) {
      has_brackets_ = format.has_brackets_;
      is_sign_done_ = format.has_minus_;  // it is an item of its own
    } else {
      has_brackets_ = format.has_brackets_ && !is_filled_positive;
      is_sign_done_ = is_filled_positive && format.anchor_ == Anchor::kNone;
    }
    anchor_ = format.anchor_;
    if (anchor_ == Anchor::kBefore && format.integers_ == format.integers_before_anchor_) anchor_ = Anchor::kAfter;
    places_ = decimals_ + format.integers_ - 1 + (!is_sign_done_ && blanks_ == 0 ? 1 : 0);
    if (format.has_fill_mode_ && format.has_point_) FindLastRelevant(number);
  }

  uint32_t Run() {
    char* const begin = out_;
    for (const NumberFormat::Node& node : format_.nodes_) {
      switch (node.item) {
        case Item::kByte: *out_++ = node.byte; break;
        case Item::kGroup: WriteUnlessFilled(has_digit_, ','); break;
        case Item::kMinus: WriteUnlessFilled(sign_ == '-', '-'); break;
        case Item::kPlus: WriteUnlessFilled(sign_ == '+', '+'); break;
        case Item::kSign: *out_++ = sign_; break;
        default: GoOn(node.item); break;
      }
      if (has_ended_) break;
    }
    return static_cast<uint32_t>(out_ - begin);
  }

 private:
  using Item = NumberFormat::Item;
  using Anchor = NumberFormat::Anchor;

  // In fill mode zeros at the end go, but for those that a 0 stands for.
  void FindLastRelevant(const NumberText& number) {
    if (number.integer_length == number.length) return;
    last_relevant_ = number_ + number.length - 1;
    while (*last_relevant_ == '0') --last_relevant_;
    if (format_.zeros_end_ <= blanks_) return;
    const int last_zero = std::min(static_cast<int>(number.length) - 1, format_.zeros_end_ - blanks_);
    last_relevant_ = std::max(last_relevant_, number_ + last_zero);
  }

  void WriteUnlessFilled(bool is_shown, char byte) {
    if (is_shown) {
      *out_++ = byte;
    } else if (!format_.has_fill_mode_) {
      *out_++ = ' ';
    }
  }

  bool ends_at_point() const { return last_relevant_ != nullptr && *last_relevant_ == '.'; }
  // The zero before the point that is a blank: 0.1 as 9.9 is " .1".
  bool is_hidden_zero() const {
    return format_.first_zero_ < 0 && next_ == number_ && *number_ == '0' && decimals_ != 0;
  }
  bool is_zero_place() const { return format_.first_zero_ >= 0 && format_.first_zero_ <= place_; }

  void WriteSign() {
    const bool begins = place_ >= blanks_ || format_.first_zero_ == place_;
    if (is_sign_done_ || !begins || (is_hidden_zero() && !ends_at_point())) return;
    if (anchor_ == Anchor::kAfter) return;
    if (anchor_ == Anchor::kBefore) {
      *out_++ = sign_;
    } else if (has_brackets_) {
      *out_++ = sign_ == '+' ? ' ' : '<';
    } else if (sign_ == '-') {
      *out_++ = '-';
    } else if (!format_.has_fill_mode_) {
      *out_++ = ' ';
    }
    is_sign_done_ = true;
  }

  void WriteDigit(Item item) {
    if (*next_ == '.') {
      if (!ends_at_point() || format_.has_fill_mode_) *out_++ = '.';
    } else if (last_relevant_ != nullptr && next_ > last_relevant_ && item != Item::kZero) {
      // a zero at the end
    } else if (is_hidden_zero()) {
      WriteUnlessFilled(format_.has_fill_mode_ && ends_at_point(), '0');
    } else if (*next_ == 0) {
      has_ended_ = true;  // PostgreSQL writes the end of its string
    } else {
      *out_++ = *next_;
      has_digit_ = true;
    }
    if (*next_ != 0) ++next_;
  }

  // What closes a number stands behind its last place.
  void WriteEnd() {
    int end = places_ + (blanks_ > 0 ? 1 : 0) + (format_.has_point_ ? 1 : 0);
    if (last_relevant_ != nullptr && last_relevant_ == next_) end = place_;
    if (place_ + 1 != end) return;
    if (is_sign_done_ && has_brackets_) {
      *out_++ = sign_ == '+' ? ' ' : '>';
    } else if (anchor_ == Anchor::kAfter) {
      *out_++ = sign_;
    }
  }

  void GoOn(Item item) {
    has_digit_ = false;
    WriteSign();
    if (place_ >= blanks_) {
      WriteDigit(item);
    } else if (is_zero_place()) {
      *out_++ = '0';
      has_digit_ = true;
    } else if (!format_.has_fill_mode_) {
      *out_++ = ' ';
    }
    if (!has_ended_) WriteEnd();
    ++place_;
  }

  const NumberFormat& format_;
  const char* const number_;
  const char sign_;
  char* out_;
  const char* next_;
  const char* last_relevant_ = nullptr;
  int decimals_;
  int blanks_;
  int places_;
  int place_ = 0;
  bool has_brackets_;
  bool is_sign_done_;
  bool has_digit_ = false;  // the last place was one
  bool has_ended_ = false;
  Anchor anchor_;
};

uint32_t NumberFormat::Write(const NumberText& number, char* out) const {
  if (number.integer_length <= static_cast<uint32_t>(integers_)) return NumberWalk(*this, number, out).Run();
  char overflow[kBytesMax + 2];
  const uint32_t length = static_cast<uint32_t>(integers_ + number.decimals + 1);
  std::memset(overflow, '#', length);
  overflow[integers_] = '.';
  overflow[length] = 0;
  const auto before_point = static_cast<uint32_t>(integers_);
  return NumberWalk(*this, {overflow, length, before_point, number.decimals, number.is_negative}, out).Run();
}

namespace {

constexpr size_t kNumberBytes = 24 + NumberFormat::kBytesMax;

// magnitude / 10^scale with the decimals, which it has; written up to the end of the buffer.
NumberText TextOf(uint64_t magnitude, int scale, int decimals, bool is_negative, char (&buffer)[kNumberBytes]) {
  char* const end = buffer + kNumberBytes - 1;
  *end = 0;
  char* begin = end;
  for (int i = decimals; i > 0; --i) {
    *--begin = '0';
    if (i > scale) continue;
    *begin = static_cast<char>('0' + magnitude % 10);
    magnitude /= 10;
  }
  if (decimals > 0) *--begin = '.';
  char* const point = begin;
  do {
    *--begin = static_cast<char>('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude > 0);
  return {begin, static_cast<uint32_t>(end - begin), static_cast<uint32_t>(point - begin), decimals, is_negative};
}

NumberText TextOfNumeric(int64_t value, int scale, int decimals, char (&buffer)[kNumberBytes]) {
  constexpr int kUint64Digits = 19;
  uint64_t magnitude = static_cast<uint64_t>(value < 0 ? -static_cast<int128>(value) : static_cast<int128>(value));
  if (scale - decimals > kUint64Digits) {
    magnitude = 0;
  } else if (scale > decimals) {
    const auto unit = static_cast<uint64_t>(kPowersOfTen[scale - decimals]);
    const uint64_t rest = magnitude % unit;
    magnitude = magnitude / unit + (rest >= unit - rest ? 1 : 0);
  }
  return TextOf(magnitude, std::min(scale, decimals), decimals, value < 0 && magnitude != 0, buffer);
}

NumberText TextOfDecimal(const Decimal& number, int decimals, std::string* buffer) {
  *buffer = Decimal::Round(number, decimals).ToString();
  const bool is_negative = buffer->front() == '-';
  const char* text = buffer->c_str() + (is_negative ? 1 : 0);
  const auto length = static_cast<uint32_t>(buffer->size() - (is_negative ? 1 : 0));
  const void* point = std::memchr(text, '.', length);
  const auto before = point == nullptr ? length : static_cast<uint32_t>(static_cast<const char*>(point) - text);
  return {text, length, before, decimals, is_negative};
}

// A float has as many digits as are certain; those before the point are counted as if it were rounded to an integer.
template <typename Real>
NumberText TextOfReal(Real value, int decimals, char* buffer, size_t bytes) {
  constexpr int kDigits = std::numeric_limits<Real>::digits10;
  const double magnitude = std::fabs(static_cast<double>(value));
  const bool is_finite = std::isfinite(value);
  int integers = std::isnan(value) ? 3 : 8;  // NaN, Infinity
  if (is_finite) {
    integers = 1;
    for (double limit = 10; integers < kDigits && std::nearbyint(magnitude) >= limit; limit *= 10) ++integers;
  }
  decimals = integers >= kDigits ? 0 : std::min(decimals, kDigits - integers);
  if (!is_finite) {
    const char* name = std::isnan(value) ? "NaN" : "Infinity";
    const auto length = static_cast<uint32_t>(std::strlen(name));
    return {name, length, length, decimals, value < 0};
  }
  const char* end = std::to_chars(buffer, buffer + bytes - 1, magnitude, std::chars_format::fixed, decimals).ptr;
  buffer[end - buffer] = 0;
  const auto length = static_cast<uint32_t>(end - buffer);
  const auto before = length - static_cast<uint32_t>(decimals > 0 ? decimals + 1 : 0);
  return {buffer, length, before, decimals, std::signbit(value)};
}

// f(row) -> NumberText for each valid row.
template <typename F>
Vector WriteNumbers(const Expr& expr, const Vector& numbers, uint32_t rows, EvalContext& context, F f) {
  const auto& format = *static_cast<const NumberFormat*>(expr.state.get());
  StringRef* out = NewStrings(numbers.validity, rows, context.arena);
  ForEachValid(numbers.validity, rows, [&](uint32_t i) {
    char text[NumberFormat::kResultBytesMax];
    const uint32_t length = format.Write(f(i), text);
    out[i] = StringRef(length <= StringRef::kInlineBytes ? text : context.arena.CopyBytes(text, length), length);
  });
  return FlatVector(expr.type, out, numbers.validity);
}

template <typename T>
Vector EvaluateIntegers(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const int decimals = static_cast<const NumberFormat*>(expr.state.get())->decimals();
  const View<T> values = ViewOf<T>(args[0], rows, context.arena);
  char buffer[kNumberBytes];
  return WriteNumbers(expr, args[0], rows, context, [&](uint32_t i) {
    const auto value = static_cast<int64_t>(values[i]);
    const uint64_t magnitude = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    return TextOf(magnitude, 0, decimals, value < 0, buffer);
  });
}

template <typename Real>
Vector EvaluateReals(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const int decimals = static_cast<const NumberFormat*>(expr.state.get())->decimals();
  const View<Real> values = ViewOf<Real>(args[0], rows, context.arena);
  char buffer[512];
  return WriteNumbers(expr, args[0], rows, context,
                      [&](uint32_t i) { return TextOfReal(values[i], decimals, buffer, sizeof(buffer)); });
}

Vector EvaluateNumerics(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const int decimals = static_cast<const NumberFormat*>(expr.state.get())->decimals();
  const Vector& numbers = args[0];
  if (numbers.numeric_form == NumericForm::kInt64) {
    const View<int64_t> values = ViewOf<int64_t>(numbers, rows, context.arena);
    char buffer[kNumberBytes];
    return WriteNumbers(expr, numbers, rows, context,
                        [&](uint32_t i) { return TextOfNumeric(values[i], numbers.scale, decimals, buffer); });
  }
  std::string buffer;
  return WriteNumbers(expr, numbers, rows, context,
                      [&](uint32_t i) { return TextOfDecimal(DecimalAt(numbers, i), decimals, &buffer); });
}

EvaluateFunction ChooseEvaluator(PenumbraType type) {
  switch (type) {
    case PENUMBRA_INT4: return EvaluateIntegers<int32_t>;
    case PENUMBRA_INT8: return EvaluateIntegers<int64_t>;
    case PENUMBRA_FLOAT4: return EvaluateReals<float>;
    case PENUMBRA_FLOAT8: return EvaluateReals<double>;
    case PENUMBRA_NUMERIC: return EvaluateNumerics;
    default: return nullptr;
  }
}

}  // namespace

Binding BindNumberFormat(const CallSite& call) {
  Binding binding;
  if (call.result != PENUMBRA_TEXT || call.args.size() != 2 || call.args[1]->type != PENUMBRA_TEXT) return binding;
  const EvaluateFunction evaluate = ChooseEvaluator(call.args[0]->type);
  if (evaluate == nullptr) return binding;
  const StringRef* format = KnownValue<StringRef>(*call.args[1]);
  std::shared_ptr<const NumberFormat> parsed = format == nullptr ? nullptr : NumberFormat::Parse(format->view());
  if (parsed == nullptr) {
    binding.reason = "format of to_char()";
    return binding;
  }
  binding.evaluate = evaluate;
  binding.evaluated_args = 1;
  binding.state = std::move(parsed);
  return binding;
}

}  // namespace penumbra
