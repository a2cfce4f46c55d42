// Regular expressions on automata that are written down here; those of PostgreSQL's compiler are in
// test/differential/test_regex.py.
#include "function/regex.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/kernels.h"
#include "vector/error.h"

namespace penumbra::test {
namespace {

// The automaton of a search over the colors 0 (all other characters), 1 ('a'), 2 ('b') and 3 ('é').
class Search {
 public:
  static constexpr uint32_t kA = 1, kB = 2;

  // The state 0 is initial, 1 is where a match may begin, 2 the final one.
  explicit Search(bool is_anchored) : arcs_(3) {
    Arc(0, PENUMBRA_REGEX_BEGIN, 1);
    if (is_anchored) return;
    Arc(0, PENUMBRA_REGEX_ANY, 1);
    Arc(1, PENUMBRA_REGEX_ANY, 1);
  }
  uint32_t State() {
    arcs_.emplace_back();
    return static_cast<uint32_t>(arcs_.size()) - 1;
  }
  void Arc(uint32_t from, uint32_t color, uint32_t to) { arcs_[from].push_back({color, to}); }
  // From a state on by one character.
  uint32_t Then(uint32_t from, uint32_t color) {
    const uint32_t to = State();
    Arc(from, color, to);
    return to;
  }
  void EndMatch(uint32_t state) {
    Arc(state, PENUMBRA_REGEX_ANY, 2);
    Arc(state, PENUMBRA_REGEX_END, 2);
  }

  std::string bytes() const {
    std::vector<uint32_t> words = {PENUMBRA_REGEX_VERSION, 1, 7, 1, 0, 0, 0};
    words.insert(words.end(), {0, 0, 'a', kA, 'b', kB, 'c', 0, 0xe9, 3, 0xea, 0, 0x10000, 4});
    uint32_t count = 0;
    for (const auto& arcs : arcs_) count += static_cast<uint32_t>(arcs.size());
    words.insert(words.end(), {static_cast<uint32_t>(arcs_.size()), count, 0, 2});
    words.insert(words.end(), arcs_.size(), 0);
    count = 0;
    for (const auto& arcs : arcs_) {
      words.push_back(count);
      count += static_cast<uint32_t>(arcs.size());
    }
    words.push_back(count);
    for (const auto& arcs : arcs_) {
      for (const RegexAutomaton::Arc& arc : arcs) words.insert(words.end(), {arc.color, arc.to});
    }
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint32_t)};
  }

 private:
  std::vector<std::vector<RegexAutomaton::Arc>> arcs_;
};

// 'ab', which is found anywhere.
std::string SearchForAb() {
  Search search(false);
  search.EndMatch(search.Then(search.Then(1, Search::kA), Search::kB));
  return search.bytes();
}

// 'a' .{gap} 'b'
std::string SearchWithGap(int gap) {
  Search search(false);
  uint32_t state = search.Then(1, Search::kA);
  for (int i = 0; i < gap; ++i) state = search.Then(state, PENUMBRA_REGEX_ANY);
  search.EndMatch(search.Then(state, Search::kB));
  return search.bytes();
}

bool HasGap(const std::string& text, size_t gap) {
  for (size_t i = 0; i + gap + 1 < text.size(); ++i) {
    if (text[i] == 'a' && text[i + gap + 1] == 'b') return true;
  }
  return false;
}

class RegexTest : public testing::Test {
 protected:
  const Expr* Call(PenumbraFunction function, const std::string& automata) {
    PenumbraValue value{};
    value.bytes = automata.data();
    value.bytes_length = static_cast<uint32_t>(automata.size());
    text_ = BuildColumn(0, PENUMBRA_TEXT);
    automata_ = BuildConstant(PENUMBRA_TEXT, value);
    std::string reason;
    call_ = BuildCall(function, PENUMBRA_BOOL, {text_.get(), automata_.get()}, session_, &reason);
    EXPECT_NE(call_, nullptr) << reason;
    return call_.get();
  }
  // Which of the texts match; those whose number is a multiple of seven are null if there are nulls.
  std::vector<bool> Matches(const Expr* call, const std::vector<std::string>& texts, bool has_nulls = false) {
    std::vector<bool> found;
    for (size_t begin = 0; begin < texts.size(); begin += kVectorRows) {
      const auto rows = static_cast<uint32_t>(std::min<size_t>(kVectorRows, texts.size() - begin));
      auto* strings = arena_.AllocateArray<StringRef>(rows);
      auto* validity = arena_.AllocateArray<uint64_t>(BitWords(rows));
      kernels::SetBits(validity, rows);
      for (uint32_t i = 0; i < rows; ++i) {
        strings[i] = StringRef(texts[begin + i]);
        if (has_nulls && i % 7 == 0) validity[i / 64] &= ~(uint64_t{1} << (i % 64));
      }
      Vector column = FlatVector(PENUMBRA_TEXT, strings, has_nulls ? validity : nullptr);
      const Batch batch{rows, 1, &column};
      EvalContext context{arena_, session_};
      context.cancellation = &cancellation_;
      uint16_t selected[kVectorRows];
      const uint32_t count = EvaluateFilter(*call, batch, context, selected);
      std::vector<bool> part(rows);
      for (uint32_t i = 0; i < count; ++i) part[selected[i]] = true;
      found.insert(found.end(), part.begin(), part.end());
    }
    return found;
  }
  const RegexProgram& Program() {
    EvalContext context{arena_, session_};
    return FindRegexMatch(*call_)->Get(context);
  }

  Session session_;
  Arena arena_;
  Cancellation cancellation_;
  std::unique_ptr<Expr> text_, automata_, call_;
};

// All texts of up to `length` of the letters.
std::vector<std::string> AllTexts(const std::vector<std::string>& letters, int length) {
  std::vector<std::string> texts = {""};
  for (size_t begin = 0; length > 0; --length) {
    const size_t end = texts.size();
    for (; begin < end; ++begin) {
      for (const std::string& letter : letters) texts.push_back(texts[begin] + letter);
    }
  }
  return texts;
}

TEST_F(RegexTest, FindsWhatTheTextsContain) {
  const std::vector<std::string> texts = AllTexts({"a", "b", "é", "日", "🎉"}, 5);
  const Expr* matches = Call(PENUMBRA_FN_REGEX_MATCHES, SearchForAb());
  const std::vector<bool> found = Matches(matches, texts), found_with_nulls = Matches(matches, texts, true);
  const std::vector<bool> missed = Matches(Call(PENUMBRA_FN_REGEX_MATCHES_NOT, SearchForAb()), texts, true);
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool is_found = texts[i].find("ab") != std::string::npos, is_null = i % kVectorRows % 7 == 0;
    EXPECT_EQ(found[i], is_found) << texts[i];
    EXPECT_EQ(found_with_nulls[i], is_found && !is_null) << texts[i];
    EXPECT_EQ(missed[i], !is_found && !is_null) << texts[i];
  }
}

TEST_F(RegexTest, KnowsItsLiteral) {
  Call(PENUMBRA_FN_REGEX_MATCHES, SearchForAb());
  EXPECT_EQ(Program().literal().bytes, "ab");
  EXPECT_TRUE(Program().literal().is_all);
  EXPECT_FALSE(Program().literal().is_prefix);

  Search anchored(true);
  anchored.EndMatch(anchored.Then(anchored.Then(anchored.Then(1, Search::kB), 3), 0));
  Call(PENUMBRA_FN_REGEX_MATCHES, anchored.bytes());
  EXPECT_EQ(Program().literal().bytes, "bé");
  EXPECT_TRUE(Program().literal().is_prefix);
  EXPECT_FALSE(Program().literal().is_all);  // one of the other characters follows

  Search prefix(true);
  prefix.EndMatch(prefix.Then(prefix.Then(1, Search::kB), 3));
  const Expr* call = Call(PENUMBRA_FN_REGEX_MATCHES, prefix.bytes());
  EXPECT_EQ(Program().literal().bytes, "bé");
  EXPECT_TRUE(Program().literal().is_prefix && Program().literal().is_all);
  EXPECT_EQ(Matches(call, {"bé", "béa", "b", "", "abé", "be"}),
            (std::vector<bool>{true, true, false, false, false, false}));

  // 'a' or 'b': none
  Search either(false);
  const uint32_t after = either.Then(1, Search::kA);
  either.Arc(1, Search::kB, after);
  either.EndMatch(after);
  const Expr* letters = Call(PENUMBRA_FN_REGEX_MATCHES, either.bytes());
  EXPECT_EQ(Program().literal().bytes, "");
  EXPECT_EQ(Matches(letters, {"", "éé", "éb", "aé"}), (std::vector<bool>{false, false, true, true}));
}

TEST_F(RegexTest, ReadsTheCharacterBefore) {
  // (?<=b)a as PostgreSQL compiles it: the character before is consumed by the initial state's arc.
  Search search(false);
  const uint32_t after_b = search.Then(0, Search::kB);
  search.Arc(1, Search::kB, after_b);
  search.EndMatch(search.Then(after_b, Search::kA));
  const Expr* call = Call(PENUMBRA_FN_REGEX_MATCHES, search.bytes());
  EXPECT_EQ(Matches(call, {"a", "ba", "éba", "bé", ""}), (std::vector<bool>{false, true, true, false, false}));
  const RegexAlphabet& alphabet = Program().matches().alphabet();
  const std::string text = "é日b";
  EXPECT_EQ(alphabet.ColorBefore(text.data(), text.data() + 2), 3u);
  EXPECT_EQ(alphabet.ColorBefore(text.data(), text.data() + 5), 0u);
  EXPECT_EQ(alphabet.ColorBefore(text.data(), text.data() + 6), Search::kB);
}

TEST_F(RegexTest, StaysWithinItsMemory) {
  constexpr int kGap = 40;  // 2^40 sets of states
  std::mt19937 random(5);
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (int j = 0; j < 400; ++j) text += random() % 2 == 0 ? 'a' : 'c';
    if (i % 3 == 0) text[random() % text.size()] = 'b';
    texts.push_back(text);
  }
  const std::vector<bool> found = Matches(Call(PENUMBRA_FN_REGEX_MATCHES, SearchWithGap(kGap)), texts);
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(found[i], HasGap(texts[i], kGap)) << i;
  EXPECT_LE(Program().matches().state_count(), 1u << 14);
  EXPECT_GT(Program().matches().state_count(), 1000u);
}

TEST_F(RegexTest, EndsEarlyAndWhenCancelled) {
  std::string text(10 << 20, 'c');
  Search anchored(true);
  anchored.EndMatch(anchored.Then(1, Search::kA));
  Call(PENUMBRA_FN_REGEX_MATCHES, anchored.bytes());
  const RegexDfa& dfa = Program().matches();
  EXPECT_EQ(dfa.Next(dfa.Start(PENUMBRA_REGEX_BEGIN), dfa.alphabet().ClassOf('c')), RegexDfa::kDead);

  for (const int gap : {1, 40}) {
    const Expr* call = Call(PENUMBRA_FN_REGEX_MATCHES, SearchWithGap(gap));
    text.back() = 'b';
    EXPECT_EQ(Matches(call, {text})[0], false);
    text[text.size() - 2 - static_cast<size_t>(gap)] = 'a';
    EXPECT_EQ(Matches(call, {text})[0], true);
    cancellation_.is_cancelled = true;
    EXPECT_THROW(Matches(call, {text}), EngineError);
    cancellation_.is_cancelled = false;
    text.assign(text.size(), 'c');
  }
}

// Parts of a match; the rest is as it was.
std::string WithParts(std::string bytes, const std::vector<PenumbraRegexPart>& parts) {
  reinterpret_cast<PenumbraRegexHeader*>(bytes.data())->part_count = static_cast<uint32_t>(parts.size());
  return bytes.append(reinterpret_cast<const char*>(parts.data()), parts.size() * sizeof(PenumbraRegexPart));
}

TEST_F(RegexTest, RefusesDamage) {
  const PenumbraRegexPart first = {PENUMBRA_REGEX_UNDIVIDED, 2, 0, 0, 0, 2};
  const PenumbraRegexPart second = {PENUMBRA_REGEX_UNDIVIDED, 3, 0, 1, 0, 0};
  const PenumbraRegexPart both = {PENUMBRA_REGEX_SEQUENCE, 1, 0, 0, 1, 0};
  std::mt19937 random(6);
  for (const std::string& good : {SearchForAb(), WithParts(SearchForAb(), {both, first, second})}) {
    EXPECT_EQ(ParseRegex(good).automata.size(), 1);
    for (size_t length = 0; length < good.size(); length += 4) {
      EXPECT_THROW(ParseRegex(std::string_view(good).substr(0, length)), EngineError);
    }
    EXPECT_THROW(ParseRegex(good + "more"), EngineError);
    for (int i = 0; i < 5000; ++i) {
      std::string damaged = good;
      for (int j = 0; j < 2; ++j) damaged[random() % damaged.size()] = static_cast<char>(random());
      try {
        const Regex regex = ParseRegex(damaged);
        FindLiteral(regex.automata[0], regex.alphabet);
      } catch (const EngineError&) {
      }
    }
  }
  // too few parts, one around itself, an automaton that is not there
  EXPECT_THROW(ParseRegex(WithParts(SearchForAb(), {both, second})), EngineError);
  EXPECT_THROW(ParseRegex(WithParts(SearchForAb(),
                                    {{PENUMBRA_REGEX_CHOICE, 0, 0, 0, 1, 0}, {PENUMBRA_REGEX_SAME, 0, 0, 0, 1, 0}})),
               EngineError);
  EXPECT_THROW(ParseRegex(WithParts(SearchForAb(), {{PENUMBRA_REGEX_UNDIVIDED, 0, 1, 0, 0, 0}})), EngineError);
}

}  // namespace
}  // namespace penumbra::test
