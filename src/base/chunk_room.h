// Room for a chunk of a stream in a platform's memory, and for one element that comes before it.
#pragma once
#include <cstddef>
#include <utility>

#include "base/platform.h"

namespace upsweep {

class ChunkRoom {
 public:
  explicit ChunkRoom(Platform& platform) : platform_(platform) {}
  ~ChunkRoom() { platform_.release(memory_); }
  ChunkRoom(const ChunkRoom&) = delete;
  ChunkRoom& operator=(const ChunkRoom&) = delete;
  // For a chunk of this many bytes; what was there is lost when it has to grow. Throws Error(out_of_memory).
  void grow(std::size_t bytes) {
    if (bytes <= bytes_) return;
    platform_.release(std::exchange(memory_, nullptr));
    memory_ = static_cast<std::byte*>(platform_.allocate(aligned + bytes));
    bytes_ = bytes;
  }
  std::byte* chunk() const { return memory_ + aligned; }

 private:
  static constexpr std::size_t aligned = 64;  // as the chunks are, and room enough for an element before
  Platform& platform_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace upsweep
