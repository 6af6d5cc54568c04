// histogram/serial: the definition; one loop over the samples.
#include "cpu/each.h"
#include "ladders/histogram/binding.h"

namespace upsweep::ladders::histogram {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{.idea = "one loop, one counter incremented per sample",
                               .prediction =
                                   "bound by the latency of a store and a load of the same counter when "
                                   "adjacent samples are equal",
                               .guarantees = "counts are exact; u8 and u16 stop at their largest value",
                               .limits = "any n, any counter",
                               .source = "the contract"};
  static constexpr bool takes_scratch = true;  // for edges whose type differs from the samples'

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    if (a.stream.dry) return {};
    const Input<T, O> in = a.in;
    const unsigned counters = in.counters();
    a.out.visit([&]<class C>(C* counts) {
      for (unsigned k = 0; k < counters; ++k) counts[k] = 0;
      std::uint64_t outside = 0;
      for (std::size_t i = 0; i < in.samples.count; ++i) {
        const unsigned k = in.counter_of(i);
        if (k == counters)
          ++outside;
        else if (sizeof(C) > 2 || counts[k] != static_cast<C>(-1))
          ++counts[k];
      }
      a.out.put_outside(outside);
    });
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::histogram
