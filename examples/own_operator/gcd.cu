// The greatest common divisor of ten million products, on a GPU. Exits 1 if it is wrong, 4 without a GPU.
#include <cstdint>
#include <iostream>
#include <upsweep/reduce.cuh>
#include <upsweep/transform.cuh>
#include <vector>

struct Gcd {
  // gcd(0, x) = x.
  template <class T>
  UPSWEEP_HD static constexpr T neutral() {
    return 0;
  }
  template <class T>
  UPSWEEP_HD constexpr T operator()(T a, T b) const {
    while (b != 0) {
      const T rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
};

int main() try {
  upsweep::Device gpu = upsweep::Device::cuda();
  std::vector<std::uint32_t> numbers(10'000'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i % 1009 + 1);
  const upsweep::Buffer<std::uint32_t> left(gpu, numbers), right(gpu, std::vector<std::uint32_t>(numbers.size(), 84));
  upsweep::Buffer<std::uint32_t> products(gpu, numbers.size()), out(gpu, 1);
  upsweep::transform(
      gpu, products, [] __device__(std::uint32_t a, std::uint32_t b) { return a * b; }, left, right);
  upsweep::reduce(gpu, products, out, Gcd{});
  const std::uint32_t divisor = out.to_vector()[0];
  std::cout << "on " << gpu.name() << "\ngcd: " << divisor << '\n';
  return divisor == 84 ? 0 : 1;
} catch (const upsweep::Error& error) {
  std::cerr << "gcd: " << error.what() << '\n';
  return error.code() == upsweep::Code::no_device ? 4 : 2;
}
