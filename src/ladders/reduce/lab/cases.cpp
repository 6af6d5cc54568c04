// The laboratory's cases of reduce: inputs, parameters, verification.
#include <algorithm>
#include <memory>

#include "lab/oracle.h"
#include "lab/primitive.h"
#include "lab/sums.h"
#include "ladders/reduce/contract.h"
#include "ladders/reduce/lab/oracle.h"

namespace upsweep {

extern const Contract reduce_contract;

namespace ladders::reduce {

std::unique_ptr<Streamer> stream(Platform&, const Rung&, const Case&);  // stream.cpp

namespace {

constexpr std::string_view segment_length = "segment_length";

// Returns an oracle for all segments. It computes the expected result of a segment only when it compares that segment,
// because there may be as many segments as elements.
Oracle oracle_of_segments(Type type, const Case& c, const void* values, std::size_t length) {
  const auto in = std::make_shared<Converted>(c.type, values, c.n, type);
  return [=, op = c.operation.as<Op>(), n = c.n, initial = initial_value(c)](
             const void* out, const Rung& rung) -> std::optional<std::string> {
    const std::size_t bytes = size_of(type);
    return first_mistake(segments_of(n, length), [&](std::size_t, std::size_t first, std::size_t last) {
      std::optional<std::string> mistake;
      for (std::size_t s = first; s < last && !mistake; ++s) {
        const std::size_t begin = s * length, count = std::min<std::size_t>(length, n - begin);
        const Oracle oracle = make_oracle(type, op, in->data() + begin * bytes, count, initial);
        mistake = oracle(static_cast<const std::byte*>(out) + s * bytes, rung);
        if (mistake) mistake = "segment " + std::to_string(s) + ": " + *mistake;
      }
      return mistake;
    });
  };
}

Oracle oracle_of(const Primitive& primitive, const Case& c, const void* values) {
  const Type type = out_type_of(primitive, c);
  const auto length = c.settings.get(segment_length, std::uint64_t{0});
  if (!is_index(c.operation) && length) return oracle_of_segments(type, c, values, length);
  if (!is_index(c.operation))
    return make_oracle(type, c.operation.as<Op>(), Converted(c.type, values, c.n, type).data(), c.n, initial_value(c));
  if (c.n == 0 || initial_value(c) || length || c.settings.find(out_type_shape.name))
    throw Error(Code::unsupported,
                "reduce: " + std::string(c.operation.name()) +
                    " takes neither an empty array nor an initial value nor segments nor an output type");
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

// Returns the parameter sets of sum_variants(), and each of them again for five segment lengths, none of them a whole
// number of packs.
std::vector<Settings> variants(const Primitive& primitive, Type type) {
  std::vector<Settings> all = sum_variants(primitive, type);
  for (std::size_t k = 0, usual = all.size(); k < usual; ++k)
    for (const std::uint64_t length : {1, 7, 131, 1001, 9001}) {
      all.push_back(all[k]);
      all.back().set(*primitive.parameter(segment_length), length);
    }
  return all;
}

}  // namespace
}  // namespace ladders::reduce

extern const Primitive reduce_primitive{
    .contract = reduce_contract,
    .types =
        [] {
          return std::vector{Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64,
                             Type::u8,  Type::i8,  Type::u16, Type::i16, Type::f16, Type::bf16};
        },
    .shapes = sum_shapes,
    .streamed = sum_shapes_streamed,
    .variants = &ladders::reduce::variants,
    .example = whole_grid,
    .problem = &make_problem<ladders::reduce::ReduceProblem>,
    .sums_in_type = true,
    .stream = &ladders::reduce::stream,
};

}  // namespace upsweep
