// render: semi-transparent circles over a background, in input order, with the bits of a serial renderer.
#pragma once
#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/render.h"

namespace upsweep {

extern const Contract render_contract;

// Draws circles, eight floats each: x y z radius red green blue alpha. The first is the farthest. A circle covers the
// pixels whose centres are inside or on it, and blends over them: c = alpha * colour + (1 - alpha) * c. z is read by
// Shading::snow alone. `image` has height rows of width pixels of count_of(channels) floats. Circles in host memory are
// refused if a number is not finite, the radius is negative, or alpha is not in [0, 1]. For arrays, waiting and errors
// see upsweep/view.h and invoke(); for Picture, upsweep/parameters/render.h.
template <InputOf<float> Circles, OutputOf<float> Image>
void render(Device& device, const Circles& circles, Image&& image, const Picture& p = {}, const Options& options = {}) {
  invoke(device,
         {.contract = &render_contract,
          .in = {view(circles)},
          .out = {view(image)},
          .scalars = render_scalars.scalars(p)},
         options);
}

}  // namespace upsweep
