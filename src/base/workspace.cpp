#include "base/workspace.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/platform.h"

namespace upsweep {
namespace {

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + Workspace::alignment - 1) / Workspace::alignment * Workspace::alignment;
}

// Returns the new size of an area that has `held` bytes and needs `bytes`: larger by at least half, so that a sweep
// over rising sizes does not allocate at every step, but without headroom beyond `most` bytes (0: unlimited).
std::size_t grown(std::size_t held, std::size_t bytes, std::size_t most = 0) {
  std::size_t larger = held + held / 2;
  if (most) larger = std::min(larger, most);
  return std::max(larger, bytes);
}

}  // namespace

std::size_t WorkspaceBytes::total() const { return padded(counters) + padded(kept) + arena; }

Workspace::Workspace() : source_(Source::none) {
  // A chunk of addresses that are never dereferenced. Its size is half of the maximum, so that the sum of two sizes
  // cannot wrap.
  constexpr std::uintptr_t first = alignment;
  chunks_.push_back({reinterpret_cast<std::byte*>(first), std::numeric_limits<std::size_t>::max() / 2, 0});
  use(0, 0);
}

Workspace::Workspace(Platform& platform, void* memory, const WorkspaceBytes& bytes)
    : platform_(&platform), source_(Source::caller) {
  auto* const at = static_cast<std::byte*>(memory);
  counters_ = {at, bytes.counters};
  kept_ = {at + padded(bytes.counters), bytes.kept};
  chunks_.push_back({at + padded(bytes.counters) + padded(bytes.kept), bytes.arena, 0});
  use(0, 0);
}

Workspace::~Workspace() {
  if (source_ != Source::platform) return;
  for (const Chunk& chunk : chunks_) platform_->release(chunk.memory);
  platform_->release(counters_.memory);
  platform_->release(kept_.memory);
}

void* Workspace::get(Area& area, std::size_t bytes) noexcept {
  area.asked = std::max(area.asked, bytes);
  if (bytes <= area.bytes) return area.memory;
  if (source_ == Source::caller) return nullptr;
  if (source_ == Source::none) {
    area.bytes = bytes;
    return area.memory = chunks_[0].memory;
  }
  const std::size_t larger = grown(area.bytes, bytes);
  try {
    void* memory = platform_->allocate(larger);
    platform_->fill(memory, 0, larger);
    platform_->synchronize();
    platform_->release(area.memory);
    area.bytes = larger;
    return area.memory = memory;
  } catch (const Error&) {
    return nullptr;
  }
}

void* Workspace::take(std::size_t bytes) noexcept {
  bytes = std::max<std::size_t>(bytes, 1);
  const auto free = static_cast<std::size_t>(end_ - top_);
  const std::size_t skipped = -reinterpret_cast<std::uintptr_t>(top_) % alignment;
  if (skipped > free || bytes > free - skipped) return take_from_new_chunk(bytes);
  return std::exchange(top_, top_ + skipped + bytes) + skipped;
}

void* Workspace::take_from_new_chunk(std::size_t bytes) noexcept {
  if (source_ != Source::platform) return nullptr;
  // Uses an unused chunk, or replaces it by a larger one: the current chunk if it is empty, otherwise a later chunk
  // that closed frames have left behind.
  const bool empty = used() == 0;
  const std::size_t at = chunks_.empty() || empty ? current_ : current_ + 1;
  if (!empty) chunks_[current_].used = used();
  if (at < chunks_.size() && chunks_[at].bytes >= bytes) {
    use(at, bytes);
    return chunks_[at].memory;
  }
  while (chunks_.size() > at) drop_chunk();
  // The first chunk is over-allocated, because it is often the only one; the others are merged once all frames end.
  if ((at == 0 && add_chunk(grown(steady_bytes_, bytes, most_))) || add_chunk(bytes)) {
    use(at, bytes);
    return chunks_[at].memory;
  }
  if (chunks_.empty())
    top_ = end_ = nullptr;
  else
    use(at - 1, chunks_[at - 1].used);
  return nullptr;
}

bool Workspace::add_chunk(std::size_t bytes) noexcept {
  try {
    chunks_.reserve(chunks_.size() + 1);
    chunks_.push_back({static_cast<std::byte*>(platform_->allocate(bytes)), bytes, 0});
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void Workspace::drop_chunk() noexcept {
  platform_->release(chunks_.back().memory);
  chunks_.pop_back();
}

void Workspace::use(std::size_t chunk, std::size_t used) noexcept {
  current_ = chunk;
  top_ = chunks_[chunk].memory + used;
  end_ = chunks_[chunk].memory + chunks_[chunk].bytes;
}

Workspace::Mark Workspace::open(std::size_t most) noexcept {
  ++frames_;
  if (most) most_ = most;
  return {current_, used()};
}

void Workspace::close(Mark mark) noexcept {
  std::size_t taken = used();
  for (std::size_t k = 0; k < current_; ++k) taken += padded(chunks_[k].used);
  peak_ = std::max(peak_, taken);
  if (!chunks_.empty()) use(mark.chunk, mark.used);
  if (--frames_ > 0) return;
  if (chunks_.size() > 1) merge_chunks();
  steady_bytes_ = chunks_.empty() ? 0 : chunks_[0].bytes;
  most_ = 0;
}

// Replaces all chunks by one of the peak size. Called when no frame is open.
void Workspace::merge_chunks() noexcept {
  const std::size_t bytes = grown(steady_bytes_, peak_, most_);
  while (!chunks_.empty()) drop_chunk();
  current_ = 0, top_ = end_ = nullptr;
  // If there is no memory for headroom, the peak must suffice; if that fails too, the next call allocates.
  if (add_chunk(bytes) || add_chunk(peak_)) use(0, 0);
}

std::size_t Workspace::held() const {
  std::size_t bytes = counters_.bytes + kept_.bytes;
  for (const Chunk& chunk : chunks_) bytes += chunk.bytes;
  return bytes;
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
