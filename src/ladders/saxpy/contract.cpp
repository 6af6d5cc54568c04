#include "base/contract.h"

#include "ladders/saxpy/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"x"}, {"y"}};
constexpr OutputRole outputs[] = {{.name = "the output", .may_be = 0b11}};
constexpr Parameter scalars[] = {
    {.name = "a", .kind = Parameter::Kind::element, .meaning = "the factor", .initial = 2.0}};

}  // namespace

extern const Contract saxpy_contract{.name = "saxpy",
                                     .promise = "out[i] = a * x[i] + y[i]",
                                     .inputs = inputs,
                                     .outputs = outputs,
                                     .rungs = &ladders::saxpy::rungs,
                                     .scalars = scalars,
                                     .choose = &ladders::saxpy::choose};

}  // namespace upsweep
