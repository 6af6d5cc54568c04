// reduce/serial: one thread, one accumulator, left to right: the order of std::accumulate, which other rungs change.
#include "ladders/reduce/binding.h"

namespace upsweep::ladders::reduce {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{.idea = "one loop, one accumulator",
                               .prediction = "bound by the latency of one add: about a fifth of what a core can read",
                               .guarantees = "left to right",
                               .limits = "any n",
                               .source = "std::accumulate"};

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    T total = Op::template neutral<T>();
    for (std::size_t i = 0; i < a.n; ++i) total = a.op(total, a.in[i]);
    *a.out = a.n > 0 ? total : value_of_none<Op, T>();
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::reduce
