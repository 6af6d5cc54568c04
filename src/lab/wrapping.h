// Tells whether streamed sums and products of integers stayed within their type, at a cost below that of reading them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "lab/primitive.h"

namespace upsweep {

// Watches the sums of a scan. Exact: no wrapped sum is missed, and none is reported that is right.
class ScanWatch {
 public:
  ScanWatch(const Case& c, bool inclusive);

  // The next elements and their scan, in host memory. `is_head`: of a segmented scan, whether the element of this index
  // in the chunk begins a segment.
  using IsHead = std::function<bool(std::size_t)>;
  void see(std::span<const std::byte> in, std::span<const std::byte> out, const IsHead& is_head = {});

  // One line, or nothing if no sum wrapped.
  std::string warning() const;

 private:
  const Type type_;
  const bool inclusive_;
  bool watches_;                        // sums of integers, until one has wrapped
  bool last_wraps_ = false;             // of an exclusive scan: the sum that the next element gets
  std::uint64_t seen_ = 0;              // elements
  std::optional<std::uint64_t> first_;  // element whose sum has wrapped
};

// Watches the sum or product of a reduction. Exact for sums, and for products whose rounding to f64 does not matter.
class ReduceWatch {
 public:
  explicit ReduceWatch(const Case& c);

  // The next elements, in host memory.
  void see(std::span<const std::byte> in);

  // One line, or nothing if the result is right.
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
