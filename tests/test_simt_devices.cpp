// The GPUs that the emulators model: their features, the calls that they reject, and every ladder's default on each.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/workspace.h"
#include "error_of.h"
#include "lab/check.h"
#include "lab/default_rung.h"
#include "lab/inputs.h"
#include "lab/primitive.h"
#include "simt/report.h"
#include "upsweep/histogram.h"
#include "upsweep/partition.h"
#include "upsweep/reduce.h"
#include "upsweep/scan.h"
#include "upsweep/select.h"
#include "upsweep/sort.h"

namespace upsweep {
namespace {

class Devices : public testing::Test {
 protected:
  ~Devices() override {
    for (simt::Emulator* emulator : {&plain_emulator(), &traced_emulator()})
      emulator->emulate(emulated_machine("h200"));
  }
};

TEST_F(Devices, MachinesHaveWhatTheirArchitectureHas) {
  const Machine &t4 = emulated_machine("t4"), &a100 = emulated_machine("a100"), &h200 = emulated_machine("h200");
  EXPECT_FALSE(t4.has(Feature::warp_reduce));
  EXPECT_TRUE(a100.has(Feature::warp_reduce) && a100.has(Feature::copy_16));
  EXPECT_FALSE(a100.has(Feature::bulk_copy) || a100.has(Feature::cluster) || a100.has(Feature::overlap));
  EXPECT_TRUE(h200.has(Feature::bulk_copy) && h200.has(Feature::cluster) && h200.has(Feature::overlap));
  const Needs needs{{Feature::bulk_copy}, 128 << 10};
  EXPECT_TRUE(h200.meets(needs));
  EXPECT_FALSE(a100.meets(needs));
  EXPECT_FALSE(emulated_machine("rtx5090").meets(needs)) << "it has bulk copies, but not that much shared memory";
  EXPECT_EQ(to_string(needs), "bulk copies and 128 KiB of shared memory per block");
  EXPECT_NE(std::string(error_of([] { (void)emulated_machine("gt200"); }).hint()).find("t4"), std::string::npos);
  // Kernels compiled for an older architecture lack the device's newer features.
  Machine old_code = h200;
  old_code.code = 80;
  EXPECT_FALSE(old_code.meets(needs));
  // Such kernels have the older architecture's launch bounds too, but a kernel without bounds may have all threads.
  old_code.code = 75;
  EXPECT_EQ(old_code.bounded_threads(), 1024);
  EXPECT_EQ(old_code.threads_per_multiprocessor, 2048);
}

// The CUDA Programming Guide's table of technical specifications.
TEST_F(Devices, ResidentThreadsAreThoseOfTheArchitecture) {
  for (const auto& [capability, threads] : std::map<int, int>{
           {75, 1024}, {80, 2048}, {86, 1536}, {87, 1536}, {89, 1536}, {90, 2048}, {100, 2048}, {120, 1536}})
    EXPECT_EQ(most_resident_threads(capability), threads) << capability;
  EXPECT_EQ(emulated_machine("t4").threads_per_multiprocessor, 1024);
}

TEST_F(Devices, TheEnvironmentMakesAGpuAnOlderOne) {
  const auto told = [](const char* value) {
    setenv("UPSWEEP_CAPABILITY", value, 1);
    const Machine m = as_environment_says(emulated_machine("h200"));
    unsetenv("UPSWEEP_CAPABILITY");
    return m;
  };
  EXPECT_EQ(told("8.0").capability, 80);
  EXPECT_EQ(told("80").shared_per_block, emulated_machine("a100").shared_per_block);
  EXPECT_FALSE(told("8.0").has(Feature::bulk_copy));
  EXPECT_EQ(told("7.5").threads_per_multiprocessor, 1024);
  EXPECT_EQ(told("").capability, 90);
  // Emulating a newer GPU adds no features, but may reduce shared memory.
  EXPECT_EQ(told("12.0").capability, 90);
  EXPECT_EQ(told("12.0").shared_per_block, emulated_machine("rtx5090").shared_per_block);
  for (const char* wrong : {"hopper", "8.0x", "7", "13.1"}) {
    const Error error = error_of([&] { told(wrong); });
    unsetenv("UPSWEEP_CAPABILITY");
    EXPECT_EQ(error.code(), Code::invalid_argument) << wrong;
  }
}

TEST_F(Devices, RungsThatADeviceCannotRunAreRefused) {
  Device gpu(plain_emulator());
  const std::vector<std::int32_t> in(1000, 1);
  std::vector<std::int32_t> out(in.size());
  inclusive_scan(gpu, in, out, Op::sum, {.rung = "pipeline"});
  plain_emulator().emulate(emulated_machine("a100"));
  Device older(plain_emulator());
  const Error error = error_of([&] { inclusive_scan(older, in, out, Op::sum, {.rung = "pipeline"}); });
  EXPECT_EQ(error.code(), Code::unsupported);
  EXPECT_NE(std::string(error.what()).find("scan/pipeline needs bulk copies"), std::string::npos) << error.what();
  EXPECT_NE(error.hint().find("a100 (compute capability 8.0"), std::string::npos) << error.hint();
}

// A kernel that uses a missing feature, launched past the library's check: the emulators name the feature and the line.
TEST_F(Devices, KernelsThatUseAMissingFeatureAreReported) {
  Machine old_code = emulated_machine("h200");  // the H200's shared memory, so that the launch itself succeeds
  old_code.code = 80;
  for (simt::Emulator* emulator : {&plain_emulator(), &traced_emulator()}) {
    emulator->emulate(old_code);
    emulator->take_report();
    const Rung* const rung = find_rung(emulator->rungs(), "reduce", "bulk_copy");
    ASSERT_TRUE(rung);
    constexpr std::size_t n = 100'000;
    auto* const in = static_cast<std::int32_t*>(emulator->allocate(n * sizeof(std::int32_t)));
    auto* const out = static_cast<std::int32_t*>(emulator->allocate(sizeof(std::int32_t)));
    std::fill_n(in, n, 1);
    {
      Workspace workspace(*emulator);
      const Call call{.operation = Op::sum,
                      .in = {input_array(Type::i32, n, in)},
                      .out = {{{Type::i32, 1, out}}},
                      .workspace = &workspace};
      EXPECT_EQ(rung->find(Type::i32, Op::sum)(call).code, Code::device_error);
    }
    emulator->release(in);
    emulator->release(out);
    const simt::Report report = emulator->take_report();
    ASSERT_FALSE(report.issues.empty());
    EXPECT_EQ(report.issues.front().kind, "missing feature");
    for (const char* said : {"bulk copies", "kernels compiled for 8.0", "bulk_copy_kernel", "ring.h:"})
      EXPECT_NE(report.issues.front().text.find(said), std::string::npos) << report.issues.front().text;
  }
}

// Sizes on both sides of the thresholds between rungs, on every device, against the standard library.
TEST_F(Devices, EveryDefaultRunsOnEveryDevice) {
  for (const Machine& machine : emulated_machines()) {
    SCOPED_TRACE(machine.name);
    plain_emulator().emulate(machine);
    plain_emulator().take_report();
    Device gpu(plain_emulator());
    for (const std::size_t n : {0u, 1u, 1000u, 40'003u}) {
      SCOPED_TRACE(n);
      const auto keys = make_input<std::uint32_t>("uniform", n, 1);
      std::vector<std::uint32_t> out(n), sorted = keys;
      std::sort(sorted.begin(), sorted.end());
      sort(gpu, keys, out);
      EXPECT_EQ(out, sorted);
      const auto factors = make_input<std::int32_t>("near_one", n, 2);
      std::vector<std::int32_t> products(n), multiplied(n);
      std::inclusive_scan(factors.begin(), factors.end(), products.begin(), Product{});
      inclusive_scan(gpu, factors, multiplied, Op::product);
      EXPECT_EQ(multiplied, products);
      const auto numbers = make_input<std::int32_t>("zipf", n, 2);  // the emulators have every rung for this type
      std::vector<std::int32_t> sums(n), scanned(n);
      std::inclusive_scan(numbers.begin(), numbers.end(), sums.begin(), Sum{});
      inclusive_scan(gpu, numbers, scanned);
      EXPECT_EQ(scanned, sums);
      std::array<std::int32_t, 1> total{};
      reduce(gpu, numbers, total);
      EXPECT_EQ(total[0], n ? sums.back() : 0);
      // Counters that fit every device's shared memory, and counters that fit only a few devices'.
      for (const unsigned log_bins : {8u, 14u, 16u}) {
        std::vector<std::uint32_t> counts(std::size_t{1} << log_bins), expected(counts.size());
        for (const std::uint32_t key : keys) ++expected[key >> (32 - log_bins)];
        histogram_even(gpu, keys, 0, 0x1p32, counts);
        EXPECT_EQ(counts, expected) << log_bins;
      }
    }
    EXPECT_TRUE(plain_emulator().take_report().issues.empty());
  }
}

// The laboratory's check of every ladder's default: types, operations, inputs, alignments.
TEST_F(Devices, EveryLaddersDefaultIsRightOnEveryDevice) {
  for (const Machine& machine : emulated_machines()) {
    plain_emulator().emulate(machine);
    for (const Primitive* primitive : primitives()) {
      const Rung* const rung = lab::default_rung(plain_emulator(), *primitive);
      ASSERT_TRUE(rung || primitive->name() == "ceiling") << machine.name << ' ' << primitive->name();
      if (!rung) continue;
      lab::CheckOptions options;
      options.depth = {.every_combination_to = 0, .combinations = 1, .largest = 4'100, .own_shape_every = 64};
      options.seed = 1;
      for (const lab::RungCheck& result :
           lab::check(plain_emulator(), &plain_emulator(), *primitive, {rung}, options)) {
        EXPECT_GT(result.runs, 100u) << machine.name << ' ' << primitive->name();
        EXPECT_TRUE(result.passed()) << machine.name << ' ' << rung->name << ": " << result.failures.front();
      }
    }
  }
}

// The check of a rung finds a missing feature even if the rung does not declare that it needs it.
TEST_F(Devices, NeedsThatAreNotDeclaredAreFoundByTheCheck) {
  lab::CheckOptions options;
  options.depth = {.every_combination_to = 0, .combinations = 1, .largest = 4'100, .own_shape_every = 64};
  options.seed = 1;
  // These rungs need the shared memory only for the tiles of larger inputs than the check's.
  const std::set<std::string_view> by_size{"lane_sweep", "bit_columns"};
  int undeclared = 0;
  for (const Machine& machine : emulated_machines()) {
    plain_emulator().emulate(machine);
    for (const Primitive* primitive : primitives())
      for (const Rung* rung : plain_emulator().rungs_of(primitive->contract)) {
        if (rung->expected_wrong || machine.meets(rung->needs)) continue;
        Needs features = rung->needs;
        features.shared_bytes = 0;
        if (machine.meets(features) && by_size.contains(rung->name)) continue;
        Rung silent = *rung;
        silent.needs = {};
        ++undeclared;
        for (const lab::RungCheck& result :
             lab::check(plain_emulator(), &plain_emulator(), *primitive, {&silent}, options))
          EXPECT_FALSE(result.passed()) << machine.name << ' ' << primitive->name() << '/' << rung->name;
      }
  }
  EXPECT_GT(undeclared, 50);
}

}  // namespace
}  // namespace upsweep
