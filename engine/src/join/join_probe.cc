// Looking up the rows of the probe side, a batch at a time: first which rows of the table each may match (Find), then
// pairs of up to kVectorRows at a time, which the conditions filter, and their columns.
//
// A row that matches nothing is known only after the last of its pairs, so such rows (LEFT, ANTI, MARK...) come at
// the end of their batch.
#include <algorithm>

#include "join/join_build.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// Rows of the table that one call looks at: some 100 µs.
constexpr uint32_t kRowsPerCall = 32 * 1024;
// Where one match will do, a row has so many pairs in its first turn, and more in the next ones: most rows that match
// do so soon, and are not paired with what is left.
constexpr uint32_t kFirstTurnPairs = 4;
constexpr uint32_t kTurnGrowth = 4;

class HashJoinProbe final : public JoinPassProbe {
 public:
  HashJoinProbe(const JoinBuild& build, const JoinTable& table)
      : build_(build),
        table_(table),
        spec_(build.spec()),
        layout_(build.layout()),
        columns_read_(spec_.ProbeColumnsRead()),
        gives_pairs_(spec_.has_probe_columns() && spec_.has_build_columns()),
        gives_unmatched_(spec_.kind == PENUMBRA_JOIN_LEFT || spec_.kind == PENUMBRA_JOIN_SINGLE ||
                         spec_.kind == PENUMBRA_JOIN_FULL),
        needs_one_match_(!spec_.has_build_columns()),
        notes_matches_(gives_unmatched_ || needs_one_match_ || spec_.gives_build_rows()),
        has_words_(layout_.keys.has_one_word() &&
                   std::none_of(spec_.keys.begin(), spec_.keys.end(),
                                [](const JoinKeySpec& key) { return key.nulls_are_equal; })) {}

  void Begin(const Batch& batch, EvalContext& context) override;
  bool is_pending() const override { return phase_ != Phase::kIdle; }
  bool Next(EvalContext& context, Batch* batch) override;
  void SetPrefilter(const PlacedPrefilter* prefilter) override { prefilter_ = prefilter; }
  void SetPass(uint64_t* matched, bool is_last) override {
    pass_matched_ = matched;
    is_last_pass_ = is_last;
  }

 private:
  enum class Phase : uint8_t { kIdle, kPairs, kRows };
  // A row of the batch with the rows of the table that it may match.
  struct Candidate {
    JoinTable::Run run;
    uint32_t row;
    union {
      const char* image;  // of its keys
      uint64_t word;      // keys of one word
    };
  };

  void MeasureStrings();
  void LookUp(EvalContext& context);
  void FindByImage(const Vector* keys, Arena& arena);
  void FindByWord(const Vector* keys, Arena& arena);
  void FindByInteger(const Vector& key, Arena& arena);
  void FindByRange(EvalContext& context);
  void FindAll();
  struct Bounds {
    const int64_t* least = nullptr;
    const int64_t* greatest = nullptr;
    const uint64_t* matchable = nullptr;
  };
  bool EvaluateBounds(EvalContext& context, Bounds* bounds);
  void NarrowLongRuns(EvalContext& context);
  void ChooseMatches(EvalContext& context);
  template <typename IsEqual>
  void ChooseMatches(const int64_t* bounds, IsEqual is_equal);
  template <typename Visit>
  void WithKeyComparison(const Visit& visit);
  void PairUniqueRows(const Vector& key, Arena& arena);
  RowSelection MatchableRows(Arena& arena) const;
  void CollectPairs();
  template <typename IsEqual>
  void CollectPairs(IsEqual is_equal);
  void FilterPairs(EvalContext& context);
  void RunPrefilter(EvalContext& context);
  Batch BatchOfPairs(const std::vector<int>& columns_read, EvalContext& context) const;
  void KeepPairs(const uint16_t* kept, uint32_t count);
  void NoteMatches();
  bool StartTurn();
  bool is_decided_by_look_up() const { return needs_one_match_ && conditions_->empty(); }
  void EndPairs();
  bool IsMatched(uint32_t row) const { return IsBitSet(matched_, row); }
  bool GiveRows(EvalContext& context, Batch* batch);
  bool GivePairs(EvalContext& context, Batch* batch);
  void AddUnmatched();
  Vector Mark(EvalContext& context) const;
  Batch SelectRows(const uint64_t* bits, EvalContext& context) const;
  void ComparePairs();
  Vector ProbeColumn(int column, EvalContext& context) const;
  Vector BuildColumn(size_t place, EvalContext& context) const;
  Vector OutputBuildColumn(size_t place, EvalContext& context) const;
  Vector RowNumbers(EvalContext& context) const;

  const JoinBuild& build_;
  const JoinTable& table_;
  const JoinSpec& spec_;
  const JoinLayout& layout_;
  const std::vector<int> columns_read_;
  const bool gives_pairs_;
  const bool gives_unmatched_;
  const bool needs_one_match_;  // of a probe row; more say nothing new
  const bool notes_matches_;
  const bool has_words_;

  const std::vector<const Expr*>* conditions_ = nullptr;  // that the look-up has not tested
  const int64_t* other_bounds_ = nullptr;                 // of a range, by row; null: nothing is compared
  const PlacedPrefilter* prefilter_ = nullptr;
  uint64_t* pass_matched_ = nullptr;
  bool is_last_pass_ = true;
  Phase phase_ = Phase::kIdle;
  Batch batch_;
  const uint64_t* matchable_ = nullptr;
  Candidate* candidates_ = nullptr;
  uint32_t candidate_count_ = 0;
  uint32_t next_ = 0;        // candidate
  uint32_t turn_pairs_ = 0;  // that a candidate gives at once
  uint64_t matched_[kValidityWords];
  uint32_t next_unmatched_ = 0;  // row to look at

  uint32_t pair_count_ = 0;
  uint64_t probe_strings_ = 0;      // bytes that those of one row of the batch take at most
  bool has_large_strings_ = false;  // as many pairs as there is room for may have more than kBatchStringBytes
  bool pairs_are_batch_ = false;    // one of each row, in order
  uint16_t pair_rows_[kVectorRows];
  const char* pair_columns_[kVectorRows];  // of the build row
  bool are_pairs_complete_ = false;        // Begin() found them all
};

void HashJoinProbe::Begin(const Batch& batch, EvalContext& context) {
  batch_ = batch;
  next_ = 0;
  turn_pairs_ = needs_one_match_ ? kFirstTurnPairs : kVectorRows;
  candidate_count_ = 0;
  next_unmatched_ = 0;
  are_pairs_complete_ = false;
  matchable_ = nullptr;
  other_bounds_ = nullptr;
  const bool is_tested = table_.form() == JoinForm::kRange || spec_.choice != PENUMBRA_JOIN_ALL;
  conditions_ = is_tested ? &layout_.range.rest : &spec_.conditions;
  if (pass_matched_ == nullptr) {
    std::fill(std::begin(matched_), std::end(matched_), 0);
  } else {
    std::copy_n(pass_matched_, BitWords(batch.rows), matched_);
  }
  phase_ = Phase::kPairs;
  if (!is_decided_by_look_up()) MeasureStrings();
  // Without a row to match, keys are not evaluated: nobody asks for them.
  if (!build_.is_empty()) LookUp(context);
}

void HashJoinProbe::MeasureStrings() {
  probe_strings_ = 0;
  for (int column : columns_read_) probe_strings_ += LongestString(batch_.columns[column], batch_.rows);
  has_large_strings_ = probe_strings_ + build_.longest_strings() > kBatchStringBytes / kVectorRows;
}

// Evaluates the keys once per batch. The table's form decides whether this finds matched rows, candidates or pairs;
// Next() returns rows of them in parts.
void HashJoinProbe::LookUp(EvalContext& context) {
  Arena& arena = context.arena;
  if (context.memo != nullptr) context.memo->Begin(batch_);
  auto* keys = arena.AllocateArray<Vector>(spec_.keys.size());
  for (size_t k = 0; k < spec_.keys.size(); ++k) keys[k] = Evaluate(*spec_.keys[k].probe, batch_, context);
  matchable_ = FindMatchableRows(spec_, keys, batch_.rows, arena);
  switch (table_.form()) {
    case JoinForm::kBitmap:
      kernels::SetBits(matched_, batch_.rows);
      ApplyIntegers(build_.range(), &build_.bitmap(), keys[0], batch_.rows, arena, matched_);
      break;
    case JoinForm::kArray:
      if (table_.is_unique() && gives_pairs_ && !has_large_strings_) {
        PairUniqueRows(keys[0], arena);
      } else {
        FindByInteger(keys[0], arena);
      }
      break;
    case JoinForm::kHash:
      candidates_ = arena.AllocateArray<Candidate>(batch_.rows);
      has_words_ ? FindByWord(keys, arena) : FindByImage(keys, arena);
      if (spec_.choice != PENUMBRA_JOIN_ALL) ChooseMatches(context);
      if (table_.has_long_runs() && build_.has_range() && spec_.choice == PENUMBRA_JOIN_ALL) NarrowLongRuns(context);
      break;
    case JoinForm::kRange: FindByRange(context);
  }
}

RowSelection HashJoinProbe::MatchableRows(Arena& arena) const {
  if (matchable_ == nullptr) return {nullptr, batch_.rows};
  auto* selected = arena.AllocateArray<uint16_t>(BitWords(batch_.rows) * 64);
  return {selected, static_cast<uint32_t>(kernels::BitsToSelection(matchable_, batch_.rows, selected))};
}

void HashJoinProbe::FindByImage(const Vector* keys, Arena& arena) {
  const RowSelection selection = MatchableRows(arena);
  const uint32_t image_bytes = layout_.keys.image_bytes();
  char* images = arena.AllocateArray<char>(size_t{selection.count} * image_bytes);
  layout_.keys.BuildImages(keys, selection, arena, images);
  for (uint32_t i = 0; i < selection.count; ++i) table_.Prefetch(KeyLayout::Hash(images + size_t{i} * image_bytes));
  for (uint32_t i = 0; i < selection.count; ++i) {
    Candidate& added = candidates_[candidate_count_];
    added.image = images + size_t{i} * image_bytes;
    if (!table_.Find(KeyLayout::Hash(added.image), &added.run)) continue;
    added.row = selection.rows == nullptr ? i : selection.rows[i];
    __builtin_prefetch(added.run.begin);
    ++candidate_count_;
  }
}

void HashJoinProbe::FindByWord(const Vector* keys, Arena& arena) {
  auto* words = arena.AllocateArray<uint64_t>(batch_.rows);
  auto* hashes = arena.AllocateArray<uint64_t>(batch_.rows);
  layout_.keys.BuildWords(keys, batch_.rows, arena, words);
  for (uint32_t i = 0; i < batch_.rows; ++i) {
    hashes[i] = KeyLayout::HashWord(words[i]);
    table_.Prefetch(hashes[i]);
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < batch_.rows; ++i) {
    Candidate& added = candidates_[count];
    if (!table_.Find(hashes[i], &added.run) || !IsRowValid(matchable_, i)) continue;
    added.row = i;
    added.word = words[i];
    __builtin_prefetch(added.run.begin);
    ++count;
  }
  candidate_count_ = count;
}

// Calls visit(row, key) for each row that can match.
template <typename Visit>
void ForEachInteger(const Vector& key, const uint64_t* matchable, uint32_t rows, Arena& arena, const Visit& visit) {
  const Vector flat = Flatten(key, rows, arena);
  WithIntegers(flat, [&](const auto* values) {
    ForEachValid(matchable, rows, [&](uint32_t i) { visit(i, static_cast<int64_t>(values[i])); });
  });
}

void HashJoinProbe::FindByInteger(const Vector& key, Arena& arena) {
  candidates_ = arena.AllocateArray<Candidate>(batch_.rows + 1);
  Candidate* added = candidates_;
  ForEachInteger(key, matchable_, batch_.rows, arena, [&](uint32_t row, int64_t value) {
    added->row = row;
    added += table_.FindInteger(value, &added->run);
  });
  candidate_count_ = static_cast<uint32_t>(added - candidates_);
}

// The range's bounds by row of the batch, null where there is none; other_bounds_ are what the table's others have to
// reach. False: some cannot be computed. A row with a null among them matches nothing.
bool HashJoinProbe::EvaluateBounds(EvalContext& context, Bounds* bounds) {
  const JoinRange& range = layout_.range;
  bounds->matchable = matchable_;
  const auto evaluate = [&](const JoinRange::Bound& bound, const int64_t** values) {
    if (bound.probe == nullptr) return true;
    const std::optional<Vector> ordered = OrderedValues(*bound.probe, batch_, context);
    if (!ordered) return false;
    *values = ordered->values<int64_t>();
    bounds->matchable = AndValidity(bounds->matchable, ordered->validity, batch_.rows, context.arena);
    return true;
  };
  const int64_t* other = nullptr;
  if (!evaluate(range.least, &bounds->least) || !evaluate(range.greatest, &bounds->greatest) ||
      !evaluate(range.other_bound, &other)) {
    return false;
  }
  if (other == nullptr) return true;
  auto* others = context.arena.AllocateArray<int64_t>(batch_.rows);
  auto* can_match = context.arena.AllocateArray<uint64_t>(BitWords(batch_.rows));
  PackTests(batch_.rows, can_match, [&](uint32_t i) {
    const int64_t bound = range.is_other_reversed ? ~other[i] : other[i];
    const bool is_reachable = !range.other_bound.is_strict || bound != INT64_MAX;
    others[i] = bound + (range.other_bound.is_strict && is_reachable);
    return is_reachable;
  });
  bounds->matchable = AndValidity(bounds->matchable, can_match, batch_.rows, context.arena);
  other_bounds_ = others;
  return true;
}

void HashJoinProbe::FindByRange(EvalContext& context) {
  const JoinRange& range = layout_.range;
  const RangeIndex& index = table_.range_index();
  candidates_ = context.arena.AllocateArray<Candidate>(batch_.rows);
  Bounds bounds;
  if (!EvaluateBounds(context, &bounds)) {
    if (spec_.choice != PENUMBRA_JOIN_ALL) throw EngineError(PENUMBRA_UNSUPPORTED);
    return FindAll();
  }
  matchable_ = bounds.matchable;
  const int64_t *least = bounds.least, *greatest = bounds.greatest;
  Candidate* added = candidates_;
  ForEachValid(matchable_, batch_.rows, [&](uint32_t i) {
    const uint64_t begin = least == nullptr ? 0 : index.RowsBelow(least[i], range.least.is_strict);
    const uint64_t end = greatest == nullptr ? index.rows() : index.RowsBelow(greatest[i], !range.greatest.is_strict);
    if (begin >= end) return;
    added->row = i;
    added->run = {table_.row(spec_.choice == PENUMBRA_JOIN_GREATEST ? end - 1 : begin),
                  table_.row(spec_.choice == PENUMBRA_JOIN_LEAST ? begin + 1 : end)};
    ++added;
  });
  candidate_count_ = static_cast<uint32_t>(added - candidates_);
}

// The bounds of some row cannot be computed.
void HashJoinProbe::FindAll() {
  conditions_ = &spec_.conditions;
  other_bounds_ = nullptr;
  matchable_ = nullptr;
  MeasureStrings();
  for (uint32_t i = 0; i < batch_.rows; ++i) {
    candidates_[i].row = i;
    candidates_[i].run = {table_.row(0), table_.row(table_.row_count())};
  }
  candidate_count_ = batch_.rows;
}

// visit(is_equal) with what compares a candidate's keys and a row's.
template <typename Visit>
void HashJoinProbe::WithKeyComparison(const Visit& visit) {
  if (has_words_) {
    visit([](const Candidate& candidate, const char* row) { return KeyLayout::Word(row) == candidate.word; });
  } else {
    visit([this](const Candidate& candidate, const char* row) {
      return KeyLayout::Hash(row) == KeyLayout::Hash(candidate.image) && layout_.keys.Equal(row, candidate.image);
    });
  }
}

// Of the long runs what the range leaves. All conditions are tested on it, since short ones are left as they are.
void HashJoinProbe::NarrowLongRuns(EvalContext& context) {
  const uint64_t row_bytes = table_.row_bytes();
  const auto is_long = [&](const Candidate& candidate) {
    return table_.IsLong(static_cast<uint64_t>(candidate.run.end - candidate.run.begin) / row_bytes);
  };
  if (std::none_of(candidates_, candidates_ + candidate_count_, is_long)) return;
  const JoinRange& range = layout_.range;
  Bounds bounds;
  if (!EvaluateBounds(context, &bounds)) {
    other_bounds_ = nullptr;
    return;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < candidate_count_; ++i) {
    Candidate candidate = candidates_[i];
    if (!IsRowValid(bounds.matchable, candidate.row)) continue;
    if (is_long(candidate)) {
      const uint64_t hash = has_words_ ? KeyLayout::HashWord(candidate.word) : KeyLayout::Hash(candidate.image);
      candidate.run =
          table_.Narrow(candidate.run, hash, range, bounds.least == nullptr ? nullptr : &bounds.least[candidate.row],
                        bounds.greatest == nullptr ? nullptr : &bounds.greatest[candidate.row]);
      if (candidate.run.begin >= candidate.run.end) continue;
    }
    candidates_[count++] = candidate;
  }
  candidate_count_ = count;
}

// Of each candidate's run the row that the join chooses is left. Rows with one hash are neighbours in the order of
// their values; hardly any of them has other keys.
void HashJoinProbe::ChooseMatches(EvalContext& context) {
  const JoinRange& range = layout_.range;
  const Expr& bound = range.least.probe != nullptr ? *range.least.probe : *range.greatest.probe;
  const std::optional<Vector> values = OrderedValues(bound, batch_, context);
  if (!values) throw EngineError(PENUMBRA_UNSUPPORTED);
  uint32_t count = 0;
  for (uint32_t i = 0; i < candidate_count_; ++i) {
    if (IsRowValid(values->validity, candidates_[i].row)) candidates_[count++] = candidates_[i];
  }
  candidate_count_ = count;
  WithKeyComparison([&](auto is_equal) { ChooseMatches(values->values<int64_t>(), is_equal); });
}

template <typename IsEqual>
void HashJoinProbe::ChooseMatches(const int64_t* bounds, IsEqual is_equal) {
  const JoinRange& range = layout_.range;
  const bool takes_greatest = spec_.choice == PENUMBRA_JOIN_GREATEST;
  const uint32_t row_bytes = table_.row_bytes();
  uint32_t count = 0;
  for (uint32_t i = 0; i < candidate_count_; ++i) {
    Candidate candidate = candidates_[i];
    const uint64_t hash = has_words_ ? KeyLayout::HashWord(candidate.word) : KeyLayout::Hash(candidate.image);
    const int64_t bound = bounds[candidate.row];
    auto [begin, end] = table_.Narrow(candidate.run, hash, range, range.least.probe != nullptr ? &bound : nullptr,
                                      range.least.probe != nullptr ? nullptr : &bound);
    while (begin < end && !is_equal(candidate, takes_greatest ? end - row_bytes : begin)) {
      takes_greatest ? end -= row_bytes : begin += row_bytes;
    }
    if (begin >= end) continue;
    candidate.run = takes_greatest ? JoinTable::Run{end - row_bytes, end} : JoinTable::Run{begin, begin + row_bytes};
    candidates_[count++] = candidate;
  }
  candidate_count_ = count;
}

// Each row has one match or none: no candidates, no notes of matches.
void HashJoinProbe::PairUniqueRows(const Vector& key, Arena& arena) {
  are_pairs_complete_ = true;
  JoinTable::Run run;
  if (gives_unmatched_ && spec_.conditions.empty() && !spec_.gives_build_rows()) {
    for (uint32_t i = 0; i < batch_.rows; ++i) pair_rows_[i] = static_cast<uint16_t>(i);
    std::fill_n(pair_columns_, batch_.rows, build_.null_row());
    ForEachInteger(key, matchable_, batch_.rows, arena, [&](uint32_t row, int64_t value) {
      if (table_.FindInteger(value, &run)) pair_columns_[row] = run.begin + table_.payload_offset();
    });
    pair_count_ = batch_.rows;
    next_unmatched_ = batch_.rows;
    return;
  }
  uint32_t count = 0;
  ForEachInteger(key, matchable_, batch_.rows, arena, [&](uint32_t row, int64_t value) {
    const bool is_found = table_.FindInteger(value, &run);
    pair_rows_[count] = static_cast<uint16_t>(row);
    pair_columns_[count] = run.begin + table_.payload_offset();
    count += is_found;
  });
  pair_count_ = count;
}

// Pairs whose keys are equal, of a bounded number of rows of the table. Goes on where it stopped. is_equal() may move
// its row forward past such as do not match.
template <typename IsEqual>
void HashJoinProbe::CollectPairs(IsEqual is_equal) {
  const uint32_t row_bytes = table_.row_bytes(), payload_offset = table_.payload_offset();
  uint32_t left = kRowsPerCall, pairs = 0, next = next_;
  size_t string_bytes = 0;
  for (; next < candidate_count_; ++next) {
    Candidate& candidate = candidates_[next];
    if (needs_one_match_ && IsMatched(candidate.row)) continue;
    char* row = candidate.run.begin;
    const uint32_t turn_end = std::min(kVectorRows, pairs + turn_pairs_);
    for (; row != candidate.run.end && left > 0 && pairs < turn_end; row += row_bytes) {
      --left;
      if (!is_equal(candidate, row)) continue;
      if (is_decided_by_look_up()) {
        matched_[candidate.row / 64] |= uint64_t{1} << (candidate.row % 64);
        row = candidate.run.end;
        break;
      }
      pair_rows_[pairs] = static_cast<uint16_t>(candidate.row);
      pair_columns_[pairs++] = row + payload_offset;
      if (!has_large_strings_) continue;
      string_bytes += probe_strings_ + layout_.payload.StringBytes(row + payload_offset);
      if (string_bytes >= kBatchStringBytes) left = 0;
    }
    candidate.run.begin = row;
    if (row != candidate.run.end && (left == 0 || pairs == kVectorRows)) break;
  }
  next_ = next;
  pair_count_ = pairs;
}

void HashJoinProbe::CollectPairs() {
  const auto collect = [this](auto is_equal) {
    if (other_bounds_ == nullptr) return CollectPairs(is_equal);
    CollectPairs([this, is_equal](const Candidate& candidate, char*& row) {
      const auto number = [this](const char* of) { return table_.NumberOf(of + table_.payload_offset()); };
      const uint32_t end = number(candidate.run.end);
      const uint64_t next = table_.range_index().Next(number(row), end, other_bounds_[candidate.row]);
      row = table_.row(next == end ? end - 1 : next);
      return next != end && is_equal(candidate, row);
    });
  };
  if (table_.form() == JoinForm::kArray || table_.form() == JoinForm::kRange) {
    collect([](const Candidate&, const char*) { return true; });
  } else {
    WithKeyComparison(collect);
  }
}

void HashJoinProbe::KeepPairs(const uint16_t* kept, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    pair_rows_[i] = pair_rows_[kept[i]];
    pair_columns_[i] = pair_columns_[kept[i]];
  }
  pair_count_ = count;
}

// With these columns only.
Batch HashJoinProbe::BatchOfPairs(const std::vector<int>& columns_read, EvalContext& context) const {
  const size_t probe_width = spec_.probe_types.size();
  const size_t width = probe_width + spec_.build_types.size();
  auto* columns = context.arena.AllocateArray<Vector>(width);
  for (size_t c = 0; c < width; ++c) {
    columns[c] = NullConstant(c < probe_width ? spec_.probe_types[c] : spec_.build_types[c - probe_width]);
  }
  for (int column : columns_read) {
    const auto c = static_cast<size_t>(column);
    columns[c] = c < probe_width ? ProbeColumn(column, context) : BuildColumn(c - probe_width, context);
  }
  return {pair_count_, static_cast<uint32_t>(width), columns};
}

void HashJoinProbe::RunPrefilter(EvalContext& context) {
  ComparePairs();
  const Batch pairs = BatchOfPairs(prefilter_->columns(), context);
  auto* selected = context.arena.AllocateArray<uint16_t>(BitWords(pair_count_) * 64);
  const uint32_t n = prefilter_->Select(pairs, context, selected);
  if (n < pair_count_) KeepPairs(selected, n);
}

void HashJoinProbe::FilterPairs(EvalContext& context) {
  // A condition that can fail must not see a pair that one before it dropped, so each has a batch of its own, of just
  // the columns that it reads.
  for (const Expr* condition : *conditions_) {
    if (pair_count_ == 0) return;
    ComparePairs();
    std::vector<int> read;
    CollectColumns(*condition, &read);
    const Batch pairs = BatchOfPairs(read, context);
    if (context.memo != nullptr) context.memo->Begin(pairs);
    auto* selected = context.arena.AllocateArray<uint16_t>(BitWords(pair_count_) * 64);
    const uint32_t n = EvaluateFilter(*condition, pairs, context, selected);
    if (n < pair_count_) KeepPairs(selected, n);
  }
}

// Of pairs that passed everything.
void HashJoinProbe::NoteMatches() {
  for (uint32_t i = 0; i < pair_count_; ++i) {
    uint64_t& word = matched_[pair_rows_[i] / 64];
    const uint64_t bit = uint64_t{1} << (pair_rows_[i] % 64);
    if (spec_.kind == PENUMBRA_JOIN_SINGLE && (word & bit) != 0) throw EngineError(PENUMBRA_CARDINALITY_VIOLATION);
    word |= bit;
  }
  if (!spec_.gives_build_rows()) return;
  for (uint32_t i = 0; i < pair_count_; ++i) {
    layout_.MatchedFlag(const_cast<char*>(pair_columns_[i])).store(1, std::memory_order_relaxed);
  }
}

// Of the candidates that have rows left and no match yet; false: there is none.
bool HashJoinProbe::StartTurn() {
  if (!needs_one_match_ || is_decided_by_look_up()) return false;
  uint32_t count = 0;
  for (uint32_t i = 0; i < candidate_count_; ++i) {
    const Candidate& candidate = candidates_[i];
    if (candidate.run.begin != candidate.run.end && !IsMatched(candidate.row)) candidates_[count++] = candidate;
  }
  candidate_count_ = count;
  next_ = 0;
  turn_pairs_ = std::min(turn_pairs_ * kTurnGrowth, kVectorRows);
  return count > 0;
}

void HashJoinProbe::EndPairs() {
  if (pass_matched_ != nullptr) std::copy_n(matched_, BitWords(batch_.rows), pass_matched_);
  phase_ = is_last_pass_ && (gives_unmatched_ || needs_one_match_) ? Phase::kRows : Phase::kIdle;
}

bool HashJoinProbe::Next(EvalContext& context, Batch* batch) {
  if (phase_ == Phase::kRows) pair_count_ = 0;
  if (phase_ == Phase::kPairs) {
    if (!are_pairs_complete_) CollectPairs();
    FilterPairs(context);
    if (notes_matches_ && next_unmatched_ == 0) NoteMatches();
    if (next_ == candidate_count_ && !StartTurn()) EndPairs();
  }
  if (needs_one_match_) return phase_ == Phase::kRows && GiveRows(context, batch);
  if (!gives_pairs_) return false;
  if (phase_ == Phase::kRows) AddUnmatched();
  return GivePairs(context, batch);
}

// The batch's rows by whether they match: of SEMI, ANTI and MARK.
bool HashJoinProbe::GiveRows(EvalContext& context, Batch* batch) {
  phase_ = Phase::kIdle;
  if (spec_.kind == PENUMBRA_JOIN_MARK) {
    auto* columns = context.arena.AllocateArray<Vector>(batch_.column_count + 1);
    std::copy_n(batch_.columns, batch_.column_count, columns);
    columns[batch_.column_count] = Mark(context);
    *batch = {batch_.rows, batch_.column_count + 1, columns};
    return true;
  }
  uint64_t passing[kValidityWords];
  std::copy(std::begin(matched_), std::end(matched_), passing);
  if (spec_.kind == PENUMBRA_JOIN_ANTI) {
    kernels::NotBits(passing, batch_.rows);
    // x NOT IN (...) is never true for a null among either.
    if (spec_.is_null_aware && !build_.is_empty()) {
      if (build_.has_null_key()) return false;
      if (matchable_ != nullptr) kernels::AndBits(passing, matchable_, batch_.rows);
    }
  }
  *batch = SelectRows(passing, context);
  return batch->rows > 0;
}

Batch HashJoinProbe::SelectRows(const uint64_t* bits, EvalContext& context) const {
  const auto count = static_cast<uint32_t>(kernels::CountBits(bits, batch_.rows));
  if (count == batch_.rows || count == 0) return {count, batch_.column_count, batch_.columns};
  auto* selected = context.arena.AllocateArray<uint16_t>(BitWords(batch_.rows) * 64);
  kernels::BitsToSelection(bits, batch_.rows, selected);
  auto* columns = context.arena.AllocateArray<Vector>(batch_.column_count);
  for (uint32_t c = 0; c < batch_.column_count; ++c) {
    columns[c] = spec_.needed[c] ? Gather(batch_.columns[c], selected, count, context.arena)
                                 : NullConstant(batch_.columns[c].type);
  }
  return {count, batch_.column_count, columns};
}

// Of x IN (...): null where a null among either could be the match.
Vector HashJoinProbe::Mark(EvalContext& context) const {
  Truth truth;
  std::copy(std::begin(matched_), std::end(matched_), truth.is_true);
  truth.has_nulls = false;
  if (spec_.is_null_aware && !build_.is_empty() && (build_.has_null_key() || matchable_ != nullptr)) {
    truth.has_nulls = true;
    for (uint32_t w = 0; w < BitWords(batch_.rows); ++w) {
      truth.is_null[w] = build_.has_null_key() ? ~truth.is_true[w] : ~matchable_[w];
    }
  }
  return VectorFromTruth(truth, batch_.rows, context.arena);
}

// Rows without a match, paired with nulls, as many as there is room for.
void HashJoinProbe::AddUnmatched() {
  for (; next_unmatched_ < batch_.rows && pair_count_ < kVectorRows; ++next_unmatched_) {
    if (IsMatched(next_unmatched_)) continue;
    pair_rows_[pair_count_] = static_cast<uint16_t>(next_unmatched_);
    pair_columns_[pair_count_] = build_.null_row();
    ++pair_count_;
  }
  if (next_unmatched_ == batch_.rows) phase_ = Phase::kIdle;
}

bool HashJoinProbe::GivePairs(EvalContext& context, Batch* batch) {
  if (prefilter_ != nullptr && pair_count_ > 0) RunPrefilter(context);
  if (pair_count_ == 0) return false;
  ComparePairs();
  const size_t probe_width = spec_.probe_types.size();
  const size_t width = probe_width + spec_.build_types.size();
  auto* columns = context.arena.AllocateArray<Vector>(width);
  for (size_t c = 0; c < probe_width; ++c) {
    columns[c] = spec_.needed[c] ? ProbeColumn(static_cast<int>(c), context) : NullConstant(spec_.probe_types[c]);
  }
  for (size_t c = probe_width; c < width; ++c) {
    columns[c] = spec_.needed[c] ? OutputBuildColumn(c - probe_width, context)
                                 : NullConstant(spec_.build_types[c - probe_width]);
  }
  *batch = {pair_count_, static_cast<uint32_t>(width), columns};
  return true;
}

void HashJoinProbe::ComparePairs() {
  const uint16_t *begin = pair_rows_, *end = begin + pair_count_;
  pairs_are_batch_ = pair_count_ == batch_.rows && std::adjacent_find(begin, end, std::greater_equal<>()) == end;
}

Vector HashJoinProbe::ProbeColumn(int column, EvalContext& context) const {
  const Vector& v = batch_.columns[column];
  return pairs_are_batch_ ? v : Gather(v, pair_rows_, pair_count_, context.arena);
}

Vector HashJoinProbe::BuildColumn(size_t place, EvalContext& context) const {
  return build_.ReadKept(layout_.PlaceOf(static_cast<int>(place)), pair_columns_, pair_count_, gives_unmatched_,
                         context.arena);
}

Vector HashJoinProbe::OutputBuildColumn(size_t place, EvalContext& context) const {
  switch (build_.given(place)) {
    case JoinBuild::Given::kValues: return BuildColumn(place, context);
    case JoinBuild::Given::kRowNumbers: return RowNumbers(context);
    case JoinBuild::Given::kNulls: break;
  }
  return NullConstant(spec_.build_types[place]);
}

Vector HashJoinProbe::RowNumbers(EvalContext& context) const {
  auto* numbers = context.arena.AllocateArray<int32_t>(pair_count_);
  for (uint32_t i = 0; i < pair_count_; ++i) numbers[i] = static_cast<int32_t>(table_.NumberOf(pair_columns_[i]));
  if (!gives_unmatched_) return FlatVector(PENUMBRA_INT4, numbers, nullptr);
  auto* validity = context.arena.AllocateArray<uint64_t>(BitWords(pair_count_));
  PackTests(pair_count_, validity, [&](uint32_t i) { return pair_columns_[i] != build_.null_row(); });
  for (uint32_t i = 0; i < pair_count_; ++i) numbers[i] = IsBitSet(validity, i) ? numbers[i] : 0;
  return FlatVector(PENUMBRA_INT4, numbers, validity);
}

}  // namespace

std::unique_ptr<JoinPassProbe> CreateJoinProbe(const JoinBuild& build, const JoinTable& table) {
  return std::make_unique<HashJoinProbe>(build, table);
}

}  // namespace penumbra
