#include "ladders/sort/lab/oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "lab/oracle.h"
#include "ladders/partition/lab/elements.h"
#include "ladders/sort/binding.h"

namespace upsweep::ladders::sort {
namespace {

// The floats that compare equal to each other: the two zeros and all NaN, only the zeros, or none.
struct Equal {
  bool zeros, nans;
  explicit Equal(const Call& c, bool as_cub = false)
      : zeros(as_cub || sort_scalars.read(c.scalars).float_order == FloatOrder::by_value), nans(zeros && !as_cub) {}
};

// Returns a key's rank, by definition. For integers, that is the number of smaller values of the type. For floats,
// negative ones come first, by descending magnitude, then the others, by ascending magnitude.
template <class T>
std::uint64_t rank_of(T key, Equal equal) {
  if constexpr (is_floating<T>) {
    constexpr std::uint64_t magnitudes = std::uint64_t{1} << (8 * sizeof(T) - 1);
    if (equal.zeros && key == 0) return magnitudes;
    if (equal.nans && std::isnan(key)) return magnitudes - 1 + magnitudes;
    const std::uint64_t magnitude = std::bit_cast<UnsignedAs<T>>(key) % magnitudes;
    return std::signbit(key) ? magnitudes - 1 - magnitude : magnitudes + magnitude;
  } else {
    return static_cast<std::uint64_t>(key) - static_cast<std::uint64_t>(std::numeric_limits<T>::min());
  }
}

// Extracts the compared bits of a rank.
std::uint64_t compared(std::uint64_t rank, const Call& c) {
  const Sorting how = sort_scalars.read(c.scalars);
  const std::uint64_t first = how.first_bit, count = *how.bits;
  return rank >> first & (count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0});
}

std::string text_of(Type type, const std::byte* key) {
  return visit_any(type, [&]<class T>(TypeTag<T>) {
    T value;
    std::memcpy(&value, key, sizeof value);
    if (!is_floating<T>) return show(value);
    char bits[24];
    std::snprintf(bits, sizeof bits, " (0x%llx)", static_cast<unsigned long long>(std::bit_cast<UnsignedAs<T>>(value)));
    return show(value) + bits;
  });
}

// The elements of a call's inputs and outputs. An output that the call lacks has 0 bytes per element.
struct Elements {
  explicit Elements(const Call& c)
      : type(c.type()),
        key_bytes(size_of(c.type())),
        out_bytes(c.out[0].count ? key_bytes : 0),
        value_bytes(sort::value_bytes(c)),
        keys(c.in[0].as<const std::byte>()),
        values(wants_indices(c) ? nullptr : c.in[1].as<const std::byte>()),
        out(c.out[0].as<const std::byte>()),
        out_values(c.out[1].as<const std::byte>()) {}

  const std::byte* key(std::size_t i) const { return keys + i * key_bytes; }
  // Returns value i; if indices are requested, the index itself, stored in `room`.
  const std::byte* value(std::size_t i, std::uint64_t& room) const {
    if (values) return values + i * value_bytes;
    if (value_bytes == 8) return reinterpret_cast<const std::byte*>(&(room = i));
    const auto narrow = static_cast<std::uint32_t>(i);
    std::memcpy(&room, &narrow, sizeof narrow);
    return reinterpret_cast<const std::byte*>(&room);
  }
  const std::byte* out_key(std::size_t i) const { return out + i * out_bytes; }
  const std::byte* out_value(std::size_t i) const { return out_values + i * value_bytes; }

  Type type;
  std::size_t key_bytes, out_bytes, value_bytes;
  const std::byte *keys, *values, *out, *out_values;
};

// Returns the mistake at position i, where the input's element `index` belongs; nullopt if there is none.
std::optional<std::string> wrong_place(const Elements& e, std::size_t i, std::size_t index) {
  if (e.out_bytes && std::memcmp(e.out_key(i), e.key(index), e.key_bytes) != 0)
    return "out[0][" + std::to_string(i) + "] is " + text_of(e.type, e.out_key(i)) + ", should be " +
           text_of(e.type, e.key(index));
  std::uint64_t room;
  if (e.value_bytes && std::memcmp(e.out_value(i), e.value(index, room), e.value_bytes) != 0)
    return "out[1][" + std::to_string(i) + "] is " + partition::text_of(e.out_value(i), e.value_bytes) +
           ", should be " + partition::text_of(e.value(index, room), e.value_bytes);
  return std::nullopt;
}

std::uint64_t hash_of(const std::byte* key, std::size_t key_bytes, const std::byte* value, std::size_t value_bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, key, key_bytes);
  return partition::hash_of(word, value, value_bytes);
}

// Checks that positions [begin, end) hold the right keys, each with its value, in any order.
std::optional<std::string> wrong_group(const Elements& e, const Truth& truth, std::size_t begin, std::size_t end) {
  std::uint64_t hashes = 0, room;
  for (std::size_t i = begin; i < end; ++i) {
    const std::size_t index = truth[i].index;
    hashes += hash_of(e.key(index), e.out_bytes, e.value(index, room), e.value_bytes);
    hashes -= hash_of(e.out_key(i), e.out_bytes, e.out_value(i), e.value_bytes);
  }
  if (hashes == 0) return std::nullopt;
  return "positions " + std::to_string(begin) + " to " + std::to_string(end - 1) +
         " do not hold the keys that belong there" + (e.value_bytes ? ", each beside its value" : "");
}

bool in_order(std::uint64_t left, std::uint64_t right, bool descending) {
  return descending ? left >= right : left <= right;
}

// True if a comes before b in the contract's order by all bits, in which NaN comes last.
template <class T>
bool is_before(T a, T b) {
  if (std::isnan(a)) return false;
  return std::isnan(b) || a < b;
}

// Checks that zeros, and NaN, keep the input's order. The output's keys are already known to be sorted.
template <class T>
std::optional<std::string> wrong_equal_keys(const T* keys, const T* out, std::size_t n) {
  std::size_t zero = 0, nan = 0;  // output positions of the next zero and the next NaN
  while (zero < n && !(out[zero] == 0)) ++zero;
  while (nan < n && !std::isnan(out[nan])) ++nan;
  for (std::size_t i = 0; i < n; ++i) {
    if (keys[i] != 0 && !std::isnan(keys[i])) continue;
    const std::size_t at = keys[i] == 0 ? zero++ : nan++;
    if (std::memcmp(&keys[i], &out[at], sizeof(T)) != 0)
      return "out[0][" + std::to_string(at) + "] is not in[0][" + std::to_string(i) + "], the next of its equals";
  }
  return std::nullopt;
}

template <class T>
std::optional<std::string> wrong_keys(const Call& c, bool any_order, Equal equal) {
  const T *const keys = c.in[0].as<const T>(), *const out = c.out[0].as<const T>();
  const bool descending = c.operation.as<Order>() == Order::descending;
  std::vector<std::uint64_t> hashes(parts_of(c.n()));  // per part: the input's hashes minus the output's
  auto mistake = first_mistake(c.n(), [&](std::size_t p, std::size_t begin, std::size_t end) {
    std::optional<std::string> wrong;
    for (std::size_t i = begin; i < end && !wrong; ++i) {
      const T left = out[i > 0 ? i - 1 : 0];
      if (!in_order(rank_of(left, equal), rank_of(out[i], equal), descending))
        wrong = wrong_element(i, out[i], std::string(descending ? "at most " : "at least ") + show(left), 0, "out[0]");
      hashes[p] += partition::hash_of(std::bit_cast<UnsignedAs<T>>(keys[i]), nullptr, 0);
      hashes[p] -= partition::hash_of(std::bit_cast<UnsignedAs<T>>(out[i]), nullptr, 0);
    }
    return wrong;
  });
  if (!mistake && std::accumulate(hashes.begin(), hashes.end(), std::uint64_t{0}) != 0)
    mistake = "out[0] does not hold the input's keys";
  if constexpr (is_floating<T>)
    if (!mistake && !any_order && equal.nans) return wrong_equal_keys(keys, out, c.n());
  return mistake;
}

template <class T>
std::optional<std::string> wrong_indices(const Call& c, Equal equal) {
  const Elements e(c);
  const T* const keys = c.in[0].as<const T>();
  const bool descending = c.operation.as<Order>() == Order::descending;
  const multisplit::Offsets indices{c.out[1].data, size_of(c.out[1].type) == 8};
  return first_mistake(c.n(), [&](std::size_t, std::size_t begin, std::size_t end) -> std::optional<std::string> {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t left = indices.get(i > 0 ? i - 1 : 0), index = indices.get(i);
      if (index >= c.n()) return wrong_element(i, index, "less than " + std::to_string(c.n()), 0, "out[1]");
      if (auto wrong = wrong_place(e, i, index)) return wrong;
      if (i == 0 || left >= c.n()) continue;  // reported at the previous position
      const std::uint64_t before = compared(rank_of(keys[left], equal), c);
      const std::uint64_t rank = compared(rank_of(keys[index], equal), c);
      if (before == rank ? left >= index : !in_order(before, rank, descending))
        return "the keys of the indices " + std::to_string(left) + " and " + std::to_string(index) + " at out[1][" +
               std::to_string(i - 1) + "] and after it are not in order";
    }
    return std::nullopt;
  });
}

}  // namespace

namespace {

// Sorts stably by before(a, b), on all cores.
template <class Before>
void sort_truth(Truth& truth, Before&& before) {
  const auto at = [&](std::size_t i) { return truth.begin() + static_cast<std::ptrdiff_t>(std::min(i, truth.size())); };
  for_each_part(truth.size(),
                [&](std::size_t, std::size_t begin, std::size_t end) { std::stable_sort(at(begin), at(end), before); });
  for (std::size_t sorted = part_size; sorted < truth.size(); sorted *= 2)
    parallel(static_cast<int>((truth.size() + 2 * sorted - 1) / (2 * sorted)), 0, [&](int pair) {
      const std::size_t first = 2 * sorted * static_cast<std::size_t>(pair);
      std::inplace_merge(at(first), at(first + sorted), at(first + 2 * sorted), before);
    });
}

// Returns the truth for floats compared by value. A key's rank is then the number of keys that come before it.
template <class T>
Truth truth_by_value(const Call& c) {
  const T* const keys = c.in[0].as<const T>();
  const bool descending = c.operation.as<Order>() == Order::descending;
  Truth truth(c.n());
  for (std::size_t i = 0; i < c.n(); ++i) truth[i].index = i;
  const auto before = [=](const Ranked& a, const Ranked& b) {
    return descending ? is_before(keys[b.index], keys[a.index]) : is_before(keys[a.index], keys[b.index]);
  };
  sort_truth(truth, before);
  for (std::size_t i = 1; i < c.n(); ++i) truth[i].rank = before(truth[i - 1], truth[i]) ? i : truth[i - 1].rank;
  return truth;
}

}  // namespace

Truth truth_of(const Call& c, bool as_cub) {
  const Equal equal(c, as_cub);
  const bool whole = *sort_scalars.read(c.scalars).bits == 8 * size_of(c.type());
  if (whole && equal.nans && c.type() == Type::f32) return truth_by_value<float>(c);
  if (whole && equal.nans && c.type() == Type::f64) return truth_by_value<double>(c);
  Truth truth(c.n());
  visit_any(c.type(), [&]<class T>(TypeTag<T>) {
    for_each_part(c.n(), [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) truth[i] = {compared(rank_of(c.in[0].as<const T>()[i], equal), c), i};
    });
  });
  const bool descending = c.operation.as<Order>() == Order::descending;
  sort_truth(truth, [=](const Ranked& a, const Ranked& b) { return descending ? a.rank > b.rank : a.rank < b.rank; });
  return truth;
}

std::optional<std::string> find_mistake(const Truth& truth, const Call& c, bool any_order) {
  const Elements e(c);
  if (!any_order)
    return first_mistake(c.n(), [&](std::size_t, std::size_t begin, std::size_t end) -> std::optional<std::string> {
      for (std::size_t i = begin; i < end; ++i)
        if (auto wrong = wrong_place(e, i, truth[i].index)) return wrong;
      return std::nullopt;
    });
  for (std::size_t begin = 0, end; begin < c.n(); begin = end) {
    for (end = begin; end < c.n() && truth[end].rank == truth[begin].rank;) ++end;
    if (auto wrong = wrong_group(e, truth, begin, end)) return wrong;
  }
  return std::nullopt;
}

bool proves_itself(const Call& c, bool any_order) {
  if (wants_indices(c)) return !any_order;
  return value_bytes(c) == 0 && *sort_scalars.read(c.scalars).bits == 8 * size_of(c.type());
}

std::optional<std::string> find_disorder(const Call& c, bool any_order, bool as_cub) {
  const Equal equal(c, as_cub);
  return visit_any(c.type(), [&]<class T>(TypeTag<T>) {
    return wants_indices(c) ? wrong_indices<T>(c, equal) : wrong_keys<T>(c, any_order, equal);
  });
}

}  // namespace upsweep::ladders::sort
