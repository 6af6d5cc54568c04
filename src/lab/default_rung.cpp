#include "lab/default_rung.h"

#include <array>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/contract.h"

namespace upsweep::lab {
namespace {

constexpr Status unknown{Code::unsupported, 0, "the chosen rung is not in this program"},
    not_compiled{Code::unsupported, 0, "the chosen rung does not take this call, or is not compiled for the type here"};

struct Slot {
  Platform* platform = nullptr;
  const Contract* contract = nullptr;
  Rung rung;
};
// Upper bound on ladders times platforms: the CPU, a GPU and two emulators.
constexpr std::size_t most_slots = 100;
std::array<Slot, most_slots> slots;

Status run(const Slot& slot, const Call& call) {
  const Rung* const rung = chosen_rung(*slot.contract, *slot.platform, call);
  if (!rung) return unknown;
  const RunFn run = rung->find_for(call.type(), call.operation, call.n());
  if (!run) return not_compiled;
  return call.stream.dry ? run_dry(*rung, run, call) : run(call);
}

RunFn find(const Slot& slot, Type type, Operation operation, RunFn run) {
  for (const Rung* rung : slot.platform->rungs_of(*slot.contract))
    if (!rung->expected_wrong && rung->find(type, operation)) return run;
  return nullptr;
}

// A rung's functions are plain function pointers, so each slot needs its own instantiation.
template <std::size_t k>
struct Functions {
  static Status run_slot(const Call& call) { return run(slots[k], call); }
  static RunFn find_slot(Type type, Operation operation) { return find(slots[k], type, operation, &run_slot); }
};
constexpr auto finds = []<std::size_t... k>(std::index_sequence<k...>) {
  return std::array{&Functions<k>::find_slot...};
}
(std::make_index_sequence<most_slots>());

}  // namespace

const Rung* default_rung(Platform& platform, const Primitive& primitive) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const Contract& contract = primitive.contract;
  if (!contract.choose) return nullptr;
  for (std::size_t k = 0; k < most_slots; ++k) {
    Slot& slot = slots[k];
    if (slot.platform == &platform && slot.contract == &contract) return &slot.rung;
    if (slot.platform) continue;
    slot = {.platform = &platform,
            .contract = &contract,
            .rung = {.primitive = contract.name,
                     .name = default_name,
                     .backend = platform.backend(),
                     .story = {.idea = "the rung that choose.h names for the call", .prediction = "as that rung's"},
                     .takes_scratch = true,
                     .find = finds[k]}};
    // The default has the union of the rungs' properties: a rung that it runs may need blocks in order, or take an
    // initial value, a wider output or segments.
    for (const Rung* rung : platform.rungs_of(contract))
      if (!rung->expected_wrong) {
        slot.rung.blocks_in_order |= rung->blocks_in_order;
        slot.rung.takes_initial |= rung->takes_initial;
        slot.rung.takes_wider_output |= rung->takes_wider_output;
        slot.rung.takes_segments |= rung->takes_segments;
      }
    return &slot.rung;
  }
  throw Error(Code::unsupported, "more ladders and platforms than defaults");
}

namespace {
// Element count of a probe case. Its array lengths are compared with those of a case twice as large, to find the arrays
// that grow with n.
constexpr std::size_t probe = 1 << 12;
}  // namespace

Choices::Choices(const Primitive& primitive, const Case& c) : primitive_(primitive), case_(c) {
  if (!primitive.contract.choose)
    throw Error(Code::unsupported, std::string(primitive.name()) + " has no rung that runs by default",
                "its rungs are named by --rung");
  case_.n = probe;
  const auto once = primitive.make(case_, {});
  case_.n = 2 * probe;
  const auto twice = primitive.make(case_, {});
  in_ = shapes_of(once->inputs(), twice->inputs());
  out_ = shapes_of(once->outputs(), twice->outputs());
}

std::vector<Choices::Shape> Choices::shapes_of(const std::vector<Array>& once, const std::vector<Array>& twice) {
  std::vector<Shape> shapes;
  for (std::size_t k = 0; k < once.size(); ++k) {
    const std::size_t per_element = (twice[k].count - once[k].count) / probe;
    shapes.push_back({once[k].type, once[k].count - per_element * probe, per_element});
  }
  return shapes;
}

Choice Choices::of(std::size_t n, const Machine& machine) const {
  static std::byte somewhere;  // a non-null address for every present array
  Case c = case_;
  c.n = n;
  Call call = call_of(primitive_, c);
  const auto fill = [&](const std::vector<Shape>& shapes, auto& arrays) {
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      const std::size_t count = shapes[k].fixed + shapes[k].per_element * n;
      arrays[k] = {shapes[k].type, count, count > 0 ? &somewhere : nullptr};
    }
  };
  fill(in_, call.in);
  fill(out_, call.out);
  return primitive_.contract.choose(call, machine);
}

}  // namespace upsweep::lab
