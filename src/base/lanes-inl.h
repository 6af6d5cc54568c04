// What the SIMD loops of several primitives share: the operators on vectors, and the ends of arrays that do not fill
// one. Compiled once for each instruction set, inside Highway's foreach_target, so with a guard that toggles.
#if defined(UPSWEEP_BASE_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef UPSWEEP_BASE_LANES_INL_H
#undef UPSWEEP_BASE_LANES_INL_H
#else
#define UPSWEEP_BASE_LANES_INL_H
#endif

#include <hwy/highway.h>

#include "upsweep/types.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::lanes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V combine(Sum, V a, V b) {
  return hn::Add(a, b);
}
template <class V>
HWY_INLINE V combine(Product, V a, V b) {
  return hn::Mul(a, b);
}
// The processor's minimum and maximum lose a NaN in one of their operands: who uses them looks for NaNs beside them.
template <class V>
HWY_INLINE V combine(Min, V a, V b) {
  return hn::Min(a, b);
}
template <class V>
HWY_INLINE V combine(Max, V a, V b) {
  return hn::Max(a, b);
}
template <class T, class O>
inline constexpr bool loses_nan = std::is_floating_point_v<T> && (O::op == Op::min || O::op == Op::max);

// in[0..count), less than one vector, and the operator's neutral element in the lanes after that.
template <class O, class D, class T>
HWY_INLINE hn::Vec<D> load_some(D d, const T* in, std::size_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT  // no masked loads that leave the memory beyond in[count) alone
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = i < count ? in[i] : O::template neutral<T>();
  return hn::Load(d, lanes);
#else
  const auto valid = hn::FirstN(d, count);
  return hn::IfThenElse(valid, hn::MaskedLoad(valid, d, in), hn::Set(d, O::template neutral<T>()));
#endif
}

// The first lanes of v to out[0..count), less than one vector.
template <class D, class T>
HWY_INLINE void store_some(D d, hn::Vec<D> v, T* out, std::size_t count) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (std::size_t i = 0; i < count; ++i) out[i] = lanes[i];
#else
  hn::BlendedStore(v, hn::FirstN(d, count), d, out);
#endif
}

}  // namespace upsweep::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // guard
