// The renderer respects a limit on scratch memory, without changing a bit; and a rung that stops early keeps the sign
// of zeros. The emulator replaces the GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "base/workspace.h"
#include "lab/few_elements.h"
#include "ladders/render/choose.h"
#include "ladders/render/lab/scenes.h"
#include "simt/report.h"
#include "upsweep/render.h"

namespace upsweep {
namespace {

using namespace ladders::render;

float largest_error(const std::vector<float>& image, const std::vector<float>& expected) {
  float error = 0;
  for (std::size_t k = 0; k < image.size(); ++k) error = std::max(error, std::abs(image[k] - expected[k]));
  return error;
}

// Small pictures of few circles, which still take several windows, batches and parts of lists.
class SimtRender : public testing::Test {
  const lab::FewElements few_of_plain_{plain_emulator()}, few_of_traced_{traced_emulator()};
};

TEST_F(SimtRender, ScratchHasALimit) {
  plain_emulator().configure({});
  Picture picture{.width = 199, .height = 70, .channels = Channels::rgb};
  const std::size_t n = 3000, pixels = std::size_t{picture.width} * picture.height * 3;
  for (const char* scene : {"rand10k", "micro2M"}) {
    const auto drawn = draw_scene(find_scene(scene), n, 1);
    const std::vector<float> circles(&drawn[0].x, &drawn[0].x + n * floats_per_circle);
    std::vector<float> expected(pixels);
    Device cpu = Device::cpu();
    render(cpu, circles, expected, picture);
    // If no bin fits, every tile goes through all circles. A bin's list takes 2.3 KB, plus 38 KB shared by all lists; a
    // bin's column takes 384 bytes, plus 212 bytes shared by all columns.
    struct Limit {
      std::size_t one_bin;               // bytes
      std::vector<std::size_t> scratch;  // bytes that fit no bin, one, several, or all
      std::vector<const char*> rungs;
    };
    for (const Limit& limit : {Limit{41'000, {1, 40'000, 42'000, 56'000, 100'000'000}, {"list_ends", "binned"}},
                               Limit{596, {1, 595, 596, 1400, 100'000}, {"bit_columns"}}})
      for (const std::size_t scratch : limit.scratch)
        for (const char* rung : limit.rungs) {
          Device gpu(plain_emulator());
          std::vector<float> image(pixels, -77);
          picture.scratch_bytes = scratch;
          render(gpu, circles, image, picture, {.rung = rung});
          EXPECT_TRUE(image == expected) << scene << ' ' << scratch << ' ' << rung;
          EXPECT_LE(gpu.workspace().held(), scratch) << scene << ' ' << rung;
          EXPECT_EQ(gpu.workspace().held() == 0, scratch < limit.one_bin) << scene << ' ' << scratch << ' ' << rung;
        }
  }
}

// Black over black is 0 or -0, depending on the circles and the background.
TEST_F(SimtRender, ZerosKeepTheirSigns) {
  plain_emulator().configure({});
  const Picture picture{.width = 200, .height = 20, .red = 0, .green = 0, .blue = -0.0f, .channels = Channels::rgb};
  const auto drawn = draw_scene(find_scene("shallow"), 1025, 1);
  const std::vector<float> circles(&drawn[0].x, &drawn[0].x + drawn.size() * floats_per_circle);
  const auto image_of = [&](Device device, const char* rung) {
    std::vector<float> image(std::size_t{picture.width} * picture.height * 3, -77);
    render(device, circles, image, picture, {.rung = rung});
    return image;
  };
  const auto expected = image_of(Device::cpu(), "serial");
  const auto is_expected = [&](const std::vector<float>& image) {
    return std::memcmp(image.data(), expected.data(), expected.size() * sizeof(float)) == 0;
  };
  EXPECT_TRUE(is_expected(image_of(Device::cpu(), "simd")));
  for (const char* rung : {"last_first", "binned", "bit_columns", "list_ends"})
    EXPECT_TRUE(is_expected(image_of(Device(plain_emulator()), rung))) << rung;
}

// Opaque pixels must not stop the other pixels of their lane: bit_columns has four pixels per lane, lists have two.
TEST_F(SimtRender, EveryPixelOfALaneIsCertain) {
  plain_emulator().configure({});
  for (const auto& [width, height, n] :
       {std::tuple{31u, 17u, 400u}, {31u, 17u, 4000u}, {200u, 20u, 400u}, {200u, 20u, 4000u}}) {
    const Picture picture{.width = width, .height = height, .channels = Channels::rgb};
    const auto drawn = draw_scene(find_scene("hole"), n, 1);
    const std::vector<float> circles(&drawn[0].x, &drawn[0].x + drawn.size() * floats_per_circle);
    std::vector<float> image(std::size_t{width} * height * 3), expected = image;
    Device cpu = Device::cpu(), gpu(plain_emulator());
    render(cpu, circles, expected, picture, {.rung = "serial"});
    for (const char* rung : {"bit_columns", "list_ends"}) {
      render(gpu, circles, image, picture, {.rung = rung});
      EXPECT_TRUE(image == expected) << width << ' ' << n << ' ' << rung;
    }
  }
}

// A block stages its tile's circles in parts of any size, from words with many circles or few, and never more than fit.
TEST_F(SimtRender, StagesInParts) {
  plain_emulator().configure({});
  const Picture picture{.width = 100, .height = 104, .channels = Channels::rgb};
  for (const auto& [scene, n] : {std::pair{"shallow", 520},
                                 {"shallow", 799},
                                 {"shallow", 801},
                                 {"biglittle", 799},
                                 {"littlebig", 799},
                                 {"faint", 799}}) {
    const auto drawn = draw_scene(find_scene(scene), std::size_t(n), 1);
    const std::vector<float> circles(&drawn[0].x, &drawn[0].x + drawn.size() * floats_per_circle);
    std::vector<float> image(std::size_t{picture.width} * picture.height * 3), expected = image;
    Device cpu = Device::cpu(), gpu(plain_emulator());
    render(cpu, circles, expected, picture);
    for (const char* rung : {"bit_columns", "list_ends"}) {
      render(gpu, circles, image, picture, {.rung = rung});
      EXPECT_TRUE(image == expected) << scene << ' ' << n << ' ' << rung;
    }
  }
}

// Every bin has all 3000 circles. The lists of six bins do not fit, but their ends do, which suffices: no bin is drawn
// twice. With 16 bins, some ends do not fit either.
TEST_F(SimtRender, EndsOfListsFindRoom) {
  simt::Emulator& emulator = traced_emulator();
  emulator.configure({});
  for (const auto& [n, find_room] : {std::pair{3000, true}, {3000, false}, {1100, false}}) {
    const auto drawn = draw_scene(find_scene("everywhere"), n, 1);
    const std::vector<float> circles(&drawn[0].x, &drawn[0].x + drawn.size() * floats_per_circle);
    emulator.take_report();
    const Picture picture{.width = find_room ? 96u : 128u, .height = find_room ? 64u : 128u, .channels = Channels::rgb};
    std::vector<float> image(std::size_t{picture.width} * picture.height * 3, -77), expected = image;
    Device cpu = Device::cpu(), gpu(emulator);
    render(cpu, circles, expected, picture);
    render(gpu, circles, image, picture, {.rung = "list_ends"});
    EXPECT_TRUE(image == expected);
    const simt::Report report = emulator.take_report();
    for (const simt::Issue& issue : report.issues) ADD_FAILURE() << issue.text;
    const auto again = std::ranges::find_if(
        report.kernels, [](const auto& kernel) { return kernel.name.find("deferred_kernel") != std::string::npos; });
    ASSERT_NE(again, report.kernels.end());
    EXPECT_EQ(again->counters.global_store_requests == 0, find_room);

    Picture within_eps = picture;
    within_eps.eps = 0x1p-16;
    render(gpu, circles, image, within_eps, {.rung = "list_parts"});
    for (const simt::Issue& issue : emulator.take_report().issues) ADD_FAILURE() << issue.text;
    EXPECT_LE(largest_error(image, expected), 0x1p-16f * 1.2f);
  }
}

// One bin has all circles. With eps, several blocks draw its list, which rounds differently from the serial renderer,
// unless the alphas are too small for that.
TEST_F(SimtRender, LongListsAreDrawnInParts) {
  simt::Emulator& emulator = traced_emulator();
  emulator.configure({});
  const std::size_t n = 34'000;
  const Picture picture{.width = 64, .height = 64, .channels = Channels::rgb};
  Picture within_eps = picture;
  within_eps.eps = 0x1p-16;
  auto drawn = draw_scene(find_scene("micro2M"), n, 1);
  for (const auto& [alpha, in_parts] : {std::pair{0.5f, true}, {0.07f, true}, {0.02f, false}}) {
    for (std::size_t k = 0; k < n; ++k) {
      Circle& c = drawn[k];
      c.x = c.x / 2, c.y = c.y / 2, c.radius = 0.008f, c.alpha = alpha + (k % 3 == 0 && alpha != 0.5f ? 0.1f : 0.f);
    }
    const std::vector<float> circles(&drawn[0].x, &drawn[0].x + n * floats_per_circle);
    std::vector<float> image(std::size_t{picture.width} * picture.height * 3, -77), expected = image;
    Device cpu = Device::cpu(), gpu(emulator);
    render(cpu, circles, expected, picture);
    emulator.take_report();
    render(gpu, circles, image, within_eps, {.rung = "list_parts"});
    for (const simt::Issue& issue : emulator.take_report().issues) ADD_FAILURE() << issue.text;
    EXPECT_EQ(image != expected, in_parts) << alpha;
    EXPECT_LE(largest_error(image, expected), 0x1p-16f * 1.2f) << alpha;
  }
}

TEST(RenderChoice, FollowsWhatWasMeasured) {
  const auto chosen = [](std::size_t n, const Picture& picture, const char* device = "h200") {
    const Call call{.in = {input_array(Type::f32, n * floats_per_circle, nullptr)},
                    .scalars = render_scalars.scalars(picture)};
    return choose(call, emulated_machine(device)).rung;
  };
  const Picture plain, snow{.shading = Shading::snow}, covered{.channels = Channels::rgbw}, fast{.eps = 0x1p-16};
  EXPECT_EQ(chosen(0, plain), "few_circles");
  EXPECT_EQ(chosen(2048, plain), "few_circles");
  EXPECT_EQ(chosen(2049, plain), "bit_columns");
  EXPECT_EQ(chosen(1 << 17, fast), "bit_columns");
  EXPECT_EQ(chosen((1 << 17) + 1, plain), "list_ends");
  EXPECT_EQ(chosen((1 << 17) + 1, fast), "list_parts");
  for (const Picture& picture : {snow, covered}) {
    EXPECT_EQ(chosen(256, picture), "tile_ballot");
    EXPECT_EQ(chosen(257, picture), "binned");
  }
  EXPECT_EQ(chosen(256, plain, "t4"), "tile_ballot") << "few_circles takes 65 KiB of shared memory";
  EXPECT_EQ(chosen(257, plain, "t4"), "binned");
  EXPECT_EQ(chosen(1 << 17, plain, "rtx4090"), "bit_columns");
  EXPECT_EQ(chosen((1 << 17) + 1, plain, "rtx4090"), "binned") << "list_ends takes 112 KiB of shared memory";
}

}  // namespace
}  // namespace upsweep
