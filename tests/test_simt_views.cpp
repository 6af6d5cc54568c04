// A device with separate memory: host arrays are copied in and out, buffers belong to one device, and one call may mix
// both. The emulator replaces the GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/workspace.h"
#include "error_of.h"
#include "lab/inputs.h"
#include "simt/report.h"
#include "upsweep/reduce.h"
#include "upsweep/scan.h"
#include "upsweep/select.h"
#include "upsweep/transform.h"

namespace upsweep {
namespace {

using Item = std::int32_t;

class SimtViews : public testing::Test {
 protected:
  SimtViews() { plain_emulator().configure({}); }
  Device cpu = Device::cpu(), gpu = Device(plain_emulator());
  const std::size_t n = 5003;
  const std::vector<Item> x = make_input<Item>("uniform", n, 1), y = make_input<Item>("zipf", n, 2);

  std::vector<Item> exclusive_sums() const {
    std::vector<Item> sums(n);
    std::exclusive_scan(x.begin(), x.end(), sums.begin(), Item{0}, Sum{});
    return sums;
  }
  std::vector<Item> saxpy_of(Item a) const {
    std::vector<Item> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = Sum{}(Product{}(a, x[i]), y[i]);
    return out;
  }
  std::vector<Item> below(Item limit) const {
    std::vector<Item> chosen;
    for (const Item v : x)
      if (v < limit) chosen.push_back(v);
    return chosen;
  }
};

// ---- memory ownership -----------------------------------------------------------------------------------------------

TEST_F(SimtViews, BuffersOfAnotherDeviceAreRefused) {
  struct Both {
    Buffer<Item> in, other, out, total;
    Buffer<std::uint8_t> flags;
    Buffer<std::uint64_t> count;
    Both(Device& device, std::size_t n)
        : in(device, n), other(device, n), out(device, n), total(device, 1), flags(device, n), count(device, 1) {}
  } on_gpu(gpu, n), on_cpu(cpu, n);
  for (Device* device : {&gpu, &cpu}) {
    Both &own = device == &gpu ? on_gpu : on_cpu, &foreign = device == &gpu ? on_cpu : on_gpu;
    const auto refused = [&](const std::string& name, auto&& call) {
      const Error error = error_of(call);
      EXPECT_EQ(error.code(), Code::invalid_argument) << error.what();
      EXPECT_NE(std::string(error.what()).find(name + " is in another device's memory"), std::string::npos)
          << error.what();
      EXPECT_FALSE(error.hint().empty());
    };
    refused("the input", [&] { reduce(*device, foreign.in, own.total); });
    refused("the output", [&] { reduce(*device, own.in, foreign.total); });
    refused("the input", [&] { exclusive_scan(*device, foreign.in, own.out); });
    refused("the output", [&] { inclusive_scan(*device, own.in, foreign.out); });
    refused("the array of heads", [&] { segmented_inclusive_scan(*device, own.in, foreign.flags, own.out); });
    refused("x", [&] { saxpy(*device, 2, foreign.in, own.other, own.out); });
    refused("y", [&] { saxpy(*device, 2, own.in, foreign.other, own.out); });
    refused("the array of flags", [&] { select_flagged(*device, own.in, foreign.flags, own.out); });
    refused("the count", [&] { unique(*device, own.in, own.out, foreign.count); });
    refused("the input", [&] { unique(*device, view(foreign.in).subview(3, 5), own.out); });
  }
}

TEST_F(SimtViews, DevicesOfOnePlatformShareTheirMemory) {
  Device second(plain_emulator());
  Buffer<Item> in(gpu, x), out(second, n);
  inclusive_scan(second, in, out, Op::max);
  EXPECT_EQ(out.to_vector().back(), *std::max_element(x.begin(), x.end()));
}

// ---- host arrays ----------------------------------------------------------------------------------------------------

TEST_F(SimtViews, HostArraysAreCopiedThereAndBack) {
  std::vector<Item> out(n + 7, -77);
  // At any offset: device copies are aligned even if the host arrays are not.
  for (const std::size_t offset : {0, 1, 5}) {
    std::fill(out.begin(), out.end(), -77);
    exclusive_scan(gpu, x, view(out).subview(offset, n));
    const auto sums = exclusive_sums();
    EXPECT_TRUE(std::equal(sums.begin(), sums.end(), out.begin() + static_cast<std::ptrdiff_t>(offset)));
    EXPECT_EQ(std::count(out.begin(), out.end(), -77), 7) << "elements around the output must stay";
  }
  saxpy(gpu, 3, x, y, out);
  EXPECT_EQ(std::vector<Item>(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n)), saxpy_of(3));
  EXPECT_EQ(reduce(gpu, x), std::accumulate(x.begin(), x.end(), Item{0}, Sum{}));
  EXPECT_EQ(reduce(gpu, std::vector<Item>()), 0);
  EXPECT_EQ(argmax(gpu, x), static_cast<std::uint64_t>(std::max_element(x.begin(), x.end()) - x.begin()));
}

TEST_F(SimtViews, HostArraysInPlace) {
  std::vector<Item> scanned = x, onto_x = x, onto_y = y;
  exclusive_scan(gpu, scanned, scanned);
  EXPECT_EQ(scanned, exclusive_sums());
  saxpy(gpu, 3, onto_x, y, onto_x);
  EXPECT_EQ(onto_x, saxpy_of(3));
  saxpy(gpu, 3, x, onto_y);
  EXPECT_EQ(onto_y, saxpy_of(3));
  std::vector<Item> shifted(n + 1);
  EXPECT_EQ(error_of([&] { exclusive_scan(gpu, view(shifted).subview(0, n), view(shifted).subview(1, n)); }).code(),
            Code::invalid_argument)
      << "staging copies would hide the overlap";
}

// Out of place, a host output is copied back and the host inputs keep their values.
TEST_F(SimtViews, InputsAreNotChanged) {
  std::vector<Item> in = x, other = y, out(n);
  saxpy(gpu, 3, in, other, out);
  exclusive_scan(gpu, in, out);
  EXPECT_EQ(in, x);
  EXPECT_EQ(other, y);
}

TEST_F(SimtViews, OnlyWhatIsSelectedIsCopiedBack) {
  const auto chosen = below(100'000'000);
  ASSERT_TRUE(!chosen.empty() && chosen.size() < n);
  const auto untouched = [](const auto& values, std::size_t from) {
    return std::all_of(values.begin() + static_cast<std::ptrdiff_t>(from), values.end(),
                       [](auto v) { return v == decltype(v)(77); });
  };
  std::vector<Item> out(n + 3, 77);
  EXPECT_EQ(select_if(gpu, x, 100'000'000, out), chosen.size());
  EXPECT_TRUE(std::equal(chosen.begin(), chosen.end(), out.begin()));
  EXPECT_TRUE(untouched(out, chosen.size()));

  std::fill(out.begin(), out.end(), 77);
  EXPECT_EQ(partition_if(gpu, x, 100'000'000, out), chosen.size());
  EXPECT_TRUE(std::equal(chosen.begin(), chosen.end(), out.begin()));
  EXPECT_TRUE(untouched(out, n)) << "exactly n elements are written";
  EXPECT_EQ(std::count(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), 77), 0);

  const std::vector<Item> runs{5, 5, 5, 2, 2, 9};
  std::vector<std::uint32_t> lengths(runs.size(), 77);
  out.assign(runs.size(), 77);
  EXPECT_EQ(run_length_encode(gpu, runs, out, lengths), 3u);
  EXPECT_EQ(out, (std::vector<Item>{5, 2, 9, 77, 77, 77}));
  EXPECT_EQ(lengths, (std::vector<std::uint32_t>{3, 2, 1, 77, 77, 77}));
  std::vector<std::uint32_t> positions(runs.size(), 77);
  EXPECT_EQ(find_repeats(gpu, runs, positions), 3u);
  EXPECT_EQ(positions, (std::vector<std::uint32_t>{0, 1, 3, 77, 77, 77}));
  positions.assign(runs.size(), 77);
  EXPECT_EQ(nonzero(gpu, std::vector<Item>{0, 5, 0, -1, 2, 0}, positions), 3u);
  EXPECT_EQ(positions, (std::vector<std::uint32_t>{1, 3, 4, 77, 77, 77}));
  out.assign(n, 77);
  EXPECT_EQ(select_if(gpu, x, std::numeric_limits<Item>::min(), out), 0u);
  EXPECT_TRUE(untouched(out, 0)) << "no element is below the lowest value";
  EXPECT_EQ(select_if(gpu, std::vector<Item>{5}, 5, out), 0u);
  EXPECT_TRUE(untouched(out, 0)) << "an output of one element may stay empty, too";
  EXPECT_EQ(select_if(gpu, std::vector<Item>{5}, 6, out), 1u);
  EXPECT_EQ(out[0], 5);
}

// ---- host and device arrays in one call -----------------------------------------------------------------------------

TEST_F(SimtViews, HostAndDeviceArraysInOneCall) {
  const Buffer<Item> in(gpu, x), other(gpu, y);
  Buffer<Item> out(gpu, n);
  std::vector<Item> host(n);
  exclusive_scan(gpu, in, host);
  EXPECT_EQ(host, exclusive_sums());
  exclusive_scan(gpu, x, out);
  EXPECT_EQ(out.to_vector(), exclusive_sums());
  saxpy(gpu, 3, in, y, out);
  EXPECT_EQ(out.to_vector(), saxpy_of(3));
  saxpy(gpu, 3, x, other, host);
  EXPECT_EQ(host, saxpy_of(3));
  EXPECT_EQ(in.to_vector(), x);
  EXPECT_EQ(other.to_vector(), y) << "staging a host output must not touch a device input";
}

TEST_F(SimtViews, CountsHereAndArraysThere) {
  const auto chosen = below(0);
  const Buffer<Item> in(gpu, x);
  Buffer<Item> out(gpu, std::vector<Item>(n, 77));
  std::vector<std::uint64_t> count(3, 9);
  select_if(gpu, in, 0, out, count);
  EXPECT_EQ(count, (std::vector<std::uint64_t>{chosen.size(), 9, 9}));
  auto got = out.to_vector();
  EXPECT_TRUE(std::equal(chosen.begin(), chosen.end(), got.begin()));
  EXPECT_TRUE(
      std::all_of(got.begin() + static_cast<std::ptrdiff_t>(chosen.size()), got.end(), [](Item v) { return v == 77; }));
  // The reverse: host arrays, and a count on the device.
  Buffer<std::uint64_t> device_count(gpu, 1);
  std::vector<Item> host(n, 77);
  select_if(gpu, x, 0, host, device_count);
  EXPECT_EQ(device_count.to_vector()[0], chosen.size());
  EXPECT_TRUE(std::equal(chosen.begin(), chosen.end(), host.begin()));
  EXPECT_TRUE(std::all_of(host.begin() + static_cast<std::ptrdiff_t>(chosen.size()), host.end(),
                          [](Item v) { return v == 77; }));
}

TEST_F(SimtViews, PartsOfBuffersAtAnyOffset) {
  std::vector<Item> padded(n + 9, 77);
  std::copy(x.begin(), x.end(), padded.begin() + 4);
  Buffer<Item> in(gpu, padded);
  for (const std::size_t offset : {0, 1, 3, 9}) {
    Buffer<Item> out(gpu, std::vector<Item>(n + 9, 77));
    inclusive_scan(gpu, view(in).subview(4, n), view(out).subview(offset, n), Op::max);
    const auto got = out.to_vector();
    EXPECT_EQ(got[offset + n - 1], *std::max_element(x.begin(), x.end())) << offset;
    EXPECT_EQ(std::count(got.begin(), got.end(), 77), 9 + std::count(x.begin(), x.end(), 77)) << offset;
  }
  const auto part = view(in).subview(4, n);
  exclusive_scan(gpu, part, part);
  const auto got = in.to_vector();
  const auto sums = exclusive_sums();
  EXPECT_TRUE(std::equal(sums.begin(), sums.end(), got.begin() + 4));
}

// Rungs with from_host take host arrays directly. Staging memory is reused across calls.
TEST_F(SimtViews, RungsFromTheHostAndScratchThatIsKept) {
  std::vector<Item> out(n);
  for (const Rung* rung : gpu.platform().rungs_of(saxpy_contract))
    if (rung->from_host() && !rung->expected_wrong) {
      std::fill(out.begin(), out.end(), 0);
      saxpy(gpu, 3, x, y, out, {.rung = rung->name});
      EXPECT_EQ(out, saxpy_of(3)) << rung->name;
    }
  exclusive_scan(gpu, x, out);
  const std::size_t held = gpu.workspace().held();
  exclusive_scan(gpu, x, out);
  EXPECT_EQ(gpu.workspace().held(), held);
  EXPECT_TRUE(plain_emulator().take_report().issues.empty());
}

}  // namespace
}  // namespace upsweep
