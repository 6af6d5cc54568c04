#include "files/image.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "files/exr.h"
#include "files/npy.h"
#include "files/quoted.h"
#include "upsweep/error.h"

namespace upsweep {
namespace {

std::uint8_t byte_of(float value) {
  return value > 0 ? static_cast<std::uint8_t>(std::min(value, 1.0f) * 255 + 0.5f) : 0;  // NaN becomes 0
}

std::vector<std::uint8_t> row_of_bytes(const FloatImage& image, std::size_t row) {
  std::vector<std::uint8_t> bytes(3 * image.width);
  const float* const pixels = image.values.data() + row * image.width * image.channels;
  for (std::size_t i = 0; i < image.width; ++i)
    for (unsigned k = 0; k < 3; ++k) bytes[3 * i + k] = byte_of(pixels[i * image.channels + k]);
  return bytes;
}

void write_text(OutputFile& file, const std::string& text) { file.write(std::as_bytes(std::span(text))); }

// libpng reports errors by longjmp to encode(). Neither encode() nor the callbacks have destructors to run.
struct PngEncoder {
  OutputFile& file;
  std::vector<std::vector<std::uint8_t>> rows;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::exception_ptr thrown{};

  ~PngEncoder() { png_destroy_write_struct(&png, &info); }
  bool put(png_bytep bytes, std::size_t count) noexcept {
    try {
      file.write({reinterpret_cast<const std::byte*>(bytes), count});
      return true;
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }
  static void on_write(png_structp png, png_bytep bytes, std::size_t count) {
    if (!static_cast<PngEncoder*>(png_get_io_ptr(png))->put(bytes, count)) png_error(png, "not written");
  }
  static void on_flush(png_structp) {}
  // Suppresses libpng's message on standard error; write_png() throws the cause.
  static void on_error(png_structp png, png_const_charp) { png_longjmp(png, 1); }
  bool encode(std::size_t width, std::size_t height) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_write_fn(png, this, &on_write, &on_flush);
    png_set_IHDR(png, info, png_uint_32(width), png_uint_32(height), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 3);  // 1/3 of the time of the default, 6, for 10% more bytes
    png_write_info(png, info);
    for (std::vector<std::uint8_t>& row : rows) png_write_row(png, row.data());
    png_write_end(png, info);
    return true;
  }
};

void write_png(OutputFile& file, const FloatImage& image) {
  PngEncoder encoder{file, {}};
  for (std::size_t row = 0; row < image.height; ++row) encoder.rows.push_back(row_of_bytes(image, row));
  encoder.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, &PngEncoder::on_error, nullptr);
  encoder.info = encoder.png ? png_create_info_struct(encoder.png) : nullptr;
  if (!encoder.info) throw Error(Code::out_of_memory, "no memory to write " + file.name());
  if (encoder.encode(image.width, image.height)) return;
  if (encoder.thrown) std::rethrow_exception(std::exchange(encoder.thrown, nullptr));
  throw Error(Code::io_error, file.name() + ": libpng cannot write this image");
}

// Writes floats, rows from bottom to top; the header's negative scale means little-endian.
void write_pfm(OutputFile& file, const FloatImage& image) {
  write_text(file, "PF\n" + std::to_string(image.width) + " " + std::to_string(image.height) + "\n-1.0\n");
  std::vector<float> row(3 * image.width);
  for (std::size_t j = image.height; j-- > 0;) {
    for (std::size_t i = 0; i < image.width; ++i)
      for (unsigned k = 0; k < 3; ++k) row[3 * i + k] = image.values[(j * image.width + i) * image.channels + k];
    file.write(std::as_bytes(std::span(row)));
  }
}

}  // namespace

ImageFormat image_format(const std::string& path) {
  constexpr std::array<std::pair<const char*, ImageFormat>, 5> endings{{{".png", ImageFormat::png},
                                                                        {".ppm", ImageFormat::ppm},
                                                                        {".pfm", ImageFormat::pfm},
                                                                        {".exr", ImageFormat::exr},
                                                                        {".npy", ImageFormat::npy}}};
  for (const auto& [ending, format] : endings)
    if (has_ending(path, ending)) return format;
  if (path == "-") return ImageFormat::png;
  throw Error(Code::invalid_argument, printable(path) + ": no image format has this ending",
              "write .png, .ppm, .pfm, .exr or .npy");
}

void write_image(OutputFile& file, ImageFormat format, const FloatImage& image) {
  switch (format) {
    case ImageFormat::png:
      return write_png(file, image);
    case ImageFormat::pfm:
      return write_pfm(file, image);
    case ImageFormat::exr:
      return write_exr(file, image);
    case ImageFormat::npy: {
      const std::uint64_t shape[] = {image.height, image.width, image.channels};
      write_text(file, npy_header(Type::f32, shape));
      return file.write(std::as_bytes(image.values));
    }
    case ImageFormat::ppm:
      write_text(file, "P6\n" + std::to_string(image.width) + " " + std::to_string(image.height) + "\n255\n");
      for (std::size_t row = 0; row < image.height; ++row) {
        const std::vector<std::uint8_t> bytes = row_of_bytes(image, row);
        file.write(std::as_bytes(std::span(bytes)));
      }
  }
}

void write_y4m_header(OutputFile& file, std::size_t width, std::size_t height, unsigned frames_per_second) {
  write_text(file, "YUV4MPEG2 W" + std::to_string(width) + " H" + std::to_string(height) + " F" +
                       std::to_string(frames_per_second) + ":1 Ip A1:1 C444\n");
}

void write_y4m_frame(OutputFile& file, const FloatImage& image) {
  // Per plane (Y, Cb, Cr): the offset, and the weights of red, green and blue; BT.601 with 219 and 224 steps.
  constexpr float planes[3][4] = {
      {16, 65.481f, 128.553f, 24.966f}, {128, -37.797f, -74.203f, 112}, {128, 112, -93.786f, -18.214f}};
  const std::string begin = "FRAME\n";
  const std::size_t pixels = image.width * image.height;
  std::vector<std::uint8_t> bytes(begin.begin(), begin.end());  // one write, so that no frame is split in a file
  bytes.reserve(begin.size() + 3 * pixels);
  for (const auto& plane : planes)
    for (std::size_t i = 0; i < pixels; ++i) {
      float value = plane[0] + .5f;
      for (unsigned k = 0; k < 3; ++k)
        value += plane[k + 1] * (float(byte_of(image.values[i * image.channels + k])) / 255);
      bytes.push_back(static_cast<std::uint8_t>(value));
    }
  file.write(std::as_bytes(std::span(bytes)));
}

}  // namespace upsweep
