// Random columns of every type and of the shapes that lead to every encoding.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "rows_testing.h"

namespace penumbra {

inline constexpr PenumbraType kColumnTypes[] = {
    PENUMBRA_BOOL,     PENUMBRA_INT2,    PENUMBRA_INT4,   PENUMBRA_INT8,      PENUMBRA_FLOAT4,
    PENUMBRA_FLOAT8,   PENUMBRA_NUMERIC, PENUMBRA_DATE,   PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMPTZ,
    PENUMBRA_INTERVAL, PENUMBRA_TEXT,    PENUMBRA_BPCHAR, PENUMBRA_UUID};

// How the values of a random column are made.
enum class Shape {
  kOne,
  kFew,
  kSmallRange,
  kMiddleRange,
  kWideRange,
  kExtremes,
  kFewFarApart,
  kSteps,
  kRising,
  kLong,
  kMixed,
  kCount
};

class RandomColumns {
 public:
  explicit RandomColumns(uint64_t seed) : random_(seed) {}

  TestColumn Make(PenumbraType type, Shape shape, uint32_t rows, int null_percent) {
    TestColumn column(type);
    for (uint32_t row = 0; row < rows; ++row) {
      if (random_() % 100 < static_cast<uint64_t>(null_percent)) {
        column.AddNull();
      } else {
        AddValue(Number(shape, row), shape, &column);
      }
    }
    return column;
  }
  uint64_t Next() { return random_(); }

 private:
  int64_t Number(Shape shape, uint32_t row) {
    const uint64_t r = random_();
    switch (shape) {
      case Shape::kOne: return 42;
      case Shape::kFew: return static_cast<int64_t>(r % 7);
      case Shape::kSmallRange: return -100 + static_cast<int64_t>(r % 256);
      case Shape::kMiddleRange: return 1000 + static_cast<int64_t>(r % 60000);
      case Shape::kWideRange: return static_cast<int64_t>(r >> 33);
      case Shape::kExtremes: return r % 3 == 0 ? INT64_MAX : r % 3 == 1 ? INT64_MIN : static_cast<int64_t>(random_());
      case Shape::kFewFarApart:
        return static_cast<int64_t>((r % 9) * 0x123456789abcdull + (r % 9) * (r % 9)) - 0x1fffffffffffll;
      case Shape::kSteps: return 1000000 * static_cast<int64_t>(r % 50000);
      case Shape::kRising: return static_cast<int64_t>(row) * 3 + static_cast<int64_t>(r % 3);
      case Shape::kLong: return static_cast<int64_t>(r % 100000);
      default: return static_cast<int64_t>(r) >> (random_() % 64);
    }
  }

  void AddValue(int64_t number, Shape shape, TestColumn* column) {
    switch (column->type()) {
      case PENUMBRA_BOOL: return column->AddInteger(number & 1);
      case PENUMBRA_INT2: return column->AddInteger(static_cast<int16_t>(number));
      case PENUMBRA_INT4:
      case PENUMBRA_DATE: return column->AddInteger(static_cast<int32_t>(number));
      case PENUMBRA_FLOAT4: return column->AddFloat(static_cast<float>(Real(number)));
      case PENUMBRA_FLOAT8: return column->AddDouble(Real(number));
      case PENUMBRA_NUMERIC: return column->AddNumeric(NumericText(number, shape));
      case PENUMBRA_TEXT:
      case PENUMBRA_BPCHAR: return column->AddBytes(Text(number, shape));
      case PENUMBRA_UUID:
      case PENUMBRA_INTERVAL: {
        std::string bytes(16, 'u');
        std::memcpy(bytes.data() + 4, &number, 8);
        return column->AddBytes(bytes);
      }
      default: return column->AddInteger(number);
    }
  }

  double Real(int64_t number) {
    switch (random_() % 50) {
      case 0: return std::nan("");
      case 1: return -0.0;
      case 2: return std::numeric_limits<double>::infinity();
      case 3: return -std::numeric_limits<double>::infinity();
      default: return static_cast<double>(number) / 4;
    }
  }

  std::string NumericText(int64_t number, Shape shape) {
    if (shape == Shape::kMixed) {
      switch (random_() % 8) {
        case 0: return "NaN";
        case 1: return "Infinity";
        case 2: return "-Infinity";
        case 3: return std::to_string(number) + "." + std::to_string(random_() % 1000);
        case 4: return "1" + std::string(50, '0') + ".5";
        default: return std::to_string(number);
      }
    }
    if (shape == Shape::kExtremes) return std::to_string(number) + std::to_string(random_() % 900 + 100) + ".25";
    const std::string digits = std::to_string(number / 100);
    const int64_t cents = number % 100 < 0 ? -(number % 100) : number % 100;
    return (number < 0 && digits[0] != '-' ? "-" : "") + digits + "." + (cents < 10 ? "0" : "") + std::to_string(cents);
  }

  std::string Text(int64_t number, Shape shape) {
    const std::string digits = std::to_string(number);
    if (shape == Shape::kLong) {
      std::string text;
      for (int i = 0; i < 10 + number % 30; ++i) text += "the quick brown fox " + digits;
      return text;
    }
    if (shape == Shape::kMixed) {
      std::string text(random_() % 400, 'x');
      for (char& c : text) c = static_cast<char>(random_());
      return text;
    }
    if (shape == Shape::kFew && number % 2 == 0) return "a value of more than twelve bytes: " + digits;
    if (shape == Shape::kOne) return "always the same text";
    if (shape == Shape::kWideRange) return "Customer#" + digits;
    return digits;
  }

  std::mt19937_64 random_;
};

inline Rows MakeRows(const TestColumn& column) {
  const PenumbraType type = column.type();
  Rows rows(&type, 1);
  for (uint32_t begin = 0; begin < column.rows(); begin += 150) {
    column.AppendTo(&rows, begin, std::min(150u, column.rows() - begin));
  }
  return rows;
}

}  // namespace penumbra
