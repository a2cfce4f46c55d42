#include "segment/segment.h"

#include <gtest/gtest.h>

#include <set>

#include "random_columns.h"
#include "segment/segment_format.h"

namespace penumbra {
namespace {

struct FreeSegment {
  void operator()(void* segment) const { std::free(segment); }
};
using Segment = std::unique_ptr<void, FreeSegment>;

Segment Encode(const Rows& rows, size_t* bytes) { return Segment(EncodeSegment(rows, 0, bytes)); }

void ExpectDecodes(const TestColumn& column, const void* bytes, RandomColumns& random) {
  Arena reader_arena, arena;
  const SegmentReader plain_reader(bytes);
  const SegmentReader caching_reader(bytes, &reader_arena);
  ASSERT_EQ(plain_reader.rows(), column.rows());
  for (const SegmentReader* reader : {&plain_reader, &caching_reader}) {
    for (uint32_t begin = 0; begin < column.rows();) {
      const uint32_t count =
          std::min<uint32_t>(column.rows() - begin, 1 + static_cast<uint32_t>(random.Next() % kVectorRows));
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
  for (PenumbraType type : kColumnTypes) {
    for (int shape = 0; shape < static_cast<int>(Shape::kCount); ++shape) {
      for (int null_percent : {0, 1, 40, 100}) {
        for (uint32_t rows : {0u, 1u, 63u, 64u, 65u, 3000u, 9000u}) {
          SCOPED_TRACE(testing::Message()
                       << "type " << type << " shape " << shape << " nulls " << null_percent << "% rows " << rows);
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
  EXPECT_EQ(reached,
            (std::set<std::string>{"constant", "for1", "for2", "for4", "plain", "dictionary", "lz4", "int128"}));
  EXPECT_EQ(numeric_forms, (std::set<int>{0, 1, 2}));
}

TEST(SegmentTest, ChoosesTheEncoding) {
  const struct {
    PenumbraType type;
    Shape shape;
    const char* encoding;
  } cases[] = {
      {PENUMBRA_INT8, Shape::kOne, "constant"},
      {PENUMBRA_TEXT, Shape::kOne, "constant"},
      {PENUMBRA_INT8, Shape::kSmallRange, "for1"},
      {PENUMBRA_INT4, Shape::kMiddleRange, "for2"},
      {PENUMBRA_INT8, Shape::kWideRange, "for4"},
      {PENUMBRA_TIMESTAMP, Shape::kSteps, "for2"},
      {PENUMBRA_INT8, Shape::kFewFarApart, "dictionary"},
      {PENUMBRA_INT8, Shape::kExtremes, "plain"},
      {PENUMBRA_TEXT, Shape::kFew, "dictionary"},
      {PENUMBRA_TEXT, Shape::kWideRange, "plain"},
      {PENUMBRA_TEXT, Shape::kLong, "lz4"},
      {PENUMBRA_NUMERIC, Shape::kSmallRange, "for1"},
      {PENUMBRA_NUMERIC, Shape::kExtremes, "int128"},
      {PENUMBRA_UUID, Shape::kFew, "dictionary"},
      {PENUMBRA_BOOL, Shape::kFew, "plain"},
      {PENUMBRA_FLOAT8, Shape::kFew, "dictionary"},
  };
  RandomColumns random(2);
  for (const auto& c : cases) {
    const TestColumn column = random.Make(c.type, c.shape, 20000, 0);
    size_t bytes;
    const Segment segment = Encode(MakeRows(column), &bytes);
    EXPECT_STREQ(EncodingName(segment.get()), c.encoding)
        << "type " << c.type << " shape " << static_cast<int>(c.shape);
  }
}

TEST(SegmentTest, CompareFindsTheFirstDifference) {
  RandomColumns random(3);
  for (PenumbraType type : kColumnTypes) {
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

// Each byte of the values, so that the sanitizer sees them read.
void Touch(const Vector& v, uint32_t rows, Arena& arena) {
  const Vector flat = Flatten(v, rows, arena);
  volatile uint64_t sum = 0;
  for (uint32_t i = 0; i < rows; ++i) {
    if (!IsStringForm(flat)) {
      sum = sum + flat.values<uint8_t>()[size_t{i} * FlatWidth(flat)] + flat.IsValid(i);
      continue;
    }
    for (char c : flat.values<StringRef>()[i].view()) sum = sum + static_cast<uint8_t>(c);
  }
}

// By all ways in which readers come to values: with an arena of their own and without, all rows and some, by summaries
// and dictionaries.
void ReadWhole(const void* segment, RandomColumns* random) {
  Arena kept, arena;
  for (Arena* own : {&kept, static_cast<Arena*>(nullptr)}) {
    const SegmentReader reader(segment, own);
    (void)reader.zone_map();
    if (const Vector* entries = reader.Dictionary(arena); entries != nullptr) {
      Touch(*entries, entries->dictionary_size, arena);
    }
    for (uint32_t row = 0; row < reader.rows(); row += kVectorRows) {
      const uint32_t count = std::min(kVectorRows, reader.rows() - row);
      Touch(reader.Decode(row, count, arena), count, arena);
      uint16_t selected[kVectorRows];
      uint32_t selected_count = 0;
      for (uint32_t i = 0; i < count; ++i) {
        if (random->Next() % 8 == 0) selected[selected_count++] = static_cast<uint16_t>(i);
      }
      if (selected_count > 0) {
        Touch(reader.DecodeSelected(row, count, selected, selected_count, arena), selected_count, arena);
      }
      ColumnSummary summary;
      if (reader.Summarize(row, count, {true, true}, arena, &summary) && summary.valid_rows > 0) {
        Touch(summary.bounds, 2, arena);
      }
    }
  }
}

// Whatever the bytes are, a segment that passes the check can be read whole (run under ASan, this
// proves that no read leaves it).
TEST(SegmentTest, CheckProtectsReadersFromCorruptBytes) {
  RandomColumns random(4);
  int refused = 0, passed = 0;
  for (PenumbraType type : kColumnTypes) {
    for (int shape = 0; shape < static_cast<int>(Shape::kCount); ++shape) {
      const TestColumn column = random.Make(type, static_cast<Shape>(shape), 700, shape % 2 == 0 ? 0 : 20);
      size_t bytes;
      const Segment segment = Encode(MakeRows(column), &bytes);
      for (int round = 0; round < 60; ++round) {
        const size_t length = round % 10 == 9 ? random.Next() % bytes : bytes;
        Segment copy(std::aligned_alloc(64, std::max<size_t>(64, (length + 63) / 64 * 64)));
        // Place the bytes at the end of the allocation, so that the sanitizer sees a read past
        // them.
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
        try {
          ReadWhole(begin, &random);
        } catch (const EngineError& error) {
          EXPECT_EQ(error.code(), PENUMBRA_CORRUPT);
        }
      }
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(passed, 100);
}

uint64_t Fingerprint(const void* bytes, size_t count) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<const uint8_t*>(bytes)[i]) * 0x100000001b3;
  return hash;
}

// Segments of version 1 byte for byte. A change here is a change of the format, or of what a column
// is encoded as: segments that are kept need a new version, or proof that old code reads the new
// ones.
TEST(SegmentTest, BytesOfVersionOne) {
  ASSERT_EQ(kSegmentVersion, 1);
  const auto fingerprint = [](const TestColumn& column) {
    size_t bytes;
    const Segment segment = Encode(MakeRows(column), &bytes);
    return std::pair<std::string, uint64_t>(EncodingName(segment.get()), Fingerprint(segment.get(), bytes));
  };
  TestColumn integers(PENUMBRA_INT8), steps(PENUMBRA_TIMESTAMP), names(PENUMBRA_TEXT), prices(PENUMBRA_NUMERIC),
      reals(PENUMBRA_FLOAT8), flags(PENUMBRA_BPCHAR), same(PENUMBRA_DATE), wide(PENUMBRA_NUMERIC);
  for (int i = 0; i < 5000; ++i) {
    integers.AddInteger(i * 7 - 1000);
    steps.AddInteger(int64_t{i} * i % 977 * 1000000);
    if (i % 10 == 3) {
      names.AddNull();
    } else {
      names.AddBytes("name " + std::to_string(i * 31));
    }
    prices.AddNumeric(std::to_string(i % 200) + ".25");
    reals.AddDouble(i / 8.0);
    flags.AddBytes(std::string(1, static_cast<char>('A' + i % 3)));
    same.AddInteger(77);
    wide.AddNumeric("12345678901234567890" + std::to_string(i) + ".5");
  }
  using Expected = std::pair<std::string, uint64_t>;
  EXPECT_EQ(fingerprint(integers), Expected("for2", 10901311877898344891u));
  EXPECT_EQ(fingerprint(steps), Expected("for2", 5938547324099767531u));
  EXPECT_EQ(fingerprint(names), Expected("plain", 10737895452086474841u));
  EXPECT_EQ(fingerprint(prices), Expected("for1", 10646907917257085716u));
  EXPECT_EQ(fingerprint(reals), Expected("plain", 14583466967786646937u));
  EXPECT_EQ(fingerprint(flags), Expected("dictionary", 3325332755020789621u));
  EXPECT_EQ(fingerprint(same), Expected("constant", 8400873444961018265u));
  EXPECT_EQ(fingerprint(wide), Expected("int128", 3599209646301299105u));
}

}  // namespace
}  // namespace penumbra
