// Columns of bits instead of lists: one bit per circle and bin. A drawing block finds its bin's circles in the bin's
// column. Building columns needs no count, scan or scatter.
//
// Traffic   the circles; four bytes per bin and 32 circles, written once and read as far back as tiles need
#pragma once
#include "kernel/block.h"
#include "kernel/ptx.h"
#include "ladders/render/bins.cuh"
#include "ladders/render/limits.h"

namespace upsweep::ladders::render {

// log2 of a bin's side in pixels. A column has a bit for every circle, whether or not the circle reaches the bin, so
// fewer, larger bins mean fewer writes: 64 x 64 pixels, the tiles of four blocks.
inline constexpr unsigned column_bin_shift = 6;
// Maximum number of bins per window. Checks lower it, so that small images have several windows.
inline constinit Threshold max_column_bins{
    "max_column_bins", BinGrid::max_bins, 8, {.min = 1, .max = BinGrid::max_bins}};

// Maximum words of bits per window: 16 MiB, such as 131,072 circles in 1024 bins, so that bits and circles stay in an
// L2 of 40 MB or more. A larger image is drawn in several windows rather than from lists: on an H200, 100,000 circles
// on 2048 x 2048 pixels take 737 us from lists and 296 us in four windows.
inline constexpr std::size_t max_column_words = std::size_t{1} << 22;

static_assert(bit_columns_most == std::size_t{max_bin_blocks} * bin_warps * warp_size);

// Columns of bits in a call's scratch memory.
struct BinColumns : Bins {
  // Offsets in scratch memory, the same for all windows of a call.
  struct Layout : ScratchLayout {
    static constexpr unsigned bin_shift = column_bin_shift;
    BlockPartition partition;
    std::size_t bins;  // maximum per window; 0: not even one fits
    std::size_t partial, bits;

    // Lowers the number of bins until their columns fit in L2 and in the scratch memory that the call permits. A
    // block's words of these columns then fit in shared memory: 66 KB at most (bit_columns_needs).
    explicit Layout(const Args& a) : partition(a.n, max_bin_blocks) {
      bins = std::min<std::size_t>(max_column_bins, BinGrid(a.frame, bin_shift).count());
      const std::size_t column = partition.blocks << partition.words_shift;
      const auto fits = [&] {
        return bins * column <= max_column_words && (!a.scratch_bytes || bytes + sizeof(unsigned) <= a.scratch_bytes);
      };
      for (lay_out(column); bins && !fits(); lay_out(column)) bins = std::bit_floor(bins - 1);
    }

   private:
    void lay_out(std::size_t column) {
      bytes = 0;
      partial = add<Summary>(partition.blocks + 1);
      bits = add<unsigned>(bins * column);
    }
  };

  unsigned* bits;      // [bins][words()]
  unsigned* done;      // [1]: number of finished blocks; zero between launches
  float target_depth;  // optical depth that each pixel needs

  BinColumns(const Frame& window, const Layout& layout, char* memory, unsigned* counter, float target)
      : Bins{BinGrid(window, column_bin_shift), layout.partition, reinterpret_cast<Summary*>(memory + layout.partial),
             reinterpret_cast<Summary*>(memory + layout.partial) + layout.partition.blocks},
        bits(reinterpret_cast<unsigned*>(memory + layout.bits)),
        done(counter),
        target_depth(target) {}

  // Returns the number of words per column. Circle c has bit c % 32 of word c / 32.
  UPSWEEP_HD unsigned words() const { return partition.blocks << partition.words_shift; }
  __device__ unsigned* column(unsigned bin) const { return bits + std::size_t{bin} * words(); }
};

// ---- writing --------------------------------------------------------------------------------------------------------

// Writes the block's words of every column. The last block to finish combines the summaries.
static __global__ void __launch_bounds__(bin_threads) bin_bits_kernel(const float* circles,  // [n][8]
                                                                      std::size_t n, Frame f, BinColumns columns) {
  unsigned* const bitmap = dynamic_shared<unsigned>();  // [words][stride]
  __shared__ bool last;
  allow_next_launch();
  // Rows are padded, so that a warp reads the words of several bins without bank conflicts.
  const unsigned shift = columns.partition.words_shift, stride = columns.grid.count() + (warp_size >> shift);
  for (unsigned w = 4 * threadIdx.x; w < stride << shift; w += 4 * bin_threads)
    *reinterpret_cast<uint4*>(bitmap + w) = uint4{0, 0, 0, 0};
  __syncthreads();
  const unsigned first = threadIdx.x / warp_size * columns.partition.lanes;
  columns.each_bin(
      circles, n, f, [](std::size_t, BinKey) {},
      [&](unsigned bin, unsigned lane) {
        const unsigned bit = first + lane;
        atomicOr(&bitmap[bit / warp_size * stride + bin], 1u << bit % warp_size);
      });
  for (unsigned at = threadIdx.x; at < columns.grid.count() << shift; at += bin_threads) {
    const unsigned bin = at >> shift, word = at & (columns.partition.words() - 1);
    columns.column(bin)[(blockIdx.x << shift) + word] = bitmap[word * stride + bin];
  }
  if (threadIdx.x == 0) {
    last = take_ticket(columns.done) == gridDim.x - 1;
    if (last) *columns.done = 0;
  }
  __syncthreads();
  if (!last) return;
  const Summary summary = columns.summarize();
  if (threadIdx.x == 0) *columns.summary = summary;
}

inline Status fill(const BinColumns& columns, const Args& a) {
  const std::size_t words = columns.grid.count() << columns.partition.words_shift;
  return launch(bin_bits_kernel,
                {.grid = columns.partition.blocks,
                 .block = bin_threads,
                 .shared_bytes = (ceil_div(words, 4) * 4 + warp_size) * sizeof(unsigned),
                 .stream = a.stream},
                a.circles, a.n, a.frame, columns);
}

// ---- reading --------------------------------------------------------------------------------------------------------

// Part of a bin's column in registers, a few words per thread. All threads of the block call its members.
template <unsigned threads>
class Column {
 public:
  static constexpr unsigned max_per_thread = 8;
  __device__ Column(const unsigned* words, unsigned first, unsigned count)
      : per_thread_((count + threads - 1) / threads), first_(first + threadIdx.x * per_thread_) {
#pragma unroll
    for (unsigned k = 0; k < max_per_thread; ++k)
      if (k < per_thread_ && first_ + k < first + count) bits_[k] = words[first_ + k];
  }

  // Calls put(offset, circle) for each circle of the part, in the thread that has the circle's bit; offsets follow the
  // circles' order. Returns the number of circles to every thread. Contains a barrier.
  template <class Put>
  __device__ unsigned each(unsigned* warp_totals,  // [32], shared
                           Put&& put) const {
    unsigned sum = 0, total;
#pragma unroll
    for (const unsigned word : bits_) sum += unsigned(__popc(word));
    const unsigned upto = warp_scan(sum, Sum{});
    unsigned offset = sum_of_warps<threads>(upto, warp_totals, total) + upto - sum;
    if (sum == 0) return total;
#pragma unroll
    for (unsigned k = 0; k < max_per_thread; ++k)
      for (unsigned left = bits_[k]; left; left &= left - 1, ++offset)
        put(offset, (first_ + k) * warp_size + lowest_bit(left));
    return total;
  }

 private:
  const unsigned per_thread_, first_;
  unsigned bits_[max_per_thread]{};
};

// Reader of a bin's column from its end, a few words per thread and step: the sparser the column, the more words. A
// step finds at most `max_circles` circles. All threads of the block call its members.
template <unsigned threads, unsigned max_circles>
class ColumnEnd {
 public:
  __device__ ColumnEnd(const unsigned* words, unsigned count) : words_(words), left_(count) { load_first(); }
  bool __device__ empty() const { return left_ == 0; }

  // Stores the indices of the next circles, the last circle first, and returns their number to every thread; 0 only if
  // none are left. Ends with a barrier.
  __device__ unsigned next(unsigned* circles,      // [max_circles], shared
                           unsigned* warp_totals)  // [32], shared
  {
    __shared__ unsigned taken, n_found;
    while (left_ > 0) {
      if (again_) load_first();
      again_ = true;
      const unsigned per_thread = per_thread_;
      unsigned sum = 0, total;
      each_word([&](unsigned, unsigned bits) { sum += unsigned(__popc(bits)); });
      const unsigned upto = warp_scan(sum, Sum{});
      unsigned offset = sum_of_warps<threads>(upto, warp_totals, total) + upto - sum;
      if (offset + sum <= max_circles) {
        each_word([&](unsigned k, unsigned bits) {
          const unsigned first = (left_ - 1 - threadIdx.x * per_thread - k) * warp_size;
          for (; bits; ++offset) {
            const unsigned bit = highest_bit(bits);
            bits ^= 1u << bit;
            circles[offset] = first + bit;
          }
        });
      } else if (offset <= max_circles) {  // the first thread whose circles do not fit
        taken = threadIdx.x * per_thread, n_found = offset;
      }
      __syncthreads();
      if (total > max_circles) {
        left_ -= taken;
        return n_found;
      }
      left_ -= min(left_, threads * per_thread);
      // With at most max_circles / 32 words, a thread's circles always fit.
      if (total < max_circles / 2 && per_thread < max_circles / warp_size) per_thread_ *= 2;
      if (total > 0) return total;
    }
    return 0;
  }

 private:
  static constexpr unsigned at_first = max_circles / threads;
  // Returns the thread's k-th word, counted backwards from the last word not taken, or 0 before the first word.
  __device__ unsigned load(unsigned k) const {
    const unsigned at = threadIdx.x * per_thread_ + k;
    return at < left_ ? words_[left_ - 1 - at] : 0;
  }
  __device__ void load_first() {
#pragma unroll
    for (unsigned k = 0; k < at_first; ++k) first_[k] = load(k);
  }
  // Calls f(k, word) for the thread's words.
  template <class F>
  __device__ __forceinline__ void each_word(F&& f) const {
#pragma unroll
    for (unsigned k = 0; k < at_first; ++k) f(k, first_[k]);
    for (unsigned k = at_first; k < per_thread_; ++k) f(k, load(k));
  }

  const unsigned* const words_;
  unsigned left_;  // words not yet taken
  unsigned per_thread_ = at_first;
  unsigned first_[at_first];  // words k < at_first, preloaded
  bool again_ = false;        // first_ has been used and must be reloaded
};

}  // namespace upsweep::ladders::render
