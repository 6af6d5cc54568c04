// What a window's bins take of the scratch memory, and how many bins a window can have for that.
#pragma once
#include "ladders/render/bin_lists.cuh"

namespace upsweep::ladders::render {

// 16 MiB of bits at most, which stay in L2: 131,072 circles of 1024 bins. Instead of lists: rand10k 68.6 to 53.2 us,
// rand100k 93.8 to 70.4, biglittle 81.6 to 56.4. On the emulator, checks come to lists, too.
inline constexpr std::size_t most_bit_words = emulated ? 100 : std::size_t{1} << 22;

// Entries that the lists of all bins should have room for: four bins a circle, and no less than 16 MiB.
constexpr std::size_t entries_for(std::size_t n) {
  return n < (std::size_t{1} << 29) ? (std::size_t{1} << 22) + 4 * n : 0xfffffffe;
}

// The layout of the scratch memory: byte offsets. Lists that find no room are left out.
struct Room {
  std::size_t bytes = 0, parts, bits, keys, counts, lists, unfinished, cursor;
  std::size_t bit_words = 0, entries = 0;

  // `columns`: bits instead of lists, if they are not too many.
  Room(const Args& a, std::size_t bins, bool columns) {
    const Shares shares(a.n);
    const std::size_t most = a.tuning.scratch, words = std::size_t{shares.blocks} * shares.row(unsigned(bins));
    parts = add((shares.blocks + 1) * sizeof(Summary));
    if (columns && shares.batches == 1 && words <= most_bit_words &&
        (!most || bytes + words * sizeof(unsigned) <= most))
      bit_words = words;
    const bool listed = bit_words == 0;
    bits = add(bit_words * sizeof(unsigned));
    keys = add(listed * a.n * sizeof(BinKey));
    counts = add(listed * shares.blocks * bins * sizeof(unsigned));
    lists = add(listed * bins * sizeof(BinList));
    unfinished = add(listed * sizeof(Unfinished));
    cursor = bytes;
    if (!listed) return;
    bytes += sizeof(unsigned);
    entries = entries_for(a.n);
    if (most) entries = most < bytes ? 0 : std::min(entries, (most - bytes) / sizeof(unsigned));
    bytes += entries * sizeof(unsigned);
  }

 private:
  std::size_t add(std::size_t more) {
    const std::size_t at = bytes;
    bytes += ceil_div(more, 16) * 16;
    return at;
  }
};

// Returns how many bins a window has at most: as many as fit; or a half or a quarter of them, if there is room for
// bits of these, but not of more: 100,000 circles on 2048 x 2048 pixels 737 us by lists, 296 in four windows. Fewer,
// where the call limits its scratch, so that their lists find room; 0 if not even one does.
inline std::size_t bins_of_window(const Args& a, bool columns) {
  const std::size_t whole = std::min<std::size_t>(BinGrid::fit(), BinGrid(a.frame).count());
  for (std::size_t bins = whole; columns && 4 * bins >= whole; bins = std::bit_floor(bins - 1))
    if (Room(a, bins, true).bit_words) return bins;
  const std::size_t of_bin = std::min(entries_for(a.n) / whole, a.n);
  std::size_t bins = whole;
  while (bins && Room(a, bins, false).entries < of_bin * bins) bins = std::bit_floor(bins - 1);
  return bins;
}

}  // namespace upsweep::ladders::render
