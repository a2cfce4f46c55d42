#include "unnest/unnest.h"

#include <algorithm>

#include "kernels/kernels.h"
#include "unnest/list_image.h"
#include "unnest/string_codes.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// The elements [begin, begin + count) of a row, as far as a list has so many; without lists `begin` says nothing.
struct Run {
  uint32_t row;
  uint32_t begin;
  uint32_t count;
};

class Unnest final : public UnnestStep {
 public:
  Unnest(const UnnestSpec& spec, MemoryBudget* budget) : spec_(spec) {
    for (size_t i = 0; i < spec.lists.size(); ++i) codes_.push_back(std::make_unique<StringCodes>(budget));
  }

  void Begin(const Batch& batch, EvalContext& context) override {
    batch_ = batch;
    if (spec_.times >= 0) times_ = Flatten(batch.columns[spec_.times], batch.rows, context.arena);
    row_ = 0;
    begin_ = 0;
  }
  bool is_pending() const override { return row_ < batch_.rows; }
  bool Next(EvalContext& context, Batch* batch) override;
  const uint16_t* input_rows() const override { return selected_; }

 private:
  // The list of a row that has one.
  std::string_view ImageAt(const PenumbraUnnestList& list, uint32_t row) const {
    const Vector& v = batch_.columns[list.column];
    if (v.form == VectorForm::kDictionary) return v.dictionary->values<StringRef>()[v.Code(row)].view();
    return v.values<StringRef>()[v.is_constant() ? 0 : row].view();
  }
  bool HasList(const PenumbraUnnestList& list, uint32_t row) const { return batch_.columns[list.column].IsValid(row); }
  uint64_t RowsOf(uint32_t row) const;
  uint32_t FindRuns();
  template <typename Take>
  const uint64_t* TakeElements(const PenumbraUnnestList& list, uint32_t rows, Arena& arena, Take take) const;
  Vector Strings(const PenumbraUnnestList& list, StringCodes& known, uint32_t rows, Arena& arena) const;
  Vector Values(const PenumbraUnnestList& list, uint32_t rows, Arena& arena) const;
  Vector Elements(size_t number, uint32_t rows, Arena& arena);
  Vector Ordinality(uint32_t rows, Arena& arena) const;

  const UnnestSpec& spec_;
  std::vector<std::unique_ptr<StringCodes>> codes_;  // by list
  Batch batch_;
  Vector times_;        // of the batch, without lists
  uint32_t row_ = 0;    // the next of the batch
  uint64_t begin_ = 0;  // of its elements
  Run runs_[kVectorRows];
  uint32_t run_count_ = 0;
  uint16_t selected_[kVectorRows];  // rows of the batch, by rows that come out
};

// 0: the row has no elements.
uint64_t Unnest::RowsOf(uint32_t row) const {
  if (spec_.times >= 0) {
    const int64_t times = times_.IsValid(row) ? times_.values<int64_t>()[row] : 0;
    return static_cast<uint64_t>(std::max(times, int64_t{0}));
  }
  uint32_t rows = 0;
  for (const PenumbraUnnestList& list : spec_.lists) {
    if (HasList(list, row)) rows = std::max(rows, ListImage::CountOf(ImageAt(list, row)));
  }
  return rows;
}

// Of as many elements as a vector has; how many rows come out.
uint32_t Unnest::FindRuns() {
  uint32_t rows = 0;
  run_count_ = 0;
  while (row_ < batch_.rows && rows < kVectorRows) {
    const uint64_t all = std::max<uint64_t>(RowsOf(row_), spec_.keeps_empty ? 1 : 0);
    const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(all - begin_, kVectorRows - rows));
    if (count > 0) {
      runs_[run_count_++] = {row_, static_cast<uint32_t>(begin_), count};
      std::fill_n(selected_ + rows, count, static_cast<uint16_t>(row_));
      rows += count;
    }
    begin_ += count;
    if (begin_ < all) break;
    ++row_;
    begin_ = 0;
  }
  return rows;
}

void ClearBits(uint64_t* bits, uint32_t begin, uint32_t count) {
  for (uint32_t i = begin; i < begin + count; ++i) bits[i / 64] &= ~(uint64_t{1} << (i % 64));
}

// Calls take(list, begin, count, row) for each run: `count` elements of the list stand in the rows from `row` on. What
// is left of the run is null.
template <typename Take>
const uint64_t* Unnest::TakeElements(const PenumbraUnnestList& list, uint32_t rows, Arena& arena, Take take) const {
  uint64_t* validity = nullptr;
  const auto clear = [&](uint32_t begin, uint32_t count) {
    if (validity == nullptr) {
      validity = arena.AllocateArray<uint64_t>(BitWords(rows));
      kernels::SetBits(validity, rows);
    }
    ClearBits(validity, begin, count);
  };
  uint32_t row = 0;
  for (uint32_t r = 0; r < run_count_; ++r) {
    const Run& run = runs_[r];
    const ListImage image = HasList(list, run.row) ? ListImage(list.element, ImageAt(list, run.row)) : ListImage();
    const uint32_t count = image.count() > run.begin ? std::min(image.count() - run.begin, run.count) : 0;
    take(image, run.begin, count, row);
    for (uint32_t i = 0; image.has_nulls() && i < count; ++i) {
      if (!image.IsValid(run.begin + i)) clear(row + i, 1);
    }
    if (count < run.count) clear(row + count, run.count - count);
    row += run.count;
  }
  return validity;
}

// Null rows have the empty string.
Vector Unnest::Strings(const PenumbraUnnestList& list, StringCodes& known, uint32_t rows, Arena& arena) const {
  auto* strings = arena.AllocateArray<StringRef>(rows);
  std::fill_n(strings, rows, StringRef());
  const uint64_t* validity =
      TakeElements(list, rows, arena, [&](const ListImage& image, uint32_t begin, uint32_t count, uint32_t row) {
        image.ReadStrings(begin, count, strings + row);
      });
  Vector v = FlatVector(list.element, strings, validity);
  if (IsStringType(list.element)) known.Encode(list.element, strings, validity, rows, arena, &v);
  if (list.element == PENUMBRA_NUMERIC) v.numeric_form = kElementForm;
  return v;
}

Vector Unnest::Values(const PenumbraUnnestList& list, uint32_t rows, Arena& arena) const {
  const uint32_t width = FlatWidth(list.element, kElementForm);
  const size_t bytes = size_t{rows} * width;
  auto* values = static_cast<char*>(arena.Allocate(bytes));
  std::memset(values, 0, bytes);
  const uint64_t* validity =
      TakeElements(list, rows, arena, [&](const ListImage& image, uint32_t begin, uint32_t count, uint32_t row) {
        if (count > 0) std::memcpy(values + size_t{row} * width, image.fixed(begin), size_t{count} * width);
      });
  return FlatVector(list.element, values, validity);
}

Vector Unnest::Elements(size_t number, uint32_t rows, Arena& arena) {
  const PenumbraUnnestList& list = spec_.lists[number];
  return IsStringForm(list.element, kElementForm) ? Strings(list, *codes_[number], rows, arena)
                                                  : Values(list, rows, arena);
}

// From 1 on; null for a row without elements.
Vector Unnest::Ordinality(uint32_t rows, Arena& arena) const {
  auto* numbers = arena.AllocateArray<int64_t>(rows);
  uint64_t* validity = nullptr;
  uint32_t row = 0;
  for (uint32_t r = 0; r < run_count_; ++r) {
    const Run& run = runs_[r];
    for (uint32_t i = 0; i < run.count; ++i) numbers[row + i] = int64_t{run.begin} + i + 1;
    if (spec_.keeps_empty && run.count == 1 && run.begin == 0 && RowsOf(run.row) == 0) {
      if (validity == nullptr) {
        validity = arena.AllocateArray<uint64_t>(BitWords(rows));
        kernels::SetBits(validity, rows);
      }
      ClearBits(validity, row, 1);
    }
    row += run.count;
  }
  return FlatVector(PENUMBRA_INT8, numbers, validity);
}

bool Unnest::Next(EvalContext& context, Batch* batch) {
  const uint32_t rows = FindRuns();
  if (rows == 0) return false;
  const size_t width = spec_.unnested_columns();
  Arena& arena = context.arena;
  auto* columns = arena.AllocateArray<Vector>(width);
  for (size_t c = 0; c < spec_.input_columns; ++c) {
    columns[c] =
        spec_.needed[c] ? Gather(batch_.columns[c], selected_, rows, arena) : NullConstant(batch_.columns[c].type);
  }
  for (size_t i = 0; i < spec_.lists.size(); ++i) {
    const size_t c = spec_.input_columns + i;
    columns[c] = spec_.needed[c] ? Elements(i, rows, arena) : NullConstant(spec_.lists[i].element);
  }
  if (spec_.has_ordinality) {
    columns[width - 1] = spec_.needed[width - 1] ? Ordinality(rows, arena) : NullConstant(PENUMBRA_INT8);
  }
  *batch = {rows, static_cast<uint32_t>(width), columns};
  return true;
}

}  // namespace

std::unique_ptr<UnnestStep> CreateUnnest(const UnnestSpec& spec, MemoryBudget* budget) {
  return std::make_unique<Unnest>(spec, budget);
}

}  // namespace penumbra
