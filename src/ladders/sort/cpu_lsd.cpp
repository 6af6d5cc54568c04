// sort/lsd: one core; a pass of partition for each byte, from the lowest, over elements that hold numbers.
//
// Idea      keys become unsigned numbers of the same order when they are read, and keys again when they are written:
// the
//           passes in between know nothing of types, signs or descending order. They are partition's, in blocks in L2,
//           of which the lines are stored whole, around the caches if need be.
// Traffic   elements read twice and written once for each byte of the key in which they differ, and once more at both
//           ends.
// Order     the input's, of equal keys.
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
  static constexpr Story story{.idea = "keys as unsigned numbers; a byte at a time, by partition's blocks",
                               .prediction = "3 ns per key and byte become 1: three times serial beyond the caches",
                               .guarantees = "stable",
                               .limits = "any n; one core; scratch for two copies",
                               .source = "Satish et al., Fast Sort on CPUs and GPUs, 2010"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.n == 0) return {};
    return sort_by_numbers(a, /*threads=*/1, [&](const Caller& caller) {
      return in_passes(caller, a.n, a.first_bit, a.bits, *a.workspace);
    });
  }

 private:
  static Status in_passes(const Caller& caller, std::size_t n, unsigned first_bit, unsigned bits,
                          Workspace& workspace) {
    const Loops& loops = *caller.loops;
    const Form form = form_of(caller.key_bytes, caller.value_bytes);
    const std::size_t words = partition::in_lines((n * form.word_bytes + 3) / 4) * 4;
    const std::size_t values = partition::in_lines((n * form.value_bytes + 3) / 4) * 4;
    auto* const memory = static_cast<std::byte*>(workspace.scratch_of_caller(2 * (words + values)));
    if (!memory) return no_memory;
    Elements from{memory, memory + words}, to{memory + words + values, memory + 2 * words + values};
    loops.read(caller, 0, n, from);
    const std::uint64_t differ = loops.differ(from, n);
    const unsigned low = first_bit + form.number_bit, high = low + bits;
    for (unsigned bit = low; bit < high; bit += 8) {
      const unsigned buckets = 1u << std::min(high - bit, 8u);
      if (!(differ >> bit & (buckets - 1))) continue;
      const partition::Part all{from.words, from.values, to.words, to.values, bit, buckets, nullptr, nullptr, 0, n};
      const auto plan = partition::plan_for(n, buckets, form.word_bytes, form.value_bytes, /*threads=*/1);
      partition::Steps steps(all, form.word_bytes, form.value_bytes, loops.partition, plan);
      auto* const scratch = static_cast<std::byte*>(workspace.scratch(steps.scratch_bytes()));
      if (!scratch) return no_memory;
      steps.run(
          scratch, [](std::size_t, std::size_t) {}, [](unsigned, std::uint64_t) {});
      std::swap(from, to);
    }
    loops.write(caller, 0, n, from);
    return {};
  }
};

}  // namespace

extern const Rung cpu_lsd_rung = make_rung<Binding, lsd>("lsd", Backend::cpu);

}  // namespace upsweep::ladders::sort
