// Compiled to PTX by whole_packs.cmake, which rejects any load or store narrower than 16 bytes. Neither results nor the
// emulators show the difference: where nvcc once emitted sixteen loads, other compilers emit one.
#include "kernel/vector.h"

namespace upsweep {

// Four packs of two arrays per thread, all loaded before the first store.
template <class T>
__global__ void from_global(const T* x,  // [head + packs * Pack<T>::size], 16-byte aligned from element `head` on
                            const T* y,  // as x
                            T* out,      // as x; may be x or y
                            std::size_t head, std::size_t packs, T a) {
  constexpr unsigned rows = 4;
  const std::size_t step = std::size_t(gridDim.x) * blockDim.x;
  const auto at = [&](std::size_t pack) { return head + pack * Pack<T>::size; };
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < packs; i += rows * step) {
    uint4 xs[rows], ys[rows];
#pragma unroll
    for (unsigned r = 0; r < rows; ++r)
      if (i + r * step < packs) xs[r] = load_raw(x + at(i + r * step)), ys[r] = load_raw(y + at(i + r * step));
#pragma unroll
    for (unsigned r = 0; r < rows; ++r)
      if (i + r * step < packs) {
        const Pack<T> p = as_pack<T>(xs[r]), q = as_pack<T>(ys[r]);
        Pack<T> sum;
        for (unsigned e = 0; e < Pack<T>::size; ++e) sum.item[e] = static_cast<T>(a * p.item[e] + q.item[e]);
        store_pack(out + at(i + r * step), sum);
      }
  }
}

// Loads packs from shared memory, and from a global array at an offset that only the caller knows to be aligned.
template <class T>
__global__ void from_shared(const T* in,  // 16-byte aligned from element `head` on
                            T* out, std::size_t head, unsigned stage) {
  const unsigned at = stage * 2048 + threadIdx.x * Pack<T>::size;
  Pack<T> a = as_pack<T>(load_raw(dynamic_shared<T>() + at));
  const Pack<T> b = as_pack<T>(load_raw(in + head + at)), c = load_pack(in + head + 2 * at);
  for (unsigned e = 0; e < Pack<T>::size; ++e) a.item[e] = static_cast<T>(a.item[e] + b.item[e] * c.item[e]);
  store_pack(out + head + at, a);
}

#define KERNELS(T)                                                                              \
  template __global__ void from_global<T>(const T*, const T*, T*, std::size_t, std::size_t, T); \
  template __global__ void from_shared<T>(const T*, T*, std::size_t, unsigned);
KERNELS(std::uint8_t)
KERNELS(std::uint16_t)
KERNELS(std::uint32_t)
KERNELS(float)
KERNELS(double)
KERNELS(std::uint64_t)

}  // namespace upsweep
