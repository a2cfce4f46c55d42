// sum and avg of numeric, and the variance family of numeric and of all integers: exact.
//
// A state holds a 128-bit sum (and a 192-bit sum of squares) of integers of one scale. A value of a
// larger scale rescales the state. Whatever does not fit goes to a BigSums: the total is always the
// small sums plus the big ones, so that rare wide values never make the common ones slow.
#include "aggregate/aggregate_accumulator.h"
#include "numeric/numeric_rows.h"

namespace penumbra {
namespace {

constexpr uint8_t kHasNaN = 1, kHasPositiveInfinity = 2, kHasNegativeInfinity = 4;

struct __attribute__((packed, aligned(8))) SumState {
  int64_t count;  // of finite values
  int128 sum;
  int16_t scale;
  uint8_t specials;       // kHas...
  uint8_t special_count;  // stops at 2: variance wants to know whether there is more than one value
  uint8_t unused[4];
  BigSums* big;
};
static_assert(sizeof(SumState) == 40);

struct __attribute__((packed, aligned(8))) SpreadState {
  SumState base;
  uint64_t squares[3];  // little endian, of scale 2 * base.scale
};
static_assert(sizeof(SpreadState) == 64);

bool AddToSquares(uint64_t* squares, uint128 value) {
  uint128 low = static_cast<uint128>(squares[0]) + static_cast<uint64_t>(value);
  uint128 middle = static_cast<uint128>(squares[1]) + static_cast<uint64_t>(value >> 64) + (low >> 64);
  squares[0] = static_cast<uint64_t>(low);
  squares[1] = static_cast<uint64_t>(middle);
  return !__builtin_add_overflow(squares[2], static_cast<uint64_t>(middle >> 64), &squares[2]);
}

bool MultiplySquares(uint64_t* squares, uint64_t factor) {
  uint128 carry = 0;
  for (int i = 0; i < 3; ++i) {
    carry += static_cast<uint128>(squares[i]) * factor;
    squares[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return carry == 0;
}

Decimal SquaresToDecimal(const uint64_t* squares, int scale) {
  const Decimal word = Decimal::FromInteger(int128{1} << 64);
  Decimal result;
  for (int i = 2; i >= 0; --i) {
    result = Decimal::Add(Decimal::Multiply(result, word), Decimal::FromInteger(static_cast<int128>(squares[i])));
  }
  return Decimal::Multiply(result, Decimal::FromInteger(1, 2 * scale));
}

// The state of sum and avg, or with squares that of the variance family.
template <bool kWithSquares>
struct NumericSums {
  using State = std::conditional_t<kWithSquares, SpreadState, SumState>;

  static SumState& Base(State& state) { return reinterpret_cast<SumState&>(state); }
  static const SumState& Base(const State& state) { return reinterpret_cast<const SumState&>(state); }

  static BigSums& Big(State& state, StateStore& store) {
    SumState& base = Base(state);
    if (base.big == nullptr) base.big = store.AddSums();
    return *base.big;
  }

  static void AddDecimal(State& state, const Decimal& value, StateStore& store) {
    BigSums& big = Big(state, store);
    big.sum = Decimal::Add(big.sum, value);
    if constexpr (kWithSquares) {
      big.sum_of_squares = Decimal::Add(big.sum_of_squares, Decimal::Multiply(value, value));
    }
  }

  // Moves the small sums to the big ones.
  static void Flush(State& state, StateStore& store) {
    SumState& base = Base(state);
    BigSums& big = Big(state, store);
    big.sum = Decimal::Add(big.sum, Decimal::FromInteger(base.sum, base.scale));
    base.sum = 0;
    if constexpr (kWithSquares) {
      big.sum_of_squares = Decimal::Add(big.sum_of_squares, SquaresToDecimal(state.squares, base.scale));
      std::memset(state.squares, 0, sizeof(state.squares));
    }
  }

  static void RaiseScale(State& state, int scale, StateStore& store) {
    SumState& base = Base(state);
    State raised = state;
    SumState& raised_base = Base(raised);
    const int shift = scale - base.scale;
    int128 sum = base.sum;
    bool fits = shift <= kMaxInt64Digits && !__builtin_mul_overflow(sum, kPowersOfTen[shift], &sum);
    if constexpr (kWithSquares) {
      uint64_t factor = fits ? static_cast<uint64_t>(kPowersOfTen[shift]) : 1;
      fits = fits && MultiplySquares(raised.squares, factor) && MultiplySquares(raised.squares, factor);
    }
    if (fits) {
      raised_base.sum = sum;
      state = raised;
    } else {
      Flush(state, store);
    }
    Base(state).scale = static_cast<int16_t>(scale);
  }

  // Adds sums of one scale to the small sums if they fit.
  static bool TryAdd(State& state, int128 sum, uint128 square) {
    SumState& base = Base(state);
    int128 next;
    if (__builtin_add_overflow(static_cast<int128>(base.sum), sum, &next)) return false;
    if constexpr (kWithSquares) {
      if (!AddToSquares(state.squares, square)) return false;
    }
    base.sum = next;
    return true;
  }

  // The state's scale is the greatest seen. A sum that would overflow is flushed to the big sum and begun anew. A value
  // that does not fit the small sums at all goes to the big ones directly.
  static void AddInteger(State& state, int128 value, int scale, StateStore& store) {
    SumState& base = Base(state);
    if (base.scale != scale) {
      if (base.count == 0 && base.big == nullptr) {
        base.scale = static_cast<int16_t>(scale);
      } else if (base.scale < scale) {
        RaiseScale(state, scale, store);
      }
    }
    ++base.count;
    int128 scaled = value;
    const int shift = base.scale - scale;
    bool fits =
        shift == 0 || (shift <= kMaxInt128Digits && !__builtin_mul_overflow(value, kPowersOfTen[shift], &scaled));
    uint128 square = 0;
    if constexpr (kWithSquares) {
      fits = fits && scaled == static_cast<int64_t>(scaled);
      if (fits) square = static_cast<uint128>(scaled * scaled);
    }
    if (!fits) {
      AddDecimal(state, Decimal::FromInteger(value, scale), store);
    } else if (!TryAdd(state, scaled, square)) {
      Flush(state, store);
      TryAdd(state, scaled, square);
    }
  }

  // Adds the payload in the narrowest form that holds it: most values of a column fit int64.
  static void AddPayload(State& state, const StringRef& payload, StateStore& store) {
    int64_t narrow;
    int128 wide;
    int scale;
    if (PayloadToInt64(payload.data(), payload.length, &narrow, &scale)) {
      AddInteger(state, narrow, scale, store);
    } else if (PayloadToInt128(payload.data(), payload.length, &wide, &scale)) {
      AddInteger(state, wide, scale, store);
    } else {
      Decimal value = Decimal::FromPayload(payload.view());
      SumState& base = Base(state);
      switch (value.kind()) {
        case Decimal::Kind::kFinite:
          ++base.count;
          AddDecimal(state, value, store);
          return;
        case Decimal::Kind::kNaN: base.specials |= kHasNaN; break;
        case Decimal::Kind::kPositiveInfinity: base.specials |= kHasPositiveInfinity; break;
        case Decimal::Kind::kNegativeInfinity: base.specials |= kHasNegativeInfinity; break;
      }
      if (base.special_count < 2) ++base.special_count;
    }
  }

  // Changes `from` too: its scale may be raised.
  static void Combine(State& into, State& from, StateStore& store) {
    SumState& a = Base(into);
    SumState& b = Base(from);
    if (b.count != 0) {
      if (a.count == 0 && a.big == nullptr) {
        a.scale = b.scale;
      } else if (a.scale < b.scale) {
        RaiseScale(into, b.scale, store);
      } else if (b.scale < a.scale) {
        RaiseScale(from, a.scale, store);
      }
      CombineSmall(into, from, store);
      if (b.big != nullptr) {
        BigSums& big = Big(into, store);
        big.sum = Decimal::Add(big.sum, b.big->sum);
        if constexpr (kWithSquares) {
          big.sum_of_squares = Decimal::Add(big.sum_of_squares, b.big->sum_of_squares);
        }
      }
      a.count += b.count;
    }
    a.specials |= b.specials;
    a.special_count = static_cast<uint8_t>(std::min(2, a.special_count + b.special_count));
  }

  static void CombineSmall(State& into, const State& from, StateStore& store) {
    State sum = into;
    bool fits = TryAdd(sum, Base(from).sum, 0);
    if constexpr (kWithSquares) {
      uint128 low = (static_cast<uint128>(from.squares[1]) << 64) | from.squares[0];
      fits = fits && AddToSquares(sum.squares, low) &&
             !__builtin_add_overflow(sum.squares[2], from.squares[2], &sum.squares[2]);
    }
    if (fits) {
      into = sum;
      return;
    }
    Flush(into, store);
    Base(into).sum = Base(from).sum;
    if constexpr (kWithSquares) std::memcpy(into.squares, from.squares, sizeof(into.squares));
  }

  static Decimal TotalSum(const State& state) {
    const SumState& base = Base(state);
    Decimal sum = Decimal::FromInteger(base.sum, base.scale);
    return base.big == nullptr ? sum : Decimal::Add(sum, base.big->sum);
  }
  static Decimal TotalSquares(const State& state) {
    if constexpr (kWithSquares) {
      Decimal squares = SquaresToDecimal(state.squares, state.base.scale);
      return state.base.big == nullptr ? squares : Decimal::Add(squares, state.base.big->sum_of_squares);
    }
    return Decimal();
  }
};

void SaveDecimal(const Decimal& value, Arena& arena, std::vector<char>* bytes) {
  StringRef payload = value.ToPayload(arena);
  const char* length = reinterpret_cast<const char*>(&payload.length);
  bytes->insert(bytes->end(), length, length + 4);
  bytes->insert(bytes->end(), payload.data(), payload.data() + payload.length);
}

const char* LoadDecimal(const char* bytes, Decimal* value) {
  uint32_t length;
  std::memcpy(&length, bytes, 4);
  *value = Decimal::FromPayload(std::string_view(bytes + 4, length));
  return bytes + 4 + length;
}

template <bool kWithSquares>
class NumericAccumulator : public Accumulator {
  using Sums = NumericSums<kWithSquares>;
  using State = typename Sums::State;

 public:
  explicit NumericAccumulator(PenumbraType type) : Accumulator(sizeof(State), true), type_(type) {}

  void AddRun(char* state, const Vector* arguments, RowSelection selection, StateStore& store) const override {
    State& target = StateAt(state);
    if constexpr (!kWithSquares) {
      if (AddRunFast(target, *arguments, selection)) return;
    }
    State running = target;
    VisitValues(*arguments, selection, store, [&](uint32_t) -> State& { return running; });
    target = running;
  }

  void AddScattered(char* const* groups, uint32_t offset, const Vector* arguments, RowSelection selection,
                    StateStore& store) const override {
    VisitValues(*arguments, selection, store, [&](uint32_t row) -> State& { return StateAt(groups[row] + offset); });
  }

  void Combine(char* const* into, char* const* from, uint32_t offset, uint32_t count,
               StateStore& store) const override {
    for (uint32_t i = 0; i < count; ++i) Sums::Combine(StateAt(into[i] + offset), StateAt(from[i] + offset), store);
  }

  Vector Finalize(const AggregateResult& result, const char* const* groups, uint32_t offset, uint32_t count,
                  Arena& arena) const override {
    NumericWriter values(count, arena);
    for (uint32_t i = 0; i < count; ++i) {
      FinalizeOne(result.function, *reinterpret_cast<const State*>(groups[i] + offset), i, &values);
    }
    return values.Finish();
  }

  void Save(const char* state, std::vector<char>* bytes) const override {
    const SumState& base = Sums::Base(*reinterpret_cast<const State*>(state));
    if (base.big == nullptr) return;
    Arena arena;
    SaveDecimal(base.big->sum, arena, bytes);
    SaveDecimal(base.big->sum_of_squares, arena, bytes);
  }

  const char* Load(char* state, const char* bytes, StateStore& store) const override {
    SumState& base = Sums::Base(StateAt(state));
    if (base.big == nullptr) return bytes;
    base.big = store.AddSums();
    bytes = LoadDecimal(bytes, &base.big->sum);
    return LoadDecimal(bytes, &base.big->sum_of_squares);
  }

 private:
  static State& StateAt(char* state) { return *reinterpret_cast<State*>(state); }

  // Four sums side by side: the additions do not wait for each other.
  static int64_t SumNarrow(const int64_t* values, const Vector& argument, RowSelection selection) {
    int64_t sums[4] = {};
    if (argument.validity != nullptr) {
      VisitValid(argument, selection, [&](uint32_t row) { sums[0] += values[row]; });
      return sums[0];
    }
    const uint16_t* rows = selection.rows;
    uint32_t i = 0;
    for (; i + 4 <= selection.count; i += 4) {
      for (int k = 0; k < 4; ++k) sums[k] += values[rows[i + k]];
    }
    for (; i < selection.count; ++i) sums[0] += values[rows[i]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  // Sums 64-bit values that cannot overflow 64 bits within one vector.
  static bool AddRunFast(State& state, const Vector& argument, RowSelection selection) {
    SumState& base = Sums::Base(state);
    if (argument.numeric_form != NumericForm::kInt64) return false;
    const int16_t scale = argument.scale;
    if (base.scale != scale && (base.count != 0 || base.big != nullptr)) return false;
    const int64_t* values = argument.values<int64_t>();
    int128 sum = 0;
    constexpr int128 kSafe = int128{1} << 51;  // times 2,048 rows: below 2^62
    if (selection.rows == nullptr) {
      sum = kernels::SumValues(values, argument.validity, selection.count);
    } else if (argument.lower > -kSafe && argument.upper < kSafe) {
      sum = SumNarrow(values, argument, selection);
    } else {
      // Halves: the low 32 bits and the high ones each sum without overflow.
      int64_t high = 0;
      uint64_t low = 0;
      VisitValid(argument, selection, [&](uint32_t row) {
        high += values[row] >> 32;
        low += static_cast<uint32_t>(values[row]);
      });
      sum = (static_cast<int128>(high) << 32) + low;
    }
    int128 next;
    if (__builtin_add_overflow(static_cast<int128>(base.sum), sum, &next)) return false;
    base.scale = scale;
    base.sum = next;
    base.count += CountValid(argument, selection);
    return true;
  }

  template <typename Target>
  void VisitValues(const Vector& argument, RowSelection selection, StateStore& store, Target&& target) const {
    if (type_ == PENUMBRA_INT2) return VisitIntegers<int16_t>(argument, 0, selection, store, target);
    if (type_ == PENUMBRA_INT4) return VisitIntegers<int32_t>(argument, 0, selection, store, target);
    if (type_ == PENUMBRA_INT8) return VisitIntegers<int64_t>(argument, 0, selection, store, target);
    switch (argument.numeric_form) {
      case NumericForm::kInt64: return VisitIntegers<int64_t>(argument, argument.scale, selection, store, target);
      case NumericForm::kInt128: return VisitIntegers<int128>(argument, argument.scale, selection, store, target);
      case NumericForm::kPayload: {
        const StringRef* values = argument.values<StringRef>();
        return VisitValid(argument, selection,
                          [&](uint32_t row) { Sums::AddPayload(target(row), values[row], store); });
      }
    }
  }

  template <typename T, typename Target>
  static void VisitIntegers(const Vector& argument, int scale, RowSelection selection, StateStore& store,
                            Target& target) {
    const T* values = argument.values<T>();
    VisitValid(argument, selection, [&](uint32_t row) {
      State& state = target(row);
      if constexpr (!kWithSquares && sizeof(T) <= 8) {
        int128 next;
        if (__builtin_expect(state.scale == scale, 1) &&
            !__builtin_add_overflow(static_cast<int128>(state.sum), static_cast<int128>(values[row]), &next)) {
          state.sum = next;
          ++state.count;
          return;
        }
      }
      Sums::AddInteger(state, values[row], scale, store);
    });
  }

  // Whether all of it fits in int128.
  static bool IsSpreadSmall(PenumbraAggregate function, const State& state, SmallNumber* spread) {
    if constexpr (kWithSquares) {
      const SumState& base = state.base;
      const uint128 squares = static_cast<uint128>(state.squares[1]) << 64 | state.squares[0];
      if (base.big != nullptr || state.squares[2] != 0 || squares >= static_cast<uint128>(kInt128Limit) ||
          base.sum >= kInt128Limit || base.sum <= -kInt128Limit) {
        return false;
      }
      return SpreadSmall(ToSpread(function), base.count, {base.sum, base.scale},
                         {static_cast<int128>(squares), 2 * base.scale}, spread);
    }
    return false;
  }

  // Rows are null until they are set. NaN, or infinities of both signs, make NaN; a spread of any infinity is NaN as
  // well.
  static void FinalizeOne(PenumbraAggregate function, const State& state, uint32_t row, NumericWriter* result) {
    const SumState& base = Sums::Base(state);
    const int64_t total = base.count + base.special_count;
    if (total == 0 || (kWithSquares && IsOfSample(function) && total == 1)) return;
    if (base.specials != 0) {
      const bool is_infinite =
          !kWithSquares && (base.specials == kHasPositiveInfinity || base.specials == kHasNegativeInfinity);
      const char* text = !is_infinite ? "NaN" : base.specials == kHasPositiveInfinity ? "Infinity" : "-Infinity";
      result->SetDecimal(row, Decimal::FromString(text));
    } else if (kWithSquares) {
      Decimal spread;
      SmallNumber small;
      if (IsSpreadSmall(function, state, &small)) {
        result->Set(row, small);
      } else if (Decimal::ComputeSpread(ToSpread(function), base.count, Sums::TotalSum(state),
                                        Sums::TotalSquares(state), &spread)) {
        result->SetDecimal(row, spread);
      }
    } else if (function == PENUMBRA_AGG_AVG) {
      if (base.big == nullptr) {
        result->SetAverage(row, base.sum, base.scale, base.count);
      } else {
        result->SetDecimal(row, Decimal::Average(Sums::TotalSum(state), base.count));
      }
    } else if (base.big == nullptr) {
      result->SetInteger(row, base.sum, base.scale);
    } else {
      result->SetDecimal(row, Sums::TotalSum(state));
    }
  }

  static Decimal::Spread ToSpread(PenumbraAggregate function) {
    using Spread = Decimal::Spread;
    if (IsDeviation(function)) return IsOfSample(function) ? Spread::kStddevSamp : Spread::kStddevPop;
    return IsOfSample(function) ? Spread::kVarSamp : Spread::kVarPop;
  }

  const PenumbraType type_;
};

}  // namespace

std::unique_ptr<Accumulator> CreateNumericSumAccumulator() {
  return std::make_unique<NumericAccumulator<false>>(PENUMBRA_NUMERIC);
}

std::unique_ptr<Accumulator> CreateNumericSpreadAccumulator(PenumbraType type) {
  return std::make_unique<NumericAccumulator<true>>(type);
}

}  // namespace penumbra
