// Warp-specialised persistent pipelines: one block per multiprocessor, with a ring of tiles in shared memory; every
// warp has one job.
//
// The producer warp draws the next tile's number and starts the tile's bulk copy as soon as a slot of the ring is free.
// The other warps pass each tile from job to job: a job waits for one mbarrier of the tile's slot and arrives at
// another, and the last job frees the slot. A rung supplies its jobs; the ring, the drawing of tiles, the end of input
// and the dispatch of warps to jobs are here.
#pragma once
#include "kernel/async.h"
#include "kernel/descriptors.h"
#include "kernel/rows.h"

namespace upsweep {

// ---- fetching a tile ------------------------------------------------------------------------------------------------

// Prefetches into L2 the tile that this block will probably draw first; by one lane, while the previous kernel ends.
template <class T>
__device__ void prefetch_first_tile(const Aligned<T>& in, unsigned elements) {
  const std::size_t position = std::size_t(blockIdx.x) * elements;
  if (in.has(position, elements)) prefetch_l2(in.base + position, elements * sizeof(T));
}

// Warp-wide: copies positions [position, position + count) of the input to `to` in shared memory, and the `halo`
// positions before them to the memory before `to`; positions outside the input become `fill`. `position`, `count` and
// `halo` are multiples of a pack. The copy engine copies the whole packs; the warp copies the partial packs at the ends
// of the input. Makes 32 arrivals at the mbarrier `arrived`.
template <class T>
__device__ void fetch_packs(const Aligned<T>& in, std::size_t position, unsigned count, unsigned halo, T fill, T* to,
                            std::uint64_t* arrived) {
  const unsigned lane = threadIdx.x % warp_size;
  const std::size_t left = in.end - position;
  const unsigned before = position > 0 ? halo : 0;  // elements of the halo that are in the input
  const unsigned from = position < in.begin ? Pack<T>::size : 0;
  unsigned end = left < count ? unsigned(left) / Pack<T>::size * Pack<T>::size : count;
  if (end < from) end = from;
  const auto put = [&](unsigned i) { to[i] = in.has(position + i) ? in.base[position + i] : fill; };
  if (lane < from) put(lane);
  for (unsigned i = end + lane; i < count; i += warp_size) put(i);
  for (unsigned i = before + lane; i < halo; i += warp_size) to[int(i) - int(halo)] = fill;
  // A lane that wrote has to arrive for itself; if only the copy engine writes, one lane arrives for all.
  const bool all_copied = before + end - from == halo + count;
  if (!all_copied) fence_before_bulk_copy();  // a later copy overwrites the slot
  if (lane > 0) {
    if (!all_copied) mbarrier_arrive(arrived);
    return;
  }
  const unsigned bytes = (before + end - from) * sizeof(T);
  mbarrier_arrive_expect(arrived, bytes);
  if (all_copied) mbarrier_arrive(arrived, warp_size - 1);
  // The halo directly precedes the tile in global and in shared memory. A tile with a halo begins with a whole pack.
  if (bytes > 0) bulk_copy(to + from - before, in.base + position + from - before, bytes, arrived);
}

// ---- the pipeline ---------------------------------------------------------------------------------------------------

struct PipelineShape {
  unsigned stages;            // slots of the ring
  unsigned consumers;         // warps that must free a slot
  unsigned ends;              // steps that mark the end of input: one per warp of a job whose warps alternate
  unsigned copies = 1;        // bulk copies per tile, one of them by fetch_packs()
  unsigned records = stages;  // tile numbers kept, one per step
};

// A job and its number of warps; job(warp) counts these warps from 0. A job should capture by value whatever it tests
// per element: with scan's `inclusive` captured by reference, nvcc emitted 64 more selects.
template <unsigned Warps, class Job>
struct Role {
  static constexpr unsigned warps = Warps;
  Job job;
};
template <unsigned Warps, class Job>
__device__ Role<Warps, Job> role(Job job) {
  return {job};
}

// One mbarrier per slot: step j uses slot j % Count, and j / Count is the phase. A warp may wait for a phase only if it
// has seen the previous one, because parity only tells adjacent phases apart.
template <unsigned Count>
__device__ void init_barriers(std::uint64_t (&barriers)[Count], unsigned arrivals) {
  for (unsigned s = 0; s < Count; ++s) mbarrier_init(&barriers[s], arrivals);
}
template <unsigned Count>
__device__ void wait_step(std::uint64_t (&barriers)[Count], unsigned step) {
  mbarrier_wait(&barriers[step % Count], step / Count % 2);
}

// One block's pipeline; one tile enters it in every step. The block has the warps of all roles and the producer warp.
template <PipelineShape shape>
struct WarpPipeline {
  static constexpr unsigned stages = shape.stages, records = shape.records, ends = shape.ends;
  static constexpr unsigned fetch_arrivals = warp_size + shape.copies - 1;
  // Every lane arrives at mbarriers for itself. After a __syncwarp() one lane could arrive for its warp, but
  // compute-sanitizer's racecheck does not follow what the __syncwarp() orders, and would report hazards.
  struct Shared {
    std::uint64_t fetched[stages], freed[stages];  // mbarriers
    unsigned tile[records], last_tile[records];    // of this step and the previous one; `tiles` marks the end
    unsigned epoch;
  };

  Shared& shared;
  const Descriptors& descriptors;
  unsigned tiles;
  unsigned lane = threadIdx.x % warp_size;

  // The kernel's body. One lane calls prepare(), which initialises the rung's own mbarriers and prefetches, while the
  // previous kernel ends. The producer warp calls fetch(step, tile), which starts the tile's copies. This call uses the
  // first `used` words of `descriptors`.
  template <class Prepare, class Fetch, class... Roles>
  __device__ __forceinline__ void run(Prepare prepare, Fetch fetch, std::size_t used, Roles... roles) {
    constexpr unsigned producer = (Roles::warps + ...);  // the last warp
    const unsigned warp = threadIdx.x / warp_size;
    unsigned first = 0;
    allow_next_launch();
    // The compiler recognises that this test selects one thread, and does not aggregate begin()'s atomic over a warp's
    // lanes.
    if (threadIdx.x == producer * warp_size) first = begin(prepare);
    __syncthreads();
    if (warp == producer) return produce(first, fetch, used);
    play<0>(warp, roles...);
  }

  // Calls job(step, tile) for every `stride`th step from `step` on, each as soon as its phase of `barriers` completes,
  // up to and including the step that marks the end (tile == tiles).
  template <unsigned Count, class Job>
  __device__ void for_each_tile(std::uint64_t (&barriers)[Count], unsigned step, unsigned stride, Job&& job) {
    for (;; step += stride) {
      wait_step(barriers, step);
      const unsigned tile = shared.tile[step % records];
      job(step, tile);
      if (tile == tiles) return;
    }
  }

 private:
  // Runs this warp's job; the warps of the given roles begin at `First`.
  template <unsigned First, class R, class... Rest>
  static __device__ __forceinline__ void play(unsigned warp, R& role, Rest&... rest) {
    if (warp < First + R::warps) return role.job(warp - First);
    if constexpr (sizeof...(Rest) > 0) play<First + R::warps>(warp, rest...);
  }

  // Initialises the block's mbarriers, draws its first tile and returns the tile's number. By one thread.
  template <class Prepare>
  __device__ unsigned begin(Prepare&& prepare) {
    init_barriers(shared.fetched, fetch_arrivals);
    init_barriers(shared.freed, shape.consumers * warp_size);
    prepare();
    wait_for_previous();
    const auto [tile, epoch] = descriptors.draw();
    shared.epoch = epoch;
    return tile;
  }

  // By the producer warp: draws tiles and starts their copies. Every block draws one number past the end; the block
  // that draws the last such number ends the call.
  template <class Fetch>
  __device__ void produce(unsigned first, Fetch&& fetch, std::size_t used) {
    unsigned next = __shfl_sync(all_lanes, first, 0), last = 0, ended = 0;
    for (unsigned step = 0; ended < ends; ++step) {
      if (step >= stages) wait_step(shared.freed, step - stages);
      const unsigned tile = next < tiles ? next : tiles;
      // The next number is drawn while this tile is in flight.
      const unsigned drawn = tile < tiles && lane == 0 ? descriptors.draw().tile : next;
      if (lane == 0) {
        shared.tile[step % records] = tile;
        shared.last_tile[step % records] = last;
      }
      if (tile < tiles)
        fetch(step, tile);
      else if (++ended, lane == 0)
        mbarrier_arrive(&shared.fetched[step % stages], fetch_arrivals);
      last = tile;
      next = __shfl_sync(all_lanes, drawn, 0);
    }
    if (lane == 0 && next == tiles + gridDim.x - 1) descriptors.end(shared.epoch, used);
  }
};

// Launches a pipeline's kernel with one block per multiprocessor, or as many as there are tiles if fewer. Jobs has
// `threads` and `shared_bytes`, both per block.
template <class Jobs, class... P, class... A>
Status launch_pipeline(void (*kernel)(P...), const Execution& call, std::size_t tiles, const A&... args) {
  return launch(kernel,
                {.grid = call.tuning.grid_or(persistent_grid(tiles)),
                 .block = Jobs::threads,
                 .shared_bytes = Jobs::shared_bytes,
                 .overlap = true,
                 .stream = call.stream},
                args...);
}

// ---- the jobs of a scan ---------------------------------------------------------------------------------------------

// The jobs of a pipelined scan:
//   total   reduces a tile as soon as it is fetched, and publishes the total;
//   place   computes the tile's prefix from the totals that other blocks have published;
//   scan    scans the tile, from shared memory to the output, and frees its slot.
// A tile is `Rows` packs per lane of `Scanners` warps.
template <unsigned Rows, unsigned Scanners, unsigned Stages, unsigned Placers = 1, unsigned Totallers = 2>
struct ScanShape {
  static constexpr unsigned rows = Rows, scanners = Scanners, placers = Placers, totallers = Totallers;
  static constexpr unsigned stages = Stages, consumers = Scanners;
  static constexpr unsigned packs = rows * scanners * warp_size;  // per tile
  static constexpr std::size_t ring_bytes = std::size_t{stages} * packs * 16;
  static constexpr unsigned threads = (1 + placers + totallers + scanners) * warp_size;
  static constexpr unsigned ends = totallers > placers ? totallers : placers;
  static_assert(stages % totallers == 0 && stages % placers == 0, "a warp sees every phase of its barriers");
};
template <class Shape, unsigned copies = 1>
using ScanPipeline = WarpPipeline<PipelineShape{
    .stages = Shape::stages, .consumers = Shape::consumers, .ends = Shape::ends, .copies = copies}>;

// The body of a pipelined scan's kernel. The roles are jobs.scan(warp, inclusive), jobs.total(warp) and
// jobs.place(warp), with the numbers of warps in `Shape`, and then `more`. jobs.prepare() and jobs.fetch(step, tile)
// are as in WarpPipeline::run().
template <class Shape, class Jobs, class... More>
__device__ __forceinline__ void run_scan(Jobs& jobs, std::size_t used, bool inclusive, More... more) {
  jobs.pipeline.run([&] { jobs.prepare(); }, [&](unsigned step, unsigned tile) { jobs.fetch(step, tile); }, used,
                    role<Shape::scanners>([&jobs, inclusive](unsigned warp) { jobs.scan(warp, inclusive); }),
                    role<Shape::totallers>([&](unsigned warp) { jobs.total(warp); }),
                    role<Shape::placers>([&](unsigned warp) { jobs.place(warp); }), more...);
}

}  // namespace upsweep
