#include "ladders/render/lab/scenes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include "lab/rng.h"
#include "ladders/render/lab/animation.h"
#include "upsweep/error.h"

namespace upsweep::ladders::render {

// An additive feedback generator with 31 words of state, filled by a multiplicative congruential generator and advanced
// by 310 steps.
CourseRandom::CourseRandom(std::uint64_t seed) {
  std::int64_t word = static_cast<std::uint32_t>(seed) == 0 ? 1 : static_cast<std::int32_t>(seed);
  for (std::uint32_t& kept : history_) {
    kept = static_cast<std::uint32_t>(word);
    word = 16807 * static_cast<std::int64_t>(static_cast<std::int32_t>(word)) % 2147483647;
    if (word < 0) word += 2147483647;
  }
  for (int k = 0; k < 310; ++k) next();
}

std::uint32_t CourseRandom::next() {
  const std::uint32_t sum = history_[at_] += history_[(at_ + 28) % 31];  // r[i - 31] + r[i - 3]
  at_ = (at_ + 1) % 31;
  return sum >> 1;
}

namespace {

using Circles = std::span<Circle>;
using Uniform = CourseRandom;

// Fills the circles from index `own` on with repetitions of the first `own`.
void repeat(Circles circles, std::size_t own) {
  for (std::size_t k = own; k < circles.size(); ++k) circles[k] = circles[k - own];
}

void draw_list(Circles circles, std::initializer_list<Circle> list) {
  for (std::size_t k = 0; k < std::min(list.size(), circles.size()); ++k) circles[k] = list.begin()[k];
  repeat(circles, list.size());
}

void rgb(Circles circles, std::uint64_t) {
  draw_list(
      circles,
      {{.4f, .5f, .75f, .3f, 1, 0, 0, .5f}, {.5f, .5f, .5f, .3f, 0, 1, 0, .5f}, {.6f, .5f, .25f, .3f, 0, 0, 1, .5f}});
}

void rgby(Circles circles, std::uint64_t) {
  draw_list(circles, {{.25f, .25f, 1, .19f, 1, 0, 0, .5f},
                      {.3f, .3f, .75f, .19f, 0, 1, 0, .5f},
                      {.5f, .5f, .5f, .25f, 0, 0, 1, .5f},
                      {.2f, .2f, .25f, .1f, 1, 1, 0, .5f}});
}

void pattern(Circles circles, std::uint64_t) {
  constexpr unsigned red = 16 * 16, all = red + 31 * 31;
  for (unsigned k = 0; k < std::min<std::size_t>(all, circles.size()); ++k) {
    const bool yellow = k >= red;
    const unsigned at = yellow ? k - red : k, side = yellow ? 31 : 16;
    const float first = yellow ? 0 : 1 / 32.f;
    circles[k] = {
        first + float(at % side) / 16, first + float(at / side) / 16, 0, 1 / 32.f, 1, yellow ? 1.f : 0.f, 0, .5f};
  }
  repeat(circles, all);
}

void sorted_depths(Circles circles, Uniform& u) {
  std::vector<float> depths(circles.size());
  for (float& depth : depths) depth = u();
  std::sort(depths.begin(), depths.end(), std::greater<>());
  for (std::size_t k = 0; k < circles.size(); ++k) circles[k].z = depths[k];
}

// Each of red, green and blue is least + range * U, with U uniform in [0, 1].
struct Tint {
  float least[3], range[3];
};
constexpr Tint pastel{{.1f, .2f, .5f}, {.9f, .5f, .5f}};

void scatter(Circles circles, Uniform& u, float radius, float radius_range, const Tint& tint) {
  sorted_depths(circles, u);
  for (Circle& c : circles) {
    c.radius = radius;
    if (radius_range > 0) c.radius += radius_range * u();
    c.x = u();
    c.y = u();
    float* const colours[] = {&c.red, &c.green, &c.blue};
    for (int k = 0; k < 3; ++k) *colours[k] = tint.least[k] + tint.range[k] * u();
    c.alpha = .5f;
  }
}

void rand10k(Circles circles, std::uint64_t seed) {
  Uniform u(seed);
  scatter(circles, u, .02f, .06f, pastel);
}
void rand100k(Circles circles, std::uint64_t seed) {
  Uniform u(seed);
  scatter(circles, u, .02f, .06f, {{.3f, .1f, .1f}, {.9f, .9f, .4f}});
}
void rand1M(Circles circles, std::uint64_t seed) {
  Uniform u(seed);
  scatter(circles, u, .009f, .005f, {{.2f, .5f, .1f}, {.5f, .5f, .4f}});
}
void micro2M(Circles circles, std::uint64_t seed) {
  Uniform u(seed);
  scatter(circles, u, .001f, 0, {{.3f, .1f, .2f}, {.9f, .3f, .2f}});
}

// Large circles, except for the last tenth, which are small and in one corner.
void big_and_little(Circles circles, std::uint64_t seed, float x, float y) {
  Uniform u(seed);
  scatter(circles, u, .25f, 0, pastel);
  for (Circle& c : circles.last(circles.size() / 10)) {
    c.radius = .05f;
    c.x = x + .1f * u();
    c.y = y + .1f * u();
  }
}
void biglittle(Circles circles, std::uint64_t seed) { big_and_little(circles, seed, .05f, .85f); }
void littlebig(Circles circles, std::uint64_t seed) { big_and_little(circles, seed, .85f, .05f); }

// Flakes above the picture, before they fall.
void snow(Circles circles, std::uint64_t seed) {
  Uniform u(seed);
  std::vector<float> depths(circles.size());
  for (std::size_t k = 0; k < depths.size(); ++k)
    depths[k] = std::clamp(std::pow(float(k) / float(depths.size()), .1f) + (-.05f + .1f * u()), 0.f, 1.f);
  std::sort(depths.begin(), depths.end(), std::greater<>());
  for (std::size_t k = 0; k < circles.size(); ++k) {
    const float depth = depths[k], size = .08f - .0075f + .015f * u();
    float radius = (1 - depth) * size + depth * size / 15;
    radius = depth < .02f ? 3 * radius : std::max(radius, .0075f);
    const float x = u(), y = 1 + radius + 2 * u();
    circles[k] = {x, y, depth, radius, 1, 1, 1, .5f};
  }
}

// Frame 600 of the fall, after ten seconds: flakes at every height.
constexpr std::uint64_t fallen_frames = 600;
void snowsingle(Circles circles, std::uint64_t seed) {
  const Animation fallen(cpu_platform(), {}, find_scene("snowsingle"), circles.size(), seed);
  std::copy(fallen.circles(), fallen.circles() + circles.size(), circles.begin());
}

void primary(Circle& c, std::size_t k) { c.red = k % 3 == 0, c.green = k % 3 == 1, c.blue = k % 3 == 2; }

void bouncingballs(Circles circles, std::uint64_t seed) {
  Uniform u(seed);
  for (std::size_t k = 0; k < circles.size(); ++k) {
    circles[k] = {.radius = .05f, .alpha = .5f};
    u();  // skips the ball's speed
    circles[k].x = u();
    circles[k].y = u();
    primary(circles[k], k);
  }
}

void hypnosis(Circles circles, std::uint64_t seed) {
  Uniform u(seed);
  for (std::size_t k = 0; k < circles.size(); ++k) {
    circles[k] = {.x = .5f, .y = .5f, .radius = .02f + .02f * float(k % 25), .alpha = .5f};
    circles[k].red = u();
    circles[k].green = u();
    circles[k].blue = u();
  }
}

// 15 centres, followed by the 20 sparks of each.
void fireworks(Circles circles, std::uint64_t seed) {
  Uniform u(seed);
  constexpr unsigned centres = 15, sparks = 20, all = centres * (1 + sparks);
  std::vector<Circle> list(all);
  for (unsigned k = 0; k < centres; ++k) {
    Circle& centre = list[k] = {.radius = .005f, .red = 1, .green = 1, .blue = 1, .alpha = .5f};
    centre.x = u();
    centre.y = u();
    for (unsigned s = 0; s < sparks; ++s) {
      Circle& spark = list[centres + k * sparks + s] = {.radius = .01f, .alpha = .5f};
      const float angle = float(s) * (2 * std::numbers::pi_v<float> / sparks);
      spark.x = centre.x + (centre.radius + .1f) * std::sin(angle);
      spark.y = centre.y + (centre.radius + .1f) * std::cos(angle);
      primary(spark, k);
    }
  }
  std::copy_n(list.begin(), std::min<std::size_t>(all, circles.size()), circles.begin());
  repeat(circles, all);
}

// ---- our own scenes, from the laboratory's generator: every circle is generated independently ----------------------

// Calls draw(circle, uniform), where uniform(k) in [0, 1) is the circle's k-th random number.
template <class Draw>
void each(Circles circles, std::uint64_t seed, Draw&& draw) {
  const Random random(seed);
  for (std::size_t k = 0; k < circles.size(); ++k) {
    const auto uniform = [&](unsigned which) { return float(random(8 * k + which) >> 40) * 0x1p-24f; };
    circles[k] = {uniform(0), uniform(1), 0, .05f, uniform(2), uniform(3), uniform(4), .5f};
    draw(circles[k], [&](unsigned which) { return uniform(5 + which); });
  }
}

void scatter10M(Circles circles, std::uint64_t seed) {
  each(circles, seed, [](Circle& c, auto u) { c.radius = .0005f + .0025f * u(0), c.alpha = .3f * u(1); });
}
// All circles lie in one corner of the picture.
void one_tile(Circles circles, std::uint64_t seed) {
  each(circles, seed, [](Circle& c, auto) { c.x *= .01f, c.y *= .01f, c.radius = .005f; });
}
// Every circle covers every pixel.
void everywhere(Circles circles, std::uint64_t seed) {
  each(circles, seed, [](Circle& c, auto u) { c.radius = 2 + u(0), c.alpha = u(1); });
}
void identical(Circles circles, std::uint64_t seed) {
  each(circles.first(std::min<std::size_t>(1, circles.size())), seed, [](Circle& c, auto) { c.radius = .3f; });
  repeat(circles, 1);
}
// Black circles, so that no pixel is certified at any depth. Green and blue are -0, which stays -0 over -0. Pixels on
// the left are hundreds of circles deep; the others are about 40 deep, enough for the first try but not for the second.
void shallow(Circles circles, std::uint64_t seed) {
  const std::size_t every = std::max<std::size_t>(1, circles.size() / 50);
  each(circles, seed, [](Circle& c, auto) { c.radius = .8f, c.red = 0, c.green = c.blue = -0.f; });
  for (std::size_t k = 0; k < circles.size(); ++k)
    if (k % every) circles[k].x = -1.8f, circles[k].y = .5f, circles[k].radius = 2;
}
// Deep everywhere: pixels are certified after about 40 covering circles, except those in a small hole, where the last
// sixty circles are black, so that no pixel is certified. Other pixels of the same lanes and warps are certified, and
// so is the rest of the tile.
void hole(Circles circles, std::uint64_t seed) {
  constexpr float x = .45f, y = .27f, half = .03f;    // one or two pixels of a small image
  constexpr float radius = 32, away = radius + half;  // so large that edges are nearly straight
  constexpr struct {
    float x, y, radius;
  } around[] = {{-away, 0, radius}, {away, 0, radius}, {0, -away, radius}, {0, away, radius}, {0, 0, 1.6f * half}};
  each(circles, seed, [](Circle& c, auto) { c.radius = 4; });
  const auto last = circles.last(std::min<std::size_t>(300, circles.size() / 2));
  for (std::size_t k = 0; k < last.size(); ++k) {
    const auto& part = around[k % 5];
    last[k].x = x + part.x, last[k].y = y + part.y, last[k].radius = part.radius;
    if (k % 5 == 4) last[k].red = last[k].green = last[k].blue = 0;
  }
}
// Circles so faint that no pixel is ever certified, and long sums round at every step.
void faint(Circles circles, std::uint64_t seed) {
  each(circles, seed, [](Circle& c, auto u) { c.radius = .5f, c.alpha = std::ldexp(1 + u(0), -4 - int(20 * u(1))); });
}
// Alpha 1, which hides everything underneath, alpha 0, which has no effect, and values next to them.
void opaque(Circles circles, std::uint64_t seed) {
  each(circles, seed, [](Circle& c, auto u) {
    const float edges[] = {1, 0, 1 - 0x1p-24f, 0x1p-24f, 0x1p-140f, .999f};
    c.radius = .2f * u(0), c.alpha = edges[int(6 * u(1))], c.red = 4 * c.red - 2;
  });
}
// Radius 0, subnormal radii, and circle centres on pixel centres.
void specks(Circles circles, std::uint64_t seed) {
  each(circles, seed, [](Circle& c, auto u) {
    const float radii[] = {0, 0x1p-140f, 0x1p-75f, 1e-30f, .001f, .02f};
    c.radius = radii[int(6 * u(0))];
    c.x = (std::floor(64 * c.x) + .5f) / 64, c.y = (std::floor(64 * c.y) + .5f) / 64;
  });
}
// Radii and distances up to the largest floats, and circles outside the picture.
void huge(Circles circles, std::uint64_t seed) {
  each(circles, seed, [](Circle& c, auto u) {
    const float size = std::ldexp(1.f, int(127 * u(0)));
    c.x = 1 + size * (2 * c.x - 1), c.y = size * (2 * c.y - 1), c.radius = size * (.5f + u(1)), c.alpha = .1f;
  });
}

constexpr Scene all_scenes[] = {
    {"rgb", 3, "three large circles", &rgb},
    {"rgby", 4, "four circles", &rgby},
    {"pattern", 1217, "two grids of circles", &pattern},
    {"rand10k", 10'000, "circles of 20 to 80 pixels", &rand10k},
    {"rand100k", 100'000, "the same, ten times as many", &rand100k},
    {"rand1M", 1'000'000, "circles of 10 pixels", &rand1M},
    {"micro2M", 2'000'000, "circles of one pixel", &micro2M},
    {"biglittle", 10'000, "large circles, and small ones over them in a corner", &biglittle},
    {"littlebig", 10'000, "the same, in the opposite corner", &littlebig},
    {"snow", 100'000, "flakes above the picture", &snow, Shading::snow, false, Motion::fall},
    {"snowsingle", 100'000, "the flakes ten seconds later", &snowsingle, Shading::snow, false, Motion::fall, "snow",
     fallen_frames},
    {"bouncingballs", 10, "ten balls", &bouncingballs, Shading::flat, false, Motion::bounce},
    {"hypnosis", 25, "concentric circles", &hypnosis, Shading::flat, false, Motion::grow},
    {"fireworks", 315, "fifteen centres with twenty sparks each", &fireworks, Shading::flat, false, Motion::burst},
    {"scatter10M", 10'000'000, "a scatter plot: faint circles of one to six pixels", &scatter10M},
    {"one_tile", 1000, "everything in one corner", &one_tile, Shading::flat, true},
    {"everywhere", 1000, "every circle covers every pixel", &everywhere, Shading::flat, true},
    {"identical", 1000, "one circle again and again", &identical, Shading::flat, true},
    {"shallow", 1000, "black; about 40 circles cover a pixel, hundreds on the left", &shallow, Shading::flat, true},
    {"hole", 1000, "deep, and certified except for a few pixels", &hole, Shading::flat, true},
    {"faint", 1000, "alphas from 2^-24 to 2^-3", &faint, Shading::flat, true},
    {"opaque", 1000, "alphas at and next to 0 and 1", &opaque, Shading::flat, true},
    {"specks", 1000, "radii of 0 and next to it", &specks, Shading::flat, true},
    {"huge", 1000, "radii up to 2^127, centres far away", &huge, Shading::flat, true},
};

}  // namespace

std::span<const Scene> scenes() { return all_scenes; }

const Scene& find_scene(std::string_view name) {
  std::string names;
  for (const Scene& scene : all_scenes) {
    if (scene.name == name) return scene;
    names.append(" ").append(scene.name);
  }
  throw Error(Code::invalid_argument, "no scene named '" + std::string(name) + "'", "there are:" + names);
}

std::vector<Circle> draw_scene(const Scene& scene, std::size_t circles, std::uint64_t seed) {
  std::vector<Circle> all(circles);
  scene.draw(all, seed);
  return all;
}

}  // namespace upsweep::ladders::render
