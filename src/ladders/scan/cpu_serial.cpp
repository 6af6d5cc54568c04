// scan/serial: the definition, as a loop from left to right.
#include "ladders/scan/binding.h"

namespace upsweep::ladders::scan {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{.idea = "one loop, one running total",
                               .prediction = "bound by the latency of one operation per element",
                               .guarantees = "left to right",
                               .limits = "any n",
                               .source = "std::exclusive_scan"};
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    Computed<Out> prefix = a.initial.value;
    for (std::size_t i = 0; i < a.n; ++i) {
      const Computed<Out> next = a.op(prefix, static_cast<Computed<Out>>(a.in[i]));
      a.out[i] = a.inclusive ? Out(next) : i > 0 ? Out(prefix) : a.initial.alone();
      prefix = next;
    }
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::scan
