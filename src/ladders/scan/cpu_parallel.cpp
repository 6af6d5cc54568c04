// scan/parallel: the fastest of the other rungs for the size of the arrays.
//
// Idea      one core if waking the others costs more than it gains; two_pass if the arrays fit in cache, because each
//           core then finds its blocks in its L2 again; single_pass from memory, where such reuse gains nothing and
//           joins cost time.
// Traffic   n read, n written.
// Order     that of the rung chosen.
// Source    the measurements in docs/notes/scan-cpu.md.
#include "cpu/parallel.h"
#include "ladders/scan/binding.h"
#include "ladders/scan/cpu_wider.h"

namespace upsweep::ladders::scan {

extern const Rung cpu_two_pass_rung, cpu_single_pass_rung;

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{
      .idea = "one core, two_pass or single_pass, by size",
      .prediction = "ties with the best of them in cache, and where one core cannot saturate memory",
      .guarantees = "the order depends on the number of cores, the vector width and the alignment",
      .limits = "any n; in place; params: threads",
      .source = "docs/notes/scan-cpu.md"};
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    static const SpanScan scan = scan_to<T, Op, Out>();
    if (!one_core(a.n * sizeof(Out))) return on_all_cores(a, stores_for(a.n * (sizeof(T) + sizeof(Out))));
    Computed<Out> carry = a.initial.value;
    scan(a.in, a.out, a.n, &carry, {a.inclusive, Stores::cached});
    store_empty_prefix(a);
    return {};
  }

 private:
  template <class T, class Op, class Out>
  [[gnu::noinline]] static Status on_all_cores(const Args<T, Op, Out>& a, Stores stores) {
    const Rung& rung = stores == Stores::around ? cpu_single_pass_rung : cpu_two_pass_rung;
    return rung.find(type_of<T>(),
                     Op::operation)({.operation = Op::operation,
                                     .in = {input_array(type_of<T>(), a.n, a.in)},
                                     .out = {Array{type_of<Out>(), a.n, a.out}},
                                     .scalars = {a.inclusive, a.initial.given ? Scalar(a.initial.value) : Scalar()},
                                     .tuning = a.tuning,
                                     .workspace = a.workspace,
                                     .stream = a.stream});
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::scan
