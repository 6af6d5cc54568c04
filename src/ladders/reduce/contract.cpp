#include "base/contract.h"

#include "ladders/reduce/choose.h"

namespace upsweep {
namespace {

constexpr Operation operations[] = {Op::sum, Op::product, Op::min, Op::max};
constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {{.name = "the output", .fit = Fit::one}};

}  // namespace

extern const Contract reduce_contract{
    .name = "reduce",
    .promise = "out[0] = op(in[0], ..., in[n-1]) in some order; when n is 0, the operator's neutral element (+0)",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .choose = &ladders::reduce::choose};

}  // namespace upsweep
