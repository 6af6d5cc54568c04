// A sort with one kernel per digit; each pass reads and writes keys and values once. The tiles are those of
// ballot_passes(), lane_passes() or match_passes().
#pragma once
#include "kernel/multisplit/lookback.h"
#include "kernel/multisplit/tile_partition.h"
#include "ladders/sort/choose.h"
#include "ladders/sort/digit_counts.cuh"

namespace upsweep::ladders::sort {

// Maps a key to its bucket, a digit of its number. An integer's number is the key XOR a constant, so the key's digit is
// XORed, and keys are moved unchanged. Floats are stored as numbers between the first pass and the last, so their
// `flip` is 0.
template <class K>
struct FlippedDigit {
  unsigned first_bit;
  unsigned count;  // a power of two
  unsigned flip;   // XOR mask from a key's digit bits to its bucket
  K last;
  UPSWEEP_HD K last_key() const { return last; }
  UPSWEEP_HD unsigned operator()(K key) const { return (static_cast<unsigned>(key >> first_bit) & (count - 1)) ^ flip; }
};
// Maps a float's number to its digit. Equal floats have the same digit even if their numbers differ.
template <class K>
struct MergedDigit {
  FloatKeyOrder<K> order;
  unsigned shift;
  unsigned count;  // a power of two
  K last;
  UPSWEEP_HD K last_key() const { return last; }
  UPSWEEP_HD unsigned operator()(K number) const {
    return static_cast<unsigned>(order.merged(number) >> shift) & (count - 1);
  }
};

// The arrays of keys or values. Passes alternate between `buffer` and `out`, so that the last of `count` passes writes
// `out`.
struct Buffers {
  const void* in;
  void *out, *buffer;
  __device__ void* to(unsigned pass, unsigned count) const { return (count - pass) % 2 == 1 ? out : buffer; }
  __device__ const void* from(unsigned pass, unsigned count) const { return pass == 0 ? in : to(pass - 1, count); }
};

// A KeyCodec: tiles hold floats as numbers.
template <class K>
struct OrderCodec {
  KeyOrder<K> in, out;
  __device__ K encode(K read) const { return in(read); }
  __device__ K read_as(K key) const { return in.key(key); }
  __device__ K decode(K key) const { return out.key(key); }
};

// A stable partition by one digit, the work of one kernel.
template <class K, bool is_float, class Lookup>
struct SweepPass {
  using Codec = std::conditional_t<is_float, OrderCodec<K>, multisplit::IdentityCodec>;
  bool skipped, merges;
  multisplit::BucketedKeys<K, FlippedDigit<K>> in;
  std::conditional_t<is_float, MergedDigit<K>, multisplit::IdentityCodec> merged;
  K* out;
  Values values;
  Lookup lookup;
  Codec codec;

  // Calls f with the keys and their digits. Merging numbers takes five instructions per digit of a key, so f is
  // compiled with and without it: most floats are neither -0 nor NaN.
  template <class F>
  __device__ __forceinline__ void with_input(F&& f) const {
    if constexpr (is_float)
      if (merges) return f(multisplit::BucketedKeys<K, MergedDigit<K>>{in.keys, in.n, merged});
    f(in);
  }
};

template <class K, bool is_float>
struct Sweep {
  Buffers keys, values;
  unsigned value_bytes;
  std::size_t n;
  std::conditional_t<is_float, FloatKeyOrder<K>, KeyOrder<K>> order;
  Digits digits;
  unsigned tiles, portions, per_portion;  // a pass is a launch per portion; the last portion may be smaller
  Passes* passes;
  unsigned* words;  // [2][Lookup::rows_for(per_portion)][digit_values]: this launch's, and the next one's, zeroed here
  unsigned portion;

  UPSWEEP_HD unsigned first_tile() const { return portion * per_portion; }
  UPSWEEP_HD unsigned tiles_of_portion() const {
    return tiles - first_tile() < per_portion ? tiles - first_tile() : per_portion;
  }

  // Block-wide: returns pass `number`, once the digits are counted. One thread of the block reads each word: if every
  // warp of the grid loads the same word, the loads queue at L2 (5 us with 500 blocks).
  template <class Lookup>
  __device__ SweepPass<K, is_float, Lookup> pass(unsigned number) const {
    __shared__ unsigned read[3];
    if (threadIdx.x < 3)
      read[threadIdx.x] = threadIdx.x == 0 ? passes->digit[number] : threadIdx.x == 1 ? passes->count : passes->merges;
    __syncthreads();
    const bool is_skipped = read[0] == sort::skipped;
    const unsigned d = is_skipped ? 0 : read[0], count = read[1];
    const std::size_t half = Lookup::rows_for(per_portion) * digit_values;
    const unsigned parity = (number * portions + portion) % 2;
    std::uint64_t *const even = passes->starts[d], *const odd = passes->other_starts;
    const unsigned first_bit = digits.first_bit_of(d), values_of_digit = digits.values(d);
    const KeyOrder<K> total = order.total();
    const auto flip = static_cast<unsigned>(total.flip >> first_bit) & (values_of_digit - 1);
    typename SweepPass<K, is_float, Lookup>::Codec codec;
    decltype(SweepPass<K, is_float, Lookup>::merged) merged{};
    if constexpr (is_float) {
      codec = {number == 0 ? total : KeyOrder<K>{}, number + 1 == count ? total : KeyOrder<K>{}};
      merged = {order, first_bit, values_of_digit, order.last(digits.end_bit_of(d))};
    }
    constexpr K all_set = static_cast<K>(~K(0));
    return {is_skipped,
            read[2] != 0,
            {static_cast<const K*>(keys.from(number, count)),
             n,
             {first_bit, values_of_digit, is_float ? 0 : flip, is_float ? all_set : total.key(all_set)}},
            merged,
            static_cast<K*>(keys.to(number, count)),
            {values.from(number, count), values.to(number, count), value_bytes},
            {{first_tile(), first_tile() + tiles_of_portion(), portion % 2 ? odd : even, portion % 2 ? even : odd,
              words + parity * half, words + (1 - parity) * half, per_portion}},
            codec};
  }
};

template <class Order>
using SweepOf = Sweep<typename Order::Key, Order::merges>;

// For kernels of persistent blocks: calls partition(pass, input, queue, first_tile), unless pass d is skipped.
// `first_tile`, valid in thread 0, is drawn before the pass is looked up, so that both accesses are in flight together.
template <class Lookup, class K, bool is_float, class Partition>
__device__ __forceinline__ void with_pass_and_tiles(const Sweep<K, is_float>& sweep, unsigned d, unsigned* next_tile,
                                                    Partition&& partition) {
  const multisplit::TileQueue queue{next_tile, sweep.tiles_of_portion(), sweep.first_tile()};
  const unsigned first_tile = threadIdx.x == 0 ? queue.draw() : 0;
  const auto pass = sweep.template pass<Lookup>(d);
  if (!pass.skipped)
    pass.with_input([&](const auto& in) { partition(pass, in, queue, first_tile); });
  else if (threadIdx.x == 0)
    queue.leave(first_tile);
}

// The sort of each bucket, which may follow a pass by the highest digit.
template <class Order>
struct BucketSort {
  unsigned max_keys;  // per bucket; if any bucket has more, a pass per digit runs instead
  Status (*start)(const KeyArgs<Order>&, const SweepOf<Order>&);
};

// Each of these functions is compiled once, in the unit of the rung that its comment names.
//
// Sorts in tiles ranked by ballots, for any keys and values: onesweep_8bit.
template <class Order>
Status ballot_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort = nullptr);

// Sorts in tiles ranked by per-lane byte counters: lane_sweep.
template <class Order>
Status lane_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort = nullptr);

// Sorts in tiles ranked by match-any, on all supported GPUs: match_sweep.
template <class Order>
Status match_passes(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort = nullptr);

// Calls f<bytes>() with the size of a value. Refuses keys and values that do not fit the tiles of lane_sweep and
// match_sweep.
template <class Order, class F>
Status by_value_bytes(const KeyArgs<Order>& a, F&& f) {
  constexpr std::size_t key_bytes = sizeof(typename Order::Key);
  if (!takes_tile_passes(a.n, key_bytes, a.values.bytes))
    return {Code::unsupported, 0, "this rung takes values of up to 8 bytes, 4 with 2-byte keys, and n below 2^32"};
  if (a.values.bytes == 0) return f.template operator()<0>();
  if constexpr (key_bytes > 2)
    if (a.values.bytes == 8) return f.template operator()<8>();
  return f.template operator()<4>();
}

// Maximum keys per portion. A look-back word counts less than 2^30 keys; portions of half as many need half of the
// memory for words.
inline constinit Threshold portion_keys{"portion_keys", 1 << 29, 1 << 15, {.min = 1 << 15, .max = 1 << 29}};

// Runs a whole sort: counts all digits in one read, then calls launch_pass(sweep, number, next_tile) per portion of
// every pass that may be needed. After the first pass it also launches the sort of buckets, if there is one. `Lookup`
// is the policy by which tiles find their offsets.
template <multisplit::TileOffsets Lookup, class Order, class LaunchPass>
Status sweep_digits(const KeyArgs<Order>& a, const BucketSort<Order>* bucket_sort, unsigned tile,
                    LaunchPass&& launch_pass) {
  using Key = typename Order::Key;
  if (a.n == 0) return {};
  const Digits digits{a.first_bit, a.bits};
  const auto tiles = static_cast<unsigned>(ceil_div(a.n, tile));
  const auto portions = static_cast<unsigned>(ceil_div(tiles, portion_keys / tile));
  const auto per_portion = static_cast<unsigned>(ceil_div(tiles, portions));
  const bool has_values = a.values.bytes > 0;
  // 1. Take memory: the look-back words of two launches, the plan of the passes, a buffer for values, one for keys, and
  // one to replace the output of keys if only indices are requested.
  Scratch scratch(*a.workspace);
  const std::size_t half = Lookup::rows_for(per_portion) * digit_values;
  auto* const words = scratch.take<unsigned>(2 * half);
  auto* const passes = scratch.take<Passes>(1);
  auto* const value_buffer = scratch.take<std::byte>(a.n * a.values.bytes);
  auto* const key_buffer = scratch.take<Key>(a.n);
  Key* const key_output = a.out ? a.out : scratch.take<Key>(a.n);
  auto* const counts =
      reinterpret_cast<Counter*>(a.workspace->counters(max_digits * digit_values * sizeof(Counter) / 4 + 3));
  if (!scratch || !counts) return no_memory;
  SweepOf<Order> sweep{{a.keys, key_output, key_buffer},
                       {a.values.in, a.values.out, value_buffer},
                       a.values.bytes,
                       a.n,
                       a.order,
                       digits,
                       tiles,
                       portions,
                       per_portion,
                       passes,
                       words,
                       0};
  // 2. Count the digits and plan the passes.
  const bool keys_in_place = a.keys == a.out, values_in_place = has_values && a.values.in == a.values.out;
  const bool even = keys_in_place || values_in_place, stays = keys_in_place && (values_in_place || !has_values);
  const bool by_bucket = bucket_sort && portions == 1;
  const PassRules rules{even, stays ? 0u : 1u, by_bucket ? bucket_sort->max_keys : 0};
  unsigned* const done = reinterpret_cast<unsigned*>(counts + max_digits * digit_values);
  const auto count_in = [&]<unsigned counted, unsigned copies>() {
    return launch(digit_counts_kernel<counted, copies, Order>,
                  {.grid = persistent_grid(ceil_div(a.n, counts_block * Pack<Key>::size)),
                   .block = counts_block,
                   .shared_bytes = counts_bytes(counted, copies),
                   .stream = a.stream},
                  a.keys, a.n, a.order, digits, rules, counts, done, passes, reinterpret_cast<uint4*>(words),
                  half * sizeof(unsigned) / sizeof(uint4));
  };
  const auto count = [&]<unsigned counted>() {
    return machine().meets(digit_counts_needs(counted)) ? count_in.template operator()<counted, copies<counted>>()
                                                        : count_in.template operator()<counted, few_copies<counted>>();
  };
  constexpr unsigned all = sizeof(Key);
  if (Status s = all > 4 && digits.count() <= 4 ? count.template operator()<(all > 4 ? 4 : all)>()
                                                : count.template operator()<all>();
      !s)
    return s;
  // 3. Run the passes.
  for (unsigned number = 0; number < digits.count() + (even && digits.count() % 2); ++number) {
    for (sweep.portion = 0; sweep.portion < portions; ++sweep.portion)
      if (Status s = launch_pass(sweep, number, done + 2); !s) return s;
    if (by_bucket && number == 0)
      if (Status s = bucket_sort->start(a, sweep); !s) return s;
  }
  return {};
}

}  // namespace upsweep::ladders::sort
