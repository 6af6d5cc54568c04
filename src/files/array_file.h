// Arrays in files, read and written in pieces, so that they may be larger than memory. One interface to .npy, raw
// numbers and images.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "files/file.h"
#include "upsweep/types.h"

namespace upsweep {

using Shape = std::vector<std::uint64_t>;  // empty: a single number

class ArrayReader {
 public:
  virtual ~ArrayReader() = default;
  virtual Type type() const = 0;
  // Elements in total, if known before reading; empty for raw bytes from a pipe.
  virtual std::optional<std::uint64_t> count() const = 0;
  // Interleaved elements per pixel of an image; 1 for arrays.
  virtual unsigned channels() const { return 1; }
  // The lengths of the dimensions of a .npy file; their product is count().
  virtual std::optional<Shape> shape() const { return std::nullopt; }
  // Elements come in C order, the last index fastest. This lets them come as they are stored, before the first read():
  // a .npy file in Fortran order is then read from front to back, and may be a pipe.
  virtual void any_order() {}
  // Fills `to`, which holds whole elements, and returns the elements read: fewer than asked only at the end, then 0.
  // Throws Error: bad_file if the file is not what it claims to be, io_error, interrupted.
  virtual std::size_t read(std::span<std::byte> to) = 0;
};

class ArrayWriter {
 public:
  virtual ~ArrayWriter() = default;
  virtual void write(std::span<const std::byte> elements) = 0;
  // Ends writing, before any of several files is committed. Throws Error(invalid_argument) if more or fewer elements
  // were written than announced.
  virtual void finish() = 0;
  // Finishes, and gives the file its final name. An ArrayWriter destroyed without it leaves no file (files/file.h).
  void commit();
  virtual OutputFile& file() = 0;
};

enum class FileFormat : std::uint8_t {
  automatic,  // reading: what the file begins with; writing: what its name ends with
  npy,
  raw,
  png,   // reading only
  pnm,   // likewise
  jpeg,  // likewise
};

// Opens `path` for reading. What its first bytes say counts, not its name. Bytes that say nothing are raw numbers of
// `type`, unless the name ends as one of the other formats' does: then the file is damaged. Raw numbers that happen to
// begin as another format does are read with FileFormat::raw. For the other formats a `type` that differs from the
// file's is an error, unless it is only meant for raw numbers.
enum class TypeIsFor : std::uint8_t { every_file, raw_numbers };
std::unique_ptr<ArrayReader> open_array(const std::string& path, std::optional<Type> type = {},
                                        FileFormat format = FileFormat::automatic,
                                        TypeIsFor files = TypeIsFor::every_file);
std::unique_ptr<ArrayReader> open_array(std::unique_ptr<Source> source, std::optional<Type> type, FileFormat format,
                                        TypeIsFor files = TypeIsFor::every_file);

// Creates `path` for `count` elements; of .npy, with this shape, whose product is `count`, or else one dimension.
// Without a count the file takes what is written, which for .npy requires a regular file, not a pipe. Automatic format:
// npy for *.npy and `-`, else raw.
std::unique_ptr<ArrayWriter> create_array(const std::string& path, Type type, std::optional<std::uint64_t> count,
                                          FileFormat format = FileFormat::automatic,
                                          const std::optional<Shape>& shape = {});

// Gives several outputs their names together (files/commit.h).
void commit_together(std::span<ArrayWriter* const> writers);

}  // namespace upsweep
