// Chooses the rung of histogram for a call.
#pragma once
#include "base/choice.h"
#include "base/threshold.h"
#include "ladders/histogram/binding.h"
#include "ladders/histogram/limits.h"

namespace upsweep::ladders::histogram {

// From this many bytes of samples on, checks for full counters pay, which cost a block about 4 us. On an H200, without
// and with them, 2^24 u32 samples in 256 u8 counters take 17.0 and 11.6 us if they fill all, 17.0 and 20.5 if not.
inline constinit Threshold least_until_full{"least_until_full", 64 << 20, 4 << 10};
// The least number of samples for that, in what the counters can hold. Evenly spread samples that could fill 256 u16
// counters four times take 60.4 us without checks and 56.0 with them, twice 31.3 and 37.7.
inline constinit Threshold least_fills{"least_fills", 4, 0};
// The blocks of a slice of the counters read all samples. Below this many slices, that is always the fastest: 2^28 u32
// samples take 487 us with the 3 slices of 2^17 bins.
inline constinit Threshold least_slices_partitioned{"least_slices_partitioned", 4, 4};
// Up to this many slices, they are faster than sending every addition to L2, from least_sliced samples on, and as fast
// as sorting the samples first at four times least_partitioned. In slices, in L2 and sorted, 2^18 bins (5 slices) take
// 24.0, 25.2 and 34.8 us for 2^21 f32 samples, 33.6, 46.4 and 44.9 for 2^22, 84.6, 174 and 85.1 for 2^24; 2^19 bins (10
// slices) 33.3, 26.5 and 36.5, 51.1, 47.9 and 43.5, 151, 174 and 89.0.
inline constinit Threshold most_slices{"most_slices", 5, 5};
inline constinit Threshold least_sliced{"least_sliced", 1 << 21, 1 << 11};
inline constinit Threshold least_partitioned{"least_partitioned", 1 << 22, 1 << 10};
// On a GPU that cannot sort them, 2^28 samples in 19 slices take as long as in L2, which they read at about 1.3 times
// the memory's speed.
inline constexpr std::size_t most_slices_unsorted = 19;
inline Threshold* const thresholds[] = {&least_until_full, &least_fills,  &least_slices_partitioned,
                                        &most_slices,      &least_sliced, &least_partitioned};

template <class T, class O>
Choice choose(const Args<T, O>& a, const Machine& machine) {
  const Samples<T>& samples = a.in.samples;
  if (O::operation == Binning::edges && sizeof(T) == 4 && GuideShape(a.in.bins.count).fits(samples.channels, machine))
    return {"guided", "a guide table leads each sample to its edges"};
  const std::size_t n = samples.count, counters = a.in.counters(), slices = slices_of(counters, machine);
  const bool look = n * sizeof(T) >= least_until_full && may_end_early(a) &&
                    n / (counters * ((std::size_t{1} << a.out.bits) - 1)) >= least_fills;
  if (sizeof(T) == 1 && !look) return {"values", "counting the values of bytes is faster than finding bins"};
  if (look && slices == 1) return {"until_full", "all counters may be full before the end"};
  if (slices == 1) return {"word_columns", "the counters fit in a block's shared memory"};
  const bool sorts = counters <= most_partitioned && machine.meets(partitioned_needs);
  if (sorts && slices >= least_slices_partitioned && (slices <= most_slices ? n / 4 : n) >= least_partitioned)
    return {"partitioned", "slices would read the samples too often"};
  if (slices < least_slices_partitioned || (slices <= most_slices && n >= least_sliced) ||
      (!sorts && slices <= most_slices_unsorted))
    return {"slices", "the counters fit in the shared memory of several blocks"};
  return {"aggregated", "more counters than the shared memory of a few blocks holds"};
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
