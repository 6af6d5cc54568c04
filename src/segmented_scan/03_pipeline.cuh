// segmented_scan/pipeline: scan's pipeline, with the bits of a tile beside it in the ring.
//
// The same jobs (scan/ring.cuh). Totals say whether a segment begins in their tile, by the box that they are put into,
// and placing a tile adds those since the last head alone. Nobody waits for a prefix that is itself waited for.
//
// Traffic   heads, n reads by bulk copies and n writes, 2 times a bit; 264 words of totals a tile.
// Order     of sums that round: depends on which block drew which tile.
// Source    as scan's pipeline; Sengupta, Harris, Garland, Efficient Parallel Scan Algorithms for GPUs, 2008.
#pragma once
#include "scan/ring.cuh"
#include "segmented_scan/02_lookback.cuh"

namespace upsweep::ladders::segmented_scan {

// The tiles since this block's last, [from, to), in rows of 32, `Each` of them in flight together.
template <unsigned Each, class T, class Op>
__device__ __forceinline__ Run<T> take_few(const TaggedBoxes& state, unsigned call, unsigned from, unsigned to, Op op) {
  const unsigned lane = threadIdx.x % warp_size;
  T value[Each];
  bool head[Each], here;
  do {
    here = true;
#pragma unroll
    for (unsigned k = 0; k < Each; ++k) {
      // Lanes past the end ask for the last again, so that no load depends on a branch.
      const unsigned i = from + k * warp_size + lane, tile = i < to ? i : to - 1;
      T total, prefix;
      const bool has_total = look_tagged(total_box<T>(state, tile), call, total);
      head[k] = look_tagged(prefix_box<T>(state, tile), call, prefix);
      value[k] = head[k] ? prefix : total;
      here &= has_total || head[k];
    }
    if (!here) spin_hint();
  } while (!here);
  __syncwarp();
  unsigned last = 0;  // tile with a head, counted from 1
#pragma unroll
  for (unsigned k = 0; k < Each; ++k) {
    const unsigned first = from + k * warp_size, heads = __ballot_sync(all_lanes, head[k] && first + lane < to);
    if (heads) last = first + last_head(heads, warp_size - 1) + 1;
  }
  T sum = Op::template neutral<T>();
#pragma unroll
  for (unsigned k = 0; k < Each; ++k)
    if (const unsigned i = from + k * warp_size + lane; i < to && i + 1 >= last) sum = op(sum, value[k]);
  return {shuffle(warp_reduce(sum, op), 0), last != 0};
}

template <class Shape, class T, class Op>
struct Pipeline {
  static constexpr unsigned stages = Shape::stages, elements = Shape::packs * Pack<T>::size, words = elements / 32;
  static constexpr unsigned shared_bytes = stages * (Shape::packs * 16 + words * 4);
  static_assert(scan::commutes<Op>, "totals are added in any order");
  using Ring = scan::Ring<Shape, 2>;
  struct Shared {
    typename Ring::Shared ring;
    Run<T> between[stages];                       // tiles [last_tile, tile)
    Run<T> before_warp[stages][Shape::scanners];  // within the tile
  };

  Ring ring;
  const Aligned<T>& in;
  const unsigned* heads;  // [tiles][words], of bits
  T* out;                 // in.begin elements before the output
  T* tiles;               // [stages][elements], shared
  unsigned* bits;         // [stages][words], shared
  Shared& shared;
  Op op;
  unsigned lane = threadIdx.x % warp_size;

  __device__ void fetch(unsigned first) {
    ring.fetch(first, 2 * std::size_t(ring.tiles) * words_per<T>, [&](unsigned s, unsigned tile) {
      if (lane == 0) {
        mbarrier_arrive_expect(&shared.ring.fetched[s], words * 4);
        bulk_copy(bits + s * words, heads + std::size_t(tile) * words, words * 4, &shared.ring.fetched[s]);
      }
      scan::copy_packs(in, std::size_t(tile) * elements, elements, 0, Op::template neutral<T>(),
                       tiles + std::size_t(s) * elements, &shared.ring.fetched[s]);
    });
  }

  // Adds a tile up, warp by warp of those that will scan it, and tells the other blocks.
  __device__ void total(unsigned turn) {
    ring.for_each_turn(shared.ring.fetched, turn, Shape::totallers, [&](unsigned s, unsigned tile) {
      Run<T> sum = Joined<Op>::template neutral<Run<T>>();
      for (unsigned w = 0; w < Shape::scanners && tile < ring.tiles; ++w) {
        if (lane == 0) shared.before_warp[s][w] = sum;
        uint4 rows[Shape::rows];
        unsigned row_heads[Shape::rows];
        read_rows(s, w, rows, row_heads);
        sum = Joined<Op>{op}(sum, total_rows<T>(rows, row_heads, op));
      }
      if (tile < ring.tiles && lane == 0) put_total(ring.state, tile, shared.ring.call, sum);
      mbarrier_arrive(&shared.ring.placed[s]);
    });
  }

  // Adds up the tiles since this block's last.
  __device__ void place(unsigned turn) {
    constexpr unsigned many = scan::many_totals;
    ring.for_each_turn(shared.ring.fetched, turn, Shape::placers, [&](unsigned s, unsigned tile) {
      Run<T> sum = Joined<Op>::template neutral<Run<T>>();
      if (tile < ring.tiles)
        for (unsigned from = shared.ring.last_tile[s]; from < tile; from += many * warp_size) {
          const unsigned to = tile - from < many * warp_size ? tile : from + many * warp_size;
          sum = Joined<Op>{op}(sum, take_few<many, T>(ring.state, shared.ring.call, from, to, op));
        }
      if (lane == 0) shared.between[s] = sum;
      mbarrier_arrive(&shared.ring.placed[s]);
    });
  }

  __device__ void scan(unsigned warp, bool inclusive) {
    Run<T> before_tile = Joined<Op>::template neutral<Run<T>>();
    ring.for_each_turn(shared.ring.placed, 0, 1, [&](unsigned s, unsigned tile) {
      if (tile == ring.tiles) return;
      before_tile = Joined<Op>{op}(before_tile, shared.between[s]);
      const T left = Joined<Op>{op}(before_tile, shared.before_warp[s][warp]).value;
      uint4 rows[Shape::rows];
      unsigned row_heads[Shape::rows];
      BeforePacks<T, Shape::rows> before;
      read_rows(s, warp, rows, row_heads);
      mbarrier_arrive(&shared.ring.freed[s]);
      scan_rows(rows, row_heads, before, op);
      finish_rows(rows, row_heads, before, left, inclusive, op);
      const unsigned first = warp * Shape::rows * row_elements<T> + lane * Pack<T>::size;
      scan::store_rows(out, in, std::size_t(tile) * elements + first, rows);
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

template <class Shape, class T, class Op>
__global__ void __launch_bounds__(Shape::threads, 1)
    pipeline_kernel(const T* in,            // [n]
                    const unsigned* heads,  // [tiles][words], of bits
                    T* out,                 // [n]
                    TaggedBoxes state, std::size_t n, unsigned tiles, bool inclusive, Op op) {
  using P = Pipeline<Shape, T, Op>;
  __shared__ typename P::Shared shared;
  const Aligned<T> input(in, n);
  T* const ring = dynamic_shared<T>();
  P pipeline{{shared.ring, state, tiles},
             input,
             heads,
             out - input.begin,
             ring,
             reinterpret_cast<unsigned*>(ring + P::stages * P::elements),
             shared,
             op};
  unsigned warp = threadIdx.x / warp_size, first = 0;
  allow_next_launch();
  if (warp == Shape::threads / warp_size - 1)  // the warp that fetches
    first = pipeline.ring.begin(2, [&] {       // placing a tile takes its total and its place
      const std::size_t probably = std::size_t(blockIdx.x) * P::elements;
      if (input.has(probably, P::elements)) prefetch_l2(input.base + probably, P::elements * sizeof(T));
    });
  __syncthreads();

  if (warp < Shape::scanners) return pipeline.scan(warp, inclusive);
  warp -= Shape::scanners;
  if (warp < Shape::totallers) return pipeline.total(warp);
  warp -= Shape::totallers;
  if (warp < Shape::placers) return pipeline.place(warp);
  pipeline.fetch(first);
}

struct pipeline {
  static constexpr Story story{
      .idea = "scan's pipeline, with the bits of a tile beside it in the ring",
      .prediction = "0.9 of the copy ceiling when large: the bits are 3 % more traffic; small, it calls lookback",
      .limits = "any n up to 2^32 tiles; fixed shape; 216 KB of shared memory a block",
      .source = "after Merrill and Garland 2016; Sengupta, Harris, Garland 2008"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    // Measured: at 2^20 words lookback is faster, 9.3 us against 12.2, at 2^22 as fast. With a grid of the caller's
    // pipeline takes any n, so that checks can.
    if (a.n * sizeof(T) <= 8 * 1024 * 1024 && a.params.get("grid", 0) == 0) return lookback::run<T, Op>(a);
    // Scan's tiles, but by twice as many warps: more is done for each pack. Of 14 shapes on an H200 the best at 2^22 to
    // 2^28 (docs/notes/scan.md).
    return start<scan::RingShape<8, 8, 6>>(a);
  }

  template <class Shape, class T, class Op>
  static Status start(const Args<T, Op>& a) {
    using P = Pipeline<Shape, T, Op>;
    if (a.n == 0) return {};
    const Aligned<T> input(a.in, a.n);
    const std::size_t tiles = ceil_div(input.end, P::elements);
    const auto grid = static_cast<unsigned>(a.params.get("grid", resident_blocks(tiles)));
    auto* const bits = static_cast<unsigned*>(a.workspace->scratch(tiles * P::words * sizeof(unsigned)));
    const TaggedBoxes state = scan::boxes_for<T>(*a.workspace, 2 * tiles);
    if (!bits || !state.words) return no_memory_for_heads;
    if (Status s = make_head_bits(a.heads, bits, input.begin, a.n, a.stream, tiles * P::words); !s) return s;
    return launch(
        pipeline_kernel<Shape, T, Op>,
        {.grid = grid, .block = Shape::threads, .shared_bytes = P::shared_bytes, .overlap = true, .stream = a.stream},
        a.in, bits, a.out, state, a.n, unsigned(tiles), a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::segmented_scan
