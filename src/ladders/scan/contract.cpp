#include "base/contract.h"

#include "ladders/scan/choose.h"

namespace upsweep {
namespace {

constexpr Operation operations[] = {Op::sum, Op::min, Op::max};
constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {{.name = "the output", .may_be = 0b1}};
constexpr Parameter scalars[] = {
    {.name = "inclusive", .kind = Parameter::Kind::flag, .meaning = "out[i] includes in[i] (false)"}};

}  // namespace

extern const Contract scan_contract{
    .name = "scan",
    .promise = "out[i] = in[0] op ... op in[i-1], inclusive: ... op in[i]; the neutral element (+0) where it is empty",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .scalars = scalars,
    .choose = &ladders::scan::choose,
    .thresholds = ladders::scan::thresholds};

}  // namespace upsweep
