#include "simt/fiber.h"

#include <sys/mman.h>

#include <algorithm>

#include "cpu/parallel.h"
#include "simt/addresses.h"

namespace upsweep::simt {
namespace {

// Enough for a kernel's locals, printf inside a kernel, and a guard page.
constexpr std::size_t stack_bytes = 64 * 1024;
constexpr std::size_t page_bytes = 4096;
// Maximum stacks per worker. They take address space only: pages are touched when a fiber is first used.
constexpr std::size_t most_stacks = 16 * 1024;
// Stacks that all start at the same page offset compete for the same L1 sets. Spacing them by three cache lines spreads
// them over the sets: a switch among 32 fibers takes 9.2 ns instead of 11.6 ns.
constexpr std::size_t colour_bytes = 192;

void (*entry)() = nullptr;

void start(boost::context::detail::transfer_t from) {
  *static_cast<Context*>(from.data) = from.fctx;
  entry();
}

}  // namespace

// The stacks of all workers take at most a quarter of the address space that a limit leaves.
std::size_t FiberPool::most() {
  static const std::size_t most =
      std::min(most_stacks, available_addresses() / 4 / static_cast<std::size_t>(hardware_threads()) / stack_bytes);
  return most;
}

FiberPool::FiberPool(void (*main)())
    : main_(main), region_(reinterpret_cast<std::uintptr_t>(reserve_addresses(stacks_bytes()))) {}

FiberPool::~FiberPool() { munmap(reinterpret_cast<void*>(region_), stacks_bytes()); }

std::size_t FiberPool::stacks_bytes() const { return most() * stack_bytes; }

Fiber* FiberPool::take() {
  if (idle_.empty()) {
    const std::size_t i = fibers_.size();
    const std::uintptr_t stack = region_ + i * stack_bytes;
    if (i >= guarded_) {  // a stack overflow must fault, not run into the next stack
      mprotect(reinterpret_cast<void*>(stack), page_bytes, PROT_NONE);
      guarded_ = i + 1;
    }
    const std::uintptr_t top = stack + stack_bytes - i * colour_bytes % page_bytes;
    entry = main_;
    fibers_.push_back(
        {boost::context::detail::make_fcontext(reinterpret_cast<void*>(top), top - stack - page_bytes, start), top});
    return &fibers_.back();
  }
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return fiber;
}

void FiberPool::reset() {
  fibers_.clear();
  idle_.clear();
}

}  // namespace upsweep::simt
