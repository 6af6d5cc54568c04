// sort/onesweep_8bit: digits of eight bits, all counted in one read; each pass finds its offsets by look-back.
//
// lsd_4bit reads the keys twice and takes five launches per digit, to count, scan and move. The digit counts do not
// depend on the order of the keys, so one kernel counts all digits first. In a pass, a tile learns by look-back how
// many keys of each bucket precede the tile, while earlier tiles are still in flight.
//
// Traffic   keys read once, then read and written once per digit of eight bits; values read and written once per digit;
//           4 bytes per tile and bucket, written twice and read.
// Order     stable.
// Source    Adinets, Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
#pragma once
#include "ladders/sort/ballot_passes.cuh"
#include "ladders/sort/choose.h"

namespace upsweep::ladders::sort {

struct onesweep_8bit {
  static constexpr Needs needs{{}, sizeof(SmallSweepTile)};  // for 64-bit keys; others need less
  static constexpr Story story{
      .idea = "all digits counted in one read; one kernel per digit, whose tiles find their offsets by look-back",
      .prediction = "36 bytes per u32 key instead of lsd_4bit's 96, and 7 launches instead of 40: twice as fast",
      .guarantees = "stable",
      .limits = "any n; block size fixed",
      .source = "Adinets, Merrill, Onesweep, 2022"};
  static constexpr Coverage coverage = Coverage::widths;
  static constexpr Threshold* thresholds[] = {&portion_keys, &max_in_small_sweep};
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return ballot_passes<OrderOf<T>>(a);
  }
};

// Also used by hybrid.
template Status ballot_passes(const KeyArgs<KeyOrder<std::uint32_t>>&, const BucketSort<KeyOrder<std::uint32_t>>*);
#if !defined(UPSWEEP_GPU_ONE_TYPE)
template Status ballot_passes(const KeyArgs<KeyOrder<std::uint8_t>>&, const BucketSort<KeyOrder<std::uint8_t>>*);
template Status ballot_passes(const KeyArgs<KeyOrder<std::uint16_t>>&, const BucketSort<KeyOrder<std::uint16_t>>*);
template Status ballot_passes(const KeyArgs<KeyOrder<std::uint64_t>>&, const BucketSort<KeyOrder<std::uint64_t>>*);
template Status ballot_passes(const KeyArgs<FloatKeyOrder<std::uint16_t>>&,
                              const BucketSort<FloatKeyOrder<std::uint16_t>>*);
template Status ballot_passes(const KeyArgs<FloatKeyOrder<std::uint32_t>>&,
                              const BucketSort<FloatKeyOrder<std::uint32_t>>*);
template Status ballot_passes(const KeyArgs<FloatKeyOrder<std::uint64_t>>&,
                              const BucketSort<FloatKeyOrder<std::uint64_t>>*);
#endif

}  // namespace upsweep::ladders::sort
