// Two arrays of n elements, at any alignment, as packs of 16 bytes.
#pragma once
#include "kernel/vector.h"

namespace upsweep::ladders::scan {

// Packs are counted from the 16-byte boundary at or before in[0]: pack p holds the elements from p * size - shift on.
// The first and the last pack may hold fewer than `size`.
template <class T>
struct PackView {
  static constexpr std::size_t size = Pack<T>::size;

  const T* in;  // [n]
  T* out;       // [n]
  std::size_t n;
  std::size_t shift;  // elements between the boundary and in[0]
  bool out_aligned;   // out has packs where in has them

  __host__ __device__ PackView(const T* from, T* to, std::size_t count)
      : in(from), out(to), n(count), shift(offset(from)), out_aligned(offset(from) == offset(to)) {}
  __host__ __device__ std::size_t packs() const { return ceil_div(n + shift, size); }

  // Pack p, any p; elements that do not exist are the neutral element.
  template <class Op>
  __device__ __forceinline__ Pack<T> load(std::size_t p, Op) const {
    const std::size_t first = p * size - shift;
    if (whole(first)) return load_pack(in + first);
    Pack<T> pack;
#pragma unroll
    for (unsigned k = 0; k < size; ++k) pack.item[k] = first + k < n ? in[first + k] : Op::template neutral<T>();
    return pack;
  }
  // One 16-byte store where both arrays allow it.
  __device__ __forceinline__ void store(std::size_t p, const Pack<T>& pack) const {
    const std::size_t first = p * size - shift;
    if (out_aligned && whole(first)) return store_pack(out + first, pack);
#pragma unroll
    for (unsigned k = 0; k < size; ++k)
      if (first + k < n) out[first + k] = pack.item[k];
  }

 private:
  static __host__ __device__ std::size_t offset(const T* array) {
    return reinterpret_cast<std::uintptr_t>(array) / sizeof(T) % size;
  }
  // Elements before in[0] have indices that wrap around, and so are beyond n like those after the end.
  __device__ bool whole(std::size_t first) const { return first < n && n - first >= size; }
};

}  // namespace upsweep::ladders::scan
