// NUMERIC against PostgreSQL: results that a server printed (numeric_cases.sql), value, display
// scale and packed bytes. The cases of golden/numeric_cases.tsv are part of the source; more come
// from a live server through numeric_differential.sh, which names its file in
// PENUMBRA_NUMERIC_CASES.
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "function/registry.h"
#include "numeric/numeric.h"
#include "numeric/numeric_rows.h"
#include "support/expr_cases.h"
#include "vector/error.h"

namespace penumbra {
namespace {

constexpr char kNone[] = "\\N";

struct Case {
  std::string function;
  std::string args[3];
  std::string expected;
  std::string payload;  // hex
  int line;
};

std::string CasesPath() {
  const char* path = std::getenv("PENUMBRA_NUMERIC_CASES");
  return path != nullptr ? path : PENUMBRA_TEST_DIRECTORY "/golden/numeric_cases.tsv";
}

const std::vector<Case>& Cases() {
  static const std::vector<Case>* cases = [] {
    auto* result = new std::vector<Case>;
    std::ifstream file(CasesPath());
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
      std::istringstream fields(line);
      Case c;
      c.line = number;
      for (std::string* field : {&c.function, &c.args[0], &c.args[1], &c.args[2], &c.expected, &c.payload}) {
        std::getline(fields, *field, '\t');
      }
      result->push_back(std::move(c));
    }
    return result;
  }();
  return *cases;
}

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (unsigned char byte : bytes) {
    hex.push_back("0123456789abcdef"[byte >> 4]);
    hex.push_back("0123456789abcdef"[byte & 15]);
  }
  return hex;
}

std::string Describe(const Case& c) {
  return "line " + std::to_string(c.line) + ": " + c.function + " " + c.args[0] + " | " + c.args[1] + " | " + c.args[2];
}

// A result as the file has it: the text, and the payload of a numeric.
struct Answer {
  std::string text;
  std::string payload = kNone;
};

Answer AnswerOf(const Decimal& number) {
  Arena arena;
  return {number.ToString(), Hex(number.ToPayload(arena).view())};
}

template <typename Real>
std::string RealText(Real value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

// As values, because the shortest text of a real is not unique.
bool IsSameReal(const Case& c, const std::string& answer) {
  if (answer == c.expected) return true;
  if (c.expected[0] == '!' || answer[0] == '!') return false;
  return c.function == "float4" ? std::strtof(answer.c_str(), nullptr) == std::strtof(c.expected.c_str(), nullptr)
                                : std::strtod(answer.c_str(), nullptr) == std::strtod(c.expected.c_str(), nullptr);
}

// ---------------------------------------------------------------- Decimal ---------------------

Answer RunAggregate(const std::string& function, const std::string& list) {
  std::istringstream items(list);
  Decimal sum, squares;
  int64_t count = 0;
  for (std::string item; items >> item; ++count) {
    const Decimal x = Decimal::FromString(item);
    sum = Decimal::Add(sum, x);
    squares = Decimal::Add(squares, Decimal::Multiply(x, x));
  }
  if (function == "sum") return AnswerOf(sum);
  if (function == "average") return AnswerOf(Decimal::Average(sum, count));
  const Decimal::Spread spread = function == "var_pop"      ? Decimal::Spread::kVarPop
                                 : function == "var_samp"   ? Decimal::Spread::kVarSamp
                                 : function == "stddev_pop" ? Decimal::Spread::kStddevPop
                                                            : Decimal::Spread::kStddevSamp;
  Decimal result;
  if (!Decimal::ComputeSpread(spread, count, sum, squares, &result)) return {"NULL"};
  return AnswerOf(result);
}

using Operation = Answer (*)(const Decimal& a, const Decimal& b, const Case& c);

Answer Bool(bool value) { return {value ? "true" : "false"}; }

Answer IntegerOf(const Decimal& a, int64_t least, int64_t greatest, PenumbraCode code) {
  int64_t value;
  if (a.kind() != Decimal::Kind::kFinite) throw EngineError(PENUMBRA_CANNOT_CONVERT);
  if (!a.ToInt64(&value) || value < least || value > greatest) throw EngineError(code);
  return {std::to_string(value)};
}

#define OP(expression)                                                                                                 \
  []([[maybe_unused]] const Decimal& a, [[maybe_unused]] const Decimal& b, [[maybe_unused]] const Case& c) -> Answer { \
    return expression;                                                                                                 \
  }
const std::map<std::string, Operation>& DecimalOperations() {
  static const std::map<std::string, Operation> operations = {
      {"add", OP(AnswerOf(Decimal::Add(a, b)))},
      {"sub", OP(AnswerOf(Decimal::Subtract(a, b)))},
      {"mul", OP(AnswerOf(Decimal::Multiply(a, b)))},
      {"div", OP(AnswerOf(Decimal::Divide(a, b)))},
      {"mod", OP(AnswerOf(Decimal::Modulo(a, b)))},
      {"neg", OP(AnswerOf(Decimal::Negate(a)))},
      {"abs", OP(AnswerOf(Decimal::Abs(a)))},
      {"sign", OP(AnswerOf(Decimal::Sign(a)))},
      {"round", OP(AnswerOf(Decimal::Round(a, 0)))},
      {"trunc", OP(AnswerOf(Decimal::Truncate(a, 0)))},
      {"round_to", OP(AnswerOf(Decimal::Round(a, std::stoi(c.args[1]))))},
      {"trunc_to", OP(AnswerOf(Decimal::Truncate(a, std::stoi(c.args[1]))))},
      {"floor", OP(AnswerOf(Decimal::Floor(a)))},
      {"ceil", OP(AnswerOf(Decimal::Ceil(a)))},
      {"sqrt", OP(AnswerOf(Decimal::SquareRoot(a)))},
      {"value", OP(AnswerOf(a))},
      {"greatest", OP(AnswerOf(Decimal::Compare(a, b) >= 0 ? a : b))},
      {"least", OP(AnswerOf(Decimal::Compare(a, b) <= 0 ? a : b))},
      {"typmod", OP(AnswerOf(Decimal::ApplyTypmod(a, std::stoi(c.args[1]), std::stoi(c.args[2]))))},
      {"from_float4", OP(AnswerOf(Decimal::FromFloat(std::strtof(c.args[0].c_str(), nullptr))))},
      {"from_float8", OP(AnswerOf(Decimal::FromFloat(std::strtod(c.args[0].c_str(), nullptr))))},
      {"eq", OP(Bool(Decimal::Compare(a, b) == 0))},
      {"ne", OP(Bool(Decimal::Compare(a, b) != 0))},
      {"lt", OP(Bool(Decimal::Compare(a, b) < 0))},
      {"le", OP(Bool(Decimal::Compare(a, b) <= 0))},
      {"gt", OP(Bool(Decimal::Compare(a, b) > 0))},
      {"ge", OP(Bool(Decimal::Compare(a, b) >= 0))},
      {"distinct", OP(Bool(Decimal::Compare(a, b) != 0))},
      {"int2", OP(IntegerOf(a, INT16_MIN, INT16_MAX, PENUMBRA_INT2_OUT_OF_RANGE))},
      {"int4", OP(IntegerOf(a, INT32_MIN, INT32_MAX, PENUMBRA_INT4_OUT_OF_RANGE))},
      {"int8", OP(IntegerOf(a, INT64_MIN, INT64_MAX, PENUMBRA_INT8_OUT_OF_RANGE))},
      {"float4", OP(Answer{RealText(a.ToFloat())})},
      {"float8", OP(Answer{RealText(a.ToDouble())})},
      {"text", OP(Answer{a.ToString()})},
  };
  return operations;
}
#undef OP

bool IsAggregate(const std::string& function) {
  return function == "sum" || function == "average" || function.starts_with("var_") || function.starts_with("stddev_");
}

void Check(const Case& c, const Answer& answer, const std::string& how) {
  if (c.function == "float4" || c.function == "float8") {
    EXPECT_TRUE(IsSameReal(c, answer.text)) << Describe(c) << how << ": " << answer.text << " for " << c.expected;
    return;
  }
  EXPECT_EQ(answer.text, c.expected) << Describe(c) << how;
  if (c.payload != kNone && answer.payload != kNone) {
    EXPECT_EQ(answer.payload, c.payload) << Describe(c) << how;
  }
}

TEST(NumericGoldenTest, ThereAreCases) { EXPECT_GT(Cases().size(), 1000u) << CasesPath(); }

TEST(NumericGoldenTest, Decimals) {
  int run = 0;
  for (const Case& c : Cases()) {
    Answer answer;
    try {
      if (IsAggregate(c.function)) {
        answer = RunAggregate(c.function, c.args[0]);
      } else {
        const auto operation = DecimalOperations().find(c.function);
        if (operation == DecimalOperations().end()) continue;
        const bool has_b = c.args[1] != kNone && c.function != "typmod";
        const bool is_real = c.function == "from_float4" || c.function == "from_float8";
        answer = operation->second(is_real ? Decimal() : Decimal::FromString(c.args[0]),
                                   has_b ? Decimal::FromString(c.args[1]) : Decimal(), c);
      }
    } catch (const EngineError& error) {
      answer = {test::Outcome(error)};
    }
    Check(c, answer, "");
    ++run;
  }
  EXPECT_GT(run, 1000);
}

// Payloads, integers and canonical forms of every numeric in the file.
TEST(NumericGoldenTest, Payloads) {
  Arena arena;
  for (const Case& c : Cases()) {
    if (c.payload == kNone) continue;
    std::string bytes;
    for (size_t i = 0; i < c.payload.size(); i += 2) {
      bytes.push_back(static_cast<char>(std::stoi(c.payload.substr(i, 2), nullptr, 16)));
    }
    const uint32_t length = static_cast<uint32_t>(bytes.size());
    const Decimal number = Decimal::FromPayload(bytes);
    EXPECT_EQ(number.ToString(), c.expected) << Describe(c);
    EXPECT_EQ(Hex(number.ToPayload(arena).view()), c.payload) << Describe(c);
    int128 wide = 0, scaled = 0;
    int64_t narrow;
    int scale = -1;
    const bool is_int128 = PayloadToInt128(bytes.data(), length, &wide, &scale);
    EXPECT_EQ(is_int128, number.ToScaledInteger(&scaled)) << Describe(c);
    if (is_int128) {
      EXPECT_TRUE(wide == scaled && scale == number.scale()) << Describe(c);
      char packed[kIntegerPayloadBytes];
      EXPECT_EQ(Hex({packed, IntegerToPayload(wide, scale, packed)}), c.payload) << Describe(c);
      char ordered[2][kIntegerPayloadBytes + kOrderedBytesMore];
      const char* ends[] = {WriteOrderedBytes({packed, IntegerToPayload(wide, scale, packed)}, ordered[0]),
                            WriteOrderedBytes(wide, scale, ordered[1])};
      EXPECT_EQ(Hex({ordered[1], ends[1]}), Hex({ordered[0], ends[0]})) << Describe(c);
      EXPECT_EQ(CanonicalInteger(wide, scale, arena).view(), CanonicalPayload(bytes, arena).view()) << Describe(c);
    }
    const int128 limit = kPowersOfTen[kMaxInt64Digits];
    const bool is_int64 = PayloadToInt64(bytes.data(), length, &narrow, &scale);
    EXPECT_EQ(is_int64, is_int128 && wide < limit && wide > -limit) << Describe(c);
    EXPECT_TRUE(!is_int64 || (narrow == wide && scale == number.scale())) << Describe(c);
    const StringRef canonical = CanonicalPayload(bytes, arena);
    EXPECT_EQ(Decimal::Compare(CanonicalToDecimal(canonical.view()), number), 0) << Describe(c);
    // The same value with another scale.
    if (number.kind() == Decimal::Kind::kFinite && number.scale() < 16000) {
      const Decimal longer = Decimal::Round(number, number.scale() + 7);
      EXPECT_EQ(CanonicalPayload(longer.ToPayload(arena).view(), arena).view(), canonical.view()) << Describe(c);
    }
  }
}

// ---------------------------------------------------------------- vectors ---------------------

struct VectorFunction {
  PenumbraFunction function;
  PenumbraType result;
  int numeric_args;
};

const std::map<std::string, VectorFunction>& VectorFunctions() {
  static const std::map<std::string, VectorFunction> functions = {
      {"add", {PENUMBRA_FN_ADD, PENUMBRA_NUMERIC, 2}},
      {"sub", {PENUMBRA_FN_SUB, PENUMBRA_NUMERIC, 2}},
      {"mul", {PENUMBRA_FN_MUL, PENUMBRA_NUMERIC, 2}},
      {"div", {PENUMBRA_FN_DIV, PENUMBRA_NUMERIC, 2}},
      {"mod", {PENUMBRA_FN_MOD, PENUMBRA_NUMERIC, 2}},
      {"neg", {PENUMBRA_FN_NEG, PENUMBRA_NUMERIC, 1}},
      {"abs", {PENUMBRA_FN_ABS, PENUMBRA_NUMERIC, 1}},
      {"sign", {PENUMBRA_FN_SIGN, PENUMBRA_NUMERIC, 1}},
      {"round", {PENUMBRA_FN_ROUND, PENUMBRA_NUMERIC, 1}},
      {"trunc", {PENUMBRA_FN_TRUNC, PENUMBRA_NUMERIC, 1}},
      {"round_to", {PENUMBRA_FN_ROUND, PENUMBRA_NUMERIC, 1}},
      {"trunc_to", {PENUMBRA_FN_TRUNC, PENUMBRA_NUMERIC, 1}},
      {"floor", {PENUMBRA_FN_FLOOR, PENUMBRA_NUMERIC, 1}},
      {"ceil", {PENUMBRA_FN_CEIL, PENUMBRA_NUMERIC, 1}},
      {"sqrt", {PENUMBRA_FN_SQRT, PENUMBRA_NUMERIC, 1}},
      {"greatest", {PENUMBRA_FN_GREATEST, PENUMBRA_NUMERIC, 2}},
      {"least", {PENUMBRA_FN_LEAST, PENUMBRA_NUMERIC, 2}},
      {"nullif", {PENUMBRA_FN_NULLIF, PENUMBRA_NUMERIC, 2}},
      {"typmod", {PENUMBRA_FN_NUMERIC_TYPMOD, PENUMBRA_NUMERIC, 1}},
      {"eq", {PENUMBRA_FN_EQ, PENUMBRA_BOOL, 2}},
      {"ne", {PENUMBRA_FN_NE, PENUMBRA_BOOL, 2}},
      {"lt", {PENUMBRA_FN_LT, PENUMBRA_BOOL, 2}},
      {"le", {PENUMBRA_FN_LE, PENUMBRA_BOOL, 2}},
      {"gt", {PENUMBRA_FN_GT, PENUMBRA_BOOL, 2}},
      {"ge", {PENUMBRA_FN_GE, PENUMBRA_BOOL, 2}},
      {"distinct", {PENUMBRA_FN_IS_DISTINCT, PENUMBRA_BOOL, 2}},
      {"int2", {PENUMBRA_FN_CAST, PENUMBRA_INT2, 1}},
      {"int4", {PENUMBRA_FN_CAST, PENUMBRA_INT4, 1}},
      {"int8", {PENUMBRA_FN_CAST, PENUMBRA_INT8, 1}},
      {"float4", {PENUMBRA_FN_CAST, PENUMBRA_FLOAT4, 1}},
      {"float8", {PENUMBRA_FN_CAST, PENUMBRA_FLOAT8, 1}},
      {"text", {PENUMBRA_FN_CAST, PENUMBRA_TEXT, 1}},
  };
  return functions;
}

// How an argument is held.
struct Shape {
  NumericForm form;
  VectorForm layout;
  bool has_wide_bounds;
};

constexpr Shape kShapes[] = {
    {NumericForm::kInt64, VectorForm::kFlat, false},       {NumericForm::kInt64, VectorForm::kFlat, true},
    {NumericForm::kInt64, VectorForm::kConstant, false},   {NumericForm::kInt64, VectorForm::kDictionary, false},
    {NumericForm::kInt128, VectorForm::kFlat, false},      {NumericForm::kInt128, VectorForm::kFlat, true},
    {NumericForm::kInt128, VectorForm::kConstant, false},  {NumericForm::kPayload, VectorForm::kFlat, false},
    {NumericForm::kPayload, VectorForm::kConstant, false}, {NumericForm::kPayload, VectorForm::kDictionary, false},
};

constexpr uint32_t kRows = 3;  // the value, a null with other bytes below it, the value

// False: the number has no such form.
bool MakeVector(const Decimal& number, const Shape& shape, Arena& arena, Vector* v) {
  static constexpr uint64_t kValidity = 0b101;
  static constexpr uint8_t kCodes[kRows] = {1, 0, 1};
  int128 value = 0;
  const bool is_small = number.ToScaledInteger(&value);
  if (shape.form != NumericForm::kPayload && !is_small) return false;
  if (shape.form == NumericForm::kInt64 && !FitsInt64(value, value)) return false;
  *v = Vector();
  v->type = PENUMBRA_NUMERIC;
  v->form = shape.layout;
  v->numeric_form = shape.form;
  v->scale = shape.form == NumericForm::kPayload ? 0 : static_cast<int16_t>(number.scale());
  v->lower = v->upper = value;
  if (shape.has_wide_bounds) {
    v->lower = shape.form == NumericForm::kInt64 ? INT64_MIN : 1 - kInt128Limit;
    v->upper = shape.form == NumericForm::kInt64 ? INT64_MAX : kInt128Limit - 1;
  }
  // Entry or row 1 is not the number: garbage below a null, or the dictionary's other entry.
  const bool is_dictionary = shape.layout == VectorForm::kDictionary;
  const uint32_t real_rows[2] = {is_dictionary ? 1u : 0u, is_dictionary ? 1u : 2u};
  const auto fill = [&](auto* values, auto garbage, auto real) {
    for (uint32_t i = 0; i < kRows; ++i) values[i] = garbage;
    for (uint32_t row : real_rows) values[row] = real;
    if (is_dictionary) values[0] = real;  // dictionaries hold no garbage
    return static_cast<const void*>(values);
  };
  const void* data = nullptr;
  if (shape.form == NumericForm::kInt64) {
    data = fill(arena.AllocateArray<int64_t>(kRows), INT64_MIN, static_cast<int64_t>(value));
  } else if (shape.form == NumericForm::kInt128) {
    data = fill(arena.AllocateArray<int128>(kRows), ~int128{0} << 126, value);
  } else {
    data = fill(arena.AllocateArray<StringRef>(kRows), StringRef("?", 1), number.ToPayload(arena));
  }
  v->data = data;
  if (shape.layout == VectorForm::kFlat) v->validity = &kValidity;
  if (is_dictionary) {
    Vector* entries = new (arena.Allocate(sizeof(Vector))) Vector(*v);
    entries->form = VectorForm::kFlat;
    v->dictionary = entries;
    v->dictionary_size = 2;
    v->code_bytes = 1;
    v->data = kCodes;
    v->validity = &kValidity;
  }
  return true;
}

Vector Int4Constant(const std::string& text, Arena& arena) {
  Vector v;
  v.type = PENUMBRA_INT4;
  v.form = VectorForm::kConstant;
  int32_t* value = arena.AllocateArray<int32_t>(1);
  *value = std::stoi(text);
  v.data = value;
  return v;
}

Answer AnswerAt(const Vector& result, uint32_t row, Arena& arena) {
  const Vector flat = Flatten(result, kRows, arena);
  if (!flat.IsValid(row)) return {"NULL"};
  switch (flat.type) {
    case PENUMBRA_BOOL: return Bool(flat.values<uint8_t>()[row] != 0);
    case PENUMBRA_INT2: return {std::to_string(flat.values<int16_t>()[row])};
    case PENUMBRA_INT4: return {std::to_string(flat.values<int32_t>()[row])};
    case PENUMBRA_INT8: return {std::to_string(flat.values<int64_t>()[row])};
    case PENUMBRA_FLOAT4: return {RealText(flat.values<float>()[row])};
    case PENUMBRA_FLOAT8: return {RealText(flat.values<double>()[row])};
    case PENUMBRA_TEXT: return {std::string(flat.values<StringRef>()[row].view())};
    default: break;
  }
  const Decimal number = DecimalAt(flat, row);
  int128 value;
  if (flat.numeric_form != NumericForm::kPayload) {
    EXPECT_TRUE(number.ToScaledInteger(&value) && value >= flat.lower && value <= flat.upper) << "bounds";
  }
  return {number.ToString(), Hex(PayloadAt(flat, row, arena).view())};
}

// The engine's expression for a case, with columns for the arguments that the test hands in.
class CaseCall {
 public:
  explicit CaseCall(const Case& c) {
    const VectorFunction& f = VectorFunctions().at(c.function);
    for (int i = 0; i < f.numeric_args; ++i) owned_.push_back(BuildColumn(i, PENUMBRA_NUMERIC));
    for (int i = f.numeric_args; i < 3 && c.args[i] != kNone; ++i) {
      PenumbraValue value = {};
      value.integer = std::stoi(c.args[i]);
      owned_.push_back(BuildConstant(PENUMBRA_INT4, value));
    }
    std::vector<const Expr*> args;
    for (const auto& arg : owned_) args.push_back(arg.get());
    std::string reason;
    call_ = BuildCall(f.function, f.result, args, session_, &reason);
    EXPECT_NE(call_, nullptr) << reason;
  }
  Vector Run(const Vector* args, Arena& arena) const {
    EvalContext context{arena, session_};
    return call_->evaluate(*call_, args, kRows, context);
  }

 private:
  Session session_;
  std::vector<std::unique_ptr<Expr>> owned_;
  std::unique_ptr<Expr> call_;
};

void RunShapes(const Case& c, const CaseCall& call, Vector* args, bool is_all_constant, Arena& arena,
               const std::string& how) {
  Answer answers[2];
  try {
    const Vector result = call.Run(args, arena);
    answers[0] = AnswerAt(result, 0, arena);
    answers[1] = AnswerAt(result, 2, arena);
    if (!is_all_constant && c.function != "distinct" && c.function != "greatest" && c.function != "least" &&
        c.function != "nullif") {
      EXPECT_EQ(AnswerAt(result, 1, arena).text, "NULL") << Describe(c) << how;
    }
  } catch (const EngineError& error) {
    answers[0] = answers[1] = {test::Outcome(error)};
  }
  Check(c, answers[0], how);
  Check(c, answers[1], how + " row 2");
}

TEST(NumericGoldenTest, Vectors) {
  int run = 0;
  for (const Case& c : Cases()) {
    const auto found = VectorFunctions().find(c.function);
    if (found == VectorFunctions().end()) continue;
    const CaseCall call(c);
    const Decimal a = Decimal::FromString(c.args[0]);
    const bool is_binary = found->second.numeric_args == 2;
    const Decimal b = is_binary ? Decimal::FromString(c.args[1]) : Decimal();
    Arena arena;
    Vector args[3];
    for (int i = found->second.numeric_args; i < 3 && c.args[i] != kNone; ++i) args[i] = Int4Constant(c.args[i], arena);
    for (size_t i = 0; i < std::size(kShapes); ++i) {
      if (!MakeVector(a, kShapes[i], arena, &args[0])) continue;
      for (size_t j = 0; j < (is_binary ? std::size(kShapes) : 1); ++j) {
        if (is_binary && !MakeVector(b, kShapes[j], arena, &args[1])) continue;
        const bool is_all_constant = args[0].is_constant() && (!is_binary || args[1].is_constant());
        RunShapes(c, call, args, is_all_constant, arena,
                  " as shape " + std::to_string(i) + (is_binary ? " and " + std::to_string(j) : ""));
        ++run;
      }
    }
  }
  EXPECT_GT(run, 10000);
}

template <typename T, typename Parse>
void CheckFromNative(const Case& c, PenumbraType type, Parse parse) {
  Arena arena;
  Session session;
  EvalContext context{arena, session};
  std::string reason;
  const auto column = BuildColumn(0, type);
  const auto call = BuildCall(PENUMBRA_FN_CAST, PENUMBRA_NUMERIC, {column.get()}, session, &reason);
  ASSERT_NE(call, nullptr) << reason;
  const T value = static_cast<T>(parse(c.args[0]));
  const T values[kRows] = {value, T(), value};
  Vector arg;
  arg.type = type;
  arg.data = values;
  Check(c, AnswerAt(call->evaluate(*call, &arg, kRows, context), 2, arena), "");
}

TEST(NumericGoldenTest, FromIntegersAndReals) {
  const auto parse_int = [](const std::string& text) { return std::stoll(text); };
  const auto parse_float = [](const std::string& text) { return std::strtof(text.c_str(), nullptr); };
  const auto parse_double = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  for (const Case& c : Cases()) {
    if (c.function == "from_int2") CheckFromNative<int16_t>(c, PENUMBRA_INT2, parse_int);
    if (c.function == "from_int4") CheckFromNative<int32_t>(c, PENUMBRA_INT4, parse_int);
    if (c.function == "from_int8") CheckFromNative<int64_t>(c, PENUMBRA_INT8, parse_int);
    if (c.function == "from_float4") CheckFromNative<float>(c, PENUMBRA_FLOAT4, parse_float);
    if (c.function == "from_float8") CheckFromNative<double>(c, PENUMBRA_FLOAT8, parse_double);
  }
}

}  // namespace
}  // namespace penumbra
