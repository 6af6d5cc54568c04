#include "lab/collecting_streamer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "cpu/cache.h"
#include "cpu/parallel.h"

namespace upsweep {

namespace {

// Number of chunks in memory besides the run: about four of each of two inputs, being read or passed on.
constexpr std::size_t chunks_beside = 8;
// Returns the bytes that the cores use besides the run: each as much as its L2, and 1 MiB for counters.
std::size_t bytes_of_cores() {
  return static_cast<std::size_t>(hardware_threads()) * (second_level_cache_bytes() + (std::size_t{1} << 20));
}
// Maximum number of elements of a run: indices and offsets within it are 32-bit.
constexpr std::size_t most_elements = std::numeric_limits<std::uint32_t>::max();
// Lower bound on a run's memory in bytes, even if Storage allows less.
constexpr std::size_t least_memory = std::size_t{4} << 20;

}  // namespace

CollectingStreamer::CollectingStreamer(Platform& platform, const Rung& rung, const Case& c)
    : RungStreamer(platform, rung, c),
      device_bytes_(platform.backend() == Backend::cuda ? platform.describe().memory_bytes : 0) {
  use(Storage{});
}

void CollectingStreamer::use(const Storage& storage) {
  chunk_bytes_ = chunk_for(storage.bytes);
  memory_ = std::max(storage.bytes - std::min(storage.bytes / 2, chunks_beside * chunk_bytes_ + bytes_of_cores()),
                     least_memory);
  if (device_bytes_) memory_ = std::min(memory_, device_bytes_);
  elements_ = storage.elements;
  folder_ = storage.folder;
}

std::uint64_t CollectingStreamer::bytes_after_input(std::uint64_t n) const {
  std::uint64_t element = size_of(output_type());
  for (const Beside& output : other_outputs())
    if (!output.optional && output.type) element += size_of(*output.type);
  return n * element;
}

std::size_t CollectingStreamer::run_elements() const { return std::min(memory_ / bytes_of_element(), most_elements); }

// Spools a run only once more input follows, so that an input that fits one run never goes through a file.
void CollectingStreamer::feed(Chunks chunks, const Sink&) {
  see(chunks);
  const std::size_t n = chunks[0].size() / size_of(case_.type);
  for (std::size_t done = 0, some; done < n; done += some) {
    if (capacity_ == 0) {
      ElementBytes bytes{};
      for (std::size_t k = 0; k < chunks.size(); ++k) bytes[k] = chunks[k].size() / n;
      make_room(std::min<std::uint64_t>(run_elements(), elements_.value_or(most_elements)), bytes);
    }
    const std::size_t most = std::min(run_elements(), capacity_);
    if (collected_ >= most) keep();
    some = std::min(n - done, most - collected_);
    std::array<std::span<const std::byte>, arrays_of_a_call> parts;
    for (std::size_t k = 0; k < chunks.size(); ++k)
      parts[k] = chunks[k].subspan(done * inputs_[k].element, some * inputs_[k].element);
    collect(Chunks(parts).first(chunks.size()));
  }
}

void CollectingStreamer::finish(const Sink& sink) {
  if (!spool_) return pass_run(sink);
  if (collected_ > 0) keep();
  merge_runs(sink);
}

void CollectingStreamer::keep() {
  if (!spool_) spool_.emplace(folder_);
  keep_run();
  drop_collected();
}

void CollectingStreamer::make_room(std::size_t capacity, const ElementBytes& element_bytes) {
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    inputs_[k] = {.element = element_bytes[k]};
    if (element_bytes[k] == 0) continue;
    try {
      inputs_[k].memory.reset(static_cast<std::byte*>(cpu_platform().allocate(capacity * element_bytes[k])));
    } catch (const Error& error) {
      throw Error(error.code(), error.what(), less_memory);
    }
  }
  capacity_ = capacity;
  collected_ = 0;
}

void CollectingStreamer::drop_collected() {
  for (Elements& input : inputs_) input.used = 0;
  collected_ = 0;
}

void CollectingStreamer::collect(Chunks chunks) {
  for (std::size_t k = 0; k < chunks.size(); ++k) {
    if (chunks[k].empty()) continue;
    std::memcpy(inputs_[k].memory.get() + inputs_[k].used, chunks[k].data(), chunks[k].size());
    inputs_[k].used += chunks[k].size();
  }
  collected_ += chunks[0].size() / size_of(case_.type);
}

std::byte* CollectingStreamer::take_collected(std::size_t input, Room& room) {
  const Elements& elements = inputs_[input];
  // The cast is safe: the data is a copy in `room`, or in memory allocated by make_room().
  return const_cast<std::byte*>(reachable({elements.memory.get(), elements.used}, room));
}

void CollectingStreamer::release_memory() {
  for (Elements& input : inputs_) input = {};
  collected_ = capacity_ = 0;
  release_scratch();
}

}  // namespace upsweep
