// scan/simd: one core, whole vectors, and one operation between a vector's prefixes and the next one's.
//
// Idea      windows that slide: w2[i] = x[i-1] + x[i], w4[i] = w2[i-2] + w2[i], ..., until a window is as wide as a
//           vector; then out[i] = out[i-W] + wW[i], a vector at a time. Windows reach across the vectors' boundaries,
//           so no vector's total has to be spread over the next one, which is what scanning each vector by itself and
//           adding a carry costs: log2(W) + 1 operations and log2(W) moves a vector, and one operation in the chain.
// Traffic   n read, n written; from a size on with stores around the caches, which save reading what is overwritten.
// Order     windows as above, counted from the first element of out on a vector's boundary.
// Source    Hillis and Steele, Data Parallel Algorithms, 1986; the windows run on as in a sliding sum.
//
// Compiled once for each instruction set and chosen at run time by Highway.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "scan/cpu_simd.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)  // the same code as SSE4 and AVX3 here: half the compile time
#include "scan/cpu_simd.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "base/cache.h"
#include "base/lanes-inl.h"
#include "scan/contract.h"
#include "scan/cpu_slide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::scan::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using lanes::HWY_NAMESPACE::combine, lanes::HWY_NAMESPACE::load_some, lanes::HWY_NAMESPACE::loses_nan,
    lanes::HWY_NAMESPACE::store_some;

// The scan of a row of vectors, handed over one after another.
template <class T, class O>
class Sliding {
  using D = Wide<T>;
  using V = hn::Vec<D>;
  static constexpr int width = static_cast<int>(hn::MaxLanes(D()));

 public:
  HWY_INLINE explicit Sliding(T carry) : prefixes_(hn::Set(D(), carry)) {
    std::fill(std::begin(before_), std::end(before_), hn::Set(D(), O::template neutral<T>()));
  }
  // The prefixes that belong where x lies.
  HWY_INLINE V take(V x, bool inclusive) {
    const V last = prefixes_;
    prefixes_ = combine(O{}, last, window<1, 0>(x));
    if (inclusive) return prefixes_;
    if constexpr (width == 1)
      return last;
    else
      return slide<1>(D(), prefixes_, last);
  }
  HWY_INLINE T total() const { return hn::ExtractLane(prefixes_, width - 1); }

 private:
  // From windows of k elements, w, to windows of a whole vector.
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
  V before_[8];  // the last vector's windows of 1, 2, 4, ... elements; 64 lanes have 6 of them
  V prefixes_;
};

// From a NaN on every minimum and maximum is NaN: one element after another up to there, and the same for the rest.
template <class T, class O>
[[gnu::noinline]] void scan_to_nan(const T* in, T* out, std::size_t n, T& carry, bool inclusive) {
  std::size_t i = 0;
  for (; i < n && carry == carry; ++i) {
    const T next = O{}(carry, in[i]);
    out[i] = inclusive ? next : carry;
    carry = next;
  }
  std::fill(out + i, out + n, carry);
}

template <class T, class O>
void scan_span(const void* from, void* to, std::size_t n, void* carry, How how) {
  const Wide<T> d;
  const std::size_t width = hn::Lanes(d);
  const T* in = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  const T* const end = in + n;
  T& total = *static_cast<T*>(carry);
  Sliding<T, O> prefixes(total);
  const auto has_nan = [&](auto x) {
    if constexpr (loses_nan<T, O>)
      return !hn::AllFalse(d, hn::IsNaN(x));
    else
      return false;
  };
  const auto to_nan = [&](T before) {  // by value: were it to capture the prefixes, they would live in memory
    total = before;
    scan_to_nan<T, O>(in, out, static_cast<std::size_t>(end - in), total, how.inclusive);
  };
  if (has_nan(hn::Set(d, total))) return to_nan(total);

  // 1. Up to a vector's boundary of out: a store that crosses cache lines costs two, one around the caches cannot.
  const std::size_t past = reinterpret_cast<std::uintptr_t>(out) / sizeof(T) % width;
  if (past) {
    const std::size_t head = std::min(width - past, n);
    const auto x = load_some<O>(d, in, head);
    if (has_nan(x)) return to_nan(prefixes.total());
    store_some(d, prefixes.take(x, how.inclusive), out, head);
    prefixes = Sliding<T, O>(prefixes.total());  // its missing lanes were neutral
    in += head, out += head;
  }
  // 2. Whole vectors.
  const auto whole = [&](auto store) {
    for (; static_cast<std::size_t>(end - in) >= width; in += width, out += width) {
      const auto x = hn::LoadU(d, in);
      if (has_nan(x)) return;
      store(prefixes.take(x, how.inclusive));
    }
  };
  if (how.stores == Stores::around) {
    whole([&](auto v) { hn::Stream(v, d, out); });
    hwy::FlushStream();
  } else {
    whole([&](auto v) { hn::Store(v, d, out); });
  }
  // 3. The rest, or a NaN that ended the loop.
  if (const auto left = static_cast<std::size_t>(end - in)) {
    if (left >= width) return to_nan(prefixes.total());
    const auto x = load_some<O>(d, in, left);
    if (has_nan(x)) return to_nan(prefixes.total());
    store_some(d, prefixes.take(x, how.inclusive), out, left);
  }
  total = prefixes.total();
}

SpanScan find_scan(Type type, Op op) {
  return visit(type, [&]<class Tag>(Tag) -> SpanScan {
    using T = typename Tag::type;
    return visit(op, [&]<class O>(O) -> SpanScan {
      if constexpr (!Contract::takes<T, O>)
        return nullptr;
      else if constexpr (std::is_integral_v<T> && O::op == Op::sum)
        return &scan_span<std::make_unsigned_t<T>, O>;  // the same bits
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

Stores stores_for(std::size_t bytes) {
  static const std::size_t cache = last_level_cache_bytes();
  return 2 * bytes > cache ? Stores::around : Stores::cached;
}

namespace {  // a rung of the same name may exist on the GPU

struct simd {
  static constexpr Story story{.idea = "windows that slide over whole vectors; one operation between vectors",
                               .prediction = "a vector in 5 cycles in cache; one core copies no faster from memory",
                               .guarantees = "an order that depends on the vector width and the output's alignment",
                               .limits = "any n; in place",
                               .source = "Hillis and Steele, Data Parallel Algorithms, 1986"};

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    static const SpanScan scan = simd_scan(type_of<T>(), Op::op);
    T carry = Op::template neutral<T>();
    scan(a.in, a.out, a.n, &carry, {a.inclusive, stores_for(a.n * sizeof(T))});
    return {};
  }
};

}  // namespace

extern const Rung cpu_simd_rung = make_rung<simd>("simd", Backend::cpu);

}  // namespace upsweep::ladders::scan
#endif  // HWY_ONCE
