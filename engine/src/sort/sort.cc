// The full sort: a sample sort in memory, and a merge of runs past the budget.
//
// Threads collect rows and entries (prefix of the key, pointer to the row). A sample of the entries
// gives splitters; the first round of tasks sorts each chunk of entries into buckets, the second
// sorts the buckets, which are the partitions of the result. Each entry is moved twice and sorted
// once, in pieces that fit the cache. Entries have memory of their own: what is sorted are the pointers to rows, and
// the entries go.
//
// Past the budget a thread sorts what it holds in the same way, writes it as a run (sort_runs.h) and
// starts over. If one has done so, all that threads still hold at the end becomes runs.
//
// Bits that are the same in all prefixes are left out (packed_prefix.h). Entries become pairs of a word and a pointer,
// which a vectorised sort takes several times as fast as a comparing one. The word has all of most keys. Where it has
// not, rows of equal words are sorted by their values; a sample tells whether there are few.
#include "sort/sort.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <cassert>
#include <mutex>

#include "sort/packed_prefix.h"
#include "sort/sort_runs.h"
#include "sort/top_n.h"
#include "vector/block_cache.h"

namespace penumbra {
namespace {

// Limit and offset together up to which top-N keeps the candidates; beyond it all rows are sorted.
constexpr int64_t kTopNRowsMax = 100000;
constexpr uint64_t kBucketEntries = uint64_t{64} << 10;  // wanted
constexpr uint32_t kBucketsMax = 1024;
constexpr uint64_t kSamplesPerBucket = 32;
constexpr uint64_t kSamplesMin = 128;
// Fewer are not worth a sample that tells whether rows of equal words are few: one in so many at most.
constexpr uint64_t kTiesEntriesMin = 4096;
constexpr uint64_t kTiesShare = 32;
constexpr size_t kFirstChunkBytes = size_t{32} << 10;
constexpr size_t kChunkBytes = kHugePageBytes;
constexpr size_t kFirstBlockBytes = size_t{64} << 10;
constexpr size_t kMaxBlockBytes = size_t{2} << 20;

struct Chunk {
  Chunk(MemoryBudget* budget, size_t bytes)
      : memory(std::make_unique<Arena>(budget, bytes)),
        entries(memory->AllocateArray<SortEntry>(bytes / sizeof(SortEntry))),
        capacity(bytes / sizeof(SortEntry)) {}
  uint64_t BucketBegin(int bucket) const { return bucket == 0 ? 0 : bucket_ends[static_cast<size_t>(bucket) - 1]; }
  uint64_t BucketEntries(int bucket) const { return bucket_ends[static_cast<size_t>(bucket)] - BucketBegin(bucket); }

  std::unique_ptr<Arena> memory;
  SortEntry* entries;
  // Prefix and row, in place of the entries, once they are distributed, when prefixes are packed. Both are
  // compared, since Highway's sort of keys with values (K64V64, 1.0.3) loses values of equal keys
  // where vectors have 128 bits.
  hwy::uint128_t* pairs = nullptr;
  uint64_t count = 0;
  uint64_t capacity;
  std::vector<uint64_t> bucket_ends;
};

// What one thread has collected.
struct Collected {
  explicit Collected(MemoryBudget* budget) : arena(std::make_unique<Arena>(budget, kFirstBlockBytes, kMaxBlockBytes)) {}

  void Add(const SortEntry& entry, MemoryBudget* budget) {
    if (chunks.empty() || chunks.back().count == chunks.back().capacity) {
      const size_t bytes = chunks.empty() ? kFirstChunkBytes : std::min(2 * chunks.back().memory->bytes(), kChunkBytes);
      chunks.emplace_back(budget, bytes);
      entry_bytes += bytes;
    }
    Chunk& chunk = chunks.back();
    chunk.entries[chunk.count++] = entry;
  }
  size_t bytes() const { return arena->bytes() + entry_bytes; }

  std::unique_ptr<Arena> arena;  // rows and strings
  std::vector<Chunk> chunks;
  size_t entry_bytes = 0;
  uint128 varying_bits = 0;  // of the prefixes, against the first
  bool is_exact = true;      // prefixes hold all of the keys
};

// ChooseBuckets() comes after all Add(), then Distribute() of each chunk, then SortBucket() of each bucket; calls for
// several chunks, or buckets, may be concurrent.
class SampleSort {
 public:
  SampleSort(const SortInput& input, ExecutionEnvironment& environment) : input_(input), environment_(environment) {}

  // Takes the chunks; the rows stay.
  void Add(Collected* collected);
  // needs_entries: EntryOf() will be called.
  void ChooseBuckets(bool needs_entries);
  int chunk_count() const { return static_cast<int>(chunks_.size()); }
  int bucket_count() const { return static_cast<int>(splitters_.size()) + 1; }
  void Distribute(int chunk);
  // Calls visit(entries, count) with the bucket's entries, of either form, in order. Not of an empty one.
  template <typename Visit>
  void SortBucket(int bucket, const Visit& visit) const;
  uint64_t BucketEntries(int bucket) const;
  void FreeEntries() { chunks_.clear(); }
  // Of either form of an entry.
  static char* RowOf(const SortEntry& entry) { return entry.row; }
  static char* RowOf(const hwy::uint128_t& pair) { return reinterpret_cast<char*>(pair.lo); }
  const SortEntry& EntryOf(const SortEntry& entry) const { return entry; }
  SortEntry EntryOf(const hwy::uint128_t& pair) const;

 private:
  std::vector<SortEntry> TakeSample(uint64_t count, uint64_t sample_count) const;
  bool HasManyTies(const std::vector<SortEntry>& sample) const;
  template <typename Entry, typename BucketOf>
  void Distribute(const std::vector<Entry>& from, BucketOf&& bucket_of, Entry* to, Chunk* chunk) const;
  void SortPairs(hwy::uint128_t* pairs, uint64_t count) const;
  template <typename Entry, typename EntriesOf, typename SortAll, typename Visit>
  void SortBucket(int index, EntriesOf&& entries_of, SortAll&& sort, const Visit& visit) const;

  const SortInput& input_;
  ExecutionEnvironment& environment_;
  std::vector<Chunk> chunks_;
  std::vector<SortEntry> splitters_;
  std::vector<uint64_t> packed_splitters_;
  SortPrefix first_;  // any
  uint128 varying_bits_ = 0;
  bool is_exact_ = true;  // prefixes hold all of the keys
  bool is_packed_ = false;
  PackedPrefix packed_;
};

void SampleSort::Add(Collected* collected) {
  if (collected->chunks.empty()) return;
  varying_bits_ |= collected->varying_bits;
  is_exact_ &= collected->is_exact;
  const SortPrefix& first = collected->chunks[0].entries[0].prefix;
  if (!chunks_.empty()) varying_bits_ |= Bits(first) ^ Bits(first_);
  first_ = first;
  std::move(collected->chunks.begin(), collected->chunks.end(), std::back_inserter(chunks_));
  collected->chunks.clear();
}

uint64_t SampleSort::BucketEntries(int bucket) const {
  uint64_t count = 0;
  for (const Chunk& chunk : chunks_) count += chunk.BucketEntries(bucket);
  return count;
}

void SampleSort::ChooseBuckets(bool needs_entries) {
  uint64_t count = 0;
  for (const Chunk& chunk : chunks_) count += chunk.count;
  const uint64_t bucket_count = std::clamp<uint64_t>(count / kBucketEntries, 1, kBucketsMax);
  packed_ = PackedPrefix(first_, varying_bits_);
  const bool has_ties = !is_exact_ || !packed_.is_whole();
  is_packed_ = !has_ties;
  if (bucket_count == 1 && (!has_ties || count < kTiesEntriesMin)) return;
  const std::vector<SortEntry> sample = TakeSample(count, std::max(bucket_count * kSamplesPerBucket, kSamplesMin));
  if (has_ties) is_packed_ = (packed_.is_whole() || !needs_entries) && !HasManyTies(sample);
  for (uint64_t b = 1; b < bucket_count; ++b) splitters_.push_back(sample[b * sample.size() / bucket_count]);
  for (const SortEntry& splitter : splitters_) packed_splitters_.push_back(packed_.Pack(splitter.prefix));
}

// About so many of the `count` entries, in order.
std::vector<SortEntry> SampleSort::TakeSample(uint64_t count, uint64_t sample_count) const {
  std::vector<SortEntry> sample;
  // Evenly spaced rows would follow the pattern of periodic input: steps of a fixed pseudo-random
  // walk.
  uint64_t state = 0x9e3779b97f4a7c15, wanted = 0, passed = 0;
  size_t chunk = 0;
  while (true) {
    while (chunk < chunks_.size() && wanted - passed >= chunks_[chunk].count) passed += chunks_[chunk++].count;
    if (chunk == chunks_.size()) break;
    sample.push_back(chunks_[chunk].entries[wanted - passed]);
    state = state * 6364136223846793005u + 1442695040888963407u;
    wanted += 1 + (state >> 33) % (2 * count / sample_count);
  }
  std::sort(sample.begin(), sample.end(), SortOrder(input_, environment_));
  return sample;
}

// Rows of the same word that are not equal. Whole buckets of them would be sorted by comparing rows.
bool SampleSort::HasManyTies(const std::vector<SortEntry>& sample) const {
  SortOrder is_less(input_, environment_);
  uint64_t ties = 0;
  for (size_t i = 1; i < sample.size(); ++i) {
    const SortEntry &before = sample[i - 1], &entry = sample[i];
    ties += packed_.Pack(before.prefix) == packed_.Pack(entry.prefix) && is_less(before, entry);
  }
  return ties > sample.size() / kTiesShare;
}

// Copies the chunk's entries so that those of a bucket are together, and notes where they end.
template <typename Entry, typename BucketOf>
void SampleSort::Distribute(const std::vector<Entry>& from, BucketOf&& bucket_of, Entry* to, Chunk* chunk) const {
  chunk->bucket_ends.assign(splitters_.size() + 1, 0);
  std::vector<uint16_t> buckets(from.size());
  for (uint64_t i = 0; i < from.size(); ++i) {
    buckets[i] = static_cast<uint16_t>(bucket_of(from[i]));
    ++chunk->bucket_ends[buckets[i]];
  }
  uint64_t begin = 0;
  for (uint64_t& end : chunk->bucket_ends) begin += std::exchange(end, begin);
  for (uint64_t i = 0; i < from.size(); ++i) to[chunk->bucket_ends[buckets[i]]++] = from[i];
}

void SampleSort::Distribute(int number) {
  Chunk* chunk = &chunks_[static_cast<size_t>(number)];
  if (!is_packed_) {
    SortOrder is_less(input_, environment_);
    const auto bucket_of = [&](const SortEntry& entry) {
      return std::upper_bound(splitters_.begin(), splitters_.end(), entry, is_less) - splitters_.begin();
    };
    Distribute({chunk->entries, chunk->entries + chunk->count}, bucket_of, chunk->entries, chunk);
    return;
  }
  std::vector<hwy::uint128_t> pairs(chunk->count);
  for (uint64_t i = 0; i < chunk->count; ++i) {
    pairs[i].hi = packed_.Pack(chunk->entries[i].prefix);
    pairs[i].lo = reinterpret_cast<uint64_t>(chunk->entries[i].row);
  }
  // Pairs are shorter than entries, which go.
  chunk->memory = std::make_unique<Arena>(&environment_.budget, chunk->count * sizeof(hwy::uint128_t));
  chunk->entries = nullptr;
  chunk->pairs = chunk->memory->AllocateArray<hwy::uint128_t>(chunk->count);
  const std::vector<uint64_t>& splitters = packed_splitters_;
  const auto bucket_of = [&](const hwy::uint128_t& pair) {
    // The number of splitters up to the key, without branches.
    size_t begin = 0, count = splitters.size();
    while (count > 0) {
      const size_t half = (count + 1) / 2;
      begin += splitters[begin + half - 1] <= pair.hi ? half : 0;
      count -= half;
    }
    return begin;
  };
  Distribute(pairs, bucket_of, chunk->pairs, chunk);
}

SortEntry SampleSort::EntryOf(const hwy::uint128_t& pair) const { return {packed_.Unpack(pair.hi), RowOf(pair)}; }

void SampleSort::SortPairs(hwy::uint128_t* pairs, uint64_t count) const {
  hwy::Sorter sorter;
  sorter(pairs, count, hwy::SortAscending());
  if (is_exact_ && packed_.is_whole()) return;
  SortOrder is_less(input_, environment_);
  for (uint64_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && pairs[end].hi == pairs[begin].hi) ++end;
    if (end - begin == 1) continue;
    std::sort(pairs + begin, pairs + end,
              [&](const hwy::uint128_t& a, const hwy::uint128_t& b) { return is_less(RowOf(a), RowOf(b)); });
  }
}

template <typename Entry, typename EntriesOf, typename SortAll, typename Visit>
void SampleSort::SortBucket(int index, EntriesOf&& entries_of, SortAll&& sort, const Visit& visit) const {
  const uint64_t count = BucketEntries(index);
  if (count == 0) return;
  Arena scratch(&environment_.budget);
  Entry* entries = scratch.AllocateArray<Entry>(count);
  Entry* end = entries;
  for (const Chunk& chunk : chunks_) {
    end = std::copy_n(entries_of(chunk) + chunk.BucketBegin(index), chunk.BucketEntries(index), end);
  }
  sort(entries, count);
  visit(entries, count);
}

template <typename Visit>
void SampleSort::SortBucket(int bucket, const Visit& visit) const {
  if (is_packed_) {
    SortBucket<hwy::uint128_t>(
        bucket, [](const Chunk& chunk) { return chunk.pairs; },
        [this](hwy::uint128_t* pairs, uint64_t count) { SortPairs(pairs, count); }, visit);
  } else {
    SortBucket<SortEntry>(
        bucket, [](const Chunk& chunk) { return chunk.entries; },
        [&](SortEntry* entries, uint64_t count) {
          std::sort(entries, entries + count, SortOrder(input_, environment_));
        },
        visit);
  }
}

class FullSort : public RowSort {
 public:
  FullSort(const SortSpec& spec, ExecutionEnvironment& environment)
      : input_(spec, true),
        offset_(static_cast<uint64_t>(spec.offset)),
        end_(spec.limit < 0 ? UINT64_MAX : offset_ + static_cast<uint64_t>(spec.limit)),
        environment_(environment),
        runs_(input_, end_, environment),
        sort_(input_, environment),
        memory_(&environment.budget) {}

  std::unique_ptr<Sink::Local> CreateLocal() override { return std::make_unique<SortLocal>(input_, environment_); }
  void Consume(Sink::Local& local, const Batch& batch, EvalContext& context) override;
  void Combine(Sink::Local& local) override;
  int PrepareFinish() override;
  void RunFinishTask(int task) override;
  int Seal() override;
  bool is_ordered() const override { return true; }
  std::unique_ptr<Sink::Reader> OpenPartition(int partition) override;
  SinkStats stats() const override { return {.spilled_bytes = runs_.spilled_bytes()}; }
  const SortInput& input() const override { return input_; }
  bool is_spilled() const override { return is_spilled_; }
  char* const* rows() const override { return rows_; }
  uint64_t row_count() const override { return buckets_.empty() ? 0 : buckets_.back().begin + buckets_.back().count; }

 private:
  struct SortLocal : Sink::Local {
    SortLocal(const SortInput& input, ExecutionEnvironment& environment)
        : collected(&environment.budget),
          columns(input.layout().column_count()),
          keys(input.key_count()),
          prefixes(kVectorRows),
          rows(kVectorRows) {}
    Collected collected;
    std::shared_ptr<SpillFile> file;  // null: nothing spilled yet
    std::vector<Vector> columns;
    std::vector<Vector> keys;
    std::vector<SortPrefix> prefixes;
    std::vector<char*> rows;
  };
  struct Bucket {
    uint64_t begin;  // of the rows of the whole result
    uint64_t count;
  };

  void WriteRun(Collected collected, std::shared_ptr<SpillFile>* file);
  void PlaceBuckets();
  void SortBucket(int index);
  void ProveOrder(const char* row, const char* next) const;

  const SortInput input_;
  const uint64_t offset_;
  const uint64_t end_;  // of the rows wanted
  ExecutionEnvironment& environment_;
  std::mutex mutex_;  // guards collected_ during Combine
  std::vector<Collected> collected_;
  SortRuns runs_;
  SampleSort sort_;  // of what was not spilled
  std::vector<Bucket> buckets_;
  Arena memory_;
  char** rows_ = nullptr;  // of all buckets
  bool is_spilled_ = false;
  int round_ = 0;
};

// Rows are copied once, into a row each, and sorted by entries of prefix and pointer. varying_bits: in which of the
// prefix's bits any two rows differ; the sort looks at no other.
void FullSort::Consume(Sink::Local& sink_local, const Batch& batch, EvalContext& context) {
  SortLocal& local = static_cast<SortLocal&>(sink_local);
  Collected& into = local.collected;
  if (batch.rows == 0) return;
  if (context.memo != nullptr) context.memo->Begin(batch);
  input_.Evaluate(batch, context, local.columns.data());
  input_.SelectKeys(local.columns.data(), local.keys.data());
  const RowSelection all{nullptr, batch.rows};
  into.is_exact &= input_.keys().Encode(local.keys.data(), all, local.prefixes.data());
  const uint32_t row_bytes = input_.layout().row_bytes();
  char* memory = static_cast<char*>(into.arena->Allocate(size_t{batch.rows} * row_bytes));
  std::memset(memory, 0, size_t{batch.rows} * row_bytes);
  for (uint32_t i = 0; i < batch.rows; ++i) local.rows[i] = memory + size_t{i} * row_bytes;
  input_.layout().Write(local.columns.data(), all, local.rows.data(), *into.arena);
  const SortPrefix first = into.chunks.empty() ? local.prefixes[0] : into.chunks[0].entries[0].prefix;
  for (uint32_t i = 0; i < batch.rows; ++i) {
    into.varying_bits |= Bits(local.prefixes[i]) ^ Bits(first);
    into.Add({local.prefixes[i], local.rows[i]}, &environment_.budget);
  }
  if (!runs_.ShouldSpill(into.bytes())) return;
  WriteRun(std::move(into), &local.file);
  into = Collected(&environment_.budget);
}

// Buckets are sorted one by one in their order, so the run is written without a merge.
void FullSort::WriteRun(Collected collected, std::shared_ptr<SpillFile>* file) {
  SampleSort sort(input_, environment_);
  sort.Add(&collected);
  sort.ChooseBuckets(true);
  for (int c = 0; c < sort.chunk_count(); ++c) sort.Distribute(c);
  SortRuns::Writer run(runs_, file);
  const char* last = nullptr;
  for (int b = 0; b < sort.bucket_count(); ++b) {
    environment_.CheckCancelled();
    sort.SortBucket(b, [&](const auto* entries, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) {
        const SortEntry entry = sort.EntryOf(entries[i]);
        if (last != nullptr && input_.keys().NeedsProof()) ProveOrder(last, entry.row);
        assert(last == nullptr || input_.keys().CompareRows(last, entry.row) <= 0);
        last = entry.row;
        run.Add(entry);
      }
    });
  }
  run.Finish();
}

void FullSort::Combine(Sink::Local& sink_local) {
  SortLocal& local = static_cast<SortLocal&>(sink_local);
  std::lock_guard<std::mutex> lock(mutex_);
  if (!local.collected.chunks.empty()) collected_.push_back(std::move(local.collected));
}

int FullSort::PrepareFinish() {
  const int round = round_++;
  if (round == 0) is_spilled_ = !runs_.is_empty();
  if (is_spilled_) {
    if (round == 0 && !collected_.empty()) return static_cast<int>(collected_.size());
    collected_.clear();
    return runs_.PlanRound();
  }
  switch (round) {
    case 0:
      for (Collected& collected : collected_) sort_.Add(&collected);
      sort_.ChooseBuckets(false);
      return std::max(1, sort_.chunk_count());
    case 1: PlaceBuckets(); return sort_.bucket_count();
    default: sort_.FreeEntries(); return 0;
  }
}

void FullSort::RunFinishTask(int task) {
  environment_.CheckCancelled();
  if (is_spilled_ && collected_.empty()) {
    runs_.RunTask(task);
  } else if (is_spilled_) {
    std::shared_ptr<SpillFile> file;
    WriteRun(std::move(collected_[static_cast<size_t>(task)]), &file);
  } else if (round_ > 1) {
    SortBucket(task);
  } else if (task < sort_.chunk_count()) {
    sort_.Distribute(task);
  }
}

void FullSort::PlaceBuckets() {
  uint64_t begin = 0;
  for (int b = 0; b < sort_.bucket_count(); ++b) {
    buckets_.push_back({begin, sort_.BucketEntries(b)});
    begin += buckets_.back().count;
  }
  rows_ = memory_.AllocateArray<char*>(begin);
}

void FullSort::SortBucket(int index) {
  const Bucket& bucket = buckets_[static_cast<size_t>(index)];
  char** rows = rows_ + bucket.begin;
  sort_.SortBucket(index, [&](const auto* entries, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) rows[i] = SampleSort::RowOf(entries[i]);
  });
  if (!input_.keys().NeedsProof()) return;
  for (uint64_t i = 1; i < bucket.count; ++i) ProveOrder(rows[i - 1], rows[i]);
}

// PostgreSQL does not trust strxfrm to agree with strcoll, and neither do we: neighbours in strcoll's order
// prove the whole. No row has left the sort yet, so that PostgreSQL can still run the query.
void FullSort::ProveOrder(const char* row, const char* next) const {
  if (input_.keys().CompareRows(row, next) <= 0) return;
  throw EngineError(PENUMBRA_UNSUPPORTED, "locale of which strxfrm and strcoll disagree");
}

int FullSort::Seal() {
  if (is_spilled_) return 1;
  for (const Bucket& bucket : buckets_) {
    const bool has_neighbours = bucket.begin > 0 && bucket.count > 0;
    if (has_neighbours && input_.keys().NeedsProof()) ProveOrder(rows_[bucket.begin - 1], rows_[bucket.begin]);
  }
  return static_cast<int>(buckets_.size());
}

std::unique_ptr<Sink::Reader> FullSort::OpenPartition(int partition) {
  if (is_spilled_) return runs_.Open(offset_);
  const Bucket& bucket = buckets_[partition];
  const uint64_t begin = std::clamp(offset_, bucket.begin, bucket.begin + bucket.count);
  const uint64_t end = std::clamp(end_, begin, bucket.begin + bucket.count);
  return std::make_unique<SortedReader>(input_, environment_, rows_ + begin, end - begin);
}

}  // namespace

std::unique_ptr<RowSort> CreateRowSort(const SortSpec& spec, ExecutionEnvironment& environment) {
  return std::make_unique<FullSort>(spec, environment);
}

std::unique_ptr<Sink> CreateSort(const SortSpec& spec, ExecutionEnvironment& environment) {
  const bool is_small = spec.limit >= 0 && spec.limit <= kTopNRowsMax && spec.offset <= kTopNRowsMax - spec.limit;
  if (is_small) return CreateTopN(spec, environment);
  return std::make_unique<FullSort>(spec, environment);
}

}  // namespace penumbra
