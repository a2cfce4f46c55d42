// bytea, which the engine has as text: md5 and sha256, encode and decode, the cast from text.
#include <algorithm>
#include <cstring>
#include <memory>

#include "function/registry.h"
#include "function/text.h"
#include "kernels/kernels.h"
#include "vector/error.h"
#include "vector/vector_build.h"

namespace penumbra {
namespace {

// ---- digests: all valid rows at once

using Digest = void (*)(const uint8_t* const*, const uint32_t*, size_t, uint8_t*);

template <Digest kDigest, uint32_t kBytes, bool kAsHex>
Vector EvaluateDigest(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  const View<StringRef> texts = ViewOf<StringRef>(args[0], rows, context.arena);
  StringRef* out = NewStrings(args[0].validity, rows, context.arena);
  const uint8_t* messages[kVectorRows];
  uint32_t lengths[kVectorRows];
  uint32_t count = 0;
  const auto digest_all = [&](uint32_t first_row, uint32_t last_row) {
    constexpr uint32_t kWidth = kAsHex ? 2 * kBytes : kBytes;
    auto* digests = context.arena.AllocateArray<uint8_t>(size_t{count} * kBytes);
    kDigest(messages, lengths, count, digests);
    char* values = reinterpret_cast<char*>(digests);
    if (kAsHex) {
      values = context.arena.AllocateArray<char>(size_t{count} * kWidth);
      kernels::WriteHex(digests, size_t{count} * kBytes, values);
    }
    for (uint32_t i = first_row; i < last_row; ++i) {
      if (!IsRowValid(args[0].validity, i)) continue;
      out[i] = StringRef(values, kWidth);
      values += kWidth;
    }
    count = 0;
  };
  // The entries of a dictionary can be more than a vector has rows.
  for (uint32_t first = 0; first < rows; first += kVectorRows) {
    const uint32_t last = std::min(rows, first + kVectorRows);
    for (uint32_t i = first; i < last; ++i) {
      if (!IsRowValid(args[0].validity, i)) continue;
      messages[count] = reinterpret_cast<const uint8_t*>(texts[i].data());
      lengths[count++] = texts[i].length;
    }
    digest_all(first, last);
  }
  return FlatVector(expr.type, out, args[0].validity);
}

// ---- encode

char* AllocateText(uint64_t bytes, Arena& arena) {
  if (bytes > kMaxTextBytes) throw EngineError(PENUMBRA_UNSUPPORTED, "text longer than 1 GB");
  return arena.AllocateArray<char>(bytes);
}

const uint8_t* BytesOf(const StringRef& text) { return reinterpret_cast<const uint8_t*>(text.data()); }

StringRef EncodeHex(const StringRef& bytes, Arena& arena) {
  const uint64_t length = uint64_t{bytes.length} * 2;
  char* encoded = AllocateText(length, arena);
  kernels::WriteHex(BytesOf(bytes), bytes.length, encoded);
  return StringRef(encoded, static_cast<uint32_t>(length));
}

// A line feed follows each full line of 76 digits, the last one too.
StringRef EncodeBase64(const StringRef& bytes, Arena& arena) {
  constexpr uint32_t kLineBytes = 57, kLineDigits = 76;
  const uint64_t length = (uint64_t{bytes.length} + 2) / 3 * 4 + bytes.length / kLineBytes;
  char* encoded = AllocateText(length, arena);
  const uint8_t *in = BytesOf(bytes), *end = in + bytes.length;
  char* out = encoded;
  for (; end - in >= kLineBytes; in += kLineBytes) {
    kernels::WriteBase64(in, kLineBytes, out);
    out[kLineDigits] = '\n';
    out += kLineDigits + 1;
  }
  kernels::WriteBase64(in, static_cast<size_t>(end - in), out);
  return StringRef(encoded, static_cast<uint32_t>(length));
}

StringRef EncodeEscape(const StringRef& bytes, Arena& arena) {
  const uint8_t* in = BytesOf(bytes);
  const auto is_octal = [](uint8_t byte) { return byte == 0 || byte >= 0x80; };
  uint64_t length = 0;
  for (uint32_t i = 0; i < bytes.length; ++i) length += is_octal(in[i]) ? 4 : in[i] == '\\' ? 2 : 1;
  char* encoded = AllocateText(length, arena);
  char* out = encoded;
  for (uint32_t i = 0; i < bytes.length; ++i) {
    if (is_octal(in[i])) {
      *out++ = '\\';
      for (int shift = 6; shift >= 0; shift -= 3) *out++ = static_cast<char>('0' + ((in[i] >> shift) & 7));
      continue;
    }
    if (in[i] == '\\') *out++ = '\\';
    *out++ = static_cast<char>(in[i]);
  }
  return StringRef(encoded, static_cast<uint32_t>(length));
}

// ---- decode: what is wrong is left to PostgreSQL, which has the errors

[[noreturn]] void ThrowInvalid() { throw EngineError(PENUMBRA_UNSUPPORTED, "text that is no encoded bytes"); }

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Blanks may stand between bytes.
StringRef DecodeHex(const StringRef& text, Arena& arena) {
  const char *in = text.data(), *end = in + text.length;
  auto* decoded = arena.AllocateArray<uint8_t>(text.length / 2 + 1);
  uint8_t* out = decoded;
  while (in < end) {
    if (IsBlank(*in)) {
      ++in;
      continue;
    }
    const size_t digits = kernels::ReadHex(in, static_cast<size_t>(end - in), out);
    if (digits == 0) ThrowInvalid();
    in += digits;
    out += digits / 2;
  }
  return StringRef(reinterpret_cast<char*>(decoded), static_cast<uint32_t>(out - decoded));
}

// Four digits of Base64, among blanks; fewer, and '=' for the others, at the end. Returns what follows.
const char* ReadBase64Group(const char* in, const char* end, uint8_t** out) {
  char group[4];
  uint32_t digits = 0, missing = 0;
  for (; digits < 4; ++in) {
    if (in == end) ThrowInvalid();
    if (IsBlank(*in)) continue;
    if (*in == '=') ++missing;
    if (missing > 0 && (*in != '=' || digits < 2)) ThrowInvalid();
    group[digits++] = missing > 0 ? 'A' : *in;
  }
  uint8_t three[3];
  if (kernels::ReadBase64(group, 4, three) == 0) ThrowInvalid();
  std::memcpy(*out, three, 3 - missing);
  *out += 3 - missing;
  if (missing > 0 && !std::all_of(in, end, IsBlank)) ThrowInvalid();
  return missing > 0 ? end : in;
}

StringRef DecodeBase64(const StringRef& text, Arena& arena) {
  const char *in = text.data(), *end = in + text.length;
  auto* decoded = arena.AllocateArray<uint8_t>(text.length / 4 * 3 + 3);
  uint8_t* out = decoded;
  while (true) {
    const size_t digits = kernels::ReadBase64(in, static_cast<size_t>(end - in), out);
    in += digits;
    out += digits / 4 * 3;
    while (in < end && IsBlank(*in)) ++in;
    if (in == end) break;
    in = ReadBase64Group(in, end, &out);
  }
  return StringRef(reinterpret_cast<char*>(decoded), static_cast<uint32_t>(out - decoded));
}

StringRef DecodeEscape(const StringRef& text, Arena& arena) {
  const char *in = text.data(), *end = in + text.length;
  const void* escape = text.length == 0 ? nullptr : std::memchr(in, '\\', text.length);
  if (escape == nullptr) return text;
  const auto is_digit = [](char c, char last) { return c >= '0' && c <= last; };
  char* decoded = arena.AllocateArray<char>(text.length);
  char* out = decoded;
  while (in < end) {
    if (*in != '\\') {
      *out++ = *in++;
    } else if (end - in >= 2 && in[1] == '\\') {
      *out++ = '\\';
      in += 2;
    } else if (end - in >= 4 && is_digit(in[1], '3') && is_digit(in[2], '7') && is_digit(in[3], '7')) {
      *out++ = static_cast<char>((in[1] - '0') << 6 | (in[2] - '0') << 3 | (in[3] - '0'));
      in += 4;
    } else {
      ThrowInvalid();
    }
  }
  return StringRef(decoded, static_cast<uint32_t>(out - decoded));
}

// What the type's input function takes.
StringRef ReadBytea(const StringRef& text, Arena& arena) {
  if (text.length < 2 || std::memcmp(text.data(), "\\x", 2) != 0) return DecodeEscape(text, arena);
  return DecodeHex(StringRef(text.data() + 2, text.length - 2), arena);
}

// ---- choice

template <StringRef (*kConvert)(const StringRef&, Arena&)>
Vector EvaluateConversion(const Expr& expr, const Vector* args, uint32_t rows, EvalContext& context) {
  return MapText(expr, args, rows, context,
                 [&](const StringRef& text, uint32_t) { return kConvert(text, context.arena); });
}

EvaluateFunction ChooseConversion(bool encodes, const StringRef& format) {
  const auto is = [&](std::string_view name) {
    return format.length == name.size() && std::equal(name.begin(), name.end(), format.data(),
                                                      [](char a, char b) { return a == (b | 0x20) || a == b; });
  };
  if (is("hex")) return encodes ? EvaluateConversion<EncodeHex> : EvaluateConversion<DecodeHex>;
  if (is("base64")) return encodes ? EvaluateConversion<EncodeBase64> : EvaluateConversion<DecodeBase64>;
  if (is("escape")) return encodes ? EvaluateConversion<EncodeEscape> : EvaluateConversion<DecodeEscape>;
  return nullptr;
}

Binding BindConversion(const CallSite& call) {
  Binding binding;
  const StringRef* format = KnownValue<StringRef>(*call.args[1]);
  const bool encodes = call.function == PENUMBRA_FN_ENCODE;
  if (format != nullptr) binding.evaluate = ChooseConversion(encodes, *format);
  if (binding.evaluate == nullptr) binding.reason = "format of " + std::string(FunctionName(call.function)) + "()";
  binding.evaluated_args = 1;
  binding.can_fail = true;
  binding.can_be_unsupported = !encodes;
  return binding;
}

}  // namespace

Binding BindBytes(const CallSite& call) {
  Binding binding;
  for (const Expr* arg : call.args) {
    if (arg->type != PENUMBRA_TEXT) return binding;
  }
  const bool is_conversion = call.function == PENUMBRA_FN_ENCODE || call.function == PENUMBRA_FN_DECODE;
  if (call.result != PENUMBRA_TEXT || call.args.size() != (is_conversion ? 2 : 1)) return binding;
  if (is_conversion) return BindConversion(call);
  switch (call.function) {
    case PENUMBRA_FN_MD5: binding.evaluate = EvaluateDigest<kernels::Md5, 16, true>; break;
    case PENUMBRA_FN_SHA256: binding.evaluate = EvaluateDigest<kernels::Sha256, 32, false>; break;
    default:
      binding.evaluate = EvaluateConversion<ReadBytea>;
      binding.can_fail = binding.can_be_unsupported = true;
      break;
  }
  return binding;
}

}  // namespace penumbra
