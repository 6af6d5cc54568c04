// Vectors that slide over an array, shared by the SIMD loops of scan. Compiled once per instruction set, inside
// Highway's foreach_target, hence the toggling guard.
#if defined(UPSWEEP_SCAN_CPU_SLIDE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef UPSWEEP_SCAN_CPU_SLIDE_INL_H
#undef UPSWEEP_SCAN_CPU_SLIDE_INL_H
#else
#define UPSWEEP_SCAN_CPU_SLIDE_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::scan::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The widest vector whose length is a compile-time constant, because slide() needs constant lane indices.
template <class T>
#if HWY_HAVE_SCALABLE
using Wide = hn::CappedTag<T, 16 / sizeof(T)>;
#else
using Wide = hn::ScalableTag<T>;
#endif

// Shifts `now` up by k lanes, 0 < k < width, and fills the lowest lanes with the highest lanes of `before`. If `before`
// is the vector to the left of `now`, the result is the vector k elements to the left of `now`.
template <int k, class D, class V = hn::Vec<D>>
HWY_INLINE V slide(D d, V now, V before) {
#if HWY_TARGET == HWY_SCALAR
  return (void)d, (void)now, before;  // a vector of one lane can only slide by a whole vector
#else
  constexpr int bytes = k * static_cast<int>(sizeof(hn::TFromD<D>)), block = 16;
  static_assert(k > 0 && k < static_cast<int>(hn::MaxLanes(D())));
  // The two-vector byte shift works within 16-byte blocks, so it needs the block to the left of each block of `now`.
  [[maybe_unused]] V blocks = before;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3  // the one instruction that crosses blocks, by whole words
  const hn::Repartition<std::uint32_t, D> words;
  const auto high = hn::BitCast(words, now), low = hn::BitCast(words, before);
  if constexpr (bytes % 4 == 0)
    return hn::BitCast(d, hn::Vec<decltype(words)>{_mm512_alignr_epi32(high.raw, low.raw, 16 - bytes / 4)});
  else
    blocks = hn::BitCast(d, hn::Vec<decltype(words)>{_mm512_alignr_epi32(high.raw, low.raw, 16 - block / 4)});
#elif HWY_MAX_BYTES == 32
  blocks = hn::ConcatLowerUpper(d, now, before);
#endif
  if constexpr (bytes < block) return hn::CombineShiftRightBytes<block - bytes>(d, now, blocks);
  return blocks;
#endif
}

}  // namespace upsweep::ladders::scan::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // guard
