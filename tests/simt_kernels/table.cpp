#include <vector>

#include "test_kernel.h"

namespace upsweep {

Rungs kernel_rungs() {
  static const std::vector<const Rung*> all = [] {
    std::vector<const Rung*> rungs;
    for (Rungs part :
         {test::textbook_kernels(), test::mistake_kernels(), test::own_operator_kernels(), test::own_function_kernels(),
          test::own_predicate_kernels(), test::own_bucket_kernels(), test::ordered_scan_kernels(),
          test::column_end_kernels(), test::warp_reduction_kernels(), test::wide_select_kernels()})
      rungs.insert(rungs.end(), part.begin(), part.end());
    return rungs;
  }();
  return all;
}

}  // namespace upsweep
