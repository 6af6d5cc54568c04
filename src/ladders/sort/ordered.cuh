// Keys that are sorted in shared memory, as their order, with an index each where values go with them.
#pragma once
#include "kernel/kernel.h"
#include "ladders/sort/contract.h"

namespace upsweep::ladders::sort {

template <class K>
using Ordered = std::conditional_t<(sizeof(K) > 4), std::uint64_t, std::uint32_t>;

// Writes the value of key index[k] to place to[k], or the index itself if indices are wanted; those past the end, which
// have both beyond n, are left out. All values are read before any is written, because the output may be the input:
// sync() is a barrier for all threads that do so.
template <unsigned count, class Sync>
__device__ void gather_values(const Values& values, unsigned n, const unsigned (&index)[count],
                              const unsigned (&to)[count], Sync&& sync) {
  if (!values.in) {
    for (unsigned k = 0; k < count; ++k)
      if (to[k] < n) static_cast<unsigned*>(values.out)[to[k]] = index[k];
    return;
  }
  values.visit([&]<class V>(const V* all, V* moved) {
    V own[count];
#pragma unroll
    for (unsigned k = 0; k < count; ++k)
      if (to[k] < n) own[k] = all[index[k]];
    sync();
#pragma unroll
    for (unsigned k = 0; k < count; ++k)
      if (to[k] < n) moved[to[k]] = own[k];
  });
}

}  // namespace upsweep::ladders::sort
