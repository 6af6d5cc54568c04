// Images as input: every PNG pixel format against libpng's simplified interface, JPEG against the encoded image, PGM
// and PPM against their definition, and truncated or foreign files.
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>
#include <sys/resource.h>
#include <zlib.h>

#include <cstdio>  // jpeglib.h needs FILE, which gtest.h declares before it
#include <cstdlib>
#include <cstring>
#include <vector>

#include "error_of.h"
#include "files/jpeg.h"
#include "files/png.h"
#include "files/pnm.h"
#include "memory_source.h"

namespace upsweep {
namespace {

using Bytes = std::vector<unsigned char>;

// Returns all of a reader's elements, read `step` bytes at a time.
Bytes read_all(ArrayReader& reader, std::size_t step) {
  Bytes all;
  std::vector<std::byte> part(step);
  while (const std::size_t elements = reader.read(part))
    all.insert(all.end(), reinterpret_cast<unsigned char*>(part.data()),
               reinterpret_cast<unsigned char*>(part.data()) + elements * size_of(reader.type()));
  return all;
}

struct Kind {
  int colour, bits;
  unsigned channels;
  bool interlaced;
};

// Encodes rows of raw PNG samples.
std::string encode(const Kind& kind, unsigned width, unsigned height, const Bytes& rows) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep data, std::size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), n);
      },
      nullptr);
  png_set_IHDR(png, info, width, height, kind.bits, kind.colour,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  const png_color palette[] = {{10, 20, 30}, {40, 50, 60}};
  if (kind.colour == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
  png_write_info(png, info);
  std::vector<png_bytep> pointers;
  for (unsigned y = 0; y < height; ++y)
    pointers.push_back(const_cast<png_bytep>(rows.data() + y * (rows.size() / height)));
  png_write_image(png, pointers.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

Bytes noise(std::size_t n) {
  Bytes all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
  return all;
}

TEST(Png, EveryKindOfPixel) {
  const unsigned width = 37, height = 11;
  for (const bool interlaced : {false, true})
    for (const auto& [colour, channels] : {std::pair{PNG_COLOR_TYPE_GRAY, 1u},
                                           {PNG_COLOR_TYPE_GRAY_ALPHA, 2u},
                                           {PNG_COLOR_TYPE_RGB, 3u},
                                           {PNG_COLOR_TYPE_RGB_ALPHA, 4u}})
      for (const int bits : {8, 16}) {
        const unsigned bytes = static_cast<unsigned>(bits) / 8;
        const Bytes pixels = noise(std::size_t{width} * height * channels * bytes);
        const std::string file = encode({colour, bits, channels, interlaced}, width, height, pixels);
        for (const std::size_t step : {std::size_t{2}, std::size_t{100}, std::size_t{1} << 20}) {
          PngReader reader(std::make_unique<MemorySource>(file));
          EXPECT_EQ(reader.type(), bits == 16 ? Type::u16 : Type::u8);
          EXPECT_EQ(reader.channels(), channels);
          EXPECT_EQ(reader.count(), pixels.size() / bytes);
          Bytes expected = pixels;
          if (bits == 16)  // big-endian in the file
            for (std::size_t i = 0; i < expected.size(); i += 2) std::swap(expected[i], expected[i + 1]);
          EXPECT_EQ(read_all(reader, step), expected) << channels << ' ' << bits << ' ' << interlaced << ' ' << step;
        }
      }
}

TEST(Png, PalettesAndFewBitsAreExpanded) {
  PngReader palette(std::make_unique<MemorySource>(encode({PNG_COLOR_TYPE_PALETTE, 8, 1, false}, 3, 1, {1, 0, 1})));
  EXPECT_EQ(palette.channels(), 3u);
  EXPECT_EQ(read_all(palette, 64), (Bytes{40, 50, 60, 10, 20, 30, 40, 50, 60}));
  PngReader bits(std::make_unique<MemorySource>(encode({PNG_COLOR_TYPE_GRAY, 1, 1, false}, 4, 1, {0xa0})));
  EXPECT_EQ(read_all(bits, 64), (Bytes{255, 0, 255, 0}));
}

TEST(Png, CutAndChangedFiles) {
  const Bytes pixels = noise(40 * 30 * 3);
  const std::string file = encode({PNG_COLOR_TYPE_RGB, 8, 3, false}, 40, 30, pixels);
  for (std::size_t length = 0; length < file.size(); length += 1 + length / 7)
    EXPECT_EQ(error_of([&] {
                PngReader reader(std::make_unique<MemorySource>(file.substr(0, length)));
                read_all(reader, 1000);
              }).code(),
              Code::bad_file)
        << length;
  std::string changed = file;
  changed[file.size() / 2] ^= 1;  // detected by a checksum
  EXPECT_EQ(error_of([&] {
              PngReader reader(std::make_unique<MemorySource>(changed));
              read_all(reader, 1000);
            }).code(),
            Code::bad_file);
}

// A gradient, which compresses well with little loss.
Bytes gradient(unsigned width, unsigned height, unsigned channels) {
  Bytes all;
  for (unsigned y = 0; y < height; ++y)
    for (unsigned x = 0; x < width; ++x)
      for (unsigned k = 0; k < channels; ++k) all.push_back(static_cast<unsigned char>(4 * x + 2 * y + 30 * k));
  return all;
}

std::string encode_jpeg(J_COLOR_SPACE space, unsigned channels, unsigned width, unsigned height, bool progressive) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.input_components = static_cast<int>(channels);
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  if (progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  Bytes pixels = gradient(width, height, channels);
  for (unsigned y = 0; y < height; ++y) {
    JSAMPROW row = pixels.data() + y * width * channels;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const std::string file(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return file;
}

TEST(Jpeg, EveryKindOfPixel) {
  const unsigned width = 37, height = 21;
  for (const auto& [space, channels] : {std::pair{JCS_GRAYSCALE, 1u}, {JCS_RGB, 3u}, {JCS_CMYK, 4u}})
    for (const bool progressive : {false, true}) {
      const std::string file = encode_jpeg(space, channels, width, height, progressive);
      const Bytes pixels = gradient(width, height, channels);
      for (const std::size_t step : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 20}) {
        JpegReader reader(std::make_unique<MemorySource>(file, step != 100));
        EXPECT_EQ(reader.type(), Type::u8);
        EXPECT_EQ(reader.channels(), channels);
        EXPECT_EQ(reader.count(), pixels.size());
        const Bytes got = read_all(reader, step);
        ASSERT_EQ(got.size(), pixels.size());
        int furthest = 0;
        for (std::size_t i = 0; i < got.size(); ++i) furthest = std::max(furthest, std::abs(got[i] - pixels[i]));
        EXPECT_LE(furthest, channels == 3 ? 40 : 3) << channels << ": colours are stored at half of the resolution";
      }
    }
}

// libjpeg would fill missing data with grey; the reader must reject the file.
TEST(Jpeg, CutAndChangedFiles) {
  for (const bool progressive : {false, true}) {
    const std::string file = encode_jpeg(JCS_RGB, 3, 40, 30, progressive);
    const auto refused = [](const std::string& bytes) {
      const Error error = error_of([&] {
        JpegReader reader(std::make_unique<MemorySource>(bytes));
        read_all(reader, 1000);
      });
      EXPECT_EQ(error.code(), Code::bad_file);
      return std::string(error.what());
    };
    for (std::size_t length = 0; length < file.size(); length += 1 + length / 20) {
      SCOPED_TRACE(length);
      refused(file.substr(0, length));
    }
    EXPECT_NE(refused(file.substr(0, file.size() - 2)).find("it ends early"), std::string::npos) << "its last marker";
    std::string changed = file;
    const std::size_t scan = file.rfind("\xff\xda");
    changed.replace(scan + (file.size() - scan) * 2 / 3, 2, "\xff\xd9");  // an end marker inside the last scan
    SCOPED_TRACE(progressive);
    refused(changed);
    JpegReader followed(std::make_unique<MemorySource>(file + "what cameras add"));
    EXPECT_EQ(read_all(followed, 1000).size(), 40u * 30 * 3);
  }
}

// A file of a few hundred bytes that requests gigabytes.
TEST(Jpeg, HugeProgressiveImagesAreRefused) {
  std::string file = encode_jpeg(JCS_RGB, 3, 40, 30, true);
  const std::size_t frame = file.find("\xff\xc2");
  ASSERT_NE(frame, file.npos);
  file.replace(frame + 5, 4, "\xff\xdc\xff\xdc");  // 65500 x 65500
  const Error error = error_of([&] { JpegReader(std::make_unique<MemorySource>(file)); });
  EXPECT_EQ(error.code(), Code::unsupported);
  EXPECT_NE(std::string(error.what()).find("too large to be held in memory"), std::string::npos);
}

// A file of a few bytes that announces an image of gigabytes.
TEST(Png, HugeInterlacedImagesTakeNoMemoryThatTheyDoNotFill) {
  std::string file = encode({PNG_COLOR_TYPE_GRAY, 8, 1, true}, 40, 30, noise(40 * 30));
  file.replace(16, 8, std::string("\0\0\x7f\xff\0\0\x7f\xff", 8));  // 32767 x 32767; the checksum is now wrong
  const std::uint32_t crc = static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(file.data()) + 12, 17));
  for (unsigned k = 0; k < 4; ++k) file[29 + k] = static_cast<char>(crc >> (24 - 8 * k));
  EXPECT_EQ(error_of([&] { PngReader(std::make_unique<MemorySource>(file)); }).code(), Code::bad_file);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 512 << 10) << "KiB";
}

std::string with_pixels(const std::string& header, const Bytes& pixels) {
  return header + std::string(pixels.begin(), pixels.end());
}

TEST(Pnm, GreyAndColour) {
  for (const bool size_known : {true, false}) {
    PnmReader grey(
        std::make_unique<MemorySource>(with_pixels("P5\n# a comment\n3 2 255\n", {1, 2, 3, 4, 5, 6}), size_known));
    EXPECT_EQ(grey.channels(), 1u);
    EXPECT_EQ(grey.count(), 6u);
    EXPECT_EQ(read_all(grey, 4), (Bytes{1, 2, 3, 4, 5, 6}));
    PnmReader colour(std::make_unique<MemorySource>(with_pixels("P6 1 1 1023\n", {1, 2, 3, 4, 5, 6}), size_known));
    EXPECT_EQ(colour.type(), Type::u16);
    EXPECT_EQ(colour.channels(), 3u);
    EXPECT_EQ(read_all(colour, 64), (Bytes{2, 1, 4, 3, 6, 5}));
  }
}

TEST(Pnm, WhatIsNone) {
  const std::string bad[] = {"",
                             "P",
                             "P3 1 1 255\n1 2 3",
                             "P5",
                             "P5 0 1 255\n",
                             "P5 1x1 9",
                             "P5 1 1 70000\n1",
                             "P5 99999999999 1 255\n",
                             "P5 -1 1 255\n",
                             "P6 2 1 255\nabc"};
  for (const std::string& text : bad)
    for (const bool size_known : {true, false})
      EXPECT_EQ(error_of([&] {
                  PnmReader reader(std::make_unique<MemorySource>(text, size_known));
                  read_all(reader, 64);
                }).code(),
                Code::bad_file)
          << text;
}

}  // namespace
}  // namespace upsweep
