#include "segment/rows.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "random_columns.h"
#include "segment/segment.h"

namespace penumbra {
namespace {

void ExpectRows(const Rows& rows, const TestColumn& column) {
  ASSERT_EQ(rows.row_count(), column.rows());
  for (uint32_t begin = 0; begin < column.rows(); begin += 64) {
    const uint32_t count = std::min<uint32_t>(begin % 128 == 0 ? kVectorRows : 10, column.rows() - begin);
    Arena arena;
    const Vector v = rows.Slice(0, begin, count, arena);
    bool has_null = false;
    for (uint32_t row = 0; row < count; ++row) {
      ASSERT_TRUE(IsRow(v, row, column, begin + row)) << "row " << begin + row;
      has_null |= column.is_null(begin + row);
    }
    EXPECT_EQ(v.validity != nullptr, has_null);
  }
}

TEST(RowsTest, KeepsEveryTypeAndIsReusable) {
  RandomColumns random(21);
  for (PenumbraType type : kColumnTypes) {
    Rows rows(&type, 1);
    for (int shape = 0; shape < static_cast<int>(Shape::kCount); ++shape) {
      for (int null_percent : {0, 30, 100}) {
        SCOPED_TRACE(testing::Message() << "type " << type << " shape " << shape << " nulls " << null_percent << "%");
        const TestColumn column = random.Make(type, static_cast<Shape>(shape), 1000, null_percent);
        rows.Clear();
        EXPECT_EQ(rows.byte_count(), 0u);
        for (uint32_t begin = 0; begin < column.rows();) {
          const uint32_t count = std::min<uint32_t>(random.Next() % 200, column.rows() - begin);
          column.AppendTo(&rows, begin, count, null_percent > 0);
          begin += count;
        }
        ExpectRows(rows, column);
        EXPECT_GT(rows.byte_count(), 0u);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(RowsTest, TakesRowsOfSegments) {
  RandomColumns random(22);
  for (PenumbraType type : kColumnTypes) {
    Rows rows(&type, 1), taken(&type, 1);
    for (int shape = 0; shape < static_cast<int>(Shape::kCount); ++shape) {
      for (int null_percent : {0, 30, 100}) {
        SCOPED_TRACE(testing::Message() << "type " << type << " shape " << shape << " nulls " << null_percent << "%");
        const TestColumn column = random.Make(type, static_cast<Shape>(shape), 5000, null_percent);
        rows.Clear();
        column.AppendTo(&rows, 0, column.rows(), null_percent > 0);
        size_t bytes;
        const std::unique_ptr<void, decltype(&std::free)> segment(EncodeSegment(rows, 0, &bytes), &std::free);
        const void* segments[] = {segment.get()};
        taken.Clear();
        // Some are the segment's, some come from elsewhere.
        for (uint32_t begin = 0, turn = 0; begin < column.rows(); ++turn) {
          const uint32_t end = std::min<uint32_t>(begin + random.Next() % 3000, column.rows());
          if (turn % 3 == 0) {
            column.AppendTo(&taken, begin, end - begin, null_percent > 0);
          } else {
            taken.AppendSegments(segments, begin, end);
          }
          begin = end;
        }
        ExpectRows(taken, column);
        if (HasFatalFailure()) return;
        EXPECT_THROW(taken.AppendSegments(segments, 4000, 5001), EngineError);
      }
    }
  }
}

TEST(RowsTest, GivesTheMemoryOfLargeValuesBack) {
  const PenumbraType type = PENUMBRA_TEXT;
  Rows rows(&type, 1);
  const std::string value(size_t{32} << 20, 'x');
  const uint64_t values[] = {reinterpret_cast<uint64_t>(value.data())};
  const uint32_t lengths[] = {static_cast<uint32_t>(value.size())};
  const PenumbraColumnInput column = {values, lengths, nullptr};
  rows.Append(&column, 1);
  EXPECT_GE(rows.column(0).bytes.capacity(), value.size());
  rows.Clear();
  EXPECT_LT(rows.column(0).bytes.capacity(), size_t{16} << 20);
  rows.Append(&column, 1);
  EXPECT_EQ(rows.column(0).View(0), value);
}

TEST(ArenaTest, GivesTheMemoryOfLargeValuesBack) {
  MemoryBudget budget(size_t{1} << 20);
  Arena arena(&budget);
  for (int i = 0; i < 20; ++i) arena.Allocate(size_t{10} << 20);
  EXPECT_GE(budget.used_bytes(), size_t{200} << 20);
  arena.Reset();
  EXPECT_LE(budget.used_bytes(), size_t{4} << 20);
  // One value can be larger than all that the budget allows.
  EXPECT_THROW(arena.Allocate(size_t{300} << 20), EngineError);
  budget.Admit(size_t{100} << 20);
  EXPECT_NE(arena.Allocate(size_t{300} << 20), nullptr);
}

TEST(RowsTest, NullsMayBeginLate) {
  TestColumn column(PENUMBRA_INT4);
  for (int i = 0; i < 300; ++i) column.AddInteger(i);
  for (int i = 0; i < 300; ++i) column.AddNull();
  for (int i = 0; i < 300; ++i) column.AddInteger(i);
  const PenumbraType type = PENUMBRA_INT4;
  Rows rows(&type, 1);
  column.AppendTo(&rows, 0, 300, false);
  EXPECT_TRUE(rows.column(0).validity.empty());
  column.AppendTo(&rows, 300, 300);
  column.AppendTo(&rows, 600, 300, false);
  EXPECT_EQ(rows.column(0).null_count, 300u);
  ExpectRows(rows, column);
}

// One scale: integers. Another scale, or a value that is no int64: payloads from then on, the same
// values.
TEST(RowsTest, NumericsLeaveTheIntegerFormOnce) {
  for (const char* last : {"7.5", "7", "NaN", "-Infinity", "1234567890123456789012.25"}) {
    TestColumn column(PENUMBRA_NUMERIC);
    for (int i = 0; i < 100; ++i) {
      if (i % 9 == 4) {
        column.AddNull();
      } else {
        column.AddNumeric((i % 2 == 0 ? "-" : "") + std::to_string(i * i) + ".25");
      }
    }
    const PenumbraType type = PENUMBRA_NUMERIC;
    Rows rows(&type, 1);
    column.AppendTo(&rows, 0, 100);
    EXPECT_EQ(rows.column(0).numeric_form, NumericForm::kInt64);
    EXPECT_EQ(rows.column(0).scale, 2);
    ExpectRows(rows, column);
    column.AddNumeric(last);
    column.AddNumeric("1.25");
    column.AppendTo(&rows, 100, 2);
    EXPECT_EQ(rows.column(0).numeric_form, NumericForm::kPayload) << last;
    ExpectRows(rows, column);
  }
}

TEST(RowsTest, BoundsOfASliceAreThoseOfItsValues) {
  TestColumn column(PENUMBRA_NUMERIC);
  for (int i = 0; i < 128; ++i) column.AddNumeric(std::to_string(i < 64 ? 5 + i : -i) + ".0");
  const PenumbraType type = PENUMBRA_NUMERIC;
  Rows rows(&type, 1);
  column.AppendTo(&rows, 0, 128);
  Arena arena;
  const Vector v = rows.Slice(0, 64, 64, arena);
  EXPECT_TRUE(v.lower == -1270 && v.upper == -640);
  EXPECT_EQ(v.scale, 1);
}

}  // namespace
}  // namespace penumbra
