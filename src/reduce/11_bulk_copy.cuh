// reduce/bulk_copy: the copy engine fetches, the threads only add.
//
// Loads cost registers, issue slots and address arithmetic. Here one lane of each warp asks for 8 KB at a time, and the
// warp reads them from shared memory. Every warp has a ring of three such chunks to itself: no barrier of the block,
// and 192 KB on their way in a multiprocessor.
//
// Traffic   n reads by bulk copies; every byte is written to and read from shared memory once, without conflicts.
// Order     fixed by n and the alignment of the input.
// Source    NVIDIA CUDA Programming Guide, Asynchronous Data Copies (TMA), 2022.
#pragma once
#include "kernel/async.h"
#include "reduce/finish.cuh"

namespace upsweep::ladders::reduce {

struct bulk_copy_ring {
  static constexpr unsigned warps = 8,
                            stages = 3;  // within 0.1 % of the best of five splits of 192 KB, at 2^28 and 2^30
  static constexpr unsigned chunk_bytes = 8192;
  static constexpr unsigned chunk_packs = chunk_bytes / 16;
  static constexpr unsigned shared_bytes = warps * stages * chunk_bytes;
};

template <class T, class Op>
__global__ void __launch_bounds__(32 * bulk_copy_ring::warps)
    bulk_copy_kernel(const T* in,                // [n]
                     T* out,                     // [1]
                     unsigned long long* boxes,  // [gridDim.x * boxes_per<T>], zero; left zero
                     std::size_t n, Op op) {
  using Ring = bulk_copy_ring;
  __shared__ std::uint64_t arrived[Ring::warps][Ring::stages];
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  T* const ring = dynamic_shared<T>() + std::size_t(warp) * Ring::stages * Ring::chunk_bytes / sizeof(T);
  const PackSplit<T> split(in, n);
  const std::size_t chunks = ceil_div(split.packs, Ring::chunk_packs);
  const std::size_t step = std::size_t(gridDim.x) * Ring::warps;
  const auto packs_of = [&](std::size_t chunk) {
    const std::size_t left = split.packs - chunk * Ring::chunk_packs;
    return unsigned(left < Ring::chunk_packs ? left : Ring::chunk_packs);
  };
  const auto fetch = [&](std::size_t chunk, unsigned stage) {
    mbarrier_arrive_expect(&arrived[warp][stage], 16 * packs_of(chunk));
    upsweep::bulk_copy(ring + stage * Ring::chunk_bytes / sizeof(T),
                       split.aligned + chunk * Ring::chunk_packs * Pack<T>::size, 16 * packs_of(chunk),
                       &arrived[warp][stage]);
  };

  // 1. Fill the ring.
  const std::size_t first = std::size_t(blockIdx.x) + std::size_t(warp) * gridDim.x;
  if (lane == 0) {
    for (unsigned s = 0; s < Ring::stages; ++s) mbarrier_init(&arrived[warp][s], 1);
    for (unsigned s = 0; s < Ring::stages; ++s)
      if (first + s * step < chunks) fetch(first + s * step, s);
  }
  __syncwarp();

  // 2. The unaligned ends, while the first chunks are on their way.
  T sum = Op::template neutral<T>();
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (thread < split.head) sum = op(sum, in[thread]);
  if (thread < split.tail) sum = op(sum, split.aligned[split.packs * Pack<T>::size + thread]);

  // 3. Add a chunk, fetch the one that takes its place.
  unsigned stage = 0, parity = 0;
  for (std::size_t chunk = first; chunk < chunks; chunk += step) {
    mbarrier_wait(&arrived[warp][stage], parity);
    const T* const from = ring + stage * Ring::chunk_bytes / sizeof(T);
    const unsigned packs = packs_of(chunk);
#pragma unroll 8
    for (unsigned p = lane; p < packs; p += warp_size)
      sum = op(sum, fold(load_shared_pack(from + p * Pack<T>::size), op));
    __syncwarp();  // all lanes have read before the engine writes
    if (lane == 0 && chunk + Ring::stages * step < chunks) fetch(chunk + Ring::stages * step, stage);
    if (++stage == Ring::stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  finish(sum, op, boxes, out);
}

struct bulk_copy {
  static constexpr Story story{
      .idea = "bulk copies into rings in shared memory, one ring a warp",
      .prediction = "ties with mailbox when n is large, loses when small: the ring has to fill",
      .guarantees = "same bits for the same n, grid and alignment",
      .limits = "any n; fixed block size; 192 KB of shared memory a block",
      .source = "CUDA Programming Guide, Asynchronous Data Copies, 2022"};
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    if (a.params.get("block", 0) != 0) return {Code::unsupported, 0, "bulk_copy has a fixed block size"};
    // One block a multiprocessor has all of its shared memory; fewer blocks where there are fewer chunks.
    const std::size_t chunks = ceil_div(a.n * sizeof(T), bulk_copy_ring::chunk_bytes);
    const std::size_t most = std::size_t(device_limits().multiprocessors);
    const unsigned fit = static_cast<unsigned>(chunks < 1 ? 1 : chunks < most ? chunks : most);
    const unsigned grid = static_cast<unsigned>(a.params.get("grid", fit));
    unsigned long long* const boxes = boxes_of<T>(a, grid);
    if (!boxes) return {Code::out_of_memory, 0, "no memory for the block totals"};
    return launch(bulk_copy_kernel<T, Op>,
                  {.grid = grid,
                   .block = 32 * bulk_copy_ring::warps,
                   .shared_bytes = bulk_copy_ring::shared_bytes,
                   .stream = a.stream},
                  a.in, a.out, boxes, a.n, a.op);
  }
};

}  // namespace upsweep::ladders::reduce
