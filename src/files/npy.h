// NumPy's .npy files: formats 1.0, 2.0 and 3.0, every upsweep::Type except bf16, by every name that numpy.load accepts.
// Converted on reading: big-endian numbers; float16, to f32; booleans, to u8, 0 or 1; Fortran order, to C order. The
// elements of an array of any shape are read in order. Other types that numpy can write are rejected by name, with a
// hint. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once
#include <vector>

#include "files/array_file.h"
#include "files/fortran_order.h"

namespace upsweep {

// The stored form of elements that are converted on reading.
enum class Stored : std::uint8_t { as_read, boolean, half };

struct NpyHeader {
  Type type = Type::f32;  // after conversion
  Stored stored = Stored::as_read;
  bool big_endian = false;
  bool fortran_order = false;  // false if irrelevant: fewer than two dimensions longer than 1
  Shape shape;                 // empty for a single number
  std::uint64_t count = 0;     // elements: the product of the shape; count * size_of(type) does not overflow
  std::size_t stored_bytes() const { return stored == Stored::half ? 2 : size_of(type); }  // per element
};

// Reads and checks the header. Throws Error(bad_file). Allocates at most a small multiple of largest_npy_header bytes,
// whatever the file says.
NpyHeader read_npy_header(Source& source);

// Maximum size of a header in bytes: the capacity of format 1.0. Only structured types with thousands of fields have
// longer headers.
inline constexpr std::size_t largest_npy_header = 65535;

// Returns the header, all bytes before the elements: format 1.0, padded with spaces to a multiple of 64 bytes as numpy
// does. The padding fits any count, so a 1-d header always has 128 bytes and can be rewritten in place.
std::string npy_header(Type type, std::span<const std::uint64_t> shape);

class NpyReader final : public ArrayReader {
 public:
  // Throws Error(bad_file), also if the file's size is known and does not match the header.
  explicit NpyReader(std::unique_ptr<Source> source);
  Type type() const override { return header_.type; }
  std::optional<std::uint64_t> count() const override { return header_.count; }
  std::optional<Shape> shape() const override { return header_.shape; }
  void any_order() override { transposed_.reset(); }
  const NpyHeader& header() const { return header_; }
  // Throws Error(unsupported) if the elements must be reordered and the source is a pipe.
  std::size_t read(std::span<std::byte> to) override;

 private:
  void read_stored(std::span<std::byte> to);

  std::unique_ptr<Source> source_;
  NpyHeader header_;
  std::uint64_t left_ = 0;  // elements still to read
  std::optional<FortranOrder> transposed_;
};

class NpyWriter final : public ArrayWriter {
 public:
  NpyWriter(const std::string& path, Type type, std::optional<std::uint64_t> count,
            const std::optional<Shape>& shape = {});
  void write(std::span<const std::byte> elements) override;
  void finish() override;
  OutputFile& file() override { return file_; }

 private:
  void write_header();

  OutputFile file_;
  std::string header_;  // written with the first elements, so that an error before that leaves no bytes
  Type type_;
  std::optional<std::uint64_t> count_;
  std::uint64_t written_ = 0;  // bytes of elements
};

}  // namespace upsweep
