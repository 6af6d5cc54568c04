// What the rungs that work on 16 bytes at a time share.
#pragma once
#include <utility>

#include "kernel/vector.h"
#include "saxpy/contract.h"

namespace upsweep::ladders::saxpy {

// One 16-byte load or store; both addresses are 16-byte aligned. The load is an ordinary one, not load_pack(): what it
// reads may be overwritten in this very kernel.
template <class T>
__device__ __forceinline__ Pack<T> load_plain_pack(const T* from) {
  return load_shared_pack(from);
}
template <class T>
__device__ __forceinline__ void store_pack(T* to, const Pack<T>& pack) {
  uint4 raw;
  memcpy(&raw, &pack, sizeof raw);
  *reinterpret_cast<uint4*>(to) = raw;
}

// The packs of every input at one place.
template <class T, std::size_t Inputs>
struct Row {
  Pack<T> of[Inputs];
};

template <class T, class... In>
__device__ __forceinline__ Row<T, sizeof...(In)> load_row(std::size_t at, const In*... in) {
  return {{load_plain_pack<T>(in + at)...}};
}

// f over a row, element by element.
template <class T, std::size_t Inputs, class F>
__device__ __forceinline__ Pack<T> map(const Row<T, Inputs>& row, F f) {
  Pack<T> result;
  [&]<std::size_t... K>(std::index_sequence<K...>) {
#pragma unroll
    for (unsigned e = 0; e < Pack<T>::size; ++e) result.item[e] = f(row.of[K].item[e]...);
  }
  (std::make_index_sequence<Inputs>());
  return result;
}

// The threads of the whole grid.
__device__ __forceinline__ std::size_t thread_of_grid() { return std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ __forceinline__ std::size_t threads_of_grid() { return std::size_t(gridDim.x) * blockDim.x; }

// Whether packs of `out` are packs of every input too.
template <class T, class... In>
__device__ __forceinline__ bool aligned_alike(const T* out, const In*... in) {
  const auto past = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16; };
  return ((past(in) == past(out)) && ...);
}

// The elements before the first pack of `out` and after the last: fewer than Pack<T>::size each, at most 15. A grid has
// at least that many threads.
template <class T, class F, class... In>
__device__ __forceinline__ void map_ends(const PackSplit<T>& split, T* out, std::size_t n, F f, const In*... in) {
  const std::size_t thread = thread_of_grid();
  if (thread < split.head) out[thread] = f(in[thread]...);
  const std::size_t last = n - split.tail + thread;
  if (thread < split.tail) out[last] = f(in[last]...);
}

// Blocks for n elements, a thread working on `packs` packs, at most `per_sm` blocks a multiprocessor.
template <class T>
unsigned blocks_for(std::size_t n, unsigned block, unsigned packs, unsigned per_sm) {
  const std::size_t wanted = ceil_div(n, std::size_t(block) * packs * Pack<T>::size);
  const std::size_t most = std::size_t(device_limits().multiprocessors) * per_sm;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

}  // namespace upsweep::ladders::saxpy
