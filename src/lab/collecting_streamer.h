// Streamers whose first output needs all of the input: sort, partition.
//
// The input is collected into runs, as large as memory allows, and the rung takes a run at a time. If there are
// several, their results wait in a temporary file, from which they are put together at the end.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/spool.h"
#include "lab/stream.h"

namespace upsweep {

class CollectingStreamer : public RungStreamer {
 public:
  CollectingStreamer(Platform& platform, const Rung& rung, const Case& c);
  void use(const Storage& storage) override;
  void feed(Chunks chunks, const Sink& sink) final;
  void finish(const Sink& sink) final;

 protected:
  // Runs the rung on the elements collected, and passes the result: the input was a single run, or had no elements.
  virtual void pass_run(const Sink& sink) = 0;
  // Runs the rung on the elements collected, and writes the result to spool().
  virtual void keep_run() = 0;
  // Passes what all runs in spool() make together.
  virtual void merge_runs(const Sink& sink) = 0;

  // Adds elements of every input.
  void collect(Chunks chunks);
  std::size_t collected() const { return bytes_of(0) / size_of(case_.type); }
  // Moves the elements of an input to the memory that the rung works on.
  std::byte* take_collected(std::size_t input, Room& room);

  // Calls f(part) for parts of a result, in order.
  template <class F>
  void in_parts(const std::byte* from, std::size_t bytes, F&& f) {
    for (std::size_t done = 0; done < bytes; done += chunk_bytes_)
      f(fetch(from + done, bytes - done < chunk_bytes_ ? bytes - done : chunk_bytes_));
  }
  Spool& spool() { return *spool_; }
  std::size_t run_bytes() const { return run_bytes_; }      // of all inputs together
  std::size_t chunk_bytes() const { return chunk_bytes_; }  // read or passed at a time

 private:
  // A copy of a chunk's elements. In the CPU platform's memory, whose pages are large: with small ones, the system
  // takes longer to hand them out than the rung to sort what is in them.
  struct Elements {
    struct Release {
      void operator()(std::byte* memory) const { cpu_platform().release(memory); }
    };
    std::unique_ptr<std::byte, Release> memory;
    std::size_t bytes;
  };
  std::size_t bytes_of(std::size_t input) const;
  bool is_full() const;

  const std::size_t device_bytes_;  // of a GPU's memory, or 0
  std::size_t run_bytes_ = 0, chunk_bytes_ = 0;
  std::string folder_;
  std::array<std::vector<Elements>, arrays_of_a_call> collected_;
  std::optional<Spool> spool_;  // once there is a run
};

}  // namespace upsweep
