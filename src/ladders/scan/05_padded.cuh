// scan/padded: recursive, with a word of padding after every 32 words of shared memory.
//
// The sweeps access elements 2, 4, 8, ... apart, which causes 2-way, 4-way, 8-way, ... bank conflicts: 16-way at most,
// because at larger strides fewer lanes are active. The padding removes all conflicts, at any stride and for elements
// of any width.
//
// Traffic   as recursive. Shared memory: 1/32 more space; 181 wavefronts per tile of 512 words instead of 706.
// Order     as recursive.
// Source    Harris, Sengupta, Owens, GPU Gems 3, chapter 39.2.3, 2007.
#pragma once
#include "ladders/scan/levels.cuh"
#include "ladders/scan/padded.cuh"
#include "ladders/scan/sweeps.cuh"

namespace upsweep::ladders::scan {

// A tile scan (tiles.cuh): the two sweeps in padded shared memory.
struct PaddedSweeps {
  static constexpr unsigned per_thread = 2, block = 256;
  static constexpr Status refusal(unsigned threads) { return tree_block(threads); }
  template <class T>
  static constexpr std::size_t shared_bytes(unsigned threads) {
    return Padded<T>::room(2 * threads) * sizeof(T);
  }
  template <class T, class Op>
  static __device__ T scan(const T* in, T* out, std::size_t n, bool inclusive, Op op) {
    return sweep_tile(in, out, n, inclusive, Padded<T>{dynamic_shared<T>()}, op);
  }
};

struct padded {
  static constexpr Story story{.idea = "recursive, with padding against bank conflicts",
                               .prediction =
                                   "1.6 times as fast as recursive at large n: 181 wavefronts per tile of 512 "
                                   "words instead of 706; the same barriers",
                               .guarantees = "same bits for the same n and block",
                               .limits = "sum, min, max; any n",
                               .source = "GPU Gems 3, chapter 39.2.3, 2007"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_recursively<PaddedSweeps>(a);
  }
};

}  // namespace upsweep::ladders::scan
