// Device memory for one chunk of a stream, with room for one element before it.
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
  // Makes room for a chunk of this many bytes; growing discards the contents. Throws Error(out_of_memory).
  void grow(std::size_t bytes) {
    if (bytes <= bytes_) return;
    platform_.release(std::exchange(memory_, nullptr));
    memory_ = static_cast<std::byte*>(platform_.allocate(aligned + bytes));
    bytes_ = bytes;
  }
  std::byte* chunk() const { return memory_ + aligned; }

 private:
  static constexpr std::size_t aligned = 64;  // the chunk's alignment, and room for an element before it
  Platform& platform_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace upsweep
