// Four ways to reduce, each checked. Prints one line per way and exits 1 if a result is wrong.
#include <upsweep/reduce.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

namespace {

bool all_right = true;

template <class T>
void show(const char* what, const T& value, bool right) {
  std::cout << what << ": " << value << (right ? "" : "   (wrong)") << '\n';
  all_right = all_right && right;
}

// 2x2 matrices modulo 2^64: their product is associative but not commutative.
using Matrix = std::array<std::uint64_t, 4>;
Matrix multiply(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
}

}  // namespace

int main() try {
  upsweep::Device device = upsweep::Device::best();  // a GPU if there is one, else the CPU
  std::cout << "on " << device.name() << '\n';

  // Host memory in, a value out.
  std::vector<float> harmonic(1'000'000);
  for (std::size_t i = 0; i < harmonic.size(); ++i) harmonic[i] = 1 / static_cast<float>(i + 1);
  const float sum = upsweep::reduce(device, harmonic);
  show("harmonic series", sum, std::abs(sum - 14.3927f) < 1e-3f);

  // Device memory in and out; the call only enqueues the work.
  std::vector<std::int64_t> squares(1000);
  for (std::size_t i = 0; i < squares.size(); ++i) squares[i] = static_cast<std::int64_t>(i * i);
  const upsweep::Buffer<std::int64_t> in(device, squares);
  upsweep::Buffer<std::int64_t> largest(device, 1);
  upsweep::reduce(device, in, largest, upsweep::Op::max);
  const std::int64_t max = largest.to_vector()[0];
  show("largest square", max, max == 998001);

  // One rung of the ladder, by name.
  upsweep::Device cpu = upsweep::Device::cpu();
  const std::int64_t total = upsweep::reduce(cpu, squares, upsweep::Op::sum, {.rung = "serial"});
  show("sum of squares", total, total == 332833500);

  // A user-defined operator: Fibonacci number 90 as the product of 90 matrices.
  const std::vector<Matrix> steps(90, Matrix{1, 1, 1, 0});
  const Matrix product = upsweep::reduce(cpu, steps, Matrix{1, 0, 0, 1}, multiply);
  show("Fibonacci 90", product[1], product[1] == 2880067194370816120u);

  return all_right ? 0 : 1;
} catch (const upsweep::Error& error) {
  std::cerr << "sums: " << error.what() << (error.hint().empty() ? "" : "\n  " + error.hint()) << '\n';
  return 2;
}
