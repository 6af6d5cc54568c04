// Arrays in files, read and written in pieces, so that they may be larger than memory. One interface for .npy, raw
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
  // Total elements, if known before reading; empty for raw bytes from a pipe.
  virtual std::optional<std::uint64_t> count() const = 0;
  // Interleaved elements per pixel of an image; 1 for arrays.
  virtual unsigned channels() const { return 1; }
  // The dimensions of a .npy file; their product is count().
  virtual std::optional<Shape> shape() const { return std::nullopt; }
  // Allows stored order instead of C order (last index fastest). Call it before the first read(). A .npy file in
  // Fortran order is then read sequentially, and may be a pipe.
  virtual void any_order() {}
  // Fills `to`, which holds whole elements, and returns the number read: fewer than requested only at the end, then 0.
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
  // Finishes and renames the file to its final name. An ArrayWriter destroyed without it leaves no file (files/file.h).
  void commit();
  virtual OutputFile& file() = 0;
};

enum class FileFormat : std::uint8_t {
  automatic,  // reading: by the first bytes; writing: by the extension
  npy,
  raw,
  png,   // reading only
  pnm,   // likewise
  jpeg,  // likewise
};

// Opens `path` for reading. The first bytes determine the format, not the name. If they match no format, the file holds
// raw numbers of `type`, unless its extension is another format's: then it is damaged. FileFormat::raw reads raw
// numbers that happen to begin like another format. For the other formats, a `type` that differs from the file's is an
// error, unless it applies only to raw numbers.
enum class TypeIsFor : std::uint8_t { every_file, raw_numbers };
std::unique_ptr<ArrayReader> open_array(const std::string& path, std::optional<Type> type = {},
                                        FileFormat format = FileFormat::automatic,
                                        TypeIsFor files = TypeIsFor::every_file);
std::unique_ptr<ArrayReader> open_array(std::unique_ptr<Source> source, std::optional<Type> type, FileFormat format,
                                        TypeIsFor files = TypeIsFor::every_file);

// Creates `path` for `count` elements. A .npy file gets this shape, whose product is `count`, or else one dimension.
// Without a count, the file grows as needed, which for .npy requires a regular file, not a pipe. Automatic format: npy
// for *.npy and `-`, otherwise raw.
std::unique_ptr<ArrayWriter> create_array(const std::string& path, Type type, std::optional<std::uint64_t> count,
                                          FileFormat format = FileFormat::automatic,
                                          const std::optional<Shape>& shape = {});

// Renames several outputs to their final names together (files/commit.h).
void commit_together(std::span<ArrayWriter* const> writers);

}  // namespace upsweep
