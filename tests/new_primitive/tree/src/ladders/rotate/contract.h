// rotate: out[i] = in[(i + by) % n]. in[0] and out[0] have n elements each and need only element alignment.
#pragma once
#include "base/implementation.h"
#include "upsweep/parameters/rotate.h"

namespace upsweep::ladders::rotate {

template <class T>
struct Args : Execution {
  const T* in;  // [n]
  T* out;       // [n]
  std::size_t n;
  std::size_t by;  // below n
};

}  // namespace upsweep::ladders::rotate
