// What a block fetches of its tile's circles, from the last one back.
#pragma once
#include "ladders/render/columns.cuh"

namespace upsweep::ladders::render {

// The shared memory of a block that draws ends.
template <unsigned own>
struct PatchMemory {
  static constexpr unsigned threads = patch_threads<own>, warps = patch_warps<own>;
  // Circles that are staged, and of them those that a warp keeps, at most. With four pixels in a lane, what leaves room
  // for four blocks: beside the heap of small circles in biglittle, by a simulation, a warp goes through 430 at most
  // and keeps 160.
  static constexpr unsigned most_staged = own == 2 ? 1024 : 640, most_kept = own == 2 ? 480 : 224;
  static constexpr unsigned most_found = 512;
  Centres centres;
  Disc staged[most_staged];
  // Bits, for each pixel of the block: which of the circles that its warp keeps cover it.
  unsigned covered[most_kept / warp_size][own][threads];
  alignas(16) unsigned short kept[warps][most_kept + warp_size];  // entries that reach a warp
  unsigned found[most_found];                                     // circles of a column, at once
  unsigned warp_totals[warp_size];
};

// How much of a list or a column a block has staged, the last circle first. With eps fewer circles are needed, and
// looked for at once.
template <unsigned own, bool exact>
class Staged {
 public:
  static constexpr unsigned threads = patch_threads<own>;
  using Words = ColumnEnd<threads, exact ? PatchMemory<own>::most_found : threads>;
  unsigned count = 0;                // circles
  bool last = false, whole = false;  // there is no more to stage; and nothing is left out

  // Stages the last entries of a list, of which `there` are in the array, before `end`.
  __device__ void more_of_list(const float* circles, unsigned listed, unsigned there, const unsigned* end,
                               PatchMemory<own>& memory) {
    const unsigned at = count + threadIdx.x, ready = min(there, PatchMemory<own>::most_staged);
    count = min(ready, count + threads);
    if (at < count) keep(memory.staged[at], load_circle(circles, *(end - 1 - at)));
    last = count == ready, whole = count == listed;
    __syncthreads();
  }
  // Stages the circles of a column that reach the tile; the bin is larger.
  __device__ void more_of_column(const float* circles, Words& column, PatchMemory<own>& memory) {
    const unsigned found = column.next(memory.found, memory.warp_totals);
    bool room = true;
    for (unsigned first = 0; first < found; first += threads) {
      const unsigned at = first + threadIdx.x;
      Circle c{};
      bool reached = false;
      if (at < found) {
        c = load_circle(circles, memory.found[at]);
        reached = memory.centres.reached_by(c.x, c.y, square(c.radius));
      }
      const unsigned some = __ballot_sync(all_lanes, reached);
      unsigned all;
      const unsigned place = count + sum_of_warps<threads>(unsigned(__popc(some)), memory.warp_totals, all) +
                             unsigned(__popc(some & ((1u << threadIdx.x % warp_size) - 1)));
      room = count + all <= PatchMemory<own>::most_staged;
      if (!room) break;
      if (reached) keep(memory.staged[place], c);
      count += all;
      __syncthreads();
    }
    whole = room && column.empty(), last = whole || !room;
  }
};

}  // namespace upsweep::ladders::render
