// The renderer beyond what `upsweep check` runs: an independent pixel-by-pixel implementation of the definition; images
// larger than a tile; rejected calls; the scenes' numbers; circles and images in files.
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
#include "ladders/render/lab/colour_text.h"
#include "ladders/render/lab/oracle.h"
#include "ladders/render/lab/scenes.h"
#include "ladders/render/lab/scores.h"
#include "ladders/render/lab/viewport.h"
#include "memory_source.h"
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

// Returns the message of the error that the action throws; empty if none.
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

// Renders as the contract defines it: flat shading, the unit square, white background.
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
  EXPECT_EQ(centre[0], 0.25f);  // (1 + 1) / 2 after the red circle, halved by the green and the blue one
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
      if (under_sanitizer && width == 1024) continue;  // 6 or 100 times slower
      if (under_thread_sanitizer && (width == 1000 || scene.name == "faint" || scene.name == "biglittle")) continue;
      const Picture picture{.width = width, .height = height, .channels = Channels::rgb, .shading = scene.shading};
      const Frame frame = frame_of(picture);
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
    const Frame frame = frame_of(picture);
    const auto expected = expected_image(floats_of(circles).data(), circles.size(), frame);
    const auto image = rendered(circles, picture, "simd");
    const Difference d = difference(frame, image.data(), expected.data());
    EXPECT_LE(d.error, permitted_error(floats_of(circles).data(), circles.size(), frame)) << eps;
    EXPECT_GT(d.differing, 0u) << eps << ": nothing was left out";
  }
}

// Pixels of a part of the view equal those of the whole if their centres are the same floats.
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
  EXPECT_NE(message({.width = 0, .height = 10}).find("width is 0, which is not in [1, 65536]"), std::string::npos);
  EXPECT_NE(message({.width = 10, .height = 10, .x0 = -1e30}).find("x0 is -1e+30, which"), std::string::npos);
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

// ---- scores ---------------------------------------------------------------------------------------------------------

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

struct Read {
  CircleFile file;
  std::vector<WideCircle> circles;
};
Read read(const std::string& text, ColourRange colours = ColourRange::of_bytes) {
  Read result;
  result.file = read_circles(std::make_unique<MemorySource>(text), colours,
                             [&](const WideCircle& c) { result.circles.push_back(c); });
  return result;
}
// Returns the message and the hint; empty if the text is read.
std::string refusal(const std::string& text, ColourRange colours = ColourRange::of_bytes) {
  try {
    read(text, colours);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::bad_file);
    return std::string(error.what()) + " (" + error.hint() + ")";
  }
  return "";
}
#define EXPECT_REFUSED(text, words) EXPECT_NE(refusal(text).find(words), std::string::npos) << refusal(text)

TEST_F(RenderFiles, CirclesInEveryFormat) {
  const std::string csv = "radius, x,y,alpha\n0.1,0.2,0.3,0.25\n# a comment\n\n1,2,3,1\r\n";
  const std::string json = R"([{"r":0.1,"x":0.2,"y":0.3,"alpha":0.25},[2,3,0,1,0,0,0,1]])";
  for (const auto& text : {csv, json}) {
    const auto circles = read(text).circles;
    ASSERT_EQ(circles.size(), 2u) << text;
    EXPECT_EQ(circles[0].radius, 0.1);
    EXPECT_EQ(circles[0].x, 0.2);
    EXPECT_EQ(circles[0].alpha, 0.25f);
    EXPECT_EQ(circles[1].y, 3);
  }
  const auto drawn = draw_scene(find_scene("rand10k"), 5000, 0);
  const std::uint64_t shape[] = {drawn.size(), floats_per_circle};
  const auto bytes = std::as_bytes(std::span(drawn));
  const std::string values(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string path = write("circles", npy_header(Type::f32, shape) + values);
  std::vector<Circle> same;
  const Placement unit({});
  const CircleFile file = read_circles(path, ColourRange::any, [&](const WideCircle& c) { same.push_back(unit(c)); });
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(same)), bytes));
  EXPECT_TRUE(file.rounded && file.format == CircleFormat::npy);

  const double wide[] = {266.4168, -29.0078, 0, 4e-6, 1, 0, 0, 1};
  const std::uint64_t one[] = {1, floats_per_circle};
  const auto f64 = read(npy_header(Type::f64, one) + std::string(reinterpret_cast<const char*>(wide), sizeof wide));
  EXPECT_EQ(f64.circles.at(0).x, 266.4168);
  EXPECT_FALSE(f64.file.rounded);
  EXPECT_REFUSED(npy_header(Type::i32, one) + std::string(32, '\0'), "N x 8 numbers");
  // Column-major, as MATLAB and pandas write it.
  std::string fortran = npy_header(Type::f64, std::array<std::uint64_t, 2>{2, floats_per_circle});
  fortran.replace(fortran.find("False"), 5, "True ");
  const double columns[] = {1, 2, 3, 4, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0, 1, 0.5};
  fortran.append(reinterpret_cast<const char*>(columns), sizeof columns);
  std::vector<WideCircle> two;
  read_circles(write("fortran.npy", fortran), ColourRange::any, [&](const WideCircle& c) { two.push_back(c); });
  ASSERT_EQ(two.size(), 2u);
  EXPECT_TRUE(two[0].x == 1 && two[0].y == 3 && two[0].radius == 5 && two[1].x == 2 && two[1].alpha == 0.5f);

  const double nan[] = {0, 0, 0, -NAN, 0, 0, 0, 1};
  EXPECT_REFUSED(npy_header(Type::f64, one) + std::string(reinterpret_cast<const char*>(nan), sizeof nan),
                 "circle 0: radius nan is not finite");
}

TEST_F(RenderFiles, ContentDecidesTheFormat) {
  EXPECT_EQ(read("\xef\xbb\xbf[]").file.format, CircleFormat::json);
  EXPECT_EQ(read("\n {\"x\":1,\"y\":2,\"r\":3}").circles.size(), 1u);
  EXPECT_EQ(read("").circles.size(), 0u);
  EXPECT_REFUSED(std::string("PK\3\4", 4), "zip archive");
  EXPECT_REFUSED("\x1f\x8b\x08", "gzip");
  EXPECT_REFUSED("\xff\xfex", "UTF-16");
  EXPECT_REFUSED(std::string("\1\0\2", 3), "neither a .npy file nor text");
  EXPECT_NE(mistake_of([&] { read_circles(write("empty.npy", ""), ColourRange::any, [](const WideCircle&) {}); }), "");
}

// CSV from spreadsheets, pandas, numpy.savetxt and people.
TEST_F(RenderFiles, CsvOfOthers) {
  const struct {
    const char *what, *text;
  } same[] = {{"order of a .npy", "0.5,0.25,0,0.125,1,0,0,1"},
              {"trailing comma", "0.5,0.25,0,0.125,1,0,0,1,\n"},
              {"byte order mark", "\xef\xbb\xbfx,y,radius,red,alpha\n0.5,0.25,0.125,1,1\n"},
              {"comment and blank line first", "# made by hand\n\nx,y,radius,red,alpha\n0.5,0.25,0.125,1,1\n"},
              {"capitals, spaces, signs", " X , Y , Radius , RED , Alpha \n +0.5 , +2.5e-1 , .125 , 1. , 1e0 \n"},
              {"other columns", "id,x,y,radius,red,alpha,name\n7,0.5,0.25,0.125,1,1,\"Vega, \"\"A0\"\"\"\n"},
              {"an index of pandas", ",x,y,radius,red,alpha\n0,0.5,0.25,0.125,1,1\n"},
              {"numpy.savetxt", "5.0e-01 2.5e-01 0.0e+00 1.25e-01 1.0e+00 0.0e+00 0.0e+00 1.0e+00\n"},
              {"its header", "# alpha red radius x y\n1 1 0.125 0.5 0.25\n"},
              {"tabs", "x\ty\tradius\tred\talpha\r\n0.5\t0.25\t0.125\t1\t1\r\n"},
              {"semicolons", "\"x\";\"y\";\"radius\";\"red\";\"alpha\"\n0.5;0.25;0.125;1;1\n;;;;\n"},
              {"colours", "color,x,y,radius,alpha\n#f00,0.5,0.25,0.125,1\n# a comment\n"},
              {"underflow", "x,y,radius,red,green,alpha\n0.5,0.25,0.125,1,1e-400,1\n"},
              {"lines of old Macs", "x,y,radius,red,alpha\r0.5,0.25,0.125,1,1"}};
  for (const auto& [what, text] : same) {
    ASSERT_EQ(refusal(text), "") << what;
    const auto circles = read(text).circles;
    ASSERT_EQ(circles.size(), 1u) << what;
    const WideCircle& c = circles[0];
    EXPECT_TRUE(c.x == 0.5 && c.y == 0.25 && c.radius == 0.125 && c.red == 1 && c.green == 0 && c.alpha == 1) << what;
  }
  EXPECT_EQ(read("x,y,radius\n1,2,1e-50\n").circles.at(0).radius, 1e-50);
  EXPECT_EQ(read("id,x,Name,y,radius\n1,2,a,3,4\n").file.skipped, (std::vector<std::string>{"id", "Name"}));
}

TEST_F(RenderFiles, WrongCsv) {
  EXPECT_REFUSED("x,y,radius,r\n1,2,3,4\n", "line 1: 'r' is radius, which is given already");
  EXPECT_REFUSED("x,y,X,radius\n1,2,3,4\n", "line 1: x is given twice");
  EXPECT_REFUSED("x,y,radius,red,color\n1,2,3,1,red\n", "line 1: 'color': a colour is red, green and blue in one");
  EXPECT_REFUSED("x,y,r,g,b\n1,2,3,0,0\n", "r beside g or b may be the radius, or red");
  EXPECT_REFUSED("x,y,size\n1,2,3\n", "line 1: radius is missing");
  EXPECT_REFUSED("0,5;0,5;0,25;1,0\n", "decimal comma");
  EXPECT_REFUSED("x;y;radius\n0,5;0,5;0,25\n", "line 2, column 1 (x): '0,5' is not a number (a decimal comma?");
  EXPECT_REFUSED("0,5 0,5 0,25 1,0\n", "separated by commas");
  EXPECT_REFUSED("x,y,radius\n1,2,3\n1,2\n", "line 3 has 2 fields, not 3");
  EXPECT_REFUSED("x,y,radius\n1,2,3\n1;2;3\n", "line 3 has 1 field, not 3 (fields are separated by commas");
  EXPECT_REFUSED("x,y,radius\n1,,3\n", "line 2, column 2 (y): it is empty");
  EXPECT_REFUSED("x,y,radius\n1,2,nan\n", "line 2, column 3 (radius): nan is not finite");
  EXPECT_REFUSED("x,y,radius\n1,2,1e999\n", "line 2, column 3 (radius): inf is not finite");
  EXPECT_REFUSED("x,y,radius\n1,2,-3\n", "-3 is negative");
  EXPECT_REFUSED("x,y,radius,alpha\n1,2,3,255\n", "255 is not in [0, 1]");
  EXPECT_REFUSED("x,y,radius,color\n1,2,3,#ggg\n", "'#ggg' is not a colour");
  EXPECT_REFUSED("x,y,radius\n\"1,2,3\n", "line 2: a field in quotation marks does not end");
  EXPECT_REFUSED("x,y,radius,name\n1,2,3,\"two\nlines\"\n1,2,oops,a\n", "line 4, column 3 (radius): 'oops'");
  EXPECT_REFUSED("x,y,radius\n1,2,\x1b[2J\n", "'\\x1b[2J' is not a number");
  EXPECT_LT(refusal("x,y,radius\n1,2," + std::string(50'000'000, 'z') + "\n").size(), 300u);
  // Colours that floats hold but 8 bits do not.
  const std::string bright = "x,y,radius,red\n1,2,3,255\n";
  EXPECT_REFUSED(bright, "line 2, column 4 (red): 255 is not in [0, 1]");
  EXPECT_EQ(refusal(bright, ColourRange::any), "");
}

TEST_F(RenderFiles, Json) {
  const char* const same[] = {R"({"x":0.5,"y":0.25,"radius":0.125,"red":1,"alpha":1})",
                              R"([{"x":0.5,"y":0.25,"R":0.125,"colour":"#F00","alpha":1}])",
                              R"({"by":"me","circles":[[0.5,0.25,0,0.125,1,0,0,1]],"more":{"x":[1,{}]}})",
                              "[0.5,0.25,0,0.125,1,0,0,1]\n",
                              R"([{"x":0.5,"id":[{"x":3}],"y":0.25,"radius":0.125,"color":"red","alpha":1,"n":null}])"};
  for (const std::string text : same) {
    ASSERT_EQ(refusal(text), "") << text;
    for (const int lines : {1, 2}) {
      const auto circles = read(lines == 1 ? text : text + "\n" + text).circles;
      ASSERT_EQ(circles.size(), std::size_t(lines)) << text;
      const WideCircle& c = circles.back();
      EXPECT_TRUE(c.x == 0.5 && c.y == 0.25 && c.radius == 0.125 && c.red == 1 && c.green == 0 && c.alpha == 1) << text;
    }
  }
  EXPECT_EQ(read("[]").circles.size(), 0u);
  EXPECT_REFUSED(R"([{"x":1,"y":2,"radius":3,"x":4}])", "line 1, byte 28: x is given twice");
  EXPECT_REFUSED(R"([{"x":1,"y":2,"radius":3,"r":4}])", "'r' is radius, which is given already");
  EXPECT_REFUSED(R"([{"x":1,"y":2}])", "radius is missing");
  EXPECT_REFUSED("[\n[1,2]]", "line 2, byte 5: a circle of 2 numbers, not 8");
  EXPECT_REFUSED("[{\"x\":1,\n\"y\":NaN}]", "line 2, byte 5: NaN is no number in JSON");
  EXPECT_REFUSED(R"([{"x":1,"y":2,"radius":3},])", "byte 27: a comma before ]");
  EXPECT_REFUSED(R"([{"x":1,"y":2,"rad)", "the text ends before what it began");
  EXPECT_REFUSED("{", "the text ends before what it began");
  EXPECT_REFUSED("[{\"x\":\"0.5\"}]", "'x': '0.5' is not a number");
  EXPECT_REFUSED("[null]", "null is no circle");
  EXPECT_REFUSED("[[[1]]]", "number 1 of a circle is a list, not a number");
  EXPECT_REFUSED(R"({"x":1,"y":2,"r":3,"circles":[]})", "beside a circle's own numbers");
  EXPECT_REFUSED(R"({"circles":[],"x":1})", "x beside a list of circles");
  EXPECT_REFUSED(R"({"circles":[],"circles":[]})", "circles is given twice");
  EXPECT_REFUSED(R"([{"x":1,"y":2,"radius":-3}])", "radius: -3 is negative");
  EXPECT_REFUSED(R"([{"x":1,"y":2,"radius":1e999}])", "number overflow");
  EXPECT_REFUSED("[1,2,3,4,0,0,0,1] x", "invalid literal");
}

// ---- the view -------------------------------------------------------------------------------------------------------

TEST(Viewport, PixelsAreSquare) {
  const Viewport unit;
  const Viewport wide = unit.shaped(Aspect::fit, 200, 100), high = unit.shaped(Aspect::fit, 100, 200);
  EXPECT_TRUE(wide.x0 == -0.5 && wide.x1 == 1.5 && wide.y0 == 0 && wide.y1 == 1);
  EXPECT_TRUE(high.x0 == 0 && high.x1 == 1 && high.y0 == -0.5 && high.y1 == 1.5);
  const Viewport less = unit.shaped(Aspect::fill, 200, 100);
  EXPECT_TRUE(less.x0 == 0 && less.x1 == 1 && less.y0 == 0.25 && less.y1 == 0.75);
  const Viewport same = unit.shaped(Aspect::stretch, 200, 100);
  EXPECT_TRUE(same.x0 == 0 && same.x1 == 1 && same.y0 == 0 && same.y1 == 1);
  EXPECT_NE(mistake_of([&] { Viewport{0, 0, 0, 1}.require_pixels(8, 8, "v"); }), "");
  EXPECT_NE(mistake_of([&] { Viewport{0, 0, NAN, 1}.require_pixels(8, 8, "v"); }), "");
  EXPECT_NE(mistake_of([&] { Viewport{0, 0, 1e-305, 1e-305}.require_pixels(8, 8, "v"); }), "");
  EXPECT_NE(mistake_of([&] {
              Viewport{266, -29, 266 + 1e-12, 1}.require_pixels(1000, 8, "v");
            }).find("the numbers of f64 are 5.7e-14 apart"),
            std::string::npos);
}

// Far from 0, a view has f64's precision; the units of the view do not matter.
TEST(Viewport, SmallAndFarViewsAreExact) {
  const auto disc = [](const Viewport& view, const WideCircle& circle) {
    Picture picture{.width = 512, .height = 512, .channels = Channels::rgb};
    const Placement place(view);
    picture.x1 = place.shown().x1, picture.y1 = place.shown().y1;
    const auto image = rendered({place(circle)}, picture, "simd");
    int left = 512, right = -1, top = 512, bottom = -1;
    for (int j = 0; j < 512; ++j)
      for (int i = 0; i < 512; ++i)
        if (image[std::size_t(3 * (512 * j + i))] != 1)
          left = std::min(left, i), right = std::max(right, i), top = std::min(top, j), bottom = std::max(bottom, j);
    return std::pair(right - left + 1, bottom - top + 1);
  };
  const auto near = std::pair(206, 206);
  const double x = 266.4168, y = -29.0078, half = 1e-5;
  EXPECT_EQ(disc({x - half, y - half, x + half, y + half}, {.x = x, .y = y, .radius = 4.02e-6}), near);
  for (const double unit : {1., 1e-30, 1e-300, 1e25, 1e300})
    EXPECT_EQ(disc({-unit, -unit, unit, unit}, {.radius = .402 * unit}), near) << unit;
  // A number beyond f32's range is far away and stays so.
  EXPECT_EQ(disc({0, 0, 1e-30, 1e-30}, {.x = 1e300, .y = -1e20, .radius = 1e-31}), std::pair(-512, -512));
}

TEST(Viewport, TheSmallestVisibleCircleCoversItsNearestPixel) {
  for (const unsigned side : {3u, 1024u, 30'000u}) {
    Picture picture{.width = side, .height = 1, .channels = Channels::rgb};
    const Viewport view{0, 0, 1, 1. / side};
    const Placement place(view);
    picture.x1 = place.shown().x1, picture.y1 = place.shown().y1;
    const auto radius = static_cast<float>(radius_of_pixels(least_visible_radius, place.shown(), side, 1));
    std::vector<Circle> corners;  // pixel corners, the points farthest from all centres
    for (unsigned k = 1; k < side; k += 2) {
      corners.push_back(place({.x = double(k) / side, .alpha = 1}));
      corners.back().radius = radius;
    }
    const auto image = rendered(corners, picture, "simd");
    for (unsigned k = 0; k + 1 < side; ++k) ASSERT_EQ(image[3 * k], 0) << side << ' ' << k;
  }
}

TEST(Render, ColoursAsText) {
  EXPECT_EQ(parse_colour("#fff"), (Rgb{1, 1, 1}));
  EXPECT_EQ(parse_colour("#F00"), (Rgb{1, 0, 0}));
  EXPECT_EQ(parse_colour("#123"), parse_colour("#112233"));
  EXPECT_EQ(parse_colour("Black"), (Rgb{0, 0, 0}));
  EXPECT_EQ(parse_colour("gray"), parse_colour("#808080"));
  for (const char* text : {"", "#", "#ffff", "#fffffff", "#-ff", "#+12345", "bl", "blackk", "transparent"})
    EXPECT_FALSE(parse_colour(text)) << text;
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
