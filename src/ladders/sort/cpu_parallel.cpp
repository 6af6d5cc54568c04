// sort/parallel: msd on all cores.
//
// Idea      each core counts and moves chunks of the keys, as in partition; then the cores take buckets one by one and
//           sort each in their caches. A small input takes one core or all, whichever was faster in recent calls.
// Traffic   as msd.
// Order     stable.
// Source    Wassenberg, Sanders, Engineering a Multi-core Radix Sort, 2011.
#include "cpu/one_or_all.h"
#include "cpu/parallel.h"
#include "ladders/sort/binding.h"
#include "ladders/sort/cpu_cores.h"
#include "ladders/sort/cpu_merged.h"

namespace upsweep::ladders::sort {

namespace {  // a rung of the same name may exist on the GPU

// Minimum keys for which two Zen 5 cores are faster than one even if the latency between the cores is high. With fewer,
// it depends on the machine's state (cpu/one_or_all.h): 2^16 keys took 150 us on one core, and 230 or 330 us on both.
constexpr std::size_t surely_for_cores = std::size_t{1} << 19;

struct parallel {
  static constexpr Story story{
      .idea = "all cores partition by the highest bits; then each sorts one bucket after another in its cache",
      .prediction = "msd times the number of cores, up to memory bandwidth",
      .guarantees = "stable",
      .limits = "any n; scratch for a copy of the keys, two with values; params: threads",
      .source = "Wassenberg, Sanders, Engineering a Multi-core Radix Sort, 2011"};
  static constexpr bool takes_scratch = true;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const int threads = threads_of(a.tuning);
    return sort_by_numbers(a, threads, [&](const Caller& caller) {
      const Limits limits = limits_for(caller);
      const auto sort_on = [&](int some) { return sort_on_cores(caller, a.n, a.first_bit, a.bits, some, limits, a); };
      if (threads == 1 || a.tuning.threads || a.n <= limits.alone || a.n >= surely_for_cores) return sort_on(threads);
      if (a.stream.dry) {  // the real call may take either path
        if (const Status status = sort_on(threads); !status) return status;
        return sort_on(1);
      }
      static AlikeCalls<surely_for_cores, sizeof(T), sizeof(multisplit::Wide)> alike("sort", "keys", "bytes to sort by",
                                                                                     "bytes of a value");
      OneOrAll& way = alike(a.n, (a.bits + 7) / 8, caller.value_bytes);
      return way.call([&](bool all) { return sort_on(all ? threads : 1); });
    });
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::sort
