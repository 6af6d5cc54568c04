// segmented_scan/serial: one loop, left to right: the definition.
#include "ladders/segmented_scan/binding.h"
#include "ladders/segmented_scan/cpu_heads.h"

namespace upsweep::ladders::segmented_scan {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{.idea = "one loop, one running total that heads reset",
                               .prediction = "bound by the latency of one operation and one select per element",
                               .guarantees = "left to right",
                               .limits = "any n; in place",
                               .source = "Blelloch, Prefix Sums and Their Applications, 1990"};

  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    a.inclusive ? scan<true>(a) : scan<false>(a);
    return {};
  }

 private:
  template <bool inclusive, class T, class Op>
  static void scan(const Args<T, Op>& a) {
    HeadWindows heads(a.heads, 0, a.n);
    std::uint64_t bits = 0;
    T prefix = Op::template neutral<T>();
    for (std::size_t i = 0; i < a.n; ++i, bits >>= 1) {
      if (i % HeadWindows::width == 0) bits = heads.next();
      const bool head = bits & 1;
      const T next = a.op(head ? Op::template neutral<T>() : prefix, a.in[i]);
      a.out[i] = inclusive ? next : head ? value_of_none<Op, T>() : prefix;
      prefix = next;
    }
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::segmented_scan
