// Floats that are equal though their bits differ: -0 and +0, and NaN.
//
// The loops of cpu_simd.h keep numbers instead of keys and bring the keys back from them, so different keys must have
// different numbers. Where some do not, which one read of the keys tells, their merged numbers are sorted like keys of
// integers, and the keys go along as values. If there are values already, indices go along instead, by which keys and
// values are gathered.
#pragma once
#include <algorithm>
#include <atomic>

#include "cpu/parallel.h"
#include "ladders/sort/cpu_cores.h"

namespace upsweep::ladders::sort {

// Calls f(begin, end) for parts of n elements, on this many threads.
template <class F>
void in_parts_of(std::size_t n, int threads, F&& f) {
  constexpr std::size_t part = std::size_t{1} << 16;  // 20 us or more
  std::atomic<std::size_t> taken = 0;
  upsweep::parallel(n <= part ? 1 : threads, threads, [&](int) {
    for (std::size_t i; (i = part * taken.fetch_add(1, std::memory_order_relaxed)) < n;) f(i, std::min(i + part, n));
  });
}

// True if there are -0 or NaN among a call's keys.
template <class T, class O>
bool any_merge(const Args<T, O>& a, int threads) {
  std::atomic<bool> found = false;
  in_parts_of(a.n, threads, [&](std::size_t begin, std::size_t end) {
    if (!found.load(std::memory_order_relaxed) && zero_or_nan(sizeof(T), a.keys + begin, end - begin))
      found.store(true, std::memory_order_relaxed);
  });
  return found;
}

// Returns the most scratch that a CPU rung takes per key, beside a value of so many bytes, or an index. `merges`: there
// may be keys that are equal though their bits differ.
inline std::size_t most_scratch_of_key(unsigned key_bytes, unsigned value_bytes, bool merges) {
  constexpr unsigned index_bytes = 4;
  if (!merges) return 2 * form_of(key_bytes, value_bytes).bytes();
  if (value_bytes == 0) return key_bytes + 2 * form_of(key_bytes, key_bytes).bytes();
  return key_bytes + index_bytes + value_bytes + 2 * form_of(key_bytes, index_bytes).bytes();
}

// Sorts by merged numbers, by sort(caller).
template <class T, class O, class Sort>
Status sort_merged(const Args<T, O>& a, int threads, Sort&& sort) {
  using Key = typename Args<T, O>::Key;
  const std::size_t n = a.n;
  const bool keys_as_values = a.values.bytes == 0, gathers = !keys_as_values && (a.out || a.values.in);
  const unsigned index_bytes = a.indices() ? a.values.bytes : wide(n) ? 8 : 4;
  const bool moves_values = a.values.in && a.values.in == a.values.out;  // to memory of their own, and back
  // 1. The merged numbers; where they were; values that are gathered in place.
  const auto rounded = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
  const std::size_t number_bytes = rounded(n * sizeof(Key)), indices_bytes = a.values.in ? rounded(n * index_bytes) : 0;
  auto* const memory = static_cast<std::byte*>(a.workspace->scratch_of_caller(
      number_bytes + indices_bytes + (moves_values ? n * a.values.bytes : 0), /*depth=*/2));
  if (!memory) return no_memory;
  auto* const numbers = reinterpret_cast<Key*>(memory);
  in_parts_of(n, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) numbers[i] = a.order(a.keys[i]);
  });
  // 2. Sorted, with the keys or their indices.
  void* const moved = keys_as_values ? static_cast<void*>(a.out) : a.values.in ? memory + number_bytes : a.values.out;
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
      !s || !gathers)
    return s;
  // 3. Gathered; in place by way of the memory for the numbers, which are done with, and that for the values.
  const multisplit::Offsets indices{moved, index_bytes == 8};
  const auto gather = [&]<class V>(const V* from, V* to, void* room) {
    V* const gathered = from == to ? static_cast<V*>(room) : to;
    in_parts_of(n, threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) gathered[i] = from[indices.get(i)];
    });
    if (gathered != to)
      in_parts_of(n, threads, [&](std::size_t begin, std::size_t end) {
        std::copy(gathered + begin, gathered + end, to + begin);
      });
  };
  if (a.out) gather(a.keys, a.out, numbers);
  if (a.values.in)
    a.values.visit([&]<class V>(const V* from, V* to) { gather(from, to, memory + number_bytes + indices_bytes); });
  return {};
}

// Sorts a call's arrays by sort(caller).
template <class T, class O, class Sort>
Status sort_by_numbers(const Args<T, O>& a, int threads, Sort&& sort) {
  if constexpr (std::is_floating_point_v<T>)
    if (a.order.by_value() && any_merge(a, threads)) return sort_merged(a, threads, sort);
  return sort(caller_of(a));
}

}  // namespace upsweep::ladders::sort
