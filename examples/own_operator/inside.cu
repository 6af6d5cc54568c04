// Stable partition of ten million random points on a GPU: those inside a circle first, then the others. The number of
// points inside estimates pi. Exits 1 if the result is wrong, 4 without a GPU.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <random>
#include <upsweep/select.cuh>
#include <vector>

struct Point {
  std::int32_t x, y;
  bool operator==(const Point&) const = default;
};

struct Inside {
  std::int32_t radius;
  UPSWEEP_HD bool operator()(Point p) const { return p.x * p.x + p.y * p.y < radius * radius; }
};

int main() try {
  constexpr std::int32_t radius = 20'000;
  upsweep::Device gpu = upsweep::Device::cuda();
  std::vector<Point> points(10'000'000);
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int32_t> coordinate(-radius, radius);
  for (Point& p : points) p = {coordinate(random), coordinate(random)};

  const upsweep::Buffer<Point> in(gpu, points);
  upsweep::Buffer<Point> out(gpu, points.size());
  upsweep::Buffer<std::uint64_t> count(gpu, 1);
  upsweep::partition_if(gpu, in, Inside{radius}, out, count);
  const std::uint64_t inside = count.to_vector()[0];

  const auto middle = std::stable_partition(points.begin(), points.end(), Inside{radius});
  if (inside != static_cast<std::uint64_t>(middle - points.begin()) || out.to_vector() != points) {
    std::cerr << "the result differs from std::stable_partition\n";
    return 1;
  }
  std::cout << "on " << gpu.name() << "\npi is about " << 4.0 * double(inside) / double(points.size()) << '\n';
  return 0;
} catch (const upsweep::Error& error) {
  std::cerr << "inside: " << error.what() << '\n';
  return error.code() == upsweep::Code::no_device ? 4 : 2;
}
