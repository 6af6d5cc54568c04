// A limit for the renderer's scratch memory is kept, and changes no bit. The emulator stands in for the GPU.
#include <gtest/gtest.h>

#include <vector>

#include "base/workspace.h"
#include "ladders/render/lab/scenes.h"
#include "simt/report.h"
#include "upsweep/render.h"

namespace upsweep {
namespace {

using namespace ladders::render;

TEST(SimtRender, ScratchHasALimit) {
  plain_emulator().configure({});
  const Picture picture{.width = 199, .height = 70, .channels = Channels::rgb};
  const std::size_t n = 3000, pixels = std::size_t{picture.width} * picture.height * 3;
  for (const char* scene : {"rand10k", "micro2M"}) {
    const auto drawn = draw_scene(find_scene(scene), n, 1);
    const std::vector<float> circles(&drawn[0].x, &drawn[0].x + n * floats_per_circle);
    std::vector<float> expected(pixels);
    Device cpu = Device::cpu();
    render(cpu, circles, expected, picture);
    // No room for one bin; for one, which takes at least 4 bytes a circle beside 39 KB; for some; for all.
    for (const std::size_t scratch : {1ul, 45'000ul, 55'000ul, 150'000ul, 100'000'000ul})
      for (const char* rung : {"list_ends", "binned"}) {
        Device gpu(plain_emulator());
        std::vector<float> image(pixels, -77);
        render(gpu, circles, image, picture, {.rung = rung, .scratch = scratch});
        EXPECT_TRUE(image == expected) << scene << ' ' << scratch << ' ' << rung;
        EXPECT_LE(gpu.workspace().held(), scratch) << scene << ' ' << rung;
        EXPECT_EQ(gpu.workspace().held() == 0, scratch < 50'000) << scene << ' ' << scratch << ' ' << rung;
      }
  }
}

}  // namespace
}  // namespace upsweep
