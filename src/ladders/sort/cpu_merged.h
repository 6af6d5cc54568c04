// Floats that are equal though their bits differ: -0 and +0, and NaN.
//
// The loops of cpu_simd.h store numbers instead of keys and restore the keys from them, so they cannot use merged
// numbers, which different keys may share. One read of the keys tells whether any is -0 or NaN. If so, the merged
// numbers are sorted as integer keys, with the keys as values. If the call already has values, or keys are narrower
// than values can be, the values are indices instead, by which keys and values are then gathered.
#pragma once
#include <algorithm>
#include <atomic>

#include "cpu/parallel.h"
#include "ladders/sort/cpu_cores.h"

namespace upsweep::ladders::sort {

// Calls f(begin, end) for parts of n elements, on `threads` threads.
template <class F>
void in_parts_of(std::size_t n, int threads, F&& f) {
  constexpr std::size_t part = std::size_t{1} << 16;  // takes at least 20 us
  std::atomic<std::size_t> taken = 0;
  upsweep::parallel(n <= part ? 1 : threads, threads, [&](int) {
    for (std::size_t i; (i = part * taken.fetch_add(1, std::memory_order_relaxed)) < n;) f(i, std::min(i + part, n));
  });
}

// True if keys of this size can be sorted along as values.
constexpr bool moves_keys(unsigned key_bytes) { return key_bytes >= 4; }

// True if any key of a call is -0 or NaN.
template <class T, class O>
bool any_merge(const Args<T, O>& a, int threads) {
  std::atomic<bool> found = false;
  in_parts_of(a.n, threads, [&](std::size_t begin, std::size_t end) {
    if (!found.load(std::memory_order_relaxed) && zero_or_nan(type_of<T>(), a.keys + begin, end - begin))
      found.store(true, std::memory_order_relaxed);
  });
  return found;
}

// Returns the maximum scratch bytes per key that a CPU rung takes, with a value or index of `value_bytes`. `merges`:
// there may be keys that are equal though their bits differ.
inline std::size_t most_scratch_of_key(unsigned key_bytes, unsigned value_bytes, bool merges) {
  constexpr unsigned index_bytes = 4;
  if (!merges) return 2 * form_of(key_bytes, value_bytes).bytes();
  if (value_bytes == 0 && moves_keys(key_bytes)) return key_bytes + 2 * form_of(key_bytes, key_bytes).bytes();
  return key_bytes + index_bytes + value_bytes + 2 * form_of(key_bytes, index_bytes).bytes();
}

// Sorts by merged numbers, with sort(caller).
template <class T, class O, class Sort>
Status sort_merged(const Args<T, O>& a, int threads, Sort&& sort) {
  using Key = typename Args<T, O>::Key;
  const std::size_t n = a.n;
  const bool keys_as_values = a.values.bytes == 0 && moves_keys(sizeof(Key));
  const bool gathers = !keys_as_values && (a.out || a.values.in), writes_indices = a.indices();
  const unsigned index_bytes = writes_indices ? a.values.bytes : wide(n) ? 8 : 4;
  const bool moves_values = a.values.in && a.values.in == a.values.out;  // through a temporary array
  // 1. Compute the merged numbers. Take memory for indices, and for values that are gathered in place.
  Scratch scratch(*a.workspace);
  auto* const numbers = scratch.take<Key>(n);
  auto* const new_indices = keys_as_values || writes_indices ? nullptr : scratch.take<std::byte>(n * index_bytes);
  auto* const values_room = moves_values ? scratch.take<std::byte>(n * a.values.bytes) : nullptr;
  if (!scratch) return no_memory;
  if (!a.stream.dry)
    in_parts_of(n, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) numbers[i] = a.order(a.keys[i]);
    });
  // 2. Sort, with the keys or their indices as values.
  void* const moved = keys_as_values ? static_cast<void*>(a.out) : writes_indices ? a.values.out : new_indices;
  const unsigned moved_bytes = keys_as_values ? sizeof(Key) : index_bytes;
  if (Status s = sort(Caller{.keys = numbers,
                             .values = keys_as_values ? a.keys : nullptr,
                             .out_keys = nullptr,
                             .out_values = moved,
                             .key_bytes = sizeof(Key),
                             .value_bytes = moved_bytes,
                             .flip = 0,
                             .negative = 0,
                             .loops = &simd_loops(sizeof(Key), moved_bytes)});
      !s || !gathers || a.stream.dry)
    return s;
  // 3. Gather. In place, keys go through the memory of the numbers, now free, and values through `values_room`.
  const multisplit::Offsets indices{moved, index_bytes == 8};
  const auto gather = [&]<class V>(const V* from, V* to, void* room) {
    V* const gathered = from == to ? static_cast<V*>(room) : to;
    in_parts_of(n, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) gathered[i] = from[indices.get(i)];
    });
    if (gathered != to)
      in_parts_of(n, threads,
                  [&](std::size_t begin, std::size_t end) { std::copy(gathered + begin, gathered + end, to + begin); });
  };
  if (a.out) gather(a.keys, a.out, numbers);
  if (a.values.in) a.values.visit([&]<class V>(const V* from, V* to) { gather(from, to, values_room); });
  return {};
}

// Sorts a call's arrays with sort(caller): by merged numbers if any key is -0 or NaN and floats compare by value.
template <class T, class O, class Sort>
Status sort_by_numbers(const Args<T, O>& a, int threads, Sort&& sort) {
  if constexpr (is_floating<T>)
    if (a.order.by_value()) {
      if (a.stream.dry) {  // the path depends on the keys
        if (const Status status = sort_merged(a, threads, sort); !status) return status;
      } else if (any_merge(a, threads)) {
        return sort_merged(a, threads, sort);
      }
    }
  return sort(caller_of(a));
}

}  // namespace upsweep::ladders::sort
