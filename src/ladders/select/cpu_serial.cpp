// select/serial: the definition, as a loop from left to right.
#include "ladders/select/binding.h"

namespace upsweep::ladders::select {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{.idea = "one loop, a branch per element",
                               .prediction = "one mispredict per element if half are selected, else a load and a test",
                               .limits = "any n",
                               .source = "std::copy_if, std::unique_copy"};

  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    std::size_t count = 0, last = 0;
    for (std::size_t i = 0; i < a.in.n; ++i) {
      if (!a.in.selects(i)) continue;
      if constexpr (writes_positions<O>)
        a.out.positions.put(count, i);
      else
        a.out.values[count] = a.in.values[i];
      if constexpr (writes_lengths<O>) {
        if (count > 0) a.out.positions.put(count - 1, i - last);
        last = i;
      }
      ++count;
    }
    if constexpr (writes_lengths<O>)
      if (count > 0) a.out.positions.put(count - 1, a.in.n - last);
    if constexpr (writes_rest<O>) {
      std::size_t next = count;
      for (std::size_t i = 0; i < a.in.n; ++i)
        if (!a.in.selects(i)) a.out.values[next++] = a.in.values[i];
    }
    *a.out.count = count;
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::select
