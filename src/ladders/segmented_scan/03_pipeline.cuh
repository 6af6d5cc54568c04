// segmented_scan/pipeline: scan/pipeline, with each tile's head bits next to it in the ring.
//
// The warps have the roles of scan/pipeline (kernel/warp_pipeline.h). A tile without a head publishes its total as a
// total; a tile with a head publishes it as a prefix. place() sums only the totals since the last head.
//
// Traffic   heads; n reads by bulk copies and n writes; one bit per element, written once and read once; 264 words of
//           totals and prefixes per tile on an H200.
// Order     depends on which block claims which tile; matters only for sums that round.
// Source    as for scan/pipeline; Sengupta, Harris, Garland, Efficient Parallel Scan Algorithms for GPUs, 2008.
#pragma once
#include "kernel/warp_pipeline.h"
#include "ladders/segmented_scan/choose.h"
#include "ladders/segmented_scan/segments.cuh"

namespace upsweep::ladders::segmented_scan {

// Warp-wide: returns the joined total of tiles [from, to), at most Each * 32 of them, to every lane. Waits for tiles
// that have not published yet.
template <unsigned Each, class T, class Op>
__device__ __forceinline__ Run<T> run_of_few(const Descriptors& descriptors, unsigned epoch, unsigned from, unsigned to,
                                             Op op) {
  const LaneTiles<Each> tiles(from, to);
  T value[Each];
  bool head[Each], published;
  do {
    published = true;
#pragma unroll
    for (unsigned k = 0; k < Each; ++k) {
      T total, prefix;
      const bool has_total = try_load_tagged(total_words<T>(descriptors, tiles(k)), epoch, total);
      head[k] = try_load_tagged(prefix_words<T>(descriptors, tiles(k)), epoch, prefix);
      value[k] = head[k] ? prefix : total;
      published &= has_total || head[k];
    }
    if (!published) spin_hint();
  } while (!published);
  __syncwarp();
  unsigned last = 0;  // last tile with a head, plus 1; 0 if none
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) {
    const unsigned heads = __ballot_sync(all_lanes, head[k] && tiles.has(k));
    if (heads) last = from + k * warp_size + last_head(heads, warp_size - 1) + 1;
  }
  T sum = Op::template neutral<T>();
#pragma unroll
  for (unsigned k = 0; k < Each; ++k)
    if (tiles.has(k) && tiles(k) + 1 >= last) sum = op(sum, value[k]);
  return {shuffle(warp_reduce(sum, op), 0), last != 0};
}

template <class Shape, class T, class Op, class Out>
struct SegmentedJobs {
  static constexpr unsigned threads = Shape::threads, stages = Shape::stages;
  static constexpr unsigned elements = Shape::packs * Pack<T>::size, words = elements / 32;
  static constexpr unsigned shared_bytes = stages * (Shape::packs * 16 + words * 4);
  static_assert(commutes<Op>, "totals are added in any order");
  using Pipeline = ScanPipeline<Shape, /*copies*/ 2>;
  struct Shared {
    typename Pipeline::Shared ring;
    std::uint64_t placed[stages];                   // mbarriers
    Run<Out> between[stages];                       // total of tiles [last_tile, tile)
    Run<Out> before_warp[stages][Shape::scanners];  // within the tile
  };

  Pipeline pipeline;
  const Aligned<T>& in;
  const unsigned* heads;  // [tiles][words], head bits
  Out* out;               // points in.begin elements before the output
  T* tiles;               // [stages][elements], shared
  unsigned* bits;         // [stages][words], shared
  Shared& shared;
  Op op;
  Initial<Out, Op> initial;
  unsigned lane = threadIdx.x % warp_size;

  __device__ void prepare() {
    init_barriers(shared.placed, 2 * warp_size);  // arrivals by total() and place()
    prefetch_first_tile(in, elements);
  }

  __device__ void fetch(unsigned step, unsigned tile) {
    const unsigned s = step % stages;
    std::uint64_t* const fetched = &shared.ring.fetched[s];
    if (lane == 0) {
      mbarrier_arrive_expect(fetched, words * 4);
      bulk_copy(bits + s * words, heads + std::size_t(tile) * words, words * 4, fetched);
    }
    fetch_packs(in, std::size_t(tile) * elements, elements, 0, Op::template neutral<T>(),
                tiles + std::size_t(s) * elements, fetched);
  }

  // Reduces a tile and publishes its total. Stores the prefix of each scanning warp's part within the tile.
  __device__ void total(unsigned warp) {
    pipeline.for_each_tile(shared.ring.fetched, warp, Shape::totallers, [&](unsigned step, unsigned tile) {
      const unsigned s = step % stages;
      Run<Out> sum = Joined<Op>::template neutral<Run<Out>>();
      for (unsigned w = 0; w < Shape::scanners && tile < pipeline.tiles; ++w) {
        if (lane == 0) shared.before_warp[s][w] = sum;
        uint4 rows[Shape::rows];
        unsigned row_heads[Shape::rows];
        read_rows(s, w, rows, row_heads);
        sum = Joined<Op>{op}(sum, total_rows<T, Out>(rows, row_heads, op, initial.value));
      }
      if (tile < pipeline.tiles && lane == 0) publish(pipeline.descriptors, tile, shared.ring.epoch, sum);
      mbarrier_arrive(&shared.placed[s]);
    });
  }

  // Joins the totals of tiles [last_tile, tile): from this block's previous tile up to the current one.
  __device__ void place(unsigned warp) {
    constexpr unsigned many = polls_per_lane;
    pipeline.for_each_tile(shared.ring.fetched, warp, Shape::placers, [&](unsigned step, unsigned tile) {
      const unsigned s = step % stages;
      Run<Out> sum = Joined<Op>::template neutral<Run<Out>>();
      if (tile < pipeline.tiles)
        for (unsigned from = shared.ring.last_tile[s]; from < tile; from += many * warp_size) {
          const unsigned to = tile - from < many * warp_size ? tile : from + many * warp_size;
          sum = Joined<Op>{op}(sum, run_of_few<many, Out>(pipeline.descriptors, shared.ring.epoch, from, to, op));
        }
      if (lane == 0) shared.between[s] = sum;
      mbarrier_arrive(&shared.placed[s]);
    });
  }

  __device__ void scan(unsigned warp, bool inclusive) {
    Run<Out> before_tile = Joined<Op>::template neutral<Run<Out>>();
    pipeline.for_each_tile(shared.placed, 0, 1, [&](unsigned step, unsigned tile) {
      if (tile == pipeline.tiles) return;
      const unsigned s = step % stages;
      before_tile = Joined<Op>{op}(before_tile, shared.between[s]);
      const Out left = Joined<Op>{op}(before_tile, shared.before_warp[s][warp]).value;
      uint4 rows[Shape::rows];
      unsigned row_heads[Shape::rows];
      BeforePacks<Out, Shape::rows> before;
      read_rows(s, warp, rows, row_heads);
      mbarrier_arrive(&shared.ring.freed[s]);
      scan_rows<T>(rows, row_heads, before, op, initial.value);
      const unsigned first = warp * Shape::rows * row_elements<T> + lane * Pack<T>::size;
      write_scan(out, in, std::size_t(tile) * elements + first, rows, row_heads, before, left, inclusive, op, initial);
    });
  }

  __device__ void read_rows(unsigned s, unsigned warp, uint4 (&rows)[Shape::rows], unsigned (&row_heads)[Shape::rows]) {
    const auto* const packs = reinterpret_cast<const uint4*>(tiles) + std::size_t(s) * Shape::packs;
    const HeadBits tile_bits{bits + s * words};
#pragma unroll
    for (unsigned r = 0; r < Shape::rows; ++r) {
      const unsigned pack = (warp * Shape::rows + r) * warp_size + lane;
      rows[r] = packs[pack];
      row_heads[r] = tile_bits.at(pack * Pack<T>::size, Pack<T>::size);
    }
  }
};

template <class Shape, class T, class Op, class Out, class From>
__global__ void __launch_bounds__(Shape::threads, 1)
    pipeline_kernel(const T* in,            // [n]
                    const unsigned* heads,  // [tiles][words], head bits
                    Out* out,               // [n]
                    Descriptors descriptors, std::size_t n, unsigned tiles, bool inclusive, Op op, From initial) {
  using Jobs = SegmentedJobs<Shape, T, Op, Out>;
  __shared__ typename Jobs::Shared shared;
  const Aligned<T> input(in, n);
  T* const ring = dynamic_shared<T>();
  auto* const bits = reinterpret_cast<unsigned*>(ring + Jobs::stages * Jobs::elements);
  Jobs jobs{{shared.ring, descriptors, tiles}, input, heads, out - input.begin, ring, bits, shared, op, initial};
  run_scan<Shape>(jobs, 2 * std::size_t(tiles) * words_per<Out>, inclusive);
}

// Tiles of scan/pipeline's size, but with twice as many scanning warps, because each pack takes more work: the fastest
// of 14 shapes on an H200 for 2^22 to 2^28 elements (docs/notebook/scan.md).
using PipelineTiles = ScanShape</*Rows*/ 8, /*Scanners*/ 8, /*Stages*/ 6>;

struct pipeline {
  static constexpr Needs needs = pipeline_needs;
  static constexpr Story story{.idea = "scan/pipeline, with each tile's head bits next to it in the ring",
                               .prediction = "0.9 of the copy ceiling at large n: the bits add 3 % to the traffic",
                               .limits = "any n up to 2^32 tiles; fixed shape; 216 KB of shared memory per block",
                               .source = "after Merrill and Garland 2016; Sengupta, Harris, Garland 2008"};
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr std::size_t ring_bytes = PipelineTiles::ring_bytes;
  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    return start<PipelineTiles>(a);
  }

  template <class Shape, class T, class Op, class Out>
  static Status start(const Args<T, Op, Out>& a) {
    using Jobs = SegmentedJobs<Shape, T, Op, Out>;
    if (a.n == 0) return {};
    const Aligned<T> input(a.in, a.n);
    const std::size_t tiles = ceil_div(input.end, Jobs::elements);
    Scratch scratch(*a.workspace);
    auto* const bits = scratch.take<unsigned>(tiles * Jobs::words);
    const Descriptors descriptors = descriptors_for<Out>(*a.workspace, 2 * tiles);
    if (!scratch || !descriptors.words) return no_memory_for_heads;
    if (Status s = make_head_bits(a.heads, bits, input.begin, a.n, a.stream, tiles * Jobs::words); !s) return s;
    return start_from(a, [&]<class From>(From from) {
      return launch_pipeline<Jobs>(pipeline_kernel<Shape, T, Op, Out, From>, a, tiles, a.in, bits, a.out, descriptors,
                                   a.n, unsigned(tiles), a.inclusive, a.op, from);
    });
  }
};

}  // namespace upsweep::ladders::segmented_scan
