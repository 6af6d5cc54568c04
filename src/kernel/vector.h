// Packs: 16 bytes of elements, loaded or stored in one access.
#pragma once
#include <cstring>

#include "kernel/ptx.h"

namespace upsweep {

template <class T>
struct Pack {
  static constexpr unsigned size = 16 / sizeof(T);
  T item[size];
};

// Converts between a pack and its raw 16 bytes, which are loaded and stored in one access; a plain struct may be loaded
// member by member. The bytes are passed by value: for a reference to memory, nvcc emits 16 one-byte loads.
template <class T>
__device__ __forceinline__ Pack<T> as_pack(uint4 raw) {
  Pack<T> pack;
  memcpy(&pack, &raw, sizeof pack);
  return pack;
}
template <class T>
__device__ __forceinline__ uint4 raw(const Pack<T>& pack) {
  uint4 bytes;
  memcpy(static_cast<void*>(&bytes), &pack, sizeof bytes);
  return bytes;
}

// Loads Pack<T>::size elements that will not be read again (see load_once()), in one access; `from` must be 16-byte
// aligned.
template <class T>
__device__ __forceinline__ Pack<T> load_pack(const T* from) {
  return as_pack<T>(load_once(reinterpret_cast<const uint4*>(from)));
}

// Like load_pack(), with an ordinary load: from shared memory, or of data that this kernel may overwrite. The bytes
// stay together: four registers per pack until as_pack(), not one per element.
template <class T>
__device__ __forceinline__ uint4 load_raw(const T* from) {
  return *reinterpret_cast<const uint4*>(from);
}

// Stores a pack to global memory in one access; `to` must be 16-byte aligned.
template <class T>
__device__ __forceinline__ void store_pack(T* to, const Pack<T>& pack) {
  store_whole(reinterpret_cast<uint4*>(to), raw(pack));
}

// The elements of a Pack<T>, converted to another type.
template <class T, class Out>
struct WidePack {
  static constexpr unsigned size = Pack<T>::size;
  Out item[size];
};
template <class Out, class T>
__device__ __forceinline__ WidePack<T, Out> widen_pack(const Pack<T>& pack) {
  WidePack<T, Out> to;
#pragma unroll
  for (unsigned k = 0; k < Pack<T>::size; ++k) to.item[k] = pack.item[k];
  return to;
}

// Reduces the elements of a pack, in order, as a tree: logarithmic depth instead of a chain.
template <class Items, class Op>
__device__ __forceinline__ auto fold(Items p, Op op) {
#pragma unroll
  for (unsigned d = 1; d < Items::size; d *= 2)
#pragma unroll
    for (unsigned k = 0; k < Items::size; k += 2 * d) p.item[k] = op(p.item[k], p.item[k + d]);
  return p.item[0];
}

// The split of an array of n elements at any alignment into `head` single elements, `packs` 16-byte packs and `tail`
// single elements. head and tail are each less than one pack.
template <class T>
struct PackSplit {
  std::size_t head, packs, tail;
  const T* aligned;  // in + head, 16-byte aligned

  __host__ __device__ PackSplit(const T* in,  // [n]
                                std::size_t n) {
    constexpr std::size_t size = Pack<T>::size;
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(in) / sizeof(T) % size;
    head = offset ? size - offset : 0;
    if (head > n) head = n;
    aligned = in + head;
    packs = (n - head) / size;
    tail = n - head - packs * size;
  }
};

// Returns the grid for n elements and `packs` packs per thread, at most `per_sm` blocks per multiprocessor.
template <class T>
unsigned blocks_for(std::size_t n, unsigned block, unsigned packs, unsigned per_sm) {
  const std::size_t wanted = ceil_div(n, std::size_t(block) * packs * Pack<T>::size);
  const std::size_t most = std::size_t(machine().multiprocessors) * per_sm;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

}  // namespace upsweep
