#include "segment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "rows_testing.h"
#include "segment_format.h"

namespace penumbra {
namespace {

struct FreeSegment {
  void operator()(void* segment) const { std::free(segment); }
};
using Segment = std::unique_ptr<void, FreeSegment>;

const PenumbraType kTypes[] = {
    PENUMBRA_BOOL,      PENUMBRA_INT2,        PENUMBRA_INT4,     PENUMBRA_INT8, PENUMBRA_FLOAT4,
    PENUMBRA_FLOAT8,    PENUMBRA_NUMERIC,     PENUMBRA_DATE,     PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMPTZ,
    PENUMBRA_INTERVAL,  PENUMBRA_TEXT,        PENUMBRA_BPCHAR,   PENUMBRA_UUID};

// How the values of a random column are made.
enum class Shape {
  kOne, kFew, kSmallRange, kMiddleRange, kWideRange, kExtremes, kFewFarApart, kSteps, kRising, kLong, kMixed, kCount
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
      case Shape::kFewFarApart: return static_cast<int64_t>((r % 9) * 0x123456789abcdull + (r % 9) * (r % 9)) - 0x1fffffffffffll;
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

Rows MakeRows(const TestColumn& column) {
  const PenumbraType type = column.type();
  Rows rows(&type, 1);
  for (uint32_t begin = 0; begin < column.rows(); begin += 150) {
    column.AppendTo(&rows, begin, std::min(150u, column.rows() - begin));
  }
  return rows;
}

Segment Encode(const Rows& rows, size_t* bytes) { return Segment(EncodeSegment(rows, 0, bytes)); }

void ExpectDecodes(const TestColumn& column, const void* bytes, RandomColumns& random) {
  Arena reader_arena, arena;
  const SegmentReader plain_reader(bytes);
  const SegmentReader caching_reader(bytes, &reader_arena);
  ASSERT_EQ(plain_reader.rows(), column.rows());
  for (const SegmentReader* reader : {&plain_reader, &caching_reader}) {
    for (uint32_t begin = 0; begin < column.rows();) {
      const uint32_t count = std::min<uint32_t>(column.rows() - begin, 1 + static_cast<uint32_t>(random.Next() % kVectorRows));
      arena.Reset();
      const Vector v = reader->Decode(begin, count, arena);
      ASSERT_EQ(v.type, column.type());
      const Vector flat = Flatten(v, count, arena);
      for (uint32_t row = 0; row < count; ++row) {
        ASSERT_TRUE(IsRow(v, row, column, begin + row)) << "row " << begin + row;
        ASSERT_TRUE(IsRow(flat, row, column, begin + row)) << "row " << begin + row << " flat";
      }
      std::vector<uint16_t> selected;
      const uint64_t stride = 1 + random.Next() % 90;
      for (uint32_t row = 0; row < count; ++row) {
        if (random.Next() % stride == 0) selected.push_back(static_cast<uint16_t>(row));
      }
      const uint32_t selected_count = static_cast<uint32_t>(selected.size());
      const Vector some = reader->DecodeSelected(begin, count, selected.data(), selected_count, arena);
      const Vector gathered = Gather(v, selected.data(), selected_count, arena);
      for (uint32_t i = 0; i < selected_count; ++i) {
        ASSERT_TRUE(IsRow(some, i, column, begin + selected[i])) << "selected row " << begin + selected[i];
        ASSERT_TRUE(IsRow(gathered, i, column, begin + selected[i])) << "gathered row " << begin + selected[i];
      }
      begin += count;
    }
  }
}

TEST(SegmentTest, RoundTripsEveryTypeAndReachesEveryEncoding) {
  RandomColumns random(1);
  std::set<std::string> reached;
  std::set<int> numeric_forms;
  for (PenumbraType type : kTypes) {
    for (int shape = 0; shape < static_cast<int>(Shape::kCount); ++shape) {
      for (int null_percent : {0, 1, 40, 100}) {
        for (uint32_t rows : {0u, 1u, 63u, 64u, 65u, 3000u, 9000u}) {
          SCOPED_TRACE(testing::Message() << "type " << type << " shape " << shape << " nulls " << null_percent
                                          << "% rows " << rows);
          const TestColumn column = random.Make(type, static_cast<Shape>(shape), rows, null_percent);
          const Rows encoded_rows = MakeRows(column);
          size_t bytes;
          const Segment segment = Encode(encoded_rows, &bytes);
          ASSERT_NO_THROW(CheckSegment(segment.get(), bytes));
          reached.insert(EncodingName(segment.get()));
          numeric_forms.insert(SegmentView(segment.get()).header().numeric_form);
          ExpectDecodes(column, segment.get(), random);
          ASSERT_EQ(CompareSegment(segment.get(), 0, encoded_rows, 0), -1);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_EQ(reached, (std::set<std::string>{"constant", "for1", "for2", "for4", "plain", "dictionary", "lz4", "int128"}));
  EXPECT_EQ(numeric_forms, (std::set<int>{0, 1, 2}));
}

TEST(SegmentTest, ChoosesTheEncoding) {
  const struct {
    PenumbraType type;
    Shape shape;
    const char* encoding;
  } cases[] = {
      {PENUMBRA_INT8, Shape::kOne, "constant"},        {PENUMBRA_TEXT, Shape::kOne, "constant"},
      {PENUMBRA_INT8, Shape::kSmallRange, "for1"},     {PENUMBRA_INT4, Shape::kMiddleRange, "for2"},
      {PENUMBRA_INT8, Shape::kWideRange, "for4"},      {PENUMBRA_TIMESTAMP, Shape::kSteps, "for2"},
      {PENUMBRA_INT8, Shape::kFewFarApart, "dictionary"}, {PENUMBRA_INT8, Shape::kExtremes, "plain"},
      {PENUMBRA_TEXT, Shape::kFew, "dictionary"},      {PENUMBRA_TEXT, Shape::kWideRange, "plain"},
      {PENUMBRA_TEXT, Shape::kLong, "lz4"},            {PENUMBRA_NUMERIC, Shape::kSmallRange, "for1"},
      {PENUMBRA_NUMERIC, Shape::kExtremes, "int128"},  {PENUMBRA_UUID, Shape::kFew, "dictionary"},
      {PENUMBRA_BOOL, Shape::kFew, "plain"},           {PENUMBRA_FLOAT8, Shape::kFew, "dictionary"},
  };
  RandomColumns random(2);
  for (const auto& c : cases) {
    const TestColumn column = random.Make(c.type, c.shape, 20000, 0);
    size_t bytes;
    const Segment segment = Encode(MakeRows(column), &bytes);
    EXPECT_STREQ(EncodingName(segment.get()), c.encoding) << "type " << c.type << " shape " << static_cast<int>(c.shape);
  }
}

TEST(SegmentTest, CompareFindsTheFirstDifference) {
  RandomColumns random(3);
  for (PenumbraType type : kTypes) {
    const TestColumn column = random.Make(type, Shape::kFew, 6000, 10);
    const Rows all = MakeRows(column);
    size_t bytes;
    const Segment segment = Encode(all, &bytes);
    // A part of the rows, at its place and not at its place.
    Rows part(&type, 1);
    column.AppendTo(&part, 1234, 3000);
    EXPECT_EQ(CompareSegment(segment.get(), 1234, part, 0), -1);
    int64_t expected = 0;
    const auto differs = [&](uint32_t a, uint32_t b) {
      if (column.is_null(a) != column.is_null(b)) return true;
      return !column.is_null(a) && (column.bits(a) != column.bits(b) || column.bytes(a) != column.bytes(b));
    };
    while (!differs(1235 + static_cast<uint32_t>(expected), 1234 + static_cast<uint32_t>(expected))) ++expected;
    EXPECT_EQ(CompareSegment(segment.get(), 1235, part, 0), expected);
    EXPECT_EQ(CompareSegment(segment.get(), 5999, part, 0) <= 1, true);
  }
}

// Whatever the bytes are, a segment that passes the check can be read whole (run under ASan, this proves
// that no read leaves it).
TEST(SegmentTest, CheckProtectsReadersFromCorruptBytes) {
  RandomColumns random(4);
  int refused = 0, passed = 0;
  for (PenumbraType type : kTypes) {
    for (int shape = 0; shape < static_cast<int>(Shape::kCount); ++shape) {
      const TestColumn column = random.Make(type, static_cast<Shape>(shape), 700, shape % 2 == 0 ? 0 : 20);
      size_t bytes;
      const Segment segment = Encode(MakeRows(column), &bytes);
      for (int round = 0; round < 60; ++round) {
        const size_t length = round % 10 == 9 ? random.Next() % bytes : bytes;
        Segment copy(std::aligned_alloc(64, std::max<size_t>(64, (length + 63) / 64 * 64)));
        // Place the bytes at the end of the allocation, so that the sanitizer sees a read past them.
        std::memcpy(copy.get(), segment.get(), length);
        char* begin = static_cast<char*>(copy.get());
        const int flips = 1 + static_cast<int>(random.Next() % 4);
        for (int i = 0; i < flips && length > 0; ++i) {
          // Half of them in the header, which says most.
          const size_t where = random.Next() % 2 == 0 ? random.Next() % std::min<size_t>(length, sizeof(SegmentHeader))
                                                      : random.Next() % length;
          begin[where] = static_cast<char>(begin[where] ^ (1 << random.Next() % 8));
        }
        try {
          CheckSegment(begin, length);
        } catch (const EngineError& error) {
          EXPECT_EQ(error.code(), PENUMBRA_CORRUPT);
          ++refused;
          continue;
        }
        ++passed;
        Arena arena;
        const SegmentReader reader(begin);
        uint64_t sum = 0;
        try {
          for (uint32_t row = 0; row < reader.rows(); row += kVectorRows) {
            const uint32_t count = std::min(kVectorRows, reader.rows() - row);
            const Vector v = Flatten(reader.Decode(row, count, arena), count, arena);
            const bool is_string = IsStringType(v.type) ||
                                   (v.type == PENUMBRA_NUMERIC && v.numeric_form == NumericForm::kPayload);
            for (uint32_t i = 0; i < count; ++i) {
              if (is_string) {
                for (char c : v.values<StringRef>()[i].view()) sum += static_cast<uint8_t>(c);
              } else {
                sum += v.values<uint8_t>()[size_t{i} * FlatWidth(v)] + v.IsValid(i);
              }
            }
          }
        } catch (const EngineError& error) {
          EXPECT_EQ(error.code(), PENUMBRA_CORRUPT);
        }
        volatile uint64_t sink = sum;
        (void)sink;
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(passed, 100);
}

}  // namespace
}  // namespace penumbra
