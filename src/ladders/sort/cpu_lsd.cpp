// sort/lsd: one core; a pass of partition per byte, lowest first, over elements that hold numbers.
//
// Idea      keys become unsigned numbers of the same order when they are read, and keys again when they are written, so
//           the passes in between need not know types, signs or descending order. They are partition's passes: each
//           block is partitioned in L2 and stored as whole lines, with non-temporal stores if the array is large.
// Traffic   elements read twice and written once per byte in which keys differ, plus read once and written once at each
//           end.
// Order     stable.
// Source    Satish et al., Fast Sort on CPUs and GPUs, 2010.
#include <algorithm>
#include <utility>

#include "ladders/partition/cpu_cores.h"
#include "ladders/sort/binding.h"
#include "ladders/sort/cpu_cores.h"
#include "ladders/sort/cpu_merged.h"

namespace upsweep::ladders::sort {

namespace {  // a rung of the same name may exist on the GPU

struct lsd {
  static constexpr Story story{.idea = "keys as unsigned numbers; a pass per byte, by partition's blocks",
                               .prediction = "1 ns per key and byte instead of 3: three times serial beyond the caches",
                               .guarantees = "stable",
                               .limits = "any n; one core; scratch for two copies",
                               .source = "Satish et al., Fast Sort on CPUs and GPUs, 2010"};
  static constexpr bool takes_scratch = true;

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.n == 0) return {};
    return sort_by_numbers(a, /*threads=*/1,
                           [&](const Caller& caller) { return in_passes(caller, a.n, a.first_bit, a.bits, a); });
  }

 private:
  static Status in_passes(const Caller& caller, std::size_t n, unsigned first_bit, unsigned bits,
                          const Execution& how) {
    const Loops& loops = *caller.loops;
    const Form form = form_of(caller.key_bytes, caller.value_bytes);
    Scratch scratch(*how.workspace);
    const auto take = [&](std::size_t bytes) {  // rounded up to whole cache lines
      return scratch.take<std::uint32_t>(partition::in_lines((n * bytes + 3) / 4));
    };
    Elements from{take(form.word_bytes), take(form.value_bytes)}, to{take(form.word_bytes), take(form.value_bytes)};
    if (!scratch) return no_memory;
    if (!how.stream.dry) loops.read(caller, 0, n, from);
    const std::uint64_t differ = how.stream.dry ? ~std::uint64_t{0} : loops.differ(from, n);
    const unsigned low = first_bit + form.number_bit, high = low + bits;
    for (unsigned bit = low; bit < high; bit += 8) {
      const unsigned buckets = 1u << std::min(high - bit, 8u);
      if (!(differ >> bit & (buckets - 1))) continue;
      const partition::Part all{from.words, from.values, to.words, to.values, bit, buckets, nullptr, nullptr, 0, n};
      const auto plan = partition::plan_for(n, buckets, form.word_bytes, form.value_bytes, /*threads=*/1);
      partition::Steps steps(all, form.word_bytes, form.value_bytes, loops.partition, plan);
      Scratch of_pass(*how.workspace);
      steps.take(of_pass);
      if (!of_pass) return no_memory;
      if (how.stream.dry) continue;
      steps.run([](std::size_t, std::size_t) {}, [](unsigned, std::uint64_t) {});
      std::swap(from, to);
    }
    if (!how.stream.dry) loops.write(caller, 0, n, from);
    return {};
  }
};

}  // namespace

extern const Rung cpu_lsd_rung = make_rung<Binding, lsd>("lsd", Backend::cpu);

}  // namespace upsweep::ladders::sort
