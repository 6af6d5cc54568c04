// select/flags_recursive: the three steps of flags_sweeps, with tiles scanned in shared memory.
//
// Traffic   as flags_sweeps, but the scan touches only the sectors of 4 arrays.
// Order     preserved.
// Source    Harris, Sengupta, Owens, GPU Gems 3, chapter 39.3.1, 2007.
#pragma once
#include "ladders/scan/07_recursive.cuh"
#include "ladders/select/flags.cuh"

namespace upsweep::ladders::select {

struct flags_recursive {
  static constexpr Story story{.idea = "the same steps; tiles are scanned, then their totals in turn",
                               .prediction = "3x flags_sweeps: the scan's share shrinks to a third of the time",
                               .limits = "n below 2^32; 4 bytes of scratch per element, 8 for run_length_encode",
                               .source = "GPU Gems 3, chapter 39.3.1, 2007"};
  static constexpr std::size_t largest = largest_narrow;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return flags_scan_scatter<scan::recursive>(a);
  }
};

}  // namespace upsweep::ladders::select
