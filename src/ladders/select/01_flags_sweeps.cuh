// select/flags_sweeps: compute flags, scan them by sweeps over global memory, scatter.
//
// The exclusive scan of the flags gives every selected element its position in the output. Each of the three steps is
// as simple as possible; the scan is scan/global_sweeps, one launch per level.
//
// Traffic   two reads of the input; per element, a flag word written and scanned (the sectors of 23 arrays) and a rank
//           word read; the selected elements written, at least one sector per warp that selects any.
// Order     preserved.
// Source    Blelloch, Prefix Sums and Their Applications, 1990, section 1.4.
#pragma once
#include "ladders/scan/02_global_sweeps.cuh"
#include "ladders/select/flags.cuh"

namespace upsweep::ladders::select {

struct flags_sweeps {
  static constexpr Story story{.idea = "flags, scanned by sweeps over global memory, then a scatter",
                               .prediction = "the scan takes nearly all of the time: 2 log2(n) launches",
                               .limits = "n below 2^32; 8 to 16 bytes of scratch per element",
                               .source = "Blelloch 1990"};
  static constexpr std::size_t largest = largest_narrow;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return flags_scan_scatter<scan::global_sweeps>(a);
  }
};

}  // namespace upsweep::ladders::select
