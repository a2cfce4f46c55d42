// Functions on text. A result that is a part of its argument points into it; others live in the arena.
#include "function/text.h"

#include <algorithm>
#include <cstring>

#include "function/collation.h"
#include "function/like.h"
#include "function/regex.h"
#include "function/registry.h"
#include "vector/byte_search.h"
#include "vector/error.h"
#include "vector/utf8.h"
#include "vector/value_order.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

bool IsUtf8(const EvalContext& context) { return context.session.encoding_is_utf8; }

// ---- lengths

Vector EvaluateLength(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  int32_t* out = context.arena.AllocateArray<int32_t>(rows);
  const bool is_utf8 = IsUtf8(context), is_padded = args[0].type == PENUMBRA_BPCHAR;
  for (uint32_t i = 0; i < rows; ++i) {
    const char* bytes = texts[i].data();
    const uint32_t length = is_padded ? TrimmedLength(bytes, texts[i].length) : texts[i].length;
    out[i] = static_cast<int32_t>(CountCharacters(bytes, length, is_utf8));
  }
  return FlatVector(expr.type, out, args[0].validity);
}

Vector EvaluateOctetLength(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  int32_t* out = context.arena.AllocateArray<int32_t>(rows);
  for (uint32_t i = 0; i < rows; ++i) out[i] = static_cast<int32_t>(texts[i].length);
  return FlatVector(expr.type, out, args[0].validity);
}

// The code point of the first character, 0 of an empty string; in a single-byte encoding the byte.
int32_t FirstCode(const StringRef& text, bool is_utf8) {
  if (text.length == 0) return 0;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  if (!is_utf8 || bytes[0] < 0x80) return bytes[0];
  const uint32_t more = bytes[0] >= 0xf0 ? 3 : bytes[0] >= 0xe0 ? 2 : 1;
  int32_t code = bytes[0] & (0x3f >> more);
  for (uint32_t i = 1; i <= more && i < text.length; ++i) code = (code << 6) | (bytes[i] & 0x3f);
  return code;
}

Vector EvaluateAscii(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  int32_t* out = context.arena.AllocateArray<int32_t>(rows);
  const bool is_utf8 = IsUtf8(context);
  for (uint32_t i = 0; i < rows; ++i) out[i] = FirstCode(texts[i], is_utf8);
  return FlatVector(expr.type, out, args[0].validity);
}

// ---- case, reversal

template <CaseChange kChange>
Vector EvaluateCase(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const LetterCase& letter_case = LetterCaseOf(expr.collation);
  CaseBuffer buffer(letter_case, kChange);
  return MapText(expr, args, rows, context, [&](const StringRef& text, uint32_t) {
    const StringRef changed = buffer.Change(text);
    if (changed.is_inline()) return changed;
    return StringRef(context.arena.CopyBytes(changed.data(), changed.length), changed.length);
  });
}

// Eight ASCII bytes at a time; the last eight first, of which those are written again that others leave over.
void WriteReversed(const StringRef& text, bool is_utf8, char* out) {
  const char *position = text.data(), *end = position + text.length;
  const auto is_plain = [is_utf8](uint64_t eight) { return !is_utf8 || (eight & kHighBits) == 0; };
  const auto write = [](uint64_t eight, char* to) {
    eight = __builtin_bswap64(eight);
    std::memcpy(to, &eight, 8);
  };
  bool has_plain_end = false;
  if (text.length >= 8) {
    const uint64_t last = LoadEightBytes(end - 8);
    has_plain_end = is_plain(last);
    if (has_plain_end) write(last, out);
  }
  out += text.length;
  while (position < end) {
    if (end - position < 8) {
      if (has_plain_end) return;
    } else if (const uint64_t eight = LoadEightBytes(position); is_plain(eight)) {
      out -= 8;
      write(eight, out);
      position += 8;
      continue;
    }
    const char* next = NextCharacter(position, end, is_utf8);
    out -= next - position;
    for (char* to = out; position < next; ++position, ++to) *to = *position;
  }
}

Vector EvaluateReverse(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const bool is_utf8 = IsUtf8(context);
  return MapText(expr, args, rows, context, [&](const StringRef& text, uint32_t) {
    char inlined[StringRef::kInlineBytes];
    char* reversed = text.is_inline() ? inlined : context.arena.AllocateArray<char>(text.length);
    WriteReversed(text, is_utf8, reversed);
    return StringRef(reversed, text.length);
  });
}

// ---- parts

// The characters from `start` (from 1; may be less) on, `length` of them, or all if there is no length.
StringRef Substring(const StringRef& text, int32_t start, const int32_t* length, bool is_utf8) {
  const char* bytes = text.data();
  const int64_t first = std::max<int64_t>(start, 1);
  int64_t end = int64_t{1} << 32;
  if (length != nullptr) {
    if (*length < 0) throw EngineError(PENUMBRA_SUBSTRING_ERROR);
    end = int64_t{start} + *length;
    if (end > INT32_MAX) end = int64_t{1} << 32;
    if (end <= first) return StringRef();
  }
  const uint32_t skipped = ClipCharacters(bytes, text.length, first - 1, is_utf8);
  const uint32_t taken = ClipCharacters(bytes + skipped, text.length - skipped, end - first, is_utf8);
  return StringRef(bytes + skipped, taken);
}

Vector EvaluateSubstring(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const bool is_utf8 = IsUtf8(context), has_length = expr.evaluated_args == 3;
  const View<int32_t> starts = ViewOf<int32_t>(args[1], rows, context.arena);
  const View<int32_t> lengths = has_length ? ViewOf<int32_t>(args[2], rows, context.arena) : starts;
  return MapText(expr, args, rows, context, [&](const StringRef& text, uint32_t i) {
    return Substring(text, starts[i], has_length ? &lengths[i] : nullptr, is_utf8);
  });
}

Vector EvaluateLeft(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const bool is_utf8 = IsUtf8(context);
  const View<int32_t> counts = ViewOf<int32_t>(args[1], rows, context.arena);
  return MapText(expr, args, rows, context, [&](const StringRef& text, uint32_t i) {
    const char* bytes = text.data();
    int64_t count = counts[i];
    if (count < 0) count += CountCharacters(bytes, text.length, is_utf8);
    return StringRef(bytes, ClipCharacters(bytes, text.length, count, is_utf8));
  });
}

Vector EvaluateRight(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const bool is_utf8 = IsUtf8(context);
  const View<int32_t> counts = ViewOf<int32_t>(args[1], rows, context.arena);
  return MapText(expr, args, rows, context, [&](const StringRef& text, uint32_t i) {
    const char* bytes = text.data();
    const int64_t count = counts[i];
    if (count == INT32_MIN && text.length > 0) {
      throw EngineError(PENUMBRA_UNSUPPORTED, "right() of the least integer");
    }
    const int64_t skipped_characters = count < 0 ? -count : CountCharacters(bytes, text.length, is_utf8) - count;
    const uint32_t skipped = ClipCharacters(bytes, text.length, skipped_characters, is_utf8);
    return StringRef(bytes + skipped, text.length - skipped);
  });
}

// ---- trimming

const char* PreviousCharacter(const char* begin, const char* position, bool is_utf8) {
  --position;
  while (is_utf8 && position > begin && (static_cast<uint8_t>(*position) & 0xc0) == 0x80) --position;
  return position;
}

StringRef Trim(const StringRef& text, const StringRef& set, bool at_begin, bool at_end, bool is_utf8) {
  const char *begin = text.data(), *end = begin + text.length;
  while (at_begin && begin < end) {
    const char* next = NextCharacter(begin, end, is_utf8);
    if (PlaceInSet(begin, static_cast<size_t>(next - begin), set, is_utf8) < 0) break;
    begin = next;
  }
  while (at_end && begin < end) {
    const char* previous = PreviousCharacter(begin, end, is_utf8);
    if (PlaceInSet(previous, static_cast<size_t>(end - previous), set, is_utf8) < 0) break;
    end = previous;
  }
  return StringRef(begin, static_cast<uint32_t>(end - begin));
}

template <bool kAtBegin, bool kAtEnd>
Vector EvaluateTrim(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  static const StringRef kBlank(" ", 1);
  const bool is_utf8 = IsUtf8(context);
  View<StringRef> sets{&kBlank, 0};
  if (expr.evaluated_args == 2) sets = ViewOf<StringRef>(args[1], rows, context.arena);
  return MapText(expr, args, rows, context,
                 [&](const StringRef& text, uint32_t i) { return Trim(text, sets[i], kAtBegin, kAtEnd, is_utf8); });
}

// ---- joining, searching, replacing

Vector EvaluateConcat(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> others = ViewOf<StringRef>(args[1], rows, context.arena);
  return MapText(expr, args, rows, context, [&](const StringRef& text, uint32_t i) {
    const StringRef& other = others[i];
    const uint64_t length = uint64_t{text.length} + other.length;
    if (length > kMaxTextBytes) throw EngineError(PENUMBRA_UNSUPPORTED, "text longer than 1 GB");
    char* joined = context.arena.AllocateArray<char>(length);
    std::memcpy(joined, text.data(), text.length);
    std::memcpy(joined + text.length, other.data(), other.length);
    return StringRef(joined, static_cast<uint32_t>(length));
  });
}

Vector EvaluatePosition(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const bool is_utf8 = IsUtf8(context);
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  const View<StringRef> needles = ViewOf<StringRef>(args[1], rows, context.arena);
  int32_t* out = context.arena.AllocateArray<int32_t>(rows);
  for (uint32_t i = 0; i < rows; ++i) {
    const char* bytes = texts[i].data();
    const uint32_t needle_length = needles[i].length;
    const char* found =
        needle_length == 0 ? bytes : FindBytes(bytes, texts[i].length, needles[i].data(), needle_length);
    out[i] = found == nullptr
                 ? 0
                 : 1 + static_cast<int32_t>(CountCharacters(bytes, static_cast<uint32_t>(found - bytes), is_utf8));
  }
  return FlatVector(expr.type, out, StrictValidity(expr, args, rows, context.arena));
}

void EvaluateStartsWith(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context, Truth* truth) {
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  const View<StringRef> prefixes = ViewOf<StringRef>(args[1], rows, context.arena);
  PackTests(rows, truth->is_true, [&](uint32_t i) {
    const StringRef& prefix = prefixes[i];
    return texts[i].length >= prefix.length && std::memcmp(texts[i].data(), prefix.data(), prefix.length) == 0;
  });
  ApplyValidity(StrictValidity(expr, args, rows, context.arena), rows, truth);
}

// Hits are counted first, so the result is allocated once. Without a hit the result is the argument itself.
StringRef Replace(const StringRef& text, const StringRef& from, const StringRef& to, Arena& arena) {
  if (from.length == 0 || text.length == 0) return text;
  const char *begin = text.data(), *end = begin + text.length;
  uint64_t hits = 0;
  for (const char* p = begin; (p = FindBytes(p, static_cast<size_t>(end - p), from.data(), from.length)) != nullptr;
       p += from.length) {
    ++hits;
  }
  if (hits == 0) return text;
  const uint64_t length = text.length - hits * from.length + hits * to.length;
  if (length > kMaxTextBytes) throw EngineError(PENUMBRA_UNSUPPORTED, "text longer than 1 GB");
  char* replaced = arena.AllocateArray<char>(length);
  char* out = replaced;
  while (hits-- > 0) {
    const char* hit = FindBytes(begin, static_cast<size_t>(end - begin), from.data(), from.length);
    std::memcpy(out, begin, static_cast<size_t>(hit - begin));
    out += hit - begin;
    std::memcpy(out, to.data(), to.length);
    out += to.length;
    begin = hit + from.length;
  }
  std::memcpy(out, begin, static_cast<size_t>(end - begin));
  return StringRef(replaced, static_cast<uint32_t>(length));
}

Vector EvaluateReplace(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> from = ViewOf<StringRef>(args[1], rows, context.arena);
  const View<StringRef> to = ViewOf<StringRef>(args[2], rows, context.arena);
  return MapText(expr, args, rows, context,
                 [&](const StringRef& text, uint32_t i) { return Replace(text, from[i], to[i], context.arena); });
}

// ---- choice

bool TakesTexts(const CallSite& call, size_t count) {
  if (call.args.size() != count) return false;
  return std::all_of(call.args.begin(), call.args.end(), [](const Expr* arg) { return arg->type == PENUMBRA_TEXT; });
}

bool TakesTextAndIntegers(const CallSite& call, size_t count) {
  if (call.args.size() != count || call.args[0]->type != PENUMBRA_TEXT) return false;
  return std::all_of(call.args.begin() + 1, call.args.end(),
                     [](const Expr* arg) { return arg->type == PENUMBRA_INT4; });
}

bool IsTrim(PenumbraFunction function) {
  return function == PENUMBRA_FN_BTRIM || function == PENUMBRA_FN_LTRIM || function == PENUMBRA_FN_RTRIM;
}

// right() of the least integer is undefined behaviour in some versions of PostgreSQL.
bool RightCanBeUnsupported(const CallSite& call) {
  const int32_t* count = KnownValue<int32_t>(*call.args[1]);
  return count == nullptr || *count == INT32_MIN;
}

EvaluateFunction ChooseTextToText(const CallSite& call) {
  if (IsTrim(call.function) && (TakesTexts(call, 1) || TakesTexts(call, 2))) {
    if (call.function == PENUMBRA_FN_BTRIM) return EvaluateTrim<true, true>;
    return call.function == PENUMBRA_FN_LTRIM ? EvaluateTrim<true, false> : EvaluateTrim<false, true>;
  }
  switch (call.function) {
    case PENUMBRA_FN_LOWER: return TakesTexts(call, 1) ? EvaluateCase<CaseChange::kLower> : nullptr;
    case PENUMBRA_FN_UPPER: return TakesTexts(call, 1) ? EvaluateCase<CaseChange::kUpper> : nullptr;
    case PENUMBRA_FN_INITCAP: return TakesTexts(call, 1) ? EvaluateCase<CaseChange::kTitle> : nullptr;
    case PENUMBRA_FN_REVERSE: return TakesTexts(call, 1) ? EvaluateReverse : nullptr;
    case PENUMBRA_FN_CONCAT: return TakesTexts(call, 2) ? EvaluateConcat : nullptr;
    case PENUMBRA_FN_REPLACE: return TakesTexts(call, 3) ? EvaluateReplace : nullptr;
    case PENUMBRA_FN_LEFT: return TakesTextAndIntegers(call, 2) ? EvaluateLeft : nullptr;
    case PENUMBRA_FN_RIGHT: return TakesTextAndIntegers(call, 2) ? EvaluateRight : nullptr;
    case PENUMBRA_FN_SUBSTRING:
      return TakesTextAndIntegers(call, 2) || TakesTextAndIntegers(call, 3) ? EvaluateSubstring : nullptr;
    default: return nullptr;
  }
}

EvaluateFunction ChooseTextToInteger(const CallSite& call) {
  const bool takes_string = call.args.size() == 1 && IsStringType(call.args[0]->type);
  switch (call.function) {
    case PENUMBRA_FN_LENGTH: return takes_string ? EvaluateLength : nullptr;
    case PENUMBRA_FN_OCTET_LENGTH: return takes_string ? EvaluateOctetLength : nullptr;
    case PENUMBRA_FN_ASCII: return TakesTexts(call, 1) ? EvaluateAscii : nullptr;
    case PENUMBRA_FN_POSITION: return TakesTexts(call, 2) ? EvaluatePosition : nullptr;
    default: return nullptr;
  }
}

// A substring fails for a negative length only.
bool SubstringCanFail(const CallSite& call) {
  if (call.args.size() < 3) return false;
  const int32_t* length = KnownValue<int32_t>(*call.args[2]);
  return length == nullptr || *length < 0;
}

// lower, upper, initcap.
Binding BindCase(const CallSite& call) {
  Binding binding;
  const LetterCase& letter_case = LetterCaseOf(call.collation);
  if (call.function == PENUMBRA_FN_INITCAP && !letter_case.has_titles()) {
    binding.reason = "initcap with a collation of this provider";
    return binding;
  }
  if (call.result == PENUMBRA_TEXT) binding.evaluate = ChooseTextToText(call);
  binding.can_fail = binding.can_be_unsupported = letter_case.can_fail();
  return binding;
}

}  // namespace

// Functions fail where the result may exceed the greatest length or they have an error of their own. The others can be
// moved freely.
Binding BindText(const CallSite& call) {
  switch (call.function) {
    case PENUMBRA_FN_LIKE:
    case PENUMBRA_FN_NOT_LIKE:
    case PENUMBRA_FN_ILIKE:
    case PENUMBRA_FN_NOT_ILIKE: return BindLike(call);
    case PENUMBRA_FN_REGEX_MATCHES:
    case PENUMBRA_FN_REGEX_MATCHES_NOT:
    case PENUMBRA_FN_REGEX_SUBSTRING:
    case PENUMBRA_FN_REGEX_REPLACE:
    case PENUMBRA_FN_REGEX_COUNT:
    case PENUMBRA_FN_REGEX_INSTR: return BindRegex(call);
    case PENUMBRA_FN_LOWER:
    case PENUMBRA_FN_UPPER:
    case PENUMBRA_FN_INITCAP: return BindCase(call);
    case PENUMBRA_FN_SPLIT_PART:
    case PENUMBRA_FN_LPAD:
    case PENUMBRA_FN_RPAD:
    case PENUMBRA_FN_REPEAT:
    case PENUMBRA_FN_TRANSLATE: return BindTextComposition(call);
    case PENUMBRA_FN_TO_CHAR: return BindNumberFormat(call);
    case PENUMBRA_FN_MD5:
    case PENUMBRA_FN_SHA256:
    case PENUMBRA_FN_ENCODE:
    case PENUMBRA_FN_DECODE:
    case PENUMBRA_FN_BYTEA: return BindBytes(call);
    default: break;
  }
  Binding binding;
  if (call.result == PENUMBRA_TEXT) {
    binding.evaluate = ChooseTextToText(call);
    binding.can_be_unsupported = binding.evaluate == EvaluateRight && RightCanBeUnsupported(call);
    binding.can_fail = binding.can_be_unsupported || call.function == PENUMBRA_FN_CONCAT ||
                       call.function == PENUMBRA_FN_REPLACE ||
                       (call.function == PENUMBRA_FN_SUBSTRING && SubstringCanFail(call));
  } else if (call.result == PENUMBRA_INT4) {
    binding.evaluate = ChooseTextToInteger(call);
  } else if (call.function == PENUMBRA_FN_STARTS_WITH && call.result == PENUMBRA_BOOL && TakesTexts(call, 2)) {
    binding.evaluate_truth = EvaluateStartsWith;
    binding.evaluate = EvaluateByTruth;
  }
  return binding;
}

}  // namespace penumbra
