// An array in shared memory that leaves out one word after every 32.
//
// Shared memory is 32 banks of 4-byte words, and a bank serves one word at a time. The sweeps' accesses are 2, 4, 8,
// ... apart: at 32 they would all meet in one bank. With a word left out in every row, whatever lies below one another
// before lies in neighbouring banks.
#pragma once
#include "kernel/kernel.h"

namespace upsweep::ladders::scan {

template <class T>
struct Padded {
  static constexpr unsigned row = 32 * 4 / sizeof(T);                 // elements in a row of all banks
  static constexpr unsigned pad = sizeof(T) < 4 ? 4 / sizeof(T) : 1;  // elements left out: a word or one of them

  T* s;  // [room(count)], shared

  static __host__ __device__ constexpr unsigned place(unsigned i) { return i + i / row * pad; }
  // Elements of memory for `count` of them.
  static __host__ __device__ constexpr unsigned room(unsigned count) { return place(count - 1) + 1; }
  __device__ __forceinline__ T& operator[](unsigned i) const { return s[place(i)]; }
};

}  // namespace upsweep::ladders::scan
