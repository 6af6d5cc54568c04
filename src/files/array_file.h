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
  // Returns the total number of elements if it is known before reading; nullopt for raw numbers from a pipe.
  virtual std::optional<std::uint64_t> count() const = 0;
  // Returns the number of interleaved elements per pixel of an image; 1 for arrays.
  virtual unsigned channels() const { return 1; }
  // Returns the dimensions of a .npy file, whose product is count(); nullopt for other formats.
  virtual std::optional<Shape> shape() const { return std::nullopt; }
  // Lets read() return the elements in stored order instead of C order (last index fastest). Must be called before the
  // first read(). A .npy file in Fortran order is then read sequentially, and may be a pipe.
  virtual void any_order() {}
  // Fills `to`, whose size is a multiple of the element size, and returns the number of elements read: fewer than
  // requested only at the end, then 0. Throws Error: bad_file if the file is not what it claims to be, io_error,
  // interrupted.
  virtual std::size_t read(std::span<std::byte> to) = 0;
};

class ArrayWriter {
 public:
  virtual ~ArrayWriter() = default;
  virtual void write(std::span<const std::byte> elements) = 0;
  // Ends writing. If several files are written, all are finished before any is committed. Throws
  // Error(invalid_argument) if more or fewer elements were written than announced.
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

// Opens `path` for reading. The first bytes determine the format, not the name. A file whose first bytes match no
// format holds raw numbers of `type`, or is damaged if its name has another format's extension. FileFormat::raw also
// reads raw numbers that happen to begin like another format. In the other formats, a `type` that differs from the
// file's is an error, unless TypeIsFor::raw_numbers restricts `type` to raw numbers.
enum class TypeIsFor : std::uint8_t { every_file, raw_numbers };
std::unique_ptr<ArrayReader> open_array(const std::string& path, std::optional<Type> type = {},
                                        FileFormat format = FileFormat::automatic,
                                        TypeIsFor files = TypeIsFor::every_file);
std::unique_ptr<ArrayReader> open_array(std::unique_ptr<Source> source, std::optional<Type> type, FileFormat format,
                                        TypeIsFor files = TypeIsFor::every_file);

// Creates `path` for `count` elements. A .npy file gets `shape`, whose product must be `count`, or one dimension if no
// shape is given. Without a count, the file grows as needed, which for .npy requires a regular file, not a pipe.
// Automatic format: npy for *.npy and `-`, otherwise raw.
std::unique_ptr<ArrayWriter> create_array(const std::string& path, Type type, std::optional<std::uint64_t> count,
                                          FileFormat format = FileFormat::automatic,
                                          const std::optional<Shape>& shape = {});

// Renames several outputs to their final names together (files/commit.h).
void commit_together(std::span<ArrayWriter* const> writers);

}  // namespace upsweep
