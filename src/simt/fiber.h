// Fibers: one stack a CUDA thread, switched in user space. A fiber stays on the OS thread that made it.
#pragma once
#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace upsweep::simt {

using Context = boost::context::detail::fcontext_t;

struct Fiber {
  Context context = nullptr;  // where it stopped
  std::uintptr_t top = 0;     // one past its stack: frames are told apart by their distance from it
};

// The fibers of one OS thread. Stacks lie in one region, so that "is this address on a stack" is one compare.
class FiberPool {
 public:
  // Every fiber starts in main(), which must never return.
  explicit FiberPool(void (*main)());
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  ~FiberPool();

  Fiber* take();
  void put(Fiber* fiber) { idle_.push_back(fiber); }
  // Forgets every fiber, wherever it stopped; what its stack held is not destroyed.
  void reset();
  std::uintptr_t stacks_begin() const { return region_; }
  std::size_t stacks_bytes() const;

  // Stops here, saving the place in `from`, and goes on at `to`.
  static void switch_to(Context to, Context& from) {
    const auto arrived = boost::context::detail::jump_fcontext(to, &from);
    *static_cast<Context*>(arrived.data) = arrived.fctx;
  }

 private:
  void (*main_)();
  std::uintptr_t region_ = 0;
  std::size_t guarded_ = 0;   // stacks whose guard page is set
  std::deque<Fiber> fibers_;  // a deque: fibers are pointed to
  std::vector<Fiber*> idle_;
};

}  // namespace upsweep::simt
