// The scan ladder with an operator that does not commute: a rung that swaps operands anywhere gives another result.
#include <vector>

#include "affine.h"
#include "scan/01_block.cuh"
#include "scan/02_global_sweeps.cuh"
#include "scan/03_merge_loop.cuh"
#include "scan/04_merge_totals.cuh"
#include "scan/05_padded.cuh"
#include "scan/06_host_totals.cuh"
#include "scan/07_recursive.cuh"
#include "scan/08_hillis_steele.cuh"
#include "scan/09_warp_shuffle.cuh"
#include "scan/10_reduce_then_scan.cuh"
#include "scan/11_lookback.cuh"
#include "scan/12_wave.cuh"
#include "scan/13_pipeline.cuh"
#include "test_kernel.h"
#include "upsweep/scan.cuh"  // what a caller's operator goes through; it needs the library, which is not linked here

namespace upsweep::test {
namespace {

using namespace ladders;

static_assert(DeviceScanElement<Affine> && DeviceOperator<Compose, Affine>);
static_assert(scan::commutes<Sum> && !scan::commutes<Compose>);

template <class R>
Status run_ordered(const Call& c) {
  return R::template run<Affine, Compose>({in<Affine>(c), out<Affine>(c), c.n, c.params.get("inclusive", 0) != 0,
                                           Compose{}, c.params, c.workspace, c.stream});
}
template <class R>
constexpr Rung ordered(std::string_view name) {
  return make_rung<run_ordered<R>>(name);
}

constexpr Rung rungs[] = {ordered<scan::block>("scan/block"),
                          ordered<scan::global_sweeps>("scan/global_sweeps"),
                          ordered<scan::merge_loop>("scan/merge_loop"),
                          ordered<scan::merge_totals>("scan/merge_totals"),
                          ordered<scan::padded>("scan/padded"),
                          ordered<scan::host_totals>("scan/host_totals"),
                          ordered<scan::recursive>("scan/recursive"),
                          ordered<scan::hillis_steele>("scan/hillis_steele"),
                          ordered<scan::warp_shuffle>("scan/warp_shuffle"),
                          ordered<scan::reduce_then_scan>("scan/reduce_then_scan"),
                          ordered<scan::lookback>("scan/lookback"),
                          ordered<scan::wave>("scan/wave"),
                          ordered<scan::pipeline>("scan/pipeline")};

}  // namespace

Rungs ordered_scan_kernels() {
  static const std::vector<const Rung*> all = [] {
    std::vector<const Rung*> pointers;
    for (const Rung& rung : rungs) pointers.push_back(&rung);
    return pointers;
  }();
  return all;
}

}  // namespace upsweep::test
