#include "base/contract.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"the input"}};
constexpr OutputRole outputs[] = {{"the output"}};

}  // namespace

extern const Contract ceiling_contract{
    .name = "ceiling",
    .promise = "the fewest bytes that a machine can move: read, write, copy, triad, link; launch moves none",
    .inputs = inputs,
    .outputs = outputs,
    .validate = [](const Call&) {},
    .written = [](const Call& c, std::size_t, std::uint64_t) { return c.n(); }};

}  // namespace upsweep
