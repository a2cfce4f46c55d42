#include "numeric.h"

#include "error.h"

namespace penumbra {

const int128 kPowersOfTen[kMaxInt128Digits + 1] = {};

namespace {
[[noreturn]] void Refuse() { throw EngineError(PENUMBRA_UNSUPPORTED, "numeric"); }
}  // namespace

Decimal Decimal::FromInteger(int128, int) { Refuse(); }
Decimal Decimal::FromPayload(std::string_view) { Refuse(); }
StringRef Decimal::ToPayload(Arena&) const { Refuse(); }
Decimal Decimal::FromString(std::string_view) { Refuse(); }
std::string Decimal::ToString() const { Refuse(); }
Decimal Decimal::FromDouble(double) { Refuse(); }
Decimal Decimal::FromFloat(float) { Refuse(); }
double Decimal::ToDouble() const { Refuse(); }
bool Decimal::ToScaledInteger(int128*) const { Refuse(); }
Decimal Decimal::Add(const Decimal&, const Decimal&) { Refuse(); }
Decimal Decimal::Subtract(const Decimal&, const Decimal&) { Refuse(); }
Decimal Decimal::Multiply(const Decimal&, const Decimal&) { Refuse(); }
Decimal Decimal::Divide(const Decimal&, const Decimal&) { Refuse(); }
Decimal Decimal::Modulo(const Decimal&, const Decimal&) { Refuse(); }
Decimal Decimal::Round(const Decimal&, int) { Refuse(); }
Decimal Decimal::Truncate(const Decimal&, int) { Refuse(); }
Decimal Decimal::Floor(const Decimal&) { Refuse(); }
Decimal Decimal::Ceil(const Decimal&) { Refuse(); }
Decimal Decimal::Negate(const Decimal&) { Refuse(); }
Decimal Decimal::Abs(const Decimal&) { Refuse(); }
Decimal Decimal::Sign(const Decimal&) { Refuse(); }
Decimal Decimal::SquareRoot(const Decimal&) { Refuse(); }
int Decimal::Compare(const Decimal&, const Decimal&) { Refuse(); }
Decimal Decimal::Average(const Decimal&, int64_t) { Refuse(); }
bool Decimal::ComputeSpread(Spread, int64_t, const Decimal&, const Decimal&, Decimal*) { Refuse(); }
bool PayloadToInt64(const char*, uint32_t, int64_t*, int*) { Refuse(); }
bool PayloadToInt128(const char*, uint32_t, int128*, int*) { Refuse(); }
uint32_t IntegerToPayload(int128, int, char*) { Refuse(); }
StringRef CanonicalInteger(int128, int, Arena&) { Refuse(); }
StringRef CanonicalPayload(std::string_view, Arena&) { Refuse(); }
Decimal CanonicalToDecimal(std::string_view) { Refuse(); }
Decimal DecimalAt(const Vector&, uint32_t) { Refuse(); }

}  // namespace penumbra
