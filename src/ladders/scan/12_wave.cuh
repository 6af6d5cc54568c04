// scan/wave: every block holds one tile in registers and reads the totals of all earlier blocks together.
//
// If all tiles are resident, no chain of prefixes is needed: each block publishes its total as soon as it is known,
// reads the totals of all earlier blocks in one round trip to L2 and sums them. Like reduce/overlap, the kernel starts
// while the previous one ends.
//
// Traffic   n reads and n writes, 16 bytes per lane; each block reads the total of every earlier block.
// Order     fixed by n and the alignment of the input.
// Source    the totals-only half of decoupled look-back: Merrill and Garland, 2016.
#pragma once
#include "kernel/descriptors.h"
#include "kernel/rows.h"
#include "ladders/scan/contract.h"

namespace upsweep::ladders::scan {

template <unsigned Block, unsigned Rows, class T, class Op, class Out>
__global__ void __launch_bounds__(Block, 1024 / Block)
    wave_kernel(const T* in,  // [n]
                Out* out,     // [n]
                Descriptors descriptors, std::size_t n, bool inclusive, Op op, Initial<Out, Op> initial) {
  using A = Total<Out, Op>;
  constexpr unsigned warps = Block / warp_size;
  __shared__ A warp_totals[warps], before_tile;
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const Aligned<T> input(in, n);
  const std::size_t first = ((std::size_t(blockIdx.x) * warps + warp) * Rows * warp_size + lane) * Pack<T>::size;
  allow_next_launch();
  wait_for_previous();

  // 1. Load this tile and scan its packs within each warp.
  uint4 rows[Rows];
  A before[Rows];
  unsigned long long first_word = 0;
  if (warp == 0) first_word = descriptors.first_word();  // in flight together with the tile
  load_rows<Op>(input, first, rows);
  const A total = scan_rows<T, Out>(rows, before, op);
  if (lane == 0) warp_totals[warp] = total;
  __syncthreads();

  // 2. Publish the tile's total, and sum those of the earlier tiles.
  if (warp == 0) {
    const unsigned epoch = Descriptors::epoch_of(first_word);
    const A upto = warp_scan(lane < warps ? warp_totals[lane] : Op::template neutral<A>(), op);
    if (lane == warps - 1 && blockIdx.x + 1 < gridDim.x)
      store_tagged(descriptors.array() + std::size_t(blockIdx.x) * words_per<A>, epoch, upto);
    const A before_warp = from_left_lane(upto, op);
    if (lane < warps) warp_totals[lane] = before_warp;
    const A before_all = total_between<A>(descriptors, epoch, 0, blockIdx.x, op);
    if (lane == 0) {
      before_tile = op(A(initial.value), before_all);
      // All earlier blocks have published their totals, so they have read the epoch, and the last block can end the
      // call. Its own descriptor stays unused.
      if (blockIdx.x + 1 == gridDim.x) descriptors.end(epoch, std::size_t(blockIdx.x) * words_per<A>);
    }
  }
  __syncthreads();

  // 3. Finish the tile's scan.
  write_scan(out - input.begin, input, first, rows, before, op(before_tile, warp_totals[warp]), inclusive, op, initial);
}

struct wave {
  static constexpr Story story{.idea = "all tiles resident in registers: every block reads all earlier totals",
                               .prediction = "1.4x CUB while one wave of tiles is enough, up to 2^19",
                               .guarantees = "same bits for the same n and alignment",
                               .limits = "n up to 2^21; fixed block size",
                               .source = "after Merrill and Garland, decoupled look-back, 2016"};
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr bool blocks_in_order = true;
  // With more tiles than are resident, the result would still be right, because blocks start in order and wait only for
  // earlier ones; but the number of totals read is quadratic in n.
  static constexpr std::size_t largest = 1 << 21;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    if (a.n == 0) return {};
    // Within 2 % of the best of 14 shapes on an H200 at every power of two (docs/notebook/scan.md). Up to 512 KB: tiles
    // of 8 KB, so that many blocks share the loads. Above: tiles of 16 KB, one per multiprocessor at 2 MB, or still of
    // 8 KB for 8-byte totals.
    if (a.n * sizeof(T) <= 512 * 1024) return start<512, 1>(a);
    constexpr unsigned rows = sizeof(Out) == 8 ? 4 : 8;  // eight rows of 8-byte totals would spill
    return start<128, rows>(a);
  }

 private:
  template <unsigned Block, unsigned Rows, class T, class Op, class Out>
  static Status start(const Args<T, Op, Out>& a) {
    const std::size_t tiles = ceil_div(Aligned<T>(a.in, a.n).end, std::size_t(Block) * Rows * Pack<T>::size);
    const Descriptors descriptors = descriptors_for<Total<Out, Op>>(*a.workspace, tiles);
    if (!descriptors.words) return no_memory_for_totals;
    return launch(wave_kernel<Block, Rows, T, Op, Out>,
                  {.grid = unsigned(tiles), .block = Block, .overlap = true, .stream = a.stream}, a.in, a.out,
                  descriptors, a.n, a.inclusive, a.op, a.initial);
  }
};

}  // namespace upsweep::ladders::scan
