#include "base/contract.h"

#include "ladders/segmented_scan/binding.h"

namespace upsweep {
namespace {

constexpr Operation operations[] = {Op::sum, Op::min, Op::max};
constexpr InputRole inputs[] = {{"the input"}, {"the heads", Fit::custom}};
constexpr OutputRole outputs[] = {{.name = "the output", .may_be = 0b1}};
constexpr Parameter scalars[] = {
    {.name = "inclusive", .kind = Parameter::Kind::flag, .meaning = "out[i] includes in[i] (false)"},
    {.name = "heads",
     .kind = Parameter::Kind::choice,
     .meaning = "how segments are given (flags)",
     .choices = head_kind_names}};

void validate(const Call& c) {
  const auto kind = c.scalars[1].as<HeadKind>();
  require_type("segmented_scan", "the array of heads", c.in[1].type, ladders::segmented_scan::element_of(kind));
  if (kind != HeadKind::offsets) require_room("segmented_scan", "the array of heads", c.in[1].count, c.n());
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
    .default_cpu = "parallel",
    .default_gpu = "pipeline"};

}  // namespace upsweep
