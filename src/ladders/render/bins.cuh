// Circles by bin, in order: count, scan, ordered scatter. A bin is a square of the image.
#pragma once
#include <algorithm>

#include "kernel/block.h"
#include "ladders/render/survey.cuh"
#include "ladders/render/tile.cuh"

namespace upsweep::ladders::render {

// A circle's bins in 16 bits, where they are at most four: the first in 12, and in 2 each how many columns and rows
// more. So that whoever needs them again reads two bytes instead of a circle.
class BinKey {
 public:
  static constexpr unsigned few = 4, first_bits = 12;
  BinKey() = default;
  __device__ BinKey(unsigned first, unsigned wide, unsigned high)
      : bits_(static_cast<unsigned short>(wide * high > few ? many_bins
                                                            : first | (wide - 1) << first_bits | (high - 1) << 14)) {}
  __device__ bool many() const { return bits_ == many_bins; }
  // How many there are, unless they are many; and one of them.
  __device__ unsigned cells() const { return bits_ >= no_bins ? 0 : wide() * ((bits_ >> 14) + 1u); }
  __device__ unsigned bin(unsigned cell, unsigned columns) const {
    const unsigned row = wide() == 1 ? cell : wide() == 2 ? cell / 2 : 0;
    return bits_ % (1u << first_bits) + row * columns + cell - row * wide();
  }

 private:
  static constexpr unsigned no_bins = 0xf000, many_bins = 0xf001;  // four columns of four rows are not few
  __device__ unsigned wide() const { return (bits_ >> first_bits & 3) + 1u; }
  unsigned short bits_ = no_bins;
};

inline constexpr unsigned bin_threads = 256, bin_warps = bin_threads / warp_size;

// Bins of 32 x 32 pixels; larger ones for a larger image, so that the shared memory of a block that scatters has room
// for what it keeps of each: a place, and for each warp a word of bits and a count.
struct BinGrid {
  static constexpr unsigned most = 1u << BinKey::first_bits;
  static constexpr unsigned shared_bytes_each = (1 + bin_warps) * sizeof(unsigned) + bin_warps * sizeof(short);
  unsigned shift, side, columns, rows;  // side: 2^shift
  explicit BinGrid(const Frame& f) : shift(5), side(32) {
    const std::size_t fit = std::min<std::size_t>(most, device_limits().shared_per_block / shared_bytes_each);
    while (ceil_div(f.width, side) * ceil_div(f.height, side) > fit) side = 1u << ++shift;
    columns = unsigned(ceil_div(f.width, side)), rows = unsigned(ceil_div(f.height, side));
  }
  UPSWEEP_HD unsigned count() const { return columns * rows; }

  // For all lanes of a warp, of which the first `lanes` have a circle, its box of pixels and key_of(box): calls
  // f(bin, lane) for every bin in which that lane's circle covers a pixel, and perhaps for others; the same ones every
  // time. The circle and the box are looked at only where the key says `many`.
  template <class F>
  __device__ void each(const Frame& frame, unsigned lanes, BinKey key, const Circle& c, const Box& b, F&& f) const {
    const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
    for (unsigned cell = 0; cell < BinKey::few; ++cell)
      if (cell < key.cells()) f(key.bin(cell, columns), lane);
    Place own{};
    if (key.many()) {
      const unsigned left = unsigned(b.left) >> shift, right = (unsigned(b.right - 1) >> shift) + 1;
      const unsigned top = unsigned(b.top) >> shift, bottom = (unsigned(b.bottom - 1) >> shift) + 1;
      own = {c.x, c.y, c.radius, left, right, top, bottom};
    }
    if (!__any_sync(all_lanes, key.many())) return;
    // Where only the first lanes have circles, several share one: a row of bins for each. A warp's largest circles are
    // the work of all lanes, one after another.
    const unsigned team = warp_size / lanes, large = 64 * team;
    const bool shared = own.rows() * own.columns() > large;
    const Place of_team = shuffle(own, lane / team);
    if (of_team.rows() * of_team.columns() <= large)
      for (unsigned row = of_team.top + lane % team; row < of_team.bottom; row += team)
        each_of_row(frame, of_team, row, lane / team, f);
    for (unsigned left = __ballot_sync(all_lanes, shared); left; left &= left - 1) {
      const unsigned owner = unsigned(__ffs(int(left))) - 1;
      const Place p = shuffle(own, owner);
      for (unsigned row = p.top + lane; row < p.bottom; row += warp_size) each_of_row(frame, p, row, owner, f);
    }
  }
  // The bins of a box of pixels.
  __device__ BinKey key_of(const Box& b) const {
    if (b.empty()) return {};
    const unsigned column = unsigned(b.left) >> shift, row = unsigned(b.top) >> shift;
    return {row * columns + column, (unsigned(b.right - 1) >> shift) + 1 - column,
            (unsigned(b.bottom - 1) >> shift) + 1 - row};
  }

 private:
  struct Place {
    float x, y, radius;
    unsigned left, right, top, bottom;  // bins
    __device__ unsigned columns() const { return right - left; }
    __device__ unsigned rows() const { return bottom - top; }
  };
  // The bins of a row, from the pixels that are as near to the centre as half the chord of the row's nearest pixels.
  template <class F>
  __device__ void each_of_row(const Frame& f, const Place& p, unsigned row, unsigned owner, F&& visit) const {
    const float above = centre_y(f, row * side), below = centre_y(f, min((row + 1) * side, f.height) - 1);
    const float radius2 = square(p.radius), dy2 = square(max(max(above - p.y, p.y - below), 0.f));
    if (!(dy2 <= radius2)) return;
    // What bounds_of_axis allows for, and what rounding moves squares by 2^-21: the chord's end by 2^-10 of the radius.
    // By mul and add where contraction could round differently in another kernel.
    const float far = add(f.x0, mul(f.step_x, float(f.width)));
    const float slack = (fabsf(p.x) + p.radius + max(fabsf(f.x0), fabsf(far))) * 0x1p-20f + p.radius * 0x1p-10f;
    const float chord = radius2 > 3e38f ? radius2 : sqrtf(radius2 - dy2) + slack;
    const float per = 1 / f.step_x, most = float(f.width);
    const float first = add(mul(p.x - chord - f.x0, per), -0.5f), last = add(mul(p.x + chord - f.x0, per), -0.5f);
    const unsigned left = max(p.left, unsigned(min(max(first, 0.f), most)) >> shift);
    const unsigned right = min(p.right, (unsigned(min(max(last, 0.f), most)) >> shift) + 1);
    for (unsigned column = left; column < right; ++column) visit(row * columns + column, owner);
  }
};

// ---- the circles of a block
// ------------------------------------------------------------------------------------------

// Blocks to aim at: enough to fill a large GPU's multiprocessors, few enough for the counts of every block and bin to
// stay in L2.
inline constexpr unsigned bin_blocks = 512;

// Each block takes consecutive circles, in batches; of a batch, each warp takes consecutive circles, one for each of
// its first `lanes` lanes. Few circles occupy few lanes of many warps, because the bins of a large circle are the work
// of a whole warp.
struct Shares {
  unsigned lanes, batches, blocks;
  explicit Shares(std::size_t n) {
    const std::size_t wanted = ceil_div(n, bin_blocks * bin_warps);
    lanes = unsigned(wanted < 4 ? 4 : wanted < warp_size ? wanted : warp_size);
    batches = unsigned(ceil_div(n, std::size_t{bin_blocks} * bin_warps * lanes));
    if (batches < 1) batches = 1;
    blocks = unsigned(ceil_div(n, std::size_t{batches} * bin_warps * lanes));
    if (blocks < 1) blocks = 1;
  }
  __device__ std::size_t first_of_block(unsigned batch) const {
    return (std::size_t(blockIdx.x) * batches + batch) * bin_warps * lanes;
  }
  // The place of the thread's circle in the batch; or none.
  __device__ std::size_t place(unsigned batch) const {
    return first_of_block(batch) + threadIdx.x / warp_size * lanes + threadIdx.x % warp_size;
  }
  // Calls work(batch, item, there) for each batch, with load(the place of the thread's circle), which is done while the
  // batch before is worked on.
  template <class Load, class F>
  __device__ void each(std::size_t n, Load&& load, F&& work) const {
    const auto there = [&](unsigned batch) {
      return batch < batches && threadIdx.x % warp_size < lanes && place(batch) < n;
    };
    decltype(load(0)) next{};
    if (there(0)) next = load(place(0));
    for (unsigned batch = 0; batch < batches; ++batch) {
      const auto item = next;
      if (there(batch + 1)) next = load(place(batch + 1));
      work(batch, item, there(batch));
    }
  }
};

// ---- the lists
// -------------------------------------------------------------------------------------------------------

// A bin's list: entries [begin, begin + count) of the array. Only those of the circles of blocks from `from` on are
// there at first, that is, all but `skipped`. A list that does not fit in the array is left out.
struct BinList {
  static constexpr unsigned none = 0xffffffffu;
  unsigned begin, count, from, skipped;
  UPSWEEP_HD bool listed() const { return begin != none; }
};

// The bins whose lists turned out to be needed from the first circle on.
struct Unfinished {
  unsigned count;
  unsigned bins[BinGrid::most], listed[BinGrid::most];
};

// The lists of a call, in its workspace.
struct BinnedCircles {
  BinGrid grid;
  Shares shares;
  Summary* parts;          // [blocks]
  Summary* summary;        // [1]
  BinKey* keys;            // [n]
  unsigned* counts;        // [blocks][bins]
  BinList* lists;          // [bins]
  Unfinished* unfinished;  // [1]
  unsigned* cursor;        // [1]
  unsigned* indices;       // [capacity]
  unsigned capacity;
  float halvings;  // that are needed of each pixel; 0: the lists are complete at once

  explicit BinnedCircles(const Args& a, float needed = 0);
  Status fill(const Args& a) const;
  // Puts the rest of the unfinished bins' circles into their lists.
  Status complete(const Args& a) const { return scatter(a, true); }

  // Lists the bin as unfinished. For all threads of a block.
  __device__ void finish_later(unsigned bin) const {
    if (threadIdx.x == 0 && atomicExch(&unfinished->listed[bin], 1u) == 0)
      unfinished->bins[atomicAdd(&unfinished->count, 1u)] = bin;
  }
  // Entries to have at first of a list: six times the mean that is needed if the image is `depth` halvings deep,
  // because a bin waits for its slowest pixel, and half as many circles cover the edge of the image; and enough to find
  // larger circles under a heap of small ones. All of them where that saves little.
  __device__ unsigned wanted(unsigned count, float depth) const {
    if (halvings == 0 || depth < 8 * halvings) return count;
    return max(emulated ? 40u : 768u, unsigned(float(count) * (6 * halvings / depth)));
  }

 private:
  Status scatter(const Args& a, bool later) const;
};

// 1. How many of its circles a block has for each bin; and a summary of them.
static __global__ void __launch_bounds__(bin_threads) bin_count_kernel(const float* circles,  // [n][8]
                                                                       std::size_t n, Frame f, BinnedCircles bins) {
  unsigned* const counted = dynamic_shared<unsigned>();  // [bins]
  const unsigned count = bins.grid.count();
  for (unsigned bin = threadIdx.x; bin < count; bin += bin_threads) counted[bin] = 0;
  __syncthreads();
  if (blockIdx.x == 0 && threadIdx.x == 0) *bins.cursor = 0, bins.unfinished->count = 0;
  Summary summary;
  const float per_circle = 3.14159274f / (f.step_x * f.step_y);
  bins.shares.each(
      n, [&](std::size_t at) { return load_circle(circles, at); },
      [&](unsigned batch, const Circle& c, bool there) {
        const Box box = there ? bounds_of(f, c.x, c.y, c.radius) : Box{0, 0, 0, 0};
        const BinKey key = bins.grid.key_of(box);
        if (there) summary.take(c, box, per_circle), bins.keys[bins.shares.place(batch)] = key;
        bins.grid.each(f, bins.shares.lanes, key, c, box,
                       [&](unsigned bin, unsigned) { atomicAdd(&counted[bin], 1u); });
      });
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < count; bin += bin_threads)
    bins.counts[std::size_t(blockIdx.x) * count + bin] = counted[bin];
  summary.halvings /= float(f.width) * float(f.height);
  summary = block_summary(summary);
  if (threadIdx.x == 0) bins.parts[blockIdx.x] = summary;
}

// 2. Turns counts into places: for each bin the exclusive sum over the blocks, and room for its list. A block takes 8
// bins, a sector of a block's counts; 128 groups of threads take up to four consecutive blocks each.
inline constexpr unsigned scan_threads = 1024, scan_warps = scan_threads / warp_size, scan_bins = 8;
inline constexpr unsigned scan_rows = bin_blocks * scan_bins / scan_threads;
static __global__ void __launch_bounds__(scan_threads) bin_scan_kernel(BinnedCircles bins) {
  __shared__ unsigned totals[scan_warps][scan_bins], from[scan_bins];
  __shared__ float depth;
  const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, blocks = bins.shares.blocks;
  const unsigned count = bins.grid.count(), own = threadIdx.x % scan_bins, bin = blockIdx.x * scan_bins + own;
  const unsigned first = threadIdx.x / scan_bins * scan_rows;
  unsigned counted[scan_rows], sum = 0;
#pragma unroll
  for (unsigned r = 0; r < scan_rows; ++r)
    counted[r] = first + r < blocks && bin < count ? bins.counts[std::size_t(first + r) * count + bin] : 0;
  if (warp == 0 && lane < scan_bins) from[lane] = 0;

  Summary summary;
  if (threadIdx.x < blocks) summary = bins.parts[threadIdx.x];
  summary = block_summary(summary);
  if (threadIdx.x == 0) {
    depth = summary.halvings;
    if (blockIdx.x == 0) *bins.summary = summary;
  }

  for (const unsigned c : counted) sum += c;
  unsigned before = sum;
  for (unsigned distance = scan_bins; distance < warp_size; distance *= 2) {
    const unsigned left = shuffle_up(before, distance);
    if (lane >= distance) before += left;
  }
  if (lane >= warp_size - scan_bins) totals[warp][own] = before;
  before -= sum;
  __syncthreads();
  unsigned all = 0;
  for (unsigned w = 0; w < scan_warps; ++w) {
    before += w < warp ? totals[w][own] : 0;
    all += totals[w][own];
  }
  const unsigned wanted = bins.wanted(all, depth);
  unsigned last = 0;  // block from which on there are as many as wanted
#pragma unroll
  for (unsigned r = 0; r < scan_rows; ++r) {
    if (first + r < blocks && bin < count) {
      bins.counts[std::size_t(first + r) * count + bin] = before;
      if (all - before >= wanted) last = first + r;
    }
    before += counted[r];
  }
  if (last > 0) atomicMax(&from[own], last);
  __syncthreads();
  if (warp > 0 || lane >= scan_bins || bin >= count) return;
  bins.unfinished->listed[bin] = 0;
  const unsigned begin = atomicAdd(bins.cursor, all);
  const unsigned skipped = bins.counts[std::size_t(from[lane]) * count + bin];
  const bool fits = begin <= bins.capacity && all <= bins.capacity - begin;
  bins.lists[bin] = {fits ? begin : BinList::none, all, skipped ? from[lane] : 0, skipped};
}

// A block that writes entries, and its shared memory.
class BinScatter {
 public:
  __device__ BinScatter(const float* circles, std::size_t n, const Frame& f, const BinnedCircles& bins)
      : circles_(circles),
        n_(n),
        f_(f),
        bins_(bins),
        count_(bins.grid.count()),
        warp_(threadIdx.x / warp_size),
        lane_(threadIdx.x % warp_size),
        next_(dynamic_shared<unsigned>()),
        bitmap_(next_ + count_),
        before_(reinterpret_cast<unsigned short*>(bitmap_ + bin_warps * count_)) {}

  // Where each bin's entries of this block begin: of those taken at first, or of the others. False if none are written.
  __device__ bool begin(bool later) {
    const unsigned unfinished = bins_.unfinished->count;
    if (later && unfinished == 0) return false;
    bool any = false;
    const auto choose = [&](unsigned bin, bool taken) {
      const BinList list = bins_.lists[bin];
      taken = taken && list.listed() && (blockIdx.x >= list.from) != later;
      next_[bin] = taken ? list.begin + bins_.counts[std::size_t(blockIdx.x) * count_ + bin] : BinList::none;
      any |= taken;
    };
    for (unsigned bin = threadIdx.x; bin < count_; bin += bin_threads) choose(bin, !later);
    if (later) {
      __syncthreads();
      for (unsigned u = threadIdx.x; u < unfinished; u += bin_threads) choose(bins_.unfinished->bins[u], true);
    }
    return __syncthreads_or(any);
  }

  __device__ void write() {
    clear();
    bool many = bins_.shares.batches * bins_.shares.lanes * bin_warps > 0xffff;  // for before_
    each_key([&](std::size_t, BinKey key) {
      many |= key.many();
      each_cell(key, [&](unsigned, unsigned bin) {
        const unsigned at = warp_ * count_ + bin;
        atomicAdd(&reinterpret_cast<unsigned*>(before_)[at / 2], 1u << at % 2 * 16);
      });
    });
    if (__syncthreads_or(many))
      write_by_bins();
    else
      write_by_circles();
  }

 private:
  // Where circles have few bins: each warp writes consecutive circles, 32 at once, each lane its own. Its rank in a bin
  // is the number of the block's circles before.
  __device__ void write_by_circles() {
    for (unsigned bin = threadIdx.x; bin < count_; bin += bin_threads)
      for (unsigned w = 0, sum = 0; w < bin_warps; ++w) {
        unsigned short& before = before_[w * count_ + bin];
        const unsigned counted = before;
        before = static_cast<unsigned short>(sum);
        sum += counted;
      }
    __syncthreads();
    each_key([&](std::size_t place, BinKey key) {
      each_cell(key, [&](unsigned, unsigned bin) { atomicOr(&bitmap_[warp_ * count_ + bin], 1u << lane_); });
      __syncwarp();
      unsigned after[BinKey::few];  // where the warp goes on, if this is its last circle of the bin; otherwise 0
      each_cell(key, [&](unsigned cell, unsigned bin) {
        const unsigned bits = bitmap_[warp_ * count_ + bin];
        const unsigned rank = before_[warp_ * count_ + bin] + unsigned(__popc(bits & ((1u << lane_) - 1)));
        if (next_[bin] != BinList::none) bins_.indices[next_[bin] + rank] = unsigned(place);
        after[cell] = bits >> lane_ == 1 ? rank + 1 : 0;
      });
      __syncwarp();
      each_cell(key, [&](unsigned cell, unsigned bin) {
        if (after[cell] == 0) return;
        bitmap_[warp_ * count_ + bin] = 0;
        before_[warp_ * count_ + bin] = static_cast<unsigned short>(after[cell]);
      });
      __syncwarp();
    });
  }

  // Otherwise a bin's bitmap gets the circles of a batch that reach it, from which one thread writes them in order.
  __device__ void write_by_bins() {
    const auto load_key = [&](std::size_t at) { return bins_.keys[at]; };
    bins_.shares.each(n_, load_key, [&](unsigned batch, BinKey key, bool there) {
      if (!there) key = {};
      Circle c{};
      Box box{};
      if (key.many()) c = load_circle(circles_, bins_.shares.place(batch)), box = bounds_of(f_, c.x, c.y, c.radius);
      bins_.grid.each(f_, bins_.shares.lanes, key, c, box,
                      [&](unsigned bin, unsigned owner) { atomicOr(&bitmap_[warp_ * count_ + bin], 1u << owner); });
      __syncthreads();
      const unsigned first = unsigned(bins_.shares.first_of_block(batch));
      for (unsigned bin = threadIdx.x; bin < count_; bin += bin_threads) {
        unsigned words = 0;  // that are not zero
        for (unsigned w = 0; w < bin_warps; ++w) words |= unsigned(bitmap_[w * count_ + bin] != 0) << w;
        if (words == 0) continue;
        unsigned place = next_[bin];
        for (; words; words &= words - 1) {
          const unsigned w = unsigned(__ffs(int(words))) - 1;
          unsigned left = bitmap_[w * count_ + bin];
          bitmap_[w * count_ + bin] = 0;
          if (place == BinList::none) continue;
          for (; left; left &= left - 1)
            bins_.indices[place++] = first + w * bins_.shares.lanes + unsigned(__ffs(int(left))) - 1;
        }
        next_[bin] = place;
      }
      __syncthreads();
    });
  }

  __device__ void clear() {
    for (unsigned w = threadIdx.x; w < count_ * bin_warps; w += bin_threads) bitmap_[w] = 0, before_[w] = 0;
    __syncthreads();
  }
  // Calls f(place, key) for the warp's consecutive circles, one for each lane; an empty key where there is none.
  template <class F>
  __device__ void each_key(F&& f) const {
    const Shares& shares = bins_.shares;
    const std::size_t first = shares.first_of_block(0) + std::size_t(warp_) * shares.batches * shares.lanes + lane_;
    constexpr unsigned ahead = 4;  // keys that are loaded at once
    for (unsigned b = 0; b < shares.batches; b += ahead) {
      BinKey keys[ahead];
#pragma unroll
      for (unsigned k = 0; k < ahead; ++k) {
        const std::size_t place = first + std::size_t(b + k) * shares.lanes;
        if (b + k < shares.batches && lane_ < shares.lanes && place < n_) keys[k] = bins_.keys[place];
      }
#pragma unroll
      for (unsigned k = 0; k < ahead; ++k) f(first + std::size_t(b + k) * shares.lanes, keys[k]);
    }
  }
  template <class F>
  __device__ void each_cell(BinKey key, F&& f) const {
#pragma unroll
    for (unsigned cell = 0; cell < BinKey::few; ++cell)
      if (cell < key.cells()) f(cell, key.bin(cell, bins_.grid.columns));
  }

  const float* const circles_;
  const std::size_t n_;
  const Frame& f_;
  const BinnedCircles& bins_;
  const unsigned count_, warp_, lane_;
  unsigned* const next_;          // [bins]: the place of the first entry that is not written, or none
  unsigned* const bitmap_;        // [warps][bins]: of a warp's 32 circles
  unsigned short* const before_;  // [warps][bins]: how many of the block's entries are before the warp's next
};

// 3. Puts each circle's index into its bins' lists, at first from block `from` of the list on; later, of the bins that
// are unfinished, the others.
static __global__ void __launch_bounds__(bin_threads)
    bin_scatter_kernel(const float* circles,  // [n][8]
                       std::size_t n, Frame f, BinnedCircles bins, bool later) {
  BinScatter block(circles, n, f, bins);
  if (block.begin(later)) block.write();
}

// Bytes of scratch: what lists of four bins a circle take, and no less than 16 MiB. Longer lists are left out.
inline BinnedCircles::BinnedCircles(const Args& a, float needed)
    : grid(a.frame),
      shares(a.n),
      capacity(unsigned(a.n < (std::size_t{1} << 29) ? (std::size_t{1} << 22) + 4 * a.n : 0xfffffffeu)),
      halvings(needed) {
  std::size_t bytes = 0;
  const auto reserve = [&](std::size_t more) {
    return bytes += ceil_div(more, 16) * 16, bytes - ceil_div(more, 16) * 16;
  };
  const std::size_t at_parts = reserve((shares.blocks + 1) * sizeof(Summary));
  const std::size_t at_keys = reserve(a.n * sizeof(BinKey));
  const std::size_t at_counts = reserve(std::size_t(shares.blocks) * grid.count() * sizeof(unsigned));
  const std::size_t at_lists = reserve(grid.count() * sizeof(BinList));
  const std::size_t at_unfinished = reserve(sizeof(Unfinished));
  const std::size_t at_indices = reserve((std::size_t(capacity) + 1) * sizeof(unsigned));
  auto* const memory = static_cast<char*>(a.workspace->scratch(bytes));
  parts = reinterpret_cast<Summary*>(memory);
  if (!memory) return;
  parts = reinterpret_cast<Summary*>(memory + at_parts), summary = parts + shares.blocks;
  keys = reinterpret_cast<BinKey*>(memory + at_keys);
  counts = reinterpret_cast<unsigned*>(memory + at_counts);
  lists = reinterpret_cast<BinList*>(memory + at_lists);
  unfinished = reinterpret_cast<Unfinished*>(memory + at_unfinished);
  cursor = reinterpret_cast<unsigned*>(memory + at_indices), indices = cursor + 1;
}

inline Status BinnedCircles::fill(const Args& a) const {
  if (!parts) return {Code::out_of_memory, 0, "no memory for the bins"};
  const std::size_t bins = grid.count();
  if (auto s = launch(
          bin_count_kernel,
          {.grid = shares.blocks, .block = bin_threads, .shared_bytes = bins * sizeof(unsigned), .stream = a.stream},
          a.circles, a.n, a.frame, *this);
      !s)
    return s;
  if (auto s = launch(bin_scan_kernel,
                      {.grid = unsigned(ceil_div(bins, scan_bins)), .block = scan_threads, .stream = a.stream}, *this);
      !s)
    return s;
  return scatter(a, false);
}

inline Status BinnedCircles::scatter(const Args& a, bool later) const {
  return launch(bin_scatter_kernel,
                {.grid = shares.blocks,
                 .block = bin_threads,
                 .shared_bytes = grid.count() * BinGrid::shared_bytes_each,
                 .stream = a.stream},
                a.circles, a.n, a.frame, *this, later);
}

}  // namespace upsweep::ladders::render
