#include "support/query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>

#include "numeric/numeric.h"
#include "plan/plan.h"

namespace penumbra::test {
namespace {

PenumbraPlanOptions PlanOptions() { return {true, nullptr}; }

// One cell in the form of PenumbraColumnInput.
void EncodeCell(PenumbraType type, const std::string& text, Arena& arena, uint64_t* value, uint32_t* length) {
  switch (type) {
    case PENUMBRA_FLOAT4: {
      float real = std::strtof(text.c_str(), nullptr);
      std::memcpy(value, &real, sizeof(real));
      break;
    }
    case PENUMBRA_FLOAT8: {
      double real = std::strtod(text.c_str(), nullptr);
      std::memcpy(value, &real, sizeof(real));
      break;
    }
    case PENUMBRA_NUMERIC: {
      StringRef payload = Decimal::FromString(text).ToPayload(arena);
      *value = reinterpret_cast<uint64_t>(arena.CopyBytes(payload.data(), payload.length));
      *length = payload.length;
      break;
    }
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR:
    case PENUMBRA_UUID:
    case PENUMBRA_INTERVAL:
      *value = reinterpret_cast<uint64_t>(arena.CopyBytes(text.data(), text.size()));
      *length = static_cast<uint32_t>(text.size());
      break;
    default: *value = static_cast<uint64_t>(std::strtoll(text.c_str(), nullptr, 10));
  }
}

std::string FormatValue(const PenumbraResultColumn& column, uint32_t row) {
  switch (column.type) {
    case PENUMBRA_BOOL: return static_cast<const uint8_t*>(column.values)[row] != 0 ? "t" : "f";
    case PENUMBRA_INT2: return std::to_string(static_cast<const int16_t*>(column.values)[row]);
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: return std::to_string(static_cast<const int32_t*>(column.values)[row]);
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ: return std::to_string(static_cast<const int64_t*>(column.values)[row]);
    case PENUMBRA_FLOAT4: return std::to_string(static_cast<const float*>(column.values)[row]);
    case PENUMBRA_FLOAT8: return std::to_string(static_cast<const double*>(column.values)[row]);
    case PENUMBRA_NUMERIC: return Decimal::FromPayload({column.payloads[row], column.payload_lengths[row]}).ToString();
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR: return {column.payloads[row], column.payload_lengths[row]};
    default: return {static_cast<const char*>(column.values) + size_t{16} * row, 16};
  }
}

}  // namespace

std::string WithTail(const std::string& text, const std::string& bytes) {
  EXPECT_GE(text.size(), size_t{PENUMBRA_TAILED_BYTES_MIN});
  const auto length = static_cast<char>(bytes.size() + PENUMBRA_TAIL_END_BYTES);
  return text + bytes + std::string{length, 0, 0, 0, 0, 1};
}

std::string Trimmed(const std::string& text) {
  const uint32_t tail = penumbra_tail_bytes(text.data(), static_cast<uint32_t>(text.size()));
  return tail != 0 ? text.substr(0, text.size() - tail) : text.substr(0, text.find_last_not_of(' ') + 1);
}

Table::Table(std::vector<PenumbraType> types, uint32_t rows, const std::function<Cell(uint32_t row, int column)>& cell)
    : types_(std::move(types)), rows_(penumbra_rows_create(types_.data(), static_cast<int>(types_.size()))) {
  constexpr uint32_t kBatchRows = 4096;
  for (uint32_t begin = 0; begin < rows; begin += kBatchRows) {
    uint32_t count = std::min(kBatchRows, rows - begin);
    Arena arena;
    std::vector<PenumbraColumnInput> inputs(types_.size());
    for (size_t c = 0; c < types_.size(); ++c) {
      auto* values = arena.AllocateArray<uint64_t>(count);
      auto* lengths = arena.AllocateArray<uint32_t>(count);
      auto* nulls = arena.AllocateArray<uint8_t>(count);
      for (uint32_t i = 0; i < count; ++i) {
        Cell value = cell(begin + i, static_cast<int>(c));
        values[i] = 0;
        lengths[i] = 0;
        nulls[i] = !value.has_value();
        if (value.has_value()) EncodeCell(types_[c], *value, arena, &values[i], &lengths[i]);
      }
      inputs[c] = {values, lengths, nulls};
    }
    PenumbraStatus status = penumbra_rows_append(rows_, inputs.data(), count);
    EXPECT_EQ(status.code, PENUMBRA_OK) << status.message;
  }
}

Table::~Table() { penumbra_rows_destroy(rows_); }

Table::Table(Table&& other) noexcept : types_(std::move(other.types_)), rows_(other.rows_) { other.rows_ = nullptr; }

uint32_t Table::row_count() const { return penumbra_rows_count(rows_); }

Chunk::Chunk(const Table& table, std::vector<PenumbraRowRange> ranges, bool as_bits)
    : rows_(table.row_count()), ranges_(std::move(ranges)) {
  if (as_bits) {
    row_bits_.resize((rows_ + 63) / 64);
    for (const PenumbraRowRange& range : ranges_) {
      for (uint32_t row = range.begin; row < range.end; ++row) row_bits_[row / 64] |= uint64_t{1} << (row % 64);
    }
    ranges_.clear();
  }
  if (ranges_.empty()) ranges_.push_back({0, rows_});
  for (size_t c = 0; c < table.types().size(); ++c) {
    void* segment = nullptr;
    size_t bytes = 0;
    PenumbraStatus status = penumbra_segment_encode(table.rows(), static_cast<int>(c), &segment, &bytes);
    EXPECT_EQ(status.code, PENUMBRA_OK) << status.message;
    // Segments live aligned in the cache.
    void* aligned = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    std::memcpy(aligned, segment, bytes);
    std::free(segment);
    segments_.push_back(aligned);
    segment_bytes_.push_back(bytes);
  }
}

std::vector<PenumbraZoneMap> Chunk::zone_maps() const {
  std::vector<PenumbraZoneMap> zone_maps(segments_.size());
  for (size_t c = 0; c < segments_.size(); ++c) penumbra_segment_get_zone_map(segments_[c], &zone_maps[c]);
  return zone_maps;
}

Chunk Chunk::Copy() const {
  Chunk copy(rows_);
  copy.ranges_ = ranges_;
  copy.row_bits_ = row_bits_;
  copy.segment_bytes_ = segment_bytes_;
  for (size_t c = 0; c < segments_.size(); ++c) {
    copy.segments_.push_back(std::aligned_alloc(64, (segment_bytes_[c] + 63) / 64 * 64));
    std::memcpy(copy.segments_[c], segments_[c], segment_bytes_[c]);
  }
  return copy;
}

void Chunk::Spoil() {
  for (size_t c = 0; c < segments_.size(); ++c) std::memset(segments_[c], 0xa5, segment_bytes_[c]);
}

Chunk::~Chunk() {
  for (void* segment : segments_) std::free(segment);
}

Chunk::Chunk(Chunk&& other) noexcept
    : rows_(other.rows_),
      segments_(std::move(other.segments_)),
      segment_bytes_(std::move(other.segment_bytes_)),
      ranges_(std::move(other.ranges_)),
      row_bits_(std::move(other.row_bits_)) {
  other.segments_.clear();
}

PenumbraChunk Chunk::chunk() const {
  return {rows_, segments_.data(), ranges_.data(), static_cast<uint32_t>(ranges_.size()),
          row_bits_.empty() ? nullptr : row_bits_.data()};
}

PlanBuilder::PlanBuilder(const std::vector<PenumbraType>& scan_columns, int numeric_scale, int numeric_precision) {
  PenumbraPlanOptions options = PlanOptions();
  plan_ = penumbra_plan_create(&options);
  for (PenumbraType type : scan_columns) {
    const bool is_numeric = type == PENUMBRA_NUMERIC;
    columns_.push_back({type, is_numeric ? numeric_scale : -1, is_numeric ? numeric_precision : 0});
  }
  scan_ = Scan();
}

const PenumbraPlan* PlanBuilder::Finish() const {
  EXPECT_TRUE(plan_->is_finished() || penumbra_plan_finish(plan_, current_)) << reason();
  return plan_;
}

void PlanBuilder::Keep(PenumbraOperator added) {
  EXPECT_GE(added, 0) << reason();
  if (added >= 0) current_ = added;
}

PenumbraOperator PlanBuilder::Scan() {
  Keep(penumbra_plan_add_scan(plan_, columns_.data(), static_cast<int>(columns_.size())));
  return current_;
}

PenumbraOperator PlanBuilder::Scan(const std::vector<PenumbraType>& types) {
  std::vector<PenumbraScanColumn> columns;
  for (PenumbraType type : types) columns.push_back({type, -1});
  Keep(penumbra_plan_add_scan(plan_, columns.data(), static_cast<int>(columns.size())));
  return current_;
}

PenumbraExpr PlanBuilder::Column(int column) { return ColumnOf(current_, column); }

PenumbraExpr PlanBuilder::ColumnOf(PenumbraOperator input, int column) {
  PenumbraExpr expr = penumbra_plan_column(plan_, input, column);
  EXPECT_GE(expr, 0) << reason();
  return expr;
}

PenumbraExpr PlanBuilder::PairColumn(PenumbraOperator probe, PenumbraOperator build, int column) {
  PenumbraExpr expr = penumbra_plan_pair_column(plan_, probe, build, column);
  EXPECT_GE(expr, 0) << reason();
  return expr;
}

PenumbraOperator PlanBuilder::Join(PenumbraOperator probe, PenumbraOperator build, PenumbraJoinKind kind,
                                   const std::vector<PenumbraJoinKey>& keys,
                                   const std::vector<PenumbraExpr>& conditions, bool is_null_aware,
                                   uint64_t build_rows_max, PenumbraJoinChoice choice) {
  const PenumbraJoin join = {kind,
                             is_null_aware,
                             keys.data(),
                             static_cast<int>(keys.size()),
                             conditions.data(),
                             static_cast<int>(conditions.size()),
                             build_rows_max,
                             choice};
  Keep(penumbra_plan_add_join(plan_, probe, build, &join));
  return current_;
}

PenumbraExpr PlanBuilder::Constant(PenumbraType type, const Cell& value) {
  PenumbraValue constant{};
  constant.is_null = !value.has_value();
  Arena arena;
  if (value.has_value()) {
    uint64_t bits = 0;
    EncodeCell(type, *value, arena, &bits, &constant.bytes_length);
    constant.integer = static_cast<int64_t>(bits);
    constant.real = std::strtod(value->c_str(), nullptr);
    bool is_bytes =
        type == PENUMBRA_NUMERIC || type == PENUMBRA_TEXT || type == PENUMBRA_BPCHAR || type == PENUMBRA_UUID;
    if (is_bytes) constant.bytes = reinterpret_cast<const void*>(bits);
  }
  PenumbraExpr expr = penumbra_plan_constant(plan_, type, &constant);
  EXPECT_GE(expr, 0) << reason();
  return expr;
}

PenumbraExpr PlanBuilder::Call(PenumbraFunction function, PenumbraType result, std::initializer_list<PenumbraExpr> args,
                               const PenumbraCollation* collation) {
  PenumbraExpr expr =
      penumbra_plan_call_collated(plan_, function, result, collation, args.begin(), static_cast<int>(args.size()));
  EXPECT_GE(expr, 0) << reason();
  return expr;
}

void PlanBuilder::Filter(std::initializer_list<PenumbraExpr> conjuncts) {
  Keep(penumbra_plan_add_filter(plan_, current_, conjuncts.begin(), static_cast<int>(conjuncts.size())));
}

void PlanBuilder::Project(std::initializer_list<PenumbraExpr> exprs) {
  Keep(penumbra_plan_add_projection(plan_, current_, exprs.begin(), static_cast<int>(exprs.size())));
}

void PlanBuilder::Union(std::initializer_list<PenumbraOperator> inputs) {
  Keep(penumbra_plan_add_union(plan_, inputs.begin(), static_cast<int>(inputs.size())));
}

void PlanBuilder::Unnest(const std::vector<PenumbraUnnestList>& lists, bool keeps_empty, bool has_ordinality) {
  const PenumbraUnnest unnest = {.lists = lists.data(),
                                 .list_count = static_cast<int>(lists.size()),
                                 .keeps_empty = keeps_empty,
                                 .has_ordinality = has_ordinality};
  Keep(penumbra_plan_add_unnest(plan_, current_, &unnest));
}

void PlanBuilder::AggregateLists(const std::vector<PenumbraAggregateCall>& calls, int single) {
  const bool is_taken =
      penumbra_plan_aggregate_lists(plan_, current_, calls.data(), static_cast<int>(calls.size()), single);
  Keep(is_taken ? current_ : -1);
}

void PlanBuilder::Repeat(int times) {
  const PenumbraUnnest unnest = {.times = times};
  Keep(penumbra_plan_add_unnest(plan_, current_, &unnest));
}

void PlanBuilder::Aggregate(std::initializer_list<PenumbraExpr> keys,
                            std::initializer_list<PenumbraAggregateCall> calls) {
  Keep(penumbra_plan_add_aggregation(plan_, current_, keys.begin(), static_cast<int>(keys.size()), calls.begin(),
                                     static_cast<int>(calls.size())));
}

void PlanBuilder::Sort(std::initializer_list<PenumbraSortKey> keys, int64_t limit, int64_t offset) {
  Keep(penumbra_plan_add_sort(plan_, current_, keys.begin(), static_cast<int>(keys.size()), limit, offset));
}

PenumbraAggregateCall CountStar() { return {PENUMBRA_AGG_COUNT_STAR, PENUMBRA_INT8, {}, 0, -1, false}; }

PenumbraAggregateCall Aggregate(PenumbraAggregate function, PenumbraType result, PenumbraExpr argument) {
  return {function, result, {argument}, 1, -1, false};
}

namespace {

// The copies of one scan's chunks that are pushed.
class PushedChunks {
 public:
  // Pushes the next, unless two are read; *is_last: there is none.
  PenumbraStatus PushNext(PenumbraExec* exec, const ScanInput& scan, bool* is_last) {
    *is_last = pushed_ == scan.chunks.size();
    const uint64_t finished = penumbra_exec_finished_chunks(exec, scan.scan, 0);
    for (; finished_ < finished; ++finished_) {
      copies_.front().Spoil();
      copies_.pop_front();
    }
    if (*is_last) return {PENUMBRA_OK, {}};
    if (copies_.size() == 2) {
      penumbra_exec_finished_chunks(exec, scan.scan, finished + 1);
      return {PENUMBRA_OK, {}};
    }
    const Chunk& next = *scan.chunks[pushed_++];
    if (penumbra_exec_skip_chunk(exec, scan.scan, next.zone_maps().data())) {
      ++skipped_;
      return {PENUMBRA_OK, {}};
    }
    copies_.push_back(next.Copy());
    const PenumbraChunk chunk = copies_.back().chunk();
    return penumbra_exec_push_chunk(exec, scan.scan, &chunk);
  }
  uint32_t skipped() const { return skipped_; }

 private:
  std::deque<Chunk> copies_;
  size_t pushed_ = 0;
  uint32_t skipped_ = 0;
  uint64_t finished_ = 0;
};

// Tells of a chunk what was learned of it; its memory is the owner of what will be.
void Recall(const PlanBuilder& plan, const Chunk* chunk, Memory* memory, std::vector<const void*>* images,
            PenumbraChunk* added) {
  PenumbraRememberedFilter filter;
  std::vector<std::vector<char>>& learned = (*memory)[chunk];
  for (int i = 0; penumbra_plan_remembered_filter(plan.Finish(), plan.scan(), i, &filter); ++i) {
    learned.resize(std::max<size_t>(learned.size(), i + 1));
    images->push_back(learned[i].empty() ? nullptr : learned[i].data());
  }
  added->remembered = images->data();
  added->owner = &learned;
}

}  // namespace

Output Run(const PlanBuilder& plan, const Input& input) {
  Output output{};
  PenumbraExecOptions options{input.memory_bytes,
                              input.threads,
                              input.temporary_prefix,
                              input.temporary_space,
                              {nullptr, input.interrupt},
                              true,
                              input.all_usage,
                              input.own_usage,
                              input.max_threads,
                              input.max_memory_bytes,
                              input.host_function,
                              input.host_frames,
                              input.host};
  PenumbraExec* exec = penumbra_exec_create(plan.Finish(), &options);
  std::vector<ScanInput> scans = input.others;
  scans.push_back({plan.scan(), input.chunks, input.pushed});
  auto check = [&output](const PenumbraStatus& status) {
    output.status = status;
    return status.code == PENUMBRA_OK;
  };
  std::map<PenumbraOperator, size_t> pushed_tables;
  // The next table of the scan's rows; false: that was the last, or an error.
  auto push_next = [&](const ScanInput& scan) {
    size_t& next = pushed_tables[scan.scan];
    if (next < scan.pushed.size() && !check(penumbra_exec_push_rows(exec, scan.scan, scan.pushed[next++]->rows())))
      return false;
    if (next < scan.pushed.size()) return true;
    check(penumbra_exec_end_rows(exec, scan.scan));
    return false;
  };
  std::map<PenumbraOperator, PushedChunks> pushed_chunks;
  // Pushes rows of the scan that wants them; before, if that is asked for, its chunks, one in each call.
  auto feed = [&](PenumbraOperator wanted) {
    auto scan = std::find_if(scans.begin(), scans.end(), [&](const ScanInput& s) { return s.scan == wanted; });
    if (scan == scans.end()) return check(penumbra_exec_end_rows(exec, wanted));
    bool is_ok = true, is_last = true;
    if (input.pushes_chunks) is_ok = check(pushed_chunks[wanted].PushNext(exec, *scan, &is_last));
    if (!is_ok || !is_last) return is_ok;
    push_next(*scan);
    return output.status.code == PENUMBRA_OK;
  };
  bool is_ok = true;
  for (const ScanInput& scan : scans) {
    for (const Chunk* chunk : scan.chunks) {
      PenumbraChunk added = chunk->chunk();
      std::vector<const void*> images;
      if (input.memory != nullptr && scan.scan == plan.scan()) Recall(plan, chunk, input.memory, &images, &added);
      is_ok = is_ok && check(input.pushes_chunks ? penumbra_exec_expect_chunks(exec, scan.scan, added.rows)
                                                 : penumbra_exec_add_chunk(exec, scan.scan, &added));
    }
    const bool is_all_first = (scan.pushed.empty() || input.pushes_first) && !input.pushes_chunks;
    while (is_ok && is_all_first && push_next(scan)) {
    }
    is_ok = is_ok && output.status.code == PENUMBRA_OK;
  }
  is_ok = is_ok && check(penumbra_exec_start(exec));
  int width = penumbra_plan_output_count(plan.plan());
  while (is_ok) {
    if (PenumbraOperator wanted = penumbra_exec_wanted_scan(exec); wanted >= 0 && !(is_ok = feed(wanted))) break;
    PenumbraResult result{};
    PenumbraFetch fetch = penumbra_exec_fetch(exec, &result, &output.status);
    if (fetch == PENUMBRA_FETCH_DONE || fetch == PENUMBRA_FETCH_ERROR) break;
    if (fetch == PENUMBRA_FETCH_WAIT) continue;
    EXPECT_GT(result.rows, 0u);
    for (uint32_t i = 0; i < result.rows; ++i) {
      Row row;
      for (int c = 0; c < width; ++c) {
        const PenumbraResultColumn& column = result.columns[c];
        EXPECT_EQ(column.type, penumbra_plan_output_type(plan.plan(), c));
        bool is_null = column.nulls != nullptr && column.nulls[i] != 0;
        row.push_back(is_null ? "NULL" : FormatValue(column, i));
      }
      output.rows.push_back(std::move(row));
    }
    if (input.stops_early) break;
  }
  PenumbraLearned learned;
  while (input.memory != nullptr && penumbra_exec_next_learned(exec, plan.scan(), &learned)) {
    const char* image = static_cast<const char*>(learned.image);
    static_cast<Memory::mapped_type*>(learned.owner)->at(learned.number).assign(image, image + learned.image_bytes);
  }
  PenumbraExecStats stats;
  penumbra_exec_get_stats(exec, &stats);
  output.threads = stats.threads;
  output.chunks_skipped = stats.chunks_skipped;
  for (const auto& [scan, chunks] : pushed_chunks) output.chunks_not_pushed += chunks.skipped();
  output.cached_rows = stats.cached_rows;
  output.pushed_rows = stats.pushed_rows;
  output.summarized_rows = stats.summarized_rows;
  output.recalled_rows = stats.recalled_rows;
  output.recalled_vectors = stats.recalled_vectors;
  output.operators.assign(stats.operators, stats.operators + stats.operator_count);
  penumbra_exec_destroy(exec);
  return output;
}

std::vector<Row> Sorted(std::vector<Row> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

void ExpectNoThreads(const std::vector<PenumbraUsage>& usages) {
  for (const PenumbraUsage& usage : usages) {
    EXPECT_EQ(usage.callers, 0u);
    EXPECT_EQ(usage.tickets, 0u);
    for (const uint32_t waiting : usage.waiting) EXPECT_EQ(waiting, 0u);
  }
}

}  // namespace penumbra::test
