#include "base/contract.h"

#include "ladders/reduce/binding.h"
#include "ladders/reduce/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

using ladders::reduce::Binding, ladders::reduce::is_index, ladders::reduce::segments_of;

constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {
    {.name = "the output",
     .type = &Binding::output_type,
     .count = [](const Call& c, std::uint64_t) { return segments_of(c.n(), Binding::segment_length(c)); },
     .types = wider_sums,
     .join =
         [](const Call& c) {
           return is_index(c.operation) || Binding::segment_length(c) ? Join::not_at_all : Join::by_operator;
         }}};

void validate(const Call& c) {
  if (!is_index(c.operation)) return;
  const std::string operation(c.operation.name());
  if (c.n() == 0) refuse("reduce", operation + " of an empty array");
  if (Binding::initial(c)) refuse("reduce", operation + " takes no initial value");
  if (Binding::segment_length(c)) refuse("reduce", operation + " takes no segments");
  require_array("reduce", outputs[0].name, c.out[0], Type::u64, 1, operation + " writes an index");
}

}  // namespace

extern const Contract reduce_contract{
    .name = "reduce",
    .promise =
        "out[0] = op(initial, in[0], ..., in[n-1]) in some order; without initial, the neutral element (+0) when "
        "n is 0; with segment_length, out[s] = that of segment s; argmin, argmax: the index of the first smallest or "
        "largest element",
    .operations = ladders::reduce::operations,
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &ladders::reduce::rungs,
    .scalars = reduce_scalars.parameters,
    .reads_scalar = [](const Call& c, std::size_t) { return !is_index(c.operation); },
    .validate = &validate,
    .choose = &ladders::reduce::choose};

}  // namespace upsweep
