// Chooses the rung of histogram for a call.
#pragma once
#include "base/choice.h"
#include "base/threshold.h"
#include "ladders/histogram/binding.h"
#include "ladders/histogram/limits.h"

namespace upsweep::ladders::histogram {

// From this many bytes of samples on, checks for full counters pay. A check costs a block about 4 us, more than it can
// save if everything is read in 20 us.
inline constinit Threshold least_until_full{"least_until_full", 128 << 20, 4 << 10};
// From this many samples and slices of the counters on, sorting samples first pays. On an H200, 2^28 u32 samples take
// 487 us with the 3 slices of 2^17 bins, 811 us with the 5 of 2^18 and 3175 us with the 19 of 2^20; partitioned, 2^20
// bins take 808 us.
inline constinit Threshold least_partitioned{"least_partitioned", 1 << 22, 1 << 10};
inline constinit Threshold least_slices_partitioned{"least_slices_partitioned", 5, 5};
// Every slice reads all samples, from L2 at about 1.3 times the memory's speed. This many slices, those of 2^20 bins on
// an H200, take as long as sending every addition to L2.
inline constinit Threshold most_slices{"most_slices", 19, 19};
inline Threshold* const thresholds[] = {&least_until_full, &least_partitioned, &least_slices_partitioned, &most_slices};

template <class T, class O>
Choice choose(const Args<T, O>& a, const Machine& machine) {
  const Samples<T>& samples = a.in.samples;
  if (O::operation == Binning::edges && sizeof(T) == 4 && GuideShape(a.in.bins.count).fits(samples.channels, machine))
    return {"guided", "a guide table leads each sample to its edges"};
  const bool look = samples.count * sizeof(T) >= least_until_full && may_end_early(a);
  if (sizeof(T) == 1 && !look) return {"values", "counting the values of bytes is faster than finding bins"};
  const std::size_t counters = a.in.counters(), slices = slices_of(counters, machine);
  if (look && slices == 1) return {"until_full", "all counters may be full before the end"};
  if (slices >= least_slices_partitioned && samples.count >= least_partitioned && counters <= most_partitioned &&
      machine.meets(partitioned_needs))
    return {"partitioned", "slices would read the samples too often"};
  if (slices == 1) return {"word_columns", "the counters fit in a block's shared memory"};
  if (slices <= most_slices) return {"slices", "the counters fit in the shared memory of several blocks"};
  return {"aggregated", "more counters than a GPU's shared memory holds"};
}

inline Choice choose(const Call& c, const Machine& machine) {
  if (!machine.is_gpu()) return {"parallel", "all cores"};
  return visit(c.type(), [&]<class T>(TypeTag<T>) {
    return Binding::visit(c.operation, [&]<class O>(O) -> Choice {
      if constexpr (Binding::takes<T, O>)
        return choose(Binding::args<T, O>(c), machine);
      else
        return {};
    });
  });
}

}  // namespace upsweep::ladders::histogram
