#include "function/in_list.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

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

// Made of the elements when a vector asks for it: planning and zone maps have no need of it.
struct InList {
  std::once_flag is_built;
  bool has_null = false;
  mutable Arena arena;  // of keys that are no element's bytes

  // Integers, dates, timestamps, booleans; floats as canonical bits. Of few integers there is no set.
  std::vector<int64_t> few_integers;
  ValueSet<int64_t> integer_set;
  int64_t table_base = 0;
  std::vector<uint8_t> table;

  ValueSet<int128> span_set;              // intervals
  ValueSet<std::string_view> string_set;  // of TEXT what is not in inline_set
  ValueSet<int128> inline_set;            // those of TEXT that a StringRef holds inline, as its 16 bytes
  uint64_t text_lengths = 0;              // bit n: some text has n bytes (the last bit: 63 or more)

  // Sets of NUMERIC are made when a vector asks for them.
  std::vector<std::string_view> numerics;  // payloads
  mutable std::once_flag canonical_built;
  mutable ValueSet<std::string_view> canonical_set;
  mutable std::once_flag scale_built[kMaxSetScale + 1];
  mutable ValueSet<int64_t> scale_sets[kMaxSetScale + 1];
};

// The elements in the form in which values of the column's type are compared: what is equal in SQL has equal keys.
struct ElementKeys {
  std::vector<int64_t> integers;
  std::vector<int128> spans;
  std::vector<std::string_view> strings;
};

int64_t CanonicalBits(double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<int64_t>(value + 0.0);  // -0 becomes 0
}

std::string_view KeyOf(PenumbraType type, const StringRef& s) {
  if (type != PENUMBRA_BPCHAR) return s.view();
  return {s.data(), TrimmedLength(s.data(), s.length)};
}

struct Uuid {
  char bytes[16];
};

// The bytes of a string that lies on the stack.
std::string_view KeepView(const StringRef& s, Arena& arena) { return {arena.CopyBytes(s.data(), s.length), s.length}; }

std::string_view PayloadAt(const Vector& v, uint32_t i, Arena& arena) {
  if (v.numeric_form == NumericForm::kPayload) return v.values<StringRef>()[i].view();
  return KeepView(DecimalAt(v, i).ToPayload(arena), arena);
}

void AddElements(const Vector& v, uint32_t count, InList* list, ElementKeys* keys) {
  const auto for_each = [&](const auto& add) {
    for (uint32_t i = 0; i < count; ++i) {
      if (v.IsValid(i)) {
        add(i);
      } else {
        list->has_null = true;
      }
    }
  };
  switch (v.type) {
    case PENUMBRA_FLOAT4:
      return for_each([&](uint32_t i) { keys->integers.push_back(CanonicalBits(v.values<float>()[i])); });
    case PENUMBRA_FLOAT8:
      return for_each([&](uint32_t i) { keys->integers.push_back(CanonicalBits(v.values<double>()[i])); });
    case PENUMBRA_INTERVAL:
      return for_each([&](uint32_t i) { keys->spans.push_back(IntervalSpan(v.values<PenumbraInterval>()[i])); });
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR:
      return for_each([&](uint32_t i) { keys->strings.push_back(KeyOf(v.type, v.values<StringRef>()[i])); });
    case PENUMBRA_UUID:
      return for_each([&](uint32_t i) { keys->strings.emplace_back(v.values<Uuid>()[i].bytes, sizeof(Uuid)); });
    case PENUMBRA_NUMERIC: return for_each([&](uint32_t i) { list->numerics.push_back(PayloadAt(v, i, list->arena)); });
    case PENUMBRA_BOOL:
    case PENUMBRA_INT2:
    case PENUMBRA_INT4:
    case PENUMBRA_INT8:
    case PENUMBRA_DATE:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return for_each([&](uint32_t i) { keys->integers.push_back(IntegerAt(v, i)); });
  }
}

void BuildIntegers(PenumbraType type, std::vector<int64_t> keys, InList* list) {
  if (keys.empty()) return;
  if (!IsFloat(type) && keys.size() <= kMaxPasses) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    list->few_integers = std::move(keys);
    return;
  }
  const auto [least, greatest] = std::minmax_element(keys.begin(), keys.end());
  const uint64_t width = static_cast<uint64_t>(*greatest) - static_cast<uint64_t>(*least);
  if (IsFloat(type) || width >= kMaxTableEntries) {
    list->integer_set.Build(keys);
    return;
  }
  list->table_base = *least;
  list->table.assign(width + 1, 0);
  for (int64_t key : keys) list->table[static_cast<uint64_t>(key) - static_cast<uint64_t>(list->table_base)] = 1;
}

// A narrow range has a table and a long list a hash set; a short list takes a pass over the vector per element.
template <typename T>
void FindIntegers(const InList& list, const T* values, uint32_t rows, uint64_t* bits) {
  if (!list.table.empty()) {
    const uint64_t size = list.table.size(), base = static_cast<uint64_t>(list.table_base);
    PackTests(rows, bits, [&](uint32_t i) {
      const uint64_t entry = static_cast<uint64_t>(int64_t{values[i]}) - base;
      return entry < size && list.table[entry] != 0;
    });
    return;
  }
  if (list.few_integers.empty()) {
    PackTests(rows, bits, [&](uint32_t i) { return list.integer_set.Contains(int64_t{values[i]}); });
    return;
  }
  std::fill_n(bits, BitWords(rows), 0);
  for (int64_t key : list.few_integers) {
    if (key < int64_t{std::numeric_limits<T>::min()} || key > int64_t{std::numeric_limits<T>::max()}) continue;
    uint64_t equal[kValidityWords];
    kernels::CompareConstant<T>(kernels::Compare::kEq, values, static_cast<T>(key), rows, equal);
    kernels::OrBits(bits, equal, rows);
  }
}

template <typename T>
void FindFloats(const InList& list, const T* values, uint32_t rows, uint64_t* bits) {
  PackTests(rows, bits, [&](uint32_t i) { return list.integer_set.Contains(CanonicalBits(values[i])); });
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

const ValueSet<int64_t>& SetOfScale(const InList& list, int scale) {
  std::call_once(list.scale_built[scale], [&] {
    std::vector<int64_t> keys;
    for (std::string_view payload : list.numerics) {
      int64_t key;
      if (FindScaledInteger(payload, scale, &key)) keys.push_back(key);
    }
    list.scale_sets[scale].Build(keys);
  });
  return list.scale_sets[scale];
}

const ValueSet<std::string_view>& CanonicalSet(const InList& list) {
  std::call_once(list.canonical_built, [&] {
    std::vector<std::string_view> keys;
    for (std::string_view payload : list.numerics) {
      keys.push_back(KeepView(CanonicalPayload(payload, list.arena), list.arena));
    }
    list.canonical_set.Build(keys);
  });
  return list.canonical_set;
}

// int64 values of a common scale are looked up in a set made for that scale, others by their canonical bytes.
void FindNumerics(const InList& list, const Vector& v, uint32_t rows, EvalContext& context, uint64_t* bits) {
  switch (v.numeric_form) {
    case NumericForm::kInt64:
      if (v.scale >= 0 && v.scale <= kMaxSetScale) {
        const ValueSet<int64_t>& set = SetOfScale(list, v.scale);
        const int64_t* values = v.values<int64_t>();
        PackTests(rows, bits, [&](uint32_t i) { return set.Contains(values[i]); });
        return;
      }
      PackTests(rows, bits, [&](uint32_t i) {
        const int64_t value = v.values<int64_t>()[i];
        return CanonicalSet(list).Contains(CanonicalInteger(value, v.scale, context.arena).view());
      });
      return;
    case NumericForm::kInt128:
      PackTests(rows, bits, [&](uint32_t i) {
        if (!v.IsValid(i)) return false;
        const int128 value = v.values<int128>()[i];
        return CanonicalSet(list).Contains(CanonicalInteger(value, v.scale, context.arena).view());
      });
      return;
    case NumericForm::kPayload:
      PackTests(rows, bits, [&](uint32_t i) {
        if (!v.IsValid(i)) return false;
        const StringRef& payload = v.values<StringRef>()[i];
        return CanonicalSet(list).Contains(CanonicalPayload(payload.view(), context.arena).view());
      });
      return;
  }
}

uint64_t LengthBit(size_t length) { return uint64_t{1} << std::min<size_t>(length, 63); }

int128 InlineKey(const StringRef& s) {
  int128 key;
  std::memcpy(&key, &s, sizeof(key));
  return key;
}

void BuildTexts(const std::vector<std::string_view>& texts, InList* list) {
  std::vector<int128> inline_keys;
  std::vector<std::string_view> others;
  for (std::string_view text : texts) {
    list->text_lengths |= LengthBit(text.size());
    if (text.size() <= StringRef::kInlineBytes) {
      inline_keys.push_back(InlineKey(StringRef(text)));
    } else {
      others.push_back(text);
    }
  }
  list->inline_set.Build(inline_keys);
  list->string_set.Build(others);
}

void FindTexts(const InList& list, const StringRef* values, uint32_t rows, uint64_t* bits) {
  PackTests(rows, bits, [&](uint32_t i) {
    if ((list.text_lengths & LengthBit(values[i].length)) == 0) return false;
    return values[i].is_inline() ? list.inline_set.Contains(InlineKey(values[i]))
                                 : list.string_set.Contains(values[i].view());
  });
}

void BuildList(const Expr& expr, InList* list) {
  const PenumbraType type = expr.args[0]->type;
  ElementKeys keys;
  for (size_t i = 1; i < expr.args.size(); ++i) {
    AddElements(expr.args[i]->constant, expr.args[i]->constant_count(), list, &keys);
  }
  BuildIntegers(type, std::move(keys.integers), list);
  list->span_set.Build(keys.spans);
  if (type == PENUMBRA_TEXT) {
    BuildTexts(keys.strings, list);
  } else {
    list->string_set.Build(keys.strings);
  }
}

const InList& ListOf(const Expr& expr) {
  InList* list = static_cast<InList*>(const_cast<void*>(expr.state.get()));
  std::call_once(list->is_built, [&] { BuildList(expr, list); });
  return *list;
}

// The bits of null rows are arbitrary: ApplyValidity() clears them.
void FindRows(const InList& list, const Vector& v, uint32_t rows, EvalContext& context, uint64_t* bits) {
  switch (v.type) {
    case PENUMBRA_BOOL: return FindIntegers(list, v.values<uint8_t>(), rows, bits);
    case PENUMBRA_INT2: return FindIntegers(list, v.values<int16_t>(), rows, bits);
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return FindIntegers(list, v.values<int32_t>(), rows, bits);
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return FindIntegers(list, v.values<int64_t>(), rows, bits);
    case PENUMBRA_FLOAT4: return FindFloats(list, v.values<float>(), rows, bits);
    case PENUMBRA_FLOAT8: return FindFloats(list, v.values<double>(), rows, bits);
    case PENUMBRA_NUMERIC: return FindNumerics(list, v, rows, context, bits);
    case PENUMBRA_INTERVAL: {
      const PenumbraInterval* values = v.values<PenumbraInterval>();
      return PackTests(rows, bits, [&](uint32_t i) { return list.span_set.Contains(IntervalSpan(values[i])); });
    }
    case PENUMBRA_UUID: {
      const Uuid* values = v.values<Uuid>();
      return PackTests(rows, bits,
                       [&](uint32_t i) { return list.string_set.Contains(std::string_view(values[i].bytes, 16)); });
    }
    case PENUMBRA_TEXT: return FindTexts(list, v.values<StringRef>(), rows, bits);
    case PENUMBRA_BPCHAR: {
      const StringRef* values = v.values<StringRef>();
      return PackTests(rows, bits, [&](uint32_t i) { return list.string_set.Contains(KeyOf(v.type, values[i])); });
    }
  }
}

// A row that is not found is null when the list has a null, and false (NOT IN: true) when not.
template <bool kNegated>
void EvaluateInList(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const InList& list = ListOf(expr);
  const uint32_t words = BitWords(rows);
  uint64_t found[kValidityWords];
  FindRows(list, args[0], rows, context, found);
  for (uint32_t w = 0; w < words; ++w) {
    truth->is_true[w] = kNegated ? (list.has_null ? 0 : ~found[w]) : found[w];
  }
  if (words > 0) truth->is_true[words - 1] &= LastWordMask(rows);
  ApplyValidity(args[0].validity, rows, truth);
  if (!list.has_null) return;
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
