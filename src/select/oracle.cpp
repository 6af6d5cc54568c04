#include "select/oracle.h"

#include <algorithm>
#include <cstring>

#include "base/oracle.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "select/contract.h"

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

// f(begin, end) over parts of [0, n), on all cores.
void over_parts(std::size_t n, auto&& f) {
  constexpr std::size_t part = 1 << 18;  // elements: long enough that a fork is lost in it
  parallel(static_cast<int>((n + part - 1) / part), 0, [&](int p) {
    const std::size_t begin = static_cast<std::size_t>(p) * part;
    f(begin, std::min(begin + part, n));
  });
}

template <class T, class O>
Input<T, O> input_of(const Problem& p) {
  Input<T, O> in{static_cast<const T*>(p.values), p.flags, p.n, {}};
  if constexpr (has_predicate<O>) in.predicate = {limit_of<T>(p.params)};
  return in;
}

auto visit_input(const Problem& p, auto&& f) {
  return upsweep::visit(p.type, [&]<class T>(TypeTag<T>) {
    return visit_operation(p.op, [&]<class O>(O) { return f(input_of<T, O>(p)); });
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
  const auto* const bytes = static_cast<const std::byte*>(out);
  const auto* const at =
      std::find_if(bytes + count * element, bytes + n * element, [&](std::byte b) { return b != untouched; });
  if (at == bytes + n * element) return std::nullopt;
  return std::string(array) + "[" + std::to_string(static_cast<std::size_t>(at - bytes) / element) +
         "] was written, beyond the " + std::to_string(count) + " that are selected";
}

template <class T, class O>
std::optional<std::string> mistake(const Input<T, O>& in, const void* const* out, std::byte untouched) {
  const auto* const values = static_cast<const T*>(out[0]);
  std::size_t count = 0, last = 0;
  for (std::size_t i = 0; i < in.n; ++i) {
    if (!in.selects(i)) continue;
    if constexpr (O::op == Op::find_repeats) {
      if (auto wrong = position_difference("out[0]", wide(in.n), out[0], count, i)) return wrong;
    } else {
      if (auto wrong = difference("out[0]", count, values[count], in.values[i])) return wrong;
    }
    if constexpr (O::op == Op::run_length_encode) {
      if (count > 0)
        if (auto wrong = position_difference("out[2]", wide(in.n), out[2], count - 1, i - last)) return wrong;
      last = i;
    }
    ++count;
  }
  if (auto wrong = difference("out[1]", 0, *static_cast<const std::uint64_t*>(out[1]), std::uint64_t{count}))
    return wrong;
  const std::size_t position = size_of(position_type(in.n));
  if constexpr (O::op == Op::run_length_encode) {
    if (count > 0)
      if (auto wrong = position_difference("out[2]", wide(in.n), out[2], count - 1, in.n - last)) return wrong;
    if (auto wrong = written_behind("out[2]", out[2], count, in.n, position, untouched)) return wrong;
  }
  if constexpr (O::op == Op::partition_if) {
    std::size_t next = count;
    for (std::size_t i = 0; i < in.n; ++i)
      if (!in.selects(i))
        if (auto wrong = difference("out[0]", next, values[next], in.values[i]); ++next, wrong) return wrong;
    return std::nullopt;
  }
  return written_behind("out[0]", out[0], count, in.n, O::op == Op::find_repeats ? position : sizeof(T), untouched);
}

}  // namespace

std::size_t count_selected(const Problem& problem) {
  return visit_input(problem, [&](const auto& in) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < in.n; ++i) count += in.selects(i);
    return count;
  });
}

std::optional<std::string> find_mistake(const Problem& problem, const void* const* out, std::byte untouched) {
  return visit_input(problem, [&](const auto& in) { return mistake(in, out, untouched); });
}

void plant_share(Type type, Op op, double share, std::uint64_t seed, std::size_t n, void* values) {
  if (op == Op::find_repeats) return plant_runs(type, share < 1 ? 1 / (1 - share) : 0x1p63, seed, n, values);
  const Coin coin(share, seed, planted_stream);
  upsweep::visit(type, [&]<class T>(TypeTag<T>) {
    using B = UnsignedAs<T>;
    constexpr B top = B{1} << (8 * sizeof(T) - 1);
    over_parts(n, [&](std::size_t begin, std::size_t end) {
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
    // From the back, so that a run's first element is still what it was when the others become equal to it.
    T* const at = static_cast<T*>(values);
    for (std::size_t end = n; end > 0;) {
      std::size_t begin = end - 1;
      while (begin > 0 && !begins(begin)) --begin;
      std::fill(at + begin, at + end, at[begin]);
      end = begin;
    }
  });
}

void make_flags(double share, std::uint64_t seed, std::size_t n, std::uint8_t* flags) {
  const Coin coin(share, seed, flags_stream);
  const Random bits(seed, flags_stream + 1);
  over_parts(n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      flags[i] = coin(i) ? static_cast<std::uint8_t>(1 + scale(bits(i), 255)) : std::uint8_t{0};
  });
}

}  // namespace upsweep::ladders::select
