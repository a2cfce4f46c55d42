#include "join/join_build.h"

#include <algorithm>
#include <numeric>

#include "vector/vector_build.h"

namespace penumbra {
namespace {

constexpr size_t kMaxBlockBytes = size_t{2} << 20;
// Fewer rows are entered by one task and read by one reader.
constexpr uint64_t kParallelRows = 16 * 1024;
// A thread with fewer bytes than this has nothing to gain from writing them.
constexpr size_t kSpilledBytesMin = size_t{256} << 10;
// Fewer are paired with each probe row faster than they are searched.
constexpr uint64_t kRangeRowsMin = 8;

std::vector<PenumbraType> TypesRead(const JoinSpec& spec) {
  std::vector<PenumbraType> types;
  for (int column : spec.ProbeColumnsRead()) types.push_back(spec.probe_types[column]);
  return types;
}

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
        partitions(JoinTable::kPartitions, RowPages(row_memory.get(), layout.row_bytes)),
        unmatchable(row_memory.get(), layout.row_bytes) {}

  std::unique_ptr<Arena> row_memory;  // of `partitions`; gone when they are in the table
  Arena strings;
  std::vector<RowPages> partitions;
  RowPages unmatchable;

  size_t bytes() const { return row_memory->bytes() + strings.bytes(); }
};

class JoinBuild::BuildLocal final : public Local {
 public:
  BuildLocal(const JoinLayout& layout, MemoryBudget* budget) : rows(std::make_unique<Rows>(layout, budget)) {}
  std::unique_ptr<Rows> rows;
  uint64_t row_count = 0;
  bool has_null_key = false;
  std::vector<KeyRange> ranges;
  std::vector<uint8_t> has_nulls;
  std::vector<std::optional<JoinDictionary::Encoder>> encoders;
  uint64_t longest_strings = 0;
  std::unique_ptr<JoinSpiller> spiller;  // null: nothing spilled yet
};

// null_row_ is a build row with all null bits set, for probe rows without a match.
JoinBuild::JoinBuild(const JoinSpec& spec, ExecutionEnvironment& environment)
    : spec_(spec),
      environment_(environment),
      layout_(spec),
      null_row_(layout_.payload.row_bytes()),
      probe_columns_(TypesRead(spec)),
      has_nulls_(layout_.columns.size()),
      given_(spec.build_types.size(), Given::kValues),
      spilled_build_(kSpilledPartitions),
      spilled_probe_(kSpilledPartitions),
      table_(layout_, &environment.budget, 0),
      filter_memory_(&environment.budget),
      ranges_(spec.keys.size()),
      bitmaps_(spec.keys.size()),
      filters_(spec.keys.size()) {
  layout_.payload.WriteNulls(null_row_.data());
  for (size_t c = 0; c < layout_.columns.size(); ++c) {
    dictionaries_.push_back(
        layout_.code_columns[c] < 0
            ? nullptr
            : std::make_unique<JoinDictionary>(spec.build_types[layout_.columns[c]], &environment.budget));
  }
}

std::unique_ptr<Sink::Local> JoinBuild::CreateLocal() {
  auto local = std::make_unique<BuildLocal>(layout_, &environment_.budget);
  local->ranges.resize(spec_.keys.size());
  local->has_nulls.resize(layout_.columns.size());
  local->encoders.resize(layout_.columns.size());
  for (size_t c = 0; c < layout_.columns.size(); ++c) {
    if (dictionaries_[c] != nullptr) local->encoders[c].emplace(*dictionaries_[c]);
  }
  return local;
}

void JoinBuild::CountConsumed(uint32_t rows) {
  if (spec_.build_rows_max == 0) return;
  consumed_rows_.fetch_add(rows, std::memory_order_relaxed);
  if (is_too_large()) throw EngineError(PENUMBRA_BUILD_TOO_LARGE);
}

void JoinBuild::Consume(Local& local, const Batch& batch, EvalContext& context) {
  auto& into = static_cast<BuildLocal&>(local);
  Arena& arena = context.arena;
  CountConsumed(batch.rows);
  into.row_count += batch.rows;
  auto* keys = arena.AllocateArray<Vector>(spec_.keys.size());
  for (size_t k = 0; k < spec_.keys.size(); ++k) {
    keys[k] = Evaluate(*spec_.keys[k].build, batch, context);
    if (IsIntegerKey(k)) into.ranges[k].Add(keys[k], batch.rows, arena);
  }
  const uint64_t* matchable = FindMatchableRows(spec_, keys, batch.rows, arena);
  const Vector* range_values = EvaluateRange(batch, context, &matchable);
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
  // Where a row may be unmatchable all rows are kept, so i is its place in the batch too.
  for (uint32_t i = 0; i < selection.count; ++i) {
    const char* image = images + size_t{i} * image_bytes;
    const bool can_match = !keeps_all || IsRowValid(matchable, i);
    char* row = can_match ? into.rows->partitions[JoinTable::PartitionOf(KeyLayout::Hash(image))].Add()
                          : into.rows->unmatchable.Add();
    std::memcpy(row, image, layout_.keys.compared_bytes());
    layout_.keys.OwnStrings(row, into.rows->strings);
    columns_of_rows[i] = row + layout_.payload_offset;
  }
  KeepColumns(into, batch, selection, columns_of_rows, range_values, arena);
  if (environment_.budget.IsExceeded() && into.rows->bytes() >= kSpilledBytesMin) {
    Spill(into.rows.get(), &into.spiller);
    into.rows = std::make_unique<Rows>(layout_, &environment_.budget);
  }
}

// The values that the range compares; a row with a null among them matches nothing. Where one cannot be computed SQL
// may not ask for it: all pairs are looked at.
const Vector* JoinBuild::EvaluateRange(const Batch& batch, EvalContext& context, const uint64_t** matchable) {
  const JoinRange& range = layout_.range;
  if (range.is_empty()) return nullptr;
  Arena& arena = context.arena;
  const size_t probe_width = spec_.probe_types.size(), width = probe_width + batch.column_count;
  auto* columns = arena.AllocateArray<Vector>(width);
  for (size_t c = 0; c < probe_width; ++c) columns[c] = NullConstant(spec_.probe_types[c]);
  std::copy_n(batch.columns, batch.column_count, columns + probe_width);
  const Batch pairs{batch.rows, static_cast<uint32_t>(width), columns};
  if (context.memo != nullptr) context.memo->Begin(pairs);
  auto* values = arena.AllocateArray<Vector>(2);
  int count = 0;
  for (const Expr* expr : {range.sorted, range.other}) {
    if (expr == nullptr) continue;
    const std::optional<Vector> ordered = has_range() ? OrderedValues(*expr, pairs, context) : std::nullopt;
    if (ordered) {
      *matchable = AndValidity(*matchable, ordered->validity, batch.rows, arena);
    } else {
      if (spec_.choice != PENUMBRA_JOIN_ALL) throw EngineError(PENUMBRA_UNSUPPORTED);
      is_range_lost_.store(true, std::memory_order_relaxed);
    }
    values[count++] = ordered ? *ordered : Flatten(NullConstant(PENUMBRA_INT8), batch.rows, arena);
  }
  return values;
}

void JoinBuild::KeepColumns(BuildLocal& into, const Batch& batch, RowSelection selection, char* const* columns_of_rows,
                            const Vector* range_values, Arena& arena) {
  if (layout_.columns.empty()) return;
  auto* columns = arena.AllocateArray<Vector>(layout_.payload.column_count());
  uint64_t longest_strings = 0;
  static const uint16_t kNoCodes[kVectorRows] = {};
  for (size_t c = 0; c < layout_.columns.size(); ++c) {
    const Vector& column = batch.columns[layout_.columns[c]];
    columns[c] = Flatten(column, batch.rows, arena);
    into.has_nulls[c] |= columns[c].validity != nullptr;
    longest_strings += LongestString(columns[c], batch.rows);
    if (!into.encoders[c]) continue;
    const uint16_t* codes = into.encoders[c]->Encode(column, batch.rows, arena);
    columns[layout_.code_columns[c]] =
        FlatVector(PENUMBRA_INT2, codes != nullptr ? codes : kNoCodes, columns[c].validity);
  }
  into.longest_strings = std::max(into.longest_strings, longest_strings);
  std::copy_n(range_values, layout_.payload.column_count() - layout_.range_column, columns + layout_.range_column);
  layout_.payload.Write(columns, selection, columns_of_rows, into.rows->strings);
}

RowFormat JoinBuild::build_format() const {
  return {&layout_.keys, layout_.columns.empty() ? nullptr : &layout_.payload, layout_.payload_offset,
          layout_.row_bytes};
}

void JoinBuild::Spill(Rows* rows, std::unique_ptr<JoinSpiller>* spiller) {
  is_spilled_.store(true, std::memory_order_relaxed);
  if (*spiller == nullptr) {
    *spiller = std::make_unique<JoinSpiller>(build_format(), kSpilledPartitions, environment_);
  }
  for (int p = 0; p < kSpilledPartitions; ++p) {
    const RowPages& part = p < JoinTable::kPartitions ? rows->partitions[p] : rows->unmatchable;
    part.ForEach(environment_, [&](const char* row) { (*spiller)->Add(static_cast<uint32_t>(p), row); });
  }
}

void JoinBuild::AddSpilledProbe(JoinSpiller* spiller) {
  std::lock_guard lock(mutex_);
  spilled_bytes_.fetch_add(spiller->Flush(&spilled_probe_), std::memory_order_relaxed);
}

void JoinBuild::Combine(Local& local) {
  auto& from = static_cast<BuildLocal&>(local);
  std::lock_guard lock(mutex_);
  if (from.spiller != nullptr) {
    spilled_bytes_.fetch_add(from.spiller->Flush(&spilled_build_), std::memory_order_relaxed);
  }
  rows_.push_back(std::move(from.rows));
  row_count_ += from.row_count;
  has_null_key_ |= from.has_null_key;
  for (size_t k = 0; k < ranges_.size(); ++k) ranges_[k].Add(from.ranges[k]);
  for (size_t c = 0; c < has_nulls_.size(); ++c) has_nulls_[c] |= from.has_nulls[c];
  longest_strings_ = std::max(longest_strings_, from.longest_strings);
}

int JoinBuild::PrepareFinish() {
  if (round_ < 0) {
    SpillRestIfNeeded();
    is_spilled_ ? ReserveSpilledBitmaps() : ReserveTable();
  }
  ++round_;
  if (is_spilled_) {
    const bool has_bitmap = std::any_of(bitmaps_.begin(), bitmaps_.end(), [](const auto& bitmap) { return !!bitmap; });
    return round_ == 0 && has_bitmap ? JoinTable::kPartitions : 0;
  }
  if (round_ >= std::max(1, table_.round_count())) return 0;
  table_.StartRound(round_, environment_);
  return task_count_;
}

// All or nothing: what threads still hold when one of them has spilled. So, too, where there is no room for the table
// beside the rows that it is made of.
void JoinBuild::SpillRestIfNeeded() {
  uint64_t row_count = 0;
  for (const auto& rows : rows_) {
    for (const RowPages& part : rows->partitions) row_count += part.row_count();
  }
  const MemoryBudget& budget = environment_.budget;
  const size_t table_bytes = row_count * (layout_.row_bytes + (layout_.sorts_runs ? 4 : 2) * sizeof(uint64_t));
  if (!is_spilled_ && budget.used_bytes() + table_bytes <= 2 * budget.budget_bytes()) return;
  std::unique_ptr<JoinSpiller> spiller;
  for (auto& rows : rows_) {
    Spill(rows.get(), &spiller);
    rows.reset();
  }
  rows_.clear();
  spilled_bytes_.fetch_add(spiller->Flush(&spilled_build_), std::memory_order_relaxed);
}

void JoinBuild::ReserveTable() {
  std::vector<uint64_t> counts(JoinTable::kPartitions);
  for (const auto& rows : rows_) {
    for (int p = 0; p < JoinTable::kPartitions; ++p) counts[p] += rows->partitions[p].row_count();
  }
  const uint64_t row_count = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  const KeyRange range = ranges_.size() == 1 ? ranges_[0] : KeyRange();
  const bool is_wanted = spec_.choice != PENUMBRA_JOIN_ALL || row_count >= kRangeRowsMin;
  const bool is_range = is_range_searched() && is_wanted && row_count < UINT32_MAX;
  const JoinForm form = is_range ? JoinForm::kRange : JoinTable::ChooseForm(spec_, has_range(), range, row_count);
  table_.Reserve(form, range, counts, environment_);
  task_count_ = row_count < kParallelRows ? 1 : JoinTable::kPartitions;
  for (size_t k = 0; k < bitmaps_.size(); ++k) {
    const bool is_wanted = spec_.keys[k].is_filter && !ranges_[k].is_empty();
    if (form == JoinForm::kBitmap || (is_wanted && KeyBitmap::IsWorthIt(ranges_[k], row_count))) {
      bitmaps_[k].emplace(ranges_[k], filter_memory_);
    }
  }
}

// Rows of the probe side that match nothing should not be written to disk: that is worth reading the keys once.
void JoinBuild::ReserveSpilledBitmaps() {
  for (size_t k = 0; k < bitmaps_.size(); ++k) {
    const bool is_wanted = spec_.keys[k].is_filter && !ranges_[k].is_empty();
    if (is_wanted && KeyBitmap::IsWorthIt(ranges_[k], row_count_) &&
        ranges_[k].span() / 8 < environment_.budget.budget_bytes() / 4) {
      bitmaps_[k].emplace(ranges_[k], filter_memory_);
    }
  }
}

void JoinBuild::AddSpilledToBitmaps(int partition) {
  const RowFormat format = build_format();
  SpilledRowReader reader(spilled_build_[partition], environment_);
  while (!reader.is_at_end()) {
    char* row = reader.Begin();
    AddToBitmaps(row, true);
    reader.End(format.LoadStrings(row, row + format.row_bytes, nullptr));
  }
}

void JoinBuild::RunFinishTask(int task) {
  if (is_spilled_) return AddSpilledToBitmaps(task);
  const int partitions_per_task = JoinTable::kPartitions / task_count_;
  for (int p = task * partitions_per_task; p < (task + 1) * partitions_per_task; ++p) {
    std::vector<const RowPages*> parts;
    for (const auto& rows : rows_) parts.push_back(&rows->partitions[p]);
    if (round_ == 0) {
      for (const RowPages* part : parts) {
        part->ForEach(environment_, [this](const char* row) { AddToBitmaps(row, task_count_ > 1); });
      }
    }
    if (round_ < table_.round_count()) table_.Enter(round_, static_cast<uint32_t>(p), parts, environment_);
  }
}

void JoinBuild::AddToBitmaps(const char* row, bool is_shared) {
  for (size_t k = 0; k < bitmaps_.size(); ++k) {
    if (!bitmaps_[k]) continue;
    const int64_t value = layout_.keys.Integer(row, static_cast<int>(k));
    is_shared ? bitmaps_[k]->AddConcurrently(value) : bitmaps_[k]->Add(value);
  }
}

std::unique_ptr<KeyFilter> JoinBuild::MakeFilter(size_t key) const {
  if (!spec_.keys[key].is_filter) return nullptr;
  // Tags tell more than bounds alone; of rows on disk there are none.
  const bool is_only_key = spec_.keys.size() == 1 && !is_spilled_ && table_.form() == JoinForm::kHash;
  if (IsIntegerKey(key) && (bitmaps_[key] || ranges_[key].is_empty() || !is_only_key)) {
    return std::make_unique<JoinKeyFilter>(ranges_[key], bitmaps_[key] ? &*bitmaps_[key] : nullptr);
  }
  const KeyRange range = IsIntegerKey(key) ? ranges_[key] : KeyRange{INT64_MIN, INT64_MAX};
  return is_only_key ? std::make_unique<JoinKeyFilter>(range, layout_.keys, table_) : nullptr;
}

int JoinBuild::Seal() {
  for (size_t k = 0; k < filters_.size(); ++k) filters_[k] = MakeFilter(k);
  for (const auto& dictionary : dictionaries_) {
    if (dictionary == nullptr) continue;
    if (is_spilled_) dictionary->GiveUp();
    dictionary->Seal();
  }
  for (const auto& rows : rows_) {
    rows->partitions.clear();
    if (rows->unmatchable.row_count() == 0) rows->row_memory.reset();
  }
  if (is_spilled_) return kSpilledPartitions;
  return spec_.gives_build_rows() ? 1 : 0;
}

Vector JoinBuild::ReadKept(size_t kept, const char* const* rows, uint32_t count, bool has_null_rows,
                           Arena& arena) const {
  const bool has_nulls = has_null_rows || has_nulls_[kept] != 0;
  const JoinDictionary* dictionary = dictionaries_[kept].get();
  const Vector* coded = dictionary == nullptr ? nullptr : dictionary->column();
  const int place = coded == nullptr ? static_cast<int>(kept) : layout_.code_columns[kept];
  const Vector read = layout_.payload.Read(place, rows, count, arena, has_nulls);
  return coded == nullptr ? read : WithCodes(*coded, read);
}

// Gives the table's rows by their matched flags. Kinds of join that give rows without a match then give rows whose keys
// can match nothing. The reads are relaxed, since the probes have ended.
bool BuildRowReader::Next(Batch* batch) {
  arena_.Reset();
  const JoinLayout& layout = build_.layout();
  const bool wants_matched = build_.spec().kind == PENUMBRA_JOIN_RIGHT_SEMI;
  uint32_t count = 0;
  for (; at_ < table_.row_count() && count < kVectorRows; ++at_) {
    if (at_ % (16 * kVectorRows) == 0) build_.environment().CheckCancelled();
    char* row = table_.payload(at_);
    const bool is_matched = layout.MatchedFlag(row).load(std::memory_order_relaxed) != 0;
    if (is_matched == wants_matched) rows_[count++] = row;
  }
  while (!wants_matched && count < kVectorRows && list_ < unmatchable_.size()) {
    if (const char* row = cursor_.Next(*unmatchable_[list_])) {
      rows_[count++] = row + layout.payload_offset;
    } else {
      ++list_;
      cursor_ = {};
    }
  }
  if (count == 0) return false;
  *batch = MakeBatch(count);
  return true;
}

Batch BuildRowReader::MakeBatch(uint32_t count) {
  const JoinSpec& spec = build_.spec();
  const JoinLayout& layout = build_.layout();
  columns_.clear();
  if (spec.has_probe_columns()) {
    for (PenumbraType type : spec.probe_types) columns_.push_back(NullConstant(type));
  }
  const size_t begin = columns_.size();
  for (PenumbraType type : spec.build_types) columns_.push_back(NullConstant(type));
  for (size_t c = 0; c < layout.columns.size(); ++c) {
    const size_t place = begin + layout.columns[c];
    if (!spec.needed[place]) continue;
    columns_[place] = build_.ReadKept(c, rows_, count, false, arena_);
  }
  return {count, static_cast<uint32_t>(columns_.size()), columns_.data()};
}

namespace {

class BuildReader final : public Sink::Reader {
 public:
  BuildReader(const JoinBuild& build, std::vector<const RowPages*> unmatchable)
      : rows_(build, build.table(), std::move(unmatchable)) {}
  bool Next(Batch* batch) override { return rows_.Next(batch); }

 private:
  BuildRowReader rows_;
};

}  // namespace

std::unique_ptr<Sink::Reader> JoinBuild::OpenPartition(int partition) {
  if (is_spilled_) return CreateSpilledReader(*this, partition);
  std::vector<const RowPages*> unmatchable;
  for (const auto& rows : rows_) unmatchable.push_back(&rows->unmatchable);
  return std::make_unique<BuildReader>(*this, std::move(unmatchable));
}

// Rows that are not on disk and come from here have no probe row.
const Vector* JoinBuild::dictionary_of(int column) const {
  static const Vector kNulls;
  if (is_spilled_) return nullptr;
  const int build_column = BuildColumn(column);
  if (build_column < 0) return &kNulls;
  const int kept = layout_.PlaceOf(build_column);
  const JoinDictionary* dictionary = kept < 0 ? nullptr : dictionaries_[kept].get();
  return dictionary != nullptr && dictionary->HasDistinctEntries() ? dictionary->column() : nullptr;
}

// Rows that can match nothing are in no table, so a join that gives them has no numbers.
uint64_t JoinBuild::NumberedRows() const {
  const bool has_numbers = !is_spilled_ && !spec_.gives_build_rows() && table_.row_count() < INT32_MAX;
  return has_numbers ? table_.row_count() : 0;
}

// If the only key is one of the columns.
bool JoinBuild::AreDistinct(const std::vector<int>& columns) const {
  return table_.form() == JoinForm::kArray && table_.is_unique() &&
         std::any_of(columns.begin(), columns.end(), [this](int column) {
           const Expr& key = *spec_.keys[0].build;
           return key.kind == Expr::Kind::kColumn && key.column == BuildColumn(column);
         });
}

void JoinBuild::NumberRows(const std::vector<int>& columns) {
  for (int column : columns) given_[BuildColumn(column)] = Given::kNulls;
  given_[BuildColumn(columns[0])] = Given::kRowNumbers;
}

Vector JoinBuild::ReadColumn(int column, const Vector& row_numbers, uint32_t rows, Arena& arena) const {
  const PenumbraType type = spec_.build_types[BuildColumn(column)];
  if (row_numbers.is_null_constant()) return NullConstant(type);
  const auto* numbers = row_numbers.values<int32_t>();
  auto** columns_of_rows = arena.AllocateArray<const char*>(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    columns_of_rows[i] = row_numbers.IsValid(i) ? table_.payload(static_cast<uint32_t>(numbers[i])) : null_row();
  }
  return ReadKept(static_cast<size_t>(layout_.PlaceOf(BuildColumn(column))), columns_of_rows, rows,
                  row_numbers.validity != nullptr, arena);
}

SinkStats JoinBuild::stats() const {
  SinkStats stats;
  stats.spilled_bytes = spilled_bytes_.load(std::memory_order_relaxed);
  switch (table_.form()) {
    case JoinForm::kBitmap: stats.join_table = "bitmap"; break;
    case JoinForm::kArray: stats.join_table = "direct array"; break;
    case JoinForm::kRange: stats.join_table = "range index"; break;
    case JoinForm::kHash: stats.join_table = spec_.keys.empty() ? "nested loop" : "hash table";
  }
  if (is_spilled_ && is_range_searched()) stats.join_table = "range index";
  stats.build_rows = row_count_;
  return stats;
}

std::unique_ptr<MultiplyingStep> JoinBuild::CreateProbe() {
  if (is_spilled_) return CreateSpillingProbe(*this);
  return CreateJoinProbe(*this, table_);
}

std::unique_ptr<JoinSink> CreateJoin(const JoinSpec& spec, ExecutionEnvironment& environment) {
  return std::make_unique<JoinBuild>(spec, environment);
}

}  // namespace penumbra
