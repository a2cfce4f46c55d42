// count, min and max from metadata: the answers are those over the same rows given uncompressed, and
// metadata is used where it should be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "segment/segment_format.h"
#include "support/query.h"

namespace penumbra::test {
namespace {

struct TestedColumn {
  PenumbraType type;
  Cell (*cell)(uint32_t row);
  bool is_summarized;  // all of a chunk of valid rows
};

uint32_t Scrambled(uint32_t row) { return row * 2654435761u >> 12; }
std::string Digits(uint32_t number) { return std::to_string(number); }

const TestedColumn kColumns[] = {
    {PENUMBRA_INT4, [](uint32_t row) { return Cell(Digits(row)); }, true},
    {PENUMBRA_INT2, [](uint32_t row) { return Cell(std::to_string(static_cast<int>(Scrambled(row) % 200) - 100)); },
     true},
    {PENUMBRA_INT8, [](uint32_t row) { return Cell(Digits(Scrambled(row)) + "000000007"); }, true},
    {PENUMBRA_DATE, [](uint32_t row) { return row % 3 == 0 ? Cell() : Cell(Digits(row / 50)); }, true},
    {PENUMBRA_TIMESTAMP, [](uint32_t row) { return row < 5000 ? Cell() : Cell(Digits(row) + "000000"); }, true},
    {PENUMBRA_BOOL, [](uint32_t row) { return Cell(row % 4 == 1 ? "1" : "0"); }, true},
    {PENUMBRA_INT4, [](uint32_t) { return Cell(); }, true},
    {PENUMBRA_INT4, [](uint32_t) { return Cell("42"); }, true},
    {PENUMBRA_NUMERIC, [](uint32_t row) { return Cell(Digits(Scrambled(row) % 700) + ".50"); }, true},
    {PENUMBRA_NUMERIC, [](uint32_t row) { return Cell(Digits(row % 9) + (row % 2 == 0 ? ".0" : ".00")); }, false},
    {PENUMBRA_NUMERIC, [](uint32_t) { return Cell("1.250"); }, true},
    {PENUMBRA_FLOAT8, [](uint32_t row) { return Cell(Digits(Scrambled(row) % 5000 + 1) + ".125"); }, true},
    {PENUMBRA_FLOAT4, [](uint32_t row) { return row % 7 == 0 ? Cell() : Cell("-" + Digits(row % 20 + 1) + ".5"); },
     true},
    {PENUMBRA_FLOAT8, [](uint32_t row) { return Cell(row % 100 == 0 ? "nan" : Digits(row % 90 + 1)); }, false},
    {PENUMBRA_FLOAT8, [](uint32_t row) { return Cell(row % 2 == 0 ? "-0" : Digits(row % 90)); }, false},
    {PENUMBRA_TEXT, [](uint32_t row) { return Cell("word " + Digits(Scrambled(row) % 40)); }, true},
    {PENUMBRA_TEXT,
     [](uint32_t row) { return row % 9 == 0 ? Cell() : Cell("more than twelve bytes " + Digits(row % 50)); }, true},
    {PENUMBRA_TEXT, [](uint32_t row) { return Cell("every row another text " + Digits(Scrambled(row))); }, false},
    {PENUMBRA_BPCHAR, [](uint32_t row) { return Cell(row % 2 == 0 ? "ab  " : "b   "); }, false},
    {PENUMBRA_UUID, [](uint32_t row) { return Cell("0123456789abcde" + std::string(1, 'a' + row % 20)); }, true},
};
constexpr int kColumnCount = static_cast<int>(std::size(kColumns));
constexpr uint32_t kChunkRows = 9000;

std::vector<PenumbraType> Types() {
  std::vector<PenumbraType> types;
  for (const TestedColumn& column : kColumns) types.push_back(column.type);
  return types;
}

// The rows of `ranges` moved by `first`.
Table MakeTable(uint32_t first, const std::vector<PenumbraRowRange>& ranges) {
  std::vector<uint32_t> rows;
  for (const PenumbraRowRange& range : ranges) {
    for (uint32_t row = range.begin; row < range.end; ++row) rows.push_back(first + row);
  }
  return Table(Types(), static_cast<uint32_t>(rows.size()),
               [&](uint32_t row, int column) { return kColumns[column].cell(rows[row]); });
}

// count(*), and count, min and max of the column as far as there are any.
void AddAggregates(int column, PlanBuilder* plan) {
  const PenumbraType type = kColumns[column].type;
  PenumbraExpr argument = plan->Column(column);
  PenumbraAggregateCall count = Aggregate(PENUMBRA_AGG_COUNT, PENUMBRA_INT8, argument);
  const bool is_bool = type == PENUMBRA_BOOL;
  plan->Aggregate({},
                  {CountStar(), count, Aggregate(is_bool ? PENUMBRA_AGG_BOOL_AND : PENUMBRA_AGG_MIN, type, argument),
                   Aggregate(is_bool ? PENUMBRA_AGG_BOOL_OR : PENUMBRA_AGG_MAX, type, argument)});
}

// Two chunks; the first has the valid rows `ranges`.
struct TwoChunks {
  explicit TwoChunks(const std::vector<PenumbraRowRange>& ranges, bool as_bits = false)
      : encoded{MakeTable(0, {{0, kChunkRows}}), MakeTable(kChunkRows, {{0, kChunkRows}})},
        valid{MakeTable(0, ranges), MakeTable(kChunkRows, {{0, kChunkRows}})},
        chunks{Chunk(encoded[0], ranges, as_bits), Chunk(encoded[1])} {}

  Output RunCached(const PlanBuilder& plan, int threads) const {
    Input input;
    input.chunks = {&chunks[0], &chunks[1]};
    input.threads = threads;
    return Run(plan, input);
  }
  Output RunPushed(const PlanBuilder& plan) const {
    Input input;
    input.pushed = {&valid[0], &valid[1]};
    return Run(plan, input);
  }

  Table encoded[2];
  Table valid[2];
  Chunk chunks[2];
};

TEST(Summary, WholeChunks) {
  const TwoChunks input({{0, kChunkRows}});
  for (int c = 0; c < kColumnCount; ++c) {
    for (int threads : {0, 2}) {
      SCOPED_TRACE(testing::Message() << "column " << c << " threads " << threads);
      PlanBuilder plan(Types());
      AddAggregates(c, &plan);
      const Output output = input.RunCached(plan, threads);
      EXPECT_EQ(output.rows, input.RunPushed(plan).rows);
      EXPECT_EQ(output.cached_rows, 2 * kChunkRows);
      EXPECT_EQ(output.summarized_rows, kColumns[c].is_summarized ? 2 * kChunkRows : 0u);
    }
  }
}

// Of the first chunk's five vectors two have rows that are not valid.
void TestInvalidRows(bool as_bits) {
  const TwoChunks input({{0, 3000}, {3010, 8500}}, as_bits);
  for (int c = 0; c < kColumnCount; ++c) {
    SCOPED_TRACE(testing::Message() << "column " << c);
    PlanBuilder plan(Types());
    AddAggregates(c, &plan);
    const Output output = input.RunCached(plan, 0);
    EXPECT_EQ(output.rows, input.RunPushed(plan).rows);
    EXPECT_EQ(output.cached_rows, kChunkRows + 8490);
    if (kColumns[c].is_summarized) {
      EXPECT_GE(output.summarized_rows, kChunkRows);
    }
  }
  // Rising numbers have zones.
  PlanBuilder plan(Types());
  AddAggregates(0, &plan);
  EXPECT_EQ(input.RunCached(plan, 0).summarized_rows, kChunkRows + 3 * 2048);
}

TEST(Summary, ChunksWithInvalidRows) { TestInvalidRows(false); }

TEST(Summary, ChunksWithInvalidRowsAsBits) { TestInvalidRows(true); }

TEST(Summary, ConditionsThatTheZoneMapDecides) {
  const TwoChunks input({{0, kChunkRows}});
  const struct {
    const char* least_row;
    uint64_t summarized_rows;
  } cases[] = {{"-5", 2 * kChunkRows}, {"9000", kChunkRows}, {"9001", 3 * 2048 + 808}, {"18000", 0}};
  for (const auto& tested : cases) {
    for (int c = 0; c < kColumnCount; ++c) {
      SCOPED_TRACE(testing::Message() << "column " << c << " from row " << tested.least_row);
      PlanBuilder plan(Types());
      plan.Filter(
          {plan.Call(PENUMBRA_FN_GE, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT4, tested.least_row)})});
      AddAggregates(c, &plan);
      const Output output = input.RunCached(plan, 0);
      EXPECT_EQ(output.rows, input.RunPushed(plan).rows);
      if (c == 0) {
        EXPECT_EQ(output.summarized_rows, tested.summarized_rows);
      }
    }
  }
}

// A conjunct that has to see the rows keeps metadata out, whatever the others say.
TEST(Summary, ConditionsOnDecodedRows) {
  const TwoChunks input({{0, kChunkRows}});
  PlanBuilder plan(Types());
  PenumbraExpr sum = plan.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {plan.Column(0), plan.Column(7)});
  plan.Filter({plan.Call(PENUMBRA_FN_GE, PENUMBRA_BOOL, {plan.Column(0), plan.Constant(PENUMBRA_INT4, "0")}),
               plan.Call(PENUMBRA_FN_GE, PENUMBRA_BOOL, {sum, plan.Constant(PENUMBRA_INT4, "50")})});
  AddAggregates(0, &plan);
  const Output output = input.RunCached(plan, 0);
  EXPECT_EQ(output.rows, input.RunPushed(plan).rows);
  EXPECT_EQ(output.summarized_rows, 0u);
}

TEST(Summary, OtherAggregatesNeedTheRows) {
  const TwoChunks input({{0, kChunkRows}});
  const PenumbraExpr none = -1;
  for (int variant = 0; variant < 4; ++variant) {
    SCOPED_TRACE(testing::Message() << "variant " << variant);
    PlanBuilder plan(Types());
    PenumbraExpr column = plan.Column(1);
    PenumbraAggregateCall other = CountStar();
    if (variant == 0) other = Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, column);
    if (variant == 1) other = {PENUMBRA_AGG_COUNT, PENUMBRA_INT8, {column}, 1, none, true};
    if (variant == 2) other.filter = plan.Column(5);
    if (variant == 3)
      other = Aggregate(PENUMBRA_AGG_MIN, PENUMBRA_INT2, plan.Call(PENUMBRA_FN_NEG, PENUMBRA_INT2, {column}));
    plan.Aggregate({}, {CountStar(), Aggregate(PENUMBRA_AGG_MIN, PENUMBRA_INT2, column), other});
    const Output output = input.RunCached(plan, 0);
    EXPECT_EQ(output.rows, input.RunPushed(plan).rows);
    EXPECT_EQ(output.summarized_rows, 0u);
  }
  // DISTINCT changes no extreme.
  PlanBuilder plan(Types());
  plan.Aggregate({}, {{PENUMBRA_AGG_MAX, PENUMBRA_INT4, {plan.Column(0)}, 1, none, true}});
  EXPECT_EQ(input.RunCached(plan, 0).summarized_rows, 2 * kChunkRows);
}

// Rows from the heap beside rows from metadata.
TEST(Summary, PushedRowsBesideChunks) {
  const TwoChunks cached({{0, kChunkRows}});
  const Table heap = MakeTable(3 * kChunkRows, {{0, 500}});
  for (int c = 0; c < kColumnCount; ++c) {
    if (c == 9) continue;  // which of 8.0 and 8.00 is shown depends on the order of rows
    SCOPED_TRACE(testing::Message() << "column " << c);
    PlanBuilder plan(Types());
    AddAggregates(c, &plan);
    Input mixed, pushed;
    mixed.chunks = {&cached.chunks[0], &cached.chunks[1]};
    mixed.pushed = {&heap};
    pushed.pushed = {&cached.valid[0], &cached.valid[1], &heap};
    EXPECT_EQ(test::Run(plan, mixed).rows, test::Run(plan, pushed).rows);
  }
}

// What min and max rest on is proven when a segment enters the cache.
TEST(Summary, CheckProvesBounds) {
  const TwoChunks input({{0, kChunkRows}});
  const auto check = [&](int column, auto&& damage) {
    const void* segment = input.chunks[0].chunk().segments[column];
    const auto* header = static_cast<const SegmentHeader*>(segment);
    std::vector<uint64_t> memory(header->segment_bytes / 8 + 8);
    void* copy = memory.data();
    size_t space = memory.size() * 8;
    copy = std::align(64, header->segment_bytes, copy, space);
    std::memcpy(copy, segment, header->segment_bytes);
    damage(static_cast<SegmentHeader*>(copy), static_cast<char*>(copy));
    return penumbra_segment_check(copy, header->segment_bytes).code;
  };
  const auto zones = [](SegmentHeader* header, char* bytes) {
    return reinterpret_cast<SegmentZone*>(bytes + header->parts[kZones].offset);
  };
  EXPECT_EQ(check(0, [](SegmentHeader*, char*) {}), PENUMBRA_OK);
  EXPECT_EQ(check(0, [](SegmentHeader* header, char*) { --header->least; }), PENUMBRA_CORRUPT);
  EXPECT_EQ(check(0, [&](SegmentHeader* header, char* bytes) { --zones(header, bytes)[1].least; }), PENUMBRA_CORRUPT);
  EXPECT_EQ(check(4, [&](SegmentHeader* header, char* bytes) { zones(header, bytes)[0] = {0, 0}; }), PENUMBRA_CORRUPT);
  EXPECT_EQ(check(11, [](SegmentHeader* header, char*) { ++header->greatest; }), PENUMBRA_CORRUPT);
  for (int column : {15, 19}) {  // two entries change places
    EXPECT_EQ(check(column,
                    [](SegmentHeader* header, char* bytes) {
                      char* entries = bytes + header->parts[kValues].offset;
                      std::swap_ranges(entries, entries + 16, entries + 16);
                    }),
              PENUMBRA_CORRUPT);
  }
  // An entry that no row has any more: all codes 1 become 0.
  EXPECT_EQ(check(15,
                  [](SegmentHeader* header, char* bytes) {
                    char* codes = bytes + header->parts[kCodes].offset;
                    std::replace(codes, codes + header->rows, char{1}, char{0});
                  }),
            PENUMBRA_CORRUPT);
}

}  // namespace
}  // namespace penumbra::test
