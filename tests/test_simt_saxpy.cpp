// saxpy from host memory in chunks: any chunk size and number of streams, with device memory only for the chunks; and
// the elements before and after whole packs.
#include <gtest/gtest.h>

#include <cstdint>

#include "base/workspace.h"
#include "launcher.h"
#include "simt/report.h"

namespace upsweep {
namespace {

const Rung& pipelined() {
  const Rung* rung = find_rung(plain_emulator().rungs(), "saxpy", "from_host_pipelined");
  if (!rung) throw Error(Code::invalid_argument, "no such rung");
  return *rung;
}

template <class T>
Array array(test::Array<T>& a, std::size_t first = 0) {
  return {type_of<T>(), a.size() - first, a.data() + first};
}

Call call_of(test::Array<std::uint32_t>& x, test::Array<std::uint32_t>& y, test::Array<std::uint32_t>& out,
             Workspace& workspace, std::size_t chunk, unsigned streams) {
  return {.in = {array(x), array(y)},
          .out = {array(out)},
          .scalars = {3u},
          .tuning = {.streams = streams, .chunk = chunk},
          .workspace = &workspace};
}

TEST(SaxpyFromHost, AnyChunkAndAnyNumberOfStreams) {
  simt::Emulator& emulator = plain_emulator();
  constexpr std::size_t n = 5000;
  test::Array<std::uint32_t> x(emulator, n), y(emulator, n), out(emulator, n);
  x.set([](std::size_t i) { return i * 2654435761u; });
  y.set([](std::size_t i) { return i * i; });
  for (const std::size_t chunk : {61, 1000, 1024, 4999, 5000, 5001})
    for (const unsigned streams : {1, 2, 3, 8}) {
      out.set([](std::size_t) { return 0xCDCDCDCD; });
      Workspace workspace(emulator);
      ASSERT_TRUE(pipelined().find(Type::u32, {})(call_of(x, y, out, workspace, chunk, streams)));
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], 3 * x[i] + y[i]) << chunk << ' ' << streams << ' ' << i;
      const std::size_t each = (std::min(chunk, n) * sizeof(std::uint32_t) + 255) / 256 * 256;
      EXPECT_LE(workspace.held(), 2 * streams * each) << "arrays may be larger than device memory";
    }
  EXPECT_TRUE(emulator.take_report().issues.empty());
}

TEST(SaxpyFromHost, RefusesWhatCannotBe) {
  simt::Emulator& emulator = plain_emulator();
  test::Array<std::uint32_t> x(emulator, 10), y(emulator, 10), out(emulator, 10);
  Workspace workspace(emulator);
  const RunFn run = pipelined().find(Type::u32, {});
  for (const unsigned streams : {9u, 4'000'000'000u})
    EXPECT_EQ(run(call_of(x, y, out, workspace, 5, streams)).code, Code::invalid_argument) << streams;
}

// More elements before the first pack and after the last than threads.
TEST(SaxpyEnds, FewerThreadsThanElementsAtTheEnds) {
  simt::Emulator& emulator = plain_emulator();
  constexpr std::size_t n = 47;
  test::Array<std::uint8_t> x(emulator, n + 1), y(emulator, n + 1), out(emulator, n + 1);
  x.set([](std::size_t i) { return i; });
  y.set([](std::size_t i) { return 7 * i; });
  for (const char* name : {"vec16", "in_flight", "one_pack"}) {
    out.set([](std::size_t) { return 0xCD; });
    Workspace workspace(emulator);
    const Call call{.in = {array(x, 1), array(y, 1)},
                    .out = {array(out, 1)},
                    .scalars = {std::uint8_t{3}},
                    .tuning = {.block = 4},
                    .workspace = &workspace};
    ASSERT_TRUE(find_rung(emulator.rungs(), "saxpy", name)->find(Type::u8, {})(call)) << name;
    for (std::size_t i = 1; i <= n; ++i) ASSERT_EQ(out[i], std::uint8_t(3 * x[i] + y[i])) << name << ' ' << i;
  }
  EXPECT_TRUE(emulator.take_report().issues.empty());
}

}  // namespace
}  // namespace upsweep
