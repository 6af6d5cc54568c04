// reduce/first_extreme: argmin and argmax, the index of the first smallest or largest element.
//
// Each element is mapped to a signed integer key: a better element has a larger key, and equal elements have equal
// keys. Both operations then look for the largest key, so one kernel serves both. A candidate is a key and the
// complement of the element's index: in whatever order candidates are compared, the largest is the first of the best
// elements. Everything else is as in overlap.
//
// Traffic   as vec16; four 8-byte words per block.
// Order     irrelevant: the same index with any grid.
// Source    Harris, Optimizing Parallel Reduction in CUDA, 2007; keys as in radix sorts of floats (Herf, 2001).
#pragma once
#include <limits>
#include <type_traits>

#include "base/unsigned_as.h"
#include "ladders/reduce/finish.cuh"

namespace upsweep::ladders::reduce {

// ---- keys -----------------------------------------------------------------------------------------------------------

template <class T>
constexpr UnsignedAs<T> bits_of_infinity() {
  if constexpr (is_half<T>)
    return T::infinity;
  else
    return sizeof(T) == 4 ? UnsignedAs<T>(0x7f800000u) : static_cast<UnsignedAs<T>>(0x7ff0000000000000u);
}

// Maps elements to keys. T is an unsigned integer or a floating-point type. Passed to kernels by value.
template <class T>
struct ExtremeKeys {
  using Bits = UnsignedAs<T>;
  using Key = std::make_signed_t<Bits>;
  static constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
  static constexpr Bits infinity = bits_of_infinity<T>();  // used for floats only
  Bits flip;  // XOR mask: reverses the order for a minimum, and makes unsigned integers signed

  // Returns the key of x. Every NaN has the largest key, and both zeros have key 0.
  __device__ __forceinline__ Key operator()(T x) const {
    Bits bits;
    memcpy(&bits, &x, sizeof x);
    bits ^= flip;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<Key>(bits);
    } else {
      const Bits magnitude = bits & ~sign;
      const Key key = static_cast<Key>(bits & sign ? Bits{0} - magnitude : magnitude);
      return magnitude > infinity ? std::numeric_limits<Key>::max() : key;
    }
  }
};

template <class T, class Op>
constexpr UnsignedAs<T> flip_for() {
  constexpr UnsignedAs<T> sign = ExtremeKeys<T>::sign;
  constexpr UnsignedAs<T> ascending = std::is_unsigned_v<T> ? sign : 0;
  if constexpr (std::is_same_v<Op, ArgMax>)
    return ascending;
  else
    return is_floating<T> ? sign : static_cast<UnsignedAs<T>>(~ascending);
}

// ---- candidates -----------------------------------------------------------------------------------------------------

// A key, in two words, and the complement of its element's index, in two. Candidates are compared word by word, the
// most significant word first. All zeros: no candidate.
struct alignas(16) Candidate {
  unsigned word[4];

  __device__ std::size_t index() const { return ~(std::size_t(word[2]) << 32 | word[3]); }
};
__device__ __forceinline__ Candidate make_candidate(std::int64_t key, std::size_t index) {
  constexpr unsigned sign = 0x80000000u;  // flipped, so that signed keys compare as unsigned words
  return {{unsigned(key >> 32) ^ sign, unsigned(key), ~unsigned(index >> 32), ~unsigned(index)}};
}

struct Better {
  template <class C>
  UPSWEEP_HD static constexpr C neutral() {
    return {};
  }
  __device__ Candidate operator()(const Candidate& a, const Candidate& b) const {
    for (unsigned k = 0; k < 4; ++k)
      if (a.word[k] != b.word[k]) return a.word[k] > b.word[k] ? a : b;
    return a;
  }
};

// Warp-wide: returns the largest candidate to every lane. It has the largest first word, then the largest second word
// among the lanes that have that first word, and so on. Each word takes one reduction instruction instead of five
// shuffle steps.
__device__ __forceinline__ Candidate warp_reduce(Candidate candidate, Better) {
  bool is_best = true;
#pragma unroll
  for (unsigned& word : candidate.word) {
    const unsigned largest = warp_reduce_all(is_best ? word : 0u, Max{});
    is_best &= word == largest;
    word = largest;
  }
  return candidate;
}

// ---- the kernel -----------------------------------------------------------------------------------------------------

// Like steps_of_thread<Walk::shares>(), with the share computed by the host: two 64-bit divisions would delay every
// block's first load.
__device__ __forceinline__ Steps steps_in_share(std::size_t packs, std::size_t share) {
  const std::size_t begin = blockIdx.x * share;
  return {begin + threadIdx.x, begin + share < packs ? begin + share : packs, blockDim.x};
}

// Returns the best of this thread's packs and of its elements of the unaligned ends (as in thread_sum()), or no
// candidate if it has no elements.
template <unsigned InFlight, class T>
__device__ __forceinline__ Candidate best_of_thread(const PackSplit<T>& split, const T* in, const Steps& steps,
                                                    ExtremeKeys<T> key_of) {
  using Key = typename ExtremeKeys<T>::Key;
  constexpr unsigned size = Pack<T>::size;
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t tail = split.head + split.packs * size;
  const bool has_head = thread < split.head, has_packs = steps.first < steps.end, has_tail = thread < split.tail;

  // Start with the thread's first element and the lowest key. Only a larger key replaces the best one, so the first of
  // equal elements stays.
  Key best = std::numeric_limits<Key>::min();
  std::size_t index = has_head ? thread : has_packs ? split.head + steps.first * size : tail + thread;
  const auto take = [&](Key key, std::size_t i) {
    if (key > best) best = key, index = i;
  };
  if (has_head) take(key_of(in[thread]), thread);
  const auto [first, end, step] = steps;
  for (std::size_t i = first; i < end; i += InFlight * step) {
    // Packs past the end are replaced by the round's first pack, which cannot change the result. If their loads were
    // skipped, the compiler would move each load of the last round behind the preceding comparisons and wait for it.
    const auto position = [&](unsigned k) { return i + k * step < end ? i + k * step : i; };
    uint4 packs[InFlight];
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k)
      packs[k] = load_once(reinterpret_cast<const uint4*>(split.aligned + position(k) * size));
#pragma unroll
    for (unsigned k = 0; k < InFlight; ++k) {
      const Pack<T> pack = as_pack<T>(packs[k]);
      Key keys[size];
#pragma unroll
      for (unsigned j = 0; j < size; ++j) keys[j] = key_of(pack.item[j]);
      Key largest = keys[0];
#pragma unroll
      for (unsigned j = 1; j < size; ++j) largest = Max{}(largest, keys[j]);
      if (largest > best) {
        unsigned item = size - 1;
#pragma unroll
        for (unsigned j = size - 1; j-- > 0;)
          if (keys[j] == largest) item = j;
        take(largest, split.head + position(k) * size + item);
      }
    }
  }
  if (has_tail) take(key_of(in[tail + thread]), tail + thread);

  return has_head || has_packs || has_tail ? make_candidate(best, index) : Candidate{};
}

template <class T>
__global__ void __launch_bounds__(1024, 1)
    first_extreme_kernel(const T* in,                     // [n]
                         std::uint64_t* out,              // [1]
                         unsigned long long* candidates,  // [gridDim.x * words_per<Candidate>], zero
                         std::size_t n,
                         std::size_t share,  // packs per block
                         ExtremeKeys<T> key_of) {
  allow_next_launch();
  const PackSplit<T> split(in, n);
  const Steps steps = steps_in_share(split.packs, share);
  prefetch_rows<2>(split, steps);
  wait_for_previous();
  Candidate best = best_of_thread<4>(split, in, steps, key_of);
  if (collect(best, Better{}, candidates)) out[0] = best.index();
}

struct first_extreme {
  static constexpr Story story{
      .idea = "elements become integer keys; the largest pair of key and complemented index is the first extreme",
      .prediction = "as fast as overlap from 2^24 on; half a microsecond more at small n, for the longer totals",
      .guarantees = "the same index with any grid and alignment",
      .limits = "argmin and argmax; any n; whole warps",
      .source = "Harris, Optimizing Parallel Reduction in CUDA, 2007"};
  static constexpr bool blocks_in_order = true;
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class Op>
  static constexpr bool supports = is_index_of<Op>;
  template <class T, class Op>
  static Status run(const IndexArgs<T, Op>& a) {
    // One block up to 64 KB, as in overlap; above, two packs per thread, up to two blocks per multiprocessor.
    const std::size_t bytes = a.n * sizeof(T);
    const bool one_block = bytes <= 64 * 1024;
    const unsigned block = a.tuning.block_or(one_block && bytes > 16 * 1024 ? 1024 : 512);
    const unsigned grid = a.tuning.grid_or(one_block ? 1 : blocks_for<T>(a.n, block, 2, 2));
    if (!whole_warps(block)) return not_whole_warps;
    unsigned long long* const candidates = mailboxes<Candidate>(a, grid);
    if (!candidates) return {Code::out_of_memory, 0, "no memory for the block totals"};
    // Signed integers are read as unsigned ones: their keys differ only in the mask.
    using Element = std::conditional_t<std::is_integral_v<T>, UnsignedAs<T>, T>;
    const Element* const in = reinterpret_cast<const Element*>(a.in);
    const std::size_t rows = ceil_div(ceil_div(PackSplit<Element>(in, a.n).packs, grid), block);
    return launch(first_extreme_kernel<Element>, {.grid = grid, .block = block, .overlap = true, .stream = a.stream},
                  in, a.out, candidates, a.n, rows * block, ExtremeKeys<Element>{flip_for<T, Op>()});
  }
};

}  // namespace upsweep::ladders::reduce
