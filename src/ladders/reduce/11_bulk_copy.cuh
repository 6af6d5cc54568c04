// reduce/bulk_copy: the copy engine fetches; the threads only add.
//
// Loads cost registers, issue slots and address arithmetic. Here, one lane of each warp issues bulk copies of 8 KB
// each, and the warp reads the chunks from shared memory. Each warp has a private ring of three chunks, so no
// block-wide barrier is needed, and 192 KB are in flight per multiprocessor.
//
// Traffic   n reads by bulk copies; every byte is written to and read from shared memory once, without bank conflicts.
// Order     fixed by n, grid and the alignment of the input.
// Source    NVIDIA CUDA Programming Guide, Asynchronous Data Copies (TMA), 2022.
#pragma once
#include "kernel/ring.h"
#include "ladders/reduce/finish.cuh"

namespace upsweep::ladders::reduce {

// 192 KB per block: of five splits into warps, stages and chunks, within 0.1 % of the fastest at 2^28 and 2^30.
using bulk_copy_ring = WarpRingShape</*Warps*/ 8, /*Stages*/ 3, /*ChunkBytes*/ 8192, /*Arrays*/ 1>;

template <class T, class Op>
__global__ void __launch_bounds__(bulk_copy_ring::block)
    bulk_copy_kernel(const T* in,                 // [n]
                     T* out,                      // [1]
                     unsigned long long* totals,  // [gridDim.x * words_per<T>], zero; left zero
                     std::size_t n, Op op) {
  // 1. Fill the ring.
  const PackSplit<T> split(in, n);
  WarpRing<bulk_copy_ring, T> ring(split.packs, split.aligned);

  // 2. Add the unaligned ends while the first chunks are in flight.
  T sum = Op::template neutral<T>();
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread < split.head) sum = op(sum, in[thread]);
  if (thread < split.tail) sum = op(sum, split.aligned[split.packs * Pack<T>::size + thread]);

  // 3. Add the chunks as they arrive.
  ring.for_each_chunk([&](std::size_t, unsigned packs, const T* staged) {
#pragma unroll 8
    for (unsigned p = threadIdx.x % warp_size; p < packs; p += warp_size)
      sum = op(sum, fold(as_pack<T>(load_raw(staged + p * Pack<T>::size)), op));
  });
  finish(sum, op, totals, out, n);
}

struct bulk_copy {
  static constexpr Needs needs{{Feature::bulk_copy}, 196'800};
  static constexpr Story story{.idea = "bulk copies into rings in shared memory, one ring per warp",
                               .prediction = "ties with mailbox at large n, loses at small n: the ring has to fill",
                               .guarantees = "same bits for the same n, grid and alignment",
                               .limits = "any n; fixed block size; 192 KB of shared memory per block",
                               .source = "CUDA Programming Guide, Asynchronous Data Copies, 2022"};
  static constexpr bool blocks_in_order = true;
  static constexpr std::size_t ring_bytes = bulk_copy_ring::shared_bytes;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.tuning.block != 0) return {Code::unsupported, 0, "bulk_copy has a fixed block size"};
    const auto grid = a.tuning.grid_or(bulk_copy_ring::blocks_for<T>(a.n));
    unsigned long long* const totals = mailboxes<T>(a, grid);
    if (!totals) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(bulk_copy_kernel<T, Op>,
                  {.grid = grid,
                   .block = bulk_copy_ring::block,
                   .shared_bytes = bulk_copy_ring::shared_bytes,
                   .stream = a.stream},
                  a.in, a.out, totals, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::reduce
