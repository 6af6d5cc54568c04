// The state of a Device, and the lookup from a rung's name to its function.
#pragma once
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/contract.h"
#include "base/platform.h"
#include "base/workspace.h"
#include "upsweep/device.h"

namespace upsweep::detail {

struct DeviceState {
  DeviceState(Platform& p, Stream s, bool owns) : platform(p), stream(s), owns_stream(owns) {}
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  ~DeviceState() {
    const Activated activated(platform);
    if (mailbox_) platform.memory(MemoryKind::pinned).release(mailbox_);
    if (owns_stream) platform.destroy_stream(stream);
  }

  // Page-locked memory for results of a few bytes that a call returns to the host: the kernel writes the results there,
  // which saves a copy from the device.
  static constexpr std::size_t mailbox_bytes = 256;
  std::byte* mailbox() {
    if (!mailbox_) mailbox_ = static_cast<std::byte*>(platform.memory(MemoryKind::pinned).allocate(mailbox_bytes));
    return mailbox_;
  }

  // Returns the rung that the contract's choose() has named; each name is looked up once.
  const Rung& chosen_rung(const Contract& contract, const Choice& choice);

  Platform& platform;
  const Stream stream;
  const bool owns_stream;
  Workspace workspace{platform};  // the rungs' scratch
  Workspace staging{platform};    // device copies of host arrays
  const Backend backend = platform.backend();

 private:
  // The rungs chosen so far, by the address of their name: choose() returns string constants.
  std::vector<std::pair<const char*, const Rung*>> chosen_;
  std::byte* mailbox_ = nullptr;
};

// Returns the rung `name` of a ladder. Throws Error(invalid_argument) if there is none, with the names of the ladder's
// rungs in the hint.
const Rung& named_rung(DeviceState& state, const Contract& contract, std::string_view name);

// Returns the rung for a call that names none. Throws Error(unsupported) if the ladder has none.
const Rung& chosen_rung(DeviceState& state, const Contract& contract, const Call& call);

// Returns the rung's function. Throws Error(unsupported) if the rung does not take this type, operation or n, or cannot
// run on this machine.
RunFn resolve_run(const Rung& rung, Type type, Operation operation, std::size_t n, const Machine& machine);

}  // namespace upsweep::detail
