// The laboratory's side of partition.
#include <algorithm>
#include <limits>

#include "lab/planted.h"
#include "lab/primitive.h"
#include "lab/rng.h"
#include "ladders/partition/binding.h"
#include "ladders/partition/lab/elements.h"
#include "ladders/partition/lab/oracle.h"
#include "ladders/partition/lab/probes.h"

namespace upsweep {

extern const Contract partition_contract;

namespace ladders::partition {

std::unique_ptr<Streamer> stream(Platform&, const Rung&, const Case&);  // stream.cpp

namespace {

constexpr Parameter shapes[] = {
    value_bytes_shape,
    index_type_shape,
    {.name = "buckets", .meaning = "with splitters", .least = 2, .most = max_buckets, .initial = std::uint64_t{256}},
    distinct_shape};
constexpr std::string_view streamed[] = {"value_bytes"};

constexpr std::uint64_t splitters_stream = 0x706172746974696f;  // a random stream that no other input uses

class PartitionProblem final : public Problem {
 public:
  PartitionProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : Problem(primitive, c, data) {
    if (data.empty() && c.settings.find("distinct"))
      plant_distinct(c.type, c.settings.get<std::uint64_t>("distinct", 1), c.n, values());
    if (by_splitters_) visit_keys([&](const auto* keys) { make_splitters(keys); });
    require_valid();
  }
  std::vector<Array> inputs() const override {
    return {input_array(case_.type, case_.n, values()), values_.array(),
            input_array(case_.type, splitters_.size() / size_of(case_.type), splitters_.data())};
  }
  void choose_outputs(Call& call) const override { call.out[2].type = index_type_of(case_); }
  std::optional<std::string> verify(const Rung& rung, std::span<const void* const> outputs) const override {
    const Call call = host_call(outputs);
    if (!truth_) truth_ = truth_of(call);
    // A peer with another algorithm need not write the offsets.
    const auto* const offsets = static_cast<const std::byte*>(outputs[2]);
    const auto is_poison = [](std::byte b) { return b == poison; };
    const bool untouched = std::all_of(offsets, offsets + call.out[2].bytes(), is_poison);
    return find_mistake(*truth_, call, {.any_order = rung.any_order, .offsets = !(rung.peer && untouched)});
  }

 private:
  template <class F>
  void visit_keys(F&& f) {
    if (case_.type == Type::u32)
      f(static_cast<std::uint32_t*>(values()));
    else
      f(static_cast<std::uint64_t*>(values()));
  }

  // Makes splitters of random keys of the input, as in a sample sort. Duplicates are raised until all splitters differ.
  template <class T>
  void make_splitters(const T* keys) {
    const Random random(case_.seed, splitters_stream);
    const std::size_t count = shape<std::uint64_t>("buckets") - 1;
    std::vector<T> all(count);
    if (case_.n > 0)
      for (std::size_t k = 0; k < count; ++k) all[k] = keys[scale(random(k), std::min<std::size_t>(case_.n, 1u << 31))];
    std::sort(all.begin(), all.end());
    constexpr T top = std::numeric_limits<T>::max();
    T least = 1;
    for (T& splitter : all) {
      splitter = std::max(splitter, least);
      least = static_cast<T>(splitter + (splitter < top));
    }
    // Lowers splitters that would exceed the type's range.
    for (std::size_t k = 0; k < count; ++k) all[count - 1 - k] = std::min(all[count - 1 - k], static_cast<T>(top - k));
    splitters_.resize(count * sizeof(T));
    std::copy_n(reinterpret_cast<const std::byte*>(all.data()), splitters_.size(), splitters_.data());
  }

  const bool by_splitters_ = case_.operation == Operation(Bucketing::splitters);
  const MadeValues values_{"partition", shape<std::uint64_t>("value_bytes"), case_.n};
  std::vector<std::byte> splitters_;
  mutable std::optional<Truth> truth_;  // computed on first use
};

}  // namespace
}  // namespace ladders::partition

extern const Primitive partition_primitive{
    .contract = partition_contract,
    .types =
        [] {
          return std::vector{Type::u32, Type::u64};
        },
    .shapes = ladders::partition::shapes,
    .streamed = ladders::partition::streamed,
    // Two buckets and the maximum; digits at both ends of the key; values of every width; few distinct keys.
    .variants =
        [](const Primitive& p, Type type) {
          const auto from_top = [=](std::size_t bits) { return std::to_string(8 * size_of(type) - bits); };
          return std::vector<Settings>{
              {},
              p.settings(type, {{"bits", "1"}, {"first_bit", from_top(1)}, {"buckets", "2"}, {"value_bytes", "4"}}),
              p.settings(
                  type,
                  {{"bits", "4"}, {"first_bit", "3"}, {"buckets", "3"}, {"value_bytes", "8"}, {"index_type", "i32"}}),
              p.settings(type, {{"bits", "10"}, {"buckets", "1000"}, {"value_bytes", "16"}, {"index_type", "i64"}}),
              p.settings(type, {{"bits", "8"}, {"first_bit", from_top(8)}, {"distinct", "5"}, {"value_bytes", "4"}}),
              p.settings(type, {{"bits", "11"}, {"first_bit", "2"}, {"buckets", "2048"}, {"index_type", "u64"}}),
              p.settings(type, {{"bits", "12"}, {"first_bit", from_top(12)}, {"buckets", "4097"}}),
              p.settings(type, {{"bits", "15"}, {"first_bit", "1"}, {"buckets", "32768"}, {"value_bytes", "8"}})};
        },
    .fixed_length =
        [](const Settings& settings) {
          return std::max(std::size_t{1} << settings.get<std::uint64_t>("bits", 8),
                          std::size_t{settings.get<std::uint64_t>("buckets", 256)});
        },
    .probes = ladders::partition::probes,
    .problem = &make_problem<ladders::partition::PartitionProblem>,
    .stream = &ladders::partition::stream,
};

}  // namespace upsweep
