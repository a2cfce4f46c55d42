// date_bin and make_date.
#include <algorithm>

#include "function/datetime.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

struct BinState {
  int64_t stride_us;
  int64_t origin_us;
};

// The begin of the instant's bin. Bins before the origin whose begin is the instant itself differ between minor
// versions of PostgreSQL, and so do errors beyond the timestamps.
int64_t Bin(const BinState& bins, int64_t us) {
  if (IsInfiniteTimestamp(us)) return us;
  int64_t distance_us;
  if (__builtin_sub_overflow(us, bins.origin_us, &distance_us)) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "date_bin() far from its origin");
  }
  const int64_t in_bin_us = FloorModulo(distance_us, bins.stride_us);
  const bool is_disputed = distance_us < 0 && in_bin_us == 0;
  if (is_disputed || us < kMinTimestamp + in_bin_us) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "date_bin() before its origin");
  }
  return us - in_bin_us;
}

Vector EvaluateDateBin(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const auto& bins = *static_cast<const BinState*>(expr.state.get());
  const View<int64_t> in = ViewOf<int64_t>(args[1], rows, context.arena);
  int64_t* out = context.arena.AllocateArray<int64_t>(rows);
  if (args[1].validity != nullptr) std::fill_n(out, rows, 0);
  ForEachValid(args[1].validity, rows, [&](uint32_t i) { out[i] = Bin(bins, in[i]); });
  return FlatVector(expr.type, out, args[1].validity);
}

int32_t MakeDate(int32_t year, int32_t month, int32_t day) {
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month)) {
    throw EngineError(PENUMBRA_UNSUPPORTED, "make_date() of another calendar");
  }
  const int64_t made = DayFromCivil(year, month, day);
  if (!IsValidDay(made)) throw EngineError(PENUMBRA_UNSUPPORTED, "date out of range");
  return static_cast<int32_t>(made);
}

Vector EvaluateMakeDate(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<int32_t> years = ViewOf<int32_t>(args[0], rows, context.arena);
  const View<int32_t> months = ViewOf<int32_t>(args[1], rows, context.arena);
  const View<int32_t> days = ViewOf<int32_t>(args[2], rows, context.arena);
  const uint64_t* validity = StrictValidity(expr, args, rows, context.arena);
  int32_t* out = context.arena.AllocateArray<int32_t>(rows);
  if (validity != nullptr) std::fill_n(out, rows, 0);
  ForEachValid(validity, rows, [&](uint32_t i) { out[i] = MakeDate(years[i], months[i], days[i]); });
  return FlatVector(expr.type, out, validity);
}

// Errors of stride and origin are PostgreSQL's: then there are no bins.
std::shared_ptr<const BinState> BinsOf(const PenumbraInterval& stride, int64_t origin_us) {
  constexpr int32_t kMaxDays = 100000000;
  const bool is_plain = stride.month == 0 && stride.day >= 0 && stride.day < kMaxDays && stride.time_us >= 0 &&
                        stride.time_us < kMaxDays * kDayUs / 100;
  const int64_t stride_us = is_plain ? stride.day * kDayUs + stride.time_us : 0;
  if (stride_us <= 0 || IsInfiniteTimestamp(origin_us)) return nullptr;
  return std::make_shared<const BinState>(BinState{stride_us, origin_us});
}

}  // namespace

Binding BindDateBin(const CallSite& call) {
  Binding binding;
  const bool takes_instants = call.args.size() == 3 && call.args[0]->type == PENUMBRA_INTERVAL &&
                              (call.result == PENUMBRA_TIMESTAMP || call.result == PENUMBRA_TIMESTAMPTZ) &&
                              call.args[1]->type == call.result && call.args[2]->type == call.result;
  if (!takes_instants) return binding;
  const auto* stride = KnownValue<PenumbraInterval>(*call.args[0]);
  const auto* origin_us = KnownValue<int64_t>(*call.args[2]);
  if (stride != nullptr && origin_us != nullptr) binding.state = BinsOf(*stride, *origin_us);
  if (binding.state == nullptr) {
    binding.reason = "bins of date_bin() that are not known";
    return binding;
  }
  binding.evaluate = EvaluateDateBin;
  binding.can_fail = binding.can_be_unsupported = true;
  return binding;
}

Binding BindMakeDate(const CallSite& call) {
  Binding binding;
  const bool takes_integers =
      call.args.size() == 3 &&
      std::all_of(call.args.begin(), call.args.end(), [](const Expr* arg) { return arg->type == PENUMBRA_INT4; });
  if (!takes_integers || call.result != PENUMBRA_DATE) return binding;
  binding.evaluate = EvaluateMakeDate;
  binding.can_fail = binding.can_be_unsupported = true;
  return binding;
}

}  // namespace penumbra
