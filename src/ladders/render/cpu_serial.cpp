// render/serial: draws circle by circle, each over the pixels of its bounding box; the definition of the image.
#include "ladders/render/cpu_serial.h"

#include <algorithm>

#include "ladders/render/binding.h"

namespace upsweep::ladders::render {

namespace {  // a rung of the same name may exist on the GPU

template <Shading shading>
void draw(const Circle& c, const Box& b, const Frame& f, float* image) {
  const unsigned channels = count_of(f.channels);
  const float radius2 = square(c.radius);
  Paint paint = flat_paint(c);
  for (int j = b.top; j < b.bottom; ++j)
    for (int i = b.left; i < b.right; ++i) {
      const float d2 = distance2(centre_x(f, unsigned(i)), centre_y(f, unsigned(j)), c.x, c.y);
      if (!(d2 <= radius2)) continue;
      if constexpr (shading == Shading::snow) paint = snow_paint(c, d2);
      float* const at = image + (std::size_t(j) * f.width + unsigned(i)) * channels;
      Colour colour{at[0], at[1], at[2], 0};
      blend(colour, paint);
      at[0] = colour.red, at[1] = colour.green, at[2] = colour.blue;
      if (f.channels == Channels::rgbw) at[3] = add(at[3], paint.alpha);
    }
}

struct serial {
  static constexpr Story story{.idea = "one core, circle by circle, in input order",
                               .prediction = "4 ns per circle and covered pixel",
                               .guarantees = "exact: the definition",
                               .limits = "any image up to 65536 x 65536",
                               .source = "Porter and Duff, Compositing Digital Images, 1984"};
  static constexpr bool reproducible_bits = true;

  template <class, class>
  static Status run(const Args& a) {
    draw_serially(a.circles, a.n, a.frame, 0, a.frame.height, a.image);
    return {};
  }
};

}  // namespace

void draw_serially(const float* circles, std::size_t n, const Frame& f, unsigned first_row, unsigned end_row,
                   float* image) {
  for (unsigned j = first_row; j < end_row; ++j)
    for (unsigned i = 0; i < f.width; ++i) put(image, f, std::size_t(j) * f.width + i, background(f, j));
  const Axes axes(f);
  for (std::size_t k = 0; k < n; ++k) {
    const Circle c = circle_at(circles, k);
    Box b = axes.bounds(c.x, c.y, c.radius);
    b.top = std::max(b.top, int(first_row));
    b.bottom = std::min(b.bottom, int(end_row));
    f.shading == Shading::snow ? draw<Shading::snow>(c, b, f, image) : draw<Shading::flat>(c, b, f, image);
  }
}

extern const Rung cpu_serial_rung = make_rung<Binding, serial>("serial", Backend::cpu);

}  // namespace upsweep::ladders::render
