// The renderer beyond what `upsweep check` runs: the definition written once more, pixel by pixel; images larger than a
// tile; what a call refuses; the scenes' numbers; circles and images in files.
#include <ImathBox.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfInputFile.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/platform.h"
#include "cpu_rungs.h"
#include "files/array_file.h"
#include "files/image.h"
#include "files/npy.h"
#include "ladders/render/binding.h"
#include "ladders/render/lab/animation.h"
#include "ladders/render/lab/circle_file.h"
#include "ladders/render/lab/oracle.h"
#include "ladders/render/lab/scenes.h"
#include "ladders/render/lab/scores.h"
#include "upsweep/render.h"

namespace upsweep {
namespace {

using namespace ladders::render;

std::span<const float> floats_of(const std::vector<Circle>& circles) {
  return {reinterpret_cast<const float*>(circles.data()), circles.size() * floats_per_circle};
}

std::vector<float> rendered(const std::vector<Circle>& circles, const Picture& picture, const char* rung) {
  std::vector<float> image(std::size_t{picture.width} * picture.height * count_of(picture.channels), -77.f);
  Device cpu = Device::cpu();
  render(cpu, floats_of(circles), image, picture, {.rung = rung});
  return image;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
         });
}

// What the action throws, or nothing.
template <class Action>
std::string mistake_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

constexpr const char* cpu_rungs[] = {"serial", "tiles", "simd"};

// ---- the definition -------------------------------------------------------------------------------------------------

// Flat shading, the unit square, white: as the contract's words say.
std::vector<float> by_words(const std::vector<Circle>& circles, unsigned width, unsigned height) {
  std::vector<float> image;
  const float step_x = 1.0f / static_cast<float>(width), step_y = 1.0f / static_cast<float>(height);
  for (unsigned j = 0; j < height; ++j)
    for (unsigned i = 0; i < width; ++i) {
      const volatile float px = step_x * (static_cast<float>(i) + 0.5f), py = step_y * (static_cast<float>(j) + 0.5f);
      float colour[3] = {1, 1, 1}, w = 1;
      for (const Circle& c : circles) {
        const volatile float dx = px - c.x, dy = py - c.y, dx2 = dx * dx, dy2 = dy * dy, r2 = c.radius * c.radius;
        if (!(dx2 + dy2 <= r2)) continue;
        const float own[3] = {c.red, c.green, c.blue};
        for (int k = 0; k < 3; ++k) {
          const volatile float over = c.alpha * own[k], through = 1 - c.alpha, under = through * colour[k];
          colour[k] = over + under;
        }
        w += c.alpha;
      }
      image.insert(image.end(), {colour[0], colour[1], colour[2], w});
    }
  return image;
}

TEST(Render, EveryRungDrawsWhatTheContractSays) {
  for (const Scene& scene : scenes()) {
    if (scene.shading != Shading::flat) continue;
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{700}}) {
      const auto circles = draw_scene(scene, n, 5);
      const auto expected = by_words(circles, 77, 35);
      for (const char* rung : cpu_rungs)
        EXPECT_TRUE(
            same_bits(rendered(circles, {.width = 77, .height = 35, .channels = Channels::rgbw}, rung), expected))
            << scene.name << " " << n << " " << rung;
    }
  }
}

TEST(Render, ThreeOverlappingCircles) {
  const auto image = rendered(draw_scene(find_scene("rgb"), 3, 0), {.width = 100, .height = 100}, "simd");
  const float* const centre = image.data() + 4 * (50 * 100 + 50);
  EXPECT_EQ(centre[0], 0.25f);  // white, halved by red's own half, then by green and blue: (1 + 1) / 2 / 4 + ...
  EXPECT_EQ(centre[1], 0.375f);
  EXPECT_EQ(centre[2], 0.625f);
  EXPECT_EQ(centre[3], 1);
  EXPECT_EQ(image[0], 1);
}

TEST(Render, LargeImages) {
  struct {
    const char* scene;
    std::size_t n;
  } const cases[] = {{"rand10k", 4000}, {"biglittle", 1500}, {"snowsingle", 3000}, {"micro2M", 30000}, {"faint", 100}};
  for (const auto& [name, n] : cases) {
    const Scene& scene = find_scene(name);
    const auto circles = draw_scene(scene, n, 1);
    for (const auto& [width, height] : {std::pair{1000u, 1000u}, {1024u, 1024u}, {1920u, 1080u}}) {
      if (under_sanitizer && width == 1024) continue;  // 6 times slower, or 100 times
      if (under_thread_sanitizer && (width == 1000 || scene.name == "faint" || scene.name == "biglittle")) continue;
      const Picture picture{.width = width, .height = height, .channels = Channels::rgb, .shading = scene.shading};
      const Frame frame = frame_of({.scalars = scalars_of(picture)});
      const auto expected = expected_image(floats_of(circles).data(), n, frame);
      for (const char* rung : {"tiles", "simd"})
        EXPECT_TRUE(same_bits(rendered(circles, picture, rung), expected)) << name << " " << width << " " << rung;
    }
  }
}

TEST(Render, EveryInstructionSet) {
  for (const char* name : {"rand10k", "snowsingle", "opaque", "specks", "huge"}) {
    const Scene& scene = find_scene(name);
    const auto circles = draw_scene(scene, 2000, 1);
    const Picture picture{.width = 100, .height = 70, .channels = Channels::rgbw, .shading = scene.shading};
    const auto expected = rendered(circles, picture, "serial");
    for (const std::int64_t target : instruction_sets()) {
      hwy::SetSupportedTargetsForTest(target);
      for (const Channels channels : {Channels::rgbw, Channels::rgb}) {
        Picture same = picture;
        same.channels = channels;
        const auto image = rendered(circles, same, "simd");
        for (std::size_t pixel = 0; pixel < 7000; ++pixel)
          for (unsigned k = 0; k < count_of(channels); ++k)
            ASSERT_EQ(std::bit_cast<std::uint32_t>(image[pixel * count_of(channels) + k]),
                      std::bit_cast<std::uint32_t>(expected[pixel * 4 + k]))
                << name << " " << hwy::TargetName(target) << " " << pixel << " " << k;
      }
      hwy::SetSupportedTargetsForTest(0);
    }
  }
}

TEST(Render, FastModeStaysWithinItsError) {
  const auto circles = draw_scene(find_scene("rand100k"), 20000, 0);
  for (const double eps : {0x1p-4, 0x1p-9, 0x1p-16}) {
    const Picture picture{.width = 300, .height = 200, .eps = eps};
    const Frame frame = frame_of({.scalars = scalars_of(picture)});
    const auto expected = expected_image(floats_of(circles).data(), circles.size(), frame);
    const auto image = rendered(circles, picture, "simd");
    const Difference d = difference(frame, image.data(), expected.data());
    EXPECT_LE(d.error, permitted_error(floats_of(circles).data(), circles.size(), frame)) << eps;
    EXPECT_GT(d.differing, 0u) << eps << ": nothing was left out";
  }
}

// Pixels of a part are those of the whole if their centres are the same floats.
TEST(Render, APartOfTheView) {
  const auto circles = draw_scene(find_scene("rand10k"), 500, 2);
  const auto whole = rendered(circles, {.width = 128, .height = 128}, "simd");
  const auto part = rendered(circles, {.width = 64, .height = 32, .x0 = 0.5, .y0 = 0.25, .x1 = 1, .y1 = 0.5}, "simd");
  for (unsigned j = 0; j < 32; ++j)
    for (unsigned k = 0; k < 4 * 64; ++k)
      ASSERT_EQ(part[j * 4 * 64 + k], whole[(j + 32) * 4 * 128 + 4 * 64 + k]) << j << " " << k;
}

TEST(Render, RefusesWhatIsNoCircleOrNoImage) {
  Device cpu = Device::cpu();
  std::vector<float> image(4 * 10 * 10);
  const Picture small{.width = 10, .height = 10};
  std::vector<Circle> circles(5, Circle{.x = .5f, .y = .5f, .radius = .1f, .alpha = .5f});
  const auto message = [&](const Picture& picture) {
    return mistake_of([&] { render(cpu, floats_of(circles), image, picture); });
  };
  EXPECT_EQ(message(small), "");
  circles[3].y = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(message(small).find("circle 3: a number is not finite"), std::string::npos) << message(small);
  circles[3] = circles[2];
  circles[4].radius = -0.01f;
  EXPECT_NE(message(small).find("circle 4: the radius is negative"), std::string::npos) << message(small);
  circles[4].radius = 0, circles[0].alpha = 1.5f;
  EXPECT_NE(message(small).find("circle 0: alpha"), std::string::npos) << message(small);
  circles[0].alpha = 1;
  EXPECT_EQ(message(small), "");
  EXPECT_NE(message({.width = 11, .height = 10}).find("400 elements, 440 are needed"), std::string::npos);
  EXPECT_NE(message({.width = 0, .height = 10}).find("width is 0"), std::string::npos);
  EXPECT_NE(message({.width = 10, .height = 10, .x0 = 1, .x1 = 0}).find("view"), std::string::npos);
  EXPECT_NE(message({.width = 10, .height = 10, .y1 = NAN}).find("y1 is nan"), std::string::npos);
  const std::vector<float> seven(7);
  EXPECT_NE(mistake_of([&] { render(cpu, seven, image, small); }).find("not 8 for each circle"), std::string::npos);
}

// ---- scenes ---------------------------------------------------------------------------------------------------------

#if defined(__GLIBC__)
TEST(Render, CourseNumbersAreTheLibrarys) {
  for (const unsigned seed : {0u, 1u, 42u, 4000000000u}) {
    std::srand(seed);
    CourseRandom random(seed);
    for (int k = 0; k < 1000; ++k)
      ASSERT_EQ(random.next(), static_cast<std::uint32_t>(std::rand())) << seed << " " << k;
  }
}
#endif

TEST(Render, ScenesAreValidAtEverySize) {
  for (const Scene& scene : scenes())
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{9}, std::size_t{2500}})
      for (const Circle& c : draw_scene(scene, n, 3)) ASSERT_EQ(mistake_in(c), nullptr) << scene.name;
}

// ---- scores
// ----------------------------------------------------------------------------------------------------------

lab::Record drawn(const char* scene, std::uint64_t n, const char* rung, double us) {
  lab::Record r;
  r.primitive = "render", r.rung = rung, r.input = scene, r.n = n;
  if (us > 0) r.median_us = us;
  return r;
}

TEST(Render, ScoresBesidePublishedTimes) {
  lab::Record small = drawn("rand10k", 10000, "binned", 1);
  small.params = {{"width", "64"}};
  const std::string table = score_table(
      {drawn("rgb", 3, "pixel", 20), drawn("rgb", 3, "binned", 10), small, drawn("rand100k", 500, "binned", 1),
       drawn("pattern", 1217, "binned", 4), drawn("pattern", 1217, "pixel", 0), drawn("faint", 1000, "pixel", 1)},
      {});
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 4) << table;  // source, names, rgb, pattern
  EXPECT_NE(table.find("26.5x"), std::string::npos) << table;
  EXPECT_NE(table.find("binned"), std::string::npos) << table;
  EXPECT_NE(table.find("(F)"), std::string::npos) << table;
  EXPECT_EQ(table.find("rand"), std::string::npos) << table;
  EXPECT_EQ(score_table({}, {}), "");
}

// ---- scenes that move -----------------------------------------------------------------------------------------------

std::vector<Circle> animated(const char* name, std::size_t circles, unsigned steps) {
  Animation animation(cpu_platform(), {}, find_scene(name), circles, 3);
  for (unsigned frame = 0; frame < steps; ++frame) animation.step();
  return animation.on_host();
}

TEST(Animation, BeginsWithTheScene) {
  for (const Scene& scene : scenes()) {
    if (scene.motion == Motion::none) {
      EXPECT_NE(mistake_of([&] { Animation(cpu_platform(), {}, scene, 5, 0); }).find("stands still"), std::string::npos)
          << scene.name;
      continue;
    }
    const auto drawn = draw_scene(scene, 700, 9);
    const auto animated = Animation(cpu_platform(), {}, scene, 700, 9).on_host();
    EXPECT_TRUE(same_bits({floats_of(drawn).begin(), floats_of(drawn).end()},
                          {floats_of(animated).begin(), floats_of(animated).end()}))
        << scene.name;
  }
}

TEST(Animation, SnowFallsIntoThePicture) {
  const auto fallen = draw_scene(find_scene("snowsingle"), 2000, 3);
  const auto snow = animated("snow", 2000, 600);
  EXPECT_TRUE(std::equal(fallen.begin(), fallen.end(), snow.begin(),
                         [](const Circle& a, const Circle& b) { return a.x == b.x && a.y == b.y; }));
  const auto inside = [](const Circle& c) { return c.y < 1; };
  EXPECT_GT(std::count_if(snow.begin(), snow.end(), inside), 500);
  for (const Circle& c : animated("snow", 2000, 1500)) {
    EXPECT_GE(c.y + c.radius, 0);
    EXPECT_GE(c.x + c.radius, 0);
    EXPECT_LE(c.x - c.radius, 1);
  }
}

TEST(Animation, BallsComeToRest) {
  for (const Circle& c : animated("bouncingballs", 10, 100)) EXPECT_GE(c.y, 0);
  for (const Circle& c : animated("bouncingballs", 10, 1200)) EXPECT_EQ(c.y, 0);
}

TEST(Animation, RingsGrowAndStartAgain) {
  const auto at_0 = animated("hypnosis", 25, 0), at_1 = animated("hypnosis", 25, 1);
  EXPECT_FLOAT_EQ(at_1[3].radius, at_0[3].radius + .01f);
  for (const Circle& c : animated("hypnosis", 25, 500)) {
    EXPECT_GE(c.radius, .02f);
    EXPECT_LE(c.radius, .5f);
  }
}

TEST(Animation, SparksLeaveTheirCentres) {
  for (const unsigned steps : {0u, 10u, 300u}) {
    const auto circles = animated("fireworks", 315, steps);
    for (std::size_t k = 15; k < 315; ++k) {
      const Circle& centre = circles[(k - 15) / 20];
      const float distance = std::hypot(circles[k].x - centre.x, circles[k].y - centre.y);
      EXPECT_GE(distance, .0049f);
      EXPECT_LE(distance, .2501f);
      EXPECT_TRUE(steps != 10 || std::fabs(distance - (.105f + 10 * .2f / 60)) < 1e-5f) << distance;
    }
  }
}

// ---- files ----------------------------------------------------------------------------------------------------------

class RenderFiles : public testing::Test {
 protected:
  RenderFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "upsweep_render_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~RenderFiles() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::filesystem::path folder_;
};

TEST_F(RenderFiles, CirclesInEveryFormat) {
  const std::string csv = "radius, x,y,alpha\n0.1,0.2,0.3,0.25\n# a comment\n\n1,2,3,1\r\n";
  const std::string json = R"([{"r":0.1,"x":0.2,"y":0.3,"alpha":0.25},[2,3,0,1,0,0,0,1]])";
  for (const auto& path : {write("a.csv", csv), write("a.json", json)}) {
    const auto circles = read_circles(path);
    ASSERT_EQ(circles.size(), 2u) << path;
    EXPECT_EQ(circles[0].radius, 0.1f);
    EXPECT_EQ(circles[0].x, 0.2f);
    EXPECT_EQ(circles[0].alpha, 0.25f);
    EXPECT_EQ(circles[1].y, 3);
  }
  const auto drawn = draw_scene(find_scene("rand10k"), 10, 0);
  const std::uint64_t shape[] = {drawn.size(), floats_per_circle};
  const auto bytes = std::as_bytes(std::span(drawn));
  const std::string values(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto read = read_circles(write("a.npy", npy_header(Type::f32, shape) + values));
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(read)), bytes));
  EXPECT_EQ(read_circles(write("empty.csv", "")).size(), 0u);
  const auto mistake = [&](const std::string& name, const std::string& text) {
    return mistake_of([&] { read_circles(write(name, text)); });
  };
  EXPECT_NE(mistake("b.csv", "x,y,radius\n1,2,3\n1,2\n").find("line 3 has 2 fields, not 3"), std::string::npos);
  EXPECT_NE(mistake("b.csv", "x,y\n1,2\n").find("no column radius"), std::string::npos);
  EXPECT_NE(mistake("b.csv", "x,y,size\n").find("'size' is neither a number nor a column"), std::string::npos);
  EXPECT_NE(mistake("b.json", "[[1,2]]").find("circle 0: 2 numbers, not 8"), std::string::npos);
  EXPECT_NE(mistake("b.json", "{").find("not a JSON array"), std::string::npos);
  EXPECT_NE(mistake("b.json", R"([{"x":1,"y":2}])").find("radius is missing"), std::string::npos);
}

TEST_F(RenderFiles, ImagesReadBack) {
  const std::vector<float> pixels{0, 0.5f, 1, 1, -1, 2, 0.25f, 1};
  for (const char* name : {"a.png", "a.ppm", "a.pfm", "a.exr", "a.npy"}) {
    const std::string path = (folder_ / name).string();
    OutputFile file(path);
    write_image(file, image_format(path), {.width = 2, .height = 1, .channels = 4, .values = pixels});
    file.commit();
  }
  for (const char* name : {"a.png", "a.ppm"}) {
    const auto reader = open_array((folder_ / name).string());
    std::vector<std::uint8_t> bytes(6);
    ASSERT_EQ(reader->read(std::as_writable_bytes(std::span(bytes))), 6u) << name;
    EXPECT_EQ(bytes, (std::vector<std::uint8_t>{0, 128, 255, 0, 255, 64})) << name;
  }
  const auto reader = open_array((folder_ / "a.npy").string());
  std::vector<float> back(8);
  ASSERT_EQ(reader->read(std::as_writable_bytes(std::span(back))), 8u);
  EXPECT_EQ(back, pixels);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "a.pfm"), std::string("PF\n2 1\n-1.0\n").size() + 6 * 4);

  Imf::InputFile exr((folder_ / "a.exr").c_str());
  ASSERT_EQ(exr.header().dataWindow(), Imath::Box2i({0, 0}, {1, 0}));
  Imf::FrameBuffer channels;
  std::vector<float> read(8);
  for (unsigned k = 0; k < 4; ++k)
    channels.insert(std::string(1, "RGBW"[k]), Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(&read[k]), 16, 32));
  exr.setFrameBuffer(channels);
  exr.readPixels(0);
  EXPECT_EQ(read, pixels);
}

}  // namespace
}  // namespace upsweep
