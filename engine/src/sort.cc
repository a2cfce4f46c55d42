// The full sort: a sample sort in memory.
//
// Threads collect rows and entries (prefix of the key, pointer to the row). A sample of the entries
// gives splitters; the first round of tasks sorts each chunk of entries into buckets, the second sorts
// the buckets, which are the partitions of the result. Each entry is moved twice and sorted once, in
// pieces that fit the cache.
#include "sort.h"

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
constexpr size_t kBlockBytes = size_t{256} << 10;

struct Chunk {
  SortEntry* entries;
  uint64_t count;
  uint64_t capacity;
  std::vector<uint64_t> bucket_ends;
};

class FullSort : public Sink {
 public:
  FullSort(const SortSpec& spec, ExecutionEnvironment& environment)
      : input_(spec), limit_(spec.limit), offset_(spec.offset), environment_(environment) {}

  std::unique_ptr<Sink::Local> CreateLocal() override { return std::make_unique<SortLocal>(input_, environment_); }
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
        : arena(std::make_unique<Arena>(&environment.budget, kBlockBytes)),
          columns(input.layout().column_count()),
          keys(input.layout().column_count()),
          prefixes(kVectorRows),
          rows(kVectorRows) {}
    std::unique_ptr<Arena> arena;  // rows, strings and entries
    std::vector<Chunk> chunks;
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

  void ChooseSplitters();
  void Distribute(Chunk* chunk);
  void SortBucket(int index);
  void SortEntries(SortEntry* entries, uint64_t count);

  const SortInput input_;
  const int64_t limit_;
  const int64_t offset_;
  ExecutionEnvironment& environment_;
  std::mutex mutex_;  // guards arenas_ and chunks_ during Combine
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::vector<Chunk> chunks_;
  std::vector<SortEntry> splitters_;
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
  for (uint32_t i = 0; i < batch.rows; ++i) {
    if (local.chunks.empty() || local.chunks.back().count == local.chunks.back().capacity) {
      const uint64_t capacity =
          local.chunks.empty() ? kFirstChunkEntries : std::min(4 * local.chunks.back().capacity, kChunkEntries);
      local.chunks.push_back({local.arena->AllocateArray<SortEntry>(capacity), 0, capacity, {}});
    }
    Chunk& chunk = local.chunks.back();
    chunk.entries[chunk.count++] = {local.prefixes[i], local.rows[i]};
  }
}

void FullSort::Combine(Sink::Local& sink_local) {
  SortLocal& local = static_cast<SortLocal&>(sink_local);
  std::lock_guard<std::mutex> lock(mutex_);
  arenas_.push_back(std::move(local.arena));
  chunks_.insert(chunks_.end(), local.chunks.begin(), local.chunks.end());
}

void FullSort::ChooseSplitters() {
  uint64_t count = 0;
  for (const Chunk& chunk : chunks_) count += chunk.count;
  const uint64_t bucket_count = std::clamp<uint64_t>(count / kBucketEntries, 1, kBucketsMax);
  buckets_.resize(bucket_count);
  if (bucket_count == 1) return;
  const uint64_t sample_count = bucket_count * kSamplesPerBucket;
  std::vector<SortEntry> sample;
  // Evenly spaced rows would follow the pattern of periodic input: steps of a fixed pseudo-random walk.
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
  for (uint64_t b = 1; b < bucket_count; ++b) splitters_.push_back(sample[b * sample.size() / bucket_count]);
}

int FullSort::PrepareFinish() {
  switch (round_++) {
    case 0:
      ChooseSplitters();
      return std::max<int>(1, static_cast<int>(chunks_.size()));
    case 1: return static_cast<int>(buckets_.size());
    default: return 0;
  }
}

void FullSort::RunFinishTask(int task) {
  if (round_ == 2) return SortBucket(task);
  if (task < static_cast<int>(chunks_.size())) Distribute(&chunks_[task]);
}

void FullSort::Distribute(Chunk* chunk) {
  environment_.CheckCancelled();
  const size_t bucket_count = buckets_.size();
  chunk->bucket_ends.assign(bucket_count, 0);
  if (bucket_count == 1) {
    chunk->bucket_ends[0] = chunk->count;
    return;
  }
  std::vector<uint16_t> bucket_of(chunk->count);
  SortOrder is_less(input_, environment_);
  for (uint64_t i = 0; i < chunk->count; ++i) {
    auto bucket = std::upper_bound(splitters_.begin(), splitters_.end(), chunk->entries[i], is_less);
    bucket_of[i] = static_cast<uint16_t>(bucket - splitters_.begin());
    ++chunk->bucket_ends[bucket_of[i]];
  }
  uint64_t begin = 0;
  for (uint64_t& end : chunk->bucket_ends) begin += std::exchange(end, begin);
  std::vector<SortEntry> entries(chunk->entries, chunk->entries + chunk->count);
  for (uint64_t i = 0; i < chunk->count; ++i) chunk->entries[chunk->bucket_ends[bucket_of[i]]++] = entries[i];
}

void FullSort::SortEntries(SortEntry* entries, uint64_t count) {
  if (input_.keys().FitsOneWord() && count > 1) {
    std::vector<hwy::K64V64> pairs(count);
    for (uint64_t i = 0; i < count; ++i) {
      pairs[i].key = entries[i].prefix.high;
      pairs[i].value = reinterpret_cast<uint64_t>(entries[i].row);
    }
    hwy::Sorter sorter;
    sorter(pairs.data(), count, hwy::SortAscending());
    for (uint64_t i = 0; i < count; ++i) entries[i].row = reinterpret_cast<char*>(pairs[i].value);
    return;
  }
  std::sort(entries, entries + count, SortOrder(input_, environment_));
}

void FullSort::SortBucket(int index) {
  environment_.CheckCancelled();
  Bucket& bucket = buckets_[index];
  auto slice = [&](const Chunk& chunk) {
    const uint64_t begin = index == 0 ? 0 : chunk.bucket_ends[index - 1];
    return std::pair(chunk.entries + begin, chunk.bucket_ends[index] - begin);
  };
  for (const Chunk& chunk : chunks_) bucket.count += slice(chunk).second;
  if (bucket.count == 0) return;
  Arena scratch(&environment_.budget);
  SortEntry* entries = scratch.AllocateArray<SortEntry>(bucket.count);
  uint64_t filled = 0;
  for (const Chunk& chunk : chunks_) {
    auto [from, count] = slice(chunk);
    std::copy_n(from, count, entries + filled);
    filled += count;
  }
  SortEntries(entries, bucket.count);
  bucket.arena = std::make_unique<Arena>(&environment_.budget);
  bucket.rows = bucket.arena->AllocateArray<char*>(bucket.count);
  for (uint64_t i = 0; i < bucket.count; ++i) bucket.rows[i] = entries[i].row;
}

int FullSort::Seal() {
  uint64_t begin = 0;
  for (Bucket& bucket : buckets_) {
    bucket.begin = begin;
    begin += bucket.count;
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
