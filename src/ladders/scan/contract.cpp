#include "base/contract.h"

#include "ladders/scan/binding.h"
#include "ladders/scan/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {
    {.name = "the output", .may_be = 0b1, .type = &ladders::scan::Binding::output_type, .types = wider_sums}};

}  // namespace

extern const Contract scan_contract{
    .name = "scan",
    .promise =
        "out[i] = initial op in[0] op ... op in[i-1], inclusive: ... op in[i]; without initial, an empty prefix is the "
        "neutral element (+0)",
    .operations = ladders::scan::operations,
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &ladders::scan::rungs,
    .scalars = scan_scalars.parameters,
    .carry = [](const Call&) { return Carry::total; },
    .choose = &ladders::scan::choose,
    .thresholds = ladders::scan::thresholds};

}  // namespace upsweep
