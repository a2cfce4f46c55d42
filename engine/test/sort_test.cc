// Sort and top-N against std::sort over the keys' values.
#include "sort/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "numeric/numeric.h"
#include "operator/execution_environment.h"
#include "sort/packed_prefix.h"
#include "support/query.h"
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
    case PENUMBRA_UUID: return a.compare(b);
    case PENUMBRA_BOOL: return (a == "t") - (b == "t");
    case PENUMBRA_BPCHAR: return Trimmed(a).compare(Trimmed(b));
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
    default: return Decimal::Compare(Decimal::FromString(a), Decimal::FromString(b));
  }
}

int CompareRows(const std::vector<SinkColumn>& table, const std::vector<KeyOrder>& keys, uint32_t a, uint32_t b) {
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

constexpr size_t kEnoughMemory = size_t{1} << 30;
constexpr size_t kNoMemory = 1000;  // each thread writes runs of some 100 KB

// Sorts and checks that the result is a prefix of the order, with rows that exist, each once. The
// last column of the table numbers the rows. Returns how many bytes were spilled.
uint64_t CheckSort(const std::vector<SinkColumn>& table, const std::vector<KeyOrder>& keys, int64_t limit,
                   int64_t offset, int threads, uint32_t batch_rows, const SinkFormChooser& form,
                   size_t memory_bytes = kEnoughMemory) {
  Session session;
  ExecutionEnvironment environment(memory_bytes, session);
  uint64_t spilled_bytes = 0;
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
  const uint64_t end = limit < 0 ? rows : std::min<uint64_t>(rows, begin + static_cast<uint64_t>(limit));
  {
    std::unique_ptr<Sink> sink = CreateSort(spec, environment);
    EXPECT_TRUE(sink->is_ordered());
    SinkRun run = RunSink(*sink, environment, table, batch_rows, threads, form);
    spilled_bytes = run.stats.spilled_bytes;
    EXPECT_EQ(run.rows.size(), end - begin);
    std::vector<bool> seen(rows);
    for (uint64_t i = 0; i < run.rows.size() && !::testing::Test::HasFailure(); ++i) {
      const uint32_t row = static_cast<uint32_t>(std::stoul(run.rows[i].back()));
      EXPECT_FALSE(seen.at(row)) << "row twice";
      seen[row] = true;
      EXPECT_EQ(CompareRows(table, keys, row, order[begin + i]), 0)
          << "at " << i << ": row " << row << " in place of " << order[begin + i];
      for (size_t c = 0; c < table.size(); ++c) EXPECT_EQ(run.rows[i][c], table[c].cells[row].value_or("NULL"));
    }
  }
  EXPECT_EQ(environment.budget.used_bytes(), 0u);
  return spilled_bytes;
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
    case 0: return "NaN";
    case 1: return random.Below(2) != 0 ? "Infinity" : "-Infinity";
    case 2:
      return (random.Below(2) != 0 ? "-" : "") + std::string("123456789012345678") + std::to_string(random.Below(50));
    case 3: return (random.Below(2) != 0 ? "-" : "") + std::string(50, '8') + "." + std::to_string(random.Below(5));
    case 4:
      return (random.Below(2) != 0 ? "-" : "") + std::string("0.") + std::string(40, '0') +
             std::to_string(1 + random.Below(20));
    case 5:
      return (random.Below(2) != 0 ? "-" : "") + std::string("12345678901234567.") +
             std::to_string(10 + random.Below(80));
    default:
      return Decimal::FromInteger(random.Any() >> (8 + random.Below(50)), static_cast<int>(random.Below(10)))
          .ToString();
  }
}

std::string RandomText(PenumbraType type, uint32_t variety, Random& random) {
  const int64_t n = variety == 0 ? random.Any() : random.Below(variety);
  switch (type) {
    case PENUMBRA_BOOL: return n % 2 != 0 ? "t" : "f";
    case PENUMBRA_INT2: return std::to_string(static_cast<int16_t>(n));
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return std::to_string(static_cast<int32_t>(n));
    case PENUMBRA_NUMERIC: return RandomNumeric(random);
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: {
      if (random.Below(20) == 0) return random.Below(2) != 0 ? "nan" : random.Below(2) != 0 ? "inf" : "-inf";
      char text[40];
      std::snprintf(text, sizeof(text), "%.15g", static_cast<double>(static_cast<int16_t>(n)) / 8);
      return text;
    }
    case PENUMBRA_TEXT: {
      // byte strings have zeros, too
      if (random.Below(4) == 0)
        return std::string(random.Below(18), static_cast<char>(n % 3 != 0 ? 0 : random.Below(3)));
      return (random.Below(2) != 0 ? "a common beginning, then " : "") +
             std::to_string(n).substr(0, 1 + random.Below(18));
    }
    case PENUMBRA_BPCHAR: {
      const std::string text = std::to_string(n).substr(0, 1 + random.Below(4));
      if (random.Below(3) == 0) return WithTail(text + " with a tail", std::string(random.Below(4), 't'));
      return text + (random.Below(3) == 0 ? " with a tail" : "") + std::string(random.Below(4), ' ');
    }
    case PENUMBRA_UUID: {
      std::string bytes(16, 'u');
      std::memcpy(bytes.data() + random.Below(9), &n, 8);
      return bytes;
    }
    case PENUMBRA_INTERVAL:
      return std::to_string(static_cast<int8_t>(n)) + "/" + std::to_string(static_cast<int16_t>(n >> 8)) + "/" +
             std::to_string(n >> 20);
    default: return std::to_string(n);
  }
}

const PenumbraType kAllTypes[] = {PENUMBRA_BOOL,      PENUMBRA_INT2,        PENUMBRA_INT4,     PENUMBRA_INT8,
                                  PENUMBRA_FLOAT4,    PENUMBRA_FLOAT8,      PENUMBRA_NUMERIC,  PENUMBRA_DATE,
                                  PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMPTZ, PENUMBRA_INTERVAL, PENUMBRA_TEXT,
                                  PENUMBRA_BPCHAR,    PENUMBRA_UUID};

SinkColumn RandomColumn(PenumbraType type, uint32_t rows, uint32_t variety, int null_percent, Random& random) {
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

// One to four columns, each a key, and the row's number.
std::vector<SinkColumn> RandomTable(uint32_t rows, std::vector<KeyOrder>* keys, Random& random) {
  std::vector<SinkColumn> table;
  const int key_count = 1 + static_cast<int>(random.Below(4));
  for (int k = 0; k < key_count; ++k) {
    table.push_back(RandomColumn(kAllTypes[random.Below(std::size(kAllTypes))], rows, random.Below(2) * 5,
                                 random.Below(2) * 20, random));
    keys->push_back({k, random.Below(2) != 0, random.Below(2) != 0});
  }
  AddRowNumbers(&table, rows);
  return table;
}

auto AnyForm(uint32_t seed) {
  return [seed](int column, uint32_t begin) {
    return static_cast<SinkForm>((static_cast<uint32_t>(column) * 7 + begin * 13 + seed) % 5);
  };
}

TEST(Sort, SeveralKeysInAnyForm) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(200 + seed);
    const uint32_t rows = random.Below(6000);
    std::vector<KeyOrder> keys;
    const std::vector<SinkColumn> table = RandomTable(rows, &keys, random);
    const int64_t limit = random.Below(3) == 0 ? -1 : random.Below(3000);
    CheckSort(table, keys, limit, random.Below(2) * random.Below(2500), 1 + static_cast<int>(random.Below(3)),
              1 + random.Below(kVectorRows), AnyForm(seed));
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

// Keys of which a word has the beginning only, with few rows that share one: keys of many bits, long texts, numbers of
// many digits. With memory for none of them, too.
TEST(Sort, WordsOfTheFirstBits) {
  Random random(7);
  constexpr uint32_t kRows = 20000;
  std::vector<SinkColumn> table(4);
  table[0].type = PENUMBRA_INT4;
  table[1].type = PENUMBRA_INT8;
  table[2].type = PENUMBRA_TEXT;
  table[3].type = PENUMBRA_NUMERIC;
  for (uint32_t i = 0; i < kRows; ++i) {
    const std::string twin = std::to_string(10000 + i / 2);
    table[0].cells.push_back(std::to_string(i % 7));
    table[1].cells.push_back(std::to_string(random.Any()));
    table[2].cells.push_back(twin + " is where the two differ: " + std::to_string(random.Below(9)));
    table[3].cells.push_back(twin + "00000000000000." + std::to_string(random.Below(9)));
  }
  AddRowNumbers(&table, kRows);
  const std::vector<KeyOrder> orders[] = {{{0, false, false}, {1, true, false}, {0, true, false}},
                                          {{1, false, false}, {2, false, false}},
                                          {{2, true, false}, {1, false, false}},
                                          {{3, false, false}},
                                          {{0, true, false}, {3, true, false}, {1, false, false}}};
  for (const auto& keys : orders) {
    CheckSort(table, keys, -1, 0, 3, kVectorRows, kFlat);
    CheckSort(table, keys, -1, 0, 2, kVectorRows, kFlat, kNoMemory);
  }
}

TEST(PackedPrefix, WordsAreInOrder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    // Stretches of bits that vary.
    uint128 varying = 0;
    for (uint64_t stretches = random() % 5; stretches > 0; --stretches) {
      const uint64_t bits = 1 + random() % 40, begin = random() % (128 - bits);
      varying |= ((uint128{1} << bits) - 1) << begin;
    }
    if (round % 10 == 0) varying = uint128{random()} << 64 | random();
    const auto draw = [&random] { return SortPrefix{random(), random()}; };
    const SortPrefix first = draw();
    const PackedPrefix packed(first, varying);
    for (int pair = 0; pair < 10; ++pair) {
      const auto of_first = [&](const SortPrefix& any) {
        const uint128 bits = (Bits(first) & ~varying) | (Bits(any) & varying);
        return SortPrefix{static_cast<uint64_t>(bits >> 64), static_cast<uint64_t>(bits)};
      };
      const SortPrefix a = of_first(draw()), b = of_first(pair == 0 ? a : draw());
      const uint64_t word_a = packed.Pack(a), word_b = packed.Pack(b);
      if (packed.is_whole()) {
        EXPECT_EQ(a < b, word_a < word_b);
        EXPECT_TRUE(packed.Unpack(word_a) == a);
      } else if (word_a != word_b) {
        EXPECT_EQ(a < b, word_a < word_b);
      }
    }
    if (__builtin_popcountll(static_cast<uint64_t>(varying >> 64)) +
            __builtin_popcountll(static_cast<uint64_t>(varying)) >
        64) {
      EXPECT_FALSE(packed.is_whole());
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

TEST(SpilledSort, EachTypeEachDirection) {
  Random random(21);
  constexpr uint32_t kRows = 9000;
  for (PenumbraType type : kAllTypes) {
    std::vector<SinkColumn> table{RandomColumn(type, kRows, 0, 5, random)};
    AddRowNumbers(&table, kRows);
    for (int order = 0; order < 4; ++order) {
      SCOPED_TRACE(std::to_string(type) + " " + std::to_string(order));
      const std::vector<KeyOrder> keys{{0, order % 2 != 0, order / 2 != 0}};
      EXPECT_GT(CheckSort(table, keys, -1, 0, 1 + order % 3, 500, kFlat, kNoMemory), kRows * 20u);
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(SpilledSort, SeveralKeysInAnyForm) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(300 + seed);
    const uint32_t rows = random.Below(12000);
    std::vector<KeyOrder> keys;
    const std::vector<SinkColumn> table = RandomTable(rows, &keys, random);
    // Top-N, too, whose candidates are many or few, and a limit beyond it.
    const int64_t limit = random.Below(4) == 0 ? 110000 : random.Below(2) == 0 ? -1 : random.Below(9000);
    CheckSort(table, keys, limit, random.Below(2) * random.Below(7000), 1 + static_cast<int>(random.Below(3)),
              1 + random.Below(kVectorRows), AnyForm(seed), kNoMemory);
    ASSERT_FALSE(HasFailure());
  }
}

// More runs than one merge takes, and duplicates of which each run has some.
TEST(SpilledSort, ManyRuns) {
  Random random(23);
  constexpr uint32_t kRows = 150000;
  for (PenumbraType type : {PENUMBRA_INT8, PENUMBRA_TEXT}) {
    for (uint32_t variety : {0u, 3u}) {
      SCOPED_TRACE(std::to_string(type) + " " + std::to_string(variety));
      std::vector<SinkColumn> table{RandomColumn(type, kRows, variety, 1, random)};
      AddRowNumbers(&table, kRows);
      const uint64_t once = CheckSort(table, {{0, true, true}}, -1, 0, 2, 1000, kFlat, size_t{2} << 20);
      const uint64_t again = CheckSort(table, {{0, true, true}}, -1, 0, 3, 1000, kFlat, kNoMemory);
      EXPECT_GT(once, kRows * 16u);
      EXPECT_GT(again, once + once / 4) << "one merge for all";
      EXPECT_LT(again, 2 * once) << "rounds that are not needed";
      // Runs have no more rows than are wanted.
      CheckSort(table, {{0, false, false}}, 110000, 10001, 2, 1000, kFlat, kNoMemory);
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(SpilledSort, RowsLargerThanTheBudget) {
  Random random(24);
  constexpr uint32_t kRows = 40;
  SinkColumn numbers = RandomColumn(PENUMBRA_INT4, kRows, 0, 5, random), texts{PENUMBRA_TEXT, {}};
  for (uint32_t i = 0; i < kRows; ++i) {
    texts.cells.push_back(std::string(i % 5 == 0 ? 3'000'000 : 20, static_cast<char>('a' + i * 7 % 26)));
  }
  std::vector<SinkColumn> table{numbers, texts};
  AddRowNumbers(&table, kRows);
  for (int64_t limit : {-1, 30}) {
    EXPECT_GT(CheckSort(table, {{0, false, false}}, limit, 2, 2, 3, kFlat, kNoMemory), 20'000'000u);
    EXPECT_GT(CheckSort(table, {{1, true, false}, {0, false, false}}, limit, 0, 1, 3, kFlat, kNoMemory), 20'000'000u);
  }
}

// Memory stays near the budget, however many rows there are.
TEST(SpilledSort, KeepsToItsBudget) {
  constexpr size_t kBudget = size_t{8} << 20;
  constexpr uint32_t kBatches = 2000;
  Session session;
  ExecutionEnvironment environment(kBudget, session);
  auto key = ColumnExpr(0, PENUMBRA_INT8);
  for (const int64_t limit : {-1, 90000}) {
    SortSpec spec;
    spec.column_types = {PENUMBRA_INT8, PENUMBRA_TEXT};
    spec.keys = {{key.get(), true, false}};
    spec.limit = limit;
    std::unique_ptr<Sink> sink = CreateSort(spec, environment);
    std::unique_ptr<Sink::Local> local = sink->CreateLocal();
    Arena arena;
    EvalContext context{arena, session};
    const std::string text(100, 't');
    std::vector<StringRef> texts(kVectorRows, StringRef(text));
    std::vector<int64_t> numbers(kVectorRows);
    Vector columns[2];
    columns[0].type = PENUMBRA_INT8;
    columns[0].data = numbers.data();
    columns[1].type = PENUMBRA_TEXT;
    columns[1].data = texts.data();
    for (uint32_t b = 0; b < kBatches; ++b) {
      for (uint32_t i = 0; i < kVectorRows; ++i) numbers[i] = static_cast<int64_t>(b) * kVectorRows + i;
      sink->Consume(*local, {kVectorRows, 2, columns}, context);
      arena.Reset();
    }
    sink->Combine(*local);
    while (int tasks = sink->PrepareFinish()) {
      for (int task = 0; task < tasks; ++task) sink->RunFinishTask(task);
    }
    ASSERT_EQ(sink->Seal(), 1);
    std::unique_ptr<Sink::Reader> reader = sink->OpenPartition(0);
    Batch batch;
    int64_t expected = int64_t{kBatches} * kVectorRows, left = limit < 0 ? expected : limit;
    while (reader->Next(&batch)) {
      for (uint32_t i = 0; i < batch.rows; ++i, --left) ASSERT_EQ(batch.columns[0].values<int64_t>()[i], --expected);
    }
    EXPECT_EQ(left, 0);
    EXPECT_GT(sink->stats().spilled_bytes, kBudget);
  }
  EXPECT_LT(environment.budget.peak_bytes(), 2 * kBudget);
}

// A sort whose stages a test drives by itself.
struct DrivenSort {
  static constexpr size_t kBudget = size_t{200} << 10;
  explicit DrivenSort(int64_t limit = -1, PenumbraTemporarySpace* space = nullptr, const char* prefix = nullptr)
      : environment(kBudget, session, prefix, space), key(ColumnExpr(0, PENUMBRA_INT8)) {
    Random random(9);
    table = RandomColumn(PENUMBRA_INT8, kVectorRows, 0, 0, random);
    SortSpec spec;
    spec.column_types = {PENUMBRA_INT8};
    spec.keys = {{key.get(), false, false}};
    spec.limit = limit;
    sink = CreateSort(spec, environment);
    local = sink->CreateLocal();
  }
  void Consume(int batches) {
    Arena arena;
    EvalContext context{arena, session};
    Vector column = MakeSinkVector(table, 0, kVectorRows, SinkForm::kFlat, arena);
    for (int i = 0; i < batches; ++i) sink->Consume(*local, {kVectorRows, 1, &column}, context);
  }
  void Finish(int rounds) {
    sink->Combine(*local);
    for (; rounds > 0; --rounds) {
      const int tasks = sink->PrepareFinish();
      ASSERT_GT(tasks, 0);
      for (int task = 0; task < tasks; ++task) sink->RunFinishTask(task);
    }
  }
  // Consumes and finishes; the code of the error that ends it.
  PenumbraCode Run() {
    try {
      Consume(200);
      Finish(0);
      while (int tasks = sink->PrepareFinish()) {
        for (int task = 0; task < tasks; ++task) sink->RunFinishTask(task);
      }
      return PENUMBRA_OK;
    } catch (const EngineError& error) {
      return error.code();
    }
  }

  Session session;
  ExecutionEnvironment environment;
  std::unique_ptr<Expr> key;
  SinkColumn table;
  std::unique_ptr<Sink> sink;
  std::unique_ptr<Sink::Local> local;
};

TEST(SpilledSort, StopsWhenCancelled) {
  for (const int64_t limit : {-1, 100000}) {
    DrivenSort writing(limit);
    writing.environment.is_cancelled = true;
    EXPECT_THROW(writing.Consume(20), EngineError);

    // In each round: what was not spilled yet becomes a run, runs are merged.
    const int rounds = limit < 0 ? 2 : 1;
    for (int round = 0; round < rounds; ++round) {
      DrivenSort finishing(limit);
      finishing.Consume(401);
      finishing.Finish(round);
      ASSERT_GT(finishing.sink->PrepareFinish(), 0);
      finishing.environment.is_cancelled = true;
      EXPECT_THROW(finishing.sink->RunFinishTask(0), EngineError);
    }

    DrivenSort reading(limit);
    reading.Consume(401);
    reading.Finish(rounds);
    ASSERT_EQ(reading.sink->PrepareFinish(), 0);
    ASSERT_EQ(reading.sink->Seal(), 1);
    std::unique_ptr<Sink::Reader> reader = reading.sink->OpenPartition(0);
    Batch batch;
    ASSERT_TRUE(reader->Next(&batch));
    reading.environment.is_cancelled = true;
    EXPECT_THROW(while (reader->Next(&batch)){}, EngineError);
  }
}

// Wherever the temporary space ends: what was taken is given back.
TEST(SpilledSort, TemporarySpaceEnds) {
  for (const int64_t limit : {-1, 100000}) {
    PenumbraTemporarySpace all = {UINT64_MAX, 0};
    {
      DrivenSort sort(limit, &all);
      ASSERT_EQ(sort.Run(), PENUMBRA_OK);
      all.limit_bytes = all.used_bytes;
    }
    EXPECT_EQ(all.used_bytes, 0u);
    for (int part = 0; part < 16; ++part) {
      PenumbraTemporarySpace some = {all.limit_bytes * part / 16, 0};
      EXPECT_EQ(DrivenSort(limit, &some).Run(), PENUMBRA_TEMPORARY_SPACE_LIMIT);
      EXPECT_EQ(some.used_bytes, 0u);
    }
  }
  EXPECT_EQ(DrivenSort(-1, nullptr, "/nonexistent/directory/spill").Run(), PENUMBRA_IO_ERROR);
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
