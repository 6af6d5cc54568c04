// y = a x + y on arrays larger than a GPU's memory, streamed through the GPU in chunks; copies in both directions
// overlap.
//
//   larger_than_memory [GiB of x and y together [GiB of GPU memory to leave free]]
//
// By default, x and y take 1.1 times the GPU's memory. The second argument lets a host with little memory test a large
// GPU: the rest of the GPU's memory is allocated first. Exits 1 if an element is wrong, 4 without a GPU.
#include <cuda_runtime.h>
#include <upsweep/transform.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr double gib = 1 << 30;

void expect(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "larger_than_memory: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

// Calls part(begin, end) for parts of [0, n) on all cores.
template <class Part>
void on_all_cores(std::size_t n, Part part) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::size_t k = 0; k < cores; ++k)
    threads.emplace_back([=] { part(n / cores * k, k + 1 < cores ? n / cores * (k + 1) : n); });
}

// Integers whose results stay below 2^24, so every result is exact.
float x_at(std::size_t i) { return float(i % 1021); }
float y_at(std::size_t i) { return float(i % 2039); }

}  // namespace

int main(int count, char** arguments) try {
  upsweep::Device gpu = upsweep::Device::cuda();
  std::size_t free = 0, total = 0;
  expect(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  const double wanted = count > 1 ? std::atof(arguments[1]) * gib : 1.1 * double(total);
  if (wanted < gib / 1024 || count > 3) {
    std::fprintf(stderr, "usage: larger_than_memory [GiB of x and y together [GiB of GPU memory to leave free]]\n");
    return 2;
  }
  if (count > 2) {
    const double left = std::atof(arguments[2]) * gib;
    void* taken = nullptr;  // held until the program ends
    if (left < double(free))
      expect(cudaMalloc(&taken, free - std::size_t(left)), "allocating the rest of the GPU's memory");
    expect(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  }

  // All cores touch the pages before they are pinned; cudaMallocHost() would touch them one after another.
  const auto n = std::size_t(wanted / (2 * sizeof(float)));
  const std::unique_ptr<float[]> x_memory(new float[n]), y_memory(new float[n]);
  const std::span<float> x(x_memory.get(), n), y(y_memory.get(), n);
  on_all_cores(n, [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) x[i] = x_at(i), y[i] = y_at(i);
  });
  expect(cudaHostRegister(x.data(), n * sizeof(float), 0), "pinning x");
  expect(cudaHostRegister(y.data(), n * sizeof(float), 0), "pinning y");
  std::printf("%s: %.1f GiB, %.1f GiB free; x and y take %.1f GiB\n", std::string(gpu.name()).c_str(),
              double(total) / gib, double(free) / gib, 2.0 * double(n) * sizeof(float) / gib);

  for (int k = 0; k < 2; ++k) {  // the first call allocates its chunks
    const auto begin = std::chrono::steady_clock::now();
    upsweep::saxpy(gpu, 2.0f, x, y, {.rung = "from_host_pipelined"});
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("call %d: %.3f s, %.1f GB/s there and back\n", k + 1, seconds.count(),
                3.0 * double(n) * sizeof(float) / seconds.count() / 1e9);
  }

  std::atomic<std::size_t> wrong{0};
  on_all_cores(n, [=, &wrong](std::size_t begin, std::size_t end) {
    std::size_t mine = 0;
    for (std::size_t i = begin; i < end; ++i) mine += y[i] != 4 * x_at(i) + y_at(i);
    wrong += mine;
  });
  std::printf("%zu of %zu elements are wrong\n", wrong.load(), n);
  cudaHostUnregister(x.data());
  cudaHostUnregister(y.data());
  return wrong ? 1 : 0;
} catch (const upsweep::Error& error) {
  std::fprintf(stderr, "larger_than_memory: %s\n", error.what());
  return error.code() == upsweep::Code::no_device ? 4 : 2;
} catch (const std::bad_alloc&) {
  std::fprintf(stderr, "larger_than_memory: not enough host memory for x and y\n");
  return 3;
}
