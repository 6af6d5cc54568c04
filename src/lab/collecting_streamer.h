// Base of the streamers whose first output depends on the whole input: sort, partition.
//
// The input is collected into runs as large as memory allows, and the rung processes one run per call. If there are
// several runs, their results are spooled to a temporary file and merged at the end.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "files/spool.h"
#include "lab/stream.h"

namespace upsweep {

class CollectingStreamer : public RungStreamer {
 public:
  CollectingStreamer(Platform& platform, const Rung& rung, const Case& c);
  void use(const Storage& storage) override;
  std::uint64_t bytes_after_input(std::uint64_t n) const override;
  void feed(Chunks chunks, const Sink& sink) final;
  void finish(const Sink& sink) final;

 protected:
  // Inspects elements before they are collected.
  virtual void see(Chunks) {}
  // Returns the bytes of memory per element of a run while the rung processes the run: inputs, outputs and scratch.
  virtual std::size_t bytes_of_element() const = 0;
  // Runs the rung on the collected elements and passes the result to the sink. Called if the input fits one run or is
  // empty.
  virtual void pass_run(const Sink& sink) = 0;
  // Runs the rung on the collected elements and writes the result to spool().
  virtual void keep_run() = 0;
  // Merges the runs in spool() and passes the result to the sink. Called when no elements are collected.
  virtual void merge_runs(const Sink& sink) = 0;

  // Reserves memory for `capacity` elements of every input k, of element_bytes[k] bytes each (0: input k is absent).
  // Pages are committed only as they are filled.
  using ElementBytes = std::array<std::size_t, arrays_of_a_call>;
  void make_room(std::size_t capacity, const ElementBytes& element_bytes);
  // Appends elements to every input. They must fit the capacity.
  void collect(Chunks chunks);
  // Discards the collected elements but keeps their memory.
  void drop_collected();
  std::size_t collected() const { return collected_; }
  // Returns an input's collected elements in memory that the rung can access: in place, or copied to `room`.
  std::byte* take_collected(std::size_t input, Room& room);
  // Frees the collected elements and the rung's scratch.
  void release_memory();

  // Calls f(part) for consecutive parts of a result, in host memory and of at most chunk_bytes() bytes.
  template <class F>
  void in_parts(const std::byte* from, std::size_t bytes, F&& f) {
    for (std::size_t done = 0; done < bytes; done += chunk_bytes_)
      f(fetch(from + done, bytes - done < chunk_bytes_ ? bytes - done : chunk_bytes_));
  }
  Spool& spool() { return *spool_; }
  std::size_t memory() const { return memory_; }            // the limit for a run, its outputs and its scratch
  std::size_t chunk_bytes() const { return chunk_bytes_; }  // per read or write

 private:
  // The collected elements of one input. They are in memory of the CPU platform, which uses large pages: with small
  // pages, the page faults would take longer than sorting the elements.
  struct Elements {
    struct Release {
      void operator()(std::byte* memory) const { cpu_platform().release(memory); }
    };
    std::unique_ptr<std::byte, Release> memory{};
    std::size_t element = 0, used = 0;  // bytes: per element; collected
  };
  std::size_t run_elements() const;
  void keep();

  const std::size_t device_bytes_;  // GPU memory; 0 on other platforms
  std::size_t memory_ = 0, chunk_bytes_ = 0;
  std::optional<std::uint64_t> elements_;  // the whole input's count, if known
  std::string folder_;
  std::array<Elements, arrays_of_a_call> inputs_;
  std::size_t collected_ = 0, capacity_ = 0;  // elements
  std::optional<Spool> spool_;                // created with the first spooled run
};

}  // namespace upsweep
