// rotate/serial: two copies on one core; the reference.
#include <algorithm>

#include "ladders/rotate/binding.h"

namespace upsweep::ladders::rotate {

namespace {  // a GPU rung may have the same name

struct serial {
  static constexpr Story story{.idea = "the part from element `by` on, then the part before it",
                               .prediction = "the speed of a copy",
                               .limits = "any n"};

  template <class T, class>
  static Status run(const Args<T>& a) {
    std::rotate_copy(a.in, a.in + a.by, a.in + a.n, a.out);
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::rotate
