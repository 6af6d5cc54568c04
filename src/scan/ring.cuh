// What the scans share in which every warp has one job: one block lives on each multiprocessor, with a ring of tiles in
// shared memory, and tiles pass from job to job:
//   fetch   draws the next tile's number and starts the bulk copy, as soon as a place in the ring is free;
//   total   adds a tile up as soon as it is there, and tells every other block;
//   place   finds what comes before the tile, from what the other blocks have told;
//   scan    scans the tile, from shared memory to the output.
#pragma once
#include "kernel/async.h"
#include "scan/single_pass.cuh"

namespace upsweep::ladders::scan {

// A tile is `Scanners` warps of `Rows` packs a lane, and `Stages` of them fit into shared memory.
template <unsigned Rows, unsigned Scanners, unsigned Stages, unsigned Placers = 1, unsigned Totallers = 2>
struct RingShape {
  static constexpr unsigned rows = Rows, scanners = Scanners, placers = Placers, totallers = Totallers;
  static constexpr unsigned stages = Stages;
  static constexpr unsigned packs = rows * scanners * warp_size;  // a tile
  static constexpr unsigned threads = (1 + placers + totallers + scanners) * warp_size;
  static constexpr unsigned ends = totallers > placers ? totallers : placers;  // each has to see one
  // A warp may wait for a phase of a barrier only if it has waited for the one before: parity tells no more than that.
  static_assert(stages % totallers == 0 && stages % placers == 0);
};

// Copies positions [position, position + count) of the input to shared memory, as far as they are there, and fills up
// with `fill`; `halo` positions before them too, where there are any. All three are multiples of a pack. Whole packs by
// the copy engine, the others, at the ends of the input, by the warp; it takes a warp of arrivals at the mbarrier.
template <class T>
__device__ void copy_packs(const Aligned<T>& in, std::size_t position, unsigned count, unsigned halo, T fill, T* to,
                           std::uint64_t* arrived) {
  const unsigned lane = threadIdx.x % warp_size;
  const std::size_t left = in.end - position;
  const unsigned before = position > 0 ? halo : 0;  // in which all is there
  const unsigned from = position < in.begin ? Pack<T>::size : 0;
  unsigned end = left < count ? unsigned(left) / Pack<T>::size * Pack<T>::size : count;
  if (end < from) end = from;
  const auto put = [&](unsigned i) { to[i] = in.has(position + i) ? in.base[position + i] : fill; };
  if (lane < from) put(lane);
  for (unsigned i = end + lane; i < count; i += warp_size) put(i);
  for (unsigned i = before + lane; i < halo; i += warp_size) to[int(i) - int(halo)] = fill;
  // Whoever wrote has to arrive for itself; where only the copy engine writes, one lane arrives for all.
  const bool all_copied = before + end - from == halo + count;
  if (lane > 0) {
    if (!all_copied) mbarrier_arrive(arrived);
    return;
  }
  const unsigned bytes = (before + end - from) * sizeof(T);
  mbarrier_arrive_expect(arrived, bytes);
  if (all_copied) mbarrier_arrive(arrived, warp_size - 1);
  // The halo lies just before the tile, here and there; with it, the tile begins with a whole pack.
  if (bytes > 0) bulk_copy(to + from - before, in.base + position + from - before, bytes, arrived);
}

// One block's ring. Tiles go through it turn after turn; turn j is in place j % stages, and the phase of its barriers
// is the parity of the round.
// A tile is `Copies` bulk copies, of which copy_packs() makes one.
template <class Shape, unsigned Copies = 1>
struct Ring {
  static constexpr unsigned stages = Shape::stages;
  static constexpr unsigned arrivals = warp_size + Copies - 1;  // of a fetched tile; a warp of them by copy_packs()
  // Of mbarriers. Every lane arrives for itself: one could for its warp after a __syncwarp(), but racecheck, which
  // looks for what is read and overwritten without one waiting for the other, does not follow that.
  struct Shared {
    std::uint64_t fetched[stages], placed[stages], freed[stages];
    unsigned tile[stages], last_tile[stages];  // in this turn and the one before; `tiles`: the end
    unsigned call;
  };

  Shared& shared;
  const TaggedBoxes& state;
  unsigned tiles;
  unsigned lane = threadIdx.x % warp_size;

  static __device__ void wait(std::uint64_t* barriers, unsigned turn) {
    mbarrier_wait(&barriers[turn % stages], turn / stages % 2);
  }

  // By the warp that fetches, before a barrier of the block; returns the number of the first tile, in lane 0. A tile is
  // placed when `placing` warps have arrived. `prefetch()` asks L2 for what this block will probably draw, while the
  // previous kernel ends.
  template <class Prefetch>
  __device__ unsigned begin(unsigned placing, Prefetch&& prefetch) {
    if (lane > 0) return 0;
    for (unsigned s = 0; s < stages; ++s) {
      mbarrier_init(&shared.fetched[s], arrivals);
      mbarrier_init(&shared.placed[s], placing * warp_size);
      mbarrier_init(&shared.freed[s], Shape::scanners * warp_size);
    }
    prefetch();
    wait_for_previous();
    const unsigned first = atomicAdd(state.counter(), 1u);  // in flight together with the next
    shared.call = TaggedBoxes::call(state.last());
    return first;
  }

  // Draws tiles and has them copied: copy_in(s, tile) to place s. Every block draws one number past the end; who draws
  // the last of them leaves things as they should be. `used` words of boxes are this call's.
  template <class CopyIn>
  __device__ void fetch(unsigned first, std::size_t used, CopyIn&& copy_in) {
    unsigned next = __shfl_sync(all_lanes, first, 0), last = 0, ends = 0;
    for (unsigned turn = 0; ends < Shape::ends; ++turn) {
      if (turn >= stages) wait(shared.freed, turn - stages);
      const unsigned s = turn % stages, tile = next < tiles ? next : tiles;
      // The next number is drawn while this tile is on its way.
      const unsigned drawn = tile < tiles && lane == 0 ? atomicAdd(state.counter(), 1u) : next;
      if (lane == 0) {
        shared.tile[s] = tile;
        shared.last_tile[s] = last;
      }
      if (tile < tiles)
        copy_in(s, tile);
      else if (++ends, lane == 0)
        mbarrier_arrive(&shared.fetched[s], arrivals);
      last = tile;
      next = __shfl_sync(all_lanes, drawn, 0);
    }
    if (lane == 0 && next == tiles + gridDim.x - 1) {
      *state.counter() = 0;
      state.end(shared.call, used);
    }
  }

  // job(s, tile) for every `step`th turn from `turn` on, as its barrier opens, and for `tiles`, the end.
  template <class Job>
  __device__ void for_each_turn(std::uint64_t* barriers, unsigned turn, unsigned step, Job&& job) {
    for (;; turn += step) {
      wait(barriers, turn);
      const unsigned s = turn % stages, tile = shared.tile[s];
      job(s, tile);
      if (tile == tiles) return;
    }
  }
};

}  // namespace upsweep::ladders::scan
