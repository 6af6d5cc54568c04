// Writes images: 8-bit PNG and PPM; PFM, OpenEXR and .npy with floats.
#pragma once
#include <span>
#include <string>

#include "files/file.h"

namespace upsweep {

// Rows from top to bottom, interleaved channels: three colours, and optionally a fourth, which only .npy and .exr keep.
struct FloatImage {
  std::size_t width, height;
  unsigned channels;  // 3 or 4
  std::span<const float> values;
};

enum class ImageFormat : std::uint8_t { png, ppm, pfm, exr, npy };
// Chooses by extension; PNG for `-`. Throws Error(invalid_argument) for an unknown one.
ImageFormat image_format(const std::string& path);

// Writes the image; the caller must still commit the file. 8-bit formats clamp colours to [0, 1]. Throws
// Error(io_error) or Error(interrupted).
void write_image(OutputFile& file, ImageFormat format, const FloatImage& image);

// A film as Y4M (YUV4MPEG2), which video encoders read from a pipe: 8 bits, BT.601, 4:4:4. The header is written once,
// before the frames.
void write_y4m_header(OutputFile& file, std::size_t width, std::size_t height, unsigned frames_per_second);
void write_y4m_frame(OutputFile& file, const FloatImage& image);

}  // namespace upsweep
