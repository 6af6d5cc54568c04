// reduce/serial: one thread, one accumulator, left to right, like std::accumulate.
#include "ladders/reduce/binding.h"

namespace upsweep::ladders::reduce {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{.idea = "one loop, one accumulator",
                               .prediction = "bound by the latency of one add: about a fifth of what a core can read",
                               .guarantees = "left to right",
                               .limits = "any n",
                               .source = "std::accumulate, std::min_element"};
  template <class T, class Op>
  static constexpr bool supports = true;

  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;
  static constexpr bool takes_segments = true;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    using A = Accumulator<Out>;
    for (std::size_t s = 0; s < a.segments(); ++s) {
      A total = static_cast<A>(a.initial.value);
      for (const T x : a.segment(s)) total = a.op(total, static_cast<A>(x));
      a.out[s] = a.n > 0 ? static_cast<Out>(total) : a.initial.alone();
    }
    return {};
  }
  template <class T, class Op>
  static Status run(const IndexArgs<T, Op>& a) {
    std::size_t first = 0;
    for (std::size_t i = 1; i < a.n; ++i)
      if (Op::beats(a.in[i], a.in[first])) first = i;
    *a.out = first;
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::reduce
