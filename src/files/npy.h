// NumPy's .npy files: formats 1.0, 2.0 and 3.0, little-endian, C order, every upsweep::Type. An array of any shape is
// read as its elements in order. Anything else that numpy can write is refused by name, with a hint.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once
#include <vector>

#include "files/array_file.h"

namespace upsweep {

struct NpyHeader {
  Type type = Type::f32;
  std::vector<std::uint64_t> shape;  // empty for a single number
  std::uint64_t count = 0;           // elements: the product of the shape; count * size_of(type) does not overflow
};

// Reads and checks everything before the elements. Throws Error(bad_file). Allocates at most a few times
// largest_npy_header bytes, whatever the file says.
NpyHeader read_npy_header(Source& source);

// 64 KiB: the capacity of format 1.0. Only structured types with thousands of fields have longer headers.
inline constexpr std::size_t largest_npy_header = 65535;

// Returns the bytes before the elements: format 1.0, padded with spaces to a multiple of 64 bytes as numpy does, with
// room for any count, so that the header of a 1-d array always has 128 bytes and can be rewritten in place.
std::string npy_header(Type type, std::span<const std::uint64_t> shape);

class NpyReader final : public ArrayReader {
 public:
  // Throws Error(bad_file), also if the file's size is known and does not match the header.
  explicit NpyReader(std::unique_ptr<Source> source);
  Type type() const override { return header_.type; }
  std::optional<std::uint64_t> count() const override { return header_.count; }
  const NpyHeader& header() const { return header_; }
  std::size_t read(std::span<std::byte> to) override;

 private:
  std::unique_ptr<Source> source_;
  NpyHeader header_;
  std::uint64_t left_ = 0;  // bytes
};

class NpyWriter final : public ArrayWriter {
 public:
  NpyWriter(const std::string& path, Type type, std::optional<std::uint64_t> count);
  void write(std::span<const std::byte> elements) override;
  void finish() override;
  void commit() override;

 private:
  OutputFile file_;
  Type type_;
  std::optional<std::uint64_t> count_;
  std::uint64_t written_ = 0;  // bytes of elements
};

}  // namespace upsweep
