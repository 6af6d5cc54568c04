// Wrong on purpose: a padded tile with the shared memory of an unpadded one.
//
// Must be caught: a shared access out of bounds, even if memory past the end makes the value right.
#pragma once
#include "ladders/scan/05_padded.cuh"

namespace upsweep::ladders::scan {

struct ShortPadding : PaddedSweeps {
  // Small, because the plain emulator does not check bounds: 56 bytes past the end reach only alignment padding.
  static constexpr unsigned block = 64;
  static constexpr Status refusal(unsigned threads) {
    if (threads == block) return {};
    return {Code::unsupported, 0, "this mutant needs a block of 64 threads"};
  }
  template <class T>
  static constexpr std::size_t shared_bytes(unsigned threads) {
    return Sweeps::shared_bytes<T>(threads);
  }
};

struct short_padding {
  static constexpr bool expected_wrong = true;
  static constexpr Story story{.idea = "padding, but no memory for it",
                               .prediction = "a shared access out of bounds, even if the value is right"};
  template <class T, class Op>
  static constexpr bool supports = in_every_rung<Op>;
  template <class T, class Op>
  static Status run(const Args<T, Op>& a) {
    return scan_recursively<ShortPadding>(a);
  }
};

}  // namespace upsweep::ladders::scan
