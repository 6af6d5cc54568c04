#include "ladders/histogram/lab/oracle.h"

#include <algorithm>

#include "lab/oracle.h"
#include "ladders/histogram/binding.h"

namespace upsweep::ladders::histogram {
namespace {

// Calls f(Args<T, O>) with the arguments that a rung would get.
auto visit_args(const Call& c, auto&& f) {
  return upsweep::visit(c.type(), [&]<class T>(TypeTag<T>) {
    decltype(f(Binding::args<std::uint8_t, By<Binning::even>>(c))) result{};
    const auto call = [&]<class O>(O) {
      if constexpr (Binding::takes<T, O>) result = f(Binding::args<T, O>(c));
    };
    switch (c.operation.as<Binning>()) {
      case Binning::even:
        call(By<Binning::even>{});
        break;
      case Binning::edges:
        call(By<Binning::edges>{});
        break;
      case Binning::direct:
        call(By<Binning::direct>{});
        break;
    }
    return result;
  });
}

}  // namespace

std::vector<std::uint64_t> count(const Call& call) {
  return visit_args(call, [](const auto& a) {
    std::vector<std::uint64_t> counts(a.in.counters() + 1);
    for (std::size_t i = 0; i < a.in.samples.count; ++i) ++counts[a.in.counter_of(i)];
    return counts;
  });
}

std::optional<std::string> find_mistake(const std::vector<std::uint64_t>& counts, const Call& call) {
  // Only the outputs are read, which do not depend on type and operation.
  const Output out{call.out[0].data, 8 * static_cast<unsigned>(size_of(call.out[0].type)),
                   call.out[1].as<std::uint64_t>()};
  for (std::size_t k = 0; k + 1 < counts.size(); ++k) {
    const std::uint64_t should = std::min(counts[k], out.top());
    if (out.get(k) != should) return wrong_element(k, out.get(k), std::to_string(should), 0, "out[0]");
  }
  if (out.outside && *out.outside != counts.back())
    return wrong_element(0, *out.outside, std::to_string(counts.back()), 0, "out[1]");
  return std::nullopt;
}

}  // namespace upsweep::ladders::histogram
