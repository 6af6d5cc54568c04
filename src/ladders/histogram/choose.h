// Which rung of histogram a call gets.
#pragma once
#include "base/choice.h"
#include "base/threshold.h"
#include "ladders/histogram/binding.h"
#include "ladders/histogram/limits.h"

namespace upsweep::ladders::histogram {

// Bytes of samples from which it pays to look for the moment when every counter is full. A look costs a block about 4
// us: more than it can save where all is read in 20 us.
inline constinit Threshold least_until_full{"least_until_full", 128 << 20, 4 << 10};
// Samples, and slices of the counters, from which it pays to sort samples first. On an H200, 2^28 u32 samples take 487
// us in the 3 slices of 2^17 bins, 811 in the 5 of 2^18 and 3175 in the 19 of 2^20; partitioned by 2^20 bins, 808.
inline constinit Threshold least_partitioned{"least_partitioned", 1 << 22, 1 << 10};
inline constinit Threshold least_slices_partitioned{"least_slices_partitioned", 5, 5};
// Every slice reads all samples, from L2 at about 1.3 times the memory's speed: so many slices, those of 2^20 bins on
// an H200, take as long as sending every addition to L2.
inline constinit Threshold most_slices{"most_slices", 19, 19};
inline Threshold* const thresholds[] = {&least_until_full, &least_partitioned, &least_slices_partitioned, &most_slices};

template <class T, class O>
Choice choose(const Args<T, O>& a, const Machine& machine) {
  const Samples<T>& samples = a.in.samples;
  if (O::operation == Binning::edges && sizeof(T) == 4 && GuideShape(a.in.bins.count).fits(samples.channels, machine))
    return {"guided", "a table leads a sample to its edges"};
  const bool look = samples.count * sizeof(T) >= least_until_full && may_end_early(a);
  if (sizeof(T) == 1 && !look) return {"values", "a byte has fewer values than there is time to find bins"};
  const std::size_t counters = a.in.counters(), slices = slices_of(counters, machine);
  if (look && slices == 1) return {"until_full", "counters that may all be full before the end"};
  if (slices >= least_slices_partitioned && samples.count >= least_partitioned && counters <= most_partitioned &&
      machine.meets(partitioned_needs))
    return {"partitioned", "slices would read the samples too often"};
  if (slices == 1) return {"word_columns", "the counters fit in a block's shared memory"};
  if (slices <= most_slices) return {"slices", "the counters fit in the shared memory of some blocks"};
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
