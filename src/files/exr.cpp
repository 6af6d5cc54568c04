#include "files/exr.h"

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfIO.h>
#include <ImfOutputFile.h>

#include <cstring>
#include <exception>
#include <vector>

#include "upsweep/error.h"

namespace upsweep {
namespace {

// The encoded file, buffered in memory, because OpenEXR seeks back to write row offsets, and an output may be a pipe.
class EncodedImage : public Imf::OStream {
 public:
  explicit EncodedImage(const std::string& name) : OStream(name.c_str()) {}
  void write(const char bytes[], int count) override {
    const std::size_t end = position_ + static_cast<std::size_t>(count);
    if (bytes_.size() < end) bytes_.resize(end);
    std::memcpy(bytes_.data() + position_, bytes, static_cast<std::size_t>(count));
    position_ = end;
  }
  std::uint64_t tellp() override { return position_; }
  void seekp(std::uint64_t position) override { position_ = position; }
  std::span<const char> bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
  std::uint64_t position_ = 0;
};

void encode(EncodedImage& to, const FloatImage& image) {
  Imf::Header header(static_cast<int>(image.width), static_cast<int>(image.height));
  header.compression() = Imf::ZIP_COMPRESSION;
  Imf::FrameBuffer pixels;
  const std::size_t pixel_bytes = image.channels * sizeof(float);
  for (unsigned k = 0; k < image.channels; ++k) {
    const char name[] = {"RGBW"[k], '\0'};
    header.channels().insert(name, Imf::Channel(Imf::FLOAT));
    auto* const first = reinterpret_cast<char*>(const_cast<float*>(image.values.data() + k));  // OpenEXR only reads it
    pixels.insert(name, Imf::Slice(Imf::FLOAT, first, pixel_bytes, image.width * pixel_bytes));
  }
  Imf::OutputFile file(to, header);
  file.setFrameBuffer(pixels);
  file.writePixels(static_cast<int>(image.height));
}

}  // namespace

void write_exr(OutputFile& file, const FloatImage& image) {
  EncodedImage encoded(file.name());
  try {
    encode(encoded, image);
  } catch (const std::exception& e) {
    throw Error(Code::io_error, file.name() + ": OpenEXR cannot write this image: " + e.what());
  }
  file.write(std::as_bytes(encoded.bytes()));
}

}  // namespace upsweep
