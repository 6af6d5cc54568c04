#include "library/device_state.h"

#include <string>

namespace upsweep::detail {
namespace {

// What a caller may name: our own rungs, and of those the right ones.
bool is_callable(const Rung& rung, const Primitive& primitive) {
  return rung.primitive == primitive.name && !rung.peer && !rung.expected_wrong;
}

}  // namespace

const Rung& DeviceState::default_rung(const Primitive& primitive) {
  for (const auto& [known, rung] : defaults_)
    if (known == &primitive) return *rung;
  const std::string_view name = backend == Backend::cpu ? primitive.default_rung_cpu : primitive.default_rung_gpu;
  defaults_.emplace_back(&primitive, &resolve_rung(*this, primitive, name));
  return *defaults_.back().second;
}

const Rung& resolve_rung(DeviceState& state, const Primitive& primitive, std::string_view name) {
  if (name.empty()) return state.default_rung(primitive);
  const Rungs rungs = state.platform.rungs();
  for (const Rung* rung : rungs)
    if (rung->name == name && is_callable(*rung, primitive)) return *rung;
  std::string hint = "its rungs:";
  for (const Rung* rung : rungs)
    if (is_callable(*rung, primitive)) hint.append(" ").append(rung->name);
  throw Error(Code::invalid_argument,
              std::string(primitive.name) + " has no rung '" + std::string(name) + "' on " +
                  std::string(to_string(state.backend)),
              hint);
}

RunFn resolve_run(const Rung& rung, Type type, Op op) {
  if (const RunFn run = rung.find(type, op)) return run;
  throw Error(Code::unsupported,
              std::string(rung.primitive) + "/" + std::string(rung.name) + " does not take the " +
                  std::string(to_string(op)) + " of " + std::string(to_string(type)),
              "its limits: " + std::string(rung.story.limits));
}

void run_or_throw(DeviceState& state, const Rung& rung, RunFn run, const Call& call) {
  state.platform.activate();
  const Status status = run(call);
  if (status) return;
  throw Error(status.code, std::string(rung.primitive) + "/" + std::string(rung.name) + ", " +
                               std::string(to_string(call.op)) + " of " + std::to_string(call.n) + " " +
                               std::string(to_string(call.type)) + " on " + std::string(to_string(rung.backend)) +
                               ": " + (status.message ? status.message : "failed"));
}

}  // namespace upsweep::detail
