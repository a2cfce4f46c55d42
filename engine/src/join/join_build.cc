#include "join/join_build.h"

#include <algorithm>
#include <numeric>

#include "vector/vector_build.h"

namespace penumbra {
namespace {

constexpr size_t kMaxBlockBytes = size_t{2} << 20;
// Fewer rows are entered by one task and read by one reader.
constexpr uint64_t kParallelRows = 16 * 1024;

}  // namespace

const uint64_t* FindMatchableRows(const JoinSpec& spec, const Vector* keys, uint32_t rows, Arena& arena) {
  const uint64_t* matchable = nullptr;
  for (size_t k = 0; k < spec.keys.size(); ++k) {
    if (spec.keys[k].nulls_are_equal) continue;
    if (keys[k].is_null_constant()) {
      uint64_t* none = arena.AllocateArray<uint64_t>(BitWords(rows));
      std::fill_n(none, BitWords(rows), 0);
      return none;
    }
    if (!keys[k].is_constant()) matchable = AndValidity(matchable, keys[k].validity, rows, arena);
  }
  return matchable;
}

// What one thread has collected. Rows that can match nothing are kept only where they are output.
struct JoinBuild::Rows {
  Rows(const JoinLayout& layout, MemoryBudget* budget)
      : row_memory(std::make_unique<Arena>(budget, size_t{64} << 10, kMaxBlockBytes)),
        strings(budget, size_t{16} << 10, kMaxBlockBytes),
        partitions(JoinTable::kPartitions, GroupRows(row_memory.get(), layout.row_bytes)),
        unmatchable(row_memory.get(), layout.row_bytes) {}

  std::unique_ptr<Arena> row_memory;  // of `partitions`; gone when they are in the table
  Arena strings;
  std::vector<GroupRows> partitions;
  GroupRows unmatchable;
};

class JoinBuild::BuildLocal final : public Local {
 public:
  BuildLocal(const JoinLayout& layout, MemoryBudget* budget) : rows(std::make_unique<Rows>(layout, budget)) {}
  std::unique_ptr<Rows> rows;
  uint64_t row_count = 0;
  bool has_null_key = false;
  std::vector<KeyRange> ranges;
  std::vector<uint8_t> has_nulls;
};

JoinBuild::JoinBuild(const JoinSpec& spec, ExecutionEnvironment& environment)
    : spec_(spec),
      environment_(environment),
      layout_(spec),
      null_row_(layout_.payload.row_bytes()),
      has_nulls_(layout_.columns.size()),
      table_(layout_, &environment.budget),
      filter_memory_(&environment.budget),
      ranges_(spec.keys.size()),
      bitmaps_(spec.keys.size()),
      filters_(spec.keys.size()) {
  std::fill_n(null_row_.begin(), (layout_.columns.size() + 7) / 8, static_cast<char>(0xff));
}

std::unique_ptr<Sink::Local> JoinBuild::CreateLocal() {
  auto local = std::make_unique<BuildLocal>(layout_, &environment_.budget);
  local->ranges.resize(spec_.keys.size());
  local->has_nulls.resize(layout_.columns.size());
  return local;
}

void JoinBuild::Consume(Local& local, const Batch& batch, EvalContext& context) {
  auto& into = static_cast<BuildLocal&>(local);
  Arena& arena = context.arena;
  into.row_count += batch.rows;
  auto* keys = arena.AllocateArray<Vector>(spec_.keys.size());
  for (size_t k = 0; k < spec_.keys.size(); ++k) {
    keys[k] = Evaluate(*spec_.keys[k].build, batch, context);
    if (IsIntegerKey(k)) into.ranges[k].Add(keys[k], batch.rows, arena);
  }
  const uint64_t* matchable = FindMatchableRows(spec_, keys, batch.rows, arena);
  const bool keeps_all = spec_.gives_build_rows();
  RowSelection selection{nullptr, batch.rows};
  if (matchable != nullptr) {
    const auto can_match = static_cast<uint32_t>(kernels::CountBits(matchable, batch.rows));
    into.has_null_key |= can_match < batch.rows;
    if (!keeps_all && can_match < batch.rows) {
      auto* selected = arena.AllocateArray<uint16_t>(BitWords(batch.rows) * 64);
      selection = {selected, static_cast<uint32_t>(kernels::BitsToSelection(matchable, batch.rows, selected))};
    }
  }
  const uint32_t image_bytes = layout_.keys.image_bytes();
  char* images = arena.AllocateArray<char>(size_t{selection.count} * image_bytes);
  layout_.keys.BuildImages(keys, selection, arena, images);
  auto** columns_of_rows = arena.AllocateArray<char*>(selection.count);
  for (uint32_t i = 0; i < selection.count; ++i) {
    const char* image = images + size_t{i} * image_bytes;
    const bool can_match = !keeps_all || IsRowValid(matchable, i);
    char* row = can_match ? into.rows->partitions[JoinTable::PartitionOf(GroupKeys::Hash(image))].Add()
                          : into.rows->unmatchable.Add();
    std::memcpy(row, image, layout_.keys.compared_bytes());
    layout_.keys.OwnStrings(row, into.rows->strings);
    columns_of_rows[i] = row + layout_.payload_offset;
  }
  if (layout_.columns.empty()) return;
  auto* columns = arena.AllocateArray<Vector>(layout_.columns.size());
  for (size_t c = 0; c < layout_.columns.size(); ++c) {
    columns[c] = Flatten(batch.columns[layout_.columns[c]], batch.rows, arena);
    into.has_nulls[c] |= columns[c].validity != nullptr;
  }
  layout_.payload.Write(columns, selection, columns_of_rows, into.rows->strings);
}

void JoinBuild::Combine(Local& local) {
  auto& from = static_cast<BuildLocal&>(local);
  std::lock_guard lock(mutex_);
  rows_.push_back(std::move(from.rows));
  row_count_ += from.row_count;
  has_null_key_ |= from.has_null_key;
  for (size_t k = 0; k < ranges_.size(); ++k) ranges_[k].Add(from.ranges[k]);
  for (size_t c = 0; c < has_nulls_.size(); ++c) has_nulls_[c] |= from.has_nulls[c];
}

int JoinBuild::PrepareFinish() {
  if (round_ < 0) ReserveTable();
  if (++round_ >= std::max(1, table_.round_count())) return 0;
  table_.StartRound(round_, environment_);
  return task_count_;
}

void JoinBuild::ReserveTable() {
  std::vector<uint64_t> counts(JoinTable::kPartitions);
  for (const auto& rows : rows_) {
    for (int p = 0; p < JoinTable::kPartitions; ++p) counts[p] += rows->partitions[p].row_count();
  }
  const uint64_t row_count = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  const KeyRange range = ranges_.size() == 1 ? ranges_[0] : KeyRange();
  const JoinForm form = JoinTable::ChooseForm(spec_, range, row_count);
  table_.Reserve(form, range, counts);
  task_count_ = row_count < kParallelRows ? 1 : JoinTable::kPartitions;
  for (size_t k = 0; k < bitmaps_.size(); ++k) {
    const bool is_wanted = spec_.keys[k].is_filter && !ranges_[k].is_empty();
    if (form == JoinForm::kBitmap || (is_wanted && KeyBitmap::IsWorthIt(ranges_[k], row_count))) {
      bitmaps_[k].emplace(ranges_[k], filter_memory_);
    }
  }
}

void JoinBuild::RunFinishTask(int task) {
  const int partitions_per_task = JoinTable::kPartitions / task_count_;
  for (int p = task * partitions_per_task; p < (task + 1) * partitions_per_task; ++p) {
    std::vector<const GroupRows*> parts;
    for (const auto& rows : rows_) parts.push_back(&rows->partitions[p]);
    if (round_ == 0) {
      for (const GroupRows* part : parts) AddToBitmaps(*part);
    }
    if (round_ < table_.round_count()) table_.Enter(round_, static_cast<uint32_t>(p), parts, environment_);
  }
}

void JoinBuild::AddToBitmaps(const GroupRows& rows) {
  for (size_t k = 0; k < bitmaps_.size(); ++k) {
    if (!bitmaps_[k]) continue;
    for (size_t p = 0; p < rows.page_count(); ++p) {
      environment_.CheckCancelled();
      const char* row = rows.page(p);
      for (uint32_t i = 0; i < rows.page_rows(p); ++i, row += layout_.row_bytes) {
        const int64_t value = layout_.keys.Integer(row, static_cast<int>(k));
        task_count_ == 1 ? bitmaps_[k]->Add(value) : bitmaps_[k]->AddConcurrently(value);
      }
    }
  }
}

std::unique_ptr<KeyFilter> JoinBuild::MakeFilter(size_t key) const {
  if (!spec_.keys[key].is_filter) return nullptr;
  // Tags tell more than bounds alone.
  const bool is_only_key = spec_.keys.size() == 1 && table_.form() == JoinForm::kHash;
  if (IsIntegerKey(key) && (bitmaps_[key] || ranges_[key].is_empty() || !is_only_key)) {
    return std::make_unique<JoinKeyFilter>(ranges_[key], bitmaps_[key] ? &*bitmaps_[key] : nullptr);
  }
  const KeyRange range = IsIntegerKey(key) ? ranges_[key] : KeyRange{INT64_MIN, INT64_MAX};
  return is_only_key ? std::make_unique<JoinKeyFilter>(range, layout_.keys, table_) : nullptr;
}

int JoinBuild::Seal() {
  memory_peak_bytes_ = environment_.budget.peak_bytes();
  for (size_t k = 0; k < filters_.size(); ++k) filters_[k] = MakeFilter(k);
  for (const auto& rows : rows_) {
    rows->partitions.clear();
    if (rows->unmatchable.row_count() == 0) rows->row_memory.reset();
  }
  return spec_.gives_build_rows() ? 1 : 0;
}

// Build rows by whether they were matched, those in the table first.
class JoinBuild::BuildReader final : public Reader {
 public:
  explicit BuildReader(JoinBuild& build) : build_(build), arena_(&build.environment_.budget) {}

  bool Next(Batch* batch) override {
    arena_.Reset();
    const JoinLayout& layout = build_.layout_;
    const bool wants_matched = build_.spec_.kind == PENUMBRA_JOIN_RIGHT_SEMI;
    uint32_t count = 0;
    for (; at_ < build_.table_.row_count() && count < kVectorRows; ++at_) {
      if (at_ % (16 * kVectorRows) == 0) build_.environment_.CheckCancelled();
      char* row = build_.table_.payload(at_);
      const bool is_matched = layout.MatchedFlag(row).load(std::memory_order_relaxed) != 0;
      if (is_matched == wants_matched) rows_[count++] = row;
    }
    while (!wants_matched && count < kVectorRows && local_ < build_.rows_.size()) {
      const GroupRows& unmatchable = build_.rows_[local_]->unmatchable;
      if (page_ == unmatchable.page_count()) {
        ++local_;
        page_ = 0;
      } else if (row_ == unmatchable.page_rows(page_)) {
        ++page_;
        row_ = 0;
      } else {
        rows_[count++] = unmatchable.page(page_) + size_t{row_++} * layout.row_bytes + layout.payload_offset;
      }
    }
    if (count == 0) return false;
    *batch = MakeBatch(count);
    return true;
  }

 private:
  Batch MakeBatch(uint32_t count) {
    const JoinSpec& spec = build_.spec_;
    const JoinLayout& layout = build_.layout_;
    columns_.clear();
    if (spec.has_probe_columns()) {
      for (PenumbraType type : spec.probe_types) columns_.push_back(NullConstant(type));
    }
    const size_t begin = columns_.size();
    for (PenumbraType type : spec.build_types) columns_.push_back(NullConstant(type));
    for (size_t c = 0; c < layout.columns.size(); ++c) {
      const size_t place = begin + layout.columns[c];
      if (!spec.needed[place]) continue;
      columns_[place] = layout.payload.Read(static_cast<int>(c), rows_, count, arena_, build_.has_nulls(c));
    }
    return {count, static_cast<uint32_t>(columns_.size()), columns_.data()};
  }

  JoinBuild& build_;
  Arena arena_;
  uint64_t at_ = 0;  // in the table
  size_t local_ = 0, page_ = 0;
  uint32_t row_ = 0;  // of the page
  const char* rows_[kVectorRows];
  std::vector<Vector> columns_;
};

std::unique_ptr<Sink::Reader> JoinBuild::OpenPartition(int /*partition*/) {
  return std::make_unique<BuildReader>(*this);
}

SinkStats JoinBuild::stats() const {
  SinkStats stats;
  stats.memory_peak_bytes = memory_peak_bytes_;
  switch (table_.form()) {
    case JoinForm::kBitmap: stats.join_table = "bitmap"; break;
    case JoinForm::kArray: stats.join_table = "direct array"; break;
    case JoinForm::kHash: stats.join_table = spec_.keys.empty() ? "nested loop" : "hash table";
  }
  stats.build_rows = row_count_;
  return stats;
}

std::unique_ptr<JoinProbe> JoinBuild::CreateProbe() { return CreateJoinProbe(*this); }

std::unique_ptr<JoinSink> CreateJoin(const JoinSpec& spec, ExecutionEnvironment& environment) {
  return std::make_unique<JoinBuild>(spec, environment);
}

}  // namespace penumbra
