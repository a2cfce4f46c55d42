// Tuples taken apart against what was put in: every type, nulls, columns added later, skipped attributes of every
// length and alignment, short and long headers; and tuples pushed into executions with and without threads.
#include "segment/tuples.h"

#include <gtest/gtest.h>

#include "random_columns.h"
#include "support/query.h"

namespace penumbra {
namespace {

constexpr uint16_t kCountAt = 18, kFlagsAt = 20, kDataOffsetAt = 22, kNullBitsAt = 23;  // as PostgreSQL's
constexpr uint16_t kHasNulls = 1, kCountMask = 0x07FF;

// What is stored of one attribute in one row.
struct Stored {
  bool is_null = false;
  std::string bytes;       // with its length header, if it has one
  bool is_aligned = true;  // not with a header of one byte
};

struct Attribute {
  PenumbraTupleAttribute layout;
  std::vector<Stored> rows;
};

void AppendPadding(std::string* bytes, size_t alignment) {
  bytes->resize((bytes->size() + alignment - 1) / alignment * alignment);
}

template <typename T>
void AppendRaw(std::string* bytes, T value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

Stored MakeVariable(const std::string& payload, bool is_short) {
  Stored stored;
  if (is_short && payload.size() < 127) {
    stored.bytes.push_back(static_cast<char>((payload.size() + 1) * 2 + 1));
    stored.is_aligned = false;
  } else {
    AppendRaw(&stored.bytes, static_cast<uint32_t>((payload.size() + 4) << 2));
  }
  stored.bytes += payload;
  return stored;
}

Stored MakePointer() {
  Stored stored;
  stored.bytes = std::string("\x01\x12", 2) + std::string(16, '\x77');
  stored.is_aligned = false;
  return stored;
}

Stored MakeCompressed(size_t size) {
  Stored stored;
  AppendRaw(&stored.bytes, static_cast<uint32_t>((size + 4) << 2 | 2));
  stored.bytes.resize(size + 4, '\xEE');
  return stored;
}

// The first `count` attributes of a row.
std::string MakeTuple(const std::vector<Attribute>& attributes, size_t count, uint32_t row) {
  bool has_nulls = false;
  std::string bits((count + 7) / 8, '\0');
  for (size_t i = 0; i < count; ++i) {
    has_nulls |= attributes[i].rows[row].is_null;
    if (!attributes[i].rows[row].is_null) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
  }
  std::string tuple(kNullBitsAt, '\xAA');
  if (has_nulls) tuple += bits;
  AppendPadding(&tuple, 8);
  tuple[kDataOffsetAt] = static_cast<char>(tuple.size());
  const uint16_t flags = has_nulls ? 0xFF01 : 0xFF00;
  const auto stored_count = static_cast<uint16_t>(count | 0xF800);
  std::memcpy(&tuple[kFlagsAt], &flags, sizeof(flags));
  std::memcpy(&tuple[kCountAt], &stored_count, sizeof(stored_count));
  for (size_t i = 0; i < count; ++i) {
    const Stored& stored = attributes[i].rows[row];
    if (stored.is_null) continue;
    if (stored.is_aligned) AppendPadding(&tuple, attributes[i].layout.alignment);
    tuple += stored.bytes;
  }
  return tuple;
}

PenumbraTupleAttribute LayoutOf(PenumbraType type, int column) {
  switch (type) {
    case PENUMBRA_NUMERIC:
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR: return {-1, 4, column};
    case PENUMBRA_UUID: return {16, 1, column};
    case PENUMBRA_INTERVAL: return {16, 8, column};
    default: {
      const auto width = static_cast<int16_t>(FlatWidth(type, NumericForm::kInt64));
      return {width, static_cast<uint8_t>(width), column};
    }
  }
}

Stored Store(const TestColumn& column, const PenumbraTupleAttribute& layout, uint32_t row, bool is_short) {
  Stored stored;
  stored.is_null = column.is_null(row);
  if (stored.is_null) return stored;
  if (layout.length == -1) return MakeVariable(column.bytes(row), is_short);
  const uint64_t bits = column.bits(row);
  stored.bytes =
      layout.length == 16 ? column.bytes(row) : std::string(reinterpret_cast<const char*>(&bits), layout.length);
  return stored;
}

// An attribute that nobody reads.
Attribute MakeSkipped(std::mt19937_64& random, uint32_t rows) {
  constexpr PenumbraTupleAttribute kLayouts[] = {{1, 1, -1},  {2, 2, -1},  {4, 4, -1},  {8, 8, -1}, {6, 1, -1},
                                                 {12, 4, -1}, {-1, 4, -1}, {-1, 8, -1}, {-2, 1, -1}};
  Attribute attribute{kLayouts[random() % std::size(kLayouts)], {}};
  const bool has_nulls = random() % 2 == 0;
  for (uint32_t row = 0; row < rows; ++row) {
    Stored stored;
    const int16_t length = attribute.layout.length;
    if (length > 0) stored.bytes = std::string(static_cast<size_t>(length), '\xCC');
    if (length == -2) stored.bytes = std::string(random() % 20, 'c') + '\0';
    if (length == -1) {
      const uint64_t kind = random() % 4;
      stored = kind == 0   ? MakePointer()
               : kind == 1 ? MakeCompressed(random() % 300)
                           : MakeVariable(std::string(random() % 200, 'v'), kind == 2);
    }
    stored.is_null = has_nulls && random() % 5 == 0;
    attribute.rows.push_back(std::move(stored));
  }
  return attribute;
}

void AddValue(const TestColumn& from, uint32_t row, TestColumn* to) {
  if (from.is_null(row)) return to->AddNull();
  return from.is_pointer() ? to->AddBytes(from.bytes(row)) : to->AddBits(from.bits(row));
}

struct Relation {
  std::vector<PenumbraType> types;
  std::vector<Attribute> attributes;
  std::vector<TestColumn> expected;
  std::vector<PenumbraTupleMissing> missing;
  std::vector<std::string> tuples;
  std::vector<PenumbraTupleAttribute> layouts;

  PenumbraTupleLayout layout() {
    layouts.clear();
    for (const Attribute& attribute : attributes) layouts.push_back(attribute.layout);
    return {static_cast<int>(layouts.size()),
            layouts.data(),
            missing.data(),
            kFlagsAt,
            kHasNulls,
            kCountAt,
            kCountMask,
            kDataOffsetAt,
            kNullBitsAt};
  }
};

// Row 0 of a column is the value of tuples that end before it.
void MakeRelation(uint64_t seed, uint32_t rows, std::deque<TestColumn>* values, Relation* relation) {
  std::mt19937_64 random(seed);
  RandomColumns columns(seed);
  const size_t column_count = 1 + random() % 6;
  for (size_t c = 0; c < column_count; ++c) {
    while (random() % 2 == 0) relation->attributes.push_back(MakeSkipped(random, rows));
    const PenumbraType type = kColumnTypes[random() % std::size(kColumnTypes)];
    const auto shape = static_cast<Shape>(random() % static_cast<uint64_t>(Shape::kCount));
    values->push_back(columns.Make(type, shape, rows, random() % 2 == 0 ? 0 : 30));
    Attribute attribute{LayoutOf(type, static_cast<int>(c)), {}};
    for (uint32_t row = 0; row < rows; ++row)
      attribute.rows.push_back(Store(values->back(), attribute.layout, row, random() % 2 == 0));
    relation->types.push_back(type);
    relation->attributes.push_back(std::move(attribute));
    const TestColumn& value = values->back();
    const bool is_pointer = value.is_pointer();
    relation->missing.push_back({value.is_null(0), value.bits(0), is_pointer ? value.bytes(0).data() : nullptr,
                                 is_pointer ? static_cast<uint32_t>(value.bytes(0).size()) : 0});
    relation->expected.emplace_back(type);
  }
  const bool has_short_tuples = random() % 2 == 0;
  for (uint32_t row = 0; row < rows; ++row) {
    const size_t all = relation->attributes.size();
    const size_t count = has_short_tuples ? random() % (all + 1) : all;
    relation->tuples.push_back(MakeTuple(relation->attributes, count, row));
    for (size_t i = 0; i < all; ++i) {
      const int c = relation->attributes[i].layout.column;
      if (c >= 0) AddValue((*values)[c], i < count ? row : 0, &relation->expected[c]);
    }
  }
}

void AppendTuples(const std::vector<std::string>& tuples, std::mt19937_64& random, Tuples* to) {
  for (size_t begin = 0; begin < tuples.size();) {
    std::string memory(random() % 3 * 8, '\xDD');
    std::vector<uint32_t> offsets;
    const size_t end = std::min(tuples.size(), begin + 1 + random() % 60);
    for (; begin < end; ++begin) {
      AppendPadding(&memory, 8);
      offsets.push_back(static_cast<uint32_t>(memory.size()));
      memory += tuples[begin];
    }
    to->Append(memory.data(), memory.size(), offsets.data(), static_cast<uint32_t>(offsets.size()));
  }
}

TEST(TuplesTest, AreTakenApartAsTheyWereMade) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::deque<TestColumn> values;
    Relation relation;
    const uint32_t rows = 1 + seed * 7 % 500;
    MakeRelation(seed, rows, &values, &relation);
    const PenumbraTupleLayout description = relation.layout();
    Tuples tuples(
        std::make_shared<TupleLayout>(description, relation.types.data(), static_cast<int>(relation.types.size())));
    std::mt19937_64 random(seed);
    for (int round = 0; round < 2; ++round) {
      AppendTuples(relation.tuples, random, &tuples);
      ASSERT_EQ(tuples.row_count(), rows);
      EXPECT_GT(tuples.byte_count(), rows * 24u);
      const std::unique_ptr<Rows> made = tuples.ToRows();
      ASSERT_EQ(made->row_count(), rows);
      for (size_t c = 0; c < relation.types.size(); ++c) {
        Arena arena;
        const Vector v = made->Slice(static_cast<int>(c), 0, rows, arena);
        for (uint32_t row = 0; row < rows; ++row)
          ASSERT_TRUE(IsRow(v, row, relation.expected[c], row)) << "column " << c << " row " << row;
      }
      tuples.Clear();
      EXPECT_EQ(tuples.byte_count(), 0u);
    }
  }
}

// One column of text among others, of which row 1 is as given.
Relation MakeTexts(const Stored& second) {
  Relation relation;
  relation.types = {PENUMBRA_TEXT};
  relation.missing = {{true, 0, nullptr, 0}};
  relation.attributes = {{{4, 4, -1}, {{false, "1234", true}, {false, "1234", true}}},
                         {{-1, 4, 0}, {MakeVariable("first", true), second}}};
  for (uint32_t row = 0; row < 2; ++row) relation.tuples.push_back(MakeTuple(relation.attributes, 2, row));
  return relation;
}

TEST(TuplesTest, ValuesThatAreNotThereEndTheExecution) {
  std::mt19937_64 random(1);
  Stored unknown = MakePointer();
  unknown.bytes[1] = 3;
  for (const Stored& stored : {MakePointer(), MakeCompressed(40), unknown}) {
    Relation relation = MakeTexts(stored);
    const PenumbraTupleLayout description = relation.layout();
    Tuples tuples(std::make_shared<TupleLayout>(description, relation.types.data(), 1));
    AppendTuples(relation.tuples, random, &tuples);
    EXPECT_THROW(tuples.ToRows(), EngineError);
  }
}

// Sums and groups of chunks and pushed tuples, which threads share.
TEST(TuplesTest, ArePushedWithAndWithoutThreads) {
  constexpr uint32_t kRows = 200000, kBatch = 1500;
  const std::vector<PenumbraType> types = {PENUMBRA_INT4, PENUMBRA_INT4};
  test::Table table(types, kRows, [](uint32_t row, int column) -> test::Cell {
    return std::to_string(column == 0 ? row % 10 : row);
  });
  test::Chunk cached(table);
  const PenumbraTupleAttribute attributes[] = {{4, 4, 0}, {-1, 4, -1}, {4, 4, 1}};
  const PenumbraTupleMissing missing[] = {{true, 0, nullptr, 0}, {true, 0, nullptr, 0}};
  const PenumbraTupleLayout layout = {3,        attributes, missing,       kFlagsAt,   kHasNulls,
                                      kCountAt, kCountMask, kDataOffsetAt, kNullBitsAt};
  Attribute group{attributes[0], std::vector<Stored>(1)}, skipped{attributes[1], {MakePointer()}};
  Attribute number{attributes[2], std::vector<Stored>(1)};
  for (int threads : {0, 1, 3}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    test::PlanBuilder plan(types);
    plan.Aggregate({plan.Column(0)},
                   {test::CountStar(), test::Aggregate(PENUMBRA_AGG_SUM, PENUMBRA_INT8, plan.Column(1))});
    plan.Sort({{plan.Column(0), false, false}});
    PenumbraExecOptions options{size_t{64} << 20, threads, "/tmp"};
    PenumbraExec* exec = penumbra_exec_create(plan.Finish(), &options);
    PenumbraChunk chunk = cached.chunk();
    ASSERT_EQ(penumbra_exec_add_chunk(exec, 0, &chunk).code, PENUMBRA_OK);
    ASSERT_EQ(penumbra_exec_start(exec).code, PENUMBRA_OK);
    PenumbraTuples* tuples = penumbra_tuples_create(&layout, types.data(), 2);
    for (uint32_t row = 0; row < kRows; ++row) {
      group.rows[0].bytes.clear();
      number.rows[0].bytes.clear();
      AppendRaw(&group.rows[0].bytes, static_cast<int32_t>(row % 10));
      AppendRaw(&number.rows[0].bytes, static_cast<int32_t>(row));
      const std::string tuple = MakeTuple({group, skipped, number}, 3, 0);
      const uint32_t offset = 0;
      ASSERT_EQ(penumbra_tuples_append(tuples, tuple.data(), tuple.size(), &offset, 1).code, PENUMBRA_OK);
      if (penumbra_tuples_count(tuples) < kBatch && row + 1 < kRows) continue;
      ASSERT_EQ(penumbra_exec_push_tuples(exec, 0, tuples).code, PENUMBRA_OK);
      ASSERT_EQ(penumbra_tuples_count(tuples), 0u);
    }
    penumbra_tuples_destroy(tuples);
    ASSERT_EQ(penumbra_exec_end_rows(exec, 0).code, PENUMBRA_OK);
    PenumbraResult result;
    PenumbraStatus status;
    uint32_t rows = 0;
    for (PenumbraFetch fetch; (fetch = penumbra_exec_fetch(exec, &result, &status)) != PENUMBRA_FETCH_DONE;) {
      ASSERT_NE(fetch, PENUMBRA_FETCH_ERROR) << status.message;
      for (uint32_t i = 0; fetch == PENUMBRA_FETCH_ROWS && i < result.rows; ++i, ++rows) {
        // twice the sum of rows, rows + 10, ...
        const int64_t sum = 2 * (int64_t{kRows / 10} * rows + int64_t{10} * (kRows / 10) * (kRows / 10 - 1) / 2);
        EXPECT_EQ(static_cast<const int32_t*>(result.columns[0].values)[i], static_cast<int32_t>(rows));
        EXPECT_EQ(static_cast<const int64_t*>(result.columns[1].values)[i], 2 * kRows / 10);
        EXPECT_EQ(static_cast<const int64_t*>(result.columns[2].values)[i], sum);
      }
    }
    EXPECT_EQ(rows, 10u);
    PenumbraExecStats stats;
    penumbra_exec_get_stats(exec, &stats);
    EXPECT_EQ(stats.pushed_rows, kRows);
    EXPECT_EQ(stats.cached_rows, kRows);
    penumbra_exec_destroy(exec);
  }
}

}  // namespace
}  // namespace penumbra
