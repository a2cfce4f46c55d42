// Order and letter case under the C library's locales, against the C library called as PostgreSQL calls it.
#include "function/collation.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/query.h"
#include "vector/error.h"

namespace penumbra {
namespace {

constexpr const char* kLocales[] = {"en_US.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "C.UTF-8", "sv_SE.UTF-8"};

const Collation* Find(PenumbraCollation description, bool is_utf8 = true) {
  std::string reason;
  const Collation* collation = Collation::Find(description, is_utf8, &reason);
  EXPECT_EQ(reason, "");
  return collation;
}

std::string Encode(char32_t character) {
  std::string bytes;
  if (character < 0x80) return {static_cast<char>(character)};
  const int more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  static constexpr int kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  bytes += static_cast<char>(kFirst[more] | static_cast<int>(character >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) bytes += static_cast<char>(0x80 | ((character >> (6 * i)) & 0x3f));
  return bytes;
}

std::vector<std::string> Texts(int count) {
  std::mt19937 random(7);
  const std::vector<std::string> parts = {"a", "A",  "b",       "B", "I",      "i",  "ı", "İ", "ß",  "ẞ",
                                          "é", "É",  "e\u0301", " ", "-",      "_",  "%", "z", "Ä",  "ä",
                                          "o", "ö",  "Ⱥ",       "ⱥ", "Ω",      "ω",  "Σ", "ς", "日", "🎉",
                                          "1", "10", "ǅ",       "ǆ", "\u200d", "fi", "Џ", "џ", "𐐀",  "𐐨"};
  std::vector<std::string> texts = {"", "a", std::string(600, 'x'), std::string(600, 'x') + "Y"};
  std::string long_weights;  // each of these has the weights of 18 letters
  for (int i = 0; i < 32; ++i) texts.push_back(long_weights += "\ufdfa");
  while (texts.size() < static_cast<size_t>(count)) {
    std::string text;
    for (size_t n = random() % 9; n > 0; --n) text += parts[random() % parts.size()];
    texts.push_back(text);
  }
  return texts;
}

// As PostgreSQL: to wide characters, each of which is changed, and back.
std::string ChangeWide(CaseChange change, const std::string& text, locale_t locale) {
  const locale_t before = uselocale(locale);
  std::vector<wchar_t> wide(text.size() + 1);
  EXPECT_NE(mbstowcs(wide.data(), text.c_str(), wide.size()), static_cast<size_t>(-1));
  bool is_inside = false;
  for (wchar_t& character : wide) {
    if (character == 0) break;
    const bool is_lower = change == CaseChange::kLower || is_inside;
    character = static_cast<wchar_t>(is_lower ? towlower(character) : towupper(character));
    if (change == CaseChange::kTitle) is_inside = iswalnum(character) != 0;
  }
  std::vector<char> bytes(4 * text.size() + 1);
  EXPECT_NE(wcstombs(bytes.data(), wide.data(), bytes.size()), static_cast<size_t>(-1));
  uselocale(before);
  return bytes.data();
}

TEST(Collation, ChangesCaseAsTheLibrary) {
  for (const char* name : kLocales) {
    const Collation* collation = Find({nullptr, PENUMBRA_CASE_LIBC, name});
    const locale_t locale = newlocale(LC_CTYPE_MASK, name, nullptr);
    ASSERT_NE(locale, nullptr) << name;
    std::vector<std::string> texts = Texts(3000);
    for (char32_t c = 1; c < 0x11000; c += c < 0x2000 ? 1 : 7) {
      if (c < 0xd800 || c > 0xdfff) texts.push_back("x" + Encode(c));
    }
    for (const CaseChange change : {CaseChange::kLower, CaseChange::kUpper, CaseChange::kTitle}) {
      CaseBuffer buffer(collation->letter_case(), change);
      for (const std::string& text : texts) {
        EXPECT_EQ(buffer.Change(StringRef(text)).view(), ChangeWide(change, text, locale)) << name << " " << text;
      }
    }
    EXPECT_TRUE(collation->letter_case().KeepsWildcards());
    freelocale(locale);
  }
}

TEST(Collation, DefaultCollationsOfSingleBytesFoldAsciiAsC) {
  const Collation* turkish = Find({nullptr, PENUMBRA_CASE_LIBC, "tr_TR.ISO-8859-9"}, false);
  const Collation* by_default = Find({nullptr, PENUMBRA_CASE_LIBC_DEFAULT, "tr_TR.ISO-8859-9"}, false);
  const std::string text = "I\xdd\xfd\xc4i";  // dotted capital i, dotless i, a with diaeresis
  EXPECT_EQ(CaseBuffer(turkish->letter_case(), CaseChange::kLower).Change(StringRef(text)).view(), "\xfdi\xfd\xe4i");
  EXPECT_EQ(CaseBuffer(by_default->letter_case(), CaseChange::kLower).Change(StringRef(text)).view(), "ii\xfd\xe4i");
  EXPECT_EQ(CaseBuffer(by_default->letter_case(), CaseChange::kUpper).Change(StringRef(text)).view(), "I\xddI\xc4I");
}

TEST(Collation, RefusesTextThatIsNotInTheEncoding) {
  const Collation* collation = Find({nullptr, PENUMBRA_CASE_LIBC, "en_US.UTF-8"});
  CaseBuffer buffer(collation->letter_case(), CaseChange::kUpper);
  for (const char* text : {"a\xff", "a\xc3", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"}) {
    EXPECT_THROW(buffer.Change(StringRef(std::string_view(text))), EngineError);
  }
}

TEST(Collation, AsciiOnlyRefusesOtherText) {
  const Collation* collation = Find({nullptr, PENUMBRA_CASE_ASCII_ONLY, nullptr});
  EXPECT_TRUE(collation->letter_case().can_fail());
  CaseBuffer buffer(collation->letter_case(), CaseChange::kUpper);
  EXPECT_EQ(buffer.Change(StringRef(std::string_view("aBc 1 long enough"))).view(), "ABC 1 LONG ENOUGH");
  EXPECT_THROW(buffer.Change(StringRef(std::string_view("é"))), EngineError);
}

TEST(Collation, RefusesLocalesThatDoNotExistOrFit) {
  std::string reason;
  EXPECT_EQ(Collation::Find({"xx_XX.UTF-8", PENUMBRA_CASE_C, nullptr}, true, &reason), nullptr);
  EXPECT_EQ(reason, "locale xx_XX.UTF-8 cannot be opened");
  EXPECT_EQ(Collation::Find({"de_DE.ISO-8859-1", PENUMBRA_CASE_C, nullptr}, true, &reason), nullptr);
  EXPECT_EQ(reason, "locale de_DE.ISO-8859-1 is not one of UTF-8");
}

int Sign(int order) { return (order > 0) - (order < 0); }

TEST(Collation, OrdersAsTheLibrary) {
  const std::vector<std::string> texts = Texts(400);
  for (const char* name : kLocales) {
    const Collation* collation = Find({name, PENUMBRA_CASE_C, nullptr});
    const locale_t locale = newlocale(LC_COLLATE_MASK, name, nullptr);
    for (const std::string& a : texts) {
      for (const std::string& b : texts) {
        int expected = strcoll_l(a.c_str(), b.c_str(), locale);
        if (expected == 0) expected = a.compare(b);
        ASSERT_EQ(Sign(CompareCollated(collation, false, StringRef(a), StringRef(b))), Sign(expected)) << a << b;
      }
    }
    freelocale(locale);
  }
}

// Whole queries over a table of numbers and texts, with few texts (a dictionary) or many.
class CollatedQuery : public ::testing::TestWithParam<int> {
 protected:
  static constexpr uint32_t kRows = 12000;
  static constexpr PenumbraCollation kCollation = {"en_US.UTF-8", PENUMBRA_CASE_LIBC, "en_US.UTF-8"};

  CollatedQuery() : texts_(Texts(GetParam())), collation_(Find(kCollation)) {}

  test::Cell TextOf(uint32_t row) const {
    if (row % 50 == 49) return std::nullopt;
    return texts_[row * 7919 % texts_.size()];
  }
  test::Output Run(const test::PlanBuilder& plan, int threads, size_t memory_bytes = size_t{256} << 20) const {
    const std::vector<PenumbraType> types = {PENUMBRA_INT4, PENUMBRA_TEXT};
    const auto cell = [&](uint32_t first) {
      return [this, first](uint32_t row, int column) -> test::Cell {
        return column == 0 ? test::Cell(std::to_string(first + row)) : TextOf(first + row);
      };
    };
    const test::Table cached(types, kRows - 1000, cell(0)), pushed(types, 1000, cell(kRows - 1000));
    const test::Chunk chunk(cached);
    test::Input input{{&chunk}, {&pushed}};
    input.threads = threads;
    input.memory_bytes = memory_bytes;
    test::Output output = test::Run(plan, input);
    EXPECT_EQ(output.status.code, PENUMBRA_OK) << output.status.message;
    return output;
  }
  int Compare(const std::string& a, const std::string& b) const {
    return CompareCollated(collation_, false, StringRef(a), StringRef(b));
  }
  // All texts in order, nulls last; "NULL" is none of the texts.
  std::vector<std::string> Ordered(bool descending) const {
    std::vector<std::string> ordered;
    size_t nulls = 0;
    for (uint32_t row = 0; row < kRows; ++row) {
      const test::Cell text = TextOf(row);
      nulls += !text.has_value();
      if (text.has_value()) ordered.push_back(*text);
    }
    std::sort(ordered.begin(), ordered.end(), [&](const std::string& a, const std::string& b) {
      return descending ? Compare(b, a) < 0 : Compare(a, b) < 0;
    });
    ordered.insert(ordered.end(), nulls, "NULL");
    return ordered;
  }

  const std::vector<std::string> texts_;
  const Collation* collation_;
};

TEST_P(CollatedQuery, SortsAndFindsTheFirst) {
  for (const int64_t limit : {-1, 5, 3000}) {
    for (const int order : {0, 1, 2, 3}) {
      const bool descending = order % 2 != 0, is_spilled = order / 2 != 0 && limit != 5;
      test::PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_TEXT});
      plan.Sort({{plan.Column(1), descending, false, &kCollation}, {plan.Column(0), false, false}}, limit);
      const test::Output output = Run(plan, 2, is_spilled ? 1000 : size_t{256} << 20);
      EXPECT_EQ(output.operators.back().spilled_bytes > 0, is_spilled);
      std::vector<std::string> expected = Ordered(descending);
      if (limit >= 0) expected.resize(static_cast<size_t>(limit));
      ASSERT_EQ(output.rows.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(output.rows[i][1], expected[i]) << i;
        if (i > 0 && expected[i] == expected[i - 1]) {
          ASSERT_LT(std::stoi(output.rows[i - 1][0]), std::stoi(output.rows[i][0]));
        }
      }
    }
  }
}

TEST_P(CollatedQuery, FindsLeastAndGreatestByGroup) {
  for (const int groups : {1, 5, 9000}) {
    test::PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_TEXT});
    const PenumbraExpr key = plan.Call(PENUMBRA_FN_MOD, PENUMBRA_INT4,
                                       {plan.Column(0), plan.Constant(PENUMBRA_INT4, std::to_string(groups))});
    PenumbraAggregateCall least = test::Aggregate(PENUMBRA_AGG_MIN, PENUMBRA_TEXT, plan.Column(1));
    PenumbraAggregateCall greatest = test::Aggregate(PENUMBRA_AGG_MAX, PENUMBRA_TEXT, plan.Column(1));
    const PenumbraAggregateCall bytewise = least;
    least.collation = greatest.collation = &kCollation;
    if (groups == 1) {
      // Metadata knows the bytewise bounds only.
      test::PlanBuilder whole({PENUMBRA_INT4, PENUMBRA_TEXT});
      PenumbraAggregateCall first = least, last = greatest;
      first.arguments[0] = last.arguments[0] = whole.Column(1);
      whole.Aggregate({}, {first, last});
      const std::vector<std::string> ordered = Ordered(false);
      const test::Row found = Run(whole, 2).rows[0];
      EXPECT_EQ(found[0], ordered.front());
      EXPECT_EQ(found[1], *std::find_if(ordered.rbegin(), ordered.rend(),
                                        [](const std::string& text) { return text != "NULL"; }));
    }
    plan.Aggregate({key}, {least, greatest, bytewise});
    std::vector<test::Row> expected;
    for (int group = 0; group < groups; ++group) {
      std::vector<std::string> texts;
      for (uint32_t row = static_cast<uint32_t>(group); row < kRows; row += static_cast<uint32_t>(groups)) {
        if (TextOf(row).has_value()) texts.push_back(*TextOf(row));
      }
      if (texts.empty()) {
        expected.push_back({std::to_string(group), "NULL", "NULL", "NULL"});
        continue;
      }
      const auto [low, high] = std::minmax_element(
          texts.begin(), texts.end(), [&](const std::string& a, const std::string& b) { return Compare(a, b) < 0; });
      expected.push_back({std::to_string(group), *low, *high, *std::min_element(texts.begin(), texts.end())});
    }
    EXPECT_EQ(test::Sorted(Run(plan, 2).rows), test::Sorted(expected));
  }
}

TEST_P(CollatedQuery, Filters) {
  for (const std::string& bound : {std::string("b"), std::string("É"), std::string("z ")}) {
    test::PlanBuilder plan({PENUMBRA_INT4, PENUMBRA_TEXT});
    const PenumbraExpr constant = plan.Constant(PENUMBRA_TEXT, bound);
    const PenumbraExpr folded = plan.Call(PENUMBRA_FN_LOWER, PENUMBRA_TEXT, {plan.Column(1)}, &kCollation);
    plan.Filter({plan.Call(PENUMBRA_FN_LE, PENUMBRA_BOOL, {constant, plan.Column(1)}, &kCollation),
                 plan.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {folded, plan.Constant(PENUMBRA_TEXT, "c")}, &kCollation)});
    plan.Project({plan.Column(0)});
    CaseBuffer lower(collation_->letter_case(), CaseChange::kLower);
    std::vector<test::Row> expected;
    for (uint32_t row = 0; row < kRows; ++row) {
      const test::Cell text = TextOf(row);
      if (!text.has_value() || Compare(bound, *text) > 0) continue;
      if (Compare(std::string(lower.Change(StringRef(*text)).view()), "c") > 0)
        expected.push_back({std::to_string(row)});
    }
    EXPECT_EQ(test::Sorted(Run(plan, 2).rows), test::Sorted(expected));
  }
}

INSTANTIATE_TEST_SUITE_P(FewAndManyTexts, CollatedQuery, ::testing::Values(9, 400, 11000));

}  // namespace
}  // namespace penumbra
