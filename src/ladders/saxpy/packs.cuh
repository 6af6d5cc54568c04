// Rows of one 16-byte pack per input, and the loops over the elements outside whole packs.
#pragma once
#include <utility>

#include "kernel/vector.h"
#include "ladders/saxpy/contract.h"

namespace upsweep::ladders::saxpy {

// A row: one pack of every input, all at the same offset.
template <class T, std::size_t Inputs>
struct Row {
  uint4 of[Inputs];
};

template <class T, class... In>
__device__ __forceinline__ Row<T, sizeof...(In)> load_row(std::size_t at, const In*... in) {
  return {{load_raw(in + at)...}};
}

// Applies f to a row, element by element.
template <class T, std::size_t Inputs, class F>
__device__ __forceinline__ Pack<T> map(const Row<T, Inputs>& row, F f) {
  Pack<T> result;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    const Pack<T> in[] = {as_pack<T>(row.of[K])...};
#pragma unroll
    for (unsigned e = 0; e < Pack<T>::size; ++e) result.item[e] = f(in[K].item[e]...);
  }
  (std::make_index_sequence<Inputs>());
  return result;
}

// This thread's index in the grid, and the number of threads in the grid.
__device__ __forceinline__ std::size_t thread_of_grid() { return std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ std::size_t threads_of_grid() { return std::size_t(gridDim.x) * blockDim.x; }

// True if the address of every input equals that of `out` modulo 16, so that packs line up in all arrays.
template <class T, class... In>
__device__ __forceinline__ bool aligned_alike(const T* out, const In*... in) {
  const auto past = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16; };
  return ((past(in) == past(out)) && ...);
}

// Maps the elements before the first pack of `out` and after the last: fewer than Pack<T>::size at each end.
template <class T, class F, class... In>
__device__ __forceinline__ void map_ends(const PackSplit<T>& split, T* out, std::size_t n, F f, const In*... in) {
  for (std::size_t i = thread_of_grid(); i < split.head; i += threads_of_grid()) out[i] = f(in[i]...);
  for (std::size_t i = n - split.tail + thread_of_grid(); i < n; i += threads_of_grid()) out[i] = f(in[i]...);
}

// Maps all elements, for any grid and alignment: the fallback of the pack rungs if arrays are not aligned_alike().
template <class T, class F, class... In>
__device__ __forceinline__ void map_elements(T* out,  // [n]
                                             std::size_t n, F f,
                                             const In*... in) {  // [n] each
  for (std::size_t i = thread_of_grid(); i < n; i += threads_of_grid()) out[i] = f(in[i]...);
}

// Returns the stride, in elements, of arrays of n elements in one allocation: whole multiples of 256 bytes, so that all
// arrays have the same alignment.
template <class T>
std::size_t padded(std::size_t n) {
  return ceil_div(n * sizeof(T), 256) * 256 / sizeof(T);
}

}  // namespace upsweep::ladders::saxpy
