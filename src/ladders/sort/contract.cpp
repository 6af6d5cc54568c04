#include "base/contract.h"

#include "kernel/multisplit/require_values.h"
#include "ladders/sort/choose.h"

namespace upsweep {
namespace {

using namespace ladders::sort;

constexpr Operation operations[] = {Order::ascending, Order::descending};
constexpr InputRole inputs[] = {{"the array of keys"}, {"the array of values", Fit::custom}};
constexpr OutputRole outputs[] = {{.name = "the output of keys", .may_be = 0b01, .fit = Fit::custom},
                                  {.name = "the output of values", .may_be = 0b10, .fit = Fit::custom}};
constexpr Parameter scalars[] = {
    {.name = "first_bit", .meaning = "lowest bit of a key's number that is compared (0)", .most = 63},
    {.name = "bits", .meaning = "that are compared, from first_bit up (the rest)", .least = 1, .most = 64},
    {.name = "float_order",
     .kind = Parameter::Kind::choice,
     .meaning = "by_value: -0 equals +0, NaN is last; total_order: IEEE 754's (by_value)",
     .choices = float_order_names}};

void require_bits(const Call& c) {
  const auto first = c.scalars[first_bit].as<std::uint64_t>(), count = c.scalars[bits].as<std::uint64_t>();
  const std::size_t width = 8 * size_of(c.type());
  if (count == 0) refuse("sort", "0 bits to compare", "bits is from 1 to the key's " + std::to_string(width));
  if (first > width || count > width - first)
    refuse("sort",
           std::to_string(count) + " bits from bit " + std::to_string(first) + " on are beyond a key of " +
               std::to_string(width) + " bits",
           "first_bit and bits together are at most that");
}

void require_values(const Call& c) {
  if (wants_indices(c))
    require_array("sort", "the output of indices", c.out[1], index_type(c.n()), c.n(),
                  "indices are u32 for less than 2^32 keys, u64 for more");
  else if (c.in[1].count > 0)
    multisplit::require_values("sort", c);
}

void validate(const Call& c) {
  require_bits(c);
  require_values(c);
  // Absent if only indices are wanted: then it has no type. Without keys, nothing tells what is wanted.
  if (c.out[0].count > 0 || (c.n() > 0 && !wants_indices(c)))
    require_array("sort", "the output of keys", c.out[0], c.type(), c.n());
}

}  // namespace

extern const Contract sort_contract{
    .name = "sort",
    .promise = "out[0] = the keys in order, stable; out[1] = their values, or where each key was",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .scalars = scalars,
    .validate = &validate,
    .writes =
        [](const Call& c, std::size_t k, std::uint64_t) {
          if (k == 0) return c.out[0].count > 0 ? c.n() : 0;
          return wants_indices(c) ? c.n() : c.in[1].count;
        },
    .choose = &ladders::sort::choose,
    .thresholds = ladders::sort::thresholds};

}  // namespace upsweep
