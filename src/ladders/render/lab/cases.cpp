// The laboratory's cases of render: scenes as inputs, verification, parameters. n counts circles.
#include "lab/primitive.h"
#include "ladders/render/binding.h"
#include "ladders/render/lab/oracle.h"
#include "ladders/render/lab/probes.h"
#include "ladders/render/lab/scenes.h"
#include "ladders/render/lab/scores.h"

namespace upsweep {

extern const Contract render_contract;

namespace ladders::render {
namespace {

class RenderProblem final : public Problem {
 public:
  RenderProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : RenderProblem(primitive, c, data,
                      data.empty() ? draw_scene(find_scene(c.input), c.n, c.seed - 1) : std::vector<Circle>()) {}
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    if (expected_.empty()) {
      expected_ = expected_image(circles(), count(), frame_);
      permitted_ = permitted_error(circles(), count(), frame_);
    }
    return find_mistake(frame_, static_cast<const float*>(outputs[0]), expected_.data(), permitted_);
  }

 private:
  RenderProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data,
                const std::vector<Circle>& drawn)
      : Problem(primitive, of_floats(c), drawn.empty() ? data : std::as_bytes(std::span(drawn))),
        frame_(frame_of(call_of(primitive, c))) {}
  // The generator counts n in elements, not in circles.
  static Case of_floats(Case c) {
    c.n *= floats_per_circle;
    c.input = "uniform";  // valid for the generator, which runs only if there is no circle
    return c;
  }
  const float* circles() const { return static_cast<const float*>(values()); }
  std::size_t count() const { return case_.n / floats_per_circle; }

  const Frame frame_;
  mutable std::vector<float> expected_;  // computed when first needed
  mutable double permitted_ = 0;
};

Scalar scalar_of_scene(std::string_view scalar, std::string_view input) {
  if (scalar == "shading")
    for (const Scene& scene : scenes())
      if (scene.name == input) return scene.shading;
  return {};
}

std::vector<std::string> scene_names(Type) {
  std::vector<std::string> names;
  for (const Scene& scene : scenes()) names.emplace_back(scene.name);
  return names;
}

std::vector<Settings> variants(const Primitive& p, Type type) {
  return {p.settings(type, {{"width", "31"}, {"height", "17"}}),
          p.settings(type, {{"width", "1"}, {"height", "1"}, {"channels", "rgbw"}}),
          p.settings(type, {{"width", "31"}, {"height", "33"}, {"eps", "0.0000152587890625"}, {"green", "0.25"}}),
          p.settings(type, {{"width", "33"},
                            {"height", "32"},
                            {"x0", "0.4"},
                            {"y0", "-0.2"},
                            {"x1", "1.5"},
                            {"y1", "0.3"},
                            {"channels", "rgbw"}}),
          p.settings(
              type,
              {{"width", "200"}, {"height", "20"}, {"channels", "rgb"}, {"red", "0"}, {"green", "0"}, {"blue", "-0"}}),
          // Wide enough for a circle to span more bins than its key can hold, yet small enough for the traced emulator.
          p.settings(type, {{"width", "288"}, {"height", "8"}}),
          // Scratch memory for only some of the bins.
          p.settings(type, {{"width", "199"}, {"height", "35"}, {"scratch_bytes", "56000"}}),
          // The largest image that the plain emulator checks; the emulator draws it in more than one window.
          p.settings(type, {{"width", "199"}, {"height", "135"}})};
}

// The image size for `explain`: even rungs that test every circle in every pixel are traced in seconds.
constexpr std::pair<std::string_view, std::string_view> small_picture[] = {{"width", "256"}, {"height", "256"}};

constexpr std::size_t tiles[] = {256, 1024};  // batches of circles, on a GPU and on a CPU

}  // namespace
}  // namespace ladders::render

extern const Primitive render_primitive{
    .contract = render_contract,
    .types = [] { return std::vector{Type::f32}; },
    .inputs = &ladders::render::scene_names,
    .own_size =
        [](std::string_view name) {
          const auto& scene = ladders::render::find_scene(name);
          return scene.adversarial ? std::size_t{0} : scene.circles;
        },
    .scalar_of_input = &ladders::render::scalar_of_scene,
    .variants = &ladders::render::variants,
    .fixed_length =
        [](const Settings& s) {
          constexpr Picture usual;
          return std::size_t{4} * s.get("width", std::uint64_t{usual.width}) *
                 s.get("height", std::uint64_t{usual.height});
        },
    .tiles = ladders::render::tiles,
    .largest_checked = 4100,
    .example = {.parameters = ladders::render::small_picture},
    .probes = ladders::render::probes,
    .published = &ladders::render::score_table,
    .problem = &make_problem<ladders::render::RenderProblem>,
};

}  // namespace upsweep
