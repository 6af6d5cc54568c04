// Fibers: one stack per CUDA thread, switched in user space. A fiber stays on the OS thread that created it.
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
  std::uintptr_t top = 0;     // one past the end of its stack; frames are identified by their distance from it
};

// The fibers of one OS thread. All stacks are in one region, so that one compare tells whether an address is on a
// stack.
class FiberPool {
 public:
  // Every fiber starts in main(), which must never return.
  explicit FiberPool(void (*main)());
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  ~FiberPool();

  Fiber* take();
  void put(Fiber* fiber) { idle_.push_back(fiber); }
  // Discards every fiber, wherever it stopped; objects on its stack are not destroyed.
  void reset();
  std::uintptr_t stacks_begin() const { return region_; }
  std::size_t stacks_bytes() const;
  // Returns the maximum number of fibers per pool: 16 blocks (the largest cluster) of 1024 threads, or fewer if address
  // space is limited. All pools have the same maximum.
  static std::size_t most();

  // Saves the running context in `from` and resumes `to`.
  static void switch_to(Context to, Context& from) {
    const auto arrived = boost::context::detail::jump_fcontext(to, &from);
    *static_cast<Context*>(arrived.data) = arrived.fctx;
  }

 private:
  void (*main_)();
  std::uintptr_t region_ = 0;
  std::size_t guarded_ = 0;   // stacks whose guard page is set
  std::deque<Fiber> fibers_;  // a deque, so that pointers to fibers stay valid
  std::vector<Fiber*> idle_;
};

}  // namespace upsweep::simt
