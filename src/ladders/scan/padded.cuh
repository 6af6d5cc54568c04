// An array in shared memory with a word of padding after every row of 32 words, and one more after every 32 rows.
//
// Shared memory has 32 banks of 4-byte words, and each bank serves one word per wavefront. The sweeps have strides of
// 2, 4, 8, ...; from 32 on, all accesses would hit one bank. With one word of padding per row, the words of a column
// are in neighbouring banks; with the additional word per 32 rows, so are words 32 rows apart.
#pragma once
#include "kernel/kernel.h"

namespace upsweep::ladders::scan {

template <class T>
struct Padded {
  static constexpr unsigned row = 32 * 4 / sizeof(T);                 // elements across all banks
  static constexpr unsigned pad = sizeof(T) < 4 ? 4 / sizeof(T) : 1;  // elements of padding: a word's worth, or one
  static constexpr unsigned round = row / pad * row;                  // elements until the padding adds up to a row

  T* s;  // [room(count)], shared

  static __host__ __device__ constexpr unsigned offset(unsigned i) { return i + (i / row + i / round) * pad; }
  // Returns the padded size of an array of `count` elements, in elements.
  static __host__ __device__ constexpr unsigned room(unsigned count) { return offset(count - 1) + 1; }
  __device__ __forceinline__ T& operator[](unsigned i) const { return s[offset(i)]; }
};

}  // namespace upsweep::ladders::scan
