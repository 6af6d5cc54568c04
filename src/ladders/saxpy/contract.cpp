#include "base/contract.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"x"}, {"y"}};
constexpr OutputRole outputs[] = {{.name = "the output", .may_be = 0b11}};
constexpr Parameter scalars[] = {{.name = "a", .kind = Parameter::Kind::element, .meaning = "the factor (2)"}};

void validate(const Call& c) {
  if (c.in[1].count != c.n())
    refuse("saxpy", "x has " + std::to_string(c.n()) + " elements, y " + std::to_string(c.in[1].count));
  require_type("saxpy", "y", c.in[1].type, c.type());
  require_room("saxpy", "the output", c.out[0].count, c.n());
  require_type("saxpy", "the output", c.out[0].type, c.type());
}

}  // namespace

extern const Contract saxpy_contract{.name = "saxpy",
                                     .promise = "out[i] = a * x[i] + y[i]",
                                     .inputs = inputs,
                                     .outputs = outputs,
                                     .scalars = scalars,
                                     .validate = &validate,
                                     .written = [](const Call& c, std::size_t, std::uint64_t) { return c.n(); },
                                     .default_cpu = "parallel",
                                     .default_gpu = "one_pack",
                                     .default_from_host = "from_host_pipelined"};

}  // namespace upsweep
