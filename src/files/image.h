// Images written to files: PNG and PPM of 8 bits, PFM, OpenEXR and .npy of floats.
#pragma once
#include <span>
#include <string>

#include "files/file.h"

namespace upsweep {

// Rows from top to bottom, interleaved channels: three colours, and perhaps a fourth number, which only .npy and .exr
// keep.
struct FloatImage {
  std::size_t width, height;
  unsigned channels;  // 3 or 4
  std::span<const float> values;
};

enum class ImageFormat : std::uint8_t { png, ppm, pfm, exr, npy };
// By the path's ending; PNG for `-`. Throws Error(invalid_argument) for another one.
ImageFormat image_format(const std::string& path);

// Writes the image; the file still has to be committed. 8-bit formats clamp colours to [0, 1]. Throws Error(io_error)
// or Error(interrupted).
void write_image(OutputFile& file, ImageFormat format, const FloatImage& image);

// A film as Y4M (YUV4MPEG2), which video encoders read from a pipe: 8 bits, BT.601, a colour for every pixel. The
// header is written once, before the frames.
void write_y4m_header(OutputFile& file, std::size_t width, std::size_t height, unsigned frames_per_second);
void write_y4m_frame(OutputFile& file, const FloatImage& image);

}  // namespace upsweep
