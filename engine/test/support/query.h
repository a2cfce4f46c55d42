// Builds tables and plans through the C interface, runs them and gives the rows as text.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "penumbra/engine.h"

namespace penumbra::test {

// A value as text, parsed by the column's type (dates and timestamps as integers); nullopt is null.
using Cell = std::optional<std::string>;  // intervals and uuids as their 16 bytes
using Row = std::vector<std::string>;     // of a result; null is "NULL"

// A BPCHAR that has more bytes, which do not compare, behind PENUMBRA_TAILED_BYTES_MIN or more; and one without them.
std::string WithTail(const std::string& text, const std::string& bytes);
std::string Trimmed(const std::string& text);

// Rows [begin, end) as the engine's uncompressed rows.
class Table {
 public:
  Table(std::vector<PenumbraType> types, uint32_t rows, const std::function<Cell(uint32_t row, int column)>& cell);
  ~Table();
  Table(Table&& other) noexcept;
  Table(const Table&) = delete;

  const PenumbraRows* rows() const { return rows_; }
  uint32_t row_count() const;
  const std::vector<PenumbraType>& types() const { return types_; }

 private:
  std::vector<PenumbraType> types_;
  PenumbraRows* rows_;
};

// A table encoded; the valid rows are `ranges`, by default all, told as ranges or as bits.
class Chunk {
 public:
  explicit Chunk(const Table& table, std::vector<PenumbraRowRange> ranges = {}, bool as_bits = false);
  ~Chunk();
  Chunk(Chunk&& other) noexcept;
  Chunk(const Chunk&) = delete;

  PenumbraChunk chunk() const;
  std::vector<PenumbraZoneMap> zone_maps() const;
  // With segments of its own.
  Chunk Copy() const;
  // Makes its segments anything but what they are.
  void Spoil();

 private:
  explicit Chunk(uint32_t rows) : rows_(rows) {}

  uint32_t rows_;
  std::vector<void*> segments_;
  std::vector<size_t> segment_bytes_;
  std::vector<PenumbraRowRange> ranges_;
  std::vector<uint64_t> row_bits_;  // empty: all rows of the ranges
};

class PlanBuilder {
 public:
  // Declared for all columns of type NUMERIC; -1 and 0: not.
  explicit PlanBuilder(const std::vector<PenumbraType>& scan_columns, int numeric_scale = -1,
                       int numeric_precision = 0);
  ~PlanBuilder() { penumbra_plan_destroy(plan_); }
  PlanBuilder(const PlanBuilder&) = delete;

  PenumbraPlan* plan() const { return plan_; }
  // The operator added last, which the next one takes.
  PenumbraOperator current() const { return current_; }
  PenumbraOperator scan() const { return scan_; }
  void GoOnFrom(PenumbraOperator op) { current_ = op; }
  // The plan with the current operator as its output.
  const PenumbraPlan* Finish() const;
  const char* reason() const { return penumbra_plan_reason(plan_); }

  // Expressions; a refusal fails the test.
  PenumbraExpr Column(int column);
  PenumbraExpr Constant(PenumbraType type, const Cell& value);
  PenumbraExpr Call(PenumbraFunction function, PenumbraType result, std::initializer_list<PenumbraExpr> args,
                    const PenumbraCollation* collation = nullptr);

  void Filter(std::initializer_list<PenumbraExpr> conjuncts);
  void Project(std::initializer_list<PenumbraExpr> exprs);
  void Aggregate(std::initializer_list<PenumbraExpr> keys, std::initializer_list<PenumbraAggregateCall> calls);
  void Sort(std::initializer_list<PenumbraSortKey> keys, int64_t limit = -1, int64_t offset = 0);
  // Another scan of the same columns (or of these), the current operator from now on.
  PenumbraOperator Scan();
  PenumbraOperator Scan(const std::vector<PenumbraType>& types);
  PenumbraExpr ColumnOf(PenumbraOperator input, int column);
  PenumbraExpr PairColumn(PenumbraOperator probe, PenumbraOperator build, int column);
  PenumbraOperator Join(PenumbraOperator probe, PenumbraOperator build, PenumbraJoinKind kind,
                        const std::vector<PenumbraJoinKey>& keys, const std::vector<PenumbraExpr>& conditions = {},
                        bool is_null_aware = false, uint64_t build_rows_max = 0,
                        PenumbraJoinChoice choice = PENUMBRA_JOIN_ALL);
  void Union(std::initializer_list<PenumbraOperator> inputs);
  void Unnest(const std::vector<PenumbraUnnestList>& lists, bool keeps_empty, bool has_ordinality);
  void AggregateLists(const std::vector<PenumbraAggregateCall>& calls, int single = -1);
  void Repeat(int times);

 private:
  void Keep(PenumbraOperator added);

  PenumbraPlan* plan_;
  std::vector<PenumbraScanColumn> columns_;
  PenumbraOperator scan_ = -1;  // the first
  PenumbraOperator current_ = -1;
};

PenumbraAggregateCall CountStar();
PenumbraAggregateCall Aggregate(PenumbraAggregate function, PenumbraType result, PenumbraExpr argument);

// What executions learned of chunks: an image, or nothing, for each remembered filter of the plan's first scan.
using Memory = std::map<const Chunk*, std::vector<std::vector<char>>>;

struct ScanInput {
  PenumbraOperator scan;
  std::vector<const Chunk*> chunks;
  std::vector<const Table*> pushed;
};

struct Input {
  std::vector<const Chunk*> chunks;  // of the plan's first scan
  std::vector<const Table*> pushed;
  std::vector<ScanInput> others;
  int threads = 0;
  size_t memory_bytes = size_t{256} << 20;
  PenumbraTemporarySpace* temporary_space = nullptr;
  const char* temporary_prefix = "/tmp/penumbra_test";
  const volatile sig_atomic_t* interrupt = nullptr;
  // Null: the execution shares threads with nobody.
  PenumbraUsage* all_usage = nullptr;
  PenumbraUsage* own_usage = nullptr;
  uint32_t max_threads = 0;
  uint64_t max_memory_bytes = 0;
  // Chunks are not added but pushed, a copy of two at a time, which is spoilt when it is finished; but those that zone
  // maps exclude.
  bool pushes_chunks = false;
  // Rows are pushed, and ended, before the start.
  bool pushes_first = false;
  PenumbraHostFunction host_function = nullptr;
  PenumbraHostFrames host_frames = nullptr;
  void* host = nullptr;
  Memory* memory = nullptr;  // of the chunks of the first scan; of one plan
  bool stops_early = false;  // after the first result
};

struct Output {
  std::vector<Row> rows;
  PenumbraStatus status;  // PENUMBRA_OK, or the error that ended the execution
  int threads = 0;
  uint32_t chunks_skipped = 0;
  uint32_t chunks_not_pushed = 0;
  uint64_t cached_rows = 0;
  uint64_t pushed_rows = 0;
  uint64_t summarized_rows = 0;
  uint64_t recalled_rows = 0;
  uint64_t recalled_vectors = 0;
  std::vector<PenumbraOperatorStats> operators;
};

Output Run(const PlanBuilder& plan, const Input& input);
// Sorted, for results without an order.
std::vector<Row> Sorted(std::vector<Row> rows);
// That no execution left what it had of the threads.
void ExpectNoThreads(const std::vector<PenumbraUsage>& usages);

}  // namespace penumbra::test
