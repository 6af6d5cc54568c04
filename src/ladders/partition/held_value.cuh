// A value between its load and its store.
#pragma once
#include "kernel/kernel.h"
#include "ladders/partition/contract.h"

namespace upsweep::ladders::partition {

// Values::move() in two steps, for a thread that knows early which value it will move and late where to: the load's
// latency passes meanwhile.
struct HeldValue {
  std::uint64_t low = 0, high = 0;

  __device__ void load(const Values& values, std::size_t from) {
    values.visit([&]<class V>(const V* all, V*) {
      if constexpr (std::is_integral_v<V>) {
        low = all ? all[from] : from;
      } else {
        low = all[from].low, high = all[from].high;
      }
    });
  }
  __device__ void store(const Values& values, std::size_t to) const {
    values.visit([&]<class V>(const V*, V* moved) {
      if constexpr (std::is_integral_v<V>)
        moved[to] = static_cast<V>(low);
      else
        moved[to] = V{low, high};
    });
  }
};

}  // namespace upsweep::ladders::partition
