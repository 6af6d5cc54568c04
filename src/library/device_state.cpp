#include "library/device_state.h"

#include <string>

namespace upsweep::detail {
namespace {

// True for the rungs that a caller may name: those of this ladder, except deliberate bugs.
bool is_callable(const Rung& rung, const Contract& contract) {
  return rung.primitive == contract.name && !rung.expected_wrong;
}

}  // namespace

const Rung& DeviceState::default_rung(const Contract& contract) {
  for (const auto& [known, rung] : defaults_)
    if (known == &contract) return *rung;
  const std::string_view name = backend == Backend::cpu ? contract.default_cpu : contract.default_gpu;
  if (name.empty())
    throw Error(Code::unsupported, std::string(contract.name) + " has no rung that runs by default", "name one");
  defaults_.emplace_back(&contract, &resolve_rung(*this, contract, name));
  return *defaults_.back().second;
}

const Rung& resolve_rung(DeviceState& state, const Contract& contract, std::string_view name) {
  if (name.empty()) return state.default_rung(contract);
  const Rungs rungs = state.platform.rungs();
  for (const Rung* rung : rungs)
    if (rung->name == name && is_callable(*rung, contract)) return *rung;
  std::string hint = "its rungs:";
  for (const Rung* rung : rungs)
    if (is_callable(*rung, contract)) hint.append(" ").append(rung->name);
  throw Error(Code::invalid_argument,
              std::string(contract.name) + " has no rung '" + std::string(name) + "' on " +
                  std::string(to_string(state.backend)),
              hint);
}

RunFn resolve_run(const Rung& rung, Type type, Operation operation, std::size_t n) {
  const std::string name = std::string(rung.primitive) + "/" + std::string(rung.name);
  const RunFn run = rung.find(type, operation);
  if (!run)
    throw Error(Code::unsupported,
                name + " does not take " +
                    (operation ? "the " + std::string(operation.name()) + " of " : std::string()) +
                    std::string(to_string(type)),
                "its limits: " + std::string(rung.story.limits));
  if (rung.largest && n > rung.largest)
    throw Error(Code::unsupported,
                name + " takes up to " + std::to_string(rung.largest) + " elements, not " + std::to_string(n));
  return run;
}

}  // namespace upsweep::detail
