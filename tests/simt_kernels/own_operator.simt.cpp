// A rung of the reduce ladder with a user-defined operator.
#include "ladders/reduce/13_overlap.cuh"
#include "test_kernel.h"

namespace upsweep::test {
namespace {

struct Gcd {
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    return 0;
  }
  template <class T>
  UPSWEEP_HD constexpr T operator()(T a, T b) const {
    return b == 0 ? a : (*this)(b, a % b);
  }
};

constexpr Rung rungs[] = {make_rung<[](const Call& c) {
  const ladders::reduce::Args<unsigned, Gcd> args{c.execution(), in<unsigned>(c), out<unsigned>(c), c.n(), Gcd{}};
  return ladders::reduce::overlap::run<unsigned, Gcd>(args);
}>("gcd")};

}  // namespace

Rungs own_operator_kernels() {
  static constexpr const Rung* all[] = {&rungs[0]};
  return all;
}

}  // namespace upsweep::test
