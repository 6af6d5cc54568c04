#include "simt/model.h"

#include <algorithm>
#include <bit>

#include "simt/block.h"

namespace upsweep::simt {
namespace {

constexpr unsigned banks = 32, bank_bytes = 4, sector_bytes = 32;

// Returns the number of lanes that access the banks together: 32 for accesses of up to 4 bytes, 16 for 8 bytes, 8 for
// 16 bytes.
unsigned lanes_together(unsigned bytes) { return bytes <= bank_bytes ? 32 : 32 * bank_bytes / bytes; }

template <class F>
void for_each_part(std::uint32_t mask, unsigned bytes, F&& f) {
  const unsigned lanes = lanes_together(bytes);
  for (unsigned first = 0; first < 32; first += lanes) {
    const std::uint32_t part = mask & static_cast<std::uint32_t>(((std::uint64_t{1} << lanes) - 1) << first);
    if (part) f(part);
  }
}

unsigned wavefronts_of_part(std::uint32_t part, const LaneAddresses& addresses, unsigned bytes) {
  // Distinct words per bank. A part touches at most 32 words in all, so no bank holds more.
  std::array<std::array<std::uint64_t, 32>, banks> words;
  std::array<unsigned, banks> count{};
  unsigned most = 0;
  const unsigned words_a_lane = std::max(1u, bytes / bank_bytes);
  for_each_bit(part, [&](int lane) {
    for (unsigned k = 0; k < words_a_lane; ++k) {
      const std::uint64_t word = addresses[lane] / bank_bytes + k;
      auto& known = words[word % banks];
      unsigned& n = count[word % banks];
      if (std::find(known.begin(), known.begin() + n, word) != known.begin() + n) continue;
      known[n++] = word;
      most = std::max(most, n);
    }
  });
  return most;
}

}  // namespace

unsigned shared_wavefronts(std::uint32_t mask, const LaneAddresses& addresses, unsigned bytes) {
  unsigned total = 0;
  for_each_part(mask, bytes, [&](std::uint32_t part) { total += wavefronts_of_part(part, addresses, bytes); });
  return total;
}

unsigned ideal_wavefronts(std::uint32_t mask, unsigned bytes) {
  unsigned parts = 0;
  for_each_part(mask, bytes, [&](std::uint32_t) { ++parts; });
  return parts;
}

unsigned global_sectors(std::uint32_t mask, const LaneAddresses& addresses, unsigned bytes) {
  std::array<std::uint64_t, 64> sectors;  // 32 lanes of at most 16 bytes: at most two sectors each
  unsigned count = 0;
  for_each_bit(mask, [&](int lane) {
    const std::uint64_t last = (addresses[lane] + bytes - 1) / sector_bytes;
    for (std::uint64_t sector = addresses[lane] / sector_bytes; sector <= last; ++sector) {
      // Neighbouring lanes often share a sector, so the search starts from the newest.
      unsigned i = count;
      while (i > 0 && sectors[i - 1] != sector) --i;
      if (i == 0) sectors[count++] = sector;
    }
  });
  return count;
}

unsigned ideal_sectors(std::uint32_t mask, unsigned bytes, unsigned sectors) {
  const unsigned all = static_cast<unsigned>(std::popcount(mask)) * bytes;
  return std::min((all + sector_bytes - 1) / sector_bytes, sectors);
}

unsigned most_on_one_address(std::uint32_t mask, const LaneAddresses& addresses) {
  unsigned most = 0;
  for (std::uint32_t left = mask; left;) {
    const std::uint64_t address = addresses[std::countr_zero(left)];
    std::uint32_t same = 0;
    for_each_bit(left, [&](int lane) { same |= static_cast<std::uint32_t>(addresses[lane] == address) << lane; });
    most = std::max(most, static_cast<unsigned>(std::popcount(same)));
    left &= ~same;
  }
  return most;
}

}  // namespace upsweep::simt
