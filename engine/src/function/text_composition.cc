// Text by fields and characters: split_part, lpad and rpad, repeat, translate.
#include <algorithm>
#include <cstring>
#include <initializer_list>

#include "function/registry.h"
#include "function/text.h"
#include "vector/byte_search.h"
#include "vector/error.h"
#include "vector/utf8.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// PostgreSQL takes a fourth of a varlena's limit in UTF-8: it expects the longest characters.
constexpr uint64_t kMaxMadeBytes = uint64_t{1} << 28;

char* AllocateMade(uint64_t bytes, Arena& arena) {
  if (bytes >= kMaxMadeBytes) throw EngineError(PENUMBRA_UNSUPPORTED, "text of 256 MB");
  return arena.AllocateArray<char>(bytes);
}

// ---- split_part

// The field from 1 on, between separators that are not empty.
StringRef FieldFromBegin(const StringRef& text, const StringRef& separator, int64_t field) {
  const char *begin = text.data(), *end = begin + text.length;
  while (true) {
    const char* found = FindBytes(begin, static_cast<size_t>(end - begin), separator.data(), separator.length);
    if (field == 1) return StringRef(begin, static_cast<uint32_t>((found == nullptr ? end : found) - begin));
    if (found == nullptr) return StringRef();
    begin = found + separator.length;
    --field;
  }
}

int64_t CountFields(const StringRef& text, const StringRef& separator) {
  const char *begin = text.data(), *end = begin + text.length;
  int64_t fields = 1;
  while ((begin = FindBytes(begin, static_cast<size_t>(end - begin), separator.data(), separator.length)) != nullptr) {
    begin += separator.length;
    ++fields;
  }
  return fields;
}

// Fields below 0 count from the end; separators are found from the beginning all the same.
StringRef SplitPart(const StringRef& text, const StringRef& separator, int64_t field) {
  if (field == 0) throw EngineError(PENUMBRA_UNSUPPORTED, "field 0 of split_part()");
  if (text.length == 0) return StringRef();
  if (separator.length == 0) return field == 1 || field == -1 ? text : StringRef();
  if (field < 0) field += CountFields(text, separator) + 1;
  return field <= 0 ? StringRef() : FieldFromBegin(text, separator, field);
}

Vector EvaluateSplitPart(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> separators = ViewOf<StringRef>(args[1], rows, context.arena);
  const View<int32_t> fields = ViewOf<int32_t>(args[2], rows, context.arena);
  return MapText(expr, args, rows, context,
                 [&](const StringRef& text, uint32_t i) { return SplitPart(text, separators[i], fields[i]); });
}

// ---- lpad, rpad

// `characters` of the filling, over and over.
uint64_t CycleBytes(const StringRef& filling, int64_t characters, int64_t characters_of_filling, bool is_utf8) {
  const int64_t rest = characters % characters_of_filling;
  return static_cast<uint64_t>(characters / characters_of_filling) * filling.length +
         ClipCharacters(filling.data(), filling.length, rest, is_utf8);
}

void WriteCycle(const StringRef& filling, uint64_t bytes, char* out) {
  for (; bytes > 0;) {
    const uint64_t part = std::min<uint64_t>(bytes, filling.length);
    std::memcpy(out, filling.data(), part);
    out += part;
    bytes -= part;
  }
}

template <bool kAtBegin>
StringRef Pad(const StringRef& text, int64_t characters, const StringRef& filling, bool is_utf8, Arena& arena) {
  characters = std::max<int64_t>(characters, 0);
  if (static_cast<uint64_t>(characters) >= kMaxMadeBytes / 4) throw EngineError(PENUMBRA_UNSUPPORTED, "text of 64 MB");
  const uint32_t kept = ClipCharacters(text.data(), text.length, characters, is_utf8);
  const int64_t missing = characters - CountCharacters(text.data(), kept, is_utf8);
  if (missing == 0 || filling.length == 0) return StringRef(text.data(), kept);
  const int64_t characters_of_filling = CountCharacters(filling.data(), filling.length, is_utf8);
  const uint64_t padding = CycleBytes(filling, missing, characters_of_filling, is_utf8);
  char* padded = AllocateMade(padding + kept, arena);
  std::memcpy(padded + (kAtBegin ? padding : 0), text.data(), kept);
  WriteCycle(filling, padding, padded + (kAtBegin ? 0 : kept));
  return StringRef(padded, static_cast<uint32_t>(padding + kept));
}

template <bool kAtBegin>
Vector EvaluatePad(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const bool is_utf8 = context.session.encoding_is_utf8;
  const View<int32_t> counts = ViewOf<int32_t>(args[1], rows, context.arena);
  const View<StringRef> fillings = ViewOf<StringRef>(args[2], rows, context.arena);
  return MapText(expr, args, rows, context, [&](const StringRef& text, uint32_t i) {
    return Pad<kAtBegin>(text, counts[i], fillings[i], is_utf8, context.arena);
  });
}

// ---- repeat, translate

Vector EvaluateRepeat(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<int32_t> counts = ViewOf<int32_t>(args[1], rows, context.arena);
  return MapText(expr, args, rows, context, [&](const StringRef& text, uint32_t i) {
    const uint64_t bytes = uint64_t{text.length} * static_cast<uint64_t>(std::max<int32_t>(counts[i], 0));
    if (bytes == 0) return StringRef();
    char* repeated = AllocateMade(bytes, context.arena);
    WriteCycle(text, bytes, repeated);
    return StringRef(repeated, static_cast<uint32_t>(bytes));
  });
}

// Each character of `from` becomes that at its first place there in `to`, or vanishes if `to` is shorter.
StringRef Translate(const StringRef& text, const StringRef& from, const StringRef& to, bool is_utf8, Arena& arena) {
  const char *position = text.data(), *end = position + text.length, *to_end = to.data() + to.length;
  char* translated = AllocateMade(uint64_t{text.length} * (is_utf8 ? 4 : 1), arena);
  char* out = translated;
  while (position < end) {
    const char* next = NextCharacter(position, end, is_utf8);
    const int64_t place = PlaceInSet(position, static_cast<size_t>(next - position), from, is_utf8);
    const char* begin = position;
    const char* until = next;
    if (place >= 0) {
      begin = to.data() + ClipCharacters(to.data(), to.length, place, is_utf8);
      until = begin == to_end ? to_end : NextCharacter(begin, to_end, is_utf8);
    }
    std::memcpy(out, begin, static_cast<size_t>(until - begin));
    out += until - begin;
    position = next;
  }
  return StringRef(translated, static_cast<uint32_t>(out - translated));
}

// What becomes of each byte that is a character, where `from` has no others. UTF-8's longer ones have no such byte.
class ByteTranslation {
 public:
  ByteTranslation(const StringRef& from, const StringRef& to, bool is_utf8) {
    for (size_t byte = 0; byte < 256; ++byte) {
      characters_[byte][0] = static_cast<char>(byte);
      lengths_[byte] = 1;
    }
    // Backwards: the first place of a character counts.
    const char* to_end = to.data() + to.length;
    for (int64_t place = int64_t{from.length} - 1; place >= 0; --place) {
      const auto byte = static_cast<uint8_t>(from.data()[place]);
      const char* begin = to.data() + ClipCharacters(to.data(), to.length, place, is_utf8);
      const char* end = begin == to_end ? to_end : NextCharacter(begin, to_end, is_utf8);
      lengths_[byte] = static_cast<uint8_t>(end - begin);
      std::memcpy(characters_[byte], begin, lengths_[byte]);
      longest_ = std::max(longest_, uint32_t{lengths_[byte]});
      keeps_length_ &= lengths_[byte] == 1;
    }
  }

  StringRef Translate(const StringRef& text, Arena& arena) const {
    constexpr uint32_t kWritten = sizeof characters_[0];
    char inlined[StringRef::kInlineBytes * kWritten];
    char* translated = text.is_inline() ? inlined : AllocateMade(uint64_t{text.length} * longest_ + kWritten, arena);
    const auto* in = reinterpret_cast<const uint8_t*>(text.data());
    char* out = translated;
    if (keeps_length_) {
      for (uint32_t i = 0; i < text.length; ++i) *out++ = characters_[in[i]][0];
    } else {
      for (uint32_t i = 0; i < text.length; ++i) {
        std::memcpy(out, characters_[in[i]], kWritten);
        out += lengths_[in[i]];
      }
    }
    const auto bytes = static_cast<uint32_t>(out - translated);
    const bool is_kept = bytes > StringRef::kInlineBytes && text.is_inline();
    return StringRef(is_kept ? arena.CopyBytes(translated, bytes) : translated, bytes);
  }

 private:
  char characters_[256][4] = {};
  uint8_t lengths_[256];
  uint32_t longest_ = 1;
  bool keeps_length_ = true;
};

// A table pays for some rows, and takes the square of `from` to make.
bool HasByteTranslation(const StringRef& from, uint32_t rows, bool is_utf8) {
  constexpr uint32_t kFewRows = 16, kManyCharacters = 256;
  const auto is_byte = [](char c) { return static_cast<uint8_t>(c) < 0x80; };
  return rows >= kFewRows && from.length <= kManyCharacters &&
         (!is_utf8 || std::all_of(from.data(), from.data() + from.length, is_byte));
}

Vector EvaluateTranslate(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const bool is_utf8 = context.session.encoding_is_utf8;
  const View<StringRef> from = ViewOf<StringRef>(args[1], rows, context.arena);
  const View<StringRef> to = ViewOf<StringRef>(args[2], rows, context.arena);
  if (from.stride == 0 && to.stride == 0 && HasByteTranslation(from[0], rows, is_utf8)) {
    const ByteTranslation translation(from[0], to[0], is_utf8);
    return MapText(expr, args, rows, context,
                   [&](const StringRef& text, uint32_t) { return translation.Translate(text, context.arena); });
  }
  return MapText(expr, args, rows, context, [&](const StringRef& text, uint32_t i) {
    return Translate(text, from[i], to[i], is_utf8, context.arena);
  });
}

// ---- choice

bool Takes(const CallSite& call, std::initializer_list<PenumbraType> types) {
  return call.result == PENUMBRA_TEXT && call.args.size() == types.size() &&
         std::equal(types.begin(), types.end(), call.args.begin(),
                    [](PenumbraType type, const Expr* arg) { return arg->type == type; });
}

Binding BindSplitPart(const CallSite& call) {
  Binding binding;
  if (!Takes(call, {PENUMBRA_TEXT, PENUMBRA_TEXT, PENUMBRA_INT4})) return binding;
  const int32_t* field = KnownValue<int32_t>(*call.args[2]);
  binding.evaluate = EvaluateSplitPart;
  binding.can_fail = binding.can_be_unsupported = field == nullptr || *field == 0;
  return binding;
}

Binding BindPad(const CallSite& call, EvaluateFunction evaluate) {
  constexpr int32_t kSafeCharacters = 1 << 20;
  Binding binding;
  if (!Takes(call, {PENUMBRA_TEXT, PENUMBRA_INT4, PENUMBRA_TEXT})) return binding;
  const int32_t* count = KnownValue<int32_t>(*call.args[1]);
  binding.evaluate = evaluate;
  binding.can_fail = binding.can_be_unsupported = count == nullptr || *count > kSafeCharacters;
  return binding;
}

Binding BindRepeat(const CallSite& call) {
  constexpr int32_t kFewTimes = 1000;  // of a text that only a very long one of a table makes too long
  Binding binding;
  if (!Takes(call, {PENUMBRA_TEXT, PENUMBRA_INT4})) return binding;
  const int32_t* count = KnownValue<int32_t>(*call.args[1]);
  binding.evaluate = EvaluateRepeat;
  binding.can_fail = true;
  binding.can_be_unsupported = count == nullptr || *count > kFewTimes;
  return binding;
}

Binding BindTranslate(const CallSite& call) {
  Binding binding;
  if (!Takes(call, {PENUMBRA_TEXT, PENUMBRA_TEXT, PENUMBRA_TEXT})) return binding;
  binding.evaluate = EvaluateTranslate;
  binding.can_fail = true;
  return binding;
}

}  // namespace

Binding BindTextComposition(const CallSite& call) {
  switch (call.function) {
    case PENUMBRA_FN_SPLIT_PART: return BindSplitPart(call);
    case PENUMBRA_FN_LPAD: return BindPad(call, EvaluatePad<true>);
    case PENUMBRA_FN_RPAD: return BindPad(call, EvaluatePad<false>);
    case PENUMBRA_FN_REPEAT: return BindRepeat(call);
    case PENUMBRA_FN_TRANSLATE: return BindTranslate(call);
    default: return Binding();
  }
}

}  // namespace penumbra
