// What a window's bins take of the scratch memory, and how many bins a window can have for that.
#pragma once
#include "ladders/render/bin_lists.cuh"

namespace upsweep::ladders::render {

// 16 MiB of bits at most, which stay in L2: 131,072 circles of 1024 bins. Instead of lists: rand10k 68.6 to 53.2 us,
// rand100k 93.8 to 70.4, biglittle 81.6 to 56.4. On the emulator, checks come to lists, too.
inline constexpr std::size_t most_bit_words = emulated ? 100 : std::size_t{1} << 22;

// Entries that the lists of all bins should have room for: four bins a circle, and no less than 16 MiB; on the
// emulator, so few that checks come to lists that find no room.
constexpr std::size_t entries_for(std::size_t n) {
  constexpr std::size_t least = emulated ? 256 : std::size_t{1} << 22;
  return n < (std::size_t{1} << 29) ? least + 4 * n : 0xfffffffe;
}

// The layout of the scratch memory: byte offsets. Lists that find no room are left out.
struct Room {
  std::size_t bytes = 0, parts, bits = 0, keys = 0, counts = 0, lists = 0, unfinished = 0, cursor = 0;
  std::size_t entries = 0;

  Room(const Args& a, std::size_t bins, Bins kind) {
    const Shares shares(a.n);
    parts = add((shares.blocks + 1) * sizeof(Summary));
    if (kind == Bins::columns) {
      bits = add(bins * shares.column() * sizeof(unsigned));
      return;
    }
    keys = add(a.n * sizeof(BinKey));
    counts = add(shares.blocks * bins * sizeof(unsigned));
    lists = add(bins * sizeof(BinList));
    unfinished = add(sizeof(Unfinished));
    cursor = bytes;
    bytes += sizeof(Cursor);
    entries = entries_for(a.n);
    if (const std::size_t most = a.scratch_bytes)
      entries = most < bytes ? 0 : std::min(entries, (most - bytes) / sizeof(unsigned));
    bytes += entries * sizeof(unsigned);
  }

 private:
  std::size_t add(std::size_t more) {
    const std::size_t at = bytes;
    bytes += ceil_div(more, 16) * 16;
    return at;
  }
};

// Whether so many bins have columns: if these are not too large.
inline bool columns_fit(const Args& a, std::size_t bins) {
  const Shares shares(a.n);
  return shares.batches == 1 && bins * shares.column() <= most_bit_words &&
         (!a.scratch_bytes || Room(a, bins, Bins::columns).bytes <= a.scratch_bytes);
}

// How many bins a window has at most, and of which kind.
struct WindowBins {
  std::size_t count;
  Bins kind;
};
// Returns as many bins as fit; or a half or a quarter of them, if there is room for columns of these, but not of more:
// 100,000 circles on 2048 x 2048 pixels 737 us by lists, 296 in four windows. Fewer, where the call limits its scratch,
// so that their lists find room; 0 if not even one does.
inline WindowBins bins_of_window(const Args& a, bool columns) {
  const auto whole = [&](Bins kind) { return std::min<std::size_t>(BinGrid::fit(), BinGrid(a.frame, kind).count()); };
  if (columns) {
    const std::size_t most = whole(Bins::columns);
    for (std::size_t bins = most; 4 * bins >= most; bins = std::bit_floor(bins - 1))
      if (columns_fit(a, bins)) return {bins, Bins::columns};
  }
  std::size_t bins = whole(Bins::lists);
  const std::size_t of_bin = std::min(entries_for(a.n) / bins, a.n);
  while (bins && Room(a, bins, Bins::lists).entries < of_bin * bins) bins = std::bit_floor(bins - 1);
  return {bins, Bins::lists};
}

}  // namespace upsweep::ladders::render
