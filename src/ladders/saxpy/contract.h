// saxpy: out[i] = a * x[i] + y[i]. in[0] is x and in[1] is y, n elements each; out[0] has n elements and may be x or y
// (in place). Arrays need only the alignment of their elements.
//
// scalars[0] is a, in the element's type. Integers wrap. Floats are rounded once (a fused multiply-add) or twice (a
// product, then a sum), whichever is faster on the processor.
#pragma once
#include "base/implementation.h"

namespace upsweep::ladders::saxpy {

// The functor of saxpy. The kernels take any functor of any number of inputs.
template <class T>
struct Axpy {
  T a;
  UPSWEEP_HD constexpr T operator()(T x, T y) const { return Sum{}(Product{}(a, x), y); }
};

template <class T>
struct Args : Execution {
  const T* x;  // [n]
  const T* y;  // [n]
  T* out;      // [n], may be y or x
  std::size_t n;
  Axpy<T> f;
};

}  // namespace upsweep::ladders::saxpy
