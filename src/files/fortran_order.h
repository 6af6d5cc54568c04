// Reads an array stored in Fortran order (first index fastest) and returns its elements in C order (last index
// fastest).
#pragma once
#include <vector>

#include "files/file.h"

namespace upsweep {

// Reads the array block by block. A block consists of as many of the last dimensions as fit, for a range of the
// dimension before them. A matrix with few columns is thus read in long pieces of each column, and a matrix with few
// rows sequentially, once per row.
class FortranOrder {
 public:
  // The elements begin at byte `begin` of the source, which is not read before the first read(). The array must not be
  // empty and must have at least two dimensions longer than 1.
  FortranOrder(Source& source, std::uint64_t begin, const std::vector<std::uint64_t>& shape, std::size_t element_bytes,
               std::size_t block_bytes = std::size_t{16} << 20);
  // Fills `to` with whole elements and returns the number of bytes: fewer than requested at the end of the array, or of
  // a truncated file.
  std::size_t read(std::span<std::byte> to);

 private:
  bool next_block();
  // Advances to the next block; returns false after the last block.
  bool advance();
  // Copies the block's range of the axis for one combination of the indices after it, from element `from` of the file
  // to element `to` of the block. Returns false at end of file.
  bool copy_range(std::uint64_t from, std::uint64_t to);
  // Returns the bytes of the file from `element` to the end of a window that contains it; an empty span at end of file.
  std::span<const std::byte> window_from(std::uint64_t element);

  Source& source_;
  const std::uint64_t begin_;            // offset of the elements, bytes
  const std::size_t element_;            // bytes
  std::vector<std::uint64_t> lengths_;   // the dimensions longer than 1
  std::vector<std::uint64_t> strides_;   // elements, in the file
  std::size_t axis_ = 0;                 // a block is a range of this dimension and all later ones
  std::uint64_t range_ = 0, rest_ = 1;   // elements: of the longest range; of all dimensions after the axis
  std::vector<std::uint64_t> position_;  // the block's, up to the axis; empty before the first block
  std::uint64_t length_ = 0;             // elements of the block's range
  std::vector<std::byte> block_, window_;
  std::size_t passed_ = 0;          // bytes of the block that read() has returned
  std::uint64_t window_begin_ = 0;  // first element in the window
  std::size_t window_bytes_ = 0;    // maximum size of the window
};

}  // namespace upsweep
