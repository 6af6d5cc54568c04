// scan/serial: one loop, left to right: the definition.
#include "ladders/scan/binding.h"

namespace upsweep::ladders::scan {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{.idea = "one loop, one running total",
                               .prediction = "bound by the latency of one operation per element",
                               .guarantees = "left to right",
                               .limits = "any n",
                               .source = "std::exclusive_scan"};

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    T prefix = Op::template neutral<T>();
    for (std::size_t i = 0; i < a.n; ++i) {
      const T next = a.op(prefix, a.in[i]);
      a.out[i] = a.inclusive ? next : i > 0 ? prefix : value_of_none<Op, T>();
      prefix = next;
    }
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::scan
