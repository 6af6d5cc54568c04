// saxpy's kernels with user-defined functions of one, three and sixteen inputs, and of inputs of two types.
#include "ladders/saxpy/02_grid_stride.cuh"
#include "ladders/saxpy/05_bulk_staged.cuh"
#include "ladders/saxpy/06_one_pack.cuh"
#include "test_kernel.h"
#include "upsweep/transform.cuh"  // the public entry point; not called, because the library is not linked

namespace upsweep::test {
namespace {

using ladders::saxpy::bulk_staged, ladders::saxpy::grid_stride, ladders::saxpy::one_pack;

struct Colour {
  float r, g, b;
};
static_assert(std::same_as<detail::TransformRung<float, float, float>, one_pack>);
static_assert(std::same_as<detail::TransformRung<float, float, int>, grid_stride>);
static_assert(std::same_as<detail::TransformRung<Colour, Colour>, grid_stride>, "no packs of 12 bytes");

struct Weighted {  // sum of k * (k-th input)
  template <class... T>
  UPSWEEP_HD constexpr unsigned operator()(T... in) const {
    unsigned k = 0, sum = 0;
    ((sum += ++k * static_cast<unsigned>(in)), ...);
    return sum;
  }
};

// in[0] holds `k` inputs in sequence.
template <class How, std::size_t... K>
Status weighted(const Call& c, std::index_sequence<K...>) {
  return How::map(c.tuning, c.stream, out<unsigned>(c), c.n(), Weighted{}, in<unsigned>(c) + K * c.n()...);
}

template <class How>
Status weighted(const Call& c) {
  switch (number(c)) {
    case 1:
      return weighted<How>(c, std::make_index_sequence<1>());
    case 3:
      return weighted<How>(c, std::make_index_sequence<3>());
    default:
      return weighted<How>(c, std::make_index_sequence<16>());
  }
}

constexpr Rung rungs[] = {make_rung<&weighted<one_pack>>("weighted"),
                          make_rung<&weighted<bulk_staged>>("weighted_staged"), make_rung<[](const Call& c) {
                            return grid_stride::map(c.tuning, c.stream, out<unsigned>(c), c.n(), Weighted{},
                                                    in<unsigned>(c), in<unsigned char>(c, 1));
                          }>("weighted_mixed")};

}  // namespace

Rungs own_function_kernels() {
  static constexpr const Rung* all[] = {&rungs[0], &rungs[1], &rungs[2]};
  return all;
}

}  // namespace upsweep::test
