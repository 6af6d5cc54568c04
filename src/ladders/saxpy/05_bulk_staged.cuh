// saxpy/bulk_staged: the copy engine fetches; the threads only compute and store.
//
// For each chunk, one lane of the warp issues a bulk copy of 4 KB per input, and the warp reads the data from shared
// memory. Each warp has a private ring of three stages, so no block-wide barrier is needed, and 192 KB per
// multiprocessor are in flight without occupying registers. Chunks are assigned round-robin, which needs no
// communication. Claiming four chunks per atomic is 2 % faster (docs/notes/saxpy.md), but still slower than one_pack.
//
// Traffic   as vec16; every byte read passes through shared memory once, without bank conflicts.
// Order     none.
// Source    NVIDIA CUDA Programming Guide, Asynchronous Data Copies (TMA), 2022.
#pragma once
#include "kernel/ring.h"
#include "ladders/saxpy/packs.cuh"

namespace upsweep::ladders::saxpy {

// The rings of a block, up to 192 KB for any number of inputs. The inputs share each 8 KB stage equally, in multiples
// of 512 bytes (16 bytes per lane).
template <unsigned Inputs>
using staged_ring = WarpRingShape</*Warps*/ 8, /*Stages*/ 3, /*ChunkBytes*/ 8192 / Inputs / 512 * 512, Inputs>;

template <class T, class F, class... In>
__global__ void __launch_bounds__(staged_ring<sizeof...(In)>::block) bulk_staged_kernel(T* out,  // [n]
                                                                                        std::size_t n, F f,
                                                                                        const In*... in) {  // [n] each
  if (!aligned_alike(out, in...)) return map_elements(out, n, f, in...);
  using Ring = WarpRing<staged_ring<sizeof...(In)>, T>;

  // 1. Fill the ring.
  const PackSplit<T> split(out, n);
  Ring ring(split.packs, (in + split.head)...);

  // 2. Map the unaligned ends while the first chunks are in flight.
  map_ends(split, out, n, f, in...);

  // 3. Compute and store the chunks as they arrive.
  ring.for_each_chunk([&](std::size_t offset, unsigned packs, const T* staged) {
    T* const to = out + split.head + offset;
#pragma unroll 4
    for (unsigned p = threadIdx.x % warp_size; p < packs; p += warp_size) {
      Row<T, sizeof...(In)> row;
      for (unsigned k = 0; k < sizeof...(In); ++k) row.of[k] = load_raw(staged + k * Ring::chunk + p * Pack<T>::size);
      store_pack(to + p * Pack<T>::size, map(row, f));
    }
  });
}

struct bulk_staged {
  static constexpr Needs needs{{Feature::bulk_copy}, 196'608};
  static constexpr Story story{
      .idea = "bulk copies into rings in shared memory, one ring per warp",
      .prediction = "slower than one_pack: a copy kernel of this shape reached 3.7 to 4.0 TB/s of a ceiling of 4.26",
      .guarantees = "rounded once",
      .limits = "any n; fixed block size; 192 KB of shared memory per block; fast if all addresses agree modulo 16",
      .source = "CUDA Programming Guide, Asynchronous Data Copies, 2022"};
  static constexpr std::size_t ring_bytes = staged_ring<1>::shared_bytes;
  // Computes out[i] = f(in[i]...). All arrays have the same type.
  template <class T, class F, class... In>
  static Status map(const Tuning& tuning, Stream stream, T* out, std::size_t n, F f, const In*... in) {
    if (tuning.block != 0) return {Code::unsupported, 0, "bulk_staged has a fixed block size"};
    using Ring = staged_ring<sizeof...(In)>;
    return launch(bulk_staged_kernel<T, F, In...>,
                  {.grid = tuning.grid_or(Ring::template blocks_for<T>(n)),
                   .block = Ring::block,
                   .shared_bytes = Ring::shared_bytes,
                   .stream = stream},
                  out, n, f, in...);
  }
  template <class T, class>
  static Status run(const Args<T>& a) {
    return map(a.tuning, a.stream, a.out, a.n, a.f, a.x, a.y);
  }
};

}  // namespace upsweep::ladders::saxpy
