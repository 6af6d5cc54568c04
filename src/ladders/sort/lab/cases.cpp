// The laboratory's side of sort.
#include "lab/planted.h"
#include "lab/primitive.h"
#include "lab/stream.h"
#include "ladders/partition/lab/elements.h"
#include "ladders/sort/binding.h"
#include "ladders/sort/lab/oracle.h"

namespace upsweep {

extern const Contract sort_contract;
extern const Primitive sort_primitive;

namespace ladders::sort {

std::unique_ptr<Streamer> stream(Platform&, const Rung&, const Case&);  // stream.cpp

namespace {

constexpr Parameter shapes[] = {
    {.name = "value_bytes", .meaning = "of each value: 4, 8 or 16; 0: keys alone (0)", .most = 16},
    {.name = "indices",
     .kind = Parameter::Kind::flag,
     .meaning = "the keys' indices instead of values, and the keys only if in place (false)"},
    {.name = "inplace", .kind = Parameter::Kind::flag, .meaning = "the outputs are the inputs (false)"},
    {.name = "distinct", .meaning = "different keys (as the input has them)", .least = 1, .most = 0x1p32}};
constexpr std::string_view streamed[] = {"value_bytes", "indices"};

// All bits from first_bit up; at least one, so that a first_bit beyond the key is refused for what it is.
Scalar default_scalar(std::string_view name, const Case& c) {
  if (name == "float_order") return FloatOrder::by_value;
  const std::uint64_t width = 8 * size_of(c.type), first = c.settings.get<std::uint64_t>("first_bit", 0);
  return std::uint64_t{name == "bits" ? first < width ? width - first : 1 : 0};
}

// The truth takes 32 bytes per key while it is computed, and 2^32 keys take longer to sort here than anyone waits.
constexpr std::size_t most_sorted = std::size_t{1} << 28;

class SortProblem final : public Problem {
 public:
  SortProblem(const Case& c, std::span<const std::byte> data) : Problem(c, data) {
    if (data.empty() && c.settings.find("distinct"))
      plant_distinct(c.type, c.settings.get<std::uint64_t>("distinct", 1), c.n, values());
    if (indices_ && !values_.bytes.empty())
      refuse("sort", "both values and indices are asked for", "leave value_bytes or indices out");
    sort_contract.require_arrays(host_call(sort_primitive));
  }
  std::vector<Array> inputs() const override { return {input_array(case_.type, case_.n, values()), values_.array()}; }
  std::vector<Array> outputs() const override {
    const std::vector<Array> in = inputs();
    const auto output_of = [&](const Array& input) {
      return Array{input.type, input.count, inplace_ ? input.data : nullptr};
    };
    if (!indices_) return {output_of(in[0]), output_of(in[1])};
    return {inplace_ ? output_of(in[0]) : Array{case_.type}, {index_type(case_.n), case_.n}};
  }
  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    const Call call = host_call(sort_primitive, outputs);
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
  const bool indices_ = case_.settings.get("indices", false), inplace_ = case_.settings.get("inplace", false);
  const partition::MadeValues values_{"sort", case_.settings.get<std::uint64_t>("value_bytes", 0), case_.n};
  mutable std::optional<Truth> truth_;  // computed when first needed
};

}  // namespace
}  // namespace ladders::sort

extern const Primitive sort_primitive{
    .contract = sort_contract,
    .default_scalar = &ladders::sort::default_scalar,
    .shapes = ladders::sort::shapes,
    .streamed = ladders::sort::streamed,
    // Values of every width, in place and not; indices, with the keys and without; some of the bits: the lowest, the
    // highest, and those between, of which a narrow type has fewer; a few keys only; totalOrder.
    .variants =
        [](const Primitive& p, Type type) {
          const std::size_t width = 8 * size_of(type);
          const std::string high = std::to_string(width - 3), most = std::to_string(width - 4);
          std::vector<Settings> all{
              {},
              p.settings(type, {{"value_bytes", "4"}}),
              p.settings(type, {{"inplace", "true"}}),
              p.settings(type, {{"indices", "true"}}),
              p.settings(type, {{"value_bytes", "8"}, {"inplace", "true"}}),
              p.settings(type, {{"bits", most}, {"first_bit", "3"}}),
              p.settings(type, {{"bits", "3"}, {"first_bit", high}, {"value_bytes", "16"}}),
              p.settings(type, {{"bits", "5"}, {"indices", "true"}, {"inplace", "true"}}),
              p.settings(type, {{"distinct", "5"}, {"value_bytes", "4"}, {"inplace", "true"}}),
              p.settings(type, {{"bits", most}, {"first_bit", "1"}, {"value_bytes", "8"}}),
              p.settings(type, {{"distinct", "100"}, {"value_bytes", "16"}, {"inplace", "true"}})};
          if (is_float(type))
            all.push_back(p.settings(type, {{"float_order", "total_order"}, {"value_bytes", "4"}}));
          return all;
        },
    .make = &make_problem<ladders::sort::SortProblem>,
    .stream = &ladders::sort::stream,
};

}  // namespace upsweep
