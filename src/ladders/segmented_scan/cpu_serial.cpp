// segmented_scan/serial: the definition, as a loop from left to right.
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
  static constexpr bool takes_initial = true;
  static constexpr bool takes_wider_output = true;

  template <class T, class Op, class Out>
  static Status run(const Args<T, Op, Out>& a) {
    a.inclusive ? scan<true>(a) : scan<false>(a);
    return {};
  }

 private:
  template <bool inclusive, class T, class Op, class Out>
  static void scan(const Args<T, Op, Out>& a) {
    HeadWindows heads(a.heads, 0, a.n);
    std::uint64_t bits = 0;
    Out prefix = a.initial.value;
    for (std::size_t i = 0; i < a.n; ++i, bits >>= 1) {
      if (i % HeadWindows::width == 0) bits = heads.next();
      const bool head = bits & 1;
      const Out next = a.op(head ? a.initial.value : prefix, static_cast<Out>(a.in[i]));
      a.out[i] = inclusive ? next : head ? a.initial.alone() : prefix;
      prefix = next;
    }
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::segmented_scan
