// The full sort: a sample sort in memory.
//
// Threads collect rows and entries (prefix of the key, pointer to the row). A sample of the entries
// gives splitters; the first round of tasks sorts each chunk of entries into buckets, the second
// sorts the buckets, which are the partitions of the result. Each entry is moved twice and sorted
// once, in pieces that fit the cache.
//
// Bits that are the same in all prefixes are left out. Where at most 64 remain and prefixes are
// exact, as with most single keys of fixed width, entries become pairs of a word and a pointer,
// which a vectorised sort takes several times as fast as a comparing one.
#include "sort/sort.h"

#include <hwy/contrib/sort/vqsort.h>

#include <algorithm>
#include <mutex>

namespace penumbra {
namespace {

constexpr uint64_t kBucketEntries = uint64_t{64} << 10;  // wanted
constexpr uint32_t kBucketsMax = 1024;
constexpr uint32_t kSamplesPerBucket = 32;
constexpr uint64_t kFirstChunkEntries = 1024;
constexpr uint64_t kChunkEntries = uint64_t{64} << 10;
constexpr size_t kFirstBlockBytes = size_t{64} << 10;
constexpr size_t kMaxBlockBytes = size_t{2} << 20;

struct Chunk {
  SortEntry* entries;
  // Prefix and row, over the entries, once they are distributed, when prefixes are packed. Both are
  // compared, since Highway's sort of keys with values (K64V64, 1.0.3) loses values of equal keys
  // where vectors have 128 bits.
  hwy::uint128_t* pairs;
  uint64_t count;
  uint64_t capacity;
  std::vector<uint64_t> bucket_ends;
};

uint128 Bits(const SortPrefix& prefix) {
  return static_cast<uint128>(prefix.high) << 64 | prefix.low;
}

int LeadingZeros(uint128 bits) {
  const uint64_t high = static_cast<uint64_t>(bits >> 64), low = static_cast<uint64_t>(bits);
  return high != 0 ? __builtin_clzll(high) : low != 0 ? 64 + __builtin_clzll(low) : 128;
}

int TrailingZeros(uint128 bits) {
  const uint64_t high = static_cast<uint64_t>(bits >> 64), low = static_cast<uint64_t>(bits);
  return low != 0 ? __builtin_ctzll(low) : high != 0 ? 64 + __builtin_ctzll(high) : 0;
}

class FullSort : public Sink {
 public:
  FullSort(const SortSpec& spec, ExecutionEnvironment& environment)
      : input_(spec, true), limit_(spec.limit), offset_(spec.offset), environment_(environment) {}

  std::unique_ptr<Sink::Local> CreateLocal() override {
    return std::make_unique<SortLocal>(input_, environment_);
  }
  void Consume(Sink::Local& local, const Batch& batch, EvalContext& context) override;
  void Combine(Sink::Local& local) override;
  int PrepareFinish() override;
  void RunFinishTask(int task) override;
  int Seal() override;
  bool is_ordered() const override { return true; }
  std::unique_ptr<Sink::Reader> OpenPartition(int partition) override;
  SinkStats stats() const override { return {0, 0, environment_.budget.peak_bytes()}; }

 private:
  struct SortLocal : Sink::Local {
    SortLocal(const SortInput& input, ExecutionEnvironment& environment)
        : arena(std::make_unique<Arena>(&environment.budget, kFirstBlockBytes, kMaxBlockBytes)),
          columns(input.layout().column_count()),
          keys(input.key_count()),
          prefixes(kVectorRows),
          rows(kVectorRows) {}
    std::unique_ptr<Arena> arena;  // rows, strings and entries
    std::vector<Chunk> chunks;
    uint128 varying_bits = 0;  // of the prefixes, against the first of this thread
    std::vector<Vector> columns;
    std::vector<Vector> keys;
    std::vector<SortPrefix> prefixes;
    std::vector<char*> rows;
  };
  struct Bucket {
    std::unique_ptr<Arena> arena;
    char** rows = nullptr;
    uint64_t begin = 0;  // of the entries of the whole result
    uint64_t count = 0;
  };

  void ProveOrder(const char* row, const char* next) const;
  void ChooseSplitters();
  uint64_t Pack(const SortPrefix& prefix) const {
    return static_cast<uint64_t>(Bits(prefix) >> packed_shift_);
  }
  template <typename Entry, typename BucketOf>
  void Distribute(Chunk* chunk, Entry* entries, BucketOf&& bucket_of);
  void DistributeChunk(Chunk* chunk);
  template <typename Entry, typename EntriesOf, typename SortAll>
  void SortBucket(int index, EntriesOf&& entries_of, SortAll&& sort);
  char* RowOf(const SortEntry& entry) const { return entry.row; }
  char* RowOf(const hwy::uint128_t& pair) const { return reinterpret_cast<char*>(pair.lo); }

  const SortInput input_;
  const int64_t limit_;
  const int64_t offset_;
  ExecutionEnvironment& environment_;
  std::mutex mutex_;  // guards arenas_ and chunks_ during Combine
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::vector<Chunk> chunks_;
  std::vector<SortEntry> splitters_;
  std::vector<uint64_t> packed_splitters_;
  uint128 varying_bits_ = 0;
  bool is_packed_ = false;
  int packed_shift_ = 0;
  std::vector<Bucket> buckets_;
  int round_ = 0;
};

void FullSort::Consume(Sink::Local& sink_local, const Batch& batch, EvalContext& context) {
  SortLocal& local = static_cast<SortLocal&>(sink_local);
  if (batch.rows == 0) return;
  if (context.memo != nullptr) context.memo->Begin(batch);
  input_.Evaluate(batch, context, local.columns.data());
  input_.SelectKeys(local.columns.data(), local.keys.data());
  const RowSelection all{nullptr, batch.rows};
  input_.keys().Encode(local.keys.data(), all, local.prefixes.data());
  const uint32_t row_bytes = input_.layout().row_bytes();
  char* memory = static_cast<char*>(local.arena->Allocate(size_t{batch.rows} * row_bytes));
  std::memset(memory, 0, size_t{batch.rows} * row_bytes);
  for (uint32_t i = 0; i < batch.rows; ++i) local.rows[i] = memory + size_t{i} * row_bytes;
  input_.layout().Write(local.columns.data(), all, local.rows.data(), *local.arena);
  const SortPrefix first =
      local.chunks.empty() ? local.prefixes[0] : local.chunks[0].entries[0].prefix;
  for (uint32_t i = 0; i < batch.rows; ++i) {
    local.varying_bits |= Bits(local.prefixes[i]) ^ Bits(first);
    if (local.chunks.empty() || local.chunks.back().count == local.chunks.back().capacity) {
      const uint64_t capacity = local.chunks.empty()
                                    ? kFirstChunkEntries
                                    : std::min(4 * local.chunks.back().capacity, kChunkEntries);
      local.chunks.push_back(
          {local.arena->AllocateArray<SortEntry>(capacity), nullptr, 0, capacity, {}});
    }
    Chunk& chunk = local.chunks.back();
    chunk.entries[chunk.count++] = {local.prefixes[i], local.rows[i]};
  }
}

void FullSort::Combine(Sink::Local& sink_local) {
  SortLocal& local = static_cast<SortLocal&>(sink_local);
  std::lock_guard<std::mutex> lock(mutex_);
  arenas_.push_back(std::move(local.arena));
  if (local.chunks.empty()) return;
  varying_bits_ |= local.varying_bits;
  if (!chunks_.empty()) {
    varying_bits_ |= Bits(local.chunks[0].entries[0].prefix) ^ Bits(chunks_[0].entries[0].prefix);
  }
  chunks_.insert(chunks_.end(), local.chunks.begin(), local.chunks.end());
}

void FullSort::ChooseSplitters() {
  uint64_t count = 0;
  for (const Chunk& chunk : chunks_) count += chunk.count;
  const int leading = LeadingZeros(varying_bits_), trailing = TrailingZeros(varying_bits_);
  is_packed_ = input_.keys().HasExactPrefix() && 128 - leading - trailing <= 64;
  // The word ends with the last bit that varies; what is equal above it falls off or does no harm.
  packed_shift_ = std::min(trailing, 64);
  const uint64_t bucket_count = std::clamp<uint64_t>(count / kBucketEntries, 1, kBucketsMax);
  buckets_.resize(bucket_count);
  if (bucket_count == 1) return;
  const uint64_t sample_count = bucket_count * kSamplesPerBucket;
  std::vector<SortEntry> sample;
  // Evenly spaced rows would follow the pattern of periodic input: steps of a fixed pseudo-random
  // walk.
  uint64_t state = 0x9e3779b97f4a7c15, wanted = 0, passed = 0;
  size_t chunk = 0;
  while (true) {
    while (chunk < chunks_.size() && wanted - passed >= chunks_[chunk].count)
      passed += chunks_[chunk++].count;
    if (chunk == chunks_.size()) break;
    sample.push_back(chunks_[chunk].entries[wanted - passed]);
    state = state * 6364136223846793005u + 1442695040888963407u;
    wanted += 1 + (state >> 33) % (2 * count / sample_count);
  }
  std::sort(sample.begin(), sample.end(), SortOrder(input_, environment_));
  for (uint64_t b = 1; b < bucket_count; ++b)
    splitters_.push_back(sample[b * sample.size() / bucket_count]);
  for (const SortEntry& splitter : splitters_) packed_splitters_.push_back(Pack(splitter.prefix));
}

int FullSort::PrepareFinish() {
  switch (round_++) {
    case 0:
      ChooseSplitters();
      return std::max<int>(1, static_cast<int>(chunks_.size()));
    case 1:
      return static_cast<int>(buckets_.size());
    default:
      return 0;
  }
}

void FullSort::RunFinishTask(int task) {
  environment_.CheckCancelled();
  if (round_ == 1) {
    if (task < static_cast<int>(chunks_.size())) DistributeChunk(&chunks_[task]);
  } else if (is_packed_) {
    SortBucket<hwy::uint128_t>(
        task, [](const Chunk& chunk) { return chunk.pairs; },
        [](hwy::uint128_t* pairs, uint64_t count) {
          hwy::Sorter sorter;
          sorter(pairs, count, hwy::SortAscending());
        });
  } else {
    SortBucket<SortEntry>(
        task, [](const Chunk& chunk) { return chunk.entries; },
        [&](SortEntry* entries, uint64_t count) {
          std::sort(entries, entries + count, SortOrder(input_, environment_));
        });
  }
}

// Moves the entries so that those of a bucket are together, and notes where they end.
template <typename Entry, typename BucketOf>
void FullSort::Distribute(Chunk* chunk, Entry* entries, BucketOf&& bucket_of) {
  chunk->bucket_ends.assign(buckets_.size(), 0);
  if (buckets_.size() == 1) {
    chunk->bucket_ends[0] = chunk->count;
    return;
  }
  std::vector<uint16_t> buckets(chunk->count);
  for (uint64_t i = 0; i < chunk->count; ++i) {
    buckets[i] = static_cast<uint16_t>(bucket_of(entries[i]));
    ++chunk->bucket_ends[buckets[i]];
  }
  uint64_t begin = 0;
  for (uint64_t& end : chunk->bucket_ends) begin += std::exchange(end, begin);
  const std::vector<Entry> copy(entries, entries + chunk->count);
  for (uint64_t i = 0; i < chunk->count; ++i) entries[chunk->bucket_ends[buckets[i]]++] = copy[i];
}

void FullSort::DistributeChunk(Chunk* chunk) {
  if (!is_packed_) {
    SortOrder is_less(input_, environment_);
    Distribute(chunk, chunk->entries, [&](const SortEntry& entry) {
      return std::upper_bound(splitters_.begin(), splitters_.end(), entry, is_less) -
             splitters_.begin();
    });
    return;
  }
  // Pairs take the place of the entries, which are longer and read before they are overwritten.
  static_assert(sizeof(hwy::uint128_t) <= sizeof(SortEntry));
  chunk->pairs = reinterpret_cast<hwy::uint128_t*>(chunk->entries);
  for (uint64_t i = 0; i < chunk->count; ++i) {
    const SortEntry entry = chunk->entries[i];
    hwy::uint128_t pair;
    pair.hi = Pack(entry.prefix);
    pair.lo = reinterpret_cast<uint64_t>(entry.row);
    std::memcpy(static_cast<void*>(&chunk->pairs[i]), &pair, sizeof(pair));
  }
  const std::vector<uint64_t>& splitters = packed_splitters_;
  Distribute(chunk, chunk->pairs, [&](const hwy::uint128_t& pair) {
    // The number of splitters up to the key, without branches.
    size_t begin = 0, count = splitters.size();
    while (count > 0) {
      const size_t half = (count + 1) / 2;
      begin += splitters[begin + half - 1] <= pair.hi ? half : 0;
      count -= half;
    }
    return begin;
  });
}

template <typename Entry, typename EntriesOf, typename SortAll>
void FullSort::SortBucket(int index, EntriesOf&& entries_of, SortAll&& sort) {
  Bucket& bucket = buckets_[index];
  auto slice = [&](const Chunk& chunk) {
    const uint64_t begin = index == 0 ? 0 : chunk.bucket_ends[index - 1];
    return std::pair(entries_of(chunk) + begin, chunk.bucket_ends[index] - begin);
  };
  for (const Chunk& chunk : chunks_) bucket.count += slice(chunk).second;
  if (bucket.count == 0) return;
  Arena scratch(&environment_.budget);
  Entry* entries = scratch.AllocateArray<Entry>(bucket.count);
  uint64_t filled = 0;
  for (const Chunk& chunk : chunks_) {
    auto [from, count] = slice(chunk);
    std::copy_n(from, count, entries + filled);
    filled += count;
  }
  sort(entries, bucket.count);
  bucket.arena = std::make_unique<Arena>(&environment_.budget, kFirstBlockBytes);
  bucket.rows = bucket.arena->AllocateArray<char*>(bucket.count);
  for (uint64_t i = 0; i < bucket.count; ++i) bucket.rows[i] = RowOf(entries[i]);
  if (input_.keys().NeedsProof()) {
    for (uint64_t i = 1; i < bucket.count; ++i) ProveOrder(bucket.rows[i - 1], bucket.rows[i]);
  }
}

// PostgreSQL does not trust strxfrm to agree with strcoll, and neither do we: neighbours in strcoll's order
// prove the whole. No row has left the sort yet, so that PostgreSQL can still run the query.
void FullSort::ProveOrder(const char* row, const char* next) const {
  if (input_.keys().CompareRows(row, next) <= 0) return;
  throw EngineError(PENUMBRA_UNSUPPORTED, "locale of which strxfrm and strcoll disagree");
}

int FullSort::Seal() {
  uint64_t begin = 0;
  for (Bucket& bucket : buckets_) {
    bucket.begin = begin;
    begin += bucket.count;
  }
  if (input_.keys().NeedsProof()) {
    const char* last = nullptr;
    for (const Bucket& bucket : buckets_) {
      if (bucket.count == 0) continue;
      if (last != nullptr) ProveOrder(last, bucket.rows[0]);
      last = bucket.rows[bucket.count - 1];
    }
  }
  return static_cast<int>(buckets_.size());
}

std::unique_ptr<Sink::Reader> FullSort::OpenPartition(int partition) {
  const Bucket& bucket = buckets_[partition];
  const uint64_t first = static_cast<uint64_t>(offset_);
  const uint64_t last = limit_ < 0 ? UINT64_MAX : first + static_cast<uint64_t>(limit_);
  const uint64_t begin = std::clamp(first, bucket.begin, bucket.begin + bucket.count);
  const uint64_t end = std::clamp(last, begin, bucket.begin + bucket.count);
  char* const* rows = bucket.rows == nullptr ? nullptr : bucket.rows + (begin - bucket.begin);
  return std::make_unique<SortedReader>(input_, environment_, rows, end - begin);
}

}  // namespace

std::unique_ptr<Sink> CreateFullSort(const SortSpec& spec, ExecutionEnvironment& environment) {
  return std::make_unique<FullSort>(spec, environment);
}

}  // namespace penumbra
