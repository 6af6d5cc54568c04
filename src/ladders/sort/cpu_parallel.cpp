// sort/parallel: msd on all cores.
//
// Idea      each core counts and moves chunks of the keys, as in partition; then the cores take bucket after bucket and
//           sort it in their own cache. Few keys take one core.
// Traffic   as msd.
// Order     the input's, of equal keys.
// Source    Wassenberg, Sanders, Engineering a Multi-core Radix Sort, 2011.
#include "cpu/parallel.h"
#include "ladders/sort/binding.h"
#include "ladders/sort/cpu_cores.h"

namespace upsweep::ladders::sort {

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{
      .idea = "all cores partition by the highest bits; then each sorts bucket after bucket in its cache",
      .prediction = "cores times msd, up to the memory's speed",
      .guarantees = "stable",
      .limits = "any n; scratch for a copy of the keys, two with values; params: threads",
      .source = "Wassenberg, Sanders, Engineering a Multi-core Radix Sort, 2011"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const Caller caller = caller_of(a);
    const int threads = threads_of(a.tuning);
    return sort_on_cores(caller, a.n, a.first_bit, a.bits, threads, limits_for(caller), *a.workspace);
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::sort
