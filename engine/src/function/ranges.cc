// Ranges and multiranges, as penumbra/types.h has them.
#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "function/registry.h"
#include "function/text.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// A bound is a place between values: before or behind its own value, before all, or behind all. A range has the values
// between its places, so an inclusive bound and an exclusive one are compared alike.

enum : uint8_t { kBeforeAll, kFinite, kBehindAll };
enum : uint8_t { kEmpty, kNotEmpty };

// The place as a number: a bit for finite ones, the value with its sign bit inverted, and whether it is behind that.
template <int kValueBytes>
struct IntegerBound {
  using Place = std::conditional_t<kValueBytes == 4, uint64_t, uint128>;
  using Value = std::conditional_t<kValueBytes == 4, int32_t, int64_t>;
  using Bits = std::make_unsigned_t<Value>;
  static constexpr uint32_t kHeadBytes = 1;
  static constexpr Bits kSignBit = Bits{1} << (8 * kValueBytes - 1);
  static constexpr Place kFiniteBit = Place{1} << (8 * kValueBytes + 8);
  static constexpr uint32_t kBytesMax = 1 + kValueBytes + 1;

  static Bits Swap(Bits bits) {
    if constexpr (kValueBytes == 4) {
      return __builtin_bswap32(bits);
    } else {
      return __builtin_bswap64(bits);
    }
  }
  // What is behind the bound; null: the bytes are no bound.
  static const char* Read(const char* next, const char* end, Place* place) {
    if (next == end) return nullptr;
    const uint8_t kind = static_cast<uint8_t>(*next++);
    *place = kind == kBeforeAll ? Place{0} : ~Place{0};
    if (kind != kFinite) return next;
    if (end - next < kValueBytes + 1) return nullptr;
    Bits bits;
    std::memcpy(&bits, next, sizeof(bits));
    *place = kFiniteBit | Place{Swap(bits)} << 8 | static_cast<uint8_t>(next[kValueBytes]);
    return next + kValueBytes + 1;
  }
  static char* Write(Place place, char* to) {
    if (!IsFinite(place)) {
      *to++ = static_cast<char>(place == 0 ? kBeforeAll : kBehindAll);
      return to;
    }
    const Bits bits = Swap(static_cast<Bits>(place >> 8));
    *to++ = kFinite;
    std::memcpy(to, &bits, sizeof(bits));
    to[kValueBytes] = IsBehind(place);
    return to + kValueBytes + 1;
  }
  static bool IsFinite(Place place) { return place >= kFiniteBit && place != ~Place{0}; }
  static bool IsBeforeAll(Place place) { return place == 0; }
  static bool IsBehind(Place place) { return (place & 1) != 0; }
  static Value ValueOf(Place place) { return static_cast<Value>(static_cast<Bits>(place >> 8) ^ kSignBit); }
  static Place PlaceOf(Value value, bool is_behind) {
    return kFiniteBit | Place{static_cast<Bits>(static_cast<Bits>(value) ^ kSignBit)} << 8 | is_behind;
  }
};

// The place as the bytes of the bound, which are in order.
struct NumericBound {
  using Place = std::string_view;
  static constexpr uint32_t kHeadBytes = 0;
  // What a number begins with if it has digits.
  enum : uint8_t { kNegative = 1, kPositive = 3 };

  // Digits end with zeros, of a negative number with ones.
  static const char* ReadDigits(const char* next, const char* end, bool is_negative) {
    const uint16_t last = is_negative ? 0xFFFF : 0;
    if (end - next < 2) return nullptr;
    for (next += 2; end - next >= 2; next += 2) {
      uint16_t digit;
      std::memcpy(&digit, next, sizeof(digit));
      if (digit == last) return next + 2;
    }
    return nullptr;
  }
  static const char* Read(const char* next, const char* end, Place* place) {
    const char* begin = next;
    if (next == end) return nullptr;
    if (*next++ == kFinite) {
      if (next == end) return nullptr;
      const uint8_t kind = static_cast<uint8_t>(*next++);
      if (kind == kNegative || kind == kPositive) next = ReadDigits(next, end, kind == kNegative);
      if (next == nullptr || next >= end) return nullptr;
      ++next;
    }
    *place = Place(begin, static_cast<size_t>(next - begin));
    return next;
  }
  static bool IsFinite(Place place) { return !place.empty() && place[0] == kFinite; }
  static bool IsBeforeAll(Place place) { return !place.empty() && place[0] == kBeforeAll; }
  static bool IsBehind(Place place) { return place.back() != 0; }
};

// The engine's values that a range of such bounds can have in it; of numerics none.
template <typename Bound>
constexpr bool kHasValues = !std::is_same_v<Bound, NumericBound>;
template <typename Bound>
using ValueOf = typename std::conditional_t<kHasValues<Bound>, Bound, IntegerBound<4>>::Value;

template <typename Bound>
struct Interval {
  typename Bound::Place begin{}, end{};
};

template <typename Bound>
Interval<Bound> IntervalOf(ValueOf<Bound> value) {
  return {Bound::PlaceOf(value, false), Bound::PlaceOf(value, true)};
}

// Where the bytes of an image end that compare: those of numerics may have a tail behind them (penumbra/types.h).
template <typename Bound>
const char* EndOf(const StringRef& image) {
  const uint32_t tail = kHasValues<Bound> ? 0 : penumbra_tail_bytes(image.data(), image.length);
  return image.data() + image.length - tail;
}

// The ranges of a value one by one, without empty ones. A null row's bytes may be any.
template <typename Bound>
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(const StringRef& image)
      : next_(image.data() + std::min(image.length, Bound::kHeadBytes)), end_(EndOf<Bound>(image)) {}

  bool Next(Interval<Bound>* interval) {
    while (next_ != end_) {
      const char kind = *next_++;
      if (kind == kEmpty) continue;
      if (kind != kNotEmpty) break;
      const char* next = Bound::Read(next_, end_, &interval->begin);
      if (next != nullptr) next = Bound::Read(next, end_, &interval->end);
      if (next == nullptr) break;
      next_ = next;
      return true;
    }
    next_ = end_;
    return false;
  }
  bool is_at_end() const { return next_ == end_; }

 private:
  const char *next_ = nullptr, *end_ = nullptr;
};

template <typename Bound>
struct Ranges {
  Interval<Bound> first;
  Interval<Bound> hull;  // from the begin of the first range to the end of the last
  Cursor<Bound> others;  // behind the first
  bool is_empty = true;
  bool is_single = true;

  Ranges() = default;
  explicit Ranges(const StringRef& image) : others(image) {
    is_empty = !others.Next(&first);
    hull = first;
    if (others.is_at_end()) return;
    Cursor<Bound> cursor = others;
    for (Interval<Bound> next; cursor.Next(&next); is_single = false) hull.end = next.end;
  }
  explicit Ranges(const Interval<Bound>& only) : first(only), hull(only), is_empty(false) {}
};

// Whether the value is one range that is not empty, as most are. Behind it there may be empty ones: short images end
// so.
template <typename Bound>
bool ReadSingle(const StringRef& image, Interval<Bound>* interval) {
  const char *next = image.data() + Bound::kHeadBytes, *end = EndOf<Bound>(image);
  if (image.length <= Bound::kHeadBytes || *next++ != kNotEmpty) return false;
  next = Bound::Read(next, end, &interval->begin);
  if (next != nullptr) next = Bound::Read(next, end, &interval->end);
  while (next != nullptr && next != end && *next == kEmpty) ++next;
  return next == end;
}

template <typename Bound>
bool Contains(const Ranges<Bound>& a, const Ranges<Bound>& b) {
  if (b.is_empty) return true;
  if (a.is_empty || b.hull.begin < a.hull.begin || a.hull.end < b.hull.end) return false;
  if (a.is_single) return true;
  Cursor<Bound> outer = a.others, inner = b.others;
  Interval<Bound> one = a.first, other = b.first;
  do {
    while (one.end < other.end) {
      if (!outer.Next(&one)) return false;
    }
    if (other.begin < one.begin) return false;
  } while (inner.Next(&other));
  return true;
}

template <typename Bound>
bool AreApart(const Interval<Bound>& a, const Interval<Bound>& b) {
  return !(a.begin < b.end && b.begin < a.end);
}

template <typename Bound>
bool Overlap(const Ranges<Bound>& a, const Ranges<Bound>& b) {
  if (a.is_empty || b.is_empty || AreApart(a.hull, b.hull)) return false;
  if (a.is_single && b.is_single) return true;
  Cursor<Bound> ones = a.others, others = b.others;
  Interval<Bound> one = a.first, other = b.first;
  while (AreApart(one, other)) {
    if (!(one.end < other.end ? ones.Next(&one) : others.Next(&other))) return false;
  }
  return true;
}

// Of two that are not empty and single.
template <PenumbraFunction kFunction, typename Bound>
bool TestIntervals(const Interval<Bound>& a, const Interval<Bound>& b) {
  if constexpr (kFunction == PENUMBRA_FN_RANGE_CONTAINS) return !(b.begin < a.begin) & !(a.end < b.end);
  if constexpr (kFunction == PENUMBRA_FN_RANGE_OVERLAPS) return !AreApart(a, b);
  if constexpr (kFunction == PENUMBRA_FN_RANGE_BEFORE) return !(b.begin < a.end);
  if constexpr (kFunction == PENUMBRA_FN_RANGE_OVERLEFT) return !(b.end < a.end);
  if constexpr (kFunction == PENUMBRA_FN_RANGE_OVERRIGHT) return !(a.begin < b.begin);
  return a.end == b.begin || b.end == a.begin;
}

template <PenumbraFunction kFunction, typename Bound>
bool TestPair(const Ranges<Bound>& a, const Ranges<Bound>& b) {
  if constexpr (kFunction == PENUMBRA_FN_RANGE_CONTAINS) return Contains(a, b);
  if constexpr (kFunction == PENUMBRA_FN_RANGE_OVERLAPS) return Overlap(a, b);
  return !a.is_empty && !b.is_empty && TestIntervals<kFunction>(a.hull, b.hull);
}

// Of a vector of ranges or of integers, each of which is the range that has nothing else in it. Constants are read
// once.
template <typename Bound>
class RangesOf {
 public:
  RangesOf(const Vector& v, uint32_t rows, Arena& arena) : are_values_(!IsStringType(v.type)) {
    if (!are_values_) {
      images_ = ViewOf<StringRef>(v, rows, arena);
    } else if constexpr (kHasValues<Bound>) {
      values_ = ViewOf<ValueOf<Bound>>(v, rows, arena);
    }
    is_constant_ = v.is_constant();
    if (is_constant_) constant_ = Read(0);
  }
  Ranges<Bound> operator[](uint32_t row) const { return is_constant_ ? constant_ : Read(row); }
  // As ReadSingle().
  bool IsSingle(uint32_t row, Interval<Bound>* interval) const {
    if (is_constant_) {
      *interval = constant_.hull;
      return constant_.is_single && !constant_.is_empty;
    }
    if constexpr (kHasValues<Bound>) {
      if (are_values_) {
        *interval = IntervalOf<Bound>(values_[row]);
        return true;
      }
    }
    return ReadSingle(images_[row], interval);
  }

 private:
  Ranges<Bound> Read(uint32_t row) const {
    if constexpr (kHasValues<Bound>) {
      if (are_values_) return Ranges<Bound>(IntervalOf<Bound>(values_[row]));
    }
    return Ranges<Bound>(images_[row]);
  }

  View<StringRef> images_{};
  View<ValueOf<Bound>> values_{};
  bool are_values_, is_constant_;
  Ranges<Bound> constant_;
};

template <typename Bound, PenumbraFunction kFunction>
void EvaluatePairs(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const RangesOf<Bound> a(args[0], rows, context.arena), b(args[1], rows, context.arena);
  PackTests(rows, truth->is_true, [&](uint32_t i) {
    Interval<Bound> one, other;
    if (a.IsSingle(i, &one) && b.IsSingle(i, &other)) return TestIntervals<kFunction>(one, other);
    return TestPair<kFunction>(a[i], b[i]);
  });
  ApplyValidity(StrictValidity(expr, args, rows, context.arena), rows, truth);
}

template <typename Bound, PenumbraFunction kFunction>
bool TestOne(const Ranges<Bound>& ranges) {
  const auto begin = ranges.hull.begin, end = ranges.hull.end;
  if constexpr (kFunction == PENUMBRA_FN_RANGE_IS_EMPTY) return ranges.is_empty;
  if (ranges.is_empty) return false;
  if constexpr (kFunction == PENUMBRA_FN_RANGE_LOWER_INC) return Bound::IsFinite(begin) && !Bound::IsBehind(begin);
  if constexpr (kFunction == PENUMBRA_FN_RANGE_UPPER_INC) return Bound::IsFinite(end) && Bound::IsBehind(end);
  if constexpr (kFunction == PENUMBRA_FN_RANGE_LOWER_INF) return Bound::IsBeforeAll(begin);
  return !Bound::IsFinite(end);
}

template <typename Bound, PenumbraFunction kFunction>
void EvaluateOne(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const View<StringRef> images = ViewOf<StringRef>(args[0], rows, context.arena);
  PackTests(rows, truth->is_true, [&](uint32_t i) { return TestOne<Bound, kFunction>(Ranges<Bound>(images[i])); });
  ApplyValidity(StrictValidity(expr, args, rows, context.arena), rows, truth);
}

// lower, upper: NULL of an empty range and of an infinite bound.
template <typename Bound, bool kIsLower>
Vector EvaluateBound(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> images = ViewOf<StringRef>(args[0], rows, context.arena);
  auto* out = context.arena.AllocateArray<ValueOf<Bound>>(rows);
  uint64_t* is_finite = context.arena.AllocateArray<uint64_t>(kValidityWords);
  PackTests(rows, is_finite, [&](uint32_t i) {
    Interval<Bound> hull;
    bool is_empty = false;
    if (!ReadSingle(images[i], &hull)) {
      const Ranges<Bound> ranges(images[i]);
      hull = ranges.hull;
      is_empty = ranges.is_empty;
    }
    const auto place = kIsLower ? hull.begin : hull.end;
    const bool is_there = !is_empty && Bound::IsFinite(place);
    out[i] = is_there ? Bound::ValueOf(place) : 0;
    return is_there;
  });
  return FlatVector(expr.type, out, AndValidity(is_finite, args[0].validity, rows, context.arena));
}

template <typename Bound>
StringRef WriteRange(char head, const Interval<Bound>& interval, Arena& arena) {
  char* image = arena.AllocateArray<char>(2 + 2 * Bound::kBytesMax);
  image[0] = head;
  image[1] = interval.begin < interval.end ? kNotEmpty : kEmpty;
  char* end = image + 2;
  if (image[1] == kNotEmpty) end = Bound::Write(interval.end, Bound::Write(interval.begin, end));
  return StringRef(image, static_cast<uint32_t>(end - image));
}

template <typename Bound>
Vector EvaluateIntersection(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> others = ViewOf<StringRef>(args[1], rows, context.arena);
  return MapText(expr, args, rows, context, [&](const StringRef& image, uint32_t i) {
    const Ranges<Bound> a(image), b(others[i]);
    if (a.is_empty || b.is_empty) return WriteRange<Bound>(*image.data(), {}, context.arena);
    return WriteRange<Bound>(*image.data(), {std::max(a.hull.begin, b.hull.begin), std::min(a.hull.end, b.hull.end)},
                             context.arena);
  });
}

// Whether values of the type can be in such ranges.
template <typename Bound>
bool IsValueOf(PenumbraType type) {
  if constexpr (!kHasValues<Bound>) return false;
  return IsIntegerType(type, NumericForm::kPayload) && FlatWidth(type, NumericForm::kPayload) == sizeof(ValueOf<Bound>);
}

template <typename Bound>
EvaluateTruthFunction ChooseTest(PenumbraFunction function) {
  switch (function) {
    case PENUMBRA_FN_RANGE_CONTAINS: return EvaluatePairs<Bound, PENUMBRA_FN_RANGE_CONTAINS>;
    case PENUMBRA_FN_RANGE_OVERLAPS: return EvaluatePairs<Bound, PENUMBRA_FN_RANGE_OVERLAPS>;
    case PENUMBRA_FN_RANGE_BEFORE: return EvaluatePairs<Bound, PENUMBRA_FN_RANGE_BEFORE>;
    case PENUMBRA_FN_RANGE_OVERLEFT: return EvaluatePairs<Bound, PENUMBRA_FN_RANGE_OVERLEFT>;
    case PENUMBRA_FN_RANGE_OVERRIGHT: return EvaluatePairs<Bound, PENUMBRA_FN_RANGE_OVERRIGHT>;
    case PENUMBRA_FN_RANGE_ADJACENT: return EvaluatePairs<Bound, PENUMBRA_FN_RANGE_ADJACENT>;
    case PENUMBRA_FN_RANGE_IS_EMPTY: return EvaluateOne<Bound, PENUMBRA_FN_RANGE_IS_EMPTY>;
    case PENUMBRA_FN_RANGE_LOWER_INC: return EvaluateOne<Bound, PENUMBRA_FN_RANGE_LOWER_INC>;
    case PENUMBRA_FN_RANGE_UPPER_INC: return EvaluateOne<Bound, PENUMBRA_FN_RANGE_UPPER_INC>;
    case PENUMBRA_FN_RANGE_LOWER_INF: return EvaluateOne<Bound, PENUMBRA_FN_RANGE_LOWER_INF>;
    case PENUMBRA_FN_RANGE_UPPER_INF: return EvaluateOne<Bound, PENUMBRA_FN_RANGE_UPPER_INF>;
    default: return nullptr;
  }
}

// Of ranges of integers.
template <typename Bound>
EvaluateFunction ChooseValue(const CallSite& call) {
  const bool is_value = IsValueOf<Bound>(call.result);
  switch (call.function) {
    case PENUMBRA_FN_RANGE_LOWER: return is_value ? EvaluateBound<Bound, true> : nullptr;
    case PENUMBRA_FN_RANGE_UPPER: return is_value ? EvaluateBound<Bound, false> : nullptr;
    case PENUMBRA_FN_RANGE_INTERSECT: return call.result == PENUMBRA_TEXT ? EvaluateIntersection<Bound> : nullptr;
    default: return nullptr;
  }
}

template <typename Bound>
void Choose(const CallSite& call, Binding* binding) {
  for (size_t i = 0; i + 1 < call.args.size(); ++i) {
    const bool may_be_value = call.function < PENUMBRA_FN_RANGE_INTERSECT;
    if (!IsStringType(call.args[i]->type) && !(may_be_value && IsValueOf<Bound>(call.args[i]->type))) return;
  }
  if (call.result == PENUMBRA_BOOL) binding->evaluate_truth = ChooseTest<Bound>(call.function);
  if (binding->evaluate_truth != nullptr) binding->evaluate = EvaluateByTruth;
  if constexpr (kHasValues<Bound>) {
    if (binding->evaluate == nullptr) binding->evaluate = ChooseValue<Bound>(call);
  }
}

}  // namespace

Binding BindRange(const CallSite& call) {
  Binding binding;
  if (call.function < PENUMBRA_FN_RANGE_CONTAINS || call.function > PENUMBRA_FN_RANGE_UPPER_INF) return binding;
  const size_t count = call.function <= PENUMBRA_FN_RANGE_INTERSECT ? 3 : 2;
  const Expr* last = call.args.empty() ? nullptr : call.args.back();
  if (call.args.size() != count || last->type != PENUMBRA_INT4 || KnownValue<int32_t>(*last) == nullptr) return binding;
  switch (*KnownValue<int32_t>(*last)) {
    case PENUMBRA_RANGE_OF_INT4: Choose<IntegerBound<4>>(call, &binding); break;
    case PENUMBRA_RANGE_OF_INT8: Choose<IntegerBound<8>>(call, &binding); break;
    case PENUMBRA_RANGE_OF_NUMERIC: Choose<NumericBound>(call, &binding); break;
    default: break;
  }
  binding.evaluated_args = static_cast<int>(count) - 1;
  return binding;
}

}  // namespace penumbra
