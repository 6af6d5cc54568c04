// scan/reproducible: float sums in an order fixed by the elements' indices; the same bits everywhere.
//
// Idea      a tree over absolute indices instead of the blocks that a core happens to process. Its steps suit vector
//           registers and warps alike, and all levels have the same shape.
// Traffic   n read, n written: the second read of a block hits L2.
// Order     for x[0..n), where x + y rounds to the type and an empty prefix is -0, which changes no sum:
//           1. rows      of 32 elements. h = x; then for d = 1, 2, 4, 8, 16 and all i >= d simultaneously:
//                        h[i] = h[i-d] + h[i].
//           2. tiles     of 32 rows, 1024 elements. c of a tile's first row is -0; the next row's is c + h[31].
//           3. totals    T[t] of tile t is the c after its last row. E[t], the prefix of tile t, is the exclusive scan
//                        of T in this same order: rows of 32 totals, tiles of 1024, and so on; -0 for a lone tile.
//                        Last, the initial value, -0 if there is none, is added on the left of each E[t].
//           4. inclusive E[t] + (c + h[i]); exclusive E[t] + (c + h[i-1]), with -0 for h[-1]; but out[0] is +0.
//           So exclusive and inclusive differ in the last bits where a tile begins. The bits of a NaN are unspecified.
// Source    Hillis and Steele, Data Parallel Algorithms, 1986 (rows); Demmel and Nguyen, Fast Reproducible
//           Floating-Point Summation, 2013 (on fixing the order if rounding cannot be avoided).
#include "ladders/scan/cpu_reproducible.h"

#include <algorithm>
#include <utility>

#include "ladders/scan/binding.h"
#include "ladders/scan/cpu_in_order.h"
#include "ladders/scan/cpu_rows.h"

namespace upsweep::ladders::scan {

template <class T>
struct ReproducibleScan<T>::State {
  // The exclusive scan, in the order above, of totals that arrive one by one, each of them the total of a tile of
  // tiles; up to 1024^3 totals, more than any array has.
  class Totals {
   public:
    // Appends a total; returns the prefix of the next total.
    T push(T total) { return push(total, 0); }  // level 0

   private:
    struct Level {
      T tile[tile_elements];
      std::size_t count = 0;
      T before = Sum::neutral<T>();  // prefix of this tile
    };
    T push(T total, int l) {
      Level& level = levels_[l];
      level.tile[level.count++] = total;
      if (level.count == tile_elements) {
        T sum;
        tile_sums<T>().total(level.tile, 1, &sum);
        level.count = 0;
        return level.before = l + 1 < 3 ? push(sum, l + 1) : level.before + sum;
      }
      T prefixes[tile_elements];
      tile_sums<T>().scan(level.tile, prefixes, level.count, &level.before,
                          {.inclusive = true, .stores = Stores::cached});
      return prefixes[level.count - 1];
    }
    Level levels_[3];
  };

  T c = Sum::neutral<T>(), before = c;  // c and the tile's prefix, for the current row of totals
  std::size_t blocks = 0;               // scanned so far
  Totals above;
};
template <class T>
ReproducibleScan<T>::ReproducibleScan() : state_(std::make_unique_for_overwrite<State>()) {}
template <class T>
ReproducibleScan<T>::~ReproducibleScan() = default;

template <class T>
void ReproducibleScan<T>::next(const T* in, T* out, std::size_t n, More more, bool inclusive, Initial<T, Sum> initial,
                               int threads) {
  static const TileSums<T>& sums = tile_sums<T>();
  constexpr std::size_t tiles = block / tile_elements;
  static_assert(tiles == row_elements);
  State& state = *state_;
  const std::size_t blocks = (n + block - 1) / block;
  const bool begins = state.blocks == 0;  // this is the first piece
  const How how{inclusive, stores_for(2 * n * sizeof(T))};
  in_order(blocks, blocks == 1 ? 1 : threads, [&](std::size_t b, auto in_turn, auto) {
    const std::size_t begin = b * block, count = std::min(block, n - begin);
    const T none = Sum::neutral<T>();
    T total[tiles], h[tiles + 1] = {none}, left[tiles];
    std::fill(total, total + tiles, none);
    const bool last = b + 1 == blocks && more == More::none;  // if so, the last tile's total is not needed
    sums.total(in + begin, (count - last) / tile_elements, total);
    sums.scan(total, h + 1, tiles, &none, {.inclusive = true, .stores = Stores::cached});
    in_turn([&] {
      for (std::size_t t = 0; t < tiles; ++t) left[t] = initial.value + (state.before + (state.c + h[t]));
      state.c += h[tiles];
      if (++state.blocks % (tile_elements / tiles) == 0) state.before = state.above.push(std::exchange(state.c, none));
    });
    sums.scan(in + begin, out + begin, count, left, how);
  });
  if (begins && !inclusive && n > 0) out[0] = initial.alone();
}

template class ReproducibleScan<float>;
template class ReproducibleScan<double>;

namespace {  // a rung of the same name may exist on the GPU

struct reproducible {
  static constexpr Story story{.idea = "an order of additions fixed by index: rows of 32, tiles of 32 rows, and so on",
                               .prediction = "0.7 of two_pass's speed in cache, a tie from memory",
                               .guarantees = "the same bits at any thread count, alignment, vector width and backend",
                               .limits = "sums of f32 and f64; any n up to 2^40; in place; params: threads",
                               .source = "Hillis and Steele 1986; Demmel and Nguyen 2013"};
  static constexpr bool reproducible_bits = true;
  static constexpr bool takes_initial = true;

  template <class T, class Op>
  static constexpr bool supports = std::is_floating_point_v<T>&& Op::operation == upsweep::Op::sum;

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    ReproducibleScan<T>().next(a.in, a.out, a.n, More::none, a.inclusive, a.initial, threads_of(a.tuning));
    return {};
  }
};

}  // namespace

extern const Rung cpu_reproducible_rung = make_rung<Binding, reproducible>("reproducible", Backend::cpu);

}  // namespace upsweep::ladders::scan
