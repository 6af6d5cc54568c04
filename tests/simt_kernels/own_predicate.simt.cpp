// The select ladder's rungs with a predicate that the library has never seen, of elements that are no numbers.
#include "select/06_pipeline.cuh"
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
template <Op operation>
struct Operation {
  static constexpr Op op = operation;
  template <class>
  using Predicate = Inside;
};

template <Op operation>
Status select(const Call& c) {
  return ladders::select::pipeline::run<Point, Operation<operation>>({{in<Point>(c), nullptr, c.n, {number(c)}},
                                                                      {out<Point>(c), {}, out<std::uint64_t>(c, 1)},
                                                                      c.params,
                                                                      c.workspace,
                                                                      c.stream});
}

constexpr Rung rungs[] = {make_rung<select<Op::select_if>>("inside"),
                          make_rung<select<Op::partition_if>>("inside_first")};

}  // namespace

Rungs own_predicate_kernels() {
  static constexpr const Rung* all[] = {&rungs[0], &rungs[1]};
  return all;
}

}  // namespace upsweep::test
