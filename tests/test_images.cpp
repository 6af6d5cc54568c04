// Images as input: PNG of every kind of pixel against libpng's own simplified interface, PGM and PPM against their
// definition, and files that are cut or are something else.
#include <gtest/gtest.h>
#include <png.h>

#include <cstring>
#include <vector>

#include "error_of.h"
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
          if (bits == 16)  // most significant byte first in the file
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
  changed[file.size() / 2] ^= 1;  // caught by a checksum
  EXPECT_EQ(error_of([&] {
              PngReader reader(std::make_unique<MemorySource>(changed));
              read_all(reader, 1000);
            }).code(),
            Code::bad_file);
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
