// select/two_pass: all cores; selected elements are counted per part first, so every part knows where to write.
//
// Idea      pass 1 counts, a scan of the parts' counts gives their offsets, pass 2 selects. Counting stores nothing and
//           takes about half the time of selecting.
// Traffic   2 n read, the selected elements written; in cache, pass 2 finds a part on the core that counted it. Values
//           of large inputs are written with non-temporal stores.
// Order     the input's.
// Source    Blelloch, Prefix Sums and Their Applications, 1990 (pack).
#include <algorithm>
#include <utility>

#include "cpu/parallel.h"
#include "ladders/select/binding.h"
#include "ladders/select/cpu_simd.h"

namespace upsweep::ladders::select {

namespace {  // a rung of the same name may exist on the GPU

struct two_pass {
  static constexpr Story story{.idea = "count every part, scan the counts, then select every part at its offset",
                               .prediction = "two thirds of simd's time on two cores in cache; slower from memory",
                               .limits = "any n; params: threads",
                               .source = "Blelloch, Prefix Sums and Their Applications, 1990"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const PartLoops& loops = loops_for<T, O>();
    const int threads = threads_of(a.tuning);
    const Parts parts = cut(a.in.n, sizeof(T), threads);
    const auto begin = [&](int p) { return std::min(static_cast<std::size_t>(p) * parts.size, a.in.n); };
    const Stores stores = stores_for(2 * a.in.n * sizeof(T));
    Found found[Parts::most], all;
    upsweep::parallel(parts.count, threads, [&](int p) { found[p] = loops.count(&a, begin(p), begin(p + 1)); });
    for (int p = 0; p < parts.count; ++p) all = all + std::exchange(found[p], all);
    upsweep::parallel(parts.count, threads,
                      [&](int p) { loops.select(&a, begin(p), begin(p + 1), found[p], all.count, stores); });
    if constexpr (writes_lengths<O>) finish_runs(a, all);
    *a.out.count = all.count;
    return {};
  }
};

}  // namespace

extern const Rung cpu_two_pass_rung = make_rung<Binding, two_pass>("two_pass", Backend::cpu);

}  // namespace upsweep::ladders::select
