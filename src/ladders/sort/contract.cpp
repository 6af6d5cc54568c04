#include "base/contract.h"

#include "kernel/multisplit/require_values.h"
#include "ladders/sort/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

using namespace ladders::sort;

// To the rungs, both directions are one operation.
constexpr ListedOperation operations[] = {{.operation = Order::ascending, .typical = true},
                                          {.operation = Order::descending, .typical = true}};
constexpr InputRole inputs[] = {{"the array of keys"}, {"the array of values", false}};
Join merged(const Call&) { return Join::merged; }
// The outputs select the results. Indices are requested by an output of values without an input of values; the keys are
// then written only if they have an output.
constexpr OutputRole outputs[] = {
    {.name = "the output of keys",
     .may_be = 0b01,
     .count = [](const Call& c, std::uint64_t) { return wants_indices(c) && c.out[0].count == 0 ? 0 : c.n(); },
     .join = &merged},
    {.name = "the output of values",
     .may_be = 0b10,
     .type = [](const Call& c) { return wants_indices(c) ? index_type(c.out[1].type, c.n()) : c.in[1].type; },
     .count = [](const Call& c, std::uint64_t) { return wants_indices(c) ? c.n() : c.in[1].count; },
     .types = index_types,
     .file = "values",
     .join = &merged}};

void require_bits(const Call& c) {
  const Sorting how = sort_scalars.read(c.scalars);
  const std::size_t width = 8 * size_of(c.type());
  if (how.first_bit + *how.bits > width)
    refuse("sort",
           std::to_string(*how.bits) + " bits from bit " + std::to_string(how.first_bit) + " on are beyond a key of " +
               std::to_string(width) + " bits",
           "first_bit + bits is at most the key's width");
}

void validate(const Call& c) {
  require_bits(c);
  if (c.in[1].count > 0) multisplit::require_values("sort", c);
}

}  // namespace

extern const Contract sort_contract{
    .name = "sort",
    .promise = "out[0] = the keys in order, stable; out[1] = their values, or the keys' indices",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &ladders::sort::rungs,
    .scalars = sort_scalars.parameters,
    .validate = &validate,
    .choose = &ladders::sort::choose,
    .thresholds = ladders::sort::thresholds};

}  // namespace upsweep
