// The laboratory's cases of reduce: inputs, parameters, verification.
#include "lab/primitive.h"
#include "lab/sums.h"
#include "ladders/reduce/contract.h"
#include "ladders/reduce/lab/oracle.h"

namespace upsweep {

extern const Contract reduce_contract;

namespace ladders::reduce {

std::unique_ptr<Streamer> stream(Platform&, const Rung&, const Case&);  // stream.cpp

namespace {

Oracle oracle_of(const Primitive& primitive, const Case& c, const void* values) {
  const Type type = out_type_of(primitive, c);
  if (!is_index(c.operation))
    return make_oracle(type, c.operation.as<Op>(), Converted(c.type, values, c.n, type).data(), c.n, initial_value(c));
  if (c.n == 0 || initial_value(c) || c.settings.find(out_type_shape.name))
    throw Error(Code::unsupported, "reduce: " + std::string(c.operation.name()) +
                                       " takes neither an empty array nor an initial value nor an output type");
  return make_oracle(c.type, c.operation.as<IndexOf>(), values, c.n);
}

class ReduceProblem final : public Problem {
 public:
  ReduceProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : Problem(primitive, c, data), oracle_(oracle_of(primitive, c, values())) {}
  std::string_view ceiling(const Rung&) const override { return "read"; }
  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    return oracle_(outputs[0], rung);
  }

 private:
  Oracle oracle_;
};

}  // namespace
}  // namespace ladders::reduce

extern const Primitive reduce_primitive{
    .contract = reduce_contract,
    .types = [] { return std::vector{Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64, Type::u8}; },
    .shapes = sum_shapes,
    .streamed = sum_shapes_streamed,
    .variants = &sum_variants,
    .example = whole_grid,
    .problem = &make_problem<ladders::reduce::ReduceProblem>,
    .sums_in_type = true,
    .stream = &ladders::reduce::stream,
};

}  // namespace upsweep
