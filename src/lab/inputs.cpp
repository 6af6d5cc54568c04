#include "lab/inputs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "lab/rng.h"
#include "upsweep/error.h"

namespace upsweep {
namespace {

// clang-format off
enum class Kind : std::uint8_t {
  uniform, constant, all_same, two_valued, sorted, reversed, zipf, random_walk, permutation, alternating_extremes,
  near_one,
  cancellation, denormals, nan, inf, wide, signed_zeros, minus_zeros, specials  // floats only
};
constexpr std::array<std::string_view, 19> names{
    "uniform", "constant", "all_same", "two_valued", "sorted", "reversed", "zipf", "random_walk", "permutation",
    "alternating_extremes", "near_one",
    "cancellation", "denormals", "nan", "inf", "wide", "signed_zeros", "minus_zeros", "specials"};
// clang-format on

std::span<const std::string_view> names_for(Type type) {
  return std::span(names).first(is_float(type) ? names.size() : static_cast<std::size_t>(Kind::cancellation));
}

Kind find(std::string_view name, Type type) {
  const auto known = names_for(type);
  const auto it = std::find(known.begin(), known.end(), name);
  if (it != known.end()) return static_cast<Kind>(it - known.begin());
  std::string hint = "inputs of this type:";
  for (std::string_view n : known) hint.append(" ").append(n);
  throw Error(Code::invalid_argument,
              "no input is named '" + std::string(name) + "' for type " + std::string(to_string(type)), hint);
}

// Random streams of one seed (rng.h).
constexpr std::uint64_t element_stream = 0;  // 64 bits per element
constexpr std::uint64_t input_stream = 1;    // a few words per input

template <class T>
struct Bits;
template <>
struct Bits<float> {
  using type = std::uint32_t;
  static constexpr int exponent = 8, mantissa = 23;
};
template <>
struct Bits<double> {
  using type = std::uint64_t;
  static constexpr int exponent = 11, mantissa = 52;
};

// Maps 64 random bits to a value of `uniform`; monotonic in `bits`.
template <class T>
T from_bits(std::uint64_t bits) {
  const std::int64_t centred = static_cast<std::int64_t>(bits ^ std::uint64_t{1} << 63);
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(centred >> 40) * 0x1p-23f;
  else if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(centred >> 11) * 0x1p-52;
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>(centred >> (64 - 8 * sizeof(T)));
  else
    return static_cast<T>(bits >> (64 - 8 * sizeof(T)));
}

// Sets out[k] = value(first + k, the 64 random bits of element first + k).
template <class T, class Value>
void each(std::uint64_t seed, std::size_t first, std::span<T> out, Value&& value) {
  const Random random(seed, element_stream);
  std::size_t k = 0;
  if (first % 2 && !out.empty()) out[k++] = value(first, random(first));
  for (; k + 2 <= out.size(); k += 2) {
    const Random::Pair p = random.pair((first + k) / 2);
    out[k] = value(first + k, p.even);
    out[k + 1] = value(first + k + 1, p.odd);
  }
  if (k < out.size()) out[k] = value(first + k, random(first + k));
}

// Zipf's law with exponent 1 over `ranks` ranks, one table look-up per draw: the alias method, Walker 1977, Vose 1991.
// Uses only +, -, * and / on doubles, so the table is the same on every machine.
class Zipf {
 public:
  explicit Zipf(std::size_t ranks) : keep_(ranks), alias_(ranks) {
    double total = 0;
    for (std::size_t k = ranks; k-- > 0;) total += 1.0 / static_cast<double>(k + 1);
    std::vector<double> share(ranks);  // relative to a column of height 1
    std::vector<std::uint32_t> small, large;
    for (std::size_t k = 0; k < ranks; ++k) {
      share[k] = static_cast<double>(ranks) / (static_cast<double>(k + 1) * total);
      (share[k] < 1 ? small : large).push_back(static_cast<std::uint32_t>(k));
    }
    while (!small.empty() && !large.empty()) {
      const std::uint32_t s = small.back(), l = large.back();
      small.pop_back();
      set(s, share[s], l);
      share[l] -= 1 - share[s];
      if (share[l] < 1) {
        large.pop_back();
        small.push_back(l);
      }
    }
    for (const auto& rest : {small, large})
      for (std::uint32_t k : rest) set(k, 1, k);
  }
  std::uint32_t operator()(std::uint64_t bits) const {
    const std::uint64_t column = scale(bits, keep_.size());
    return static_cast<std::uint32_t>(bits) < keep_[column] ? static_cast<std::uint32_t>(column) : alias_[column];
  }

 private:
  void set(std::uint32_t k, double share, std::uint32_t alias) {
    keep_[k] = static_cast<std::uint32_t>(std::min(share * 0x1p32, 0x1p32 - 1));
    alias_[k] = alias;
  }
  std::vector<std::uint32_t> keep_, alias_;
};

template <class T>
const Zipf& zipf_for() {
  static const Zipf table([] {
    if constexpr (sizeof(T) <= 2)
      return std::size_t{std::numeric_limits<T>::max()} + 1;
    else
      return std::size_t{1} << 16;
  }());
  return table;
}

// A bijection of [0, n) chosen by the seed: a Feistel network on the fewest bits that hold n - 1, with cycle walking
// (Black and Rogaway, 2002): it is iterated until the value is back in range, fewer than 2 times on average.
class Permutation {
 public:
  Permutation(std::size_t n, std::uint64_t seed)
      : n_(n), low_bits_(std::bit_width(n ? n - 1 : 0) / 2), high_bits_(std::bit_width(n ? n - 1 : 0) - low_bits_) {
    const Random random(seed, input_stream);
    for (std::size_t r = 0; r < key_.size(); ++r) key_[r] = random(r);
  }
  std::uint64_t operator()(std::uint64_t i) const {
    do i = step(i);
    while (i >= n_);
    return i;
  }

 private:
  // Six rounds: a strong pseudorandom permutation needs four (Luby and Rackoff, 1988), and small n needs a margin.
  std::uint64_t step(std::uint64_t i) const {
    int right_bits = low_bits_, left_bits = high_bits_;
    for (std::uint64_t key : key_) {
      const std::uint64_t right = i & ((std::uint64_t{1} << right_bits) - 1), left = i >> right_bits;
      const std::uint64_t mixed = (left ^ mix(right ^ key)) & ((std::uint64_t{1} << left_bits) - 1);
      i = right << left_bits | mixed;
      std::swap(left_bits, right_bits);
    }
    return i;
  }
  static std::uint64_t mix(std::uint64_t x) {  // splitmix64's finaliser; Steele, Lea and Flood, 2014
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
  }
  std::uint64_t n_;
  int low_bits_, high_bits_;
  std::array<std::uint64_t, 6> key_;
};

template <class T>
void fill_random_walk(std::uint64_t seed, std::size_t first, std::span<T> out) {
  const auto step = [](std::uint64_t bits) -> std::int64_t {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<std::int64_t>(bits) >> 40;  // multiples of 2^-23
    else
      return static_cast<std::int64_t>(scale(bits, 33)) - 16;
  };
  // Positions are integers, so the walk is exact; it cannot overflow before 2^39 steps.
  const Random random(seed, element_stream);
  std::int64_t position = 0;
  for (std::size_t i = 0; i < first; ++i) position += step(random(i));
  each(seed, first, out, [&](std::size_t, std::uint64_t bits) {
    position += step(bits);
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(static_cast<double>(position) * 0x1p-23);
    else
      return static_cast<T>(position);
  });
}

// Fills with `uniform`, but with special(bits) at one index drawn from the seed and at about 1 in 1024 others.
template <class T, class Special>
void fill_sprinkled(std::size_t n, std::uint64_t seed, std::size_t first, std::span<T> out, Special&& special) {
  const std::uint64_t always = Random(seed, input_stream)(0) % n;
  each(seed, first, out, [&](std::size_t i, std::uint64_t bits) {
    return i == always || bits % 1024 == 0 ? special(bits) : from_bits<T>(bits);
  });
}

template <class T>
void fill_float(Kind kind, std::size_t n, std::uint64_t seed, std::size_t first, std::span<T> out) {
  using Word = typename Bits<T>::type;
  constexpr int mantissa_bits = Bits<T>::mantissa;
  constexpr Word mantissa_mask = (Word{1} << mantissa_bits) - 1;
  constexpr Word max_exponent = (Word{1} << Bits<T>::exponent) - 1;  // the exponent of infinities and NaNs
  constexpr int word_bits = 8 * sizeof(Word);
  const auto assemble = [=](bool negative, Word exponent, std::uint64_t bits) {
    return std::bit_cast<T>(static_cast<Word>(Word{negative} << (word_bits - 1) | exponent << mantissa_bits |
                                              (static_cast<Word>(bits) & mantissa_mask)));
  };
  switch (kind) {
    case Kind::cancellation: {
      const Random random(seed, element_stream);
      return each(seed, first, out, [&](std::size_t i, std::uint64_t bits) {
        const std::size_t mirror = n - 1 - i, pair = std::min(i, mirror);
        if (pair % 16 == 0 || i == mirror) return from_bits<T>(bits);
        const std::uint64_t shared = random(pair);
        constexpr int digits = mantissa_bits + 1;
        constexpr Word bias = max_exponent / 2;
        // Takes the exponent from bits that the mantissa does not use.
        const Word exponent = bias + digits + static_cast<Word>((shared >> 53) % (2 * digits));
        return assemble(((shared >> 52) & 1) != (i < mirror), exponent, shared);
      });
    }
    case Kind::denormals:
      return each(seed, first, out, [&](std::size_t, std::uint64_t bits) {
        return assemble(bits >> 63, 0, bits & mantissa_mask ? bits : 1);
      });
    case Kind::nan:
      return fill_sprinkled(n, seed, first, out, [](std::uint64_t) { return std::numeric_limits<T>::quiet_NaN(); });
    case Kind::inf:
      return fill_sprinkled(n, seed, first, out, [](std::uint64_t bits) {
        return bits >> 63 ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
      });
    case Kind::wide:
      return each(seed, first, out, [&](std::size_t, std::uint64_t bits) {
        return assemble(bits >> 63, static_cast<Word>((bits >> 52 & 0x7FF) * (max_exponent - 34) >> 11), bits);
      });
    case Kind::specials:
      return each(seed, first, out, [&](std::size_t, std::uint64_t bits) {
        const bool negative = bits >> 63;
        switch (bits >> 60 & 7) {
          case 0:
            return negative ? -T{0} : T{0};
          case 1:
            return assemble(negative, max_exponent, 0);
          case 2:
            return assemble(negative, max_exponent, Word{1} << (mantissa_bits - 1));
          case 3:
            return assemble(negative, max_exponent, bits & mantissa_mask ? bits : 1);
          case 4:
            return assemble(negative, 0, bits);
          default:
            return from_bits<T>(bits);
        }
      });
    case Kind::signed_zeros:
      return each(seed, first, out, [&](std::size_t i, std::uint64_t bits) {
        return bits >> 63 || i < n / 8 || n - 1 - i < n / 8 ? -T{0} : T{0};
      });
    default:  // minus_zeros
      return std::fill(out.begin(), out.end(), -T{0});
  }
}

template <class T>
void fill(Kind kind, std::size_t n, std::uint64_t seed, std::size_t first, std::span<T> out) {
  const std::uint64_t drawn = Random(seed, input_stream)(0);
  const std::uint64_t slice = std::numeric_limits<std::uint64_t>::max() / n;
  const auto sorted = [&](std::uint64_t i, std::uint64_t bits) {
    return from_bits<T>(i * slice + (slice >> 32) * (bits >> 32));
  };
  switch (kind) {
    case Kind::uniform:
      return each(seed, first, out, [](std::size_t, std::uint64_t bits) { return from_bits<T>(bits); });
    case Kind::constant:
      return std::fill(out.begin(), out.end(), T{1});
    case Kind::all_same:
      return std::fill(out.begin(), out.end(), from_bits<T>(drawn));
    case Kind::two_valued:
      return each(seed, first, out,
                  [&](std::size_t, std::uint64_t bits) { return from_bits<T>(bits >> 63 ? drawn : ~drawn); });
    case Kind::sorted:
      return each(seed, first, out, [&](std::size_t i, std::uint64_t bits) { return sorted(i, bits); });
    case Kind::reversed: {
      const Random random(seed, element_stream);
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = sorted(n - 1 - first - k, random(n - 1 - first - k));
      return;
    }
    case Kind::zipf:
      return each(seed, first, out,
                  [&](std::size_t, std::uint64_t bits) { return static_cast<T>(zipf_for<T>()(bits)); });
    case Kind::random_walk:
      return fill_random_walk(seed, first, out);
    case Kind::permutation: {
      const Permutation permutation(n, seed);
      for (std::size_t k = 0; k < out.size(); ++k) out[k] = static_cast<T>(permutation(first + k));
      return;
    }
    case Kind::alternating_extremes:
      for (std::size_t k = 0; k < out.size(); ++k)
        out[k] = (first + k) % 2 ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
      return;
    case Kind::near_one: {
      // A power of two, so that only the last addition rounds.
      const double reach = std::ldexp(1.0, -std::max(1, static_cast<int>(std::bit_width(n / 128))));
      return each(seed, first, out, [&](std::size_t, std::uint64_t bits) {
        if constexpr (std::is_floating_point_v<T>) {
          const T size = static_cast<T>(1 + from_bits<double>(bits) * reach);
          return bits & 1 ? -size : size;  // from_bits() does not use this bit
        } else {
          return static_cast<T>(from_bits<T>(bits) | 1);
        }
      });
    }
    default:
      if constexpr (std::is_floating_point_v<T>) fill_float(kind, n, seed, first, out);
  }
}

// Fills with the f32 input, rounded to T, except for inputs that would round to nothing but zeros or infinities.
template <class T>
void fill_halves(Kind kind, std::size_t n, std::uint64_t seed, std::size_t first, std::span<T> out) {
  if (kind == Kind::alternating_extremes) {
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = (first + k) % 2 ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    return;
  }
  if (kind == Kind::denormals)
    return each(seed, first, out, [](std::size_t, std::uint64_t bits) {
      constexpr unsigned mantissa = (1u << (std::numeric_limits<T>::digits - 1)) - 1;
      const unsigned magnitude = static_cast<unsigned>(bits) & mantissa;
      return T::of_bits(static_cast<std::uint16_t>((bits >> 63 ? T::sign : 0) | (magnitude ? magnitude : 1)));
    });
  std::vector<float> floats(out.size());
  fill<float>(kind, n, seed, first, floats);
  std::copy(floats.begin(), floats.end(), out.begin());
}

void fill_part(Kind kind, Type type, std::size_t n, std::uint64_t seed, std::size_t first, std::byte* out,
               std::size_t count) {
  if (count == 0) return;
  visit_any(type, [&]<class T>(TypeTag<T>) {
    const std::span<T> part(reinterpret_cast<T*>(out), count);
    if constexpr (is_half<T>)
      fill_halves(kind, n, seed, first, part);
    else
      fill(kind, n, seed, first, part);
  });
}

}  // namespace

std::vector<std::string> input_names(Type type) {
  const auto known = names_for(type);
  return {known.begin(), known.end()};
}

void require_input(std::string_view name, Type type) { find(name, type); }

void fill_input_part(std::string_view name, Type type, std::size_t n, std::uint64_t seed, std::size_t first,
                     std::span<std::byte> out) {
  const Kind kind = find(name, type);
  const std::size_t count = out.size() / size_of(type);
  if (out.size() % size_of(type) != 0) throw Error(Code::invalid_argument, "an input's part must be whole elements");
  if (first > n || count > n - first)
    throw Error(Code::invalid_argument, "elements " + std::to_string(first) + " to " + std::to_string(first + count) +
                                            " are beyond an input of " + std::to_string(n));
  fill_part(kind, type, n, seed, first, out.data(), count);
}

void fill_input(std::string_view name, Type type, std::size_t n, std::uint64_t seed, void* out) {
  const Kind kind = find(name, type);
  auto* bytes = static_cast<std::byte*>(out);
  // Minimum 2^18 elements (about 1 ms of work) per thread: with fewer, starting a thread costs more than it saves. A
  // random walk is sequential.
  const std::size_t most = kind == Kind::random_walk ? 1 : std::max(1u, std::thread::hardware_concurrency());
  const std::size_t parts = std::clamp<std::size_t>(n >> 18, 1, most);
  const auto part = [&](std::size_t p) {
    const std::size_t chunk = n / parts, first = p * chunk, count = p + 1 == parts ? n - first : chunk;
    fill_part(kind, type, n, seed, first, bytes + first * size_of(type), count);
  };
  std::vector<std::jthread> others;
  for (std::size_t p = 1; p < parts; ++p) others.emplace_back(part, p);
  part(0);
}

}  // namespace upsweep
