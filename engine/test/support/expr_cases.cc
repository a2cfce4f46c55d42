#include "support/expr_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "function/registry.h"
#include "numeric/numeric.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra::test {
namespace {

constexpr char kNull[] = "\\N";
constexpr char kZone[] = "zone";  // of an argument that is the case's zone

PenumbraFunction FunctionOf(const std::string& id) {
  const auto found = std::find(std::begin(kFunctionIds), std::end(kFunctionIds), id);
  return static_cast<PenumbraFunction>(found - std::begin(kFunctionIds));
}

const char* SqlStateOf(PenumbraCode code) {
  switch (code) {
    case PENUMBRA_DIVISION_BY_ZERO: return "22012";
    case PENUMBRA_INT2_OUT_OF_RANGE:
    case PENUMBRA_INT4_OUT_OF_RANGE:
    case PENUMBRA_INT8_OUT_OF_RANGE:
    case PENUMBRA_FLOAT_OVERFLOW:
    case PENUMBRA_FLOAT_UNDERFLOW:
    case PENUMBRA_NUMERIC_OVERFLOW:
    case PENUMBRA_NUMERIC_FIELD_OVERFLOW: return "22003";
    case PENUMBRA_CANNOT_CONVERT: return "0A000";
    case PENUMBRA_DATE_OUT_OF_RANGE:
    case PENUMBRA_TIMESTAMP_OUT_OF_RANGE:
    case PENUMBRA_INTERVAL_OUT_OF_RANGE: return "22008";
    case PENUMBRA_INVALID_ARGUMENT: return "22023";
    case PENUMBRA_INVALID_POWER_ARGUMENT: return "2201F";
    case PENUMBRA_INVALID_LOG_ARGUMENT: return "2201E";
    case PENUMBRA_SUBSTRING_ERROR: return "22011";
    case PENUMBRA_BITS_OF_OTHER_LENGTH: return "22026";
    case PENUMBRA_INVALID_ESCAPE: return "22025";
    case PENUMBRA_STRING_TOO_LONG: return "22001";
    case PENUMBRA_VALUE_TOO_LARGE: return "54000";
    case PENUMBRA_INVALID_NTILE: return "22014";
    case PENUMBRA_INVALID_NTH_VALUE: return "22016";
    case PENUMBRA_OK:
    case PENUMBRA_CARDINALITY_VIOLATION:
    case PENUMBRA_BUILD_TOO_LARGE:
    case PENUMBRA_OUT_OF_MEMORY:
    case PENUMBRA_DISK_FULL:
    case PENUMBRA_TEMPORARY_SPACE_LIMIT:
    case PENUMBRA_IO_ERROR:
    case PENUMBRA_CANCELLED:
    case PENUMBRA_HOST_ERROR:
    case PENUMBRA_CORRUPT:
    case PENUMBRA_UNSUPPORTED:
    case PENUMBRA_INTERNAL: break;
  }
  return "?";
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::string ToHex(std::string_view bytes) {
  std::string hex;
  for (unsigned char byte : bytes) {
    hex.push_back("0123456789abcdef"[byte >> 4]);
    hex.push_back("0123456789abcdef"[byte & 15]);
  }
  return hex;
}

uint64_t BigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (unsigned char byte : bytes) value = value << 8 | byte;
  return value;
}

// The cases are of x86: another processor's libm gives cbrt() other last bits, which are PostgreSQL's there, too.
bool IsExpected(const ExprCase& c, const std::string& actual) {
  if (IsSameResult(c.result, c.expected, actual)) return true;
#ifdef __x86_64__
  return false;
#else
  if (c.function != PENUMBRA_FN_CBRT || c.expected.size() != 16 || actual.size() != 16) return false;
  const int64_t distance = static_cast<int64_t>(BigEndian(FromHex(c.expected)) - BigEndian(FromHex(actual)));
  return std::abs(distance) <= 4;
#endif
}

std::string ToBigEndianHex(uint64_t value, int bytes) {
  std::string big;
  for (int i = bytes - 1; i >= 0; --i) big.push_back(static_cast<char>(value >> (8 * i)));
  return ToHex(big);
}

struct CaseFile {
  std::vector<ExprCase> cases;
  std::map<std::string, Session> sessions;
};

void AddZone(const std::vector<std::string>& fields, CaseFile* file) {
  Session& session = file->sessions[fields[0].substr(5)];
  for (size_t i = 1; i + 1 < fields.size(); i += 2) {
    session.zone.from_us.push_back(std::stoll(fields[i]));
    session.zone.offset_seconds.push_back(std::stoi(fields[i + 1]));
  }
  session.zone.valid_until_us = int64_t{36525} * 86400 * 1000000;  // 2100-01-01
}

std::string ZoneBytes(const ZoneTable& table) {
  const PenumbraZoneHeader header{table.valid_until_us, table.from_us.size()};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.append(reinterpret_cast<const char*>(table.from_us.data()), table.from_us.size() * sizeof(int64_t));
  return bytes.append(reinterpret_cast<const char*>(table.offset_seconds.data()),
                      table.offset_seconds.size() * sizeof(int32_t));
}

const CaseFile& Cases() {
  static const CaseFile* file = [] {
    auto* result = new CaseFile;
    result->sessions["-"] = Session{};
    const char* path = std::getenv("PENUMBRA_EXPR_CASES");
    std::ifstream stream(path != nullptr ? path : PENUMBRA_TEST_DIRECTORY "/golden/expr_cases.tsv");
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      const std::vector<std::string> fields = SplitFields(line);
      if (line.starts_with("zone ")) {
        AddZone(fields, result);
        continue;
      }
      ExprCase c{number, fields[0], FunctionOf(fields[1]), TypeOf(fields[2]), fields[3], {}};
      for (size_t i = 4; i + 1 < fields.size(); i += 2) {
        const bool is_zone = fields[i] == kZone;
        c.args.push_back({is_zone ? PENUMBRA_TEXT : TypeOf(fields[i]), is_zone ? kZone : fields[i + 1]});
      }
      result->cases.push_back(std::move(c));
    }
    for (ExprCase& c : result->cases) {
      for (auto& arg : c.args) {
        if (arg.value == kZone) arg.value = ToHex(ZoneBytes(result->sessions[c.zone].zone));
      }
    }
    return result;
  }();
  return *file;
}

// The value and what it points to.
struct Value {
  PenumbraValue value{};
  std::string bytes;
};

void Decode(PenumbraType type, const std::string& text, Value* out) {
  out->value.is_null = text == kNull;
  if (out->value.is_null) return;
  if (type == PENUMBRA_NUMERIC) {
    Arena arena;
    out->bytes = std::string(Decimal::FromString(text).ToPayload(arena).view());
  } else {
    out->bytes = FromHex(text);
  }
  const uint64_t integer = BigEndian(out->bytes);
  switch (type) {
    case PENUMBRA_INT2: out->value.integer = static_cast<int16_t>(integer); break;
    case PENUMBRA_INT4:
    case PENUMBRA_DATE: out->value.integer = static_cast<int32_t>(integer); break;
    case PENUMBRA_FLOAT4: out->value.real = std::bit_cast<float>(static_cast<uint32_t>(integer)); break;
    case PENUMBRA_FLOAT8: out->value.real = std::bit_cast<double>(integer); break;
    case PENUMBRA_INTERVAL: {
      const std::string_view view = out->bytes;
      out->value.interval.time_us = static_cast<int64_t>(BigEndian(view.substr(0, 8)));
      out->value.interval.day = static_cast<int32_t>(BigEndian(view.substr(8, 4)));
      out->value.interval.month = static_cast<int32_t>(BigEndian(view.substr(12, 4)));
      break;
    }
    default: out->value.integer = static_cast<int64_t>(integer); break;
  }
  out->value.bytes = out->bytes.data();
  out->value.bytes_length = static_cast<uint32_t>(out->bytes.size());
}

std::unique_ptr<Expr> ConstantOf(PenumbraType type, const std::string& text) {
  Value value;
  Decode(type, text, &value);
  return BuildConstant(type, value.value);
}

bool MustBeConstant(const ExprCase& c, size_t arg) {
  switch (c.function) {
    case PENUMBRA_FN_IN_LIST:
    case PENUMBRA_FN_NOT_IN_LIST:
    case PENUMBRA_FN_NUMERIC_TYPMOD:
    case PENUMBRA_FN_VARCHAR_TYPMOD:
    case PENUMBRA_FN_BPCHAR_TYPMOD:
    case PENUMBRA_FN_INTERVAL_TYPMOD: return arg > 0;
    case PENUMBRA_FN_EXTRACT:
    case PENUMBRA_FN_DATE_PART:
    case PENUMBRA_FN_DATE_TRUNC: return arg == 0;
    case PENUMBRA_FN_DATE_BIN: return arg == 0;
    case PENUMBRA_FN_WIDTH_BUCKET: return arg > 0;
    case PENUMBRA_FN_TO_CHAR:
    case PENUMBRA_FN_ENCODE:
    case PENUMBRA_FN_DECODE: return arg == 1;
    default:
      return c.function >= PENUMBRA_FN_RANGE_CONTAINS && c.function <= PENUMBRA_FN_RANGE_UPPER_INF &&
             arg + 1 == c.args.size();
  }
}

// A call whose arguments are constants where `constant_of` gives a case's values, columns where not.
struct Call {
  std::vector<std::unique_ptr<Expr>> args;
  std::unique_ptr<Expr> expr;
  std::string reason;

  Call(const ExprCase& c, const std::vector<bool>& is_constant, const Session& session, bool folds) {
    std::vector<const Expr*> pointers;
    for (size_t i = 0; i < c.args.size(); ++i) {
      args.push_back(is_constant[i] ? ConstantOf(c.args[i].type, c.args[i].value)
                                    : BuildColumn(static_cast<int>(i), c.args[i].type));
      pointers.push_back(args.back().get());
    }
    expr = (folds ? BuildCall : BindCall)(c.function, c.result, pointers, session, &reason, nullptr);
  }
};

std::string Describe(const ExprCase& c) {
  std::string text = "line " + std::to_string(c.line) + " " + FunctionName(c.function) + "(";
  for (const auto& arg : c.args) {
    std::string shown = IsStringType(arg.type) && arg.value != kNull ? FromHex(arg.value) : arg.value;
    text += " " + std::to_string(arg.type) + ":" + shown;
  }
  return text + " ) = " + c.expected + (c.zone == "-" ? "" : " in " + c.zone);
}

// Evaluates one case by itself. `is_constant` by argument.
std::string RunAlone(const ExprCase& c, const std::vector<bool>& is_constant, bool folds) {
  Arena arena;
  const Session session = SessionOf(c.zone);
  Call call(c, is_constant, session, folds);
  if (call.expr == nullptr) return "refused: " + call.reason;
  std::vector<Vector> columns;
  for (const auto& arg : c.args) columns.push_back(VectorOf(arg.type, {arg.value}, arena));
  EvalContext context{arena, session};
  try {
    const Batch batch{1, static_cast<uint32_t>(columns.size()), columns.data()};
    return FormatRow(Evaluate(*call.expr, batch, context), 0);
  } catch (const EngineError& error) {
    EXPECT_TRUE(error.code() != PENUMBRA_UNSUPPORTED || call.expr->can_be_unsupported) << Describe(c);
    return Outcome(error);
  }
}

// Cases of one call that may share a batch: no errors, and the same values where arguments are constant.
struct Group {
  std::vector<const ExprCase*> cases;
};

// The group's cases as one batch, every value twice and a null row (in argument 0, where it is not constant)
// after each; argument `coded` as a dictionary, none if -1.
void RunTogether(const Group& group, const std::vector<bool>& is_constant, int coded) {
  const ExprCase& first = *group.cases[0];
  Arena arena;
  const Session session = SessionOf(first.zone);
  Call call(first, is_constant, session, false);
  ASSERT_NE(call.expr, nullptr) << call.reason;
  const size_t arg_count = first.args.size();
  const bool has_null_rows = !is_constant[0] && call.expr->is_strict;
  const uint32_t copies = 2;
  for (size_t begin = 0; begin < group.cases.size(); begin += 600) {
    const size_t end = std::min(group.cases.size(), begin + 600);
    std::vector<std::vector<std::string>> values(arg_count);
    std::vector<const ExprCase*> row_case;
    for (size_t i = begin; i < end; ++i) {
      for (uint32_t copy = 0; copy < copies + has_null_rows; ++copy) {
        const bool is_null = copy == copies;
        if (!is_null && group.cases[i]->is_error()) continue;
        for (size_t a = 0; a < arg_count; ++a) {
          values[a].push_back(is_null && a == 0 ? kNull : group.cases[i]->args[a].value);
        }
        row_case.push_back(is_null ? nullptr : group.cases[i]);
      }
    }
    const uint32_t rows = static_cast<uint32_t>(row_case.size());
    if (rows == 0) continue;
    std::vector<Vector> columns;
    for (size_t a = 0; a < arg_count; ++a) {
      Vector v = VectorOf(first.args[a].type, values[a], arena);
      if (static_cast<int>(a) == coded) {
        std::vector<std::string> entries = {};
        uint8_t* codes = arena.AllocateArray<uint8_t>(rows);
        for (uint32_t i = 0; i < rows; ++i) {
          auto at = std::find(entries.begin(), entries.end(), values[a][i]);
          if (values[a][i] == kNull) {
            codes[i] = 0;
            continue;
          }
          codes[i] = static_cast<uint8_t>(at - entries.begin());
          if (at == entries.end()) entries.push_back(values[a][i]);
        }
        if (entries.empty() || entries.size() > 255) return;
        Vector* dictionary = new (arena.Allocate(sizeof(Vector))) Vector(VectorOf(v.type, entries, arena));
        Vector encoded = *dictionary;
        encoded.form = VectorForm::kDictionary;
        encoded.code_bytes = 1;
        encoded.dictionary = dictionary;
        encoded.dictionary_size = static_cast<uint32_t>(entries.size());
        encoded.data = codes;
        encoded.validity = v.validity;
        v = encoded;
      }
      columns.push_back(v);
    }
    EvalContext context{arena, session};
    const Batch batch{rows, static_cast<uint32_t>(columns.size()), columns.data()};
    std::string failure;
    Vector result;
    try {
      result = Evaluate(*call.expr, batch, context);
    } catch (const EngineError& error) {
      ADD_FAILURE() << "a batch without errors failed with " << Outcome(error) << " " << error.what() << " at "
                    << Describe(first);
      return;
    }
    for (uint32_t i = 0; i < rows; ++i) {
      const std::string actual = FormatRow(result, i);
      EXPECT_TRUE(row_case[i] == nullptr ? actual == kNull : IsExpected(*row_case[i], actual))
          << actual << " (coded " << coded << ", row " << i << ") for "
          << (row_case[i] == nullptr ? "a null row" : Describe(*row_case[i]));
    }
  }
}

void RunGroups(const std::vector<const ExprCase*>& cases, int constant_arg, int coded) {
  std::map<std::string, Group> groups;
  for (const ExprCase* c : cases) {
    if (constant_arg >= static_cast<int>(c->args.size()) || coded >= static_cast<int>(c->args.size())) continue;
    std::string key = c->zone + "/" + std::to_string(c->function) + "/" + std::to_string(c->result);
    for (size_t a = 0; a < c->args.size(); ++a) {
      key += "/" + std::to_string(c->args[a].type);
      if (static_cast<int>(a) == constant_arg || MustBeConstant(*c, a)) key += "=" + c->args[a].value;
    }
    groups[key].cases.push_back(c);
  }
  for (const auto& [key, group] : groups) {
    const ExprCase& first = *group.cases[0];
    std::vector<bool> is_constant(first.args.size());
    for (size_t a = 0; a < first.args.size(); ++a) {
      is_constant[a] = static_cast<int>(a) == constant_arg || MustBeConstant(first, a);
    }
    if (coded >= 0 && is_constant[coded]) continue;
    RunTogether(group, is_constant, coded);
  }
}

}  // namespace

const char* const kFunctionIds[PENUMBRA_FN_COUNT_OF] = {
#define PENUMBRA_FUNCTION_ID(id, ...) #id,
    PENUMBRA_FUNCTION_LIST(PENUMBRA_FUNCTION_ID)
#undef PENUMBRA_FUNCTION_ID
};

PenumbraType TypeOf(const std::string& name) {
  static const std::map<std::string, PenumbraType> kTypes = {
      {"bool", PENUMBRA_BOOL},           {"int2", PENUMBRA_INT2},
      {"int4", PENUMBRA_INT4},           {"int8", PENUMBRA_INT8},
      {"float4", PENUMBRA_FLOAT4},       {"float8", PENUMBRA_FLOAT8},
      {"numeric", PENUMBRA_NUMERIC},     {"date", PENUMBRA_DATE},
      {"timestamp", PENUMBRA_TIMESTAMP}, {"timestamptz", PENUMBRA_TIMESTAMPTZ},
      {"interval", PENUMBRA_INTERVAL},   {"text", PENUMBRA_TEXT},
      {"bpchar", PENUMBRA_BPCHAR},       {"uuid", PENUMBRA_UUID},
      {"bytea", PENUMBRA_TEXT},
  };
  if (name.ends_with("range")) return PENUMBRA_TEXT;
  return kTypes.at(name);
}

std::vector<std::string> SplitFields(const std::string& text, char separator) {
  std::vector<std::string> fields;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1) {
    fields.push_back(text.substr(begin, end - begin));
  }
  fields.push_back(text.substr(begin));
  return fields;
}

std::string Outcome(const EngineError& error) {
  if (error.code() == PENUMBRA_UNSUPPORTED) return "unsupported";
  return std::string("!") + SqlStateOf(error.code());
}

bool IsSameResult(PenumbraType type, const std::string& a, const std::string& b) {
  if (a == b) return true;
  if (a == kNull || b == kNull || a[0] == '!' || b[0] == '!' || a == "unsupported") return false;
  if (type == PENUMBRA_FLOAT8) {
    return std::isnan(std::bit_cast<double>(BigEndian(FromHex(a)))) &&
           std::isnan(std::bit_cast<double>(BigEndian(FromHex(b))));
  }
  if (type == PENUMBRA_FLOAT4) {
    return std::isnan(std::bit_cast<float>(static_cast<uint32_t>(BigEndian(FromHex(a))))) &&
           std::isnan(std::bit_cast<float>(static_cast<uint32_t>(BigEndian(FromHex(b)))));
  }
  return false;
}

Session SessionOf(const std::string& zone) { return Cases().sessions.at(zone); }

std::string FormatRow(const Vector& v, uint32_t row) {
  if (!v.IsValid(row)) return kNull;
  Vector source = v;
  if (v.form == VectorForm::kDictionary) {
    source = *v.dictionary;
    row = v.Code(row);
  } else if (v.is_constant()) {
    row = 0;
  }
  switch (v.type) {
    case PENUMBRA_BOOL: return ToBigEndianHex(source.values<uint8_t>()[row], 1);
    case PENUMBRA_INT2: return ToBigEndianHex(static_cast<uint64_t>(source.values<int16_t>()[row]), 2);
    case PENUMBRA_INT4:
    case PENUMBRA_DATE:
    case PENUMBRA_FLOAT4: return ToBigEndianHex(source.values<uint32_t>()[row], 4);
    case PENUMBRA_INT8:
    case PENUMBRA_TIMESTAMP:
    case PENUMBRA_TIMESTAMPTZ:
    case PENUMBRA_FLOAT8: return ToBigEndianHex(source.values<uint64_t>()[row], 8);
    case PENUMBRA_NUMERIC: return DecimalAt(source, row).ToString();
    case PENUMBRA_TEXT:
    case PENUMBRA_BPCHAR: return ToHex(source.values<StringRef>()[row].view());
    case PENUMBRA_UUID: return ToHex({source.values<char>() + size_t{16} * row, 16});
    case PENUMBRA_INTERVAL: {
      const PenumbraInterval& interval = source.values<PenumbraInterval>()[row];
      return ToBigEndianHex(static_cast<uint64_t>(interval.time_us), 8) +
             ToBigEndianHex(static_cast<uint64_t>(interval.day), 4) +
             ToBigEndianHex(static_cast<uint64_t>(interval.month), 4);
    }
    case PENUMBRA_ARRAY: break;  // no function has one
  }
  return "?";
}

Vector VectorOf(PenumbraType type, const std::vector<std::string>& values, Arena& arena) {
  const uint32_t rows = static_cast<uint32_t>(values.size());
  uint64_t* validity = nullptr;
  Vector result = FlatVector(type, nullptr, nullptr);
  if (type == PENUMBRA_NUMERIC) result.numeric_form = NumericForm::kPayload;
  const uint32_t width = FlatWidth(result);
  char* data = static_cast<char*>(arena.Allocate(size_t{rows} * width));
  std::memset(data, 0, size_t{rows} * width);
  for (uint32_t i = 0; i < rows; ++i) {
    if (values[i] == kNull) {
      if (validity == nullptr) {
        validity = arena.AllocateArray<uint64_t>(BitWords(rows));
        kernels::SetBits(validity, rows);
      }
      validity[i / 64] &= ~(uint64_t{1} << (i % 64));
      // What a null row holds must not matter: something that would fail or be found.
      if (!IsStringType(type) && type != PENUMBRA_NUMERIC) std::memset(data + size_t{i} * width, 0x80, width);
      if (type == PENUMBRA_BOOL) data[i] = 1;
      continue;
    }
    if (IsStringType(type) || type == PENUMBRA_NUMERIC) {
      Value value;
      Decode(type, values[i], &value);
      reinterpret_cast<StringRef*>(data)[i] =
          StringRef(arena.CopyBytes(value.bytes.data(), value.bytes.size()), static_cast<uint32_t>(value.bytes.size()));
    } else {
      const std::unique_ptr<Expr> constant = ConstantOf(type, values[i]);
      std::memcpy(data + size_t{i} * width, constant->constant.data, width);
    }
  }
  result.data = data;
  result.validity = validity;
  return result;
}

ExprCaseCounts CheckExprCases(PenumbraFunction function) {
  ExprCaseCounts counts;
  std::vector<const ExprCase*> together;
  for (const ExprCase& c : Cases().cases) {
    if (c.function != function) continue;
    ++counts.cases;
    std::vector<bool> columns(c.args.size()), constants(c.args.size(), true);
    for (size_t a = 0; a < c.args.size(); ++a) columns[a] = MustBeConstant(c, a);
    const std::string alone = RunAlone(c, columns, false);
    const std::string folded = RunAlone(c, constants, true);
    if (alone == "unsupported" || c.expected == "~") {
      ++counts.refused;
      EXPECT_TRUE(c.is_error() || c.expected == "~") << "unsupported: " << Describe(c);
      EXPECT_EQ(alone, "unsupported") << Describe(c);
      EXPECT_EQ(folded, "unsupported") << Describe(c);
      continue;
    }
    EXPECT_TRUE(IsExpected(c, alone)) << alone << " for " << Describe(c);
    EXPECT_TRUE(IsExpected(c, folded)) << folded << " folded for " << Describe(c);
    together.push_back(&c);
  }
  RunGroups(together, -1, -1);
  for (int arg = 0; arg < 3; ++arg) {
    RunGroups(together, arg, -1);
    RunGroups(together, -1, arg);
  }
  RunGroups(together, 0, 1);
  RunGroups(together, 1, 0);
  return counts;
}

}  // namespace penumbra::test
