// sort/msd: one core; one pass over memory by the highest bits, then each bucket is sorted in the cache.
//
// Idea      a pass is expensive because its elements come from memory and return there, so there is only one pass, into
//           enough buckets that each fits in L2, where the passes of an LSD sort are cheap. There, log2 n + 6 bits
//           decide the order of n random keys; insertion sort fixes the few keys that agree in these bits.
// Traffic   keys read three times and written twice, values read and written twice.
// Order     stable.
// Source    Polychroniou, Ross, A Comprehensive Study of Main-Memory Partitioning, 2014.
#include "ladders/sort/binding.h"
#include "ladders/sort/cpu_cores.h"
#include "ladders/sort/cpu_merged.h"

namespace upsweep::ladders::sort {

namespace {  // a rung of the same name may exist on the GPU

struct msd {
  static constexpr Story story{
      .idea = "one pass by the highest bits, into buckets that fit in L2, where an LSD sort follows",
      .prediction = "one pass over memory instead of lsd's four: twice lsd beyond the caches, more with 8-byte keys",
      .guarantees = "stable",
      .limits = "any n; one core; scratch for a copy of the keys, two with values",
      .source = "Polychroniou, Ross, A Comprehensive Study of Main-Memory Partitioning, 2014"};
  static constexpr bool takes_scratch = true;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return sort_by_numbers(a, /*threads=*/1, [&](const Caller& caller) {
      return sort_on_cores(caller, a.n, a.first_bit, a.bits, /*threads=*/1, limits_for(caller), a);
    });
  }
};

}  // namespace

extern const Rung cpu_msd_rung = make_rung<Binding, msd>("msd", Backend::cpu);

}  // namespace upsweep::ladders::sort
