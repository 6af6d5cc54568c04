// render: semi-transparent circles over a background, in input order, with the bits of a serial renderer.
#pragma once
#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/operations.h"

namespace upsweep {

// The image: its size, the rectangle that it shows, and what is under the circles. Pixels are as wide and as high as
// the rectangle makes them: circles are round where (x1 - x0) / width is (y1 - y0) / height. Everything is rounded to
// f32: where a small view is far from 0, subtract its corner from it and from the circles first.
struct Picture {
  unsigned width = 1024, height = 1024;   // pixels
  double x0 = 0, y0 = 0, x1 = 1, y1 = 1;  // row 0 is at y0
  double red = 1, green = 1, blue = 1;    // of the background
  Channels channels = Channels::rgba;
  Shading shading = Shading::flat;
  // The permitted error of a colour, as a share of the largest one, plus 1e-6. 0: the bits that drawing circle after
  // circle in f32 gives, every operation rounded, on any device.
  double eps = 0;
  // Most bytes of a GPU's memory that the call takes beside its arrays; 0: what is fastest. With fewer it draws the
  // image in more and smaller windows.
  std::uint64_t scratch_bytes = 0;
};

// The contract's scalars.
inline std::array<Scalar, 13> scalars_of(const Picture& p) {
  return {std::uint64_t{p.width},
          std::uint64_t{p.height},
          p.x0,
          p.y0,
          p.x1,
          p.y1,
          p.red,
          p.green,
          p.blue,
          p.channels,
          p.shading,
          p.eps,
          p.scratch_bytes};
}

// Draws circles, eight floats each: x y z radius red green blue alpha. The first is the farthest. A circle covers the
// pixels whose centres are inside or on it, and blends over them: c = alpha * colour + (1 - alpha) * c. z is read by
// Shading::snow alone. `image` has height rows of width pixels of count_of(channels) floats. Circles in host memory are
// refused if a number is not finite, the radius is negative, or alpha is not in [0, 1]. For arrays, waiting and errors
// see upsweep/view.h and invoke().
template <InputOf<float> Circles, OutputOf<float> Image>
void render(Device& device, const Circles& circles, Image&& image, const Picture& p = {}, const Options& options = {}) {
  invoke(device, {.contract = &render_contract, .in = {view(circles)}, .out = {view(image)}, .scalars = scalars_of(p)},
         options);
}

}  // namespace upsweep
