// The laboratory's side of scan.
#include "lab/primitive.h"
#include "ladders/scan/lab/oracle.h"

namespace upsweep {

extern const Contract scan_contract;

namespace ladders::scan {

std::unique_ptr<Streamer> stream(Platform&, const Rung&, const Case&);  // stream.cpp

namespace {

class ScanProblem final : public Problem {
 public:
  using Problem::Problem;
  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    return find_mistake(case_.type, case_.operation.as<Op>(), case_.settings.get("inclusive", false), values(),
                        outputs[0], case_.n, rung.peer ? Zeros::are_equal : Zeros::differ);
  }
};

}  // namespace
}  // namespace ladders::scan

extern const Primitive scan_primitive{
    .contract = scan_contract,
    .problem = &make_problem<ladders::scan::ScanProblem>,
    .sums_in_type = true,
    .stream = &ladders::scan::stream,
};

}  // namespace upsweep
