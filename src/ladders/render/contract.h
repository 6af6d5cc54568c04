// render: semi-transparent circles over a background, in input order. in[0] holds 8 floats per circle: x y z radius red
// green blue alpha. out[0] is the image, height rows of width pixels of three or four floats.
//
// The image shows the rectangle (x0, y0) to (x1, y1), by default (0, 0) to (1, 1); x points right, row 0 is at y0. The
// centre of pixel (i, j) is (x0 + step_x * (i + 0.5), y0 + step_y * (j + 0.5)), where step_x = (x1 - x0) / width and
// step_y = (y1 - y0) / height. A circle covers the pixels whose centres are inside or on it. Each circle that covers a
// pixel is blended over the pixel's colour c:
//
//   c = alpha * colour + (1 - alpha) * c
//
// Every operation rounds to f32, which defines every bit of the image. blend.h is this definition as code.
//
// eps = 0 requires these bits. A larger eps permits each channel to differ by eps times the largest colour, plus 1e-6;
// coverage stays exact.
#pragma once
#include "base/implementation.h"
#include "upsweep/parameters/render.h"

namespace upsweep::ladders::render {

inline constexpr std::size_t floats_per_circle = 8;
struct Circle {
  float x, y, z, radius, red, green, blue, alpha;
};

// The image, or a window of it that is drawn separately (windows.cuh).
struct Frame {
  unsigned width = 0, height = 0;      // pixels, of the window
  unsigned left = 0, top = 0;          // pixels; the window's position in the image
  unsigned pitch = 0, rows = 0;        // pixels; width and height of the image
  float x0 = 0, y0 = 0;                // of the outer corner of pixel (0, 0)
  float step_x = 1, step_y = 1;        // from one pixel to the next
  float red = 1, green = 1, blue = 1;  // of the background; with snow, each row has a shade of grey
  Channels channels = Channels::rgba;
  Shading shading = Shading::flat;
  float eps = 0;

  constexpr std::size_t pixels() const { return std::size_t{width} * height; }
  // Returns the index in the image of the window's pixel (i, j).
  constexpr std::size_t pixel(unsigned i, unsigned j) const { return std::size_t{top + j} * pitch + left + i; }
};

struct Args : Execution {
  const float* circles;  // [n][8]
  float* image;          // [height][width][channels]
  std::size_t n;
  Frame frame;
  std::size_t scratch_bytes = 0;  // limit on scratch memory; 0: no limit
};

}  // namespace upsweep::ladders::render
