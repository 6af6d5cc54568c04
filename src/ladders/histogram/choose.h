// Chooses the rung for a call of histogram.
#pragma once
#include "base/choice.h"
#include "base/threshold.h"
#include "ladders/histogram/binding.h"
#include "ladders/histogram/limits.h"

namespace upsweep::ladders::histogram {

// Minimum bytes of samples for until_full, whose checks cost a block about 4 us. On an H200, 2^24 u32 samples in 256 u8
// counters take 17.0 us without checks; with checks, 11.6 us if all counters fill and 20.5 us if not.
inline constinit Threshold least_until_full{"least_until_full", 64 << 20, 4 << 10};
// Minimum samples for until_full, as a multiple of the samples that all counters together can hold. At 4 times, evenly
// spread samples in 256 u16 counters take 60.4 us without checks and 56.0 us with checks; at 2 times, 31.3 and 37.7 us.
inline constinit Threshold least_fills{"least_fills", 4, 0};
// Minimum slices for `aggregated` or `partitioned`. With two or three, `slices` is always the fastest, although it
// reads all samples once per slice: on an H200, 2^28 u32 samples in 2^17 bins, which are 3 slices, take 487 us.
inline constinit Threshold least_slices_partitioned{"least_slices_partitioned", 4, 4};
// The next three apply to least_slices_partitioned slices or more. Up to most_slices, `slices` takes over from
// `aggregated` at least_sliced samples, and `partitioned` from `slices` at four times least_partitioned; with more
// slices, `partitioned` takes over from `aggregated` at least_partitioned. f32 samples on an H200, us:
//
//   bins             samples   slices   aggregated   partitioned
//   2^18, 5 slices   2^21        24.0         25.2          34.8
//                    2^22        33.6         46.4          44.9
//                    2^24        84.6        174            85.1
//   2^19, 10 slices  2^21        33.3         26.5          36.5
//                    2^22        51.1         47.9          43.5
//                    2^24       151          174            89.0
inline constinit Threshold most_slices{"most_slices", 5, 5};
inline constinit Threshold least_sliced{"least_sliced", 1 << 21, 1 << 11};
inline constinit Threshold least_partitioned{"least_partitioned", 1 << 22, 1 << 10};
// Maximum slices if `partitioned` cannot take the call. 2^28 samples in 19 slices take as long as with `aggregated`,
// because L2 delivers repeated reads at about 1.3 times the memory bandwidth.
inline constexpr std::size_t most_slices_unsorted = 19;
// Minimum samples of one byte, in one channel, for `values`. With fewer, word_columns takes one launch instead of two:
// on an H200, 2^10 samples take 1.78 and 2.12 us, 2^14 take 3.06 and 3.10.
inline constinit Threshold least_values{"least_values", 16 << 10, 1 << 10};
inline Threshold* const thresholds[] = {&least_until_full, &least_fills,  &least_slices_partitioned,
                                        &most_slices,      &least_sliced, &least_partitioned,
                                        &least_values};

template <class T, class O>
Choice choose(const Args<T, O>& a, const Machine& machine) {
  const Samples<T>& samples = a.in.samples;
  if (O::operation == Binning::edges && sizeof(T) == 4 && GuideShape(a.in.bins.count).fits(samples.channels, machine))
    return {"guided", "a guide table leads each sample to its edges"};
  const std::size_t n = samples.count, counters = a.in.counters(), slices = slices_of(counters, machine);
  const bool look = n * sizeof(T) >= least_until_full && may_end_early(a) &&
                    n / (counters * ((std::size_t{1} << a.out.bits) - 1)) >= least_fills;
  if (sizeof(T) == 1 && !look && (samples.channels > 1 || n >= least_values || slices > 1))
    return {"values", "counting the values of bytes is faster than finding bins"};
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
