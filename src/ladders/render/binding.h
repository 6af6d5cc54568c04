// Binds a Call to a rung's Args.
#pragma once
#include <type_traits>

#include "base/typed_rung.h"
#include "ladders/render/blend.h"

namespace upsweep::ladders::render {

inline Frame frame_of(const Picture& p) {
  Frame f;
  f.width = f.pitch = p.width, f.height = f.rows = p.height;
  f.x0 = static_cast<float>(p.x0), f.y0 = static_cast<float>(p.y0);
  f.step_x = (static_cast<float>(p.x1) - f.x0) / static_cast<float>(f.width);
  f.step_y = (static_cast<float>(p.y1) - f.y0) / static_cast<float>(f.height);
  f.red = static_cast<float>(p.red), f.green = static_cast<float>(p.green), f.blue = static_cast<float>(p.blue);
  f.channels = p.channels;
  f.shading = p.shading;
  f.eps = static_cast<float>(p.eps);
  return f;
}

inline Frame frame_of(const Call& c) { return frame_of(render_scalars.read(c.scalars)); }

// Returns the reason why the circle is invalid, or null if it is valid.
const char* mistake_in(const Circle& c);

struct Binding : SingleOperation {
  static constexpr std::string_view primitive = "render";
  template <class T, class>
  static constexpr bool takes = std::is_same_v<T, float>;
  template <class T, class>
  static Args args(const Call& c) {
    const Picture p = render_scalars.read(c.scalars);
    const auto n = c.n() / floats_per_circle;
    return {c.execution(), c.in[0].as<const float>(), c.out[0].as<float>(), n, frame_of(p), p.scratch_bytes};
  }
};

}  // namespace upsweep::ladders::render
