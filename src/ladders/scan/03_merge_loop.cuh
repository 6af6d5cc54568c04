// scan/merge_loop: tiles in shared memory; then every element adds the totals of all earlier tiles, one by one.
//
// Two launches suffice for any n, which is this rung's only merit: the number of additions is quadratic in n. A tile's
// total is the last element of its inclusive scan, so totals are one tile apart, each in a different sector. The
// scanned tiles need a separate array: in the output, finished blocks would overwrite totals that other blocks still
// read.
//
// Traffic   3 reads and 2 writes per element, and on average n / 1024 loads of totals per warp, each of one word.
// Order     as block within a tile; totals from left to right.
// Source    the loop that the scan of the totals replaces in GPU Gems 3, chapter 39.2.4, 2007.
#pragma once
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

template <class T, class Op>
__global__ void merge_loop_kernel(const T* tiles,  // [n], of 2 * blockDim.x elements each, scanned inclusively
                                  T* out,          // [n]
                                  std::size_t n, bool inclusive, Op op) {
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::size_t tile = 2 * std::size_t(blockDim.x);
  T prefix = Op::template neutral<T>();
  for (std::size_t total = tile - 1; total < i; total += tile) prefix = op(prefix, tiles[total]);
  // Within its tile, an element's exclusive prefix is its left neighbour's inclusive prefix; that of the first element
  // is empty.
  if (inclusive)
    out[i] = op(prefix, tiles[i]);
  else if (i % tile == 0)
    out[i] = i > 0 ? prefix : value_of_none<Op, T>();
  else
    out[i] = op(prefix, tiles[i - 1]);
}

struct merge_loop {
  static constexpr std::size_t largest = largest_merge, largest_emulated = largest_merge_emulated;
  static constexpr Story story{
      .idea = "scanned tiles; then every element adds the totals of all earlier tiles, one by one",
      .prediction = "ties with recursive up to 2^14; from 2^18 on, the time quadruples when n doubles",
      .guarantees = "same bits for the same n and block",
      .limits = "sum, min, max; n up to 2^22: the number of additions is quadratic",
      .source = "before GPU Gems 3, chapter 39.2.4, 2007"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    const Tiling<Sweeps> tiling = tiling_of<Sweeps>(a.tuning);
    if (Status s = Sweeps::refusal(tiling.threads); !s) return s;
    if (a.n == 0) return {};
    Scratch scratch(*a.workspace);
    T* const tiles = scratch.take<T>(a.n);
    if (!scratch) return {Code::out_of_memory, 0, "no memory for the scanned tiles"};
    if (Status s =
            launch(tiles_kernel<Sweeps, T, Op>, tiling.shape<T>(a.n, a.stream), a.in, tiles, nullptr, a.n, true, a.op);
        !s)
      return s;
    const auto blocks = static_cast<unsigned>(ceil_div(a.n, tiling.threads));  // one thread per element
    return launch(merge_loop_kernel<T, Op>, {.grid = blocks, .block = tiling.threads, .stream = a.stream}, tiles, a.out,
                  a.n, a.inclusive, a.op);
  }
};

}  // namespace upsweep::ladders::scan
