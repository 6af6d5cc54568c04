// The greatest common divisor of ten million numbers, on a GPU; exits 1 if it is wrong, 4 where there is no GPU.
#include <cstdint>
#include <iostream>
#include <upsweep/reduce.cuh>
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
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 84 * static_cast<std::uint32_t>(i % 1009 + 1);
  const upsweep::Buffer<std::uint32_t> in(gpu, numbers);
  upsweep::Buffer<std::uint32_t> out(gpu, 1);
  upsweep::reduce(gpu, in, out, Gcd{});
  const std::uint32_t divisor = out.to_vector()[0];
  std::cout << "on " << gpu.name() << "\ngcd: " << divisor << '\n';
  return divisor == 84 ? 0 : 1;
} catch (const upsweep::Error& error) {
  std::cerr << "gcd: " << error.what() << '\n';
  return error.code() == upsweep::Code::no_device ? 4 : 2;
}
