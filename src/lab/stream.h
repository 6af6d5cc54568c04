// Base of the streamers that pass each chunk through the rung.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/combine.h"
#include "base/platform.h"
#include "base/workspace.h"
#include "lab/primitive.h"

namespace upsweep {

// Maximum bytes per read: enough to amortise a launch or a fork-join.
inline constexpr std::size_t most_chunk_bytes = std::size_t{32} << 20;

// Returns the bytes per read if a run may use this much memory: 1/32 of it, rounded down to a power of two, from 1 MiB
// to most_chunk_bytes. About four chunks of each input are in memory together.
std::size_t chunk_for(std::size_t memory);

// The hint of out-of-memory errors.
inline constexpr const char* less_memory = "lower the limit: --memory 64M";

// Base class with the rung's function, its scratch, and chunks in memory that the rung can access.
class RungStreamer : public Streamer {
 public:
  // Throws Error(unsupported) unless the rung takes the case's type and operation, and a whole chunk.
  RungStreamer(Platform& platform, const Rung& rung, const Case& c);
  // The properties of the outputs follow from the contract and the whole input.
  Type output_type() const override { return contract_.type_of_output(whole_call(1), 0); }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t> n) const override;
  std::vector<Beside> other_outputs() const override;
  bool elementwise() const override;
  bool any_order() const override;
  // Returns the call of the whole input, of n elements: the types and counts of its arrays, without data.
  Call whole_call(std::uint64_t n) const;

 protected:
  // Sets the array properties of the whole input's call that the case does not state, such as values that accompany the
  // keys, or a histogram's counters. Indices and offsets are always u64, so that a file's type does not depend on its
  // length.
  virtual void describe(Call&, std::uint64_t /*n*/) const {}
  Carry carry() const { return contract_.carry_of(call_); }
  Join join_of(std::size_t output) const { return contract_.join_of(call_, output); }
  // Memory for one chunk of an array, grown on demand, with one spare element before the chunk.
  class Room {
   public:
    explicit Room(RungStreamer& streamer) : memory_(streamer.memory_) {}
    ~Room() { release(); }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    // Returns memory for this many bytes, aligned to 64 bytes. Growing discards the contents. Throws
    // Error(out_of_memory).
    std::byte* grow(std::size_t bytes);
    std::byte* data() const { return begin_ + aligned; }
    void release();
    // Copies a chunk into the room, and `before`, which may be empty, immediately before the chunk. Returns the address
    // of the first byte copied.
    const std::byte* fill(std::span<const std::byte> chunk, std::span<const std::byte> before = {});

   private:
    static constexpr std::size_t aligned = 64;
    MemorySpace& memory_;
    std::byte* begin_ = nullptr;
    std::size_t bytes_ = 0;
  };

  // Returns the chunk where the rung can read it: the caller's memory if possible, otherwise a copy in the room.
  const std::byte* reachable(std::span<const std::byte> chunk, Room& room) const {
    return on_host_ ? chunk.data() : room.fill(chunk);
  }
  // Replaces the case's scalars with values that depend on the data.
  void set_scalars(const Scalars& scalars) { call_.scalars = scalars; }
  // Runs the rung with the case's operation, scalars and tuning. Throws Error with the rung's message if it fails.
  void run(std::array<Array, arrays_of_a_call> in, std::array<Array, arrays_of_a_call> out);
  // Frees the scratch that the rung has allocated.
  void release_scratch();
  // Returns a result in host memory, valid until the next fetch().
  std::span<const std::byte> fetch(const std::byte* from, std::size_t bytes);

 private:
  Platform& platform_;
  const std::string name_;  // the rung's, for messages
  const Contract& contract_;
  const RunFn run_;
  const bool on_host_;   // the rung's arrays are in host memory
  MemorySpace& memory_;  // where the rung's arrays are
  std::optional<Workspace> workspace_;
  Call call_;
  std::vector<std::byte> host_;
};

// Returns the rung's function. Throws Error(unsupported) like the constructor of RungStreamer.
RunFn streaming_run(const Rung& rung, const Case& c);

// The usual value of Primitive::stream.
template <class S>
std::unique_ptr<Streamer> make_streamer(Platform& platform, const Rung& rung, const Case& c) {
  return std::make_unique<S>(platform, rung, c);
}

// Read and write a value that is carried from chunk to chunk; combine() combines two.
Scalar load_scalar(Type type, const std::byte* from);
inline std::span<const std::byte> bytes_of(const Scalar& s) {
  return {static_cast<const std::byte*>(s.data()), size_of(s.type())};
}

}  // namespace upsweep
