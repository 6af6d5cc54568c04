#include "base/contract.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>

#include "base/unsigned_as.h"
#include "ladders/render/choose.h"

namespace upsweep {
namespace {

using namespace ladders::render;

constexpr InputRole inputs[] = {{"the array of circles"}};
constexpr OutputRole outputs[] = {{.name = "the image", .fit = Fit::custom}};
using enum Parameter::Kind;
constexpr double far = 0x1p60;  // coordinates whose squares are far from overflow
constexpr Parameter scalars[] = {
    {.name = "width", .kind = integer, .meaning = "of the image, in pixels (1024)", .least = 1, .most = 65536},
    {.name = "height", .kind = integer, .meaning = "of the image, in pixels (1024)", .least = 1, .most = 65536},
    {.name = "x0", .kind = real, .meaning = "left edge of what is shown (0)", .least = -far, .most = far},
    {.name = "y0", .kind = real, .meaning = "edge at row 0 (0)", .least = -far, .most = far},
    {.name = "x1", .kind = real, .meaning = "right edge (1)", .least = -far, .most = far},
    {.name = "y1", .kind = real, .meaning = "edge beyond the last row (1)", .least = -far, .most = far},
    {.name = "red", .kind = real, .meaning = "of the background (1)", .least = -far, .most = far},
    {.name = "green", .kind = real, .meaning = "likewise", .least = -far, .most = far},
    {.name = "blue", .kind = real, .meaning = "likewise", .least = -far, .most = far},
    {.name = "channels",
     .kind = choice,
     .meaning = "three colours and 1; three colours and the coverage; or three colours (rgba)",
     .choices = channels_names},
    {.name = "shading",
     .kind = choice,
     .meaning = "of circles: flat, or as snowflakes (flat)",
     .choices = shading_names},
    {.name = "eps", .kind = real, .meaning = "permitted error per largest colour; 0: none (0)", .most = 1},
    {.name = "scratch_bytes",
     .kind = integer,
     .meaning = "most bytes of a GPU's memory beside circles and image; 0: what is fastest (0)",
     .most = 0x1p53}};

// The shortest decimal that reads back the same; NaN without a sign.
std::string shortest(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, std::isnan(value) ? NAN : value).ptr};
}

void validate(const Call& c) {
  constexpr const char* who = "render";
  if (c.n() % floats_per_circle)
    refuse(who, "the array of circles has " + std::to_string(c.n()) + " elements, not 8 for each circle",
           "x y z radius red green blue alpha");
  const auto real_at = [&](std::size_t k) { return c.scalars[k].as<double>(); };
  for (std::size_t k = 0; k < std::size(scalars); ++k) {
    if (scalars[k].kind != integer && scalars[k].kind != real) continue;
    const double value = scalars[k].kind == integer ? double(c.scalars[k].as<std::uint64_t>()) : real_at(k);
    if (!(value >= scalars[k].least && value <= scalars[k].most))
      refuse(who, std::string(scalars[k].name) + " is " + shortest(value) + ", which is not in [" +
                      shortest(scalars[k].least) + ", " + shortest(scalars[k].most) + "]");
  }
  const Frame f = frame_of(c);
  // Below this, squares of distances between pixels would underflow.
  constexpr float least_step = 0x1p-40f;
  if (!(f.step_x >= least_step && f.step_y >= least_step))
    refuse(who, "the view is empty, reversed or too small", "x0 < x1 and y0 < y1");
  require_array(who, "the image", c.out[0], Type::f32, f.pixels() * count_of(f.channels));
}

void validate_elements(const Call& c) {
  if (!c.in[0].data) return;
  const float* const circles = c.in[0].as<const float>();
  const std::size_t n = c.n() / floats_per_circle;
  for (std::size_t i = 0; i < n; ++i) {
    if (const char* const wrong = mistake_in(circle_at(circles, i)))
      refuse("render", "circle " + std::to_string(i) + ": " + wrong);
  }
}

}  // namespace

namespace ladders::render {

const char* mistake_in(const Circle& c) {
  for (const float value : {c.x, c.y, c.z, c.radius, c.red, c.green, c.blue, c.alpha})
    if (!std::isfinite(value)) return "a number is not finite";
  if (c.radius < 0) return "the radius is negative";
  if (!(c.alpha >= 0 && c.alpha <= 1)) return "alpha is not in [0, 1]";
  if (std::max({std::fabs(c.red), std::fabs(c.green), std::fabs(c.blue)}) > far) return "a colour exceeds 2^60";
  return nullptr;
}

}  // namespace ladders::render

extern const Contract render_contract{
    .name = "render",
    .promise = "out[j][i] = the circles that cover pixel (i, j), blended over the background in input order",
    .inputs = inputs,
    .outputs = outputs,
    .scalars = scalars,
    .validate = &validate,
    .validate_elements = &validate_elements,
    .writes =
        [](const Call& c, std::size_t, std::uint64_t) {
          const Frame f = frame_of(c);
          return f.pixels() * count_of(f.channels);
        },
    .choose = &choose,
    .thresholds = thresholds};

}  // namespace upsweep
