#include "function/in_list.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "function/made_once.h"
#include "kernels/kernels.h"
#include "numeric/numeric.h"
#include "vector/value_order.h"
#include "vector/value_set.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// Up to this many integers are compared one after the other: a pass of the kernel costs less than a look-up.
constexpr size_t kMaxPasses = 8;
// A range of integers up to this wide becomes a table.
constexpr uint64_t kMaxTableEntries = 1 << 16;
// NUMERIC lists keep a set of integers for each display scale that a vector may have, up to this one.
constexpr int kMaxSetScale = 20;
// 10 to this power is an int64.
constexpr int kMaxPowerShift = 18;
// Between two looks at a cancel.
constexpr size_t kCheckedElements = 4096;

// Made of the elements when a vector asks for it: planning and zone maps have no need of it.
struct ElementSets {
  bool has_null = false;
  Arena arena;  // of keys that are no element's bytes

  // Integers, dates, timestamps, booleans; floats as canonical bits. Of few integers there is no set.
  std::vector<int64_t> few_integers;
  ValueSet<int64_t> integer_set;
  int64_t table_base = 0;
  std::vector<uint8_t> table;

  ValueSet<int128> wide_set;  // intervals, uuids
  ValueSet<StringRef> text_set;
  ValueSet<std::string_view> string_set;  // of other types

  // Sets of NUMERIC are made when a vector asks for them.
  std::vector<std::string_view> numerics;  // payloads
  struct CanonicalSet {
    Arena arena;
    ValueSet<std::string_view> set;
  };
  MadeOnce<CanonicalSet> canonical;
  MadeOnce<ValueSet<int64_t>> of_scale[kMaxSetScale + 1];
};

using InList = MadeOnce<ElementSets>;

// The elements in the form in which values of the column's type are compared: what is equal in SQL has equal keys.
struct ElementKeys {
  std::vector<int64_t> integers;
  std::vector<int128> wide;
  std::vector<StringRef> texts;
  std::vector<std::string_view> strings;
};

// No set is made of nothing: not all lists have elements of all forms.
template <typename Key>
ValueSet<Key> SetOf(const std::vector<Key>& keys, const EvalContext& context) {
  return keys.empty() ? ValueSet<Key>() : ValueSet<Key>(keys, [&context] { context.CheckCancelled(); });
}

int64_t CanonicalBits(double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<int64_t>(value + 0.0);  // -0 becomes 0
}

// As char(n) is compared.
std::string_view TrimmedOf(const StringRef& s) { return {s.data(), TrimmedLength(s.data(), s.length)}; }

// A uuid may lie at any address.
int128 UuidAt(const Vector& v, uint32_t i) {
  int128 key;
  std::memcpy(&key, v.values<char>() + size_t{i} * sizeof(key), sizeof(key));
  return key;
}

// The bytes of a string that lies on the stack.
std::string_view KeepView(const StringRef& s, Arena& arena) { return {arena.CopyBytes(s.data(), s.length), s.length}; }

std::string_view PayloadAt(const Vector& v, uint32_t i, Arena& arena) {
  if (v.numeric_form == NumericForm::kPayload) return v.values<StringRef>()[i].view();
  return KeepView(DecimalAt(v, i).ToPayload(arena), arena);
}

void AddElements(const Vector& v, uint32_t count, const EvalContext& context, ElementSets* sets, ElementKeys* keys) {
  const auto for_each = [&](const auto& add) {
    for (uint32_t i = 0; i < count; ++i) {
      if (i % kCheckedElements == 0) context.CheckCancelled();
      if (v.IsValid(i)) {
        add(i);
      } else {
        sets->has_null = true;
      }
    }
  };
  switch (v.type) {
    case PENUMBRA_FLOAT4:
      return for_each([&](uint32_t i) { keys->integers.push_back(CanonicalBits(v.values<float>()[i])); });
    case PENUMBRA_FLOAT8:
      return for_each([&](uint32_t i) { keys->integers.push_back(CanonicalBits(v.values<double>()[i])); });
    case PENUMBRA_INTERVAL:
      return for_each([&](uint32_t i) { keys->wide.push_back(IntervalSpan(v.values<PenumbraInterval>()[i])); });
    case PENUMBRA_TEXT: return for_each([&](uint32_t i) { keys->texts.push_back(v.values<StringRef>()[i]); });
    case PENUMBRA_BPCHAR:
      return for_each([&](uint32_t i) { keys->strings.push_back(TrimmedOf(v.values<StringRef>()[i])); });
    case PENUMBRA_UUID: return for_each([&](uint32_t i) { keys->wide.push_back(UuidAt(v, i)); });
    case PENUMBRA_NUMERIC: return for_each([&](uint32_t i) { sets->numerics.push_back(PayloadAt(v, i, sets->arena)); });
    case PENUMBRA_BOOL:
    case PENUMBRA_INT2:
    case PENUMBRA_INT4:
    case PENUMBRA_INT8:
    case PENUMBRA_DATE:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return for_each([&](uint32_t i) { keys->integers.push_back(IntegerAt(v, i)); });
    case PENUMBRA_ARRAY: break;
  }
}

void BuildIntegers(PenumbraType type, std::vector<int64_t> keys, const EvalContext& context, ElementSets* sets) {
  if (keys.empty()) return;
  if (!IsFloat(type) && keys.size() <= kMaxPasses) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    sets->few_integers = std::move(keys);
    return;
  }
  const auto [least, greatest] = std::minmax_element(keys.begin(), keys.end());
  const uint64_t width = static_cast<uint64_t>(*greatest) - static_cast<uint64_t>(*least);
  if (IsFloat(type) || width >= kMaxTableEntries) {
    sets->integer_set = SetOf(keys, context);
    return;
  }
  sets->table_base = *least;
  sets->table.assign(width + 1, 0);
  for (int64_t key : keys) sets->table[static_cast<uint64_t>(key) - static_cast<uint64_t>(sets->table_base)] = 1;
}

// A narrow range has a table and a long list a hash set; a short list takes a pass over the vector per element.
template <typename T>
void FindIntegers(const ElementSets& sets, const T* values, uint32_t rows, uint64_t* bits) {
  if (!sets.table.empty()) {
    const uint64_t size = sets.table.size(), base = static_cast<uint64_t>(sets.table_base);
    PackTests(rows, bits, [&](uint32_t i) {
      const uint64_t entry = static_cast<uint64_t>(int64_t{values[i]}) - base;
      return entry < size && sets.table[entry] != 0;
    });
    return;
  }
  if (sets.few_integers.empty()) {
    sets.integer_set.Find(rows, [values](uint32_t i) { return int64_t{values[i]}; }, bits);
    return;
  }
  std::fill_n(bits, BitWords(rows), 0);
  for (int64_t key : sets.few_integers) {
    if (key < int64_t{std::numeric_limits<T>::min()} || key > int64_t{std::numeric_limits<T>::max()}) continue;
    uint64_t equal[kValidityWords];
    kernels::CompareConstant<T>(kernels::Compare::kEq, values, static_cast<T>(key), rows, equal);
    kernels::OrBits(bits, equal, rows);
  }
}

template <typename T>
void FindFloats(const ElementSets& sets, const T* values, uint32_t rows, uint64_t* bits) {
  sets.integer_set.Find(rows, [values](uint32_t i) { return CanonicalBits(values[i]); }, bits);
}

// The element as an integer of that scale, if it is one.
bool FindScaledInteger(std::string_view payload, int scale, int64_t* key) {
  int own_scale;
  if (PayloadToInt64(payload.data(), static_cast<uint32_t>(payload.size()), key, &own_scale) && own_scale <= scale &&
      scale - own_scale <= kMaxPowerShift) {
    return !__builtin_mul_overflow(*key, static_cast<int64_t>(kPowersOfTen[scale - own_scale]), key);
  }
  const Decimal element = Decimal::FromPayload(payload);
  if (element.kind() != Decimal::Kind::kFinite) return false;
  const Decimal rescaled = Decimal::Round(element, scale);
  int128 value;
  if (Decimal::Compare(rescaled, element) != 0 || !rescaled.ToScaledInteger(&value)) return false;
  *key = static_cast<int64_t>(value);
  return *key == value;
}

const ValueSet<int64_t>& SetOfScale(const ElementSets& sets, int scale, const EvalContext& context) {
  return sets.of_scale[scale].Get(context, [&] {
    std::vector<int64_t> keys;
    for (size_t i = 0; i < sets.numerics.size(); ++i) {
      if (i % kCheckedElements == 0) context.CheckCancelled();
      int64_t key;
      if (FindScaledInteger(sets.numerics[i], scale, &key)) keys.push_back(key);
    }
    return std::make_unique<ValueSet<int64_t>>(SetOf(keys, context));
  });
}

const ValueSet<std::string_view>& CanonicalSet(const ElementSets& sets, const EvalContext& context) {
  const auto make = [&] {
    auto canonical = std::make_unique<ElementSets::CanonicalSet>();
    Arena& arena = canonical->arena;
    std::vector<std::string_view> keys;
    for (size_t i = 0; i < sets.numerics.size(); ++i) {
      if (i % kCheckedElements == 0) context.CheckCancelled();
      keys.push_back(KeepView(CanonicalPayload(sets.numerics[i], arena), arena));
    }
    canonical->set = SetOf(keys, context);
    return canonical;
  };
  return sets.canonical.Get(context, make).set;
}

// int64 values of a common scale are looked up in a set made for that scale, others by their canonical bytes.
void FindNumerics(const ElementSets& sets, const Vector& v, uint32_t rows, EvalContext& context, uint64_t* bits) {
  if (v.numeric_form == NumericForm::kInt64 && v.scale >= 0 && v.scale <= kMaxSetScale) {
    const ValueSet<int64_t>& set = SetOfScale(sets, v.scale, context);
    const int64_t* values = v.values<int64_t>();
    set.Find(rows, [values](uint32_t i) { return values[i]; }, bits);
    return;
  }
  const ValueSet<std::string_view>& set = CanonicalSet(sets, context);
  switch (v.numeric_form) {
    case NumericForm::kInt64:
      PackTests(rows, bits, [&](uint32_t i) {
        const int64_t value = v.values<int64_t>()[i];
        return set.Contains(CanonicalInteger(value, v.scale, context.arena).view());
      });
      return;
    case NumericForm::kInt128:
      PackTests(rows, bits, [&](uint32_t i) {
        if (!v.IsValid(i)) return false;
        const int128 value = v.values<int128>()[i];
        return set.Contains(CanonicalInteger(value, v.scale, context.arena).view());
      });
      return;
    case NumericForm::kPayload:
      PackTests(rows, bits, [&](uint32_t i) {
        if (!v.IsValid(i)) return false;
        const StringRef& payload = v.values<StringRef>()[i];
        return set.Contains(CanonicalPayload(payload.view(), context.arena).view());
      });
      return;
  }
}

std::unique_ptr<ElementSets> MakeSets(const Expr& expr, const EvalContext& context) {
  const PenumbraType type = expr.args[0]->type;
  auto sets = std::make_unique<ElementSets>();
  ElementKeys keys;
  for (size_t i = 1; i < expr.args.size(); ++i) {
    AddElements(expr.args[i]->constant, expr.args[i]->constant_count(), context, sets.get(), &keys);
  }
  BuildIntegers(type, std::move(keys.integers), context, sets.get());
  sets->wide_set = SetOf(keys.wide, context);
  sets->text_set = SetOf(keys.texts, context);
  sets->string_set = SetOf(keys.strings, context);
  return sets;
}

// The bits of null rows are arbitrary: ApplyValidity() clears them.
void FindRows(const ElementSets& sets, const Vector& v, uint32_t rows, EvalContext& context, uint64_t* bits) {
  switch (v.type) {
    case PENUMBRA_BOOL: return FindIntegers(sets, v.values<uint8_t>(), rows, bits);
    case PENUMBRA_INT2: return FindIntegers(sets, v.values<int16_t>(), rows, bits);
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return FindIntegers(sets, v.values<int32_t>(), rows, bits);
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return FindIntegers(sets, v.values<int64_t>(), rows, bits);
    case PENUMBRA_FLOAT4: return FindFloats(sets, v.values<float>(), rows, bits);
    case PENUMBRA_FLOAT8: return FindFloats(sets, v.values<double>(), rows, bits);
    case PENUMBRA_NUMERIC: return FindNumerics(sets, v, rows, context, bits);
    case PENUMBRA_INTERVAL: {
      const PenumbraInterval* values = v.values<PenumbraInterval>();
      return sets.wide_set.Find(rows, [values](uint32_t i) { return IntervalSpan(values[i]); }, bits);
    }
    case PENUMBRA_UUID: return sets.wide_set.Find(rows, [&v](uint32_t i) { return UuidAt(v, i); }, bits);
    case PENUMBRA_TEXT: {
      const StringRef* values = v.values<StringRef>();
      return sets.text_set.Find(rows, [values](uint32_t i) -> const StringRef& { return values[i]; }, bits);
    }
    case PENUMBRA_BPCHAR: {
      const StringRef* values = v.values<StringRef>();
      return sets.string_set.Find(rows, [values](uint32_t i) { return TrimmedOf(values[i]); }, bits);
    }
    case PENUMBRA_ARRAY: break;
  }
}

// A row that is not found is null when the list has a null, and false (NOT IN: true) when not.
template <bool kNegated>
void EvaluateInList(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const auto& list = *static_cast<const InList*>(expr.state.get());
  const ElementSets& sets = list.Get(context, [&] { return MakeSets(expr, context); });
  const uint32_t words = BitWords(rows);
  uint64_t found[kValidityWords];
  FindRows(sets, args[0], rows, context, found);
  for (uint32_t w = 0; w < words; ++w) {
    truth->is_true[w] = kNegated ? (sets.has_null ? 0 : ~found[w]) : found[w];
  }
  if (words > 0) truth->is_true[words - 1] &= LastWordMask(rows);
  ApplyValidity(args[0].validity, rows, truth);
  if (!sets.has_null) return;
  truth->has_nulls = true;
  for (uint32_t w = 0; w < words; ++w) {
    const uint64_t valid = args[0].validity == nullptr ? ~uint64_t{0} : args[0].validity[w];
    truth->is_null[w] = ~(found[w] & valid);
  }
}

// x IN () is false whatever x is, unless x fails.
template <bool kNegated>
Vector EvaluateEmptyList(const Expr& expr, const Batch& batch, EvalContext& context) {
  static const uint8_t kValue = kNegated;
  (void)Evaluate(*expr.args[0], batch, context);
  Vector v = NullConstant(PENUMBRA_BOOL);
  v.data = &kValue;
  return v;
}

}  // namespace

// A list with an element that is not constant is refused. All threads share the state.
Binding BindInList(const CallSite& call) {
  Binding binding;
  if (call.result != PENUMBRA_BOOL || call.args.empty()) return binding;
  const bool is_negated = call.function == PENUMBRA_FN_NOT_IN_LIST;
  uint64_t element_count = 0;
  for (size_t i = 1; i < call.args.size(); ++i) element_count += call.args[i]->constant_count();
  if (element_count == 0) {
    binding.is_strict = false;
    binding.evaluate_lazily = is_negated ? EvaluateEmptyList<true> : EvaluateEmptyList<false>;
    return binding;
  }
  for (size_t i = 1; i < call.args.size(); ++i) {
    const Expr& element = *call.args[i];
    if (!element.is_constant()) {
      binding.reason = "IN list of expressions";
      return binding;
    }
    if (!AreComparable(call.args[0]->type, element.type)) return binding;
  }
  binding.state = std::make_shared<InList>();
  binding.evaluated_args = 1;
  binding.evaluate_truth = is_negated ? EvaluateInList<true> : EvaluateInList<false>;
  binding.evaluate = EvaluateByTruth;
  return binding;
}

}  // namespace penumbra
