// The emulator's device memory: one region, reserved on first use, with a shadow that counts the valid bytes in every
// 16.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace upsweep::simt {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // Returns poisoned memory, aligned to 256 bytes, with red zones on both sides. Throws Error(out_of_memory).
  void* allocate(std::size_t bytes);
  void release(void* memory) noexcept;

  // Cheap enough for every access: two compares and two shadow bytes.
  bool contains(std::uintptr_t address) const { return address - begin_ < size_; }
  // True if both ends of the range are in an allocation. Enough for any access: red zones are wider than 16 bytes, and
  // a bulk copy that spans a whole neighbour is not a realistic mistake.
  bool valid(std::uintptr_t address, std::size_t bytes) const {
    const std::size_t first = address - begin_, last = first + bytes - 1;
    return first < size_ && last < size_ && shadow_[first / granule] > first % granule &&
           shadow_[last / granule] > last % granule;
  }
  // "8 bytes past the end of a buffer of 4096 bytes": relative to the nearest allocation.
  std::string describe(std::uintptr_t address);
  // Reserves the region if it is not yet reserved. Throws Error(out_of_memory).
  void reserve();
  std::uintptr_t begin() const { return begin_; }
  // The size of the region in bytes; before it is reserved, the size that it would have now.
  std::size_t size() const { return size_ ? size_ : reservable(); }

 private:
  static constexpr std::size_t granule = 16;
  static std::size_t reservable();
  void reserve_locked();
  std::uintptr_t take_free(std::size_t need);  // 0: no range is large enough
  void give_back(std::uintptr_t begin, std::size_t bytes);
  void set_shadow(std::uintptr_t from, std::size_t bytes, bool valid);
  std::mutex mutex_;
  std::uintptr_t begin_ = 0;
  std::size_t size_ = 0;
  std::uint8_t* shadow_ = nullptr;
  std::map<std::uintptr_t, std::size_t> allocations_;  // address -> bytes
  std::map<std::uintptr_t, std::size_t> free_;         // address -> bytes, never adjacent
  // Released, oldest first, and not yet reusable, so that a use after release stays out of bounds for a while.
  std::deque<std::pair<std::uintptr_t, std::size_t>> quarantine_;
  std::size_t quarantined_ = 0;
};

}  // namespace upsweep::simt
