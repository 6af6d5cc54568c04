// The laboratory's cases of sort: inputs, parameters, verification.
#include "lab/planted.h"
#include "lab/primitive.h"
#include "lab/stream.h"
#include "ladders/partition/lab/elements.h"
#include "ladders/sort/binding.h"
#include "ladders/sort/lab/oracle.h"
#include "ladders/sort/lab/probes.h"

namespace upsweep {

extern const Contract sort_contract;

namespace ladders::sort {

std::unique_ptr<Streamer> stream(Platform&, const Rung&, const Case&);  // stream.cpp

namespace {

constexpr Parameter shapes[] = {
    partition::value_bytes_shape,
    {.name = "indices",
     .kind = Parameter::Kind::flag,
     .meaning = "the keys' indices instead of values; the keys only if in place",
     .initial = false},
    index_type_shape,
    {.name = "inplace", .kind = Parameter::Kind::flag, .meaning = "the outputs are the inputs", .initial = false},
    partition::distinct_shape};
constexpr std::string_view streamed[] = {"value_bytes", "indices"};

// Maximum keys for which the check sorts the input even if the outputs can be checked without. Sorting takes 32 bytes
// per key, and too long for 2^32 keys.
constexpr std::size_t most_sorted = std::size_t{1} << 28;

class SortProblem final : public Problem {
 public:
  SortProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : Problem(primitive, c, data) {
    if (data.empty() && c.settings.find("distinct"))
      plant_distinct(c.type, c.settings.get<std::uint64_t>("distinct", 1), c.n, values());
    if (indices_ && !values_.bytes.empty())
      refuse("sort", "both values and indices are asked for", "leave value_bytes or indices out");
    require_valid();
  }
  std::vector<Array> inputs() const override { return {input_array(case_.type, case_.n, values()), values_.array()}; }
  void choose_outputs(Call& call) const override {
    if (indices_) call.out[1] = {index_type_of(case_), case_.n};
    // Indices are output without the keys, unless in place.
    if (inplace_) call.out[0] = call.in[0];
    if (inplace_ && !indices_) call.out[1].data = call.in[1].data;
  }
  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    const Call call = host_call(outputs);
    const auto wrong = [&](bool as_cub) {
      if (case_.n > most_sorted && proves_itself(call, rung.any_order))
        return find_disorder(call, rung.any_order, as_cub);
      if (as_cub) return find_mistake(truth_of(call, as_cub), call, rung.any_order);
      if (!truth_) truth_ = truth_of(call);
      return find_mistake(*truth_, call, rung.any_order);
    };
    const auto mistake = wrong(/*as_cub=*/false);
    return mistake && rung.peer && is_float(case_.type) ? wrong(/*as_cub=*/true) : mistake;
  }

 private:
  const bool indices_ = shape<bool>("indices"), inplace_ = shape<bool>("inplace");
  const partition::MadeValues values_{"sort", shape<std::uint64_t>("value_bytes"), case_.n};
  mutable std::optional<Truth> truth_;  // computed on first use
};

}  // namespace
}  // namespace ladders::sort

extern const Primitive sort_primitive{
    .contract = sort_contract,
    .types = &all_types,
    .shapes = ladders::sort::shapes,
    .streamed = ladders::sort::streamed,
    // Values of every width, in place and not; indices, with keys and without; subsets of the bits (the lowest, the
    // highest, the middle); few distinct keys; for floats, totalOrder.
    .variants =
        [](const Primitive& p, Type type) {
          const std::size_t width = 8 * size_of(type);
          const std::string high = std::to_string(width - 3), most = std::to_string(width - 4);
          std::vector<Settings> all{
              {},
              p.settings(type, {{"value_bytes", "4"}}),
              p.settings(type, {{"inplace", "true"}}),
              p.settings(type, {{"indices", "true"}}),
              p.settings(type, {{"indices", "true"}, {"index_type", "i64"}}),
              p.settings(type, {{"value_bytes", "8"}, {"inplace", "true"}}),
              p.settings(type, {{"bits", most}, {"first_bit", "3"}}),
              p.settings(type, {{"bits", "3"}, {"first_bit", high}, {"value_bytes", "16"}}),
              p.settings(type, {{"bits", "5"}, {"indices", "true"}, {"index_type", "u64"}, {"inplace", "true"}}),
              p.settings(type, {{"distinct", "5"}, {"value_bytes", "4"}, {"inplace", "true"}}),
              p.settings(type, {{"bits", most}, {"first_bit", "1"}, {"value_bytes", "8"}}),
              p.settings(type, {{"distinct", "100"}, {"value_bytes", "16"}, {"inplace", "true"}})};
          if (is_float(type)) all.push_back(p.settings(type, {{"float_order", "total_order"}, {"value_bytes", "4"}}));
          return all;
        },
    .probes = ladders::sort::probes,
    .problem = &make_problem<ladders::sort::SortProblem>,
    .stream = &ladders::sort::stream,
};

}  // namespace upsweep
