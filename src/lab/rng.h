// Counter-based random numbers: element i of a stream is a pure function of (seed, stream, i), so any thread, block or
// process can generate any part of a sequence independently. Philox4x32-10; Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once
#include <cstdint>

#include "upsweep/types.h"

namespace upsweep {

struct Philox {
  struct Block {
    std::uint32_t word[4];
  };

  // The 128-bit block cipher, keyed by 64 bits, low words first.
  UPSWEEP_HD static constexpr Block block(std::uint64_t counter_low, std::uint64_t counter_high, std::uint64_t key) {
    std::uint32_t c0 = static_cast<std::uint32_t>(counter_low), c1 = static_cast<std::uint32_t>(counter_low >> 32);
    std::uint32_t c2 = static_cast<std::uint32_t>(counter_high), c3 = static_cast<std::uint32_t>(counter_high >> 32);
    std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {  // 10 as in the paper; 7 already pass BigCrush
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0;
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c2;
      c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<std::uint32_t>(p1);
      c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<std::uint32_t>(p0);
      k0 += 0x9E3779B9u;  // golden ratio
      k1 += 0xBB67AE85u;  // sqrt(3) - 1
    }
    return {{c0, c1, c2, c3}};
  }
};

// One stream of 64-bit words. Streams of the same seed are independent.
class Random {
 public:
  UPSWEEP_HD constexpr explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  // Words 2 * pair and 2 * pair + 1. One cipher block yields two words, so sequential readers ask for pairs.
  struct Pair {
    std::uint64_t even, odd;
  };
  UPSWEEP_HD constexpr Pair pair(std::uint64_t pair) const {
    const Philox::Block b = Philox::block(pair, stream_, seed_);
    return {b.word[0] | std::uint64_t{b.word[1]} << 32, b.word[2] | std::uint64_t{b.word[3]} << 32};
  }
  UPSWEEP_HD constexpr std::uint64_t operator()(std::uint64_t index) const {
    const Pair p = pair(index / 2);
    return index % 2 ? p.odd : p.even;
  }

 private:
  std::uint64_t seed_, stream_;
};

// Maps a random word to [0, bound) without division: floor(u * bound / 2^32), where u is the word's upper half. The
// bias is less than bound / 2^32; bound is at most 2^32.
UPSWEEP_HD constexpr std::uint64_t scale(std::uint64_t word, std::uint64_t bound) { return (word >> 32) * bound >> 32; }

}  // namespace upsweep
