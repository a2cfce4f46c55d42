#include "aggregate/distinct_texts.h"

#include <algorithm>
#include <new>

namespace penumbra {
namespace {

// Of the memory budget, at most, and what a short text takes of it.
constexpr size_t kTextsShare = 2, kTextBytes = 64;
// So many rows are learned from. Of fewer texts groups are found by codes, without hashing.
constexpr uint64_t kLearnedRows = uint64_t{32} << 10, kFewTexts = 4096;
// Rows that are looked for at a time: what they need is fetched ahead.
constexpr uint32_t kAheadRows = 256;
constexpr uint64_t kSaltMask = ~uint64_t{0} << 48;

// The bits of a hash that are neither its shard's nor its place's, where a word has them.
uint64_t SaltOf(uint64_t hash) { return hash << 8 & kSaltMask; }

// Words may overlap: a comparison of variable length is a call.
bool EqualBytes(const char* a, const char* b, uint32_t length) {
  const auto word = [](const char* bytes) {
    uint64_t value;
    std::memcpy(&value, bytes, 8);
    return value;
  };
  if (length < 8) return std::memcmp(a, b, length) == 0;
  for (uint32_t at = 0; at + 8 < length; at += 8) {
    if (word(a + at) != word(b + at)) return false;
  }
  return word(a + length - 8) == word(b + length - 8);
}

}  // namespace

// ---------------------------------------------------------------- groups

GroupNumbers::GroupNumbers(const GroupLayout& layout, uint32_t place, ExecutionEnvironment& environment)
    : keys_(layout.keys), place_(place), directory_(&environment.budget), arena_(&environment.budget, size_t{4} << 10) {
  directory_.Reset(kGroupsMax);
}

uint32_t GroupNumbers::Find(char* row) {
  const char* image;
  if (is_full_.load(std::memory_order_acquire)) {
    image = directory_.Find(keys_, row);
  } else {
    std::lock_guard<std::mutex> lock(mutex_);
    image = Enter(row);
  }
  uint32_t kept = kNone + 1;
  if (image != nullptr) std::memcpy(&kept, image + keys_.image_bytes(), sizeof(kept));
  std::memcpy(row + place_, &kept, sizeof(kept));
  return kept;
}

// Null: there is no room.
const char* GroupNumbers::Enter(const char* row) {
  const char* known = directory_.Find(keys_, row);
  if (known != nullptr) return known;
  if (directory_.row_count() >= kGroupsMax) {
    is_full_.store(true, std::memory_order_release);
    return nullptr;
  }
  return directory_.FindOrInsert(keys_, row, [&] {
    char* image = static_cast<char*>(arena_.Allocate(keys_.image_bytes() + sizeof(uint32_t)));
    std::memcpy(image, row, keys_.image_bytes());
    keys_.OwnStrings(image, arena_);
    const auto number = static_cast<uint32_t>(directory_.row_count()) + 1;
    std::memcpy(image + keys_.image_bytes(), &number, sizeof(number));
    return image;
  });
}

// ---------------------------------------------------------------- texts

DistinctTexts::DistinctTexts(GroupNumbers& groups, ExecutionEnvironment& environment)
    : groups_(groups), environment_(environment), texts_(&environment.budget) {}

std::unique_ptr<DistinctTexts::Local> DistinctTexts::CreateLocal() {
  constexpr size_t kFirstBlockBytes = size_t{16} << 10, kMaxBlockBytes = size_t{2} << 20;
  std::lock_guard<std::mutex> lock(mutex_);
  return std::unique_ptr<Local>(
      new Local(arenas_.emplace_back(&environment_.budget, kFirstBlockBytes, kMaxBlockBytes)));
}

// Asked under the lock of the shard where a word would be entered. So whoever found no word there after a "no" knows
// that there will be none.
bool DistinctTexts::MayGrow() {
  if (is_full_.load(std::memory_order_relaxed)) return false;
  const MemoryBudget& budget = environment_.budget;
  const size_t bytes = text_bytes_.load(std::memory_order_relaxed) + texts_.bytes();
  if (bytes <= budget.budget_bytes() / kTextsShare && !budget.IsExceeded()) return true;
  is_full_.store(true, std::memory_order_relaxed);
  return false;
}

// Of n random rows n * n / 2 / texts come again, while these are few: whether there may be too many texts for the
// budget.
void DistinctTexts::Learn(uint32_t rows, uint32_t new_texts, bool has_other_groups) {
  const uint64_t n = learned_rows_.fetch_add(rows, std::memory_order_relaxed) + rows;
  const uint64_t texts = learned_texts_.fetch_add(new_texts, std::memory_order_relaxed) + new_texts;
  if (n < kLearnedRows && !has_other_groups) return;
  const uint64_t texts_max = environment_.budget.budget_bytes() / kTextsShare / kTextBytes;
  const uint64_t again = n - std::min(n, texts);
  const bool is_worth = !has_other_groups && texts >= kFewTexts && 2 * again * texts_max >= n * n;
  State learning = State::kLearning;
  state_.compare_exchange_strong(learning, is_worth ? State::kOn : State::kOff);
}

DistinctTexts::Text* DistinctTexts::EnterText(Local& local, const StringRef& string, uint64_t hash) {
  const auto equal = [&](uint64_t word) {
    if ((word & kSaltMask) != SaltOf(hash)) return false;
    Text* text = TextOf(word);
    return text->length == string.length && EqualBytes(text->bytes(), string.data(), string.length);
  };
  uint64_t word = texts_.Find(hash, equal);
  if (word == 0) {
    const auto make = [&]() -> uint64_t {
      if (!MayGrow()) return 0;
      const size_t bytes = sizeof(Text) + string.length;
      Text* text = new (local.arena.Allocate(bytes)) Text{{0}, static_cast<uint32_t>(hash), string.length};
      std::memcpy(text->bytes(), string.data(), string.length);
      text_bytes_.fetch_add(bytes, std::memory_order_relaxed);
      ++local.new_texts;
      return SaltOf(hash) | reinterpret_cast<uint64_t>(text);
    };
    word = texts_.FindOrEnter(hash, equal, make, [](uint64_t entered) { return uint64_t{TextOf(entered)->hash}; });
  }
  return word == 0 ? &none_ : TextOf(word);
}

template <typename StringOf>
void DistinctTexts::FindStrings(Local& local, uint32_t count, const StringOf& string_of, Text** found) {
  uint64_t hashes[kAheadRows];
  for (uint32_t begin = 0; begin < count; begin += kAheadRows) {
    const uint32_t end = std::min(count, begin + kAheadRows);
    for (uint32_t i = begin; i < end; ++i) {
      hashes[i - begin] = HashKey(string_of(i).view(), seed_);
      texts_.Prefetch(hashes[i - begin]);
    }
    for (uint32_t i = begin; i < end; ++i) {
      const uint64_t word = texts_.Peek(hashes[i - begin]);
      if ((word & kSaltMask) != SaltOf(hashes[i - begin])) continue;
      __builtin_prefetch(TextOf(word), 1);
      __builtin_prefetch(TextOf(word)->bytes() + string_of(i).length - 1);
    }
    for (uint32_t i = begin; i < end; ++i) found[i] = EnterText(local, string_of(i), hashes[i - begin]);
  }
}

// Entries of a dictionary are looked for once, when a row first has them.
void DistinctTexts::FindTexts(Local& local, const Vector& texts, const Rows& rows, Arena& arena, Text** found) {
  const bool is_dictionary = texts.form == VectorForm::kDictionary;
  if (texts.is_constant()) {
    FindStrings(local, 1, [&](uint32_t) -> const StringRef& { return *texts.values<StringRef>(); }, found);
    std::fill_n(found + 1, rows.count - 1, found[0]);
    return;
  }
  if (!is_dictionary || (texts.dictionary_id == 0 && texts.dictionary_size > rows.count)) {
    const StringRef* strings = (is_dictionary ? *texts.dictionary : texts).values<StringRef>();
    const auto string_of = [&](uint32_t i) -> const StringRef& {
      return strings[is_dictionary ? texts.Code(rows.rows[i]) : rows.rows[i]];
    };
    return FindStrings(local, rows.count, string_of, found);
  }
  if (texts.dictionary_id == 0 || texts.dictionary_id != local.dictionary_id) {
    local.entries.assign(texts.dictionary_size, nullptr);
    local.dictionary_id = texts.dictionary_id;
  }
  const StringRef* strings = texts.dictionary->values<StringRef>();
  uint32_t* codes = arena.AllocateArray<uint32_t>(rows.count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < rows.count; ++i) {
    Text*& entry = local.entries[texts.Code(rows.rows[i])];
    if (entry != nullptr) continue;
    entry = &none_;  // and not looked for twice
    codes[count++] = texts.Code(rows.rows[i]);
  }
  FindStrings(local, count, [&](uint32_t i) -> const StringRef& { return strings[codes[i]]; }, found);
  for (uint32_t i = 0; i < count; ++i) local.entries[codes[i]] = found[i];
  for (uint32_t i = 0; i < rows.count; ++i) found[i] = local.entries[texts.Code(rows.rows[i])];
}

void DistinctTexts::Sort(Local& local, char* const* groups, const Vector& texts, RowSelection selection, Arena& arena,
                         Rows* first, Rows* others) {
  const State state = state_.load(std::memory_order_relaxed);
  Rows numbered;
  uint32_t* numbers = arena.AllocateArray<uint32_t>(selection.count);
  for (uint32_t i = 0; i < selection.count; ++i) {
    const uint16_t row = selection.rows[i];
    const uint32_t number = state == State::kOff ? GroupNumbers::kNone : groups_.NumberOf(groups[row]);
    numbers[numbered.count] = number;
    (number == GroupNumbers::kNone ? *others : numbered).Add(row);
  }
  if (numbered.count == 0) return;
  local.new_texts = 0;
  Text** found = arena.AllocateArray<Text*>(numbered.count);
  FindTexts(local, texts, numbered, arena, found);
  Rows* counted = state == State::kOn ? first : others;
  for (uint32_t i = 0; i < numbered.count; ++i) {
    const uint16_t row = numbered.rows[i];
    if (found[i] == &none_) {
      others->Add(row);
      continue;
    }
    const uint64_t group = uint64_t{1} << numbers[i];
    if ((found[i]->groups.load(std::memory_order_relaxed) & group) != 0) continue;
    if ((found[i]->groups.fetch_or(group, std::memory_order_relaxed) & group) == 0) counted->Add(row);
  }
  if (state == State::kLearning) Learn(selection.count, local.new_texts, numbered.count < selection.count);
}

}  // namespace penumbra
