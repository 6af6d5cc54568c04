// saxpy/bulk_staged: the copy engine fetches, the threads only compute and store.
//
// One lane of each warp asks for 4 KB of every input at a time; the warp reads them from shared memory. Every warp has
// a ring of such stages to itself, so no barrier of the block, and 192 KB on their way in a multiprocessor without a
// register held.
//
// Traffic   as vec16; every byte read passes through shared memory once, without conflicts.
// Order     none.
// Source    NVIDIA CUDA Programming Guide, Asynchronous Data Copies (TMA), 2022.
#pragma once
#include "kernel/async.h"
#include "saxpy/02_grid_stride.cuh"

namespace upsweep::ladders::saxpy {

// A ring of stages a warp, a chunk of every input a stage: with two inputs 192 KB a block, one block a multiprocessor.
struct staged_ring {
  static constexpr unsigned warps = 8, stages = 3;
  static constexpr unsigned chunk_bytes = 4096, chunk_packs = chunk_bytes / 16;
  static constexpr unsigned shared_bytes(unsigned inputs) { return warps * stages * inputs * chunk_bytes; }
};

template <class T, class F, class... In>
__global__ void __launch_bounds__(32 * staged_ring::warps) bulk_staged_kernel(T* out,  // [n]
                                                                              std::size_t n, F f,
                                                                              const In*... in) {  // [n] each
  if (!aligned_alike(out, in...)) return map_elements(out, n, f, in...);
  using Ring = staged_ring;
  constexpr unsigned inputs = sizeof...(In), chunk = Ring::chunk_bytes / sizeof(T);  // elements
  __shared__ std::uint64_t arrived[Ring::warps][Ring::stages];
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  T* const ring = dynamic_shared<T>() + std::size_t(warp) * Ring::stages * inputs * chunk;
  const PackSplit<T> split(out, n);
  const std::size_t chunks = ceil_div(split.packs, Ring::chunk_packs);
  const std::size_t step = std::size_t(gridDim.x) * Ring::warps;
  const auto packs_of = [&](std::size_t c) {
    const std::size_t left = split.packs - c * Ring::chunk_packs;
    return unsigned(left < Ring::chunk_packs ? left : Ring::chunk_packs);
  };
  const auto fetch = [&](std::size_t c, unsigned stage) {
    const unsigned bytes = 16 * packs_of(c);
    mbarrier_arrive_expect(&arrived[warp][stage], inputs * bytes);
    T* to = ring + stage * inputs * chunk;
    const auto copy = [&](const T* from) {
      bulk_copy(to, from + split.head + c * chunk, bytes, &arrived[warp][stage]);
      to += chunk;
    };
    (copy(in), ...);
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
  map_ends(split, out, n, f, in...);

  // 3. Compute a chunk, fetch the one that takes its place.
  unsigned stage = 0, parity = 0;
  for (std::size_t c = first; c < chunks; c += step) {
    mbarrier_wait(&arrived[warp][stage], parity);
    const T* const from = ring + stage * inputs * chunk;
    T* const to = out + split.head + c * chunk;
    const unsigned packs = packs_of(c);
#pragma unroll 4
    for (unsigned p = lane; p < packs; p += warp_size) {
      Row<T, inputs> row;
      for (unsigned k = 0; k < inputs; ++k) row.of[k] = load_shared_pack(from + k * chunk + p * Pack<T>::size);
      store_pack(to + p * Pack<T>::size, map(row, f));
    }
    __syncwarp();  // all lanes have read before the engine writes
    if (lane == 0 && c + Ring::stages * step < chunks) fetch(c + Ring::stages * step, stage);
    if (++stage == Ring::stages) {
      stage = 0;
      parity ^= 1;
    }
  }
}

struct bulk_staged {
  static constexpr Story story{
      .idea = "bulk copies into rings in shared memory, one ring a warp",
      .prediction = "behind one_pack: a copy of the same shape reached 3.7 to 4.0 TB/s of the copy ceiling's 4.26",
      .guarantees = "rounded once",
      .limits = "any n; fixed block size; 192 KB of shared memory a block; fast where the arrays are aligned alike",
      .source = "CUDA Programming Guide, Asynchronous Data Copies, 2022"};
  template <class T, class>
  static Status run(const Args<T>& a) {
    if (a.params.get("block", 0) != 0) return {Code::unsupported, 0, "bulk_staged has a fixed block size"};
    const unsigned block = 32 * staged_ring::warps;
    // One block a multiprocessor has all of its shared memory.
    const unsigned fit = blocks_for<T>(a.n, block, staged_ring::chunk_packs / warp_size, 1);
    return launch(bulk_staged_kernel<T, Axpy<T>, T, T>,
                  {.grid = static_cast<unsigned>(a.params.get("grid", fit)),
                   .block = block,
                   .shared_bytes = staged_ring::shared_bytes(2),
                   .stream = a.stream},
                  a.out, a.n, a.f, a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
