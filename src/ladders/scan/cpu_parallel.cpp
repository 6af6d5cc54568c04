// scan/parallel: the fastest of the other rungs for the size of the arrays.
//
// Idea      one core where waking the others costs more than it gains; two_pass where the arrays fit a cache, because
//           its cores meet the same blocks again; single_pass from memory, where that gains nothing and joins cost
//           time.
// Traffic   n read, n written.
// Order     that of the rung.
// Source    the measurements in docs/notes/scan-cpu.md.
#include "cpu/parallel.h"
#include "ladders/scan/binding.h"
#include "ladders/scan/cpu_simd.h"

namespace upsweep::ladders::scan {

extern const Rung cpu_two_pass_rung, cpu_single_pass_rung;

namespace {  // a rung of the same name may exist on the GPU

struct parallel {
  static constexpr Story story{
      .idea = "one core, two_pass or single_pass, by size",
      .prediction = "ties the best of them in cache, and where one core cannot saturate memory",
      .guarantees = "an order that depends on the number of cores, the vector width and the alignment",
      .limits = "any n; in place; params: threads",
      .source = "docs/notes/scan-cpu.md"};

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    static const SpanScan scan = simd_scan(type_of<T>(), Op::operation);
    const std::size_t bytes = a.n * sizeof(T);
    if (!one_core(bytes)) return on_all_cores(a, stores_for(2 * bytes));
    T carry = Op::template neutral<T>();
    scan(a.in, a.out, a.n, &carry, {a.inclusive, Stores::cached});
    store_empty_prefix(a);
    return {};
  }

 private:
  template <class T, class Op>
  [[gnu::noinline]] static Status on_all_cores(const Args<T, Op>& a, Stores stores) {
    const Rung& rung = stores == Stores::around ? cpu_single_pass_rung : cpu_two_pass_rung;
    return rung.find(type_of<T>(), Op::operation)({.operation = Op::operation,
                                            .in = {input_array(type_of<T>(), a.n, a.in)},
                                            .out = {Array{type_of<T>(), a.n, a.out}},
                                            .scalars = {a.inclusive},
                                            .tuning = a.tuning,
                                            .workspace = a.workspace,
                                            .stream = a.stream});
  }
};

}  // namespace

extern const Rung cpu_parallel_rung = make_rung<Binding, parallel>("parallel", Backend::cpu);

}  // namespace upsweep::ladders::scan
