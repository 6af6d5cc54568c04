// The arguments of a stable multisplit: keys and their buckets, the values that accompany the keys, and the bucket
// offsets.
#pragma once
#include "base/implementation.h"

namespace upsweep::multisplit {

// Maximum number of buckets for ranking with counters per lane or per warp.
inline constexpr unsigned max_counted = 256;
// Maximum number of buckets for which a block's rows of an offset table fit in shared memory (wide_table.h).
inline constexpr unsigned max_in_table = 1 << 11;

// Returns the largest divisor of `number` up to `max`.
constexpr unsigned largest_divisor(unsigned number, unsigned max) {
  while (number % max) --max;
  return max;
}

// Keys, and the function that maps a key to its bucket, below `buckets.count`. Plain data, passed to kernels by value.
template <class T, class B>
struct BucketedKeys {
  const T* keys;  // [n]
  std::size_t n;
  B buckets;

  UPSWEEP_HD unsigned bucket_of(std::size_t i) const { return buckets(keys[i]); }
};

// A 16-byte value, aligned to 8 bytes.
struct Wide {
  std::uint64_t low, high;
};

// The values: payload that is copied but never inspected.
struct Values {
  const void* in;  // [n]
  void* out;       // [n]
  unsigned bytes;  // per value: 4, 8 or 16; 0 without values

  // Calls f with `in` and `out` as pointers to a type of `bytes` bytes; does nothing without values.
  template <class F>
  UPSWEEP_HD void visit(F&& f) const {
    switch (bytes) {
      case 0:
        return;
      case 4:
        return f(static_cast<const std::uint32_t*>(in), static_cast<std::uint32_t*>(out));
      case 8:
        return f(static_cast<const std::uint64_t*>(in), static_cast<std::uint64_t*>(out));
      default:
        return f(static_cast<const Wide*>(in), static_cast<Wide*>(out));
    }
  }
  // Calls f.operator()<bytes>(), with the size as a compile-time constant.
  template <class F>
  Status by_size(F&& f) const {
    switch (bytes) {
      case 0:
        return f.template operator()<0>();
      case 4:
        return f.template operator()<4>();
      case 8:
        return f.template operator()<8>();
      default:
        return f.template operator()<16>();
    }
  }
  // Copies value `from` of `in` to position `to` of `out`. If `in` is null, as in a sort that returns indices, the
  // value is the index `from`.
  UPSWEEP_HD void move(std::size_t from, std::size_t to) const {
    visit([=]<class V>(const V* all, V* moved) {
      if constexpr (std::is_integral_v<V>)
        moved[to] = all ? all[from] : static_cast<V>(from);
      else
        moved[to] = all[from];
    });
  }
};

// A value in registers: Values::move() in two steps, for a thread that knows the source early and the destination late,
// so that the latency of the load is hidden.
struct Payload {
  std::uint64_t low = 0, high = 0;

  UPSWEEP_HD void load(const Values& values, std::size_t from) {
    values.visit([&]<class V>(const V* all, V*) {
      if constexpr (std::is_integral_v<V>) {
        low = all ? all[from] : from;
      } else {
        low = all[from].low, high = all[from].high;
      }
    });
  }
  UPSWEEP_HD void store(const Values& values, std::size_t to) const {
    values.visit([&]<class V>(const V*, V* moved) {
      if constexpr (std::is_integral_v<V>)
        moved[to] = static_cast<V>(low);
      else
        moved[to] = V{low, high};
    });
  }
};

// A key and its payload.
template <class T>
struct Pair {
  T key{};
  Payload payload;

  UPSWEEP_HD void load(const T* keys, const Values& values, std::size_t from) {
    key = keys[from];
    payload.load(values, from);
  }
  UPSWEEP_HD void store(T* out, const Values& values, std::size_t to) const {
    out[to] = key;
    payload.store(values, to);
  }
};

// True if offsets from 0 to n need more than 32 bits.
constexpr bool wide(std::size_t n) { return n > 0xffffffffu; }

struct Offsets {
  void* array;  // [buckets + 1], u64 or i64 if wide, else u32 or i32
  bool wide;

  UPSWEEP_HD void put(std::size_t bucket, std::uint64_t offset) const {
    if (wide)
      static_cast<std::uint64_t*>(array)[bucket] = offset;
    else
      static_cast<std::uint32_t*>(array)[bucket] = static_cast<std::uint32_t>(offset);
  }
  UPSWEEP_HD std::uint64_t get(std::size_t bucket) const {
    return wide ? static_cast<const std::uint64_t*>(array)[bucket] : static_cast<const std::uint32_t*>(array)[bucket];
  }
};

// The arguments of one multisplit.
template <class T, class B>
struct Task : Execution {
  BucketedKeys<T, B> in;
  T* keys;  // [n], the output
  Values values;
  Offsets offsets;
};

inline constexpr Status no_memory{Code::out_of_memory, 0, "no memory for the buckets' counts"};

}  // namespace upsweep::multisplit
