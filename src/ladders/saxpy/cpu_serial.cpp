// saxpy/serial: the definition, as a loop on one core.
#include "ladders/saxpy/binding.h"

namespace upsweep::ladders::saxpy {

namespace {  // a rung of the same name may exist on the GPU

struct serial {
  static constexpr Story story{.idea = "one loop, element by element",
                               .prediction = "vectorised by the compiler alone: a third of a core's speed in cache",
                               .guarantees = "rounded twice",
                               .limits = "any n",
                               .source = "Lawson, Hanson, Kincaid, Krogh, Basic Linear Algebra Subprograms, 1979"};

  template <class T, class>
  static Status run(const Args<T>& a) {
    for (std::size_t i = 0; i < a.n; ++i) a.out[i] = a.f(a.x[i], a.y[i]);
    return {};
  }
};

}  // namespace

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::saxpy
