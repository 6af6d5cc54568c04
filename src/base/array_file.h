// Arrays in files, read and written in pieces, so that they may be larger than memory. One interface over .npy and raw.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/file.h"
#include "upsweep/types.h"

namespace upsweep {

class ArrayReader {
 public:
  virtual ~ArrayReader() = default;
  virtual Type type() const = 0;
  // Elements in all, where that is known before reading: nothing for raw bytes from a pipe.
  virtual std::optional<std::uint64_t> count() const = 0;
  // Fills `to`, which holds whole elements; returns the elements read: fewer than asked only at the end, 0 after it.
  // Throws Error: bad_file when the file is not what it claims to be, io_error, interrupted.
  virtual std::size_t read(std::span<std::byte> to) = 0;
};

class ArrayWriter {
 public:
  virtual ~ArrayWriter() = default;
  virtual void write(std::span<const std::byte> elements) = 0;
  // Gives the file its final name. An ArrayWriter that is destroyed without it leaves no file (base/file.h).
  // Throws Error(invalid_argument) when more or fewer elements were written than announced.
  virtual void commit() = 0;
};

enum class FileFormat : std::uint8_t {
  automatic,  // npy for *.npy; for other names, and for `-`: raw if a type is given, else npy
  npy,
  raw,
};

// Opens `path` for reading. Raw bytes need `type`; for .npy a `type` that differs from the file's is an error.
std::unique_ptr<ArrayReader> open_array(const std::string& path, std::optional<Type> type = {},
                                        FileFormat format = FileFormat::automatic);

// Creates `path` for `count` elements; nothing for count: as many as are written, which for .npy needs a real file, not
// a pipe. Automatic format: npy for *.npy and `-`, else raw.
std::unique_ptr<ArrayWriter> create_array(const std::string& path, Type type, std::optional<std::uint64_t> count,
                                          FileFormat format = FileFormat::automatic);

}  // namespace upsweep
