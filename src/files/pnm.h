// Netpbm's binary images: PGM (P5) and PPM (P6), of 8 or 16 bits. Read without libnetpbm, which exits the process on a
// bad file. Format: https://netpbm.sourceforge.net/doc/ppm.html
#pragma once
#include "files/array_file.h"

namespace upsweep {

class PnmReader final : public ArrayReader {
 public:
  // Throws Error(bad_file), also if the file's size is known and too small for its pixels.
  explicit PnmReader(std::unique_ptr<Source> source);
  Type type() const override { return type_; }
  std::optional<std::uint64_t> count() const override { return count_; }
  unsigned channels() const override { return channels_; }
  std::size_t read(std::span<std::byte> to) override;

 private:
  std::unique_ptr<Source> source_;
  Type type_ = Type::u8;
  unsigned channels_ = 1;
  std::uint64_t count_ = 0, left_ = 0;  // samples: in total, still to read
};

}  // namespace upsweep
