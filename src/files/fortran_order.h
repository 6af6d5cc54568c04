// Reads arrays in Fortran order (first index fastest) in C order (last index fastest).
#pragma once
#include <vector>

#include "files/file.h"

namespace upsweep {

// Reads the array in blocks: as many of its last dimensions as fit, for a range of the one before them. So a matrix of
// few columns is read in long pieces of each column, and one of few rows sequentially, once per row.
class FortranOrder {
 public:
  // The elements begin at `begin`. The array is not empty and has at least two dimensions longer than 1. The source is
  // first read by read().
  FortranOrder(Source& source, std::uint64_t begin, const std::vector<std::uint64_t>& shape, std::size_t element_bytes,
               std::size_t block_bytes = std::size_t{16} << 20);
  // Fills `to` with whole elements; fewer at the end of the array, or of a truncated file.
  std::size_t read(std::span<std::byte> to);

 private:
  bool next_block();
  // Advances to the next block; false after the last.
  bool advance();
  // Copies the block's range for one set of indices after the axis, starting at these elements of the file and of the
  // block. False at end of file.
  bool copy_range(std::uint64_t from, std::uint64_t to);
  // Returns the file's bytes from this element on: a window that contains it, or an empty span at end of file.
  std::span<const std::byte> window_from(std::uint64_t element);

  Source& source_;
  const std::uint64_t begin_;            // offset of the elements, bytes
  const std::size_t element_;            // bytes
  std::vector<std::uint64_t> lengths_;   // the dimensions longer than 1
  std::vector<std::uint64_t> strides_;   // elements, in the file
  std::size_t axis_ = 0;                 // a block is a range of this dimension and all later ones
  std::uint64_t range_ = 0, rest_ = 1;   // elements: the longest range; the dimensions after the axis
  std::vector<std::uint64_t> position_;  // the block's, up to the axis; empty before the first block
  std::uint64_t length_ = 0;             // the block's range
  std::vector<std::byte> block_, window_;
  std::size_t passed_ = 0;          // bytes of the block that read() has returned
  std::uint64_t window_begin_ = 0;  // element
  std::size_t window_bytes_ = 0;    // maximum
};

}  // namespace upsweep
