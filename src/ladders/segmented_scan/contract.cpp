#include "ladders/segmented_scan/contract.h"

#include "base/contract.h"

namespace upsweep {
namespace {

constexpr Operation operations[] = {Op::sum, Op::min, Op::max};
constexpr InputRole inputs[] = {{"the input"}, {"the heads"}};
constexpr OutputRole outputs[] = {{.name = "the output", .may_be = 0b1}};
constexpr Parameter scalars[] = {
    {.name = "inclusive", .kind = Parameter::Kind::flag, .meaning = "out[i] has in[i] in it (false)"},
    {.name = "heads",
     .kind = Parameter::Kind::choice,
     .meaning = "how segments are given (flags)",
     .choices = head_kind_names}};

void validate(const Call& c) {
  const auto kind = c.scalars[1].as<HeadKind>();
  require_room("segmented scan", "the output", c.out[0].count, c.n());
  require_type("segmented scan", "the output", c.out[0].type, c.type());
  require_type("segmented scan", "the array of heads", c.in[1].type, ladders::segmented_scan::element_of(kind));
  if (kind != HeadKind::offsets) require_room("segmented scan", "the array of heads", c.in[1].count, c.n());
}

}  // namespace

extern const Contract segmented_scan_contract{
    .name = "segmented_scan",
    .promise =
        "a scan that starts anew at every head; heads are flags, keys (equal neighbours are a segment) or offsets",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .scalars = scalars,
    .validate = &validate,
    .written = [](const Call& c, std::size_t, std::uint64_t) { return c.n(); },
    .default_cpu = "parallel",
    .default_gpu = "pipeline"};

}  // namespace upsweep
