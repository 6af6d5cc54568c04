// SIMD functions that several primitives share: the operators on vectors, and loads and stores of partial vectors.
// Compiled once per instruction set by Highway's foreach_target, hence the include guard that toggles.
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
// The processor's min and max drop a NaN in one of their operands: callers check for NaNs separately.
template <class V>
HWY_INLINE V combine(Min, V a, V b) {
  return hn::Min(a, b);
}
template <class V>
HWY_INLINE V combine(Max, V a, V b) {
  return hn::Max(a, b);
}
template <class T, class O>
inline constexpr bool loses_nan = std::is_floating_point_v<T> && (O::operation == Op::min || O::operation == Op::max);

// Loads p[k] into lane k for the lanes [begin, end), and the operator's neutral element into the others, whose memory
// is not accessed.
template <class O, class D, class T>
HWY_INLINE hn::Vec<D> load_lanes(D d, const T* p, std::size_t begin, std::size_t end) {
#if HWY_MEM_OPS_MIGHT_FAULT  // the target has no masked loads that suppress faults
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  for (std::size_t k = 0; k < hn::Lanes(d); ++k) lanes[k] = begin <= k && k < end ? p[k] : O::template neutral<T>();
  return hn::Load(d, lanes);
#else
  const auto valid = hn::AndNot(hn::FirstN(d, begin), hn::FirstN(d, end));
  return hn::IfThenElse(valid, hn::MaskedLoad(valid, d, p), hn::Set(d, O::template neutral<T>()));
#endif
}
template <class O, class D, class T>
HWY_INLINE hn::Vec<D> load_some(D d, const T* in, std::size_t count) {
  return load_lanes<O>(d, in, 0, count);
}

// Stores lane k to p[k] for the lanes [begin, end).
template <class D, class T>
HWY_INLINE void store_lanes(D d, hn::Vec<D> v, T* p, std::size_t begin, std::size_t end) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (std::size_t k = begin; k < end; ++k) p[k] = lanes[k];
#else
  hn::BlendedStore(v, hn::AndNot(hn::FirstN(d, begin), hn::FirstN(d, end)), d, p);
#endif
}

}  // namespace upsweep::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // guard
