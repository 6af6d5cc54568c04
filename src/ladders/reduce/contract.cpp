#include "base/contract.h"

#include "ladders/reduce/binding.h"
#include "ladders/reduce/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {{.name = "the output",
                                   .type = &ladders::reduce::Binding::output_type,
                                   .count = [](const Call&, std::uint64_t) { return std::size_t{1}; },
                                   .types = wider_sums,
                                   .join = [](const Call&) { return Join::by_operator; }}};

}  // namespace

extern const Contract reduce_contract{
    .name = "reduce",
    .promise =
        "out[0] = op(initial, in[0], ..., in[n-1]) in some order; without initial, the neutral element (+0) when "
        "n is 0",
    .operations = ladders::reduce::operations,
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &ladders::reduce::rungs,
    .scalars = reduce_scalars.parameters,
    .choose = &ladders::reduce::choose};

}  // namespace upsweep
