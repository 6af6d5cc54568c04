// JPEG images, read row by row with libjpeg: grey, colour and CMYK, of 8 bits. CMYK is passed on as it is stored, which
// in files of Adobe's programs means inverted: 0 is full ink.
#pragma once
#include "files/array_file.h"

namespace upsweep {

class JpegReader final : public ArrayReader {
 public:
  // Throws Error(bad_file) unless the file begins as a JPEG.
  explicit JpegReader(std::unique_ptr<Source> source);
  ~JpegReader() override;
  Type type() const override { return Type::u8; }
  std::optional<std::uint64_t> count() const override;
  unsigned channels() const override;
  // Throws Error(bad_file) also where libjpeg would make up pixels: for data that are cut short or damaged.
  std::size_t read(std::span<std::byte> to) override;

 private:
  struct Decoder;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace upsweep
