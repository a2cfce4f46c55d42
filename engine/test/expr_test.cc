// Evaluation itself: filters, laziness, constants, dictionaries, what a merge of NUMERIC branches keeps.
#include "expression/expr.h"

#include <gtest/gtest.h>

#include <deque>

#include "function/registry.h"
#include "numeric/numeric.h"
#include "support/expr_cases.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra::test {
namespace {

// Builds trees; the nodes live as long as it.
class Tree {
 public:
  const Expr* Column(int column, PenumbraType type) { return Keep(BuildColumn(column, type)); }
  const Expr* Int4(int32_t value) { return Keep(BuildConstant(PENUMBRA_INT4, Integer(value))); }
  const Expr* Null(PenumbraType type) {
    PenumbraValue value{};
    value.is_null = true;
    return Keep(BuildConstant(type, value));
  }
  const Expr* Numeric(const char* text) {
    Arena arena;
    const StringRef payload = Decimal::FromString(text).ToPayload(arena);
    PenumbraValue value{};
    value.bytes = payload.data();
    value.bytes_length = payload.length;
    return Keep(BuildConstant(PENUMBRA_NUMERIC, value));
  }
  const Expr* Text(std::string_view text) {
    PenumbraValue value{};
    value.bytes = text.data();
    value.bytes_length = static_cast<uint32_t>(text.size());
    return Keep(BuildConstant(PENUMBRA_TEXT, value));
  }
  const Expr* Call(PenumbraFunction function, PenumbraType result, std::vector<const Expr*> args) {
    std::string reason;
    std::unique_ptr<Expr> expr = BuildCall(function, result, args, session_, &reason);
    EXPECT_NE(expr, nullptr) << reason;
    return Keep(std::move(expr));
  }
  std::string Refusal(PenumbraFunction function, PenumbraType result, std::vector<const Expr*> args) {
    std::string reason;
    EXPECT_EQ(BuildCall(function, result, args, session_, &reason), nullptr);
    return reason;
  }
  const Session& session() const { return session_; }

 private:
  static PenumbraValue Integer(int64_t integer) {
    PenumbraValue value{};
    value.integer = integer;
    return value;
  }
  const Expr* Keep(std::unique_ptr<Expr> expr) {
    nodes_.push_back(std::move(expr));
    return nodes_.back().get();
  }

  Session session_;
  std::deque<std::unique_ptr<Expr>> nodes_;
};

// Columns of a batch of int4 and bool, some rows null.
class Columns {
 public:
  explicit Columns(uint32_t rows) : rows_(rows) {}
  template <typename T, typename F>
  void Add(PenumbraType type, F value, uint32_t null_every = 0) {
    T* values = arena_.AllocateArray<T>(rows_);
    uint64_t* validity = nullptr;
    for (uint32_t i = 0; i < rows_; ++i) values[i] = value(i);
    if (null_every > 0) {
      validity = arena_.AllocateArray<uint64_t>(BitWords(rows_));
      kernels::SetBits(validity, rows_);
      for (uint32_t i = 0; i < rows_; i += null_every) validity[i / 64] &= ~(uint64_t{1} << (i % 64));
    }
    columns_.push_back(FlatVector(type, values, validity));
  }
  void Add(const Vector& v) { columns_.push_back(v); }
  Batch batch() const { return {rows_, static_cast<uint32_t>(columns_.size()), columns_.data()}; }
  Arena& arena() { return arena_; }

 private:
  uint32_t rows_;
  Arena arena_;
  std::vector<Vector> columns_;
};

int32_t Int4At(const Vector& v, uint32_t row) { return v.values<int32_t>()[v.is_constant() ? 0 : row]; }

TEST(ExprTest, FilterSelectsTrueRowsOfEverySize) {
  Tree tree;
  const Expr* condition = tree.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {tree.Column(0, PENUMBRA_INT4), tree.Int4(50)});
  for (uint32_t rows : {1u, 63u, 64u, 65u, 1000u, kVectorRows}) {
    Columns columns(rows);
    columns.Add<int32_t>(PENUMBRA_INT4, [](uint32_t i) { return static_cast<int32_t>(i * 37 % 101); }, 5);
    EvalContext context{columns.arena(), tree.session()};
    uint16_t selected[kVectorRows];
    const uint32_t count = EvaluateFilter(*condition, columns.batch(), context, selected);
    std::vector<uint16_t> expected;
    for (uint32_t i = 0; i < rows; ++i) {
      if (i % 5 != 0 && i * 37 % 101 > 50) expected.push_back(static_cast<uint16_t>(i));
    }
    EXPECT_EQ(std::vector<uint16_t>(selected, selected + count), expected) << rows;
  }
}

// The sets are made when the first vector asks; one that a cancel left half made is made again.
TEST(ExprTest, ACancelEndsTheMakingOfAList) {
  Tree tree;
  std::vector<const Expr*> integers = {tree.Column(0, PENUMBRA_INT4)}, texts = {tree.Column(1, PENUMBRA_TEXT)};
  std::vector<const Expr*> numerics = {tree.Column(2, PENUMBRA_NUMERIC)};
  for (int i = 0; i < 20; ++i) {
    integers.push_back(tree.Int4(i * 100'000));
    texts.push_back(tree.Text(std::to_string(i * 100'000)));
    numerics.push_back(tree.Numeric(std::to_string(i * 100'000).c_str()));
  }
  Columns columns(100);
  columns.Add<int32_t>(PENUMBRA_INT4, [](uint32_t i) { return static_cast<int32_t>(i * 50'000); });
  columns.Add<StringRef>(PENUMBRA_TEXT, [](uint32_t i) { return StringRef(std::to_string(i * 50'000)); });
  columns.Add<int64_t>(PENUMBRA_NUMERIC, [](uint32_t i) { return int64_t{i} * 50'000; });
  Cancellation cancellation;
  EvalContext context{columns.arena(), tree.session(), nullptr, &cancellation};
  for (const auto& args : {integers, texts, numerics}) {
    const Expr* in = tree.Call(PENUMBRA_FN_IN_LIST, PENUMBRA_BOOL, args);
    uint16_t selected[kVectorRows];
    cancellation.is_cancelled = true;
    EXPECT_THROW(EvaluateFilter(*in, columns.batch(), context, selected), EngineError);
    cancellation.is_cancelled = false;
    EXPECT_EQ(EvaluateFilter(*in, columns.batch(), context, selected), 20u);
  }
}

// x <> 0 AND 100 / x > 1: the division sees no zero, and null rows no value.
TEST(ExprTest, AndGuardsDivision) {
  Tree tree;
  const Expr* x = tree.Column(0, PENUMBRA_INT4);
  const Expr* quotient = tree.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {tree.Int4(100), x});
  const Expr* guard = tree.Call(PENUMBRA_FN_NE, PENUMBRA_BOOL, {x, tree.Int4(0)});
  const Expr* large = tree.Call(PENUMBRA_FN_GT, PENUMBRA_BOOL, {quotient, tree.Int4(1)});
  const Expr* both = tree.Call(PENUMBRA_FN_AND, PENUMBRA_BOOL, {guard, large});
  const Expr* not_guard = tree.Call(PENUMBRA_FN_NOT, PENUMBRA_BOOL, {guard});
  const Expr* either = tree.Call(PENUMBRA_FN_OR, PENUMBRA_BOOL, {not_guard, large});
  Columns columns(1000);
  columns.Add<int32_t>(PENUMBRA_INT4, [](uint32_t i) { return static_cast<int32_t>(i % 4 == 0 ? 0 : i); }, 7);
  EvalContext context{columns.arena(), tree.session()};
  uint16_t selected[kVectorRows];
  uint32_t expected_both = 0, expected_either = 0;
  for (uint32_t i = 0; i < 1000; ++i) {
    if (i % 7 == 0) continue;
    const bool is_zero = i % 4 == 0;
    expected_both += !is_zero && 100 / i > 1;
    expected_either += is_zero || 100 / i > 1;
  }
  EXPECT_EQ(EvaluateFilter(*both, columns.batch(), context, selected), expected_both);
  EXPECT_EQ(EvaluateFilter(*either, columns.batch(), context, selected), expected_either);
  EXPECT_THROW(EvaluateFilter(*large, columns.batch(), context, selected), EngineError);
}

TEST(ExprTest, CaseAndCoalesceGuardDivision) {
  Tree tree;
  const Expr* x = tree.Column(0, PENUMBRA_INT4);
  const Expr* is_zero = tree.Call(PENUMBRA_FN_EQ, PENUMBRA_BOOL, {x, tree.Int4(0)});
  const Expr* quotient = tree.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {tree.Int4(100), x});
  const Expr* guarded = tree.Call(PENUMBRA_FN_CASE, PENUMBRA_INT4, {is_zero, tree.Int4(-1), quotient});
  // The second column is null where the first is not zero.
  const Expr* fallback = tree.Call(PENUMBRA_FN_COALESCE, PENUMBRA_INT4, {tree.Column(1, PENUMBRA_INT4), quotient});
  Columns columns(500);
  columns.Add<int32_t>(PENUMBRA_INT4, [](uint32_t i) { return static_cast<int32_t>(i % 3); });
  uint64_t* zero_rows = columns.arena().AllocateArray<uint64_t>(BitWords(500));
  std::fill_n(zero_rows, BitWords(500), 0);
  for (uint32_t i = 0; i < 500; i += 3) zero_rows[i / 64] |= uint64_t{1} << (i % 64);
  int32_t* sevens = columns.arena().AllocateArray<int32_t>(500);
  std::fill_n(sevens, 500, 7);
  columns.Add(FlatVector(PENUMBRA_INT4, sevens, zero_rows));
  EvalContext context{columns.arena(), tree.session()};
  const Vector cases = Evaluate(*guarded, columns.batch(), context);
  const Vector coalesced = Evaluate(*fallback, columns.batch(), context);
  for (uint32_t i = 0; i < 500; ++i) {
    const int32_t divisor = static_cast<int32_t>(i % 3);
    EXPECT_EQ(Int4At(cases, i), divisor == 0 ? -1 : 100 / divisor);
    EXPECT_TRUE(coalesced.IsValid(i));
    EXPECT_EQ(Int4At(coalesced, i), divisor == 0 ? 7 : 100 / divisor);
  }
}

TEST(ExprTest, ConstantsFoldUnlessTheyFail) {
  Tree tree;
  const Expr* sum = tree.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {tree.Int4(2), tree.Int4(3)});
  ASSERT_EQ(sum->kind, Expr::Kind::kConstant);
  EXPECT_EQ(*sum->constant.values<int32_t>(), 5);
  const Expr* null = tree.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {tree.Int4(2), tree.Null(PENUMBRA_INT4)});
  ASSERT_EQ(null->kind, Expr::Kind::kConstant);
  EXPECT_TRUE(null->constant.is_null_constant());
  const Expr* failing = tree.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {tree.Int4(2), tree.Int4(0)});
  EXPECT_EQ(failing->kind, Expr::Kind::kCall);
  EXPECT_TRUE(failing->can_fail);
  const Expr* text = tree.Call(PENUMBRA_FN_CONCAT, PENUMBRA_TEXT, {tree.Text("long enough to "), tree.Text("be kept")});
  ASSERT_EQ(text->kind, Expr::Kind::kConstant);
  EXPECT_EQ(text->constant.values<StringRef>()->view(), "long enough to be kept");
}

TEST(ExprTest, CollectsEachColumnOnce) {
  Tree tree;
  const Expr* a = tree.Column(3, PENUMBRA_INT4);
  const Expr* sum = tree.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {a, tree.Column(1, PENUMBRA_INT4)});
  const Expr* all = tree.Call(PENUMBRA_FN_MUL, PENUMBRA_INT4, {sum, a});
  std::vector<int> columns;
  CollectColumns(*all, &columns);
  EXPECT_EQ(columns, (std::vector<int>{3, 1}));
}

// A value in the dictionary that no row has must not raise its error.
TEST(ExprTest, UnusedDictionaryEntryDoesNotFail) {
  Tree tree;
  const Expr* quotient = tree.Call(PENUMBRA_FN_DIV, PENUMBRA_INT4, {tree.Int4(100), tree.Column(0, PENUMBRA_INT4)});
  Columns columns(100);
  const int32_t entries[] = {0, 5, 10};
  const Vector dictionary = FlatVector(PENUMBRA_INT4, entries, nullptr);
  uint8_t codes[100];
  for (uint32_t i = 0; i < 100; ++i) codes[i] = static_cast<uint8_t>(1 + i % 2);
  Vector coded = dictionary;
  coded.form = VectorForm::kDictionary;
  coded.code_bytes = 1;
  coded.dictionary_size = 3;
  coded.dictionary = &dictionary;
  coded.data = codes;
  columns.Add(coded);
  EvalContext context{columns.arena(), tree.session()};
  const Vector result = Flatten(Evaluate(*quotient, columns.batch(), context), 100, columns.arena());
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(Int4At(result, i), i % 2 == 0 ? 20 : 10);
  codes[99] = 0;
  EXPECT_THROW(Evaluate(*quotient, columns.batch(), context), EngineError);
}

// CASE WHEN flag THEN price ELSE 0 END: 0 is not 0.00.
TEST(ExprTest, NumericBranchesKeepTheirScales) {
  Tree tree;
  const Expr* flag = tree.Column(0, PENUMBRA_BOOL);
  const Expr* price = tree.Column(1, PENUMBRA_NUMERIC);
  Columns columns(130);
  columns.Add<uint8_t>(PENUMBRA_BOOL, [](uint32_t i) { return static_cast<uint8_t>(i % 2); });
  int64_t* cents = columns.arena().AllocateArray<int64_t>(130);
  for (uint32_t i = 0; i < 130; ++i) cents[i] = 100 + i;
  Vector prices = FlatVector(PENUMBRA_NUMERIC, cents, nullptr);
  prices.scale = 2;
  prices.lower = 100;
  prices.upper = 229;
  columns.Add(prices);
  EvalContext context{columns.arena(), tree.session()};
  const Expr* mixed = tree.Call(PENUMBRA_FN_CASE, PENUMBRA_NUMERIC, {flag, price, tree.Numeric("0")});
  const Expr* same = tree.Call(PENUMBRA_FN_CASE, PENUMBRA_NUMERIC, {flag, price, tree.Numeric("0.00")});
  const Vector mixed_result = Evaluate(*mixed, columns.batch(), context);
  const Vector same_result = Evaluate(*same, columns.batch(), context);
  EXPECT_EQ(same_result.numeric_form, NumericForm::kInt64);
  EXPECT_EQ(same_result.scale, 2);
  EXPECT_LE(same_result.lower, 0);
  EXPECT_GE(same_result.upper, 229);
  for (uint32_t i = 0; i < 130; ++i) {
    const std::string own = Decimal::FromInteger(cents[i], 2).ToString();
    EXPECT_EQ(FormatRow(mixed_result, i), i % 2 == 1 ? own : "0");
    EXPECT_EQ(FormatRow(same_result, i), i % 2 == 1 ? own : "0.00");
  }
}

TEST(ExprTest, RefusesWithAReason) {
  Tree tree;
  EXPECT_EQ(tree.Refusal(PENUMBRA_FN_ADD, PENUMBRA_INT4, {tree.Text("a"), tree.Int4(1)}), "+ on (text, integer)");
  EXPECT_EQ(tree.Refusal(PENUMBRA_FN_CAST, PENUMBRA_TEXT, {tree.Column(0, PENUMBRA_FLOAT8)}),
            "cast of a floating-point number to text");
  EXPECT_EQ(
      tree.Refusal(PENUMBRA_FN_EXTRACT, PENUMBRA_NUMERIC, {tree.Text("hour"), tree.Column(0, PENUMBRA_TIMESTAMPTZ)}),
      "time zone not known");
  EXPECT_EQ(tree.Refusal(PENUMBRA_FN_EXTRACT, PENUMBRA_NUMERIC, {tree.Text("hour"), tree.Column(0, PENUMBRA_DATE)}),
            "field hour of date");
}

TEST(ExprTest, RefusesAnotherResultType) {
  Tree tree;
  const Expr* number = tree.Column(0, PENUMBRA_NUMERIC);
  for (PenumbraFunction function : {PENUMBRA_FN_EQ, PENUMBRA_FN_IS_DISTINCT}) {
    EXPECT_NE(tree.Refusal(function, PENUMBRA_NUMERIC, {number, number}), "");
  }
  for (PenumbraFunction function : {PENUMBRA_FN_ADD, PENUMBRA_FN_NULLIF, PENUMBRA_FN_GREATEST}) {
    EXPECT_NE(tree.Refusal(function, PENUMBRA_BOOL, {number, number}), "");
  }
  EXPECT_NE(tree.Refusal(PENUMBRA_FN_ROUND, PENUMBRA_INT4, {number, tree.Int4(1)}), "");
  EXPECT_NE(tree.Refusal(PENUMBRA_FN_NUMERIC_TYPMOD, PENUMBRA_TEXT, {number, tree.Int4(5), tree.Int4(1)}), "");
}

// A null row's argument holds what would overflow.
TEST(ExprTest, NullRowsDoNotFail) {
  Tree tree;
  const Expr* x = tree.Column(0, PENUMBRA_INT4);
  Columns columns(300);
  columns.Add<int32_t>(PENUMBRA_INT4, [](uint32_t i) { return i % 3 == 0 ? INT32_MAX : 1; }, 3);
  EvalContext context{columns.arena(), tree.session()};
  const Expr* sum = tree.Call(PENUMBRA_FN_ADD, PENUMBRA_INT4, {x, tree.Int4(1)});
  const Vector result = Evaluate(*sum, columns.batch(), context);
  for (uint32_t i = 0; i < 300; ++i) {
    EXPECT_EQ(result.IsValid(i), i % 3 != 0);
    if (i % 3 != 0) {
      EXPECT_EQ(Int4At(result, i), 2);
    }
  }
}

// A column of nulls alone decides what a strict call gives, not whether its other arguments fail.
TEST(ExprTest, ArgumentsBesideNullsFail) {
  Tree tree;
  const Expr* x = tree.Column(0, PENUMBRA_INT4);
  const Expr* product = tree.Call(PENUMBRA_FN_MUL, PENUMBRA_INT4, {x, x});
  const Expr* differs = tree.Call(PENUMBRA_FN_NE, PENUMBRA_BOOL, {tree.Column(1, PENUMBRA_INT4), product});
  for (int32_t value : {3, INT32_MAX}) {
    Columns columns(100);
    columns.Add<int32_t>(PENUMBRA_INT4, [value](uint32_t i) { return i == 77 ? value : 1; });
    columns.Add(NullConstant(PENUMBRA_INT4));
    EvalContext context{columns.arena(), tree.session()};
    uint16_t selected[100];
    if (value == 3) {
      EXPECT_TRUE(Evaluate(*differs, columns.batch(), context).is_null_constant());
      EXPECT_EQ(EvaluateFilter(*differs, columns.batch(), context, selected), 0u);
    } else {
      EXPECT_THROW(Evaluate(*differs, columns.batch(), context), EngineError);
      EXPECT_THROW(EvaluateFilter(*differs, columns.batch(), context, selected), EngineError);
    }
  }
}

}  // namespace
}  // namespace penumbra::test
