#include "base/contract.h"

#include "ladders/reduce/binding.h"
#include "ladders/reduce/choose.h"
#include "ladders/reduce/exact.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

using ladders::reduce::Binding, ladders::reduce::exact_words, ladders::reduce::is_index, ladders::reduce::segments_of;

constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {
    {.name = "the output",
     .type = &Binding::output_type,
     .count = [](const Call& c, std::uint64_t) { return segments_of(c.n(), Binding::segment_length(c)); },
     .types = wider_sums,
     .join =
         [](const Call& c) {
           return is_index(c.operation) || Binding::segment_length(c) ? Join::not_at_all : Join::by_operator;
         }},
    {.name = "the exact sum",
     .type = [](const Call&) { return Type::i64; },
     .count = [](const Call& c, std::uint64_t) { return Binding::wants_exact(c) ? exact_words(c.type()) : 0; },
     .types = "the words of an exact sum are i64"}};

void validate(const Call& c) {
  const bool can_be_exact = c.operation == Operation(Op::sum) && (c.type() == Type::f32 || c.type() == Type::f64) &&
                            c.out[0].type == c.type() && !Binding::segment_length(c);
  if (Binding::wants_exact(c) && !can_be_exact)
    refuse("reduce", "only a sum of all elements of f32 or f64, in that type, has an exact form");
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
