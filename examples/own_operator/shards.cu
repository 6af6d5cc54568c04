// Distributes ten million random keys to 16 shards by a hash, on a GPU; each shard keeps its keys in input order. Exits
// 1 if the result is wrong, 4 without a GPU.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <random>
#include <upsweep/partition.cuh>
#include <vector>

struct Shard {
  UPSWEEP_HD unsigned operator()(std::uint32_t key) const { return key * 2654435769u >> 28; }
};

int main() try {
  upsweep::Device gpu = upsweep::Device::cuda();
  std::vector<std::uint32_t> keys(10'000'000);
  std::mt19937 random(1);
  std::generate(keys.begin(), keys.end(), random);

  const upsweep::Buffer<std::uint32_t> in(gpu, keys);
  upsweep::Buffer<std::uint32_t> out(gpu, keys.size()), offsets(gpu, 17);
  upsweep::partition_by(gpu, in, Shard(), 16, out, offsets);
  const std::vector<std::uint32_t> begins = offsets.to_vector();

  std::stable_sort(keys.begin(), keys.end(), [](auto a, auto b) { return Shard()(a) < Shard()(b); });
  if (out.to_vector() != keys || begins[16] != keys.size()) {
    std::cerr << "the result differs from std::stable_sort\n";
    return 1;
  }
  std::cout << "on " << gpu.name() << "\nkeys per shard:";
  for (unsigned s = 0; s < 16; ++s) std::cout << ' ' << begins[s + 1] - begins[s];
  std::cout << '\n';
  return 0;
} catch (const upsweep::Error& error) {
  std::cerr << "shards: " << error.what() << '\n';
  return error.code() == upsweep::Code::no_device ? 4 : 2;
}
