// select/two_pass: all cores first count the selected elements per part, so that every part knows its output offset.
//
// Idea      pass 1 counts, a scan of the parts' counts gives their offsets, pass 2 selects. Counting needs no stores
//           and takes about half the time of selecting.
// Traffic   2 n read, the selected elements written; in cache, the core that counted a part also selects from it.
//           Values of large inputs are written with non-temporal stores.
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

  static Status run(const Call& c) {
    const PartLoops loops = loops_for(c);
    const int threads = threads_of(c.tuning);
    const std::size_t n = c.n(), element = size_of(c.type());
    const Parts parts = cut(n, element, threads);
    const auto begin = [&](int p) { return std::min(static_cast<std::size_t>(p) * parts.size, n); };
    const Stores stores = stores_for(2 * n * element);
    Found found[Parts::most], all;
    upsweep::parallel(parts.count, threads, [&](int p) { found[p] = loops.count(c, begin(p), begin(p + 1)); });
    for (int p = 0; p < parts.count; ++p) all = all + std::exchange(found[p], all);
    upsweep::parallel(parts.count, threads,
                      [&](int p) { loops.select(c, begin(p), begin(p + 1), found[p], all.count, stores); });
    finish(c, all);
    return {};
  }
};

}  // namespace

extern const Rung cpu_two_pass_rung = make_rung<Binding, two_pass>("two_pass", Backend::cpu);

}  // namespace upsweep::ladders::select
