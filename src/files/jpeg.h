// Reads JPEG images row by row with libjpeg: grey, colour and CMYK, 8 bits. CMYK is returned as stored, which in files
// from Adobe's programs means inverted: 0 is full ink.
#pragma once
#include "files/array_file.h"

namespace upsweep {

class JpegReader final : public ArrayReader {
 public:
  // Throws Error(bad_file) unless the file begins like a JPEG.
  explicit JpegReader(std::unique_ptr<Source> source);
  ~JpegReader() override;
  Type type() const override { return Type::u8; }
  std::optional<std::uint64_t> count() const override;
  unsigned channels() const override;
  // Throws Error(bad_file) also for truncated or damaged data, for which libjpeg would invent pixels.
  std::size_t read(std::span<std::byte> to) override;

 private:
  struct Decoder;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace upsweep
