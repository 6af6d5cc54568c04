// Binds a Call to a rung's Args.
#pragma once
#include <type_traits>

#include "base/typed_rung.h"
#include "ladders/render/blend.h"

namespace upsweep::ladders::render {

inline Frame frame_of(const Call& c) {
  const auto side = [&](std::size_t k) { return static_cast<unsigned>(c.scalars[k].as<std::uint64_t>()); };
  const auto real = [&](std::size_t k) { return static_cast<float>(c.scalars[k].as<double>()); };
  Frame f;
  f.width = f.pitch = side(0), f.height = f.rows = side(1);
  f.x0 = real(2), f.y0 = real(3);
  f.step_x = (real(4) - f.x0) / static_cast<float>(f.width);
  f.step_y = (real(5) - f.y0) / static_cast<float>(f.height);
  f.red = real(6), f.green = real(7), f.blue = real(8);
  f.channels = c.scalars[9].as<Channels>();
  f.shading = c.scalars[10].as<Shading>();
  f.eps = real(11);
  return f;
}

// Says what makes a circle invalid, or null.
const char* mistake_in(const Circle& c);

struct Binding : SingleOperation {
  static constexpr std::string_view primitive = "render";
  template <class T, class>
  static constexpr bool takes = std::is_same_v<T, float>;
  template <class T, class>
  static Args args(const Call& c) {
    return {c.execution(), c.in[0].as<const float>(), c.out[0].as<float>(), c.n() / floats_per_circle, frame_of(c),
            c.scalars[12].as<std::uint64_t>()};
  }
};

}  // namespace upsweep::ladders::render
