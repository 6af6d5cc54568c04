// The select ladder's pipeline with a user-defined predicate, on elements of a user-defined type; and vec16's kernels
// for 2^32 elements and more.
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
  static constexpr Selection operation = s;
  template <class>
  using Predicate = Inside;
};

template <Selection s>
ladders::select::Args<Point, SelectInside<s>> args(const Call& c) {
  const Inside inside{c.scalars[0].as<std::int32_t>()};
  return {c.execution(), {in<Point>(c), nullptr, c.n(), inside}, {out<Point>(c), {}, out<std::uint64_t>(c, 1)}};
}

template <Selection s>
Status select(const Call& c) {
  return ladders::select::pipeline::run(args<s>(c));
}

template <Selection s>
Status select_wide(const Call& c) {
  const auto a = args<s>(c);
  return ladders::select::by_passes(a, [&](const auto& in, const auto& to) {
    return ladders::select::vec16::start_wide<ladders::select::WidePlaces>(a, in, to);
  });
}

constexpr Rung rungs[] = {make_rung<select<Selection::select_if>>("inside"),
                          make_rung<select<Selection::partition_if>>("inside_first"),
                          make_rung<select_wide<Selection::select_if>>("inside_wide"),
                          make_rung<select_wide<Selection::partition_if>>("inside_first_wide")};

}  // namespace

Rungs own_predicate_kernels() {
  static constexpr const Rung* all[] = {&rungs[0], &rungs[1], &rungs[2], &rungs[3]};
  return all;
}

}  // namespace upsweep::test
