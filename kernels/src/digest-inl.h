// MD5 and SHA-256 of many messages side by side: one message per lane, since the steps of one wait for each other.
#if defined(PENUMBRA_KERNELS_DIGEST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENUMBRA_KERNELS_DIGEST_INL_H_
#undef PENUMBRA_KERNELS_DIGEST_INL_H_
#else
#define PENUMBRA_KERNELS_DIGEST_INL_H_
#endif

#include "digest_format.h"
#include "kernels/kernels.h"
#include "lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penumbra::kernels::HWY_NAMESPACE {

using DigestTag = hn::CappedTag<uint32_t, kDigestLanesMax>;
using DigestVec = hn::Vec<DigestTag>;

// ---- MD5: a step of two vectors of messages, because one alone waits for itself

template <int kRound>
HWY_INLINE DigestVec MixMd5(DigestVec b, DigestVec c, DigestVec d) {
  if constexpr (kRound == 0) return hn::Xor(d, hn::And(b, hn::Xor(c, d)));
  if constexpr (kRound == 1) return hn::Xor(c, hn::And(d, hn::Xor(b, c)));
  if constexpr (kRound == 2) return hn::Xor(b, hn::Xor(c, d));
  return hn::Xor(c, hn::Or(b, hn::Not(d)));
}

template <int kRound, int kShift>
HWY_INLINE DigestVec StepMd5(DigestVec a, DigestVec b, DigestVec c, DigestVec d, DigestVec word) {
  const DigestVec sum = hn::Add(hn::Add(a, word), MixMd5<kRound>(b, c, d));
  return hn::Add(b, hn::RotateRight<32 - kShift>(sum));
}

// `state`: a, b, c, d of all messages. `words`: word w of all messages from w * slots on.
template <int kRound, int kShift0, int kShift1, int kShift2, int kShift3>
HWY_INLINE void RoundMd5(const uint32_t* HWY_RESTRICT words, uint32_t* HWY_RESTRICT state) {
  // Which word a step takes: the first one's, and how much further each time.
  constexpr uint32_t kFirst[] = {0, 1, 5, 0}, kStride[] = {1, 5, 3, 7};
  const DigestTag tag;
  const size_t lanes = hn::Lanes(tag), slots = 2 * lanes;
  const auto word = [&](uint32_t step, size_t half) HWY_ATTR {
    const uint32_t place = (kFirst[kRound] + kStride[kRound] * step) % 16;
    return hn::Add(hn::Load(tag, words + place * slots + half * lanes),
                   hn::Set(tag, kMd5Constants[kRound * 16 + step]));
  };
  const auto part = [&](size_t i, size_t half) HWY_ATTR { return state + i * slots + half * lanes; };
  DigestVec a0 = hn::Load(tag, part(0, 0)), b0 = hn::Load(tag, part(1, 0));
  DigestVec c0 = hn::Load(tag, part(2, 0)), d0 = hn::Load(tag, part(3, 0));
  DigestVec a1 = hn::Load(tag, part(0, 1)), b1 = hn::Load(tag, part(1, 1));
  DigestVec c1 = hn::Load(tag, part(2, 1)), d1 = hn::Load(tag, part(3, 1));
  for (uint32_t step = 0; step < 16; step += 4) {
    a0 = StepMd5<kRound, kShift0>(a0, b0, c0, d0, word(step, 0));
    a1 = StepMd5<kRound, kShift0>(a1, b1, c1, d1, word(step, 1));
    d0 = StepMd5<kRound, kShift1>(d0, a0, b0, c0, word(step + 1, 0));
    d1 = StepMd5<kRound, kShift1>(d1, a1, b1, c1, word(step + 1, 1));
    c0 = StepMd5<kRound, kShift2>(c0, d0, a0, b0, word(step + 2, 0));
    c1 = StepMd5<kRound, kShift2>(c1, d1, a1, b1, word(step + 2, 1));
    b0 = StepMd5<kRound, kShift3>(b0, c0, d0, a0, word(step + 3, 0));
    b1 = StepMd5<kRound, kShift3>(b1, c1, d1, a1, word(step + 3, 1));
  }
  hn::Store(a0, tag, part(0, 0)), hn::Store(b0, tag, part(1, 0));
  hn::Store(c0, tag, part(2, 0)), hn::Store(d0, tag, part(3, 0));
  hn::Store(a1, tag, part(0, 1)), hn::Store(b1, tag, part(1, 1));
  hn::Store(c1, tag, part(2, 1)), hn::Store(d1, tag, part(3, 1));
}

struct Md5Steps {
  using Format = Md5Format;
  static size_t Slots() { return 2 * hn::Lanes(DigestTag()); }
  static void Compress(uint32_t* HWY_RESTRICT words, uint32_t* HWY_RESTRICT state) {
    RoundMd5<0, 7, 12, 17, 22>(words, state);
    RoundMd5<1, 5, 9, 14, 20>(words, state);
    RoundMd5<2, 4, 11, 16, 23>(words, state);
    RoundMd5<3, 6, 10, 15, 21>(words, state);
  }
};

// ---- SHA-256

HWY_INLINE DigestVec RotatedSum(DigestVec x, DigestVec y, DigestVec z) { return hn::Xor(x, hn::Xor(y, z)); }

struct Sha256Steps {
  using Format = Sha256Format;
  static size_t Slots() { return hn::Lanes(DigestTag()); }

  // The word `step` of the schedule, in the place of the one 16 before it.
  static HWY_INLINE DigestVec NextWord(uint32_t* words, uint32_t step) {
    const DigestTag tag;
    const size_t slots = Slots();
    const auto word = [&](uint32_t i) HWY_ATTR { return hn::Load(tag, words + i % 16 * slots); };
    const DigestVec early = word(step + 1), late = word(step + 14);
    const DigestVec sigma0 =
        RotatedSum(hn::RotateRight<7>(early), hn::RotateRight<18>(early), hn::ShiftRight<3>(early));
    const DigestVec sigma1 = RotatedSum(hn::RotateRight<17>(late), hn::RotateRight<19>(late), hn::ShiftRight<10>(late));
    const DigestVec next = hn::Add(hn::Add(word(step), sigma0), hn::Add(word(step + 9), sigma1));
    hn::Store(next, tag, words + step % 16 * slots);
    return next;
  }

  static void Compress(uint32_t* HWY_RESTRICT words, uint32_t* HWY_RESTRICT state) {
    const DigestTag tag;
    const size_t slots = Slots();
    const auto part = [&](size_t i) HWY_ATTR { return state + i * slots; };
    DigestVec a = hn::Load(tag, part(0)), b = hn::Load(tag, part(1));
    DigestVec c = hn::Load(tag, part(2)), d = hn::Load(tag, part(3));
    DigestVec e = hn::Load(tag, part(4)), f = hn::Load(tag, part(5));
    DigestVec g = hn::Load(tag, part(6)), h = hn::Load(tag, part(7));
    for (uint32_t step = 0; step < 64; ++step) {
      const DigestVec word = step < 16 ? hn::Load(tag, words + step * slots) : NextWord(words, step);
      const DigestVec sum1 = RotatedSum(hn::RotateRight<6>(e), hn::RotateRight<11>(e), hn::RotateRight<25>(e));
      const DigestVec choice = hn::Xor(g, hn::And(e, hn::Xor(f, g)));
      const DigestVec first =
          hn::Add(hn::Add(hn::Add(h, sum1), hn::Add(choice, word)), hn::Set(tag, kSha256Constants[step]));
      const DigestVec sum0 = RotatedSum(hn::RotateRight<2>(a), hn::RotateRight<13>(a), hn::RotateRight<22>(a));
      const DigestVec majority = hn::Xor(b, hn::And(hn::Xor(b, a), hn::Xor(b, c)));
      h = g, g = f, f = e;
      e = hn::Add(d, first);
      d = c, c = b, b = a;
      a = hn::Add(first, hn::Add(sum0, majority));
    }
    hn::Store(a, tag, part(0)), hn::Store(b, tag, part(1)), hn::Store(c, tag, part(2)), hn::Store(d, tag, part(3));
    hn::Store(e, tag, part(4)), hn::Store(f, tag, part(5)), hn::Store(g, tag, part(6)), hn::Store(h, tag, part(7));
  }
};

// ---- the blocks of all messages: a slot whose message is done takes the next one

template <class Steps>
void DigestAll(const uint8_t* const* messages, const uint32_t* lengths, size_t count, uint8_t* digests) {
  using Format = typename Steps::Format;
  const size_t slots = Steps::Slots();
  constexpr size_t kState = Format::kStateWords;
  HWY_ALIGN uint32_t words[16 * kDigestSlotsMax];
  HWY_ALIGN uint32_t state[kState * kDigestSlotsMax];
  HWY_ALIGN uint32_t sums[kState * kDigestSlotsMax];
  MessageBlocks open[kDigestSlotsMax];
  size_t next = 0, open_count = 0;
  const auto take_next = [&](size_t slot) HWY_ATTR {
    for (size_t i = 0; i < kState; ++i) state[i * slots + slot] = Format::kInitial[i];
    if (next == count) return;
    open[slot].Begin<Format>(messages[next], lengths[next], next);
    ++next;
    ++open_count;
  };
  for (size_t slot = 0; slot < slots; ++slot) take_next(slot);
  while (open_count > 0) {
    for (size_t slot = 0; slot < slots; ++slot) {
      const uint8_t* block = open[slot].Block();
      for (size_t i = 0; i < 16; ++i) words[i * slots + slot] = Format::Load(block + 4 * i);
    }
    for (size_t i = 0; i < kState * slots; ++i) sums[i] = state[i];
    Steps::Compress(words, state);
    for (size_t i = 0; i < kState * slots; ++i) state[i] += sums[i];
    for (size_t slot = 0; slot < slots; ++slot) {
      if (!open[slot].is_open() || !open[slot].Advance()) continue;
      uint8_t* digest = digests + open[slot].number() * 4 * kState;
      for (size_t i = 0; i < kState; ++i) Format::Store(state[i * slots + slot], digest + 4 * i);
      --open_count;
      take_next(slot);
    }
  }
}

void Md5All(const uint8_t* const* messages, const uint32_t* lengths, size_t count, uint8_t* digests) {
  DigestAll<Md5Steps>(messages, lengths, count, digests);
}
void Sha256All(const uint8_t* const* messages, const uint32_t* lengths, size_t count, uint8_t* digests) {
  DigestAll<Sha256Steps>(messages, lengths, count, digests);
}

}  // namespace penumbra::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
