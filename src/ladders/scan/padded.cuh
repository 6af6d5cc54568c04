// An array in shared memory that leaves out a word after every row of 32, and one more after every 32 rows.
//
// Shared memory is 32 banks of 4-byte words, and a bank serves one word at a time. The sweeps' accesses are 2, 4, 8,
// ... apart: from 32 on they would all meet in one bank. With a word left out in every row, what lay below one another
// lies in neighbouring banks; and so does, with the second padding, what lies 32 rows apart.
#pragma once
#include "kernel/kernel.h"

namespace upsweep::ladders::scan {

template <class T>
struct Padded {
  static constexpr unsigned row = 32 * 4 / sizeof(T);                 // elements in all banks
  static constexpr unsigned pad = sizeof(T) < 4 ? 4 / sizeof(T) : 1;  // elements left out: those of a word, or one
  static constexpr unsigned round = row / pad * row;                  // elements until the row's shift is a row itself

  T* s;  // [room(count)], shared

  static __host__ __device__ constexpr unsigned place(unsigned i) { return i + (i / row + i / round) * pad; }
  // Elements of memory for `count` of them.
  static __host__ __device__ constexpr unsigned room(unsigned count) { return place(count - 1) + 1; }
  __device__ __forceinline__ T& operator[](unsigned i) const { return s[place(i)]; }
};

}  // namespace upsweep::ladders::scan
