// The files that upsweep run reads: the main input and the others, in step, one chunk of each per read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/run_options.h"
#include "files/array_file.h"
#include "lab/primitive.h"

namespace upsweep::app {

// Returns an input's name for messages.
std::string shown(const std::string& input);

// The main input and the other inputs, read in step. Every member throws Error.
class Inputs {
 public:
  // Converts the main input's elements to `type`, which is their type or a wider one. `count` is the number of elements
  // to take, if known.
  Inputs(const RunOptions& o, std::size_t chunk_bytes, std::unique_ptr<ArrayReader> main, Type type,
         std::optional<std::uint64_t> count);
  // Opens the other inputs' files and compares their sizes, if known, with the main input's. On the command line,
  // inputs that are read as a whole follow the others. If there are fewer files than inputs, optional inputs are
  // omitted.
  void open(const RunOptions& o, Streamer& streamer, const Primitive& primitive);
  // Returns the main input's shape, if all of it is read and the file has one.
  std::optional<Shape> shape() const { return most_ == ~std::uint64_t{0} ? readers_[0]->shape() : std::nullopt; }

  // Memory for one chunk of every input.
  struct Chunk {
    struct Free {
      void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::vector<std::unique_ptr<std::byte, Free>> memory;
    std::unique_ptr<std::byte, Free> widened;      // the main input, if it is widened
    std::vector<std::span<const std::byte>> read;  // the elements of each input that read() returned
  };
  Chunk new_chunk() const;

  // Reads the next elements of every input, equally many of each; returns false at the end.
  bool read(Chunk& chunk);
  // Returns the bytes of all inputs together; 0 if unknown.
  std::size_t bytes() const;

 private:
  // Throws if an input has the main input's rank but another shape. Elements are read in C order, so a vector matches
  // any shape of its size, but an array does not match its transpose.
  void require_same_shape(const ArrayReader& other, const std::string& name) const;
  void add(std::unique_ptr<ArrayReader> reader);

  const std::size_t chunk_bytes_;
  const Type type_;      // type of the main input's elements after widening
  std::size_t largest_;  // bytes of the widest input's element
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<ArrayReader>> readers_;  // the main input first
  std::optional<std::uint64_t> count_;                 // elements to take, if known
  std::uint64_t most_, done_ = 0;                      // elements: the limit -n, and those read so far
};

}  // namespace upsweep::app
