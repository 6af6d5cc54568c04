// Reads PNG images row by row with libpng: 8 and 16 bits, grey or colour, with or without alpha. Palettes are expanded
// to colours, and 1, 2 and 4 bits to 8.
#pragma once
#include "files/array_file.h"

namespace upsweep {

class PngReader final : public ArrayReader {
 public:
  // Throws Error(bad_file) unless the file begins like a PNG.
  explicit PngReader(std::unique_ptr<Source> source);
  ~PngReader() override;
  Type type() const override;
  std::optional<std::uint64_t> count() const override;
  unsigned channels() const override;
  std::size_t read(std::span<std::byte> to) override;

 private:
  struct Decoder;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace upsweep
