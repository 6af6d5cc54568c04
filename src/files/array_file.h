// Arrays in files, read and written in pieces, so that they may be larger than memory. One interface to .npy, raw
// numbers and images.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "files/file.h"
#include "upsweep/types.h"

namespace upsweep {

class ArrayReader {
 public:
  virtual ~ArrayReader() = default;
  virtual Type type() const = 0;
  // Elements in total, if known before reading; empty for raw bytes from a pipe.
  virtual std::optional<std::uint64_t> count() const = 0;
  // Interleaved elements per pixel of an image; 1 for arrays.
  virtual unsigned channels() const { return 1; }
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
  virtual void commit() = 0;
};

enum class FileFormat : std::uint8_t {
  // Reading: png for *.png, pnm for *.pgm, *.ppm and *.pnm, npy for *.npy; otherwise raw if a type is given, else npy.
  // Writing: see create_array().
  automatic,
  npy,
  raw,
  png,  // reading only
  pnm,  // likewise
};

// Opens `path` for reading. Raw bytes need `type`; for the others a `type` that differs from the file's is an error.
std::unique_ptr<ArrayReader> open_array(const std::string& path, std::optional<Type> type = {},
                                        FileFormat format = FileFormat::automatic);

// Creates `path` for `count` elements. Without a count the file takes what is written, which for .npy requires a
// regular file, not a pipe. Automatic format: npy for *.npy and `-`, else raw.
std::unique_ptr<ArrayWriter> create_array(const std::string& path, Type type, std::optional<std::uint64_t> count,
                                          FileFormat format = FileFormat::automatic);

}  // namespace upsweep
