// x[i] = a[i] * x[i-1] + b[i] for ten million i, on a GPU, as a scan: each step is a function of the previous value,
// and functions compose. Exits 1 if a value is wrong, 4 without a GPU.
#include <cstdint>
#include <iostream>
#include <upsweep/scan.cuh>
#include <vector>

struct Step {  // x -> a x + b, modulo 2^32
  std::uint32_t a, b;
};

struct Then {  // first f, then g: associative, not commutative
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    return {1, 0};
  }
  UPSWEEP_HD constexpr Step operator()(Step f, Step g) const { return {f.a * g.a, f.b * g.a + g.b}; }
};

int main() try {
  upsweep::Device gpu = upsweep::Device::cuda();
  std::vector<Step> steps(10'000'000);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto k = static_cast<std::uint32_t>(i);
    steps[i] = {2654435761u * k | 1u, 40503u * k + 7};
  }
  upsweep::Buffer<Step> functions(gpu, steps);
  upsweep::inclusive_scan(gpu, functions, functions, Then{});
  const std::vector<Step> upto = functions.to_vector();

  std::uint32_t x = 1;  // x[-1]
  for (std::size_t i = 0; i < steps.size(); ++i) {
    x = steps[i].a * x + steps[i].b;
    if (upto[i].a + upto[i].b != x) {
      std::cerr << "x[" << i << "] is wrong\n";
      return 1;
    }
  }
  std::cout << "on " << gpu.name() << "\nlast: " << x << '\n';
  return 0;
} catch (const upsweep::Error& error) {
  std::cerr << "recurrence: " << error.what() << '\n';
  return error.code() == upsweep::Code::no_device ? 4 : 2;
}
