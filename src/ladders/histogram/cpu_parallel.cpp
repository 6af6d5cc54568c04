// histogram/parallel: simd on all cores, each with private tables.
#include "cpu/each.h"
#include "ladders/histogram/binding.h"
#include "ladders/histogram/cpu_cores.h"

namespace upsweep::ladders::histogram {

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{
      .idea = "simd on every core, with private tables; all stop once one core has filled every counter",
      .prediction = "simd times the number of cores, up to memory bandwidth",
      .guarantees = "counts are exact; u8 and u16 stop at their largest value",
      .limits = "any n, any counter; params: threads",
      .source = "Shun, Blelloch, et al., Brief Announcement: the Problem Based Benchmark Suite, 2012"};
  static constexpr bool takes_scratch = true;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return count_on_cores(a, threads_of(a.tuning));
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::histogram
