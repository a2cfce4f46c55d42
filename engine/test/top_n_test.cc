// What only a top-N does: bounds shared between threads, and rows rejected by them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sort/sort.h"
#include "support/sink.h"

namespace penumbra::test {
namespace {

constexpr uint32_t kRows = 60000;

// One column, its n best values from four threads.
std::vector<std::string> TopValues(PenumbraType type, const std::vector<SinkCell>& cells, int64_t n, bool descending,
                                   bool nulls_first, SinkForm form = SinkForm::kFlat) {
  Session session;
  ExecutionEnvironment environment(size_t{1} << 26, session);
  auto key = ColumnExpr(0, type);
  SortSpec spec;
  spec.column_types = {type};
  spec.keys = {{key.get(), descending, nulls_first}};
  spec.limit = n;
  std::unique_ptr<Sink> sink = CreateSort(spec, environment);
  SinkRun run = RunSink(*sink, environment, {{type, cells}}, 1000, 4, [form](int, uint32_t) { return form; });
  std::vector<std::string> values;
  for (const std::vector<std::string>& row : run.rows) values.push_back(row[0]);
  return values;
}

std::vector<SinkCell> Numbers(uint32_t null_every) {
  std::vector<SinkCell> cells;
  for (uint32_t i = 0; i < kRows; ++i) {
    const int value = static_cast<int>(i * 7919 % kRows) - static_cast<int>(kRows / 2);
    cells.push_back(null_every != 0 && i % null_every == 0 ? SinkCell() : SinkCell(std::to_string(value)));
  }
  return cells;
}

TEST(TopN, BoundsOfEachType) {
  const std::vector<SinkCell> cells = Numbers(0);
  const int least = -static_cast<int>(kRows / 2), greatest = least + static_cast<int>(kRows) - 1;
  for (PenumbraType type :
       {PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_FLOAT4, PENUMBRA_FLOAT8, PENUMBRA_NUMERIC, PENUMBRA_TIMESTAMP}) {
    SCOPED_TRACE(type);
    std::vector<std::string> up, down;
    for (int i = 0; i < 700; ++i) {
      up.push_back(std::to_string(least + i));
      down.push_back(std::to_string(greatest - i));
    }
    EXPECT_EQ(TopValues(type, cells, 700, false, false), up);
    EXPECT_EQ(TopValues(type, cells, 700, true, false), down);
  }
}

TEST(TopN, NullsAtEitherEnd) {
  const std::vector<SinkCell> cells = Numbers(20);
  for (PenumbraType type : {PENUMBRA_INT4, PENUMBRA_FLOAT8, PENUMBRA_NUMERIC}) {
    for (bool descending : {false, true}) {
      SCOPED_TRACE(std::to_string(type) + (descending ? " descending" : ""));
      std::vector<std::string> first = TopValues(type, cells, 2000, descending, true);
      EXPECT_EQ(first, std::vector<std::string>(2000, "NULL"));
      std::vector<std::string> last = TopValues(type, cells, 2000, descending, false);
      EXPECT_EQ(std::count(last.begin(), last.end(), "NULL"), 0);
      // All values, then the nulls.
      std::vector<std::string> all = TopValues(type, cells, 58000, descending, false);
      EXPECT_EQ(std::count(all.begin(), all.end(), "NULL"), 1000);
      EXPECT_EQ(all[56999] == "NULL", false);
      EXPECT_EQ(all[57000], "NULL");
    }
  }
}

TEST(TopN, TextWithEqualPrefixes) {
  std::vector<SinkCell> cells;
  for (uint32_t i = 0; i < kRows; ++i)
    cells.push_back("the same sixteen bytes, then " + std::to_string(i * 7919 % kRows + 100000));
  std::vector<std::string> expected;
  for (int i = 0; i < 50; ++i) expected.push_back("the same sixteen bytes, then " + std::to_string(100000 + i));
  EXPECT_EQ(TopValues(PENUMBRA_TEXT, cells, 50, false, false), expected);
  EXPECT_EQ(TopValues(PENUMBRA_TEXT, cells, 50, false, false, SinkForm::kDictionary), expected);
}

// The prefilter may only leave out rows that cannot matter.
TEST(TopN, PrefilterKeepsWhatMatters) {
  Session session;
  ExecutionEnvironment environment(size_t{1} << 26, session);
  auto key = ColumnExpr(0, PENUMBRA_INT4);
  SortSpec spec;
  spec.column_types = {PENUMBRA_INT4};
  spec.keys = {{key.get(), false, false}};
  spec.limit = 10;
  std::unique_ptr<Sink> sink = CreateSort(spec, environment);
  std::unique_ptr<Sink::Local> local = sink->CreateLocal();
  const SinkColumn column{PENUMBRA_INT4, Numbers(0)};
  uint64_t passed = 0, consumed = 0;
  for (uint32_t begin = 0; begin + 1000 <= kRows; begin += 1000) {
    Arena arena;
    EvalContext context{arena, session};
    Vector v = MakeSinkVector(column, begin, 1000, SinkForm::kFlat, arena);
    uint16_t selected[kVectorRows];
    const uint32_t count = sink->Prefilter(*local, {1000, 1, &v}, true, context, selected);
    passed += count;
    consumed += 1000;
    if (count == 0) continue;
    Vector kept = Gather(v, selected, count, arena);
    sink->Consume(*local, {count, 1, &kept}, context);
  }
  EXPECT_LT(passed, consumed / 4);
  sink->Combine(*local);
  ASSERT_EQ(sink->PrepareFinish(), 1);
  sink->RunFinishTask(0);
  ASSERT_EQ(sink->PrepareFinish(), 0);
  ASSERT_EQ(sink->Seal(), 1);
  Batch batch;
  auto reader = sink->OpenPartition(0);
  ASSERT_TRUE(reader->Next(&batch));
  ASSERT_EQ(batch.rows, 10u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(batch.columns[0].values<int32_t>()[i], -static_cast<int>(kRows / 2) + i);
}

}  // namespace
}  // namespace penumbra::test
