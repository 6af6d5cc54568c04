// select/parallel: the fastest of the other rungs for the size of the input.
//
// Idea      one core if waking the others costs more than it gains; otherwise single_pass, whose second read of a block
//           hits L2. partition_if must count everything first, so it takes two_pass.
// Traffic   that of the rung chosen.
// Order     the input's.
// Source    the measurements in docs/notes/select-cpu.md.
#include "ladders/select/binding.h"
#include "ladders/select/cpu_simd.h"

namespace upsweep::ladders::select {

extern const Rung cpu_two_pass_rung, cpu_single_pass_rung;

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{.idea = "one core, two_pass or single_pass, by size",
                               .prediction = "ties with the best of them at every size",
                               .limits = "any n; params: threads",
                               .source = "docs/notes/select-cpu.md"};

  static Status run(const Call& c) {
    // Maximum bytes of input for one core. One core against two, i32: at 256 KiB, one is 5 to 40 % faster, in cache and
    // from memory; at 512 KiB, results are mixed.
    constexpr std::size_t most_for_one = 256 << 10;
    if (c.in[0].bytes() > most_for_one) {
      const Rung& rung = traits(c.operation.as<Selection>()).rest ? cpu_two_pass_rung : cpu_single_pass_rung;
      return rung.find(c.type(), c.operation)(c);
    }
    select_on_one_core(c);
    return {};
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::select
