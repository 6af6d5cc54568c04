#include "lab/collecting_streamer.h"

#include <algorithm>
#include <limits>

namespace upsweep {

namespace {

// A run is in memory up to three times: where the rung reads it, where the rung writes it or has its scratch, and as
// much of the next run as has been collected.
constexpr std::size_t copies = 3;
// Beside it, the chunks of two inputs that are being read and passed on.
constexpr std::size_t chunks = 8;
// Indices in a run, and offsets, have 32 bits.
constexpr std::size_t most_elements = std::numeric_limits<std::uint32_t>::max();

}  // namespace

CollectingStreamer::CollectingStreamer(Platform& platform, const Rung& rung, const Case& c)
    : RungStreamer(platform, rung, c),
      device_bytes_(platform.backend() == Backend::cuda ? platform.describe().memory_bytes : 0) {
  use(Storage{});
}

void CollectingStreamer::use(const Storage& storage) {
  chunk_bytes_ = chunk_for(storage.bytes);
  run_bytes_ = std::max(storage.bytes - std::min(storage.bytes, chunks * chunk_bytes_), chunk_bytes_) / copies;
  if (device_bytes_) run_bytes_ = std::min(run_bytes_, device_bytes_ / copies);
  folder_ = storage.folder;
}

// A run is kept when more follows, so that an input of one run never goes through a file.
void CollectingStreamer::feed(Chunks chunks, const Sink&) {
  if (is_full()) {
    if (!spool_) spool_.emplace(folder_);
    keep_run();
  }
  collect(chunks);
}

void CollectingStreamer::finish(const Sink& sink) {
  if (!spool_) return pass_run(sink);
  if (collected()) keep_run();
  merge_runs(sink);
}

void CollectingStreamer::collect(Chunks chunks) {
  for (std::size_t input = 0; input < chunks.size(); ++input) {
    const auto chunk = chunks[input];
    if (chunk.empty()) continue;
    auto* const copy = static_cast<std::byte*>(cpu_platform().allocate(chunk.size()));
    std::copy(chunk.begin(), chunk.end(), copy);
    collected_[input].push_back({std::unique_ptr<std::byte, Elements::Release>(copy), chunk.size()});
  }
}

std::size_t CollectingStreamer::bytes_of(std::size_t input) const {
  std::size_t bytes = 0;
  for (const Elements& chunk : collected_[input]) bytes += chunk.bytes;
  return bytes;
}

bool CollectingStreamer::is_full() const {
  std::size_t bytes = 0;
  for (std::size_t input = 0; input < collected_.size(); ++input) bytes += bytes_of(input);
  return bytes > 0 && (bytes >= run_bytes_ || collected() > most_elements - most_chunk_bytes);
}

std::byte* CollectingStreamer::take_collected(std::size_t input, Room& room) {
  std::byte* const begin = room.grow(bytes_of(input));
  std::byte* to = begin;
  for (Elements& chunk : collected_[input]) {
    room.put(to, {chunk.memory.get(), chunk.bytes});
    to += chunk.bytes;
    chunk.memory.reset();
  }
  collected_[input].clear();
  return begin;
}

}  // namespace upsweep
