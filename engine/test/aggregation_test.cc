// Aggregation against a naive one: a map from the keys' text to the rows, and Decimal arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "aggregate/hash_aggregation.h"
#include "aggregate/hash_aggregation_groups.h"
#include "numeric/numeric.h"
#include "support/query.h"
#include "support/sink.h"

namespace penumbra::test {
namespace {

struct Call {
  const char* name;
  PenumbraType result;
  int argument = -1;
  int filter = -1;
  bool distinct = false;
};

struct Query {
  std::vector<SinkColumn> table;
  std::vector<int> keys;
  std::vector<Call> calls;
  std::vector<uint64_t> sets;  // of GROUPING SETS; then their number is the last key
};

// Equal keys have equal texts.
std::string Canonical(PenumbraType type, const SinkCell& cell) {
  if (!cell) return "NULL";
  std::string text = *cell;
  switch (type) {
    case PENUMBRA_NUMERIC:
      if (text.find('.') != std::string::npos) {
        while (text.back() == '0') text.pop_back();
        if (text.back() == '.') text.pop_back();
      }
      return "=" + (text == "-0" ? "0" : text);
    case PENUMBRA_BPCHAR: return "=" + Trimmed(text);
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: return "=" + (text == "-0" ? "0" : text);
    case PENUMBRA_INTERVAL: {
      long long month, day, us;
      std::sscanf(text.c_str(), "%lld/%lld/%lld", &month, &day, &us);
      return "=" + std::to_string((month * 30 + day) * 86400000000 + us);
    }
    default: return "=" + text;
  }
}

bool IsFloating(PenumbraType type) { return type == PENUMBRA_FLOAT4 || type == PENUMBRA_FLOAT8; }

std::string Aggregated(const Query& query, const Call& call, const std::vector<uint32_t>& rows) {
  const std::string name = call.name;
  std::vector<std::string> values;
  std::set<std::string> seen;
  for (uint32_t row : rows) {
    if (call.filter >= 0 && query.table[call.filter].cells[row] != "t") continue;
    if (call.argument < 0) {
      values.push_back("");
      continue;
    }
    const SinkColumn& column = query.table[call.argument];
    if (!column.cells[row]) continue;
    if (call.distinct && !seen.insert(Canonical(column.type, column.cells[row])).second) continue;
    values.push_back(*column.cells[row]);
  }
  if (name.substr(0, 5) == "count") return std::to_string(values.size());
  if (values.empty()) return "NULL";
  const PenumbraType type = query.table[call.argument].type;
  if (name == "bool_and") return std::count(values.begin(), values.end(), "f") == 0 ? "t" : "f";
  if (name == "bool_or") return std::count(values.begin(), values.end(), "t") != 0 ? "t" : "f";
  if (name == "min" || name == "max") {
    auto less = [&](const std::string& a, const std::string& b) {
      if (type == PENUMBRA_TEXT || type == PENUMBRA_UUID) return a < b;
      return Decimal::Compare(Decimal::FromString(a), Decimal::FromString(b)) < 0;
    };
    return name == "min" ? *std::min_element(values.begin(), values.end(), less)
                         : *std::max_element(values.begin(), values.end(), less);
  }
  const int64_t count = static_cast<int64_t>(values.size());
  Decimal sum, squares, spread;
  for (const std::string& text : values) {
    Decimal value = Decimal::FromString(text);
    sum = Decimal::Add(sum, value);
    squares = Decimal::Add(squares, Decimal::Multiply(value, value));
  }
  if (name == "sum") return sum.ToString();
  if (name == "avg") {
    if (!IsFloating(type)) return Decimal::Average(sum, count).ToString();
    char text[40];
    std::snprintf(text, sizeof(text), "%.15g", sum.ToDouble() / static_cast<double>(count));
    return text;
  }
  const Decimal::Spread kind = name == "var_pop"      ? Decimal::Spread::kVarPop
                               : name == "var_samp"   ? Decimal::Spread::kVarSamp
                               : name == "stddev_pop" ? Decimal::Spread::kStddevPop
                                                      : Decimal::Spread::kStddevSamp;
  return Decimal::ComputeSpread(kind, count, sum, squares, &spread) ? spread.ToString() : "NULL";
}

using Keys = std::vector<std::string>;

struct KeysHash {
  size_t operator()(const Keys& keys) const {
    size_t hash = 0;
    for (const std::string& key : keys) hash = hash * 31 + std::hash<std::string>()(key);
    return hash;
  }
};

struct Expected {
  std::vector<std::vector<std::string>> displays;  // per key: the texts that may stand for it
  std::vector<uint32_t> rows;
};

using Groups = std::unordered_map<Keys, Expected, KeysHash>;

bool Contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

Groups GroupNaively(const Query& query) {
  Groups groups;
  const uint32_t rows = static_cast<uint32_t>(query.table[0].cells.size());
  const std::vector<uint64_t> sets = query.sets.empty() ? std::vector<uint64_t>{~uint64_t{0}} : query.sets;
  for (size_t set = 0; set < sets.size(); ++set) {
    auto cell_of = [&](size_t k, uint32_t row) {
      return (sets[set] >> k & 1) != 0 ? query.table[query.keys[k]].cells[row] : SinkCell();
    };
    auto with_number = [&](Keys keys) {
      if (!query.sets.empty()) keys.push_back(std::to_string(set));
      return keys;
    };
    for (uint32_t row = 0; row < rows; ++row) {
      Keys keys;
      for (size_t k = 0; k < query.keys.size(); ++k) {
        keys.push_back(Canonical(query.table[query.keys[k]].type, cell_of(k, row)));
      }
      Expected& group = groups[with_number(keys)];
      group.displays.resize(keys.size());
      for (size_t k = 0; k < keys.size(); ++k) {
        const std::string text = cell_of(k, row).value_or("NULL");
        if (!Contains(group.displays[k], text)) group.displays[k].push_back(text);
      }
      group.rows.push_back(row);
    }
    const bool has_no_keys = query.sets.empty() ? query.keys.empty() : sets[set] == 0;
    if (has_no_keys && rows == 0) {
      const Keys keys(query.keys.size(), "NULL");
      groups[with_number(keys)].displays.assign(keys.size(), {"NULL"});
    }
  }
  return groups;
}

struct Options {
  size_t budget_bytes = size_t{1} << 30;
  int threads = 1;
  uint32_t batch_rows = kVectorRows;
  SinkFormChooser form = [](int, uint32_t) { return SinkForm::kFlat; };
};

SinkStats CheckQuery(const Query& query, const Options& options) {
  Session session;
  ExecutionEnvironment environment(options.budget_bytes, session);
  std::vector<std::unique_ptr<Expr>> exprs;
  auto column = [&](int c) -> const Expr* {
    if (c < 0) return nullptr;
    exprs.push_back(ColumnExpr(c, query.table[c].type));
    return exprs.back().get();
  };
  AggregationSpec spec;
  for (int key : query.keys) spec.keys.push_back(column(key));
  spec.sets = query.sets;
  for (const Call& call : query.calls) {
    std::vector<const Expr*> arguments;
    if (call.argument >= 0) arguments.push_back(column(call.argument));
    spec.aggregates.push_back(
        {AggregateOf(call.name), call.result, std::move(arguments), column(call.filter), call.distinct});
    std::string reason;
    EXPECT_TRUE(CheckAggregate(spec.aggregates.back(), &reason)) << reason;
  }
  SinkStats stats;
  {
    std::unique_ptr<Sink> sink = CreateAggregation(spec, environment);
    SinkRun run = RunSink(*sink, environment, query.table, options.batch_rows, options.threads, options.form);
    stats = run.stats;
    const Groups expected = GroupNaively(query);
    EXPECT_EQ(run.rows.size(), expected.size());
    EXPECT_EQ(stats.groups, expected.size());
    std::unordered_set<Keys, KeysHash> found;
    for (const std::vector<std::string>& row : run.rows) {
      Keys keys;
      for (size_t k = 0; k < query.keys.size(); ++k) {
        keys.push_back(Canonical(query.table[query.keys[k]].type, row[k] == "NULL" ? SinkCell() : SinkCell(row[k])));
      }
      if (!query.sets.empty()) keys.push_back(row[query.keys.size()]);
      auto group = expected.find(keys);
      if (group == expected.end()) {
        ADD_FAILURE() << "unexpected group " << ::testing::PrintToString(row);
        continue;
      }
      EXPECT_TRUE(found.insert(keys).second) << "twice: " << ::testing::PrintToString(keys);
      for (size_t k = 0; k < query.keys.size(); ++k) EXPECT_TRUE(Contains(group->second.displays[k], row[k])) << row[k];
      for (size_t a = 0; a < query.calls.size(); ++a) {
        EXPECT_EQ(row[keys.size() + a], Aggregated(query, query.calls[a], group->second.rows))
            << query.calls[a].name << " of " << ::testing::PrintToString(keys);
      }
      if (::testing::Test::HasFailure()) break;
    }
  }
  EXPECT_EQ(environment.budget.used_bytes(), 0u);
  return stats;
}

// ---------------------------------------------------------------- random tables

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(engine_); }
  int64_t Between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }

 private:
  std::mt19937 engine_;
};

std::string NumericText(int64_t integer, int scale) { return Decimal::FromInteger(integer, scale).ToString(); }

// The n-th of the values of a type that a key takes; some are equal though written differently.
std::string KeyText(PenumbraType type, uint32_t n, uint32_t variant) {
  const int64_t i = n;
  switch (type) {
    case PENUMBRA_BOOL: return n % 2 != 0 ? "t" : "f";
    case PENUMBRA_INT2: return std::to_string(i % 60000 - 30000);
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return std::to_string(i * (n % 2 != 0 ? 7 : -3));
    case PENUMBRA_NUMERIC:
      if (n % 97 == 13) return "NaN";
      if (n % 97 == 14) return "1" + std::string(45, '0') + std::to_string(n);
      return variant % 3 == 0   ? NumericText(i * 10, 1)
             : variant % 3 == 1 ? NumericText(i * 1000, 3)
                                : std::to_string(i);
    case PENUMBRA_FLOAT4:
    case PENUMBRA_FLOAT8: {
      if (n == 0) return variant % 2 != 0 ? "-0" : "0";
      if (n == 1) return "nan";
      char text[40];
      std::snprintf(text, sizeof(text), "%.15g", static_cast<double>(n) / 4);
      return text;
    }
    case PENUMBRA_TEXT:
      return n % 3 == 0 ? "key " + std::to_string(n) : "a longer key that is not inline " + std::to_string(n);
    case PENUMBRA_BPCHAR:
      if (n % 3 == 0 && variant > 2)
        return WithTail("a key with a tail " + std::to_string(n), std::string(variant - 3, 't'));
      return (n % 3 == 0   ? "a key with a tail "
              : n % 3 == 1 ? "k"
                           : "a longer padded key ") +
             std::to_string(n) + std::string(variant % 4, ' ');
    case PENUMBRA_UUID: {
      std::string bytes(16, static_cast<char>('a' + n % 7));
      std::memcpy(bytes.data() + 4, &n, 4);
      return bytes;
    }
    case PENUMBRA_INTERVAL:
      return variant % 2 != 0 ? "0/" + std::to_string(n) + "/5" : "0/0/" + std::to_string(i * 86400000000 + 5);
    default: return std::to_string(i * 1000000007 - 5);
  }
}

SinkColumn KeyColumn(PenumbraType type, uint32_t rows, uint32_t distinct, int null_percent, Random& random) {
  SinkColumn column{type, {}};
  for (uint32_t i = 0; i < rows; ++i) {
    if (static_cast<int>(random.Below(100)) < null_percent) {
      column.cells.push_back(std::nullopt);
    } else {
      column.cells.push_back(KeyText(type, random.Below(distinct), random.Below(12)));
    }
  }
  return column;
}

const PenumbraType kAllTypes[] = {PENUMBRA_BOOL,      PENUMBRA_INT2,        PENUMBRA_INT4,     PENUMBRA_INT8,
                                  PENUMBRA_FLOAT4,    PENUMBRA_FLOAT8,      PENUMBRA_NUMERIC,  PENUMBRA_DATE,
                                  PENUMBRA_TIMESTAMP, PENUMBRA_TIMESTAMPTZ, PENUMBRA_INTERVAL, PENUMBRA_TEXT,
                                  PENUMBRA_BPCHAR,    PENUMBRA_UUID};

// Columns to aggregate: int4, int8, numeric of one scale, numeric of any kind, float8 with whole
// values, text, bool.
void AddValueColumns(Query* query, uint32_t rows, Random& random) {
  SinkColumn int4{PENUMBRA_INT4, {}}, int8{PENUMBRA_INT8, {}}, fixed{PENUMBRA_NUMERIC, {}}, any{PENUMBRA_NUMERIC, {}},
      real{PENUMBRA_FLOAT8, {}}, text{PENUMBRA_TEXT, {}}, flag{PENUMBRA_BOOL, {}};
  for (uint32_t i = 0; i < rows; ++i) {
    auto add = [&](SinkColumn& column, std::string value) {
      column.cells.push_back(random.Below(10) == 0 ? SinkCell() : SinkCell(value));
    };
    add(int4, std::to_string(random.Between(INT32_MIN, INT32_MAX)));
    add(int8, std::to_string(random.Between(INT64_MIN, INT64_MAX)));
    add(fixed, NumericText(random.Between(-99999999, 99999999), 2));
    switch (random.Below(40)) {
      case 0: add(any, std::string(60, '7') + ".25"); break;
      case 1: add(any, "0." + std::string(50, '3')); break;
      default:
        add(any, NumericText(random.Between(-999999999999999, 999999999999999), static_cast<int>(random.Below(9))));
    }
    add(real, std::to_string(random.Between(-100000, 100000)));
    add(text, "text " + std::string(random.Below(30), 'x') + std::to_string(random.Below(1000)));
    flag.cells.push_back(random.Below(5) == 0 ? SinkCell() : SinkCell(random.Below(2) != 0 ? "t" : "f"));
  }
  for (SinkColumn* column : {&int4, &int8, &fixed, &any, &real, &text, &flag}) query->table.push_back(*column);
}

void AddCalls(Query* query, int first, bool with_distinct) {
  const int int4 = first, int8 = first + 1, fixed = first + 2, any = first + 3, real = first + 4, text = first + 5,
            flag = first + 6;
  query->calls = {
      {"count(*)", PENUMBRA_INT8},
      {"count(*)", PENUMBRA_INT8, -1, flag},
      {"count", PENUMBRA_INT8, text},
      {"sum", PENUMBRA_INT8, int4},
      {"avg", PENUMBRA_NUMERIC, int4},
      {"sum", PENUMBRA_NUMERIC, int8, flag},
      {"avg", PENUMBRA_NUMERIC, int8},
      {"sum", PENUMBRA_NUMERIC, fixed},
      {"avg", PENUMBRA_NUMERIC, fixed, flag},
      {"sum", PENUMBRA_NUMERIC, any},
      {"avg", PENUMBRA_NUMERIC, any},
      {"sum", PENUMBRA_FLOAT8, real},
      {"avg", PENUMBRA_FLOAT8, real},
      {"min", PENUMBRA_INT4, int4},
      {"max", PENUMBRA_INT8, int8},
      {"min", PENUMBRA_NUMERIC, fixed},
      {"max", PENUMBRA_NUMERIC, any},
      {"min", PENUMBRA_TEXT, text},
      {"max", PENUMBRA_TEXT, text, flag},
      {"bool_and", PENUMBRA_BOOL, flag},
      {"bool_or", PENUMBRA_BOOL, flag},
      {"var_samp", PENUMBRA_NUMERIC, int4},
      {"stddev_pop", PENUMBRA_NUMERIC, int8},
      {"var_pop", PENUMBRA_NUMERIC, fixed},
      {"stddev_samp", PENUMBRA_NUMERIC, any},
  };
  if (!with_distinct) return;
  query->calls.push_back({"count", PENUMBRA_INT8, 0, -1, true});
  query->calls.push_back({"count", PENUMBRA_INT8, text, flag, true});
  query->calls.push_back({"sum", PENUMBRA_NUMERIC, fixed, -1, true});
  query->calls.push_back({"avg", PENUMBRA_NUMERIC, int4, -1, true});
  query->calls.push_back({"max", PENUMBRA_INT4, int4, flag, true});
}

// ---------------------------------------------------------------- tests

TEST(Aggregation, EachKeyTypeInEachForm) {
  Random random(1);
  for (PenumbraType type : kAllTypes) {
    for (uint32_t distinct : {3u, 200u, 5000u}) {
      Query query;
      query.table.push_back(KeyColumn(type, 6000, distinct, 5, random));
      query.keys = {0};
      query.calls = {{"count(*)", PENUMBRA_INT8}, {"count", PENUMBRA_INT8, 0}};
      for (SinkForm form : {SinkForm::kFlat, SinkForm::kDictionary, SinkForm::kPayload, SinkForm::kInt128}) {
        SCOPED_TRACE(std::to_string(type) + " " + std::to_string(distinct) + " " + std::to_string(int(form)));
        Options options;
        options.form = [&](int, uint32_t) { return form; };
        CheckQuery(query, options);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(Aggregation, FormsThatChangeFromBatchToBatch) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(100 + seed);
    Query query;
    const uint32_t rows = 1 + random.Below(5000);
    const int key_count = static_cast<int>(random.Below(4));
    for (int k = 0; k < key_count; ++k) {
      const uint32_t distinct = 1 + random.Below(random.Below(2) == 0 ? 5 : 300);
      query.table.push_back(
          KeyColumn(kAllTypes[random.Below(std::size(kAllTypes))], rows, distinct, 10 * int(random.Below(2)), random));
      query.keys.push_back(k);
    }
    AddValueColumns(&query, rows, random);
    AddCalls(&query, key_count, true);
    Options options;
    options.threads = 1 + static_cast<int>(random.Below(3));
    options.batch_rows = 1 + random.Below(kVectorRows);
    options.form = [seed](int column, uint32_t begin) {
      return static_cast<SinkForm>((static_cast<uint32_t>(column) * 7 + begin * 13 + seed) % 5);
    };
    CheckQuery(query, options);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Aggregation, SpillsPastTheBudget) {
  Random random(7);
  Query query;
  const uint32_t rows = 30000;
  query.table.push_back(KeyColumn(PENUMBRA_TEXT, rows, 20000, 1, random));
  query.table.push_back(KeyColumn(PENUMBRA_NUMERIC, rows, 3, 1, random));
  query.keys = {0, 1};
  AddValueColumns(&query, rows, random);
  AddCalls(&query, 2, true);
  for (int threads : {1, 4}) {
    Options options;
    options.budget_bytes = 256 << 10;
    options.threads = threads;
    SinkStats stats = CheckQuery(query, options);
    EXPECT_GT(stats.spilled_bytes, uint64_t{4} << 20);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Aggregation, SplitsSpilledPartitions) {
  Session session;
  ExecutionEnvironment environment(16 << 10, session);
  environment.thread_count = 1;
  GroupAggregation groups({PENUMBRA_INT8}, environment);
  const int count_star = groups.layout().AddAccumulator(CreateCountAccumulator({}));
  const Vector no_argument{};
  constexpr int64_t kRows = 600000, kGroups = 400000;
  {
    auto local = groups.CreateLocal();
    Arena arena;
    std::vector<int64_t> values(kVectorRows);
    for (int64_t begin = 0; begin < kRows; begin += kVectorRows) {
      arena.Reset();
      const uint32_t count = static_cast<uint32_t>(std::min<int64_t>(kVectorRows, kRows - begin));
      for (uint32_t i = 0; i < count; ++i) values[i] = (begin + i) * 7919 % kGroups * 1000003;
      Vector key;
      key.type = PENUMBRA_INT8;
      key.data = values.data();
      groups.Consume(*local, &key, count, {{count_star, &no_argument, {nullptr, count}}}, arena);
    }
    groups.Combine(*local);
  }
  const int tasks = groups.PrepareMerge();
  for (int task = 0; task < tasks; ++task) groups.RunMergeTask(task);
  std::set<int64_t> seen;
  int64_t total = 0;
  const uint32_t offset = groups.layout().accumulators[count_star].offset;
  for (int task = 0; task < tasks; ++task) {
    auto reader = groups.Open(task);
    std::vector<char*> rows(kVectorRows);
    while (uint32_t count = reader->Next(rows.data())) {
      Arena arena;
      Vector keys = groups.layout().keys.Output(0, rows.data(), count, arena);
      for (uint32_t i = 0; i < count; ++i) {
        EXPECT_TRUE(seen.insert(keys.values<int64_t>()[i]).second);
        total += *reinterpret_cast<const int64_t*>(rows[i] + offset);
      }
    }
  }
  EXPECT_EQ(total, kRows);
  EXPECT_EQ(seen.size(), static_cast<size_t>(kGroups));
  EXPECT_GT(groups.split_count(), 0u);
}

TEST(Aggregation, ManyGroupsOverflowTheDirectory) {
  Random random(11);
  Query query;
  const uint32_t rows = 200000;
  query.table.push_back(KeyColumn(PENUMBRA_INT8, rows, 400000, 0, random));
  query.keys = {0};
  query.calls = {{"count(*)", PENUMBRA_INT8}, {"sum", PENUMBRA_NUMERIC, 0}};
  for (int threads : {1, 3}) {
    Options options;
    options.threads = threads;
    CheckQuery(query, options);
    ASSERT_FALSE(HasFailure());
  }
}

// Integer keys whose range is known: random, rising and falling with the rows, with values far off,
// at the ends of the type, and moving away.
std::string RangeKeyText(int shape, uint32_t row, Random& random) {
  const int64_t r = row;
  switch (shape) {
    case 0: return std::to_string(random.Between(-20000, 20000));
    case 1: return std::to_string(INT64_MIN + r / 3);
    case 2: return std::to_string(INT64_MAX - r / 2 - random.Below(50));
    case 3:
      return std::to_string(random.Below(3000) == 0 ? random.Between(INT64_MIN, INT64_MAX) : random.Between(0, 15000));
    case 4: return std::to_string(r / 10000 * 1000000007 + random.Below(9000));
    default: return std::to_string(r % 4096 < 2048 ? random.Below(30000) : int64_t{90000} - random.Below(30000));
  }
}

TEST(Aggregation, IntegerKeysInARange) {
  constexpr uint32_t kRows = 25000;
  for (int shape = 0; shape < 6; ++shape) {
    Random random(200 + static_cast<uint32_t>(shape));
    Query query;
    query.table.resize(3);
    query.table[0].type = PENUMBRA_INT8;
    query.table[1].type = PENUMBRA_INT2;
    query.table[2].type = PENUMBRA_TEXT;
    for (uint32_t row = 0; row < kRows; ++row) {
      const bool is_null = random.Below(20) == 0;
      query.table[0].cells.push_back(is_null ? SinkCell() : SinkCell(RangeKeyText(shape, row, random)));
      query.table[1].cells.push_back(std::to_string(int64_t{random.Below(3)} * 100 - 100));
      query.table[2].cells.push_back("entry " + std::to_string(random.Below(4)));
    }
    const std::vector<Call> with_states = {{"count(*)", PENUMBRA_INT8}, {"sum", PENUMBRA_NUMERIC, 0}};
    const std::vector<Call> distinct = {{"count", PENUMBRA_INT8, 0, -1, true}, {"sum", PENUMBRA_NUMERIC, 0, -1, true}};
    const struct {
      std::vector<int> keys;
      std::vector<Call> calls;
    } cases[] = {{{0}, with_states}, {{0}, {}}, {{1, 0}, with_states}, {{0, 2}, {}}, {{}, distinct}, {{2}, distinct}};
    for (const auto& tested : cases) {
      query.keys = tested.keys;
      query.calls = tested.calls;
      for (size_t budget_bytes : {size_t{1} << 30, size_t{384} << 10}) {
        SCOPED_TRACE(::testing::Message()
                     << "shape " << shape << " case " << &tested - cases << " budget " << budget_bytes);
        Options options;
        options.budget_bytes = budget_bytes;
        options.threads = 1 + shape % 2;
        options.form = [](int column, uint32_t) { return column == 2 ? SinkForm::kDictionary : SinkForm::kFlat; };
        CheckQuery(query, options);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

// One value is written with one scale in this batch and with another in the next.
TEST(Aggregation, NumericKeysOfChangingScale) {
  Random random(300);
  Query query;
  query.table.push_back({PENUMBRA_NUMERIC, {}});
  for (uint32_t row = 0; row < 25000; ++row) {
    const int64_t value = random.Below(12000);
    query.table[0].cells.push_back(row / kVectorRows % 3 == 0 ? std::to_string(value) : NumericText(value * 100, 2));
  }
  query.keys = {0};
  query.calls = {{"count(*)", PENUMBRA_INT8}};
  CheckQuery(query, Options());
}

class GroupingSets : public ::testing::TestWithParam<bool> {};

TEST_P(GroupingSets, AreGroupedEach) {
  const bool has_distinct = GetParam();
  for (const uint32_t rows : {0u, 1u, 20000u}) {
    Random random(rows + 1);
    Query query;
    query.table.push_back(KeyColumn(PENUMBRA_TEXT, rows, 40, 10, random));
    query.table.push_back(KeyColumn(PENUMBRA_INT4, rows, 7, 10, random));
    query.table.push_back(KeyColumn(PENUMBRA_NUMERIC, rows, 300, 0, random));
    query.keys = {0, 1, 2};
    AddValueColumns(&query, rows, random);
    AddCalls(&query, 3, has_distinct);
    query.sets = {7, 3, 1, 0};  // ROLLUP
    CheckQuery(query, Options());
    CheckQuery(query, {.threads = 3, .batch_rows = 700, .form = [](int column, uint32_t) {
                         return column == 0 ? SinkForm::kDictionary : SinkForm::kFlat;
                       }});
    query.sets = {4, 6, 7, 7};  // the finest twice
    CheckQuery(query, {.budget_bytes = size_t{1} << 16, .threads = 2});
    query.sets = {2, 3, 6, 0, 3};  // two of which none is part of the other
    CheckQuery(query, {.threads = 3});
    CheckQuery(query, {.budget_bytes = size_t{1} << 16, .threads = 2});
    query.sets = {4, 4, 2};  // one of them twice, and none with all keys or without
    CheckQuery(query, {.budget_bytes = size_t{1} << 16, .threads = 2});
  }
}

INSTANTIATE_TEST_SUITE_P(Aggregation, GroupingSets, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "WithDistinct" : "Plain"; });

TEST(Aggregation, WithoutInput) {
  Query query;
  Random random(3);
  query.table.push_back({PENUMBRA_TEXT, {}});
  AddValueColumns(&query, 0, random);
  AddCalls(&query, 1, true);
  CheckQuery(query, Options());
  query.keys = {0};
  CheckQuery(query, Options());
}

TEST(Aggregation, StopsWhenCancelled) {
  Random random(5);
  Query query;
  query.table.push_back(KeyColumn(PENUMBRA_INT8, 50000, 50000, 0, random));
  Session session;
  ExecutionEnvironment environment(size_t{1} << 30, session);
  auto key = ColumnExpr(0, PENUMBRA_INT8);
  AggregationSpec spec;
  spec.keys = {key.get()};
  spec.aggregates.push_back({PENUMBRA_AGG_COUNT_STAR, PENUMBRA_INT8});
  std::unique_ptr<Sink> sink = CreateAggregation(spec, environment);
  auto locals = {sink->CreateLocal(), sink->CreateLocal()};
  Arena arena;
  EvalContext context{arena, session};
  for (auto& local : locals) {
    for (uint32_t begin = 0; begin + kVectorRows <= 50000; begin += kVectorRows) {
      Vector column = MakeSinkVector(query.table[0], begin, kVectorRows, SinkForm::kFlat, arena);
      sink->Consume(*local, {kVectorRows, 1, &column}, context);
    }
    sink->Combine(*local);
  }
  ASSERT_GT(sink->PrepareFinish(), 1);
  environment.is_cancelled = true;
  try {
    sink->RunFinishTask(0);
    FAIL() << "not cancelled";
  } catch (const EngineError& error) {
    EXPECT_EQ(error.code(), PENUMBRA_CANCELLED);
  }
}

TEST(Aggregation, RefusesWhatPostgresHasNot) {
  auto text = ColumnExpr(0, PENUMBRA_TEXT);
  auto flag = ColumnExpr(1, PENUMBRA_BOOL);
  std::string reason;
  EXPECT_FALSE(CheckAggregate({PENUMBRA_AGG_SUM, PENUMBRA_TEXT, {text.get()}}, &reason));
  EXPECT_EQ(reason, "aggregate sum on (text)");
  EXPECT_FALSE(CheckAggregate({PENUMBRA_AGG_MIN, PENUMBRA_BOOL, {flag.get()}}, &reason));
  EXPECT_FALSE(CheckAggregate({PENUMBRA_AGG_COUNT, PENUMBRA_INT4, {text.get()}}, &reason));
  AggregateSpec rows{PENUMBRA_AGG_COUNT_STAR, PENUMBRA_INT8, {text.get(), flag.get()}};
  EXPECT_FALSE(CheckAggregate(rows, &reason));
  rows.distinct = true;
  EXPECT_TRUE(CheckAggregate(rows, &reason));
  rows.arguments.clear();
  EXPECT_FALSE(CheckAggregate(rows, &reason));
  EXPECT_TRUE(CheckAggregate({PENUMBRA_AGG_MAX, PENUMBRA_TEXT, {text.get()}}, &reason));
  auto real = ColumnExpr(2, PENUMBRA_FLOAT8);
  EXPECT_FALSE(CheckAggregate({PENUMBRA_AGG_CORR, PENUMBRA_FLOAT8, {real.get()}}, &reason));
  EXPECT_EQ(reason, "aggregate corr on (double precision)");
  EXPECT_FALSE(CheckAggregate({PENUMBRA_AGG_CORR, PENUMBRA_FLOAT8, {real.get(), text.get()}}, &reason));
  EXPECT_FALSE(CheckAggregate({PENUMBRA_AGG_SUM, PENUMBRA_FLOAT8, {real.get(), real.get()}}, &reason));
  EXPECT_TRUE(CheckAggregate({PENUMBRA_AGG_REGR_COUNT, PENUMBRA_INT8, {real.get(), real.get()}}, &reason));
}

}  // namespace
}  // namespace penumbra::test
