#include "base/workspace.h"

#include <algorithm>
#include <vector>

#include "base/platform.h"

namespace upsweep {

Workspace::~Workspace() {
  platform_->release(scratch_.memory);
  for (const Area& area : caller_scratch_) platform_->release(area.memory);
  platform_->release(counters_.memory);
  platform_->release(kept_.memory);
}

void* Workspace::get(Area& area, std::size_t bytes, bool zero, std::size_t most) noexcept {
  if (bytes <= area.bytes) return area.memory;
  // Growing by at least half keeps a sweep over rising sizes from allocating at every step.
  std::size_t larger = area.bytes + area.bytes / 2;
  if (most) larger = std::min(larger, most);
  larger = std::max(larger, bytes);
  try {
    void* memory = platform_->allocate(larger);
    if (zero) {
      platform_->fill(memory, 0, larger);
      platform_->synchronize();
    }
    platform_->release(area.memory);
    area = {memory, larger};
    return memory;
  } catch (const Error&) {
    return nullptr;
  }
}

bool Workspace::counters_are_zero() {
  if (!counters_.bytes) return true;
  std::vector<unsigned char> host(counters_.bytes);
  platform_->synchronize();
  platform_->copy_out(host.data(), counters_.memory, host.size());
  platform_->synchronize();
  return std::all_of(host.begin(), host.end(), [](unsigned char byte) { return byte == 0; });
}

}  // namespace upsweep
