#include "base/contract.h"

#include "ladders/rotate/choose.h"
#include "rung_tables.h"
#include "upsweep/parameters/rotate.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {{.name = "the output"}};

}  // namespace

extern const Contract rotate_contract{.name = "rotate",
                                      .promise = "out[i] = in[(i + by) % n]",
                                      .inputs = inputs,
                                      .outputs = outputs,
                                      .rungs = &ladders::rotate::rungs,
                                      .scalars = rotate_scalars.parameters,
                                      .choose = &ladders::rotate::choose};

}  // namespace upsweep
