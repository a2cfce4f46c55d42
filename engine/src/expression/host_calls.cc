#include "expression/host_calls.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "numeric/result_column.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// A memo takes no more; what it does not have is then asked for by every batch.
constexpr size_t kEntriesMax = size_t{1} << 20;
constexpr size_t kMemoShare = 4;  // of the memory budget, at least so much:
constexpr size_t kMemoBytesMin = size_t{8} << 20;
// Codes with so many between the least and the greatest are looked up in an array, others in a hash table.
constexpr uint64_t kArrayMax = uint64_t{1} << 20;
// Scans come to one dictionary after the other, so codes of older ones can be forgotten.
constexpr size_t kDictionaryBytesMax = size_t{4} << 20;

int NumberOf(const Expr& call) { return *static_cast<const int*>(call.state.get()); }

// The only argument that is no constant, if there is one alone; -1: several.
int FindOnlyArgument(const Expr& call) {
  int found = -1;
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.args[i]->is_constant()) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

bool HasCodes(const Vector& column) {
  switch (column.form) {
    case VectorForm::kDictionary: return column.dictionary_id != 0;
    case VectorForm::kFlat: return column.type != PENUMBRA_NUMERIC && FlatWidth(column) <= sizeof(int64_t);
    case VectorForm::kConstant: break;
  }
  return false;
}

// Of a valid row: of a float the bits.
int64_t CodeOf(const Vector& column, uint32_t row) {
  return column.form == VectorForm::kDictionary ? column.Code(row) : IntegerAt(column, row);
}

// The arguments of rows as bytes: equal bytes are equal arguments. Equal numerics may differ, and are asked for twice.
class ArgumentKeys {
 public:
  ArgumentKeys(const Expr& call, const Vector* args, uint32_t rows, Arena& arena) : arena_(arena) {
    for (uint32_t i = 0; i < call.args.size(); ++i) {
      if (call.args[i]->is_constant()) continue;
      Vector& flat = columns_.emplace_back(args[i]);
      if (flat.form == VectorForm::kDictionary) flat = Flatten(flat, rows, arena);
      bytes_ += kHeaderBytes + (IsStringForm(flat) ? sizeof(uint32_t) : FlatWidth(flat));
    }
  }

  std::string_view Make(uint32_t row) {
    size_t size = bytes_;
    for (const Vector& column : columns_) {
      if (IsStringForm(column) && column.IsValid(row)) size += StringAt(column, row).length;
    }
    char* key = arena_.AllocateArray<char>(size);
    char* end = key;
    for (const Vector& column : columns_) end = Append(column, row, end);
    return {key, static_cast<size_t>(end - key)};
  }

 private:
  static constexpr size_t kHeaderBytes = 4;  // null or not, how a numeric is held, its scale

  static uint32_t Place(const Vector& column, uint32_t row) { return column.is_constant() ? 0 : row; }
  static const StringRef& StringAt(const Vector& column, uint32_t row) {
    return column.values<StringRef>()[Place(column, row)];
  }

  static char* Append(const Vector& column, uint32_t row, char* to) {
    const bool is_valid = column.IsValid(row);
    const bool has_form = is_valid && column.type == PENUMBRA_NUMERIC;
    const int16_t scale = has_form && column.numeric_form != NumericForm::kPayload ? column.scale : int16_t{0};
    to[0] = static_cast<char>(is_valid);
    to[1] = has_form ? static_cast<char>(column.numeric_form) : '\0';
    std::memcpy(to + 2, &scale, sizeof(scale));
    to += kHeaderBytes;
    if (!is_valid) return to;
    if (!IsStringForm(column)) {
      const uint32_t width = FlatWidth(column);
      std::memcpy(to, column.values<char>() + size_t{Place(column, row)} * width, width);
      return to + width;
    }
    const StringRef& string = StringAt(column, row);
    std::memcpy(to, &string.length, sizeof(string.length));
    std::memcpy(to + sizeof(string.length), string.data(), string.length);
    return to + sizeof(string.length) + string.length;
  }

  Arena& arena_;
  std::vector<Vector> columns_;
  size_t bytes_ = 0;  // of a key, strings aside
};

// A flat vector of the entries' values, of which every one is known. The memo keeps the strings.
Vector VectorOf(PenumbraType type, HostMemo* memo, const std::vector<uint32_t>& entries, Arena& arena) {
  const auto rows = static_cast<uint32_t>(entries.size());
  Vector result = FlatVector(type, nullptr, nullptr);
  if (type == PENUMBRA_NUMERIC) result.numeric_form = NumericForm::kPayload;
  const uint32_t width = FlatWidth(result);
  char* values = arena.AllocateArray<char>(size_t{rows} * width);
  uint64_t* validity = arena.AllocateArray<uint64_t>(BitWords(rows));
  std::fill_n(validity, BitWords(rows), ~uint64_t{0});
  for (uint32_t i = 0; i < rows; ++i) {
    const HostMemo::Entry& entry = memo->entry(entries[i]);
    std::memcpy(values + size_t{i} * width, entry.value, width);
    if (!entry.is_null) continue;
    validity[i / 64] &= ~(uint64_t{1} << (i % 64));
    result.validity = validity;
  }
  result.data = values;
  return result;
}

// The same for the rows of a column with codes: a dictionary if the column is a small one, and null where it is.
Vector VectorOfCodes(PenumbraType type, HostMemo* memo, const std::vector<uint32_t>& entries, const Vector& column,
                     Arena& arena) {
  const auto rows = static_cast<uint32_t>(entries.size());
  bool is_dictionary =
      column.form == VectorForm::kDictionary && column.dictionary_size <= rows && type != PENUMBRA_BOOL;
  for (uint32_t i = 0; i < rows && is_dictionary; ++i) {
    is_dictionary = memo->entry(entries[i]).is_null != column.IsValid(i);
  }
  if (!is_dictionary) return VectorOf(type, memo, entries, arena);
  std::vector<uint32_t> by_code(column.dictionary_size, entries[0]);  // of codes that no row has: any
  for (uint32_t i = 0; i < rows; ++i) {
    if (column.IsValid(i)) by_code[column.Code(i)] = entries[i];
  }
  Vector values = VectorOf(type, memo, by_code, arena);
  values.validity = nullptr;
  return WithEntries(column, values, arena);
}

Vector EvaluateHostCall(const Expr& call, const Vector* args, uint32_t rows, EvalContext& context) {
  if (context.host == nullptr) throw EngineError(PENUMBRA_UNSUPPORTED, "function of the host");
  return context.host->Evaluate(call, args, rows, context);
}

}  // namespace

uint32_t HostMemo::FindOrAdd(std::string_view key, uint64_t hash) {
  if (slots_.size() < 2 * (entries_.size() + 1)) Grow();
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& known = entries_[slots_[slot] - 1];
    if (known.hash == hash && known.key == key) return slots_[slot] - 1;
  }
  Entry& added = entries_.emplace_back();
  added.hash = hash;
  added.key = {arena_.CopyBytes(key.data(), key.size()), key.size()};
  slots_[slot] = static_cast<uint32_t>(entries_.size());
  return slots_[slot] - 1;
}

void HostMemo::Grow() {
  constexpr size_t kSlotsMin = 256;
  std::vector<uint32_t> slots(std::max(kSlotsMin, 2 * slots_.size()));
  const size_t mask = slots.size() - 1;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    size_t slot = entries_[i].hash & mask;
    while (slots[slot] != 0) slot = (slot + 1) & mask;
    slots[slot] = i + 1;
  }
  slots_ = std::move(slots);
}

bool ReadHostValue(PenumbraType type, const PenumbraColumnInput& results, uint32_t row, char (&value)[16],
                   Arena& arena) {
  const bool is_null = results.nulls != nullptr && results.nulls[row] != 0;
  if (is_null) {
    const StringRef empty;  // readable, as a null row's value has to be
    std::memcpy(value, &empty, sizeof(empty));
  } else if (IsStringForm(type, NumericForm::kPayload)) {
    const auto* bytes = reinterpret_cast<const char*>(results.values[row]);
    const uint32_t length = results.lengths[row];
    const StringRef string(length <= StringRef::kInlineBytes ? bytes : arena.CopyBytes(bytes, length), length);
    std::memcpy(value, &string, sizeof(string));
  } else if (FlatWidth(type, NumericForm::kPayload) == sizeof(value)) {
    std::memcpy(value, reinterpret_cast<const void*>(results.values[row]), sizeof(value));
  } else {
    std::memcpy(value, &results.values[row], sizeof(results.values[row]));
  }
  return !is_null;
}

void HostMemo::Set(uint32_t number, PenumbraType type, const PenumbraColumnInput& results, uint32_t row) {
  Entry& entry = entries_[number];
  entry.is_null = !ReadHostValue(type, results, row, entry.value, arena_);
  entry.is_known = true;
}

bool HostMemo::HasRoom(size_t bytes_max) const {
  const size_t bytes = arena_.bytes() + entries_.size() * sizeof(Entry) +
                       (slots_.size() + integers_.numbers_.size()) * sizeof(uint32_t) +
                       integers_.keys_.size() * sizeof(int64_t) + dictionary_bytes_;
  return entries_.size() < kEntriesMax && bytes <= bytes_max;
}

HostMemo::Codes& HostMemo::CodesOfDictionary(const Vector& column) {
  const auto known = dictionaries_.find(column.dictionary_id);
  if (known != dictionaries_.end()) return known->second;
  if (dictionary_bytes_ > kDictionaryBytesMax) {
    dictionaries_.clear();
    dictionary_bytes_ = 0;
  }
  Codes& codes = dictionaries_[column.dictionary_id];
  codes.numbers_.resize(column.dictionary_size);
  dictionary_bytes_ += column.dictionary_size * sizeof(uint32_t);
  return codes;
}

// What the array knows is forgotten when it would be too large.
HostMemo::Codes& HostMemo::CodesOfIntegers(int64_t least, int64_t greatest, uint32_t count) {
  std::vector<uint32_t>& known = integers_.numbers_;
  if (!integers_.keys_.empty()) {
    integers_.Reserve(count);
    return integers_;
  }
  if (!known.empty()) {
    least = std::min(least, integers_.least_);
    greatest = std::max(greatest, integers_.least_ + static_cast<int64_t>(known.size()) - 1);
  }
  const uint64_t distance = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
  if (distance >= kArrayMax) {
    known.clear();
    integers_.seed_ = seed_;
    integers_.Reserve(count);
  } else if (distance >= known.size()) {
    std::vector<uint32_t> numbers(distance + 1);
    std::copy(known.begin(), known.end(), numbers.begin() + (known.empty() ? 0 : integers_.least_ - least));
    known = std::move(numbers);
    integers_.least_ = least;
  }
  return integers_;
}

void HostMemo::Codes::Reserve(size_t more) {
  if (keys_.size() >= 2 * (used_ + more)) return;
  const std::vector<int64_t> keys = std::move(keys_);
  const std::vector<uint32_t> numbers = std::move(numbers_);
  keys_.assign(std::bit_ceil(4 * (used_ + more)), kNoKey);
  numbers_.assign(keys_.size(), 0);
  used_ = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] != kNoKey) Of(keys[i]) = numbers[i];
  }
}

HostCalls::HostCalls(const PenumbraExecOptions& options, MemoryBudget* budget, std::function<void()> wake_caller)
    : function_(options.host_function),
      frames_(options.host_frames),
      host_(options.host),
      budget_(budget),
      wake_caller_(std::move(wake_caller)),
      arena_(budget) {}

Vector HostCalls::Evaluate(const Expr& call, const Vector* args, uint32_t rows, EvalContext& context) {
  HostMemo own(nullptr, seed_);  // of this batch, when the shared one is full
  HostMemo* memo;
  {
    std::lock_guard lock(memo_mutex_);
    memo = FindMemoLocked(call);
    if (!memo->HasRoom(std::max(budget_->budget_bytes() / kMemoShare, kMemoBytesMin))) memo = &own;
  }
  std::vector<uint32_t> entries(rows);
  if (memo != &own && ResolveByCodes(call, memo, args, rows, context.arena, &entries)) {
    const Vector& column = args[FindOnlyArgument(call)];
    std::lock_guard lock(memo_mutex_);
    return VectorOfCodes(call.type, memo, entries, column, context.arena);
  }
  entries = Resolve(call, memo, args, rows, context.arena);
  std::lock_guard lock(memo_mutex_);
  const Vector result = VectorOf(call.type, memo, entries, context.arena);
  if (memo != &own || !IsStringForm(result)) return result;
  auto* strings = static_cast<StringRef*>(const_cast<void*>(result.data));
  for (uint32_t i = 0; i < rows; ++i) {
    const StringRef string = strings[i];
    if (!string.is_inline())
      strings[i] = StringRef(context.arena.CopyBytes(string.pointer, string.length), string.length);
  }
  return result;
}

HostMemo* HostCalls::FindMemoLocked(const Expr& call) {
  const auto number = static_cast<size_t>(NumberOf(call));
  if (number >= memos_.size()) memos_.resize(number + 1);
  if (memos_[number] == nullptr) memos_[number] = std::make_unique<HostMemo>(budget_, seed_);
  return memos_[number].get();
}

std::vector<uint32_t> HostCalls::Resolve(const Expr& call, HostMemo* memo, const Vector* args, uint32_t rows,
                                         Arena& arena) {
  ArgumentKeys keys(call, args, rows, arena);
  std::vector<std::string_view> images(rows);
  std::vector<uint64_t> hashes(rows);
  std::vector<uint32_t> entries(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    images[i] = keys.Make(i);
    hashes[i] = memo->HashOf(images[i]);
  }
  Lookup lookup{&call, memo, args, {}, {}};
  {
    std::lock_guard lock(memo_mutex_);
    for (uint32_t i = 0; i < rows; ++i) {
      entries[i] = memo->FindOrAdd(images[i], hashes[i]);
      HostMemo::Entry& entry = memo->entry(entries[i]);
      if (entry.is_known || entry.asked_by == &lookup) continue;
      entry.asked_by = &lookup;
      lookup.rows.push_back(static_cast<uint16_t>(i));
      lookup.entries.push_back(entries[i]);
    }
  }
  if (!lookup.rows.empty()) Ask([&] { Run(lookup); });
  return entries;
}

// By the codes of the only argument, without a look at the values of codes that are known. Of a dictionary these are
// the entries that rows have, and no others: those could fail. False: it has no codes.
bool HostCalls::ResolveByCodes(const Expr& call, HostMemo* memo, const Vector* args, uint32_t rows, Arena& arena,
                               std::vector<uint32_t>* entries) {
  const int which = FindOnlyArgument(call);
  if (which < 0 || !HasCodes(args[which])) return false;
  const Vector& column = args[which];
  std::vector<int64_t> codes(rows);
  int64_t least = INT64_MAX, greatest = INT64_MIN;
  for (uint32_t i = 0; i < rows; ++i) {
    if (!column.IsValid(i)) continue;
    codes[i] = CodeOf(column, i);
    least = std::min(least, codes[i]);
    greatest = std::max(greatest, codes[i]);
  }
  if (least > greatest) least = greatest = 0;
  auto find = [&]() -> HostMemo::Codes& {
    return column.form == VectorForm::kDictionary ? memo->CodesOfDictionary(column)
                                                  : memo->CodesOfIntegers(least, greatest, rows);
  };
  auto number_of = [&](HostMemo::Codes& known, uint32_t row) -> uint32_t& {
    return column.IsValid(row) ? known.Of(codes[row]) : known.OfNull();
  };
  std::vector<uint16_t> missing;
  {
    std::lock_guard lock(memo_mutex_);
    HostMemo::Codes& known = find();
    for (uint32_t i = 0; i < rows; ++i) {
      const uint32_t number = number_of(known, i);
      if (number == 0) missing.push_back(static_cast<uint16_t>(i));
      (*entries)[i] = number - 1;
    }
  }
  if (missing.empty()) return true;
  const auto count = static_cast<uint32_t>(missing.size());
  std::vector<Vector> few(args, args + call.args.size());
  few[which] = Gather(column, missing.data(), count, arena);
  const std::vector<uint32_t> found = Resolve(call, memo, few.data(), count, arena);
  std::lock_guard lock(memo_mutex_);
  HostMemo::Codes& known = find();
  for (uint32_t i = 0; i < count; ++i) {
    (*entries)[missing[i]] = found[i];
    number_of(known, missing[i]) = found[i] + 1;
  }
  return true;
}

void HostCalls::EvaluateFrames(const PenumbraFrames& frames,
                               const std::function<void(const PenumbraColumnInput&)>& take) {
  Ask([&] {
    PenumbraColumnInput results{};
    if (frames_ == nullptr) throw EngineError(PENUMBRA_UNSUPPORTED, "aggregate of the host");
    if (!frames_(host_, &frames, &results)) throw EngineError(PENUMBRA_HOST_ERROR);
    take(results);
  });
}

uint32_t HostCalls::TakeState() {
  std::lock_guard lock(states_mutex_);
  if (free_states_.empty()) return state_count_++;
  const uint32_t state = free_states_.back();
  free_states_.pop_back();
  return state;
}

void HostCalls::GiveBackState(uint32_t state) {
  std::lock_guard lock(states_mutex_);
  free_states_.push_back(state);
}

void HostCalls::Ask(std::function<void()> run) {
  if (pthread_equal(pthread_self(), caller_)) {
    run();
    return;
  }
  Request request{std::move(run), false, nullptr};
  {
    std::lock_guard lock(queue_mutex_);
    waiting_.push_back(&request);
  }
  wake_caller_();
  std::unique_lock lock(queue_mutex_);
  served_.wait(lock, [&] { return request.is_done || is_stopped_; });
  if (request.is_done) {
    if (request.error != nullptr) std::rethrow_exception(request.error);
    return;
  }
  std::erase(waiting_, &request);
  throw EngineError(PENUMBRA_CANCELLED);
}

// An entry that another thread asked for, too, may be known by now.
void HostCalls::Run(const Lookup& lookup) {
  std::vector<uint16_t> rows;
  std::vector<uint32_t> entries;
  {
    std::lock_guard lock(memo_mutex_);
    for (size_t i = 0; i < lookup.entries.size(); ++i) {
      if (lookup.memo->entry(lookup.entries[i]).is_known) continue;
      rows.push_back(lookup.rows[i]);
      entries.push_back(lookup.entries[i]);
    }
  }
  if (rows.empty()) return;
  const Expr& call = *lookup.call;
  const auto count = static_cast<uint32_t>(rows.size());
  arena_.Reset();
  std::vector<PenumbraResultColumn> columns;
  for (uint32_t i = 0; i < call.args.size(); ++i) {
    columns.push_back(MakeResultColumn(Gather(lookup.args[i], rows.data(), count, arena_), count, arena_));
  }
  const PenumbraResult arguments{count, columns.data()};
  PenumbraColumnInput results{};
  if (!function_(host_, NumberOf(call), &arguments, &results)) throw EngineError(PENUMBRA_HOST_ERROR);
  std::lock_guard lock(memo_mutex_);
  for (uint32_t i = 0; i < count; ++i) lookup.memo->Set(entries[i], call.type, results, i);
}

// After an error, which may be a cancel, the others wait for the end of the execution.
bool HostCalls::Serve() {
  Request* request;
  {
    std::lock_guard lock(queue_mutex_);
    if (waiting_.empty() || has_failed_) return false;
    request = waiting_.front();
    waiting_.pop_front();
  }
  try {
    request->run();
  } catch (...) {
    request->error = std::current_exception();
  }
  std::lock_guard lock(queue_mutex_);
  has_failed_ = request->error != nullptr;
  request->is_done = true;
  served_.notify_all();
  return true;
}

void HostCalls::Stop() {
  std::lock_guard lock(queue_mutex_);
  is_stopped_ = true;
  served_.notify_all();
}

// Not strict, and it can fail: so it is evaluated on the rows that SQL evaluates it on, and on no others.
std::unique_ptr<Expr> BuildHostCall(int function, PenumbraType result, const std::vector<const Expr*>& args) {
  auto call = std::make_unique<Expr>();
  call->kind = Expr::Kind::kCall;
  call->type = result;
  call->args = args;
  for (const Expr* arg : args) call->depth = std::max(call->depth, arg->depth);
  ++call->depth;
  call->evaluate = EvaluateHostCall;
  call->evaluated_args = static_cast<uint32_t>(args.size());
  call->can_fail = call->call_can_fail = call->calls_host = true;
  call->can_be_unsupported =
      std::any_of(args.begin(), args.end(), [](const Expr* arg) { return arg->can_be_unsupported; });
  call->is_strict = false;
  call->state = std::make_shared<const int>(function);
  return call;
}

}  // namespace penumbra
