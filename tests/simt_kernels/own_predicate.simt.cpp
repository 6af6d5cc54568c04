// The select ladder's pipeline with a user-defined predicate, on elements of a user-defined type.
#include "ladders/select/05_vec16.cuh"
#include "ladders/select/06_pipeline.cuh"
#include "test_kernel.h"

namespace upsweep::test {
namespace {

struct Point {
  std::int32_t x, y;
};
struct Inside {
  std::int32_t radius;
  UPSWEEP_HD bool operator()(Point p) const { return p.x * p.x + p.y * p.y < radius * radius; }
};
template <Selection s>
struct SelectInside {
  static constexpr Selection selection = s;
  template <class>
  using Predicate = Inside;
};

template <Selection s>
Status select(const Call& c) {
  const Inside inside{c.scalars[0].as<std::int32_t>()};
  return ladders::select::pipeline::run<Point, SelectInside<s>>(
      {c.execution(), {in<Point>(c), nullptr, c.n(), inside}, {out<Point>(c), {}, out<std::uint64_t>(c, 1)}});
}

constexpr Rung rungs[] = {make_rung<select<Selection::select_if>>("inside"),
                          make_rung<select<Selection::partition_if>>("inside_first")};

}  // namespace

Rungs own_predicate_kernels() {
  static constexpr const Rung* all[] = {&rungs[0], &rungs[1]};
  return all;
}

}  // namespace upsweep::test
