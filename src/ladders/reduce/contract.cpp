#include "base/contract.h"

#include "ladders/reduce/binding.h"
#include "ladders/reduce/choose.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {
    {.name = "the output",
     .count = [](const Call&, std::uint64_t) { return std::size_t{1}; },
     .join = [](const Call&) { return Join::by_operator; }}};

}  // namespace

extern const Contract reduce_contract{
    .name = "reduce",
    .promise = "out[0] = op(in[0], ..., in[n-1]) in some order; when n is 0, the operator's neutral element (+0)",
    .operations = ladders::reduce::operations,
    .inputs = inputs,
    .outputs = outputs,
    .choose = &ladders::reduce::choose};

}  // namespace upsweep
