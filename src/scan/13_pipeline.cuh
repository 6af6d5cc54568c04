// scan/pipeline: every warp has one job, and tiles pass from job to job.
//
// In a look-back scan a block waits: for its tile, for the totals of the tiles before it, and meanwhile loads nothing.
// Here one block lives on each multiprocessor, with a ring of tiles in shared memory, and its warps do different
// things to different tiles at once:
//   fetch   draws the next tile's number and starts the bulk copy, as soon as a place in the ring is free;
//   total   adds a tile up as soon as it is there, and tells every other block;
//   place   adds the totals of the tiles between its block's last tile and this one: what comes before the tile;
//   scan    scans the tile, from shared memory to the output.
// Nobody waits for a prefix that is itself waited for: totals depend on nothing but the input, so there is no chain of
// prefixes from tile to tile, and the trips through L2 pass while earlier tiles are scanned.
//
// Traffic   n reads by bulk copies and n writes; 132 words of totals a tile.
// Order     of sums that round: depends on which block drew which tile.
// Source    decoupled look-back: Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016.
#pragma once
#include "kernel/async.h"
#include "scan/12_wave.cuh"

namespace upsweep::ladders::scan {

// A tile is `Scanners` warps of `Rows` packs a lane, and `Stages` of them fit into shared memory.
template <unsigned Rows, unsigned Scanners, unsigned Stages, unsigned Placers = 1, unsigned Totallers = 2>
struct PipelineShape {
  static constexpr unsigned rows = Rows, scanners = Scanners, placers = Placers, totallers = Totallers;
  static constexpr unsigned stages = Stages;
  static constexpr unsigned packs = rows * scanners * warp_size;  // a tile
  static constexpr unsigned threads = (1 + placers + totallers + scanners) * warp_size;
  static constexpr unsigned shared_bytes = stages * packs * 16;
  static constexpr unsigned ends = totallers > placers ? totallers : placers;  // each has to see one
  // A warp may wait for a phase of a barrier only if it has waited for the one before: parity tells no more than that.
  static_assert(stages % totallers == 0 && stages % placers == 0);
};

// One block's pipeline. Tiles go through it turn after turn; turn j is in place j % stages of the ring, and the phase
// of its barriers is the parity of the round.
template <class Shape, class T, class Op>
struct Pipeline {
  using A = Total<T, Op>;
  static constexpr unsigned stages = Shape::stages, elements = Shape::packs * Pack<T>::size;
  struct Shared {
    std::uint64_t fetched[stages], placed[stages], freed[stages];  // mbarriers
    unsigned tile[stages], last_tile[stages];                      // in this turn and the one before; `tiles`: the end
    A between[stages];                                             // totals of tiles [last_tile, tile)
    A before_warp[stages][Shape::scanners];                        // within the tile
    unsigned call;
  };

  const Aligned<T>& in;
  T* out;   // in.begin elements before the output
  T* ring;  // [stages * elements], shared
  Shared& shared;
  const TaggedBoxes& state;
  unsigned tiles;
  Op op;
  unsigned lane = threadIdx.x % warp_size;

  static __device__ unsigned stage(unsigned turn) { return turn % stages; }
  static __device__ void wait(std::uint64_t* barriers, unsigned turn) {
    mbarrier_wait(&barriers[turn % stages], turn / stages % 2);
  }

  // Draws tiles and has them copied. Every block draws one number past the end; who draws the last of them leaves
  // things as they should be.
  __device__ void fetch(unsigned first) {
    unsigned next = __shfl_sync(all_lanes, first, 0), last = 0, ends = 0;
    for (unsigned turn = 0; ends < Shape::ends; ++turn) {
      if (turn >= stages) wait(shared.freed, turn - stages);
      const unsigned s = stage(turn), tile = next < tiles ? next : tiles;
      // The next number is drawn while this tile is on its way.
      const unsigned drawn = tile < tiles && lane == 0 ? atomicAdd(state.counter(), 1u) : next;
      if (lane == 0) {
        shared.tile[s] = tile;
        shared.last_tile[s] = last;
      }
      if (tile < tiles)
        copy_in(std::size_t(tile) * elements, ring + std::size_t(s) * elements, &shared.fetched[s]);
      else if (++ends, lane == 0)
        mbarrier_arrive(&shared.fetched[s], warp_size);
      last = tile;
      next = __shfl_sync(all_lanes, drawn, 0);
    }
    if (lane == 0 && next == tiles + gridDim.x - 1) {
      *state.counter() = 0;
      state.end(shared.call, std::size_t(tiles) * words_per<A>);
    }
  }

  // Whole packs by the copy engine, the others, at the ends of the input, by the warp.
  __device__ void copy_in(std::size_t position, T* to, std::uint64_t* arrived) {
    const std::size_t left = in.end - position;
    const unsigned from = position < in.begin ? Pack<T>::size : 0;
    unsigned end = left < elements ? unsigned(left) / Pack<T>::size * Pack<T>::size : elements;
    if (end < from) end = from;
    const auto fill = [&](unsigned i) {
      to[i] = in.has(position + i) ? in.base[position + i] : Op::template neutral<T>();
    };
    if (lane < from) fill(lane);
    for (unsigned i = end + lane; i < elements; i += warp_size) fill(i);
    // Whoever wrote has to arrive for itself; where only the copy engine writes, one lane arrives for all.
    const bool all_copied = end - from == elements;
    if (lane > 0) {
      if (!all_copied) mbarrier_arrive(arrived);
      return;
    }
    mbarrier_arrive_expect(arrived, (end - from) * sizeof(T));
    if (all_copied) mbarrier_arrive(arrived, warp_size - 1);
    if (end > from) bulk_copy(to + from, in.base + position + from, (end - from) * sizeof(T), arrived);
  }

  // Adds a tile up, warp by warp of those that will scan it, and tells the other blocks.
  __device__ void total(unsigned turn) {
    for (;; turn += Shape::totallers) {
      wait(shared.fetched, turn);
      const unsigned s = stage(turn), tile = shared.tile[s];
      A sum = Op::template neutral<A>();
      for (unsigned w = 0; w < Shape::scanners && tile < tiles; ++w) {
        if (lane == 0) shared.before_warp[s][w] = sum;
        uint4 rows[Shape::rows];
        read_rows(s, w, rows);
        sum = op(sum, total_rows<T>(rows, op));
      }
      __syncwarp();  // all lanes have read what fetch may then overwrite
      if (lane == 0) {
        if (tile < tiles) put_tagged(state.boxes() + std::size_t(tile) * words_per<A>, shared.call, sum);
        mbarrier_arrive(&shared.placed[s]);
      }
      if (tile == tiles) return;
    }
  }

  // Adds up the tiles since this block's last.
  __device__ void place(unsigned turn) {
    for (;; turn += Shape::placers) {
      wait(shared.fetched, turn);
      const unsigned s = stage(turn), tile = shared.tile[s];
      A sum = Op::template neutral<A>();
      if (tile < tiles) sum = take_totals<A>(state, shared.call, shared.last_tile[s], tile, op);
      __syncwarp();
      if (lane == 0) {
        shared.between[s] = sum;
        mbarrier_arrive(&shared.placed[s]);
      }
      if (tile == tiles) return;
    }
  }

  __device__ void scan(unsigned warp, bool inclusive) {
    A before_tile = Op::template neutral<A>();
    for (unsigned turn = 0;; ++turn) {
      wait(shared.placed, turn);
      const unsigned s = stage(turn), tile = shared.tile[s];
      if (tile == tiles) return;
      before_tile = op(before_tile, shared.between[s]);
      const A left = op(before_tile, shared.before_warp[s][warp]);
      uint4 rows[Shape::rows];
      A before[Shape::rows];
      read_rows(s, warp, rows);
      __syncwarp();
      if (lane == 0) mbarrier_arrive(&shared.freed[s]);
      scan_rows<T>(rows, before, op);
      finish_rows<T>(rows, before, left, inclusive, op);
      const unsigned first = warp * Shape::rows * row_elements<T> + lane * Pack<T>::size;
      store_rows(out, in, std::size_t(tile) * elements + first, rows);
    }
  }

  __device__ void read_rows(unsigned s, unsigned warp, uint4 (&rows)[Shape::rows]) {
    const auto* const packs = reinterpret_cast<const uint4*>(ring) + std::size_t(s) * Shape::packs;
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r) rows[r] = packs[(warp * Shape::rows + r) * warp_size + lane];
  }
};

template <class Shape, class T, class Op>
__global__ void __launch_bounds__(Shape::threads, 1)
    pipeline_kernel(const T* in,  // [n]
                    T* out,       // [n]
                    TaggedBoxes state, std::size_t n, unsigned tiles, bool inclusive, Op op) {
  using P = Pipeline<Shape, T, Op>;
  __shared__ typename P::Shared shared;
  const Aligned<T> input(in, n);
  unsigned first = 0;
  allow_next_launch();
  if (threadIdx.x == Shape::threads - warp_size) {  // the warp that fetches
    for (unsigned s = 0; s < P::stages; ++s) {
      mbarrier_init(&shared.fetched[s], warp_size);
      mbarrier_init(&shared.placed[s], 2);  // its total and its place
      mbarrier_init(&shared.freed[s], Shape::scanners);
    }
    // While the previous kernel ends, L2 gets the tile that this block will probably draw.
    const std::size_t probably = std::size_t(blockIdx.x) * P::elements;
    if (input.has(probably, P::elements)) prefetch_l2(input.base + probably, P::elements * sizeof(T));
    wait_for_previous();
    first = atomicAdd(state.counter(), 1u);  // in flight together with the next
    shared.call = TaggedBoxes::call(state.last());
  }
  __syncthreads();

  P pipeline{input, out - input.begin, dynamic_shared<T>(), shared, state, tiles, op};
  unsigned warp = threadIdx.x / warp_size;
  if (warp < Shape::scanners) return pipeline.scan(warp, inclusive);
  warp -= Shape::scanners;
  if (warp < Shape::totallers) return pipeline.total(warp);
  warp -= Shape::totallers;
  if (warp < Shape::placers) return pipeline.place(warp);
  pipeline.fetch(first);
}

struct pipeline {
  static constexpr Story story{
      .idea = "one block a multiprocessor; its warps fetch, total, place and scan different tiles at once",
      .prediction = "0.95 of the copy ceiling when large; below 2^20 it calls wave",
      .limits = "any n up to 2^32 tiles; fixed shape; 192 KB of shared memory a block",
      .source = "after Merrill and Garland, decoupled look-back, 2016"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    // Measured: from 2^20 words on, pipeline wins. With a grid of the caller's it takes any n, so that checks can.
    if (a.n * sizeof(T) <= 2 * 1024 * 1024 && a.params.get("grid", 0) == 0) return wave::run<T, Op>(a);
    // Tiles of 32 KB. Of some 30 shapes on an H200 the best or within 1 % of it at every power of two from 2^20 on
    // (docs/notes/scan.md). Few warps with many loads each; and one that places, because polls of more slow L2 down.
    return start<PipelineShape<16, 4, 6>>(a);
  }

  template <class Shape, class T, class Op>
  static Status start(const Args<T, Op>& a) {
    if (a.n == 0) return {};
    const std::size_t tiles = ceil_div(Aligned<T>(a.in, a.n).end, Shape::packs * Pack<T>::size);
    const auto most = static_cast<std::size_t>(device_limits().multiprocessors);
    const auto grid = static_cast<unsigned>(a.params.get("grid", double(tiles < most ? tiles : most)));
    const TaggedBoxes state = boxes_for<Total<T, Op>>(*a.workspace, tiles);
    if (!state.words) return no_memory_for_totals;
    return launch(pipeline_kernel<Shape, T, Op>,
                  {.grid = grid,
                   .block = Shape::threads,
                   .shared_bytes = Shape::shared_bytes,
                   .overlap = true,
                   .stream = a.stream},
                  a.in, a.out, state, a.n, unsigned(tiles), a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan
