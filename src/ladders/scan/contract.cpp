#include "base/contract.h"

#include "ladders/scan/binding.h"
#include "ladders/scan/choose.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {{.name = "the output", .may_be = 0b1}};

}  // namespace

extern const Contract scan_contract{
    .name = "scan",
    .promise = "out[i] = in[0] op ... op in[i-1], inclusive: ... op in[i]; the neutral element (+0) where it is empty",
    .operations = ladders::scan::operations,
    .inputs = inputs,
    .outputs = outputs,
    .scalars = scan_scalars.parameters,
    .carry = [](const Call&) { return Carry::total; },
    .choose = &ladders::scan::choose,
    .thresholds = ladders::scan::thresholds};

}  // namespace upsweep
