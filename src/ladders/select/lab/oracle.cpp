#include "ladders/select/lab/oracle.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "lab/oracle.h"
#include "cpu/parallel.h"
#include "lab/rng.h"
#include "ladders/select/contract.h"

namespace upsweep::ladders::select {
namespace {

// Streams of the generator apart from those of the named inputs, so that what is planted does not follow the values.
constexpr std::uint64_t planted_stream = 0x73656c6563740001, flags_stream = 0x73656c6563740002;

// One word an element: below the threshold with this probability.
class Coin {
 public:
  Coin(double share, std::uint64_t seed, std::uint64_t stream)
      : random_(seed, stream),
        threshold_(share >= 1 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(share * 0x1p64)) {}
  bool operator()(std::uint64_t i) const { return random_(i) < threshold_; }

 private:
  Random random_;
  std::uint64_t threshold_;
};

// Arrays of more than 2^32 elements are looked through too: in parts, on all cores.
constexpr std::size_t part_size = 1 << 18;  // elements: long enough that a fork is lost in it
constexpr std::size_t parts_of(std::size_t n) { return (n + part_size - 1) / part_size; }
// f(p, begin, end) of each.
void for_each_part(std::size_t n, auto&& f) {
  parallel(static_cast<int>(parts_of(n)), 0, [&](int p) {
    const std::size_t begin = static_cast<std::size_t>(p) * part_size;
    f(static_cast<std::size_t>(p), begin, std::min(begin + part_size, n));
  });
}
// What find(begin, end) finds wrong in the first part that has something wrong.
std::optional<std::string> first_mistake(std::size_t n, auto&& find) {
  std::vector<std::optional<std::string>> mistakes(parts_of(n));
  for_each_part(n, [&](std::size_t p, std::size_t begin, std::size_t end) { mistakes[p] = find(p, begin, end); });
  for (auto& mistake : mistakes)
    if (mistake) return mistake;
  return std::nullopt;
}

template <class T, class O>
Input<T, O> input_of(const Problem& p) {
  Input<T, O> in{static_cast<const T*>(p.values), p.flags, p.n, {}};
  if constexpr (has_predicate<O>) in.predicate = {p.below.as<T>()};
  return in;
}

auto visit_input(const Problem& p, auto&& f) {
  return upsweep::visit(p.type, [&]<class T>(TypeTag<T>) {
    return visit_selection(p.selection, [&]<class O>(O) { return f(input_of<T, O>(p)); });
  });
}

// The same bits, so that a zero has its sign and a NaN its payload: elements are moved, not computed.
template <class T>
std::optional<std::string> difference(const char* array, std::size_t i, T is, T should) {
  if (std::memcmp(&is, &should, sizeof(T)) == 0) return std::nullopt;
  return std::string(array) + "[" + std::to_string(i) + "] is " + show(is) + ", should be " + show(should);
}

std::optional<std::string> position_difference(const char* array, bool wide, const void* positions, std::size_t i,
                                               std::size_t should) {
  if (wide) return difference(array, i, static_cast<const std::uint64_t*>(positions)[i], std::uint64_t{should});
  return difference(array, i, static_cast<const std::uint32_t*>(positions)[i], static_cast<std::uint32_t>(should));
}

std::optional<std::string> written_behind(const char* array, const void* out, std::size_t count, std::size_t n,
                                          std::size_t element, std::byte untouched) {
  const auto* const behind = static_cast<const std::byte*>(out) + count * element;
  return first_mistake(
      (n - count) * element, [&](std::size_t, std::size_t begin, std::size_t end) -> std::optional<std::string> {
        const auto* const at = std::find_if(behind + begin, behind + end, [&](std::byte b) { return b != untouched; });
        if (at == behind + end) return std::nullopt;
        return std::string(array) + "[" + std::to_string(count + static_cast<std::size_t>(at - behind) / element) +
               "] was written, beyond the " + std::to_string(count) + " that are selected";
      });
}

// What is selected before an element: how many, and the position of the last of them.
struct Before {
  std::size_t count = 0, last = 0;
};
// Before each part, and behind the last.
template <class T, class O>
std::vector<Before> before_parts(const Input<T, O>& in) {
  std::vector<Before> before(parts_of(in.n) + 1);
  for_each_part(in.n, [&](std::size_t p, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (in.selects(i)) before[p + 1] = {before[p + 1].count + 1, i};
  });
  for (std::size_t p = 1; p < before.size(); ++p) {
    if (before[p].count == 0) before[p].last = before[p - 1].last;
    before[p].count += before[p - 1].count;
  }
  return before;
}

template <class T, class O>
std::optional<std::string> mistake(const Input<T, O>& in, const void* const* out, std::byte untouched) {
  const std::vector<Before> before_part = before_parts(in);
  const auto [all, last_of_all] = before_part.back();
  const auto* const values = static_cast<const T*>(out[0]);
  if (auto wrong = difference("out[1]", 0, *static_cast<const std::uint64_t*>(out[1]), std::uint64_t{all}))
    return wrong;
  auto wrong =
      first_mistake(in.n, [&](std::size_t p, std::size_t begin, std::size_t end) -> std::optional<std::string> {
        auto [count, last] = before_part[p];
        for (std::size_t i = begin; i < end; ++i) {
          if (!in.selects(i)) {
            if constexpr (writes_rest<O>)
              if (auto wrong = difference("out[0]", all + i - count, values[all + i - count], in.values[i]))
                return wrong;
            continue;
          }
          if constexpr (writes_positions<O>) {
            if (auto wrong = position_difference("out[0]", wide(in.n), out[0], count, i)) return wrong;
          } else {
            if (auto wrong = difference("out[0]", count, values[count], in.values[i])) return wrong;
          }
          if constexpr (writes_lengths<O>) {
            if (count > 0)
              if (auto wrong = position_difference("out[2]", wide(in.n), out[2], count - 1, i - last)) return wrong;
            last = i;
          }
          ++count;
        }
        return std::nullopt;
      });
  if (wrong || writes_rest<O>) return wrong;
  const std::size_t position = size_of(position_type(in.n));
  if constexpr (writes_lengths<O>) {
    if (all > 0)
      if (auto wrong = position_difference("out[2]", wide(in.n), out[2], all - 1, in.n - last_of_all)) return wrong;
    if (auto wrong = written_behind("out[2]", out[2], all, in.n, position, untouched)) return wrong;
  }
  return written_behind("out[0]", out[0], all, in.n, writes_positions<O> ? position : sizeof(T), untouched);
}

}  // namespace

std::size_t count_selected(const Problem& problem) {
  return visit_input(problem, [&](const auto& in) { return before_parts(in).back().count; });
}

std::optional<std::string> find_mistake(const Problem& problem, const void* const* out, std::byte untouched) {
  return visit_input(problem, [&](const auto& in) { return mistake(in, out, untouched); });
}

void plant_share(Type type, Selection selection, double share, std::uint64_t seed, std::size_t n, void* values) {
  if (traits(selection).positions) return plant_runs(type, share < 1 ? 1 / (1 - share) : 0x1p63, seed, n, values);
  const Coin coin(share, seed, planted_stream);
  upsweep::visit(type, [&]<class T>(TypeTag<T>) {
    using B = UnsignedAs<T>;
    constexpr B top = B{1} << (8 * sizeof(T) - 1);
    for_each_part(n, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        // Below the middle: the top bit set where it is a sign, and clear where it is not.
        B bits;
        std::memcpy(&bits, static_cast<T*>(values) + i, sizeof bits);
        bits = static_cast<B>(coin(i) == std::is_signed_v<T> ? bits | top : bits & ~top);
        std::memcpy(static_cast<T*>(values) + i, &bits, sizeof bits);
      }
    });
  });
}

void plant_runs(Type type, double mean, std::uint64_t seed, std::size_t n, void* values) {
  const Coin begins(1 / mean, seed, planted_stream);
  upsweep::visit(type, [&]<class T>(TypeTag<T>) {
    T* const at = static_cast<T*>(values);
    const auto is_first = [&](std::size_t i) { return i == 0 || begins(i); };
    // Where the run begins that is under way at the end of each part; a run's first element is never written, and may
    // be read by all.
    std::vector<std::size_t> first(parts_of(n));
    for_each_part(n, [&](std::size_t p, std::size_t begin, std::size_t end) {
      while (end > begin && !is_first(end - 1)) --end;
      first[p] = end > begin ? end - 1 : n;
    });
    for (std::size_t p = 1; p < first.size(); ++p)
      if (first[p] == n) first[p] = first[p - 1];
    for_each_part(n, [&](std::size_t p, std::size_t begin, std::size_t end) {
      T value = at[p > 0 ? first[p - 1] : 0];
      for (std::size_t i = begin; i < end; ++i) {
        if (is_first(i))
          value = at[i];
        else
          at[i] = value;
      }
    });
  });
}

void make_flags(double share, std::uint64_t seed, std::size_t n, std::uint8_t* flags) {
  const Coin coin(share, seed, flags_stream);
  const Random bits(seed, flags_stream + 1);
  for_each_part(n, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      flags[i] = coin(i) ? static_cast<std::uint8_t>(1 + scale(bits(i), 255)) : std::uint8_t{0};
  });
}

}  // namespace upsweep::ladders::select
