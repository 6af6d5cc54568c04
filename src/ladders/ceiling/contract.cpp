#include "base/contract.h"

#include "rung_tables.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {{.name = "the output",
                                   .count = [](const Call& c, std::uint64_t) { return c.n() > 0 ? c.n() : 1; },
                                   .join = [](const Call&) { return Join::not_at_all; }}};

}  // namespace

extern const Contract ceiling_contract{
    .name = "ceiling",
    .promise = "the machine's limits: read, write, copy, triad and link move bytes at full speed; launch moves none",
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &ladders::ceiling::rungs};

}  // namespace upsweep
