// What the rungs of one pass over tiles share: tiles drawn in order, their places by look-back, and the operations that
// take more than one pass.
#pragma once
#include "kernel/lookback.h"
#include "ladders/select/run_lengths.cuh"

namespace upsweep::ladders::select {

// Tile after tile, as scan/lookback has them: a tile's total is a count, what comes before it its place in the output.
struct Places : TileQueue {
  // By the block's first warp: how many are selected before the tile. With the last tile of all, `count` is known.
  __device__ unsigned find(unsigned tile, unsigned selected, std::uint64_t* count) const {
    const unsigned before_tile = before(tile, selected, Sum{});
    if (count && tile + 1 == gridDim.x && threadIdx.x == 0) *count = before_tile + selected;
    return before_tile;
  }
};

// What one launch selects, and to where.
template <class T>
struct Target {
  Output<T> out;
  const std::uint64_t* behind;  // the values go behind so many; null: to the front
  unsigned* heads;              // [n], where the runs of run_length_encode begin
};

// The other half of partition_if.
template <class O>
struct Rejects : O {
  static constexpr Selection selection = Selection::select_if;
  template <class T>
  struct Predicate {
    typename O::template Predicate<T> selects;
    UPSWEEP_HD bool operator()(T x) const { return !selects(x); }
  };
};
template <class O>
struct Selects : O {
  static constexpr Selection selection = Selection::select_if;
};

// The operation by one or several runs of pass(input, target): partition_if is two selections, whose second goes behind
// the first; run_length_encode is unique with the positions kept, which are then subtracted.
template <class T, class O, class Pass>
Status by_passes(const Args<T, O>& a, Pass pass) {
  if constexpr (writes_rest<O>) {
    const Input<T, Selects<O>> selected{a.in.values, nullptr, a.in.n, a.in.predicate};
    const Input<T, Rejects<O>> rejected{a.in.values, nullptr, a.in.n, {a.in.predicate}};
    if (Status s = pass(selected, Target<T>{a.out, nullptr, nullptr}); !s) return s;
    return pass(rejected, Target<T>{{a.out.values, {}, nullptr}, a.out.count, nullptr});
  } else if constexpr (writes_lengths<O>) {
    auto* const heads = static_cast<unsigned*>(a.workspace->scratch_of_caller(a.in.n * sizeof(unsigned)));
    if (!heads && a.in.n > 0) return no_memory;
    if (Status s = pass(a.in, Target<T>{a.out, nullptr, heads}); !s) return s;
    return lengths_of_runs(heads, a.out, a.in.n, a.stream);
  } else {
    return pass(a.in, Target<T>{a.out, nullptr, nullptr});
  }
}

// One block a tile, at least one: a call of nothing still has a count.
template <class T, class P, class O>
Status launch_tiles(void (*kernel)(Input<T, P>, Target<T>, Places), Shape shape, std::size_t tiles, const Args<T, O>& a,
                    const Input<T, P>& in, const Target<T>& to) {
  if (tiles == 0) tiles = 1;
  const Places places{{descriptors_for<unsigned>(*a.workspace, 2 * tiles)}};
  if (!places.descriptors.words) return no_memory;
  shape.grid = static_cast<unsigned>(tiles);
  shape.stream = a.stream;
  return launch(kernel, shape, in, to, places);
}

}  // namespace upsweep::ladders::select
