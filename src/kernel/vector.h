// 16 bytes of elements at a time: the widest load a thread can make.
#pragma once
#include <cstring>

#include "kernel/ptx.h"

namespace upsweep {

template <class T>
struct Pack {
  static constexpr unsigned size = 16 / sizeof(T);
  T item[size];
};

// One 16-byte load of Pack<T>::size elements that will not be read again; `from` must be 16-byte aligned. Goes through
// uint4 because a plain struct may be loaded member by member.
template <class T>
__device__ __forceinline__ Pack<T> load_pack(const T* from) {
  const uint4 raw = load_once(reinterpret_cast<const uint4*>(from));
  Pack<T> pack;
  memcpy(&pack, &raw, sizeof pack);
  return pack;
}

// The same from shared memory.
template <class T>
__device__ __forceinline__ Pack<T> load_shared_pack(const T* from) {
  const uint4 raw = *reinterpret_cast<const uint4*>(from);
  Pack<T> pack;
  memcpy(&pack, &raw, sizeof pack);
  return pack;
}

// op over the elements of one pack, as a tree: depth log2 instead of a chain.
template <class T, class Op>
__device__ __forceinline__ T fold(const Pack<T>& p, Op op) {
  if constexpr (Pack<T>::size == 2)
    return op(p.item[0], p.item[1]);
  else
    return op(op(p.item[0], p.item[1]), op(p.item[2], p.item[3]));
}

// How an array of n elements at any alignment splits into 16-byte packs: `head` single elements, `packs` packs, and
// `tail` single elements. head and tail are each less than one pack.
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

}  // namespace upsweep
