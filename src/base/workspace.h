// Scratch memory of rungs.
#pragma once
#include <cstddef>

namespace upsweep {

class Platform;

// Scratch memory that grows and is then reused, so that steady-state calls never allocate; used by one stream at a
// time.
// Areas:
//   scratch            arbitrary contents
//   scratch_of_caller  likewise, for a rung that calls another rung, which owns scratch() meanwhile; at depth 2, where
//                      that one calls another too
//   counters           zero at the start of every call; each kernel that uses them zeroes them again, which saves a
//                      memset per call
//   kept               persistent: contains what earlier calls left
class Workspace {
 public:
  explicit Workspace(Platform& platform) : platform_(&platform) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // Returns at least `bytes` with arbitrary contents, or null if allocation failed: the launcher then returns
  // out_of_memory. `most`: what a call may take in all; 0: any number of bytes.
  void* scratch(std::size_t bytes, std::size_t most = 0) noexcept { return get(scratch_, bytes, false, most); }
  void* scratch_of_caller(std::size_t bytes, unsigned depth = 1) noexcept {
    return get(caller_scratch_[depth - 1], bytes, false);
  }
  // Returns at least `count` counters, all zero, or null if allocation failed.
  unsigned* counters(std::size_t count) noexcept {
    return static_cast<unsigned*>(get(counters_, count * sizeof(unsigned), true));
  }
  struct Kept {
    unsigned long long* words;
    std::size_t count;
  };
  // Returns at least `count` words, zero when first handed out; `words` is null if allocation failed. For
  // kernel/descriptors.h.
  Kept kept(std::size_t count) noexcept {
    void* const words = get(kept_, count * sizeof(unsigned long long), true);
    return {static_cast<unsigned long long*>(words), kept_.bytes / sizeof(unsigned long long)};
  }
  // Bytes held now, in all areas. A call that is captured into a graph must not change this.
  std::size_t held() const {
    return scratch_.bytes + caller_scratch_[0].bytes + caller_scratch_[1].bytes + counters_.bytes + kept_.bytes;
  }
  // True if every counter is zero, as the contract requires. Synchronises; for checks.
  bool counters_are_zero();

 private:
  struct Area {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  void* get(Area& area, std::size_t bytes, bool zero, std::size_t most = 0) noexcept;
  Platform* platform_;
  Area scratch_, caller_scratch_[2], counters_, kept_;
};

}  // namespace upsweep
