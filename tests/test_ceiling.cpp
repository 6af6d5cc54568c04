// The ceilings read, write or copy every word that they are credited with, at any size and alignment.
#include <gtest/gtest.h>

#include <vector>

#include "base/platform.h"
#include "cpu/cache.h"
#include "lab/primitive.h"
#include "ladders/ceiling/contract.h"

namespace upsweep {
namespace {

TEST(Ceiling, EveryWordAndNoOther) {
  const Primitive& ceiling = *find_primitive("ceiling");
  constexpr std::uint32_t guard = 0xcdcdcdcd;
  const std::size_t beyond_caches = last_level_cache_bytes() / sizeof(std::uint32_t) + 12345;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{16}, std::size_t{17},
                              std::size_t{1023}, std::size_t{65551}, std::size_t{1048577}, beyond_caches})
    for (const std::size_t offset : {0, 1, 7}) {
      Case c;
      c.type = Type::u32;
      c.n = n;
      const auto problem = ceiling.make(c, {});
      const auto* words = static_cast<const std::uint32_t*>(problem->inputs()[0].data);
      std::vector<std::uint32_t> in(n + offset), out(n + offset + 9);
      std::copy(words, words + n, in.begin() + static_cast<std::ptrdiff_t>(offset));
      for (const Rung* rung : cpu_platform().rungs_of(ceiling.contract)) {
        std::fill(out.begin(), out.end(), guard);
        const Call call{.in = {input_array(Type::u32, n, in.data() + offset)},
                        .out = {{{Type::u32, n, out.data() + offset}}}};
        ASSERT_TRUE(rung->find(Type::u32, {})(call));
        const void* outputs[] = {out.data() + offset};
        const auto wrong = problem->verify(*rung, outputs);
        ASSERT_FALSE(wrong) << rung->name << " n " << n << ": " << *wrong;
        for (std::size_t i = 0; i < offset; ++i) ASSERT_EQ(out[i], guard) << rung->name;
        const std::size_t written =
            rung->name == "triad" ? ladders::ceiling::triad_half(n) : std::max<std::size_t>(n, 1);
        for (std::size_t i = offset + written; i < out.size(); ++i) ASSERT_EQ(out[i], guard) << rung->name;
      }
    }
}

TEST(Ceiling, TakesOneTypeAndStatesItsTraffic) {
  const Primitive& ceiling = *find_primitive("ceiling");
  Case c;
  c.type = Type::u32;
  c.n = 1000;
  for (const Rung* rung : cpu_platform().rungs_of(ceiling.contract)) {
    EXPECT_EQ(rung->find(Type::f32, {}), nullptr);
    const std::size_t bytes = rung->name == "copy"     ? 8000
                              : rung->name == "triad"  ? 3 * 464 * 4
                              : rung->name == "launch" ? 0
                                                       : 4000;
    const Traffic traffic = ceiling.make(c, {})->traffic(*rung);
    EXPECT_EQ(traffic.bytes, bytes) << rung->name;
    EXPECT_EQ(traffic.ceiling, rung->name);
  }
}

}  // namespace
}  // namespace upsweep
