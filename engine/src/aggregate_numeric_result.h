// Builds a NUMERIC vector from results that come as integers or as Decimals, in the narrowest form
// that holds all of them.
#pragma once

#include "aggregate_accumulator.h"

namespace penumbra {

class NumericResult {
 public:
  NumericResult(uint32_t rows, Arena& arena);
  // Rows that are not set are null.
  void SetInteger(uint32_t row, int128 value, int scale);
  void SetDecimal(uint32_t row, const Decimal& value);
  void SetPayload(uint32_t row, const StringRef& payload);  // the bytes are not copied
  // sum / 10^scale / count, as avg gives it.
  void SetAverage(uint32_t row, int128 sum, int scale, int64_t count);
  Vector Finish();

 private:
  enum class Kind : uint8_t { kNull, kInteger, kPayload };
  Vector FinishIntegers(bool fits_int64);

  const uint32_t rows_;
  Arena& arena_;
  Kind* kinds_;
  int16_t* scales_;
  int128* integers_;
  StringRef* payloads_ = nullptr;  // allocated with the first payload
};

// At least 1, also of zero.
int CountDecimalDigits(uint128 value);

// The quotient with PostgreSQL's scale for it; false: too wide for 128 bits, ask Decimal::Average.
bool AverageInteger(int128 sum, int scale, int64_t count, int128* average, int* average_scale);

}  // namespace penumbra
