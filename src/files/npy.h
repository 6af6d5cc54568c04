// NumPy's .npy files: formats 1.0, 2.0 and 3.0, every upsweep::Type, by all names that numpy.load takes. Converted
// while they are read: big-endian numbers; float16, to f32; booleans, to u8, 0 or 1; Fortran order, to C order. An
// array of any shape is read as its elements in order. Anything else that numpy can write is refused by name, with a
// hint. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once
#include <vector>

#include "files/array_file.h"
#include "files/fortran_order.h"

namespace upsweep {

// The stored form of elements that are converted while they are read.
enum class Stored : std::uint8_t { as_read, boolean, half };

struct NpyHeader {
  Type type = Type::f32;  // as read
  Stored stored = Stored::as_read;
  bool big_endian = false;
  bool fortran_order = false;  // false where it makes no difference: of less than two dimensions
  Shape shape;                 // empty for a single number
  std::uint64_t count = 0;     // elements: the product of the shape; count * size_of(type) does not overflow
  std::size_t stored_bytes() const { return stored == Stored::half ? 2 : size_of(type); }  // of an element
};

// Reads and checks everything before the elements. Throws Error(bad_file). Allocates at most a few times
// largest_npy_header bytes, whatever the file says.
NpyHeader read_npy_header(Source& source);

// 64 KiB: the capacity of format 1.0. Only structured types with thousands of fields have longer headers.
inline constexpr std::size_t largest_npy_header = 65535;

// Returns the bytes before the elements: format 1.0, padded with spaces to a multiple of 64 bytes as numpy does, with
// room for any count, so that the header of a 1-d array always has 128 bytes and can be rewritten in place.
std::string npy_header(Type type, std::span<const std::uint64_t> shape);

// Exact: f32 has every value of float16, NaNs with their bits.
float float_of_half(std::uint16_t half);

class NpyReader final : public ArrayReader {
 public:
  // Throws Error(bad_file), also if the file's size is known and does not match the header.
  explicit NpyReader(std::unique_ptr<Source> source);
  Type type() const override { return header_.type; }
  std::optional<std::uint64_t> count() const override { return header_.count; }
  std::optional<Shape> shape() const override { return header_.shape; }
  void any_order() override { transposed_.reset(); }
  const NpyHeader& header() const { return header_; }
  // Throws Error(unsupported) if the elements are to be put in order and the source is a pipe.
  std::size_t read(std::span<std::byte> to) override;

 private:
  void read_stored(std::span<std::byte> to);

  std::unique_ptr<Source> source_;
  NpyHeader header_;
  std::uint64_t left_ = 0;  // elements
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
  std::string header_;  // until it is written, with the first elements: what is refused before leaves no bytes
  Type type_;
  std::optional<std::uint64_t> count_;
  std::uint64_t written_ = 0;  // bytes of elements
};

}  // namespace upsweep
