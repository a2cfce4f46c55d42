// min and max of numeric: the value with the display scale it came with.
#include "aggregate/aggregate_accumulator.h"
#include "numeric/numeric_rows.h"

namespace penumbra {
namespace {

enum class Held : uint32_t { kNothing, kInteger, kPayload };

// States are only 8-byte aligned.
struct __attribute__((packed, aligned(8))) UnalignedInt128 {
  int128 value;
};

struct ExtremeState {
  UnalignedInt128 integer;  // of `scale`
  StringRef payload;        // what does not fit, NaN and infinities too
  Held held;
  int32_t scale;
};

Decimal ToDecimal(const ExtremeState& state) {
  return state.held == Held::kInteger ? Decimal::FromInteger(state.integer.value, state.scale)
                                      : Decimal::FromPayload(StringRef(state.payload).view());
}

// a / 10^a_scale against b / 10^b_scale.
int CompareScaled(int128 a, int a_scale, int128 b, int b_scale) {
  if (a_scale != b_scale) {
    int128& narrow = a_scale < b_scale ? a : b;
    const int shift = std::abs(a_scale - b_scale);
    const int128 unscaled = narrow;
    if (shift > kMaxInt128Digits || __builtin_mul_overflow(unscaled, kPowersOfTen[shift], &narrow)) {
      narrow = unscaled;
      return Decimal::Compare(Decimal::FromInteger(a, a_scale), Decimal::FromInteger(b, b_scale));
    }
  }
  return a < b ? -1 : a > b;
}

template <bool kGreatest>
class NumericExtremeAccumulator : public Accumulator {
 public:
  NumericExtremeAccumulator() : Accumulator(sizeof(ExtremeState), true) {}

  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    Visit(*arguments, selection, store, [&](uint32_t) -> ExtremeState& { return StateAt(state); });
  }
  void AddScattered(char* const* groups, uint32_t offset, const Vector* arguments, RowSelection selection,
                    StateStore& store) const override {
    Visit(*arguments, selection, store, [&](uint32_t row) -> ExtremeState& { return StateAt(groups[row] + offset); });
  }
  void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count,
               StateStore& store) const override {
    for (uint32_t i = 0; i < count; ++i) {
      const ExtremeState& other = StateAt(from[i] + offset);
      if (other.held == Held::kInteger) AddInteger(StateAt(into[i] + offset), other.integer.value, other.scale);
      if (other.held == Held::kPayload) AddPayload(StateAt(into[i] + offset), other.payload, store);
    }
  }
  Vector Finalize(const AggregateResult&, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    NumericWriter result(count, arena);
    for (uint32_t i = 0; i < count; ++i) {
      const ExtremeState& state = *reinterpret_cast<const ExtremeState*>(groups[i] + offset);
      if (state.held == Held::kInteger) result.SetInteger(i, state.integer.value, state.scale);
      if (state.held == Held::kPayload) result.SetPayload(i, state.payload);
    }
    return result.Finish();
  }
  void Save(const char* state, std::vector<char>* bytes) const override {
    const ExtremeState& saved = *reinterpret_cast<const ExtremeState*>(state);
    if (saved.held != Held::kPayload || saved.payload.length <= StringRef::kInlineBytes) return;
    StringRef payload = saved.payload;
    bytes->insert(bytes->end(), payload.pointer, payload.pointer + payload.length);
  }
  const char* Load(char* state, const char* bytes, StateStore& store) const override {
    ExtremeState& loaded = StateAt(state);
    if (loaded.held != Held::kPayload || loaded.payload.length <= StringRef::kInlineBytes) return bytes;
    const uint32_t length = loaded.payload.length;
    loaded.payload = StringRef(store.arena().CopyBytes(bytes, length), length);
    return bytes + length;
  }

 private:
  static ExtremeState& StateAt(char* state) { return *reinterpret_cast<ExtremeState*>(state); }
  // Of equal values with different scales PostgreSQL keeps the last.
  static bool IsBetter(int order) { return kGreatest ? order >= 0 : order <= 0; }

  static void AddInteger(ExtremeState& state, int128 value, int scale) {
    if (state.held == Held::kInteger) {
      if (!IsBetter(CompareScaled(value, scale, state.integer.value, state.scale))) return;
    } else if (state.held == Held::kPayload) {
      if (!IsBetter(Decimal::Compare(Decimal::FromInteger(value, scale), ToDecimal(state)))) return;
    }
    state.integer.value = value;
    state.scale = scale;
    state.held = Held::kInteger;
  }

  static void AddPayload(ExtremeState& state, const StringRef& payload, StateStore& store) {
    int128 value;
    int scale;
    if (PayloadToInt128(payload.data(), payload.length, &value, &scale)) {
      AddInteger(state, value, scale);
      return;
    }
    if (state.held != Held::kNothing &&
        !IsBetter(Decimal::Compare(Decimal::FromPayload(payload.view()), ToDecimal(state)))) {
      return;
    }
    state.payload = payload.is_inline()
                        ? payload
                        : StringRef(store.arena().CopyBytes(payload.pointer, payload.length), payload.length);
    state.held = Held::kPayload;
  }

  template <typename T, typename Target>
  static void VisitIntegers(const Vector& argument, RowSelection selection, Target& target) {
    const T* values = argument.values<T>();
    const int scale = argument.scale;
    VisitValid(argument, selection, [&](uint32_t row) { AddInteger(target(row), values[row], scale); });
  }

  template <typename Target>
  static void Visit(const Vector& argument, RowSelection selection, StateStore& store, Target&& target) {
    switch (argument.numeric_form) {
      case NumericForm::kInt64: return VisitIntegers<int64_t>(argument, selection, target);
      case NumericForm::kInt128: return VisitIntegers<int128>(argument, selection, target);
      case NumericForm::kPayload: {
        const StringRef* values = argument.values<StringRef>();
        return VisitValid(argument, selection, [&](uint32_t row) { AddPayload(target(row), values[row], store); });
      }
    }
  }
};

}  // namespace

std::unique_ptr<Accumulator> CreateNumericExtremeAccumulator(bool greatest) {
  if (greatest) return std::make_unique<NumericExtremeAccumulator<true>>();
  return std::make_unique<NumericExtremeAccumulator<false>>();
}

}  // namespace penumbra
