// Sort and top-N against std::sort over the keys' values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "numeric/numeric.h"
#include "operator/operator.h"
#include "support/sink.h"

namespace penumbra::test {
namespace {

struct KeyOrder {
  int column;
  bool descending;
  bool nulls_first;
};

double FloatOf(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

int CompareCells(PenumbraType type, const std::string& a, const std::string& b) {
  switch (type) {
    case PENUMBRA_TEXT:
    case PENUMBRA_UUID:
      return a.compare(b);
    case PENUMBRA_BOOL:
      return (a == "t") - (b == "t");
    case PENUMBRA_BPCHAR: {
      auto trim = [](std::string text) { return text.erase(text.find_last_not_of(' ') + 1); };
      return trim(a).compare(trim(b));
    }
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: {
      const double x = FloatOf(a), y = FloatOf(b);
      if (std::isnan(x) || std::isnan(y)) return std::isnan(x) - std::isnan(y);
      return (x > y) - (x < y);
    }
    case PENUMBRA_INTERVAL: {
      auto span = [](const std::string& text) {
        long long month, day, us;
        std::sscanf(text.c_str(), "%lld/%lld/%lld", &month, &day, &us);
        return static_cast<int128>(month * 30 + day) * 86400000000 + us;
      };
      return (span(a) > span(b)) - (span(a) < span(b));
    }
    case PENUMBRA_INT4:
    case PENUMBRA_INT8: {
      const long long x = std::atoll(a.c_str()), y = std::atoll(b.c_str());
      return (x > y) - (x < y);
    }
    default:
      return Decimal::Compare(Decimal::FromString(a), Decimal::FromString(b));
  }
}

int CompareRows(const std::vector<SinkColumn>& table, const std::vector<KeyOrder>& keys, uint32_t a,
                uint32_t b) {
  for (const KeyOrder& key : keys) {
    const SinkColumn& column = table[key.column];
    const SinkCell &x = column.cells[a], &y = column.cells[b];
    if (!x || !y) {
      if (!x && !y) continue;
      return !x == key.nulls_first ? -1 : 1;
    }
    const int order = CompareCells(column.type, *x, *y);
    if (order != 0) return key.descending ? -order : order;
  }
  return 0;
}

// Sorts and checks that the result is a prefix of the order, with rows that exist, each once. The
// last column of the table numbers the rows.
void CheckSort(const std::vector<SinkColumn>& table, const std::vector<KeyOrder>& keys,
               int64_t limit, int64_t offset, int threads, uint32_t batch_rows,
               const SinkFormChooser& form) {
  Session session;
  ExecutionEnvironment environment(size_t{1} << 30, session);
  const uint32_t rows = static_cast<uint32_t>(table[0].cells.size());
  std::vector<std::unique_ptr<Expr>> exprs;
  SortSpec spec;
  for (const SinkColumn& column : table) spec.column_types.push_back(column.type);
  for (const KeyOrder& key : keys) {
    exprs.push_back(ColumnExpr(key.column, table[key.column].type));
    spec.keys.push_back({exprs.back().get(), key.descending, key.nulls_first});
  }
  spec.limit = limit;
  spec.offset = offset;
  std::vector<uint32_t> order(rows);
  for (uint32_t i = 0; i < rows; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return CompareRows(table, keys, a, b) < 0; });
  const uint64_t begin = std::min<uint64_t>(rows, static_cast<uint64_t>(offset));
  const uint64_t end =
      limit < 0 ? rows : std::min<uint64_t>(rows, begin + static_cast<uint64_t>(limit));
  {
    std::unique_ptr<Sink> sink = CreateSort(spec, environment);
    EXPECT_TRUE(sink->is_ordered());
    SinkRun run = RunSink(*sink, environment, table, batch_rows, threads, form);
    ASSERT_EQ(run.rows.size(), end - begin);
    std::vector<bool> seen(rows);
    for (uint64_t i = 0; i < run.rows.size(); ++i) {
      const uint32_t row = static_cast<uint32_t>(std::stoul(run.rows[i].back()));
      ASSERT_LT(row, rows);
      EXPECT_FALSE(seen[row]) << "row twice";
      seen[row] = true;
      ASSERT_EQ(CompareRows(table, keys, row, order[begin + i]), 0)
          << "at " << i << ": row " << row << " in place of " << order[begin + i];
      for (size_t c = 0; c < table.size(); ++c)
        ASSERT_EQ(run.rows[i][c], table[c].cells[row].value_or("NULL"));
    }
  }
  EXPECT_EQ(environment.budget.used_bytes(), 0u);
}

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(engine_); }
  int64_t Any() { return static_cast<int64_t>(std::uniform_int_distribution<uint64_t>()(engine_)); }

 private:
  std::mt19937_64 engine_;
};

std::string RandomNumeric(Random& random) {
  switch (random.Below(30)) {
    case 0:
      return "NaN";
    case 1:
      return random.Below(2) != 0 ? "Infinity" : "-Infinity";
    case 2:
      return (random.Below(2) != 0 ? "-" : "") + std::string("123456789012345678") +
             std::to_string(random.Below(50));
    case 3:
      return (random.Below(2) != 0 ? "-" : "") + std::string(50, '8') + "." +
             std::to_string(random.Below(5));
    case 4:
      return (random.Below(2) != 0 ? "-" : "") + std::string("0.") + std::string(40, '0') +
             std::to_string(1 + random.Below(20));
    case 5:
      return (random.Below(2) != 0 ? "-" : "") + std::string("12345678901234567.") +
             std::to_string(10 + random.Below(80));
    default:
      return Decimal::FromInteger(random.Any() >> (8 + random.Below(50)),
                                  static_cast<int>(random.Below(10)))
          .ToString();
  }
}

std::string RandomText(PenumbraType type, uint32_t variety, Random& random) {
  const int64_t n = variety == 0 ? random.Any() : random.Below(variety);
  switch (type) {
    case PENUMBRA_BOOL:
      return n % 2 != 0 ? "t" : "f";
    case PENUMBRA_INT2:
      return std::to_string(static_cast<int16_t>(n));
    case PENUMBRA_INT4:
    case PENUMBRA_DATE:
      return std::to_string(static_cast<int32_t>(n));
    case PENUMBRA_NUMERIC:
      return RandomNumeric(random);
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: {
      if (random.Below(20) == 0)
        return random.Below(2) != 0 ? "nan" : random.Below(2) != 0 ? "inf" : "-inf";
      char text[40];
      std::snprintf(text, sizeof(text), "%.15g", static_cast<double>(static_cast<int16_t>(n)) / 8);
      return text;
    }
    case PENUMBRA_TEXT:
      return (random.Below(2) != 0 ? "a common beginning, then " : "") +
             std::to_string(n).substr(0, 1 + random.Below(18));
    case PENUMBRA_BPCHAR:
      return std::to_string(n).substr(0, 1 + random.Below(4)) + std::string(random.Below(4), ' ');
    case PENUMBRA_UUID: {
      std::string bytes(16, 'u');
      std::memcpy(bytes.data() + random.Below(9), &n, 8);
      return bytes;
    }
    case PENUMBRA_INTERVAL:
      return std::to_string(static_cast<int8_t>(n)) + "/" +
             std::to_string(static_cast<int16_t>(n >> 8)) + "/" + std::to_string(n >> 20);
    default:
      return std::to_string(n);
  }
}

const PenumbraType kAllTypes[] = {
    PENUMBRA_BOOL,     PENUMBRA_INT2,    PENUMBRA_INT4,   PENUMBRA_INT8,      PENUMBRA_FLOAT4,
    PENUMBRA_FLOAT8,   PENUMBRA_NUMERIC, PENUMBRA_DATE,   PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMPTZ,
    PENUMBRA_INTERVAL, PENUMBRA_TEXT,    PENUMBRA_BPCHAR, PENUMBRA_UUID};

SinkColumn RandomColumn(PenumbraType type, uint32_t rows, uint32_t variety, int null_percent,
                        Random& random) {
  SinkColumn column{type, {}};
  for (uint32_t i = 0; i < rows; ++i) {
    if (static_cast<int>(random.Below(100)) < null_percent) {
      column.cells.push_back(std::nullopt);
    } else {
      column.cells.push_back(RandomText(type, variety, random));
    }
  }
  return column;
}

void AddRowNumbers(std::vector<SinkColumn>* table, uint32_t rows) {
  SinkColumn numbers{PENUMBRA_INT4, {}};
  for (uint32_t i = 0; i < rows; ++i) numbers.cells.push_back(std::to_string(i));
  table->push_back(numbers);
}

const SinkFormChooser kFlat = [](int, uint32_t) { return SinkForm::kFlat; };

TEST(Sort, EachTypeEachDirection) {
  Random random(1);
  constexpr uint32_t kRows = 3000;
  for (PenumbraType type : kAllTypes) {
    std::vector<SinkColumn> table{RandomColumn(type, kRows, 0, 5, random)};
    AddRowNumbers(&table, kRows);
    for (int order = 0; order < 4; ++order) {
      SCOPED_TRACE(std::to_string(type) + " " + std::to_string(order));
      CheckSort(table, {{0, order % 2 != 0, order / 2 != 0}}, -1, 0, 1, kVectorRows, kFlat);
      CheckSort(table, {{0, order % 2 != 0, order / 2 != 0}}, 100, 17, 2, 500, kFlat);
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(Sort, SeveralKeysInAnyForm) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(200 + seed);
    const uint32_t rows = random.Below(6000);
    std::vector<SinkColumn> table;
    std::vector<KeyOrder> keys;
    const int key_count = 1 + static_cast<int>(random.Below(4));
    for (int k = 0; k < key_count; ++k) {
      table.push_back(RandomColumn(kAllTypes[random.Below(std::size(kAllTypes))], rows,
                                   random.Below(2) * 5, random.Below(2) * 20, random));
      keys.push_back({k, random.Below(2) != 0, random.Below(2) != 0});
    }
    AddRowNumbers(&table, rows);
    const int64_t limit = random.Below(3) == 0 ? -1 : random.Below(3000);
    CheckSort(
        table, keys, limit, random.Below(2) * random.Below(2500),
        1 + static_cast<int>(random.Below(3)), 1 + random.Below(kVectorRows),
        [seed](int column, uint32_t begin) {
          return static_cast<SinkForm>((static_cast<uint32_t>(column) * 7 + begin * 13 + seed) % 5);
        });
    ASSERT_FALSE(HasFailure());
  }
}

// ORDER BY k, k and the like: more keys than columns.
TEST(Sort, OneColumnAsSeveralKeys) {
  Random random(11);
  std::vector<SinkColumn> table{RandomColumn(PENUMBRA_INT4, 3000, 0, 5, random)};
  AddRowNumbers(&table, 3000);
  const std::vector<KeyOrder> keys(9, KeyOrder{0, false, false});
  CheckSort(table, keys, -1, 0, 2, kVectorRows, kFlat);
  CheckSort(table, keys, 10, 3, 2, kVectorRows, kFlat);
}

TEST(Sort, ManyBuckets) {
  Random random(3);
  constexpr uint32_t kRows = 200000;
  for (PenumbraType type : {PENUMBRA_INT4, PENUMBRA_INT8, PENUMBRA_TEXT}) {
    // The second has many equal keys.
    for (uint32_t variety : {0u, 3u}) {
      std::vector<SinkColumn> table{RandomColumn(type, kRows, variety, 1, random)};
      AddRowNumbers(&table, kRows);
      CheckSort(table, {{0, true, true}}, -1, 0, 3, kVectorRows, kFlat);
      // A limit beyond what top-N keeps, which starts within a bucket.
      CheckSort(table, {{0, false, false}}, 110000, 10001, 2, kVectorRows, kFlat);
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(TopN, WorstCaseIsDescendingInput) {
  constexpr uint32_t kRows = 50000;
  SinkColumn falling{PENUMBRA_INT8, {}};
  for (uint32_t i = 0; i < kRows; ++i) falling.cells.push_back(std::to_string(kRows - i));
  std::vector<SinkColumn> table{falling};
  AddRowNumbers(&table, kRows);
  CheckSort(table, {{0, false, false}}, 10, 0, 2, kVectorRows, kFlat);
  CheckSort(table, {{0, false, false}}, 0, 5, 1, kVectorRows, kFlat);
  CheckSort(table, {{0, false, false}}, 5, 60000, 1, kVectorRows, kFlat);
}

TEST(Sort, OutOfMemory) {
  Random random(9);
  std::vector<SinkColumn> table{RandomColumn(PENUMBRA_INT8, kVectorRows, 0, 0, random)};
  Session session;
  ExecutionEnvironment environment(0, session);
  auto key = ColumnExpr(0, PENUMBRA_INT8);
  SortSpec spec;
  spec.column_types = {PENUMBRA_INT8};
  spec.keys = {{key.get(), false, false}};
  std::unique_ptr<Sink> sink = CreateSort(spec, environment);
  std::unique_ptr<Sink::Local> local = sink->CreateLocal();
  Arena arena;
  EvalContext context{arena, session};
  Vector column = MakeSinkVector(table[0], 0, kVectorRows, SinkForm::kFlat, arena);
  try {
    for (int i = 0; i < 100000; ++i) sink->Consume(*local, {kVectorRows, 1, &column}, context);
    FAIL() << "no limit";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), PENUMBRA_OUT_OF_MEMORY);
  }
}

TEST(Sort, StopsWhenCancelled) {
  Random random(9);
  std::vector<SinkColumn> table{RandomColumn(PENUMBRA_INT8, kVectorRows, 0, 0, random)};
  Session session;
  ExecutionEnvironment environment(size_t{1} << 30, session);
  auto key = ColumnExpr(0, PENUMBRA_INT8);
  SortSpec spec;
  spec.column_types = {PENUMBRA_INT8};
  spec.keys = {{key.get(), false, false}};
  std::unique_ptr<Sink> sink = CreateSort(spec, environment);
  std::unique_ptr<Sink::Local> local = sink->CreateLocal();
  Arena arena;
  EvalContext context{arena, session};
  Vector column = MakeSinkVector(table[0], 0, kVectorRows, SinkForm::kFlat, arena);
  for (int i = 0; i < 100; ++i) sink->Consume(*local, {kVectorRows, 1, &column}, context);
  sink->Combine(*local);
  ASSERT_GT(sink->PrepareFinish(), 0);
  environment.is_cancelled = true;
  EXPECT_THROW(sink->RunFinishTask(0), EngineError);
}

}  // namespace
}  // namespace penumbra::test
