#include "recursion/recursion_rows.h"

#include <algorithm>
#include <utility>

#include "vector/vector_build.h"

namespace penumbra {
namespace {

// Each segment has twice the rows of the one before, up to so many bytes.
constexpr uint32_t kFirstRows = kVectorRows;
constexpr uint32_t kSegmentBytes = uint32_t{1} << 20;
constexpr size_t kExtentBytes = size_t{256} << 10;
constexpr uint64_t kFirstKnown = 1024;

std::vector<PenumbraType> TypesIf(bool wanted, const RecursionSpec& spec) {
  return wanted ? spec.types : std::vector<PenumbraType>{};
}

}  // namespace

// Rows without columns are counted by their places.
RecursionFormat::RecursionFormat(const RecursionSpec& of)
    : spec(of),
      keys(TypesIf(of.is_distinct, of)),
      columns(TypesIf(!of.is_distinct, of)),
      rows(of.is_distinct ? RowFormat{&keys, nullptr, 0, keys.image_bytes()}
                          : RowFormat{nullptr, &columns, 0, std::max(columns.row_bytes(), 8u)}) {}

RecursionRows::RecursionRows(const RecursionFormat& format, ExecutionEnvironment& environment)
    : format_(format), environment_(environment), known_(&environment.budget) {
  if (is_distinct()) known_.Reset(kFirstKnown);
}

RecursionRows::Segment& RecursionRows::LastSegment(uint32_t rows) {
  if (!segments_.empty() && segments_.back().memory != nullptr &&
      segments_.back().capacity - segments_.back().count >= rows) {
    return segments_.back();
  }
  const uint32_t most = std::max(kSegmentBytes / row_bytes(), kVectorRows);
  const uint32_t capacity = segments_.empty() ? kFirstRows : std::min(2 * segments_.back().capacity, most);
  Segment& added = segments_.emplace_back();
  added.memory = std::make_unique<Arena>(&environment_.budget);
  added.capacity = std::max(capacity, rows);
  added.rows = added.memory->AllocateArray<char>(size_t{added.capacity} * row_bytes());
  return added;
}

void RecursionRows::Append(const Batch& batch, Arena& arena) {
  if (batch.rows == 0) return;
  auto* columns = arena.AllocateArray<Vector>(batch.column_count);
  for (uint32_t c = 0; c < batch.column_count; ++c) columns[c] = Flatten(batch.columns[c], batch.rows, arena);
  if (is_distinct()) return AppendNew(batch, columns, arena);
  Segment& into = LastSegment(batch.rows);
  char* rows[kVectorRows];
  char* row = into.rows + size_t{into.count} * row_bytes();
  std::memset(row, 0, size_t{batch.rows} * row_bytes());
  for (uint32_t i = 0; i < batch.rows; ++i, row += row_bytes()) rows[i] = row;
  format_.columns.Write(columns, {nullptr, batch.rows}, rows, *into.memory);
  into.count += batch.rows;
  row_count_ += batch.rows;
}

// The first of equal rows stays, as it is written.
void RecursionRows::AppendNew(const Batch& batch, const Vector* columns, Arena& arena) {
  images_.resize(size_t{batch.rows} * row_bytes());
  std::fill(images_.begin(), images_.end(), 0);
  format_.keys.BuildImages(columns, {nullptr, batch.rows}, arena, images_.data());
  const char* image = images_.data();
  for (uint32_t i = 0; i < batch.rows; ++i) known_.Prefetch(KeyLayout::Hash(image + size_t{i} * row_bytes()));
  Segment& into = LastSegment(batch.rows);
  for (uint32_t i = 0; i < batch.rows; ++i, image += row_bytes()) EnterInto(into, image);
}

void RecursionRows::EnterInto(Segment& segment, const char* image) {
  if (known_.row_count() >= known_.capacity_rows()) known_.Grow();
  known_.FindOrInsert(format_.keys, image, [&] {
    char* row = segment.rows + size_t{segment.count} * row_bytes();
    std::memcpy(row, image, row_bytes());
    format_.keys.OwnStrings(row, *segment.memory);
    ++segment.count;
    ++row_count_;
    return row;
  });
}

void RecursionRows::Take(RecursionRows&& other) {
  spilled_bytes_ += other.spilled_bytes_;
  if (other.row_count_ == 0) return;
  if (is_distinct() && row_count_ > 0) {
    for (const Segment& from : other.segments_) {
      environment_.CheckCancelled();
      Segment& into = LastSegment(from.count);
      for (uint32_t i = 0; i < from.count; ++i) EnterInto(into, from.rows + size_t{i} * row_bytes());
    }
    other.segments_.clear();
    return;
  }
  std::move(other.segments_.begin(), other.segments_.end(), std::back_inserter(segments_));
  row_count_ += other.row_count_;
  if (is_distinct()) std::swap(known_, other.known_);
  other.segments_.clear();
}

Batch RecursionRows::Read(Place* place, const Place& other, uint64_t end, Arena& arena) {
  while (place->row == segment(place->segment).count) {
    Segment& left = segment(place->segment);
    if (left.spilled.row_count > 0 && place->segment != other.segment) left.memory.reset();
    ++place->segment;
    place->row = 0;
  }
  Segment& from = segment(place->segment);
  if (from.memory == nullptr) Load(from);
  const auto count =
      static_cast<uint32_t>(std::min<uint64_t>({from.count - place->row, end - place->row_count, kVectorRows}));
  const char* rows[kVectorRows];
  const char* row = from.rows + size_t{place->row} * row_bytes();
  for (uint32_t i = 0; i < count; ++i, row += row_bytes()) rows[i] = row;
  place->row += count;
  place->row_count += count;
  const auto width = static_cast<uint32_t>(format_.spec.types.size());
  auto* columns = arena.AllocateArray<Vector>(width);
  for (uint32_t c = 0; c < width; ++c) {
    const int column = static_cast<int>(c);
    columns[c] = is_distinct() ? format_.keys.Output(column, rows, count, arena)
                               : format_.columns.Read(column, rows, count, arena);
  }
  return {count, width, columns};
}

void RecursionRows::Free(const Place& place, const Place& other) {
  for (; !is_distinct() && first_ < std::min(place.segment, other.segment); ++first_) segments_.pop_front();
  evicted_at_ = std::min(evicted_at_, segments_.size());
}

// Looks again when there are more segments.
void RecursionRows::Evict(const Place& place, const Place& other) {
  if (is_distinct() || segments_.size() <= evicted_at_ || !environment_.budget.IsExceeded()) return;
  for (uint64_t number = first_; number + 1 < first_ + segments_.size(); ++number) {
    if (number != place.segment && number != other.segment && segment(number).memory != nullptr) Evict(segment(number));
  }
  evicted_at_ = segments_.size();
}

void RecursionRows::Evict(Segment& segment) {
  if (segment.spilled.row_count == 0 && segment.count > 0) {
    if (file_ == nullptr) file_ = std::make_shared<SpillFile>(environment_.spill_space);
    SpilledRowWriter writer(file_, kExtentBytes, environment_);
    const char* row = segment.rows;
    for (uint32_t i = 0; i < segment.count; ++i, row += row_bytes()) {
      format_.rows.Save(row, writer.buffer());
      writer.EndRow();
    }
    segment.spilled = writer.Finish();
    spilled_bytes_ += segment.spilled.bytes;
  }
  segment.memory.reset();
}

void RecursionRows::Load(Segment& segment) {
  auto memory = std::make_unique<Arena>(&environment_.budget);
  segment.rows = memory->AllocateArray<char>(size_t{segment.count} * row_bytes());
  segment.capacity = segment.count;
  SpilledRowReader reader(segment.spilled, environment_);
  for (char* row = segment.rows; !reader.is_at_end(); row += row_bytes()) {
    reader.End(format_.rows.Load(row, reader.Begin(), *memory));
  }
  segment.memory = std::move(memory);
}

}  // namespace penumbra
