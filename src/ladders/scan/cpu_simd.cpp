// scan/simd: one core, whole vectors, and only one dependent operation from vector to vector.
//
// Idea      sliding windows: w2[i] = x[i-1] + x[i], w4[i] = w2[i-2] + w2[i], ..., until a window is as wide as a
//           vector; then out[i] = out[i-W] + wW[i], vector by vector. Windows cross vector boundaries, so no total has
//           to be broadcast, unlike in a scan of each vector that then adds a carry. Per vector: log2(W) + 1
//           operations, log2(W) moves, and one operation in the dependency chain.
// Traffic   n read, n written; large arrays use non-temporal stores, which do not read the lines that they overwrite.
// Order     windows as above, counted from the first vector-aligned element of out.
// Source    Hillis and Steele, Data Parallel Algorithms, 1986; the windows run on as in a sliding sum.
//
// Compiled once per instruction set; Highway dispatches at run time.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/scan/cpu_simd.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/unsigned_as.h"
#include "cpu/lanes-inl.h"
#include "ladders/scan/binding.h"
#include "ladders/scan/cpu_simd.h"
#include "ladders/scan/cpu_slide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::scan::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using lanes::HWY_NAMESPACE::combine, lanes::HWY_NAMESPACE::load_lanes, lanes::HWY_NAMESPACE::loses_nan,
    lanes::HWY_NAMESPACE::store_lanes;

// A sliding-window scan of consecutive vectors.
template <class T, class O>
class Sliding {
  using D = Wide<T>;
  using V = hn::Vec<D>;
  static constexpr int width = static_cast<int>(hn::MaxLanes(D()));

 public:
  HWY_INLINE explicit Sliding(T carry) : Sliding(hn::Set(D(), carry), hn::Set(D(), O::template neutral<T>())) {}
  // Returns the prefixes of x, the next vector; `left` is the vector one element to the left of x.
  HWY_INLINE V take(V left, V x) {
    if constexpr (width > 1) x = window<2, 0>(combine(O{}, left, x));
    return prefixes_ = combine(O{}, prefixes_, x);
  }
  HWY_INLINE T last() const { return hn::ExtractLane(prefixes_, width - 1); }

 private:
  // No loop over before_: GCC 12 would then keep it in memory.
  HWY_INLINE Sliding(V carry, V neutral) : before_{neutral, neutral, neutral, neutral, neutral}, prefixes_(carry) {}
  // Widens w, windows of k elements, to windows of a whole vector.
  template <int k, int level>
  HWY_INLINE V window(V w) {
    if constexpr (k < width) {
      const V left = slide<k>(D(), w, before_[level]);
      before_[level] = w;
      return window<2 * k, level + 1>(combine(O{}, left, w));
    } else {
      return w;
    }
  }
  V before_[5];  // the last vector's windows of 2, 4, ... elements: 5 sizes if a vector has 64 lanes
  V prefixes_;
};

template <class T, class O>
void scan_span(const void* from, void* to, std::size_t count, void* carry, How how) {
  using Index = std::ptrdiff_t;
  const Wide<T> d;
  const Index width = static_cast<Index>(hn::Lanes(d)), n = static_cast<Index>(count);
  T& total = *static_cast<T*>(carry);
  T* const out = static_cast<T*>(to);
  if (n == 0) return;
  const T last = static_cast<const T*>(from)[n - 1];  // before it is overwritten, if in is out
  // An exclusive scan is an inclusive one shifted by one element: in[i] is the last element that out[i] includes.
  const Index shift = how.inclusive ? 0 : 1;
  const T* const in = static_cast<const T*>(from) - shift;

  // Vectors are aligned in out, so that no store crosses a cache line. The first vector may begin before the array, and
  // the last may end past it; lanes outside the array are neutral and not stored.
  const auto lane = [&](Index j, Index i) { return static_cast<std::size_t>(std::clamp(j - i, Index{0}, width)); };
  const auto load = [&](Index i, Index left) __attribute__((always_inline)) {  // from in[i - left] on
    if (HWY_LIKELY(i >= 2 && i + width <= n)) return hn::LoadU(d, in + i - left);
    return load_lanes<O>(d, in + i - left, lane(shift + left, i), lane(n + left, i));
  };
  const auto store = [&](auto v, Index i) __attribute__((always_inline)) {
    if (HWY_UNLIKELY(i < 0 || i + width > n))
      store_lanes(d, v, out + i, lane(0, i), lane(n, i));
    else if (how.stores == Stores::around)
      hn::Stream(v, d, out + i);
    else
      hn::Store(v, d, out + i);
  };

  Sliding<T, O> prefixes(total);
  Index i = -static_cast<Index>(reinterpret_cast<std::uintptr_t>(out) / sizeof(T) % static_cast<std::size_t>(width));
  auto left = load(i, 1), x = load(i, 0);
  bool nan = loses_nan<T, O> && total != total;
  for (; i < n && !nan; i += width) {
    if constexpr (loses_nan<T, O>) {
      nan = !hn::AllFalse(d, hn::IsNaN(x));
      if (HWY_UNLIKELY(nan)) break;
    }
    hwy::Prefetch(reinterpret_cast<const std::byte*>(in + i) + how.ahead);
    const auto y = prefixes.take(left, x);
    if (i + width < n) left = load(i + width, 1), x = load(i + width, 0);  // before the store: in may be out
    store(y, i);
  }
  if (how.stores == Stores::around) hwy::FlushStream();
  total = prefixes.last();
  if (HWY_UNLIKELY(nan)) {  // after a NaN, every min and max is NaN
    HWY_ALIGN T rest[hn::MaxLanes(d)];
    hn::Store(x, d, rest);
    for (Index k = 0; i < n; ++i, ++k) {
      if (k < width) total = O{}(total, rest[k]);
      if (i >= 0) out[i] = total;
    }
  }
  if (!how.inclusive) total = O{}(total, last);
}

SpanScan find_scan(Type type, Op op) {
  return visit(type, [&]<class Tag>(Tag) -> SpanScan {
    using T = typename Tag::type;
    return visit(op, [&]<class O>(O) -> SpanScan {
      if constexpr (!Binding::takes<T, O>)
        return nullptr;
      else if constexpr (std::is_integral_v<T> && (O::operation == Op::sum || O::operation == Op::product))
        return &scan_span<UnsignedAs<T>, O>;  // signed and unsigned results have the same bits
      else
        return &scan_span<T, O>;
    });
  });
}

}  // namespace upsweep::ladders::scan::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::scan {

HWY_EXPORT(find_scan);
SpanScan simd_scan(Type type, Op op) { return HWY_DYNAMIC_DISPATCH(find_scan)(type, op); }

namespace {  // a rung of the same name may exist on the GPU

struct simd {
  static constexpr Story story{.idea = "sliding windows over whole vectors; one operation between vectors",
                               .prediction = "a vector in 4 cycles in cache; from memory, as fast as one core copies",
                               .guarantees = "the order depends on the vector width and the output's alignment",
                               .limits = "any n; in place",
                               .source = "Hillis and Steele, Data Parallel Algorithms, 1986"};
  static constexpr bool takes_initial = true;

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    static const SpanScan scan = simd_scan(type_of<T>(), Op::operation);
    T carry = a.initial.value;
    scan(a.in, a.out, a.n, &carry, {a.inclusive, stores_for(2 * a.n * sizeof(T))});
    store_empty_prefix(a);
    return {};
  }
};

}  // namespace

extern const Rung cpu_simd_rung = make_rung<Binding, simd>("simd", Backend::cpu);

}  // namespace upsweep::ladders::scan
#endif  // HWY_ONCE
