#include "files/fortran_order.h"

#include <algorithm>
#include <cstring>

namespace upsweep {
namespace {

// Gaps of fewer bytes are read rather than skipped, because another system call would cost more.
constexpr std::size_t least_read = 4096;
constexpr std::size_t most_read = std::size_t{1} << 20;

template <std::size_t size>
void copy_strided(const std::byte* from, std::size_t from_stride, std::byte* to, std::size_t to_stride, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) std::memcpy(to + k * to_stride * size, from + k * from_stride * size, size);
}

constexpr auto copy_of(std::size_t element) {
  return element == 1   ? &copy_strided<1>
         : element == 2 ? &copy_strided<2>
         : element == 4 ? &copy_strided<4>
                        : &copy_strided<8>;
}

}  // namespace

FortranOrder::FortranOrder(Source& source, std::uint64_t begin, const std::vector<std::uint64_t>& shape,
                           std::size_t element_bytes, std::size_t block_bytes)
    : source_(source), begin_(begin), element_(element_bytes) {
  std::uint64_t stride = 1;
  for (const std::uint64_t length : shape)
    if (length > 1) {
      lengths_.push_back(length);
      strides_.push_back(stride);
      stride *= length;
    }
  const std::uint64_t most = std::max<std::uint64_t>(1, block_bytes / element_);  // elements per block
  for (axis_ = 0;; ++axis_) {
    rest_ = stride / strides_[axis_] / lengths_[axis_];
    if (rest_ > most) continue;
    range_ = std::min(lengths_[axis_], most / rest_);
    if (axis_ + 1 == lengths_.size()) break;
    // If blocks are ranges of this dimension, the file is read `passes` times: once per range, or, if that is less, a
    // page for each piece of a range. If they are ranges of the next dimension, it is read once for every index of the
    // dimensions before, strides_[axis_ + 1] times.
    const std::uint64_t passes =
        std::min(lengths_[axis_] / range_, std::max<std::uint64_t>(1, least_read / (range_ * element_)));
    if (passes < strides_[axis_ + 1]) break;
  }
  const std::uint64_t step = strides_[axis_];
  const bool is_dense = range_ * 4 >= lengths_[axis_] || rest_ == 1;
  const std::uint64_t span = is_dense ? most_read : ((range_ - 1) * step + 1) * element_;
  window_bytes_ = step > 1 && step * element_ > least_read ? element_ : std::min<std::uint64_t>(span, most_read);
}

std::size_t FortranOrder::read(std::span<std::byte> to) {
  std::size_t done = 0;
  while (done < to.size()) {
    if (passed_ == block_.size() && !next_block()) break;
    const std::size_t part = std::min(to.size() - done, block_.size() - passed_);
    std::memcpy(to.data() + done, block_.data() + passed_, part);
    passed_ += part;
    done += part;
  }
  return done;
}

bool FortranOrder::advance() {
  if (position_.empty()) {
    position_.assign(axis_ + 1, 0);
  } else if (position_[0] == lengths_[0]) {
    return false;
  } else {
    position_[axis_] += length_;
    for (std::size_t k = axis_; position_[k] == lengths_[k]; --k) {
      if (k == 0) return false;
      position_[k] = 0;
      ++position_[k - 1];
    }
  }
  length_ = std::min(range_, lengths_[axis_] - position_[axis_]);
  return true;
}

bool FortranOrder::next_block() {
  block_.clear();
  passed_ = 0;
  if (!advance()) return false;
  block_.resize(length_ * rest_ * element_);
  std::uint64_t from = 0, to = 0;
  for (std::size_t k = 0; k <= axis_; ++k) from += position_[k] * strides_[k];
  // Copies the range for all indices after the axis, in file order.
  std::vector<std::uint64_t> index(lengths_.size()), out_stride(lengths_.size(), 1);
  for (std::size_t k = lengths_.size() - 1; k > axis_ + 1; --k) out_stride[k - 1] = out_stride[k] * lengths_[k];
  for (std::uint64_t done = 0; done < rest_; ++done) {
    if (!copy_range(from, to)) {
      block_.clear();
      return false;
    }
    for (std::size_t k = axis_ + 1; k < lengths_.size(); ++k) {
      from += strides_[k];
      to += out_stride[k];
      if (++index[k] < lengths_[k]) break;
      index[k] = 0;
      from -= lengths_[k] * strides_[k];
      to -= lengths_[k] * out_stride[k];
    }
  }
  return true;
}

bool FortranOrder::copy_range(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t step = strides_[axis_];
  for (std::uint64_t done = 0; done < length_;) {
    const std::span<const std::byte> bytes = window_from(from + done * step);
    if (bytes.empty()) return false;
    const std::uint64_t n = std::min(length_ - done, (bytes.size() / element_ - 1) / step + 1);
    copy_of(element_)(bytes.data(), step, block_.data() + (to + done * rest_) * element_, rest_, n);
    done += n;
  }
  return true;
}

std::span<const std::byte> FortranOrder::window_from(std::uint64_t element) {
  if (element < window_begin_ || element >= window_begin_ + window_.size() / element_) {
    window_.resize(window_bytes_);
    window_.resize(source_.read_at(begin_ + element * element_, window_) / element_ * element_);
    window_begin_ = element;
  }
  return std::span<const std::byte>(window_).subspan((element - window_begin_) * element_);
}

}  // namespace upsweep
