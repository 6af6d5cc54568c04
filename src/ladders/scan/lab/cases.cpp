// The laboratory's cases of scan: inputs, parameters, verification.
#include "lab/primitive.h"
#include "lab/sums.h"
#include "ladders/scan/lab/oracle.h"
#include "ladders/scan/lab/probes.h"

namespace upsweep {

extern const Contract scan_contract;

namespace ladders::scan {

std::unique_ptr<Streamer> stream(Platform&, const Rung&, const Case&);  // stream.cpp

namespace {

class ScanProblem final : public Problem {
 public:
  ScanProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : Problem(primitive, c, data), type_(out_type_of(primitive, c)), in_(c.type, values(), c.n, type_) {}
  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    return find_mistake(type_, case_.operation.as<Op>(), case_.settings.get("inclusive", false), in_.data(), outputs[0],
                        case_.n, rung.peer ? Zeros::are_equal : Zeros::differ, initial_value(case_));
  }

 private:
  const Type type_;  // the output's type
  const Converted in_;
};

}  // namespace
}  // namespace ladders::scan

extern const Primitive scan_primitive{
    .contract = scan_contract,
    .types = &all_types,
    .shapes = sum_shapes,
    .streamed = sum_shapes_streamed,
    .variants = &sum_variants,
    .probes = ladders::scan::probes,
    .problem = &make_problem<ladders::scan::ScanProblem>,
    .sums_in_type = true,
    .stream = &ladders::scan::stream,
};

}  // namespace upsweep
