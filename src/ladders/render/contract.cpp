#include "base/contract.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/unsigned_as.h"
#include "ladders/render/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

using namespace ladders::render;

constexpr InputRole inputs[] = {{"the array of circles"}};
constexpr OutputRole outputs[] = {{.name = "the image",
                                   .count =
                                       [](const Call& c, std::uint64_t) {
                                         const Frame f = frame_of(c);
                                         return f.pixels() * count_of(f.channels);
                                       },
                                   .join = [](const Call&) { return Join::drawn_over; }}};

void validate(const Call& c) {
  constexpr const char* who = "render";
  if (c.n() % floats_per_circle)
    refuse(who, "the array of circles has " + std::to_string(c.n()) + " elements, not 8 for each circle",
           "x y z radius red green blue alpha");
  const Frame f = frame_of(c);
  // With smaller steps, squared distances between pixels would underflow.
  constexpr float least_step = 0x1p-40f;
  if (!(f.step_x >= least_step && f.step_y >= least_step))
    refuse(who, "the view is empty, reversed or too small", "x0 < x1 and y0 < y1");
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
  if (std::max({std::fabs(c.red), std::fabs(c.green), std::fabs(c.blue)}) > Picture::most)
    return "a colour exceeds 2^60";
  return nullptr;
}

}  // namespace ladders::render

extern const Contract render_contract{
    .name = "render",
    .promise = "out[j][i] = the circles that cover pixel (i, j), blended over the background in input order",
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &rungs,
    .scalars = render_scalars.parameters,
    .validate = &validate,
    .validate_elements = &validate_elements,
    .choose = &choose,
    .thresholds = thresholds};

}  // namespace upsweep
