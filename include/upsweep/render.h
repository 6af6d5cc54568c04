// render: draws semi-transparent circles over a background, in input order. The image is bit-identical to a serial
// renderer's unless Picture::eps permits an error.
#pragma once
#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/render.h"

namespace upsweep {

extern const Contract render_contract;

// Draws circles of eight floats each, x y z radius red green blue alpha, back to front. A circle covers the pixels
// whose centres lie inside or on it, and blends over them: c = alpha * colour + (1 - alpha) * c. Only Shading::snow
// reads z. `image` has height rows of width pixels of count_of(channels) floats. Throws Error(invalid_argument) if
// circles in host memory contain a value that is not finite, a negative radius, or an alpha outside [0, 1]. For arrays,
// waiting and errors, see upsweep/view.h and invoke(); for Picture, upsweep/parameters/render.h.
template <InputOf<float> Circles, OutputOf<float> Image>
void render(Device& device, const Circles& circles, Image&& image, const Picture& p = {}, const Options& options = {}) {
  invoke(
      device,
      {.contract = &render_contract, .in = {view(circles)}, .out = {view(image)}, .scalars = render_scalars.scalars(p)},
      options);
}

}  // namespace upsweep
