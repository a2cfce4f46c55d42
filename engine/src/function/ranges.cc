// Ranges and multiranges, as penumbra/types.h has them.
#include "function/range_values.h"
#include "function/registry.h"
#include "function/text.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

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

// Of a vector of ranges or of values, each of which is the range that has nothing else in it. Constants are read
// once.
template <typename Bound>
class RangesOf {
 public:
  RangesOf(const Vector& v, uint32_t rows, Arena& arena) : are_values_(!IsStringType(v.type)) {
    if (!are_values_) {
      images_ = ViewOf<StringRef>(v, rows, arena);
    } else {
      values_ = ValueIntervals<Bound>(v, rows, arena);
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
    if (are_values_) {
      *interval = values_[row];
      return true;
    }
    return ReadSingle(images_[row], interval);
  }

 private:
  Ranges<Bound> Read(uint32_t row) const {
    return are_values_ ? Ranges<Bound>(values_[row]) : Ranges<Bound>(images_[row]);
  }

  View<StringRef> images_{};
  ValueIntervals<Bound> values_;
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
    if (const char* value = FindFinite<Bound>(images[i])) {
      out[i] = Bound::ValueOf(Bound::PlaceAt(kIsLower ? value : value + Bound::kBytesMax));
      return true;
    }
    const Ranges<Bound> ranges(images[i]);
    const auto place = kIsLower ? ranges.hull.begin : ranges.hull.end;
    const bool is_there = !ranges.is_empty && Bound::IsFinite(place);
    out[i] = is_there ? Bound::ValueOf(place) : 0;
    return is_there;
  });
  return FlatVector(expr.type, out, AndValidity(is_finite, args[0].validity, rows, context.arena));
}

// A number in the order of the places, which may be equal where these differ.
int64_t PlaceNumber(NumericBound::Place place) {
  if (!NumericBound::IsFinite(place)) return NumericBound::IsBeforeAll(place) ? INT64_MIN : INT64_MAX;
  constexpr size_t kHead = 2;  // the bound's kind and the number's, which is less than 8
  uint64_t digits = 0;
  std::memcpy(&digits, place.data() + kHead, std::min(place.size() - kHead, sizeof(digits)));
  const uint64_t key = uint64_t{static_cast<uint8_t>(place[1])} << 61 | __builtin_bswap64(digits) >> 3;
  return static_cast<int64_t>(key ^ uint64_t{1} << 63);
}

// lower, upper of numerics as such numbers: NULL of an empty range.
template <bool kIsLower>
Vector EvaluatePlace(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const RangesOf<NumericBound> ranges(args[0], rows, context.arena);
  auto* out = context.arena.AllocateArray<int64_t>(rows);
  uint64_t* is_there = context.arena.AllocateArray<uint64_t>(kValidityWords);
  PackTests(rows, is_there, [&](uint32_t i) {
    Interval<NumericBound> single;
    const bool is_single = ranges.IsSingle(i, &single);
    const Ranges<NumericBound> all = is_single ? Ranges<NumericBound>(single) : ranges[i];
    out[i] = all.is_empty ? 0 : PlaceNumber(kIsLower ? all.hull.begin : all.hull.end);
    return !all.is_empty;
  });
  return FlatVector(expr.type, out, AndValidity(is_there, args[0].validity, rows, context.arena));
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

// The engine has no numeric bounds. A call whose result is an integer asks for their places, also of a value.
EvaluateFunction ChoosePlace(const CallSite& call) {
  const PenumbraType type = call.args[0]->type;
  if (call.result != PENUMBRA_INT8 || !(IsStringType(type) || IsValueOf<NumericBound>(type))) return nullptr;
  if (call.function == PENUMBRA_FN_RANGE_LOWER) return EvaluatePlace<true>;
  return call.function == PENUMBRA_FN_RANGE_UPPER ? EvaluatePlace<false> : nullptr;
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
    case PENUMBRA_RANGE_OF_NUMERIC:
      Choose<NumericBound>(call, &binding);
      if (binding.evaluate == nullptr) binding.evaluate = ChoosePlace(call);
      break;
    default: break;
  }
  binding.evaluated_args = static_cast<int>(count) - 1;
  return binding;
}

}  // namespace penumbra
