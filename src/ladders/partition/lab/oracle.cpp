#include "ladders/partition/lab/oracle.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lab/oracle.h"
#include "ladders/partition/binding.h"
#include "ladders/partition/lab/elements.h"

namespace upsweep::ladders::partition {
namespace {

// Calls f(TypeTag<T>{}) with the keys' type.
auto visit_key(Type type, auto&& f) {
  return type == Type::u32 ? f(TypeTag<std::uint32_t>{}) : f(TypeTag<std::uint64_t>{});
}

// Returns a key's bucket by the definition, independently of the rungs' search.
template <class T>
std::size_t bucket_of(T key, const Call& c) {
  if (c.operation.as<Bucketing>() == Bucketing::digit) {
    const Digit digit = partition_scalars.read(c.scalars);
    return static_cast<std::size_t>((static_cast<std::uint64_t>(key) >> digit.first_bit) %
                                    (std::uint64_t{1} << digit.bits));
  }
  const T* const splitters = c.in[2].as<const T>();
  return static_cast<std::size_t>(std::upper_bound(splitters, splitters + c.in[2].count, key) - splitters);
}

std::optional<std::string> wrong_offset(const Truth& truth, const Call& c) {
  const Offsets is{c.out[2].data, size_of(c.out[2].type) == 8};
  for (std::size_t b = 0; b < truth.offsets.size(); ++b)
    if (is.get(b) != truth.offsets[b])
      return wrong_element(b, is.get(b), std::to_string(truth.offsets[b]), 0, "out[2]");
  return std::nullopt;
}

// Compares the outputs element by element. Returns the first mistake, or nullopt.
template <class T>
std::optional<std::string> wrong_place(const Truth& truth, const Call& c) {
  const T *const keys = c.in[0].as<const T>(), *const out = c.out[0].as<const T>();
  const std::size_t bytes = value_bytes(c), buckets = truth.offsets.size() - 1;
  const auto *const values = c.in[1].as<const std::byte>(), *const out_values = c.out[1].as<const std::byte>();
  return first_mistake(c.n(), [&](std::size_t p, std::size_t begin, std::size_t end) -> std::optional<std::string> {
    const auto first = truth.first_places.begin() + static_cast<std::ptrdiff_t>(p * buckets);
    std::vector<std::uint64_t> next(first, first + static_cast<std::ptrdiff_t>(buckets));
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t place = next[bucket_of(keys[i], c)]++;
      if (out[place] != keys[i]) return wrong_element(place, out[place], std::to_string(keys[i]), 0, "out[0]");
      if (bytes && std::memcmp(out_values + place * bytes, values + i * bytes, bytes) != 0)
        return "the value in out[1] beside key " + std::to_string(place) + " is " +
               text_of(out_values + place * bytes, bytes) + ", should be " + text_of(values + i * bytes, bytes);
    }
    return std::nullopt;
  });
}

// Compares the outputs as multisets, bucket by bucket. Returns the first mistake, or nullopt.
template <class T>
std::optional<std::string> wrong_bucket(const Truth& truth, const Call& c) {
  const T *const keys = c.in[0].as<const T>(), *const out = c.out[0].as<const T>();
  const std::size_t bytes = value_bytes(c), buckets = truth.offsets.size() - 1;
  const auto *const values = c.in[1].as<const std::byte>(), *const out_values = c.out[1].as<const std::byte>();
  std::vector<std::uint64_t> hashes(buckets);  // [buckets], expected sums minus actual sums
  for (std::size_t i = 0; i < c.n(); ++i)
    hashes[bucket_of(keys[i], c)] += hash_of(keys[i], bytes ? values + i * bytes : nullptr, bytes);
  for (std::size_t b = 0; b < buckets; ++b) {
    for (std::size_t place = truth.offsets[b]; place < truth.offsets[b + 1]; ++place) {
      if (bucket_of(out[place], c) != b)
        return wrong_element(place, out[place], "a key of bucket " + std::to_string(b), 0, "out[0]");
      hashes[b] -= hash_of(out[place], bytes ? out_values + place * bytes : nullptr, bytes);
    }
    if (hashes[b])
      return "bucket " + std::to_string(b) + " does not hold the keys that belong there" +
             (bytes ? ", each beside its value" : "");
  }
  return std::nullopt;
}

}  // namespace

Truth truth_of(const Call& c) {
  const std::size_t buckets = bucket_count(c), parts = parts_of(c.n());
  Truth truth{std::vector<std::uint64_t>(buckets + 1), std::vector<std::uint64_t>(parts * buckets)};
  visit_key(c.type(), [&]<class T>(TypeTag<T>) {
    for_each_part(c.n(), [&](std::size_t p, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        ++truth.first_places[p * buckets + bucket_of(c.in[0].as<const T>()[i], c)];
    });
  });
  std::uint64_t before = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    truth.offsets[b] = before;
    for (std::size_t p = 0; p < parts; ++p) before += std::exchange(truth.first_places[p * buckets + b], before);
  }
  truth.offsets[buckets] = before;
  return truth;
}

std::optional<std::string> find_mistake(const Truth& truth, const Call& c, Promise promise) {
  if (promise.offsets)
    if (auto wrong = wrong_offset(truth, c)) return wrong;
  return visit_key(c.type(), [&]<class T>(TypeTag<T>) {
    return promise.any_order ? wrong_bucket<T>(truth, c) : wrong_place<T>(truth, c);
  });
}

}  // namespace upsweep::ladders::partition
