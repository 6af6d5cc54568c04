#include "lab/planted.h"

#include <cstring>
#include <vector>

#include "base/unsigned_as.h"
#include "lab/parts.h"
#include "lab/rng.h"

namespace upsweep {
namespace {

// Random streams that no named input uses.
constexpr std::uint64_t planted_stream = 0x73656c6563740001, flags_stream = 0x73656c6563740002;

// A biased coin per element: true with probability `share`, if the element's random word is below share * 2^64.
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

}  // namespace

void plant_below_middle(Type type, double share, std::uint64_t seed, std::size_t n, void* values) {
  const Coin coin(share, seed, planted_stream);
  visit_any(type, [&]<class T>(TypeTag<T>) {
    using B = UnsignedAs<T>;
    constexpr B top = B{1} << (8 * sizeof(T) - 1);
    for_each_part(n, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        // Below the middle, the top bit is set if it is a sign bit, and clear otherwise.
        B bits;
        std::memcpy(&bits, static_cast<T*>(values) + i, sizeof bits);
        bits = static_cast<B>(coin(i) == (std::is_signed_v<T> || is_half<T>) ? bits | top : bits & ~top);
        std::memcpy(static_cast<T*>(values) + i, &bits, sizeof bits);
      }
    });
  });
}

void plant_nonzero(Type type, double share, std::uint64_t seed, std::size_t n, void* values) {
  const Coin coin(share, seed, planted_stream);
  visit_any(type, [&]<class T>(TypeTag<T>) {
    using B = UnsignedAs<T>;
    constexpr B sign = is_floating<T> ? B{1} << (8 * sizeof(T) - 1) : B{0};
    for_each_part(n, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        B bits;
        std::memcpy(&bits, static_cast<T*>(values) + i, sizeof bits);
        const bool is_zero = static_cast<B>(bits & ~sign) == 0;
        bits = static_cast<B>(!coin(i) ? bits & sign : is_zero ? bits | 1 : bits);
        std::memcpy(static_cast<T*>(values) + i, &bits, sizeof bits);
      }
    });
  });
}

void plant_runs(Type type, double mean, std::uint64_t seed, std::size_t n, void* values) {
  const Coin begins(1 / mean, seed, planted_stream);
  visit_any(type, [&]<class T>(TypeTag<T>) {
    T* const at = static_cast<T*>(values);
    const auto is_first = [&](std::size_t i) { return i == 0 || begins(i); };
    // first[p] is the index at which the run that is open at the end of part p begins. A run's first element is never
    // written, so all parts may read it concurrently.
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

void plant_distinct(Type type, std::uint64_t distinct, std::size_t n, void* values) {
  visit_any(type, [&]<class T>(TypeTag<T>) {
    auto* const bits = static_cast<UnsignedAs<T>*>(values);
    for_each_part(n, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        bits[i] = static_cast<UnsignedAs<T>>(bits[i] % distinct * 0x9E3779B97F4A7C15u);
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

}  // namespace upsweep
