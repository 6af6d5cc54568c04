// sort/split_1bit: a pass per bit; a scan moves keys with a 0 ahead of keys with a 1.
//
// A key's flag is 1 if its bit is 0. The exclusive scan of the flags gives each key with a 0 its output offset. Keys
// with a 1 follow: the rank of such a key among them is its index minus its scanned flag.
//
// Traffic   per bit: keys read twice and written once; one 4-byte flag per key written, scanned and read; values read
//           and written once. 32 bits take 900 bytes per u32 key; one read and one write would take 8.
// Order     stable.
// Source    Blelloch, Prefix Sums and Their Applications, 1990.
#pragma once
#include "ladders/scan/10_reduce_then_scan.cuh"
#include "ladders/sort/moves.cuh"

namespace upsweep::ladders::sort {

// Count is the index type: 32 bits if indices fit.
template <class Order, class Count>
__global__ void flags_kernel(const typename Order::Key* keys, std::size_t n, Order order, unsigned bit,
                             Count* flags) {  // [n + 1]; flags[n] is 0, so that its prefix is the total
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i <= n) flags[i] = i < n && !(order(keys[i]) >> bit & 1);
}

template <class Order, class Count>
__global__ void split_kernel(Moved<typename Order::Key> moved, std::size_t n, Order order, unsigned bit,
                             const Count* zeros) {  // [n + 1]: number of keys with a 0 before each
  const std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const bool is_zero = !(order(moved.keys[i]) >> bit & 1);
  moved.move(i, is_zero ? zeros[i] : zeros[n] + (i - zeros[i]));
}

struct split_1bit {
  static constexpr Story story{.idea = "a pass per bit: a scan gives offsets to keys with a 0; keys with a 1 follow",
                               .prediction = "32 passes of 28 bytes per u32 key: 1% of the copy ceiling",
                               .guarantees = "stable",
                               .limits = "any n; five launches per bit",
                               .source = "Blelloch, Prefix Sums and Their Applications, 1990"};
  static constexpr std::size_t largest_emulated = 1 << 11;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return multisplit::wide(a.n) ? with<std::uint64_t>(a) : with<std::uint32_t>(a);
  }

 private:
  template <class Count, class T, class O>
  static Status with(const Args<T, O>& a) {
    using Key = typename Args<T, O>::Key;
    Scratch scratch(*a.workspace);
    auto* const flags = scratch.take<Count>(a.n + 1);
    if (!scratch) return no_memory;
    return in_passes(a, a.bits, [&](const Moved<Key>& moved, unsigned pass) {
      const unsigned block = a.tuning.block_or(256), bit = a.first_bit + pass;
      const Shape shape{.grid = static_cast<unsigned>(ceil_div(a.n + 1, block)), .block = block, .stream = a.stream};
      if (Status s = launch(flags_kernel<OrderOf<T>, Count>, shape, moved.keys, a.n, a.order, bit, flags); !s) return s;
      if (Status s = scan::reduce_then_scan::run<Count, Sum>({a, flags, flags, a.n + 1, false, Sum{}}); !s) return s;
      return launch(split_kernel<OrderOf<T>, Count>, shape, moved, a.n, a.order, bit, flags);
    });
  }
};

}  // namespace upsweep::ladders::sort
