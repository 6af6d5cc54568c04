// Detects wrapped sums and products of streamed integers, at less than the cost of reading them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "lab/primitive.h"

namespace upsweep {

// Watches the sums or products of a scan. Exact: no false positives or negatives.
class ScanWatch {
 public:
  // `out` is the type of the sums or products.
  ScanWatch(const Case& c, Type out, bool inclusive);

  // Takes the next elements and their scan, in host memory. For a segmented scan, `is_head` says whether the element at
  // this index of the chunk begins a segment.
  using IsHead = std::function<bool(std::size_t)>;
  void see(std::span<const std::byte> in, std::span<const std::byte> out, const IsHead& is_head = {});

  // Returns one line, or "" if nothing wrapped.
  std::string warning() const;

 private:
  const Type type_, out_type_;
  const Op op_;
  const bool inclusive_;
  bool watches_;                        // true for integer sums and products, until one wraps
  bool last_wraps_ = false;             // exclusive scan: the last step, whose result goes to the next element, wrapped
  Scalar last_;                         // inclusive products: of all elements so far, or the initial value
  std::uint64_t seen_ = 0;              // elements
  std::optional<std::uint64_t> first_;  // the first element whose sum or product has wrapped
};

// Watches the sum or product of a reduction. Exact for sums, and for products unless rounding to f64 matters.
class ReduceWatch {
 public:
  explicit ReduceWatch(const Case& c);

  // Takes the next elements, in host memory.
  void see(std::span<const std::byte> in);

  // Returns one line, or "" if the result is right.
  std::string warning(const Scalar& result) const;

 private:
  const Type type_;
  const Op op_;
  const bool watches_;
  __extension__ __int128 sum_ = 0;
  double product_ = 1;
  bool has_zero_ = false;
};

}  // namespace upsweep
