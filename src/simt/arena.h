// The emulator's device memory: one region, reserved on first use, with a shadow byte per 16 bytes that counts how many
// of them, from the first, are valid.
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

  // contains() and valid() are called for every access and take at most two compares and two shadow bytes.
  bool contains(std::uintptr_t address) const { return address - begin_ < size_; }
  // True if the first and the last byte of the range are valid. Checking the ends suffices: red zones are wider than
  // the widest access, 16 bytes, and a bulk copy that spans a whole neighbouring buffer is not a realistic mistake.
  bool valid(std::uintptr_t address, std::size_t bytes) const {
    const std::size_t first = address - begin_, last = first + bytes - 1;
    return first < size_ && last < size_ && shadow_[first / granule] > first % granule &&
           shadow_[last / granule] > last % granule;
  }
  // Describes an address relative to the nearest buffer: "8 bytes past the end of a buffer of 4096 bytes".
  std::string describe(std::uintptr_t address);
  // Reserves the region if it is not yet reserved. Throws Error(out_of_memory).
  void reserve();
  std::uintptr_t begin() const { return begin_; }
  // Returns the size of the region in bytes; if it is not yet reserved, the size that would be reserved now.
  std::size_t size() const { return size_ ? size_ : reservable(); }

 private:
  static constexpr std::size_t granule = 16;
  static std::size_t reservable();
  void reserve_locked();
  std::uintptr_t take_free(std::size_t need);  // returns 0 if no range is large enough
  void give_back(std::uintptr_t begin, std::size_t bytes);
  void set_shadow(std::uintptr_t from, std::size_t bytes, bool valid);
  std::mutex mutex_;
  std::uintptr_t begin_ = 0;
  std::size_t size_ = 0;
  std::uint8_t* shadow_ = nullptr;
  std::map<std::uintptr_t, std::size_t> allocations_;  // address -> bytes
  std::map<std::uintptr_t, std::size_t> free_;         // address -> bytes, never adjacent
  // Released ranges (address, bytes), oldest first. They are not yet reused, so that a use after release stays out of
  // bounds for a while.
  std::deque<std::pair<std::uintptr_t, std::size_t>> quarantine_;
  std::size_t quarantined_ = 0;
};

}  // namespace upsweep::simt
