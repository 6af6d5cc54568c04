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

namespace upsweep::ladders::select {

extern const Rung cpu_simd_rung, cpu_two_pass_rung, cpu_single_pass_rung;

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{.idea = "one core, two_pass or single_pass, by size",
                               .prediction = "ties the best of them at every size",
                               .limits = "any n; params: threads",
                               .source = "docs/notes/select-cpu.md"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    static const RunFn one = find<T, O>(cpu_simd_rung), two_pass = find<T, O>(cpu_two_pass_rung),
                       single_pass = find<T, O>(cpu_single_pass_rung);
    const std::size_t bytes = a.in.n * sizeof(T);
    const RunFn run = one_core(bytes) ? one : single_pass && beyond_cache(bytes) ? single_pass : two_pass;
    return run(
        {.type = type_of<T>(),
         .op = O::op,
         .n = a.in.n,
         .in = {a.in.values, a.in.flags},
         .out = {O::op == Op::find_repeats ? a.out.positions.array : a.out.values, a.out.count, a.out.positions.array},
         .params = a.params,
         .workspace = a.workspace,
         .stream = a.stream});
  }

 private:
  template <class T, class O>
  static RunFn find(const Rung& rung) {
    return rung.find(type_of<T>(), O::op);
  }
  static bool beyond_cache(std::size_t bytes) {
    static const std::size_t cache = last_level_cache_bytes();
    return bytes > cache;
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::select
