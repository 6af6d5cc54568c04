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
  // Takes a look at elements before they are collected.
  virtual void see(Chunks) {}
  // Returns the bytes of memory per element of a run while the rung works on it: the inputs, the outputs, its scratch.
  virtual std::size_t bytes_of_element() const = 0;
  // Runs the rung on the elements collected, and passes the result: the input was a single run, or had no elements.
  virtual void pass_run(const Sink& sink) = 0;
  // Runs the rung on the elements collected, and writes the result to spool().
  virtual void keep_run() = 0;
  // Passes what all runs in spool() make together. Nothing is collected.
  virtual void merge_runs(const Sink& sink) = 0;

  // Makes room for this many elements of inputs whose elements have so many bytes. It takes memory as it is filled.
  using ElementBytes = std::array<std::size_t, arrays_of_a_call>;
  void make_room(std::size_t capacity, const ElementBytes& element_bytes);
  // Adds elements of every input. There is room for them.
  void collect(Chunks chunks);
  // Begins anew.
  void drop_collected();
  std::size_t collected() const { return collected_; }
  // Returns the elements of an input that were collected, where the rung may read and write them: there, or in `room`.
  std::byte* take_collected(std::size_t input, Room& room);
  // Gives back the memory for what is collected, and the rung's.
  void release_memory();

  // Calls f(part) for parts of a result, in order.
  template <class F>
  void in_parts(const std::byte* from, std::size_t bytes, F&& f) {
    for (std::size_t done = 0; done < bytes; done += chunk_bytes_)
      f(fetch(from + done, bytes - done < chunk_bytes_ ? bytes - done : chunk_bytes_));
  }
  Spool& spool() { return *spool_; }
  std::size_t memory() const { return memory_; }            // for runs, with all that they take
  std::size_t chunk_bytes() const { return chunk_bytes_; }  // read or passed at a time

 private:
  // The elements of an input. In the CPU platform's memory, whose pages are large: with small ones, the system takes
  // longer to hand them out than the rung to sort what is in them.
  struct Elements {
    struct Release {
      void operator()(std::byte* memory) const { cpu_platform().release(memory); }
    };
    std::unique_ptr<std::byte, Release> memory{};
    std::size_t element = 0, used = 0;  // bytes: of an element; of those collected
  };
  std::size_t run_elements() const;
  void keep();

  const std::size_t device_bytes_;  // of a GPU's memory, or 0
  std::size_t memory_ = 0, chunk_bytes_ = 0;
  std::optional<std::uint64_t> elements_;  // of the whole input, if known
  std::string folder_;
  std::array<Elements, arrays_of_a_call> inputs_;
  std::size_t collected_ = 0, capacity_ = 0;  // elements
  std::optional<Spool> spool_;                // once there is a run
};

}  // namespace upsweep
