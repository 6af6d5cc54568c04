// select/parallel: whichever of the other rungs is fastest for the size of the input.
//
// Idea      one core if waking the others costs more than it gains; above that single_pass, which reads every block
//           twice while it is in an L2. partition_if has to count everything first: two_pass.
// Traffic   that of the rung.
// Order     the input's.
// Source    the measurements in docs/notes/select-cpu.md.
#include "ladders/select/binding.h"
#include "ladders/select/cpu_simd.h"

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
    // Two cores, i32: at 256 KiB one core is ahead, in cache and from memory, by 5 to 40 %; at 512 KiB it depends.
    constexpr std::size_t most_for_one = 256 << 10;
    if (a.in.n * sizeof(T) > most_for_one) return on_all_cores(a);
    select_on_one_core(a);
    return {};
  }

 private:
  template <class T, class O>
  [[gnu::noinline]] static Status on_all_cores(const Args<T, O>& a) {
    const Rung& rung = writes_rest<O> ? cpu_two_pass_rung : cpu_single_pass_rung;
    const std::size_t n = a.in.n;
    const Array values{type_of<T>(), n, a.out.values}, positions{a.out.positions.wide ? Type::u64 : Type::u32, n,
                                                                a.out.positions.array};
    Call call{.operation = O::operation,
              .in = {input_array(type_of<T>(), n, a.in.values), input_array(Type::u8, n, a.in.flags)},
              .out = {writes_positions<O> ? positions : values, Array{Type::u64, 1, a.out.count}, positions},
              .tuning = a.tuning,
              .workspace = a.workspace,
              .stream = a.stream};
    if constexpr (has_predicate<O>) call.scalars[0] = a.in.predicate.limit;
    return rung.find(type_of<T>(), O::operation)(call);
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::select
