// The laboratory's side of rotate.
#include "lab/oracle.h"
#include "lab/primitive.h"
#include "upsweep/parameters/rotate.h"

namespace upsweep {

extern const Contract rotate_contract;

namespace ladders::rotate {
namespace {

class RotateProblem final : public Problem {
 public:
  using Problem::Problem;
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    const Call call = host_call(outputs);
    const std::uint64_t by = rotate_scalars.read(call.scalars).by;
    return visit(case_.type, [&]<class T>(TypeTag<T>) -> std::optional<std::string> {
      const T *const in = call.in[0].as<const T>(), *const out = call.out[0].as<const T>();
      for (std::size_t i = 0; i < call.n(); ++i)
        if (const T expected = in[(i + by) % call.n()]; !same_value(out[i], expected))
          return wrong_element(i, out[i], show(expected));
      return std::nullopt;
    });
  }
};

}  // namespace
}  // namespace ladders::rotate

extern const Primitive rotate_primitive{
    .contract = rotate_contract,
    .variants =
        [](const Primitive& p, Type type) {
          return std::vector<Settings>{{}, p.settings(type, {{"by", "0"}}), p.settings(type, {{"by", "12345"}})};
        },
    .problem = &make_problem<ladders::rotate::RotateProblem>,
};

}  // namespace upsweep
