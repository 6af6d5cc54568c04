// saxpy/simd: whole vectors on one core; no store crosses a cache line.
//
// Compiled once per instruction set; Highway selects one at run time.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/saxpy/cpu_simd.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

#include "ladders/saxpy/binding.h"
#include "ladders/saxpy/cpu_simd.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::saxpy::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Returns a * x + y per lane: fused if the target has FMA; integers wrap.
template <class D, class V>
HWY_INLINE V axpy([[maybe_unused]] D d, V a, V x, V y) {
  using T = hn::TFromD<D>;
  if constexpr (hwy::IsFloat<T>()) {
    return hn::MulAdd(a, x, y);
#if HWY_TARGET != HWY_SCALAR  // HWY_SCALAR has one lane and multiplies every type
  } else if constexpr (sizeof(T) == 1) {
    // No instruction multiplies bytes: multiply even and odd bytes in 16-bit lanes and keep the low byte of each
    // product.
    const hn::Repartition<std::uint16_t, D> pairs;
    const auto x2 = hn::BitCast(pairs, x), a2 = hn::BitCast(pairs, a);
    const auto even = hn::And(hn::Mul(x2, a2), hn::Set(pairs, 0xff));
    const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(x2), a2));
    return hn::Add(hn::BitCast(d, hn::Or(even, odd)), y);
#endif
  } else {
    return hn::Add(hn::Mul(a, x), y);
  }
}

// Maximum vector size: on Zen 4, a 64-byte store takes two cycles (Fog, Instruction Tables). GB/s there, f32, with
// vectors of 64 and of 32 bytes:
//                       in place  separate output
//   2^10, one core     222,  264       260,   313
//   2^11, one core     271,  325       270,   323
//   2^20, both cores   279,  296        80,   155
//   2^26, both cores       a tie            a tie
inline constexpr std::size_t vector_bytes = 32;

template <class T, Stores stores>
void span(const void* factor, const void* x_memory, const void* y_memory, void* out_memory, std::size_t n) {
  const T a = *static_cast<const T*>(factor);
  const T *x = static_cast<const T*>(x_memory), *y = static_cast<const T*>(y_memory);
  T* out = static_cast<T*>(out_memory);
  const hn::CappedTag<T, vector_bytes / sizeof(T)> d;
  const std::size_t width = hn::Lanes(d);
  const auto factors = hn::Set(d, a);

  // Maps a single element, rounded as in the vectors.
  const auto one = [&](std::size_t i) HWY_ATTR {
    if constexpr (hwy::IsFloat<T>()) {
      const hn::CappedTag<T, 1> single;
      out[i] = hn::GetLane(axpy(single, hn::Set(single, a), hn::Set(single, x[i]), hn::Set(single, y[i])));
    } else {
      out[i] = Axpy<T>{a}(x[i], y[i]);
    }
  };
  const auto vector = [&](std::size_t i) HWY_ATTR {
    const auto result = axpy(d, factors, hn::LoadU(d, x + i), hn::LoadU(d, y + i));
    if constexpr (stores == Stores::around)
      hn::Stream(result, d, out + i);
    else
      hn::Store(result, d, out + i);
  };

  // 1. Single elements until out is aligned to a vector: out rather than x or y, because crossing a cache line costs a
  // store more than a load.
  std::size_t i = 0;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(out) / sizeof(T) % width;
  for (const std::size_t head = past ? HWY_MIN(width - past, n) : 0; i < head; ++i) one(i);
  // 2. Four vectors per iteration.
  for (; n - i >= 4 * width; i += 4 * width) {
    vector(i);
    vector(i + width);
    vector(i + 2 * width);
    vector(i + 3 * width);
  }
  // 3. The remaining vectors, then single elements.
  for (; n - i >= width; i += width) vector(i);
  for (; i < n; ++i) one(i);
  if constexpr (stores == Stores::around) hwy::FlushStream();
}

Span find_span(Type type, Stores stores) {
  return visit(type, [&]<class T>(TypeTag<T>) -> Span {
    return stores == Stores::cached ? &span<T, Stores::cached> : &span<T, Stores::around>;
  });
}

}  // namespace upsweep::ladders::saxpy::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::saxpy {

HWY_EXPORT(find_span);
Span simd_span(Type type, Stores stores) { return HWY_DYNAMIC_DISPATCH(find_span)(type, stores); }

namespace {  // a rung of the same name may exist on the GPU

struct simd {
  static constexpr Story story{
      .idea = "whole vectors: two loads, a multiply-add and an aligned store per vector",
      .prediction = "a 32-byte vector per cycle in L1, bound by stores; ties with serial from memory",
      .guarantees = "rounded once if the processor has a fused multiply-add",
      .limits = "any n",
      .source = "Fog, Optimizing Software in C++, chapter 12"};

  template <class T, class>
  static Status run(const Args<T>& a) {
    static const Span apply = simd_span(type_of<T>(), Stores::cached);
    apply(&a.f.a, a.x, a.y, a.out, a.n);
    return {};
  }
};

}  // namespace

extern const Rung cpu_simd_rung = make_rung<Binding, simd>("simd", Backend::cpu);

}  // namespace upsweep::ladders::saxpy
#endif  // HWY_ONCE
