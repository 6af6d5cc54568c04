// scan/merge_loop: tiles in shared memory; then every element adds the totals of all tiles before its own, one by one.
//
// Two launches do for any n, and that is all that can be said for it: the additions grow as the square of n. A total is
// the last element of a tile that was scanned inclusively, so that neighbouring totals lie a tile apart, each in a
// sector of its own. The tiles wait in an array of their own: in the output, a block that has finished would have
// overwritten the totals that others still read.
//
// Traffic   3 reads and 2 writes an element, and n / 1024 loads by every warp, on average, of one word in 32 bytes.
// Order     as block in a tile; the totals from left to right.
// Source    the loop that the scan of the totals replaces in GPU Gems 3, chapter 39.2.4, 2007.
#pragma once
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

template <class T, class Op>
__global__ void merge_loop_kernel(const T* tiles,  // [n], each of 2 * blockDim.x elements and scanned inclusively
                                  T* out,          // [n]
                                  std::size_t n, bool inclusive, Op op) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::size_t tile = 2 * std::size_t(blockDim.x);
  T prefix = Op::template neutral<T>();
  for (std::size_t total = tile - 1; total < i; total += tile) prefix = op(prefix, tiles[total]);
  // What is left of an element in its tile is the inclusive scan of its neighbour; the first has none.
  if (inclusive)
    out[i] = op(prefix, tiles[i]);
  else
    out[i] = i % tile == 0 ? prefix : op(prefix, tiles[i - 1]);
}

struct merge_loop {
  static constexpr std::size_t largest = largest_merge;
  static constexpr Story story{
      .idea = "tiles; then every element adds the totals before its tile, one by one",
      .prediction = "tied with recursive to 2^14; from 2^18 on four times as slow when n doubles",
      .guarantees = "same bits for the same n and block",
      .limits = "n up to 2^22 (2^18 emulated): the additions grow as n squared",
      .source = "before GPU Gems 3, chapter 39.2.4, 2007"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const Tiling<Sweeps> tiling = tiling_of<Sweeps>(a.tuning);
    if (Status s = Sweeps::refusal(tiling.threads); !s) return s;
    if (a.n == 0) return {};
    T* const tiles = static_cast<T*>(a.workspace->scratch(a.n * sizeof(T)));
    if (!tiles) return {Code::out_of_memory, 0, "no memory for the scanned tiles"};
    if (Status s =
            launch(tiles_kernel<Sweeps, T, Op>, tiling.shape<T>(a.n, a.stream), a.in, tiles, nullptr, a.n, true, a.op);
        !s)
      return s;
    const auto blocks = static_cast<unsigned>(ceil_div(a.n, tiling.threads));  // one thread an element
    return launch(merge_loop_kernel<T, Op>, {.grid = blocks, .block = tiling.threads, .stream = a.stream}, tiles, a.out,
                  a.n, a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan
