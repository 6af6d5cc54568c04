// Raw binary: elements of one type, contiguous, little-endian, without a header.
#pragma once
#include "files/array_file.h"

namespace upsweep {

class RawReader final : public ArrayReader {
 public:
  // Throws Error(bad_file) if the size is known and not a multiple of the element's. Reading then ends at that size,
  // even if the file grows.
  RawReader(std::unique_ptr<Source> source, Type type);
  Type type() const override { return type_; }
  std::optional<std::uint64_t> count() const override { return count_; }
  std::size_t read(std::span<std::byte> to) override;

 private:
  std::unique_ptr<Source> source_;
  Type type_;
  std::optional<std::uint64_t> count_;
  std::uint64_t read_ = 0;  // bytes read so far
};

class RawWriter final : public ArrayWriter {
 public:
  RawWriter(const std::string& path, Type type, std::optional<std::uint64_t> count);
  void write(std::span<const std::byte> elements) override;
  void finish() override;
  OutputFile& file() override { return file_; }

 private:
  OutputFile file_;
  Type type_;
  std::optional<std::uint64_t> count_;
  std::uint64_t written_ = 0;  // bytes written so far
};

// Throws Error(invalid_argument) unless `written` is the size of `count` elements or, without a count, of whole
// elements.
void require_all_written(const std::string& name, Type type, std::optional<std::uint64_t> count, std::uint64_t written);

}  // namespace upsweep
