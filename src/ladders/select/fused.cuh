// Shared by the single-pass rungs: tiles are claimed in order, and offsets come from look-back.
#pragma once
#include "kernel/lookback.h"
#include "ladders/select/run_lengths.cuh"

namespace upsweep::ladders::select {

// The tiles of a launch, as in scan/lookback: a tile's total is a count, and its prefix is its offset in the output.
// Offsets and positions have type N.
template <class N>
struct PlacesOf : LookbackTiles {
  using Offset = N;
  // By the block's first warp: publishes the tile's count, `selected`, and returns the number of elements selected
  // before the tile. The last tile stores the total in *count, unless `count` is null.
  __device__ N find(Drawn drawn, unsigned selected, std::uint64_t* count) const {
    const N before_tile = before(drawn, N{selected}, Sum{});
    if (count && drawn.tile + 1 == gridDim.x && threadIdx.x == 0) *count = before_tile + selected;
    return before_tile;
  }
};
using Places = PlacesOf<unsigned>;         // below 2^32 elements
using WidePlaces = PlacesOf<std::size_t>;  // any number

// Like by_passes(), for rungs that do not compute lengths. For run_length_encode, the pass also stores where runs
// begin, and a second kernel computes their lengths.
template <class T, class O, class F>
Status by_passes_and_lengths(const Args<T, O>& a, F pass) {
  if constexpr (!writes_lengths<O>) {
    return by_passes(a, pass);
  } else {
    Scratch scratch(*a.workspace);
    auto* const heads = scratch.take<unsigned>(a.in.n);
    if (!scratch) return no_memory;
    if (Status s = pass(a.in, Target<T>{a.out, nullptr, heads}); !s) return s;
    return lengths_of_runs(heads, a.out, a.in.n, a.stream);
  }
}

// Launches one block per tile; at least one, because an empty input has a count too. Tiles publish totals of type A.
template <class A = unsigned, class T, class P, class Queue>
Status launch_tiles(void (*kernel)(Input<T, P>, Target<T>, Queue), Shape shape, std::size_t tiles, const Execution& how,
                    const Input<T, P>& in, const Target<T>& to) {
  if (tiles == 0) tiles = 1;
  Queue places{};
  places.descriptors = descriptors_for<A>(*how.workspace, 2 * tiles);
  if (!places.descriptors.words) return no_memory;
  shape.grid = static_cast<unsigned>(tiles);
  shape.stream = how.stream;
  return launch(kernel, shape, in, to, places);
}

}  // namespace upsweep::ladders::select
