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
// Ladders times platforms: the CPU, a GPU and two emulators.
constexpr std::size_t most_slots = 100;
std::array<Slot, most_slots> slots;

Status run(const Slot& slot, const Call& call) {
  const Rung* const rung = chosen_rung(*slot.contract, *slot.platform, call);
  if (!rung) return unknown;
  const RunFn run = rung->find_for(call.type(), call.operation, call.n());
  return run ? run(call) : not_compiled;
}

RunFn find(const Slot& slot, Type type, Operation operation, RunFn run) {
  for (const Rung* rung : slot.platform->rungs())
    if (rung->primitive == slot.contract->name && !rung->expected_wrong && rung->find(type, operation)) return run;
  return nullptr;
}

// A rung's functions are plain ones, so each slot has its own.
template <std::size_t k>
struct Functions {
  static Status run_slot(const Call& call) { return run(slots[k], call); }
  static RunFn find_slot(Type type, Operation operation) { return find(slots[k], type, operation, &run_slot); }
};
constexpr auto finds = []<std::size_t... k>(std::index_sequence<k...>) {
  return std::array{&Functions<k>::find_slot...};
}(std::make_index_sequence<most_slots>());

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
                     .story = {.idea = "the rung that choose.h names for the call", .prediction = "its own"},
                     .find = finds[k]}};
    // What any of them does, the default may do.
    for (const Rung* rung : platform.rungs())
      if (rung->primitive == contract.name && !rung->expected_wrong) slot.rung.blocks_in_order |= rung->blocks_in_order;
    return &slot.rung;
  }
  throw Error(Code::unsupported, "more ladders and platforms than defaults");
}

Choice choice_for(const Platform& platform, const Primitive& primitive, const Case& c) {
  if (!primitive.contract.choose)
    throw Error(Code::unsupported, std::string(primitive.name()) + " has no rung that runs by default");
  // Two small cases tell which arrays grow with n.
  constexpr std::size_t small = 1 << 12;
  Case probe = c;
  const auto made = [&](std::size_t n) {
    probe.n = n;
    return primitive.make(probe, {});
  };
  const auto once = made(small), twice = made(2 * small);
  static std::byte somewhere;  // an array that is there has an address
  const auto scaled = [&](const std::vector<Array>& one, const std::vector<Array>& two, auto& arrays) {
    for (std::size_t k = 0; k < one.size(); ++k) {
      const std::size_t count = one[k].count == two[k].count ? one[k].count : c.n * (one[k].count / small);
      arrays[k] = {one[k].type, count, count > 0 ? &somewhere : nullptr};
    }
  };
  Call call = call_of(primitive, c);
  scaled(once->inputs(), twice->inputs(), call.in);
  scaled(once->outputs(), twice->outputs(), call.out);
  return primitive.contract.choose(call, platform.machine());
}

}  // namespace upsweep::lab
