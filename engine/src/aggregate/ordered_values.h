// The values of ordered-set aggregates by type: how they are kept, compared and shown.
//
// Which of equal values PostgreSQL's sort brings to a place is not defined. So all values of an execution that are
// equal must be written alike, or it ends as not supported while it takes its rows, before any result is out.
//
// A class of values has
//   Stored, kHasPointers                           what a state keeps; whether it may point elsewhere
//   ForEach(vector, selection, store, visit)       visit(row, stored) for valid rows
//   IsLess(a, b), IsEqual(a, b), Hash(a, seed)     of two stored values
//   Results(values, type, count, arena)            with Set(i, stored), SetNull(i), Finish()
// and where it has pointers Save(stored, bytes), Load(stored, bytes, arena).
#pragma once

#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "aggregate/aggregate_accumulator.h"
#include "function/collation.h"
#include "function/interval.h"
#include "numeric/numeric_rows.h"
#include "row/row_numeric.h"
#include "vector/string_memo.h"
#include "vector/value_order.h"
#include "vector/value_set.h"

namespace penumbra {

// A flat vector of what values.Shown(stored) gives.
template <typename Values>
class FlatResults {
 public:
  FlatResults(const Values& values, PenumbraType type, uint32_t count, Arena& arena)
      : source_(values), arena_(arena), out_(MakeResult(type, count, arena, &values_)) {}
  void Set(uint32_t i, const typename Values::Stored& stored) { values_[i] = source_.Shown(stored); }
  void SetNull(uint32_t i) { out_.SetNull(i, arena_); }
  Vector Finish() { return out_.vector; }

 private:
  const Values& source_;
  Arena& arena_;
  typename Values::Value* values_;
  ResultVector out_;
};

[[noreturn]] inline void RefuseEqualValues(const char* what) {
  throw EngineError(PENUMBRA_UNSUPPORTED, std::string("ordered-set aggregate of ") + what);
}

template <typename T>
struct IntegerValues {
  using Value = T;
  using Stored = T;
  using Results = FlatResults<IntegerValues>;
  static constexpr bool kHasPointers = false;

  template <typename Visit>
  void ForEach(const Vector& v, RowSelection selection, StateStore&, Visit&& visit) const {
    const T* values = v.values<T>();
    VisitValid(v, selection, [&](uint32_t row) { visit(row, values[row]); });
  }
  static bool IsLess(T a, T b) { return a < b; }
  static bool IsEqual(T a, T b) { return a == b; }
  static uint64_t Hash(T a, const HashSeed& seed) { return HashKey(static_cast<int64_t>(a), seed); }
  static T Shown(T a) { return a; }
};

// Kept as integers of the same order, NaN the greatest.
template <typename Float, typename Bits>
struct FloatValues {
  using Value = Float;
  using Stored = Bits;
  using Results = FlatResults<FloatValues>;
  static constexpr bool kHasPointers = false;

  template <typename Visit>
  void ForEach(const Vector& v, RowSelection selection, StateStore&, Visit&& visit) const {
    const Float* values = v.values<Float>();
    uint8_t zeros = 0;
    VisitValid(v, selection, [&](uint32_t row) {
      const Float value = values[row];
      if (value == 0) zeros |= std::signbit(value) ? kNegativeZero : kPositiveZero;
      visit(row, Keep(value));
    });
    if (zeros != 0 && (zeros | zeros_.fetch_or(zeros, std::memory_order_relaxed)) == (kNegativeZero | kPositiveZero)) {
      RefuseEqualValues("zeros of both signs");
    }
  }
  static bool IsLess(Bits a, Bits b) { return a < b; }
  static bool IsEqual(Bits a, Bits b) { return a == b; }
  static uint64_t Hash(Bits a, const HashSeed& seed) { return HashKey(static_cast<int64_t>(a), seed); }
  static Float Shown(Bits a) {
    a = Reorder(a);
    Float value;
    std::memcpy(&value, &a, sizeof(value));
    return value;
  }
  static Bits Between(Bits low, Bits high, double proportion) {
    const double a = Shown(low), b = Shown(high);
    return Keep(static_cast<Float>(a + proportion * (b - a)));
  }

 private:
  static constexpr uint8_t kNegativeZero = 1, kPositiveZero = 2;
  static Bits Keep(Float value) {
    if (std::isnan(value)) value = std::numeric_limits<Float>::quiet_NaN();
    Bits bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return Reorder(bits);
  }
  // Its own inverse.
  static Bits Reorder(Bits bits) { return bits < 0 ? bits ^ std::numeric_limits<Bits>::max() : bits; }

  mutable std::atomic<uint8_t> zeros_{0};
};

struct UuidValues {
  struct Value {
    uint8_t bytes[16];
  };
  using Stored = Value;
  using Results = FlatResults<UuidValues>;
  static constexpr bool kHasPointers = false;

  template <typename Visit>
  void ForEach(const Vector& v, RowSelection selection, StateStore&, Visit&& visit) const {
    const Value* values = v.values<Value>();
    VisitValid(v, selection, [&](uint32_t row) { visit(row, values[row]); });
  }
  static bool IsLess(const Value& a, const Value& b) { return std::memcmp(a.bytes, b.bytes, 16) < 0; }
  static bool IsEqual(const Value& a, const Value& b) { return std::memcmp(a.bytes, b.bytes, 16) == 0; }
  static uint64_t Hash(const Value& a, const HashSeed& seed) {
    return HashKey(std::string_view(reinterpret_cast<const char*>(a.bytes), 16), seed);
  }
  static const Value& Shown(const Value& a) { return a; }
};

struct IntervalValues {
  using Value = PenumbraInterval;
  using Stored = PenumbraInterval;
  using Results = FlatResults<IntervalValues>;
  static constexpr bool kHasPointers = false;

  template <typename Visit>
  void ForEach(const Vector& v, RowSelection selection, StateStore&, Visit&& visit) const {
    const PenumbraInterval* values = v.values<PenumbraInterval>();
    uint8_t forms = kAllForms;
    VisitValid(v, selection, [&](uint32_t row) {
      CheckFinite(values[row]);
      forms &= FormsOf(values[row]);
      visit(row, values[row]);
    });
    if (forms != kAllForms && (forms & forms_.fetch_and(forms, std::memory_order_relaxed)) == 0) {
      RefuseEqualValues("intervals that may be equal and written differently");
    }
  }
  static bool IsLess(const Value& a, const Value& b) { return IntervalSpan(a) < IntervalSpan(b); }
  static bool IsEqual(const Value& a, const Value& b) { return IntervalSpan(a) == IntervalSpan(b); }
  static uint64_t Hash(const Value& a, const HashSeed& seed) { return HashKey(IntervalSpan(a), seed); }
  static const Value& Shown(const Value& a) { return a; }
  static Value Between(const Value& low, const Value& high, double proportion) {
    return AddIntervals(MultiplyInterval(SubtractIntervals(high, low), proportion), low);
  }

 private:
  // Of intervals of one of these forms no two are equal: time alone; days and less than a day of the same sign; months,
  // less than 30 days and less than a day of the same sign.
  static constexpr uint8_t kTime = 1, kDays = 2, kMonths = 4, kAllForms = 7;
  static uint8_t FormsOf(const PenumbraInterval& x) {
    constexpr int64_t kDayUs = int64_t{86400} * 1000000;
    const bool is_positive = x.month >= 0 && x.day >= 0 && x.time_us >= 0;
    const bool is_negative = x.month <= 0 && x.day <= 0 && x.time_us <= 0;
    const bool has_days = (is_positive || is_negative) && x.time_us > -kDayUs && x.time_us < kDayUs;
    uint8_t forms = 0;
    if (x.month == 0 && x.day == 0) forms |= kTime;
    if (has_days && x.month == 0) forms |= kDays;
    if (has_days && x.day > -30 && x.day < 30) forms |= kMonths;
    return forms;
  }

  mutable std::atomic<uint8_t> forms_{kAllForms};
};

// Of one display scale: slots of row_numeric.h.
struct NumericValues {
  using Stored = int64_t;
  static constexpr bool kHasPointers = true;
  class Results {
   public:
    Results(const NumericValues& values, PenumbraType, uint32_t count, Arena& arena)
        : scale_(values.scale_.Get()), out_(count, arena) {}
    void Set(uint32_t i, int64_t stored) {
      int128 integer;
      const RowNumeric number = At(stored, scale_);
      if (number.ToInteger(&integer)) {
        out_.SetInteger(i, integer, number.scale);
      } else {
        out_.SetPayload(i, number.payload());
      }
    }
    void SetNull(uint32_t) {}
    Vector Finish() { return out_.Finish(); }

   private:
    const int scale_;
    NumericWriter out_;
  };

  template <typename Visit>
  void ForEach(const Vector& v, RowSelection selection, StateStore& store, Visit&& visit) const {
    switch (v.numeric_form) {
      case NumericForm::kInt64: return ForEachInteger<int64_t>(v, selection, store, visit);
      case NumericForm::kInt128: return ForEachInteger<int128>(v, selection, store, visit);
      case NumericForm::kPayload: break;
    }
    const StringRef* values = v.values<StringRef>();
    VisitValid(v, selection, [&](uint32_t row) { visit(row, KeepPayload(values[row], store)); });
  }
  bool IsLess(int64_t a, int64_t b) const { return IsElsewhere(a) || IsElsewhere(b) ? Order(a, b) < 0 : a < b; }
  bool IsEqual(int64_t a, int64_t b) const { return IsElsewhere(a) || IsElsewhere(b) ? Order(a, b) == 0 : a == b; }
  uint64_t Hash(int64_t a, const HashSeed& seed) const {
    return IsElsewhere(a) ? HashKey(At(a, scale_.Get()).ToDecimal().ToString(), seed) : HashKey(a, seed);
  }
  static void Save(int64_t stored, std::vector<char>* bytes) {
    if (IsElsewhere(stored)) SaveNumeric(reinterpret_cast<const char*>(&stored), bytes);
  }
  static const char* Load(int64_t* stored, const char* bytes, Arena& arena) {
    return IsElsewhere(*stored) ? LoadNumeric(reinterpret_cast<char*>(stored), bytes, &arena) : bytes;
  }

 private:
  static RowNumeric At(int64_t stored, int scale) { return NumericAt(reinterpret_cast<const char*>(&stored), scale); }
  int Order(int64_t a, int64_t b) const {
    return Decimal::Compare(At(a, scale_.Get()).ToDecimal(), At(b, scale_.Get()).ToDecimal());
  }
  void CheckScale(int scale) const {
    if (!scale_.IsOrBecomes(static_cast<int16_t>(scale))) RefuseEqualValues("numerics of several scales");
  }
  static int64_t KeepElsewhere(const RowNumeric& number, StateStore& store) {
    int64_t slot = 0;
    OwnNumeric(reinterpret_cast<char*>(&slot), number, store.arena());
    return slot;
  }
  static int64_t KeepInteger(int128 value, int scale, StateStore& store) {
    if (FitsSlot(value)) return static_cast<int64_t>(value);
    RowNumeric number{{}, static_cast<int16_t>(scale), NumericForm::kInt128};
    std::memcpy(number.value, &value, sizeof(value));
    return KeepElsewhere(number, store);
  }
  int64_t KeepPayload(const StringRef& payload, StateStore& store) const {
    int128 value;
    int scale;
    if (PayloadToInt128(payload.data(), payload.length, &value, &scale)) {
      CheckScale(scale);
      return KeepInteger(value, scale, store);
    }
    const Decimal decimal = Decimal::FromPayload(payload.view());
    if (decimal.kind() == Decimal::Kind::kFinite) CheckScale(decimal.scale());
    RowNumeric number{{}, 0, NumericForm::kPayload};
    std::memcpy(number.value, &payload, sizeof(payload));
    return KeepElsewhere(number, store);
  }
  template <typename T, typename Visit>
  void ForEachInteger(const Vector& v, RowSelection selection, StateStore& store, Visit& visit) const {
    const T* values = v.values<T>();
    bool is_checked = false;
    VisitValid(v, selection, [&](uint32_t row) {
      if (!is_checked) CheckScale(v.scale);
      is_checked = true;
      visit(row, KeepInteger(values[row], v.scale, store));
    });
  }

  CommonScale scale_;
};

class StringValues {
 public:
  using Value = StringRef;
  using Stored = StringRef;
  using Results = FlatResults<StringValues>;
  static constexpr bool kHasPointers = true;

  StringValues(bool is_padded, const Collation* collation) : is_padded_(is_padded), collation_(collation) {}

  // Strings that come several times in a vector are copied once.
  template <typename Visit>
  void ForEach(const Vector& v, RowSelection selection, StateStore& store, Visit&& visit) const {
    const StringRef* values = v.values<StringRef>();
    const auto keep = [&](const StringRef& string) {
      return string.is_inline() ? string
                                : StringRef(store.arena().CopyBytes(string.pointer, string.length), string.length);
    };
    if (selection.count < kMemoRows) {
      VisitValid(v, selection, [&](uint32_t row) { visit(row, keep(values[row])); });
      return;
    }
    StringMemo<StringRef> kept;
    VisitValid(v, selection, [&](uint32_t row) {
      const StringRef& string = values[row];
      visit(row, string.is_inline() ? string : kept.Get(string, [&] { return keep(string); }));
    });
  }
  bool IsLess(const StringRef& a, const StringRef& b) const {
    return CompareCollated(collation_, is_padded_, a, b) < 0;
  }
  static bool IsEqual(const StringRef& a, const StringRef& b) { return a == b; }
  static uint64_t Hash(const StringRef& a, const HashSeed& seed) { return HashKey(a.view(), seed); }
  static const StringRef& Shown(const StringRef& a) { return a; }
  static void Save(const StringRef& stored, std::vector<char>* bytes) {
    if (!stored.is_inline()) bytes->insert(bytes->end(), stored.pointer, stored.pointer + stored.length);
  }
  static const char* Load(StringRef* stored, const char* bytes, Arena& arena) {
    if (stored->is_inline()) return bytes;
    const uint32_t length = stored->length;
    *stored = StringRef(arena.CopyBytes(bytes, length), length);
    return bytes + length;
  }

 private:
  static constexpr uint32_t kMemoRows = 128;  // fewer do not pay for a memo

  const bool is_padded_;
  const Collation* collation_;
};

}  // namespace penumbra
