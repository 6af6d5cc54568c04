#include "library/device_state.h"

#include <string>

#include "base/needs.h"

namespace upsweep::detail {

const Rung& DeviceState::chosen_rung(const Contract& contract, const Choice& choice) {
  for (const auto& [name, rung] : chosen_)
    if (name == choice.rung.data() && rung->primitive == contract.name) return *rung;
  const Rung* const rung = find_rung(platform.rungs_of(contract), contract.name, choice.rung);
  if (!rung)
    throw Error(Code::unsupported,
                std::string(contract.name) + "/" + std::string(choice.rung) + " is not in this program, on " +
                    to_string(platform.machine()),
                "name another rung");
  chosen_.emplace_back(choice.rung.data(), rung);
  return *rung;
}

const Rung& chosen_rung(DeviceState& state, const Contract& contract, const Call& call) {
  if (!contract.choose)
    throw Error(Code::unsupported, std::string(contract.name) + " has no rung that runs by default", "name one");
  return state.chosen_rung(contract, contract.choose(call, state.platform.machine()));
}

const Rung& named_rung(DeviceState& state, const Contract& contract, std::string_view name) {
  const Rungs rungs = state.platform.rungs_of(contract);
  for (const Rung* rung : rungs)
    if (rung->name == name && !rung->expected_wrong) return *rung;
  std::string hint = "its rungs:";
  for (const Rung* rung : rungs)
    if (!rung->expected_wrong) hint.append(" ").append(rung->name);
  throw Error(Code::invalid_argument,
              std::string(contract.name) + " has no rung '" + std::string(name) + "' on " +
                  std::string(to_string(state.backend)),
              hint);
}

RunFn resolve_run(const Rung& rung, Type type, Operation operation, std::size_t n, const Machine& machine) {
  const std::string name = std::string(rung.primitive) + "/" + std::string(rung.name);
  require_needs(rung, machine);
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
