// Prints what the engine takes, for docs/vectors.md and penumbra advise (test/vectors_page.py): every signature that it
// accepts of every function and aggregate, by asking it. Tab-separated: "type", name; "collation", a function's
// enumerator, what it needs to know of one; "function", its enumerator, its name, the result type, the types of the
// arguments, "constant " before those that must be constants; "field", enumerator, argument type, a field that is
// known; "refused", enumerator, a reason; "aggregate", name, result type, argument types.
#include <cstdio>
#include <functional>
#include <set>

#include "aggregate/aggregate_accumulator.h"
#include "function/registry.h"
#include "numeric/numeric.h"

namespace penumbra {
namespace {

constexpr int kArgumentsMax = 3;  // of a function's signature; more are more of the same
constexpr int kAggregateArgumentsMax = 2;
const char* const kFields[] = {
    "microseconds", "milliseconds", "second",        "minute",          "hour", "day",    "week", "month",   "quarter",
    "year",         "decade",       "century",       "millennium",      "dow",  "isodow", "doy",  "isoyear", "julian",
    "epoch",        "timezone",     "timezone_hour", "timezone_minute",
};

const char* const kIds[] = {
#define PENUMBRA_FUNCTION_ID(id, ...) #id,
    PENUMBRA_FUNCTION_LIST(PENUMBRA_FUNCTION_ID)
#undef PENUMBRA_FUNCTION_ID
};

const char* const kCollationUses[] = {
#define PENUMBRA_FUNCTION_COLLATION(id, name, collation, scale) #collation,
    PENUMBRA_FUNCTION_LIST(PENUMBRA_FUNCTION_COLLATION)
#undef PENUMBRA_FUNCTION_COLLATION
};

using Types = std::vector<PenumbraType>;

// Calls visit with every list of so many types.
void ForEachTypes(int count, Types* types, const std::function<void()>& visit) {
  if (static_cast<int>(types->size()) == count) return visit();
  for (int type = PENUMBRA_BOOL; type <= PENUMBRA_UUID; ++type) {
    types->push_back(static_cast<PenumbraType>(type));
    ForEachTypes(count, types, visit);
    types->pop_back();
  }
}

class FunctionPrinter {
 public:
  explicit FunctionPrinter(PenumbraFunction function) : function_(function) {
    session_.zone.from_us = {INT64_MIN};
    session_.zone.offset_seconds = {0};
    session_.zone.valid_until_us = INT64_MAX;
  }

  void Print() {
    for (int count = 1; count <= kArgumentsMax; ++count) {
      Types types;
      ForEachTypes(count, &types, [&] { PrintSignature(types); });
    }
    for (const std::string& reason : reasons_) std::printf("refused\t%s\t%s\n", kIds[function_], reason.c_str());
  }

 private:
  // A constant of the type that functions take: one of the fields, 1, true, a day.
  static std::unique_ptr<Expr> ConstantOf(PenumbraType type, const char* text) {
    Arena arena;
    PenumbraValue value{};
    value.integer = 1;
    value.real = 1;
    value.interval.day = 1;
    const StringRef payload = type == PENUMBRA_NUMERIC ? Decimal::FromString("1").ToPayload(arena)
                                                       : StringRef(text, static_cast<uint32_t>(std::strlen(text)));
    const char uuid[16] = {};
    value.bytes = type == PENUMBRA_UUID ? uuid : payload.data();
    value.bytes_length = type == PENUMBRA_UUID ? 16 : payload.length;
    return BuildConstant(type, value);
  }

  bool Accepts(PenumbraType result, const Types& types, unsigned constants, const char* text) {
    std::vector<std::unique_ptr<Expr>> exprs;
    std::vector<const Expr*> args;
    for (size_t i = 0; i < types.size(); ++i) {
      const bool is_constant = (constants >> i & 1) != 0;
      exprs.push_back(is_constant ? ConstantOf(types[i], text) : BuildColumn(static_cast<int>(i), types[i]));
      args.push_back(exprs.back().get());
    }
    std::string reason;
    if (BindCall(function_, result, args, session_, &reason) != nullptr) return true;
    has_reason_ = reason != std::string(FunctionName(function_)) + " on " + TypeList(types);
    if (has_reason_) reasons_.insert(reason);
    return false;
  }

  void PrintSignature(const Types& types) {
    for (int type = PENUMBRA_BOOL; type <= PENUMBRA_UUID; ++type) {
      const auto result = static_cast<PenumbraType>(type);
      for (unsigned constants = 0; constants < 1u << types.size(); ++constants) {
        if (!TakesConstants(result, types, constants)) {
          // Constants help only where more than the types was wrong.
          if (constants == 0 && !has_reason_) break;
          continue;
        }
        std::printf("function\t%s\t%s\t%s", kIds[function_], FunctionName(function_), TypeName(result));
        for (size_t i = 0; i < types.size(); ++i) {
          std::printf("\t%s%s", (constants >> i & 1) != 0 ? "constant " : "", TypeName(types[i]));
        }
        std::printf("\n");
        break;
      }
    }
  }

  // A constant that the function takes.
  const char* SomeText() const {
    return function_ == PENUMBRA_FN_ENCODE || function_ == PENUMBRA_FN_DECODE ? "hex" : "a";
  }

  // Prints the fields, if the first argument is one.
  bool TakesConstants(PenumbraType result, const Types& types, unsigned constants) {
    if ((constants & 1) == 0 || types[0] != PENUMBRA_TEXT) return Accepts(result, types, constants, SomeText());
    if (Accepts(result, types, constants, SomeText())) return true;
    bool takes_field = false;
    for (const char* field : kFields) {
      if (!Accepts(result, types, constants, field)) continue;
      takes_field = true;
      std::printf("field\t%s\t%s\t%s\n", kIds[function_], TypeName(types.back()), field);
    }
    return takes_field;
  }

  const PenumbraFunction function_;
  Session session_;
  std::set<std::string> reasons_;
  bool has_reason_ = false;  // of the last refusal
};

void PrintAggregates() {
  for (int i = 0; i < PENUMBRA_AGG_COUNT_OF; ++i) {
    const AggregateInfo& info = InfoOf(static_cast<PenumbraAggregate>(i));
    if (info.needs == AggregateNeeds::kRows) continue;  // types say little of them: the page has words
    for (int count = 0; count <= kAggregateArgumentsMax; ++count) {
      Types types;
      ForEachTypes(count, &types, [&] {
        const std::optional<PenumbraType> result = info.find_result(types);
        if (!result) return;
        std::printf("aggregate\t%s\t%s", info.name, TypeName(*result));
        for (PenumbraType type : types) std::printf("\t%s", TypeName(type));
        std::printf("\n");
      });
    }
  }
}

}  // namespace
}  // namespace penumbra

int main() {
  for (int type = PENUMBRA_BOOL; type <= PENUMBRA_UUID; ++type) {
    std::printf("type\t%s\n", penumbra::TypeName(static_cast<PenumbraType>(type)));
  }
  for (int i = 0; i < PENUMBRA_FN_COUNT_OF; ++i) {
    std::printf("collation\t%s\t%s\n", penumbra::kIds[i], penumbra::kCollationUses[i]);
    penumbra::FunctionPrinter(static_cast<PenumbraFunction>(i)).Print();
  }
  penumbra::PrintAggregates();
}
