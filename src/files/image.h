// Writes images: 8-bit PNG and PPM; PFM, OpenEXR and .npy with floats.
#pragma once
#include <span>
#include <string>

#include "files/file.h"

namespace upsweep {

// An image of floats: rows from top to bottom, channels interleaved. Three channels are colours; a fourth is optional,
// and only .npy and .exr keep it.
struct FloatImage {
  std::size_t width, height;
  unsigned channels;  // 3 or 4
  std::span<const float> values;
};

enum class ImageFormat : std::uint8_t { png, ppm, pfm, exr, npy };
// Returns the format that the path's extension names; PNG for `-`. Throws Error(invalid_argument) for an unknown
// extension.
ImageFormat image_format(const std::string& path);

// Writes the image; the caller must still commit the file. 8-bit formats clamp colours to [0, 1]. Throws
// Error(io_error) or Error(interrupted).
void write_image(OutputFile& file, ImageFormat format, const FloatImage& image);

// Write a video as Y4M (YUV4MPEG2), which video encoders read from a pipe: 8 bits, BT.601, 4:4:4. The header is written
// once, before the frames.
void write_y4m_header(OutputFile& file, std::size_t width, std::size_t height, unsigned frames_per_second);
void write_y4m_frame(OutputFile& file, const FloatImage& image);

}  // namespace upsweep
