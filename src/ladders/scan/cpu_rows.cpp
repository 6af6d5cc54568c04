// The loops of the reproducible scan, in the order that cpu_reproducible.cpp defines. Compiled once per instruction
// set; Highway dispatches at run time.
#include "cpu/skipped_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladders/scan/cpu_rows.cpp"
#define HWY_DISABLED_TARGETS UPSWEEP_SKIPPED_TARGETS
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "ladders/scan/cpu_rows.h"
#include "ladders/scan/cpu_slide-inl.h"

HWY_BEFORE_NAMESPACE();
namespace upsweep::ladders::scan::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The empty prefix: -0, which changes no sum.
template <class T, class D>
HWY_INLINE hn::Vec<D> empty(D d) {
  return hn::Set(d, Sum::neutral<T>());
}

// Adds neighbouring elements of `vectors` vectors, then neighbouring sums, and so on, until one vector is left. A row's
// last prefix is summed in the same order, so 32 vectors give the total of one row per lane.
template <int vectors, class D, class T>
HWY_INLINE hn::Vec<D> fold_neighbours(D d, const T* in) {
  if constexpr (vectors == 1) {
    return hn::LoadU(d, in);
  } else {
    const auto low = fold_neighbours<vectors / 2>(d, in);
    const auto high = fold_neighbours<vectors / 2>(d, in + vectors / 2 * hn::Lanes(d));
#if HWY_TARGET == HWY_SCALAR
    return hn::Add(low, high);
#else
    return hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
#endif
  }
}

// Computes tile totals: the sums of rows (step 1 of the order), added left to right (steps 2 and 3).
template <class T>
void total(const T* in, std::size_t count, T* totals) {
  const Wide<T> d;
  HWY_ALIGN T rows[tile_elements / row_elements];
  for (std::size_t t = 0; t < count; ++t, in += tile_elements) {
    for (std::size_t r = 0; r < std::size(rows); r += hn::Lanes(d))
      hn::Store(fold_neighbours<row_elements>(d, in + r * row_elements), d, rows + r);
    T sum = Sum::neutral<T>();
    for (const T row : rows) sum += row;
    totals[t] = sum;
  }
}

// One row, in vectors. scan() is the Hillis-Steele scan: in five steps, every element adds the element 1, 2, 4, 8 and
// 16 to its left.
template <class T>
struct Row {
  using D = Wide<T>;
  using V = hn::Vec<D>;
  static constexpr int width = static_cast<int>(hn::MaxLanes(D())), vectors = row_elements / width;
  V v[vectors];

  template <int distance = 1>
  HWY_INLINE void scan() {
    if constexpr (distance < row_elements) {
      constexpr int whole = distance / width;
      HWY_UNROLL(32)
      for (int i = vectors - 1; i >= whole; --i) {
        if constexpr (whole > 0)
          v[i] = hn::Add(v[i - whole], v[i]);
        else
          v[i] = hn::Add(slide<distance>(D(), v[i], i ? v[i - 1] : empty<T>(D())), v[i]);
      }
      scan<2 * distance>();
    }
  }
};

// Scans tiles: steps 1, 2 and 4 of the order.
template <class T>
void scan(const T* in, T* out, std::size_t n, const T* before, How how) {
  using R = Row<T>;
  const Wide<T> d;
  const auto all_last = hn::IndicesFromVec(d, hn::Set(hn::RebindToSigned<decltype(d)>(), R::width - 1));
  const auto tile = [&](const T* x, T* y, std::size_t count, T left, auto store) {
    const auto tile_before = hn::Set(d, left);
    auto carry = empty<T>(d);
    for (std::size_t r = 0; r < count; r += row_elements) {
      R row;
      HWY_UNROLL(32)
      for (int i = 0; i < R::vectors; ++i) row.v[i] = hn::LoadU(d, x + r + i * R::width);
      row.scan();
      const auto next = hn::Add(carry, hn::TableLookupLanes(row.v[R::vectors - 1], all_last));
      HWY_UNROLL(32)
      for (int i = R::vectors - 1; i >= 0; --i) {
        const auto left_of = i ? row.v[i - 1] : empty<T>(d);
        const auto prefixes = how.inclusive ? row.v[i] : slide<1>(d, row.v[i], left_of);
        store(hn::Add(tile_before, hn::Add(carry, prefixes)), y + r + i * R::width);
      }
      carry = next;
    }
  };
  std::size_t t = 0;
  const std::size_t tiles = n / tile_elements;
  if (how.stores == Stores::around && reinterpret_cast<std::uintptr_t>(out) % sizeof(hn::Vec<decltype(d)>) == 0) {
    for (; t < tiles; ++t)
      tile(in + t * tile_elements, out + t * tile_elements, tile_elements, before[t],
           [&](auto v, T* to) { hn::Stream(v, d, to); });
    hwy::FlushStream();
  }
  const auto store = [&](auto v, T* to) { hn::StoreU(v, d, to); };
  for (; t < tiles; ++t) tile(in + t * tile_elements, out + t * tile_elements, tile_elements, before[t], store);
  if (const std::size_t left = n - t * tile_elements) {
    HWY_ALIGN T some[tile_elements];
    const std::size_t rows = (left + row_elements - 1) / row_elements * row_elements;
    std::fill(std::copy_n(in + t * tile_elements, left, some), some + rows, T(0));  // no earlier element reads them
    tile(some, some, rows, before[t], store);
    std::copy_n(some, left, out + t * tile_elements);
  }
}

const TileSums<float>* find_f32() {
  static constexpr TileSums<float> found{&total<float>, &scan<float>};
  return &found;
}
const TileSums<double>* find_f64() {
  static constexpr TileSums<double> found{&total<double>, &scan<double>};
  return &found;
}

}  // namespace upsweep::ladders::scan::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace upsweep::ladders::scan {

HWY_EXPORT(find_f32);
HWY_EXPORT(find_f64);
template <>
const TileSums<float>& tile_sums<float>() {
  return *HWY_DYNAMIC_DISPATCH(find_f32)();
}
template <>
const TileSums<double>& tile_sums<double>() {
  return *HWY_DYNAMIC_DISPATCH(find_f64)();
}

}  // namespace upsweep::ladders::scan
#endif  // HWY_ONCE
