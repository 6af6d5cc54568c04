// scan/padded: recursive, with a word of padding after every 32 words of shared memory.
//
// The sweeps touch elements 2, 4, 8, ... apart, so that 2, 4, 8, ... lanes of a warp meet in one bank and wait for one
// another, until fewer than 32 lanes are left. With the padding no two of them meet, in tiles of up to 1024 elements of
// 4 bytes; in the next size two do, at distances from 32 on.
//
// Traffic   as recursive. Shared memory: 1/32 more room, and for a tile of 512 words COUNT_PADDED wavefronts instead of
//           COUNT_PLAIN.
// Order     as recursive.
// Source    Harris, Sengupta, Owens, GPU Gems 3, chapter 39.2.3, 2007.
#pragma once
#include "scan/07_recursive.cuh"
#include "scan/padded.cuh"

namespace upsweep::ladders::scan {

// A tile by the two sweeps, padded.
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
                               .prediction = "PRED",
                               .guarantees = "same bits for the same n and block",
                               .limits = "any n",
                               .source = "GPU Gems 3, chapter 39.2.3, 2007"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_recursively<PaddedSweeps>(a);
  }
};

}  // namespace upsweep::ladders::scan
