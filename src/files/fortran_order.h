// Arrays in Fortran order, the first index fastest, read in C order, the last index fastest.
#pragma once
#include <vector>

#include "files/file.h"

namespace upsweep {

// Reads a block of the array at a time: as many of its last dimensions as fit, for a range of the one before them. So a
// matrix of few columns is read in long pieces of each column, and one of few rows from front to back, once per row.
class FortranOrder {
 public:
  // The elements begin at `begin`; there are some, in at least two dimensions longer than 1. The source is read from
  // the first read() on.
  FortranOrder(Source& source, std::uint64_t begin, const std::vector<std::uint64_t>& shape, std::size_t element_bytes,
               std::size_t block_bytes = std::size_t{16} << 20);
  // Fills `to`, whole elements; fewer at the end of the array, or of a file that is cut short.
  std::size_t read(std::span<std::byte> to);

 private:
  bool next_block();
  // Moves on to the next block; false after the last.
  bool advance();
  // Copies the elements of the block's range for one set of indices after the axis, which begin at this element of the
  // file and of the block. False if the file ends.
  bool copy_range(std::uint64_t from, std::uint64_t to);
  // Returns the bytes of the file from this element on: a window that holds it, or none at the file's end.
  std::span<const std::byte> window_from(std::uint64_t element);

  Source& source_;
  const std::uint64_t begin_;            // of the elements, in bytes
  const std::size_t element_;            // bytes
  std::vector<std::uint64_t> lengths_;   // of the dimensions longer than 1
  std::vector<std::uint64_t> strides_;   // in the file, elements
  std::size_t axis_ = 0;                 // a block is a range of this dimension and all of those after it
  std::uint64_t range_ = 0, rest_ = 1;   // elements: of the longest range; in the dimensions after the axis
  std::vector<std::uint64_t> position_;  // of the block, up to the axis; empty before the first
  std::uint64_t length_ = 0;             // of the block's range
  std::vector<std::byte> block_, window_;
  std::size_t passed_ = 0;          // bytes of the block
  std::uint64_t window_begin_ = 0;  // element
  std::size_t window_bytes_ = 0;    // at most
};

}  // namespace upsweep
