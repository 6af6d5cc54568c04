// Tests that need a GPU: the caller's streams and pointers, CUDA graphs, two GPUs. Built if nvcc is found.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "base/platform.h"
#include "lab/inputs.h"
#include "upsweep/histogram.h"
#include "upsweep/reduce.h"
#include "upsweep/scan.h"
#include "upsweep/sort.h"
#include "upsweep/transform.h"

using namespace upsweep;

namespace {

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_platform()) GTEST_SKIP() << why_no_cuda();
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override {
    if (stream_) cudaStreamDestroy(stream_);
  }
  cudaStream_t stream_ = nullptr;
};

std::int32_t sum(const std::vector<std::int32_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int32_t{0}, Sum{});
}

}  // namespace

// Each rung is captured once and replayed on new data: no part of a call may depend on the host, unless the rung
// declares `synchronises`.
TEST_F(Cuda, CallsAreCapturedIntoGraphs) {
  Device device = Device::cuda_on(stream_);
  ASSERT_EQ(device.native_stream(), stream_);
  for (const Rung* rung : device.platform().rungs_of(reduce_contract)) {
    if (rung->expected_wrong || rung->synchronises || !rung->find(Type::i32, Op::sum)) continue;
    for (std::size_t n : {std::size_t{1000}, std::size_t{1} << 20}) {
      Buffer<std::int32_t> in(device, n), out(device, 1);
      reduce(device, in, out, Op::sum, {.rung = rung->name});  // allocates the scratch
      cudaGraph_t graph;
      cudaGraphExec_t replay;
      ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
      reduce(device, in, out, Op::sum, {.rung = rung->name});
      reduce(device, in, out, Op::sum, {.rung = rung->name});
      ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess) << rung->name;
      ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess) << rung->name;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        const auto values = make_input<std::int32_t>("uniform", n, seed);
        in.copy_from(values);
        ASSERT_EQ(cudaGraphLaunch(replay, stream_), cudaSuccess);
        EXPECT_EQ(out.to_vector()[0], sum(values)) << rung->name << " n=" << n << " replay " << seed;
      }
      cudaGraphExecDestroy(replay);
      cudaGraphDestroy(graph);
    }
  }
}

// Sizes up to the third level of the summation order, where 2^25 elements fill a row of 32 totals of 2^20 elements
// each; also in place and misaligned.
TEST_F(Cuda, ReproducibleScansHaveTheCpusBits) {
  Device cpu = Device::cpu(), gpu = Device::cuda_on(stream_);
  const Options options{.rung = "reproducible"};
  for (const std::size_t n : {std::size_t{1000}, std::size_t{100'003}, (std::size_t{1} << 20) + 1025,
                              (std::size_t{1} << 25) + (std::size_t{1} << 20) + 70'001}) {
    const auto x = make_input<float>("wide", n, 5);
    std::vector<float> expected(n), got(n);
    exclusive_scan(cpu, x, expected, Op::sum, options);
    exclusive_scan(gpu, x, got, Op::sum, options);
    EXPECT_EQ(std::memcmp(got.data(), expected.data(), n * sizeof(float)), 0) << n;

    Buffer<float> shifted(gpu, n + 1);
    std::vector<float> with_first(x);
    with_first.insert(with_first.begin(), 7);
    shifted.copy_from(with_first);
    const auto part = view(shifted).subview(1, n);
    exclusive_scan(gpu, part, part, Op::sum, options);
    const auto back = shifted.to_vector();
    EXPECT_EQ(std::memcmp(back.data() + 1, expected.data(), n * sizeof(float)), 0) << n << " in place, misaligned";
  }
}

// A kernel that starts before its predecessor ends must still see the predecessor's writes.
TEST_F(Cuda, CallsOfOneStreamSeeWhatTheLastOneWrote) {
  Device device = Device::cuda_on(stream_);
  constexpr std::size_t n = 100;  // each call's input is the previous call's output
  Buffer<std::int32_t> in(device, std::vector<std::int32_t>(n, 1));
  std::vector<Buffer<std::int32_t>> links;
  for (int k = 0; k < 200; ++k) links.emplace_back(device, 1);
  reduce(device, in, links[0]);
  for (std::size_t k = 1; k < links.size(); ++k) reduce(device, links[k - 1], links[k]);
  EXPECT_EQ(links.back().to_vector()[0], static_cast<std::int32_t>(n));
  // A kernel must not overwrite memory that its predecessor still reads, either.
  Buffer<std::int32_t> large(device, std::vector<std::int32_t>(1 << 22, 1)), total(device, 1);
  for (int k = 0; k < 20; ++k) {
    reduce(device, large, total);
    reduce(device, in, links[0]);
    EXPECT_EQ(total.to_vector()[0], 1 << 22);
  }
}

// Under ctest, this is the first launch of the kernel in its process. Static plus dynamic shared memory exceeds 48 KiB,
// but dynamic alone does not.
TEST_F(Cuda, SharedMemoryIsRequestedByTheSumOfBothParts) {
  Device device = Device::cuda_on(stream_);
  for (const std::size_t n : {5104, 5632, 6144}) {
    const auto keys = make_input<std::uint64_t>("uniform", n, 1);
    std::vector<std::uint64_t> expected(keys), got(n);
    std::sort(expected.begin(), expected.end());
    sort(device, keys, got);
    EXPECT_EQ(got, expected) << n;
  }
}

// Threads that launch a kernel with different amounts of dynamic shared memory do not lower each other's limit.
TEST_F(Cuda, ThreadsShareAKernelsSharedMemory) {
  const auto count = [](std::size_t bins) {
    Device device = Device::cuda();
    const auto samples = make_input<std::uint32_t>("uniform", 10'000, 1);
    for (int call = 0; call < 500; ++call) {
      std::vector<std::uint32_t> counts(bins);
      histogram_even(device, samples, 0, 0x1p32, counts, {}, {}, {.rung = "coarsened"});
    }
  };
  std::thread other([&] { EXPECT_NO_THROW(count(50'000)); });
  EXPECT_NO_THROW(count(13'000));
  other.join();
}

// Sums of -0 alone, and of both zeros.
TEST_F(Cuda, FloatSumsKeepTheSignOfZero) {
  Device device = Device::cuda_on(stream_);
  for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, (std::size_t{1} << 22) + 3}) {
    std::vector<double> zeros(n, -0.0), out(n);
    for (const char* rung : {"overlap", "reproducible"})
      EXPECT_TRUE(std::signbit(reduce(device, zeros, Op::sum, {.rung = rung}))) << rung << n;
    exclusive_scan(device, zeros, out);
    EXPECT_FALSE(std::signbit(out[0])) << n;
    EXPECT_TRUE(std::all_of(out.begin() + 1, out.end(), [](double x) { return std::signbit(x); })) << n;
    zeros[n / 2] = 0;
    inclusive_scan(device, zeros, out);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(std::signbit(out[i]), i < n / 2) << n << " at " << i;
    for (const char* rung : {"overlap", "reproducible"})
      EXPECT_FALSE(std::signbit(reduce(device, zeros, Op::sum, {.rung = rung}))) << rung << n;
  }
}

// Each call runs on its Device's GPU, whichever GPU was used last, also from a thread that has used none. The kernel's
// dynamic shared memory limit must be raised on the GPU that runs it.
TEST_F(Cuda, TwoGpusInTurns) {
  if (!cuda_platform(1)) GTEST_SKIP() << "needs two GPUs";
  constexpr std::size_t n = 1 << 22;  // large enough for the pipelines
  std::vector<Device> devices;
  devices.push_back(Device::cuda(0));
  devices.push_back(Device::cuda(1));
  const auto x = make_input<std::int32_t>("uniform", n, 3);
  std::vector<std::int32_t> sums(n), doubled(n);
  std::partial_sum(x.begin(), x.end(), sums.begin(), Sum{});
  std::transform(x.begin(), x.end(), doubled.begin(), [](std::int32_t e) { return Sum{}(e, e); });
  std::vector<Buffer<std::int32_t>> in, out;
  for (Device& device : devices) {
    in.emplace_back(device, x);
    out.emplace_back(device, n);
  }
  std::thread([&] { saxpy(devices[1], 1, in[1], in[1], out[1], {.rung = "bulk_staged"}); }).join();
  EXPECT_EQ(out[1].to_vector(), doubled);
  for (int round = 0; round < 3; ++round)  // the first round allocates
    for (std::size_t d = 0; d < 2; ++d) inclusive_scan(devices[d], in[d], out[d]);
  for (std::size_t d = 0; d < 2; ++d) EXPECT_EQ(out[d].to_vector(), sums) << d;
}

// A caller's device memory is used at any offset; host memory is refused as device memory.
TEST_F(Cuda, PointersOfTheCallers) {
  Device device = Device::cuda_on(stream_);
  constexpr std::size_t n = 100'003;
  const auto x = make_input<std::int32_t>("uniform", n, 3);
  std::vector<std::int32_t> expected(n), got(n);
  std::partial_sum(x.begin(), x.end(), expected.begin(), Sum{});
  void* allocated = nullptr;
  ASSERT_EQ(cudaMalloc(&allocated, (n + 5) * sizeof(std::int32_t)), cudaSuccess);
  auto* const memory = static_cast<std::int32_t*>(allocated);
  for (const std::size_t offset : {0, 1, 5}) {
    ASSERT_EQ(cudaMemcpy(memory + offset, x.data(), n * sizeof(std::int32_t), cudaMemcpyHostToDevice), cudaSuccess);
    const auto array = device_view(memory + offset, n);
    inclusive_scan(device, array, array);
    inclusive_scan(device, array, got, Op::max);  // scans the previous call's sums
    EXPECT_EQ(got[0], expected[0]) << offset;
    device.synchronize();
    ASSERT_EQ(cudaMemcpy(got.data(), memory + offset, n * sizeof(std::int32_t), cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(got, expected) << offset;
  }
  std::int32_t total = 0;
  try {
    reduce(device, device_view(x.data(), n), host_view(&total, 1));
    ADD_FAILURE() << "host memory was accepted as device memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("the input"), std::string::npos) << error.what();
  }
  cudaFree(memory);
}
