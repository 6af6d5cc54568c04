// select/parallel: whichever of the others is the fastest for how much there is to select from.
//
// Idea      one core where waking the others costs more than they give; then two_pass while the input fits a cache,
//           because its cores meet the same parts again; single_pass from memory, where a second look would be a second
//           read. partition_if has to look twice anyway.
// Traffic   that of the rung.
// Order     the input's.
// Source    the measurements in docs/notes/select-cpu.md.
#include "base/cache.h"
#include "base/parallel.h"
#include "select/contract.h"
#include "select/cpu_simd.h"

namespace upsweep::ladders::select {

extern const Rung cpu_two_pass_rung, cpu_single_pass_rung;

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{.idea = "one core, two_pass or single_pass, by size",
                               .prediction = "ties the best of them at every size",
                               .limits = "any n; params: threads",
                               .source = "docs/notes/select-cpu.md"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    const std::size_t bytes = a.in.n * sizeof(T);
    if (!one_core(bytes)) return on_all_cores(a, bytes);
    select_on_one_core(a);
    return {};
  }

 private:
  template <class T, class O>
  [[gnu::noinline]] static Status on_all_cores(const Args<T, O>& a, std::size_t bytes) {
    static const std::size_t cache = last_level_cache_bytes();
    const bool looks_twice = O::op == Op::partition_if || bytes <= cache;
    const Rung& rung = looks_twice ? cpu_two_pass_rung : cpu_single_pass_rung;
    void* const positions = a.out.positions.array;
    return rung.find(type_of<T>(), O::op)({.type = type_of<T>(),
                                           .op = O::op,
                                           .n = a.in.n,
                                           .in = {a.in.values, a.in.flags},
                                           .out = {a.out.values ? a.out.values : positions, a.out.count, positions},
                                           .params = a.params,
                                           .workspace = a.workspace,
                                           .stream = a.stream});
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::select
