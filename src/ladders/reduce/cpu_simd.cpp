// reduce/simd: one core, whole vectors, and enough independent accumulators to hide the latency of an add. Compiled
// once per instruction set; Highway dispatches at run time.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/reduce/cpu_simd.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cpu/lanes-inl.h"
#include "cpu/parallel.h"
#include "ladders/reduce/binding.h"
#include "ladders/reduce/cpu_extreme.h"
#include "ladders/reduce/cpu_simd.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using lanes::HWY_NAMESPACE::combine, lanes::HWY_NAMESPACE::load_some, lanes::HWY_NAMESPACE::loses_nan;

// Reduces the lanes of v by folding the upper half onto the lower. (Not SumOfLanes: GCC's intrinsic adds signed C++
// integers, whose overflow is undefined.)
template <class O, class D, class V>
HWY_INLINE hn::TFromD<D> fold_halves([[maybe_unused]] D d, V v) {
#if HWY_TARGET != HWY_SCALAR  // HWY_SCALAR has no half vectors
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    return fold_halves<O>(half, combine(O{}, hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else
#endif
    return hn::GetLane(v);
}

// A vector accumulator. If the operator would lose NaNs, it also adds up the elements: the sum of a lane is NaN if one
// of its elements is, or if there are infinities of both signs. (A sum takes one instruction per vector; a test for NaN
// and a mask of its results take two, and warm maxima of 2^10 f64 took 1.2 times as long.)
template <class O, class D>
class Lanes {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  static constexpr bool watch_nan = loses_nan<T, O>;

 public:
  HWY_INLINE Lanes() : value_(hn::Set(D(), O::template neutral<T>())), sum_(hn::Zero(D())) {}
  HWY_INLINE void take(V v) {
    value_ = combine(O{}, value_, v);
    if constexpr (watch_nan) sum_ = hn::Add(sum_, v);
  }
  HWY_INLINE void take(const Lanes& other) {
    value_ = combine(O{}, value_, other.value_);
    if constexpr (watch_nan) sum_ = hn::Add(sum_, other.sum_);
  }
  // Returns false only if no element was NaN.
  HWY_INLINE bool may_have_nan() const {
    if constexpr (watch_nan) return !hn::AllFalse(D(), hn::IsNaN(sum_));
    return false;
  }
  HWY_INLINE T fold() const { return fold_halves<O>(D(), value_); }

 private:
  V value_, sum_;
};

template <class T>
bool has_nan(const T* in, std::size_t n) {
  return std::any_of(in, in + n, [](T x) { return x != x; });
}

// The vector width for data in memory. With wider vectors, the core runs so far ahead of its additions that its demand
// misses crowd out the hardware prefetches. i32 on two Zen 4 cores, GB/s:
//                                           2^24  2^25  2^26  2^27
//   64-byte vectors                           45    38    58    60
//   32-byte vectors                           46    41    62    63
//   32-byte vectors, prefetch 2 KiB ahead     47    41    62    62
// 16-byte vectors tie from memory but lose in cache. In cache, 32 and 64 bytes tie on this processor; other processors
// load 64 bytes faster.
inline constexpr std::size_t memory_vector_bytes = 32;
template <class T, From from>
using Vectors =
    std::conditional_t<from == From::caches, hn::ScalableTag<T>, hn::CappedTag<T, memory_vector_bytes / sizeof(T)>>;

template <class T, class O, From from>
void reduce_span(const void* memory, std::size_t n, void* out) {
  const Vectors<T, from> d;
  using Acc = Lanes<O, decltype(d)>;
  const std::size_t width = hn::Lanes(d);
  const T* in = static_cast<const T*>(memory);
  const T* const end = in + n;
  Acc a0, a1, a2, a3, a4, a5, a6, a7;

  // 1. Align to a vector: a load that crosses a cache line costs as much as two.
  const std::size_t past = reinterpret_cast<std::uintptr_t>(in) / sizeof(T) % width;
  if (past && n >= width) {
    a0.take(load_some<O>(d, in, width - past));
    in += width - past;
  }
  // 2. Eight vectors per iteration: an add takes 3 or 4 cycles and two issue per cycle, so up to 8 are in flight.
  for (; static_cast<std::size_t>(end - in) >= 8 * width; in += 8 * width) {
    a0.take(hn::LoadU(d, in));
    a1.take(hn::LoadU(d, in + width));
    a2.take(hn::LoadU(d, in + 2 * width));
    a3.take(hn::LoadU(d, in + 3 * width));
    a4.take(hn::LoadU(d, in + 4 * width));
    a5.take(hn::LoadU(d, in + 5 * width));
    a6.take(hn::LoadU(d, in + 6 * width));
    a7.take(hn::LoadU(d, in + 7 * width));
  }
  // 3. The remaining elements, then a tree over the accumulators.
  for (; static_cast<std::size_t>(end - in) >= width; in += width) a0.take(hn::LoadU(d, in));
  if (in != end) a1.take(load_some<O>(d, in, static_cast<std::size_t>(end - in)));
  a0.take(a4), a1.take(a5), a2.take(a6), a3.take(a7);
  a0.take(a2), a1.take(a3);
  a0.take(a1);
  const bool is_nan = a0.may_have_nan() && has_nan(static_cast<const T*>(memory), n);
  *static_cast<T*>(out) = is_nan ? std::numeric_limits<T>::quiet_NaN() : a0.fold();
}

SpanReduction find_reduction(Type type, Op op, From from) {
  return visit(type, [&]<class Tag>(Tag) -> SpanReduction {
    using T = typename Tag::type;
    return visit(op, [&]<class O>(O) -> SpanReduction {
      if constexpr (sizeof(T) < 4 && O::operation == Op::product)  // scans use the other operators on narrow types
        return nullptr;
      else
        return from == From::caches ? &reduce_span<T, O, From::caches> : &reduce_span<T, O, From::memory>;
    });
  });
}

}  // namespace upsweep::ladders::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::reduce {

HWY_EXPORT(find_reduction);
SpanReduction simd_reduction(Type type, Op op, From from) {
  return HWY_DYNAMIC_DISPATCH(find_reduction)(type, op, from);
}

namespace {  // a rung of the same name may exist on the GPU

struct simd {
  static constexpr Story story{.idea = "whole vectors, eight independent accumulators",
                               .prediction = "a cache line per cycle in L1; 5 times serial from L2, 3 from memory",
                               .guarantees = "the order depends on the vector width and the input's alignment",
                               .limits = "any n",
                               .source = "Fog, Optimizing Software in C++, chapter 12"};

  static constexpr bool takes_initial = true;
  static constexpr bool takes_segments = true;
  template <class T, class Op>
  static constexpr bool supports = true;

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    static const SpanReduction cached = simd_reduction(type_of<T>(), Op::operation, From::caches);
    static const SpanReduction streamed = simd_reduction(type_of<T>(), Op::operation, From::memory);
    for (std::size_t s = 0; s < a.segments(); ++s) {
      const std::span<const T> segment = a.segment(s);
      (one_core(a.n * sizeof(T)) ? cached : streamed)(segment.data(), segment.size(), a.out + s);
      a.out[s] = with_initial(a.out[s], a.n, a.op, a.initial);
    }
    return {};
  }
  template <class T, class Op>
  static Status run(const IndexArgs<T, Op>& a) {
    static const ExtremeLoops loops = extreme_loops<T, Op>();
    *a.out = index_in(a.in, a.n, extreme_block<Op>(a.in, a.n, loops), loops);
    return {};
  }
};

}  // namespace

extern const Rung cpu_simd_rung = make_rung<Binding, simd>("simd", Backend::cpu);

}  // namespace upsweep::ladders::reduce
#endif  // HWY_ONCE
