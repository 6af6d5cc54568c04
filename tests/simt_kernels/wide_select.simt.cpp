// select/vec16's kernels for 2^32 elements and more, as rungs that accept small inputs.
#include <cstring>

#include "ladders/select/05_vec16.cuh"
#include "ladders/select/binding.h"
#include "test_kernel.h"

namespace upsweep::test {
namespace {

using namespace ladders::select;

// Number of elements selected before the first tile: just below 2^32 and not a multiple of a pack, so that offsets and
// counts pass 2^32 within the first tile.
constexpr std::size_t before_all = (std::size_t{1} << 32) - 37;
// Added to the count that every tile publishes, so that the sum of two tiles needs 64 bits.
constexpr unsigned more = 1u << 31;

// Scatter offsets as if `before_all` selected elements preceded the input. Positions passed between tiles are shifted,
// too.
struct FarPlaces : WidePlaces {
  __device__ std::size_t find(Drawn drawn, unsigned selected, std::uint64_t* count) const {
    const std::size_t sum = WidePlaces::find(drawn, selected + more, nullptr);
    const std::size_t before_tile = sum - std::size_t{more} * drawn.tile + before_all;
    if (count && drawn.tile + 1 == gridDim.x && threadIdx.x == 0) *count = before_tile + selected;
    return before_tile;
  }
  __device__ Selected<std::size_t> before(Drawn drawn, Selected<std::size_t> own, Adjoin adjoin) const {
    own.count += more;
    if (own.end) own.end += before_all;
    Selected<std::size_t> before_tile = WidePlaces::before(drawn, own, adjoin);
    before_tile.count += before_all - std::size_t{more} * drawn.tile;
    if (before_tile.end) before_tile.end -= before_all;
    return before_tile;
  }
};

// Returns the address `elements` elements before the array, which no kernel dereferences.
template <class T>
T* moved_back(T* array, std::size_t elements) {
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(array) - elements * sizeof(T));
}

struct wide {
  static constexpr Story story{.idea = "vec16 with 64-bit offsets"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    return by_passes(a, [&]<class P>(const Input<T, P>& in, const Target<T>& to) {
      return vec16::start_wide<WidePlaces>(a, in, to);
    });
  }
};

struct far {
  static constexpr Story story{.idea = "vec16 with 64-bit offsets that begin just below 2^32"};
  static constexpr Coverage coverage = Coverage::widths;
  template <class T, class O>
  static Status run(const Args<T, O>& a) {
    // The shifted arrays hold 32-bit positions.
    if (a.in.n == 0 || a.out.positions.wide) return wide::run<T, O>(a);
    // The first run's start ends the imaginary run before it, so that run's length is written too.
    Scratch scratch(*a.workspace);
    auto* const lengths = scratch.take<std::uint32_t>(a.in.n + 1);
    const Status status = by_passes(a, [&]<class P>(const Input<T, P>& in, const Target<T>& to) {
      Target<T> far = to;
      const std::size_t back = to.written ? 2 * before_all : before_all;  // the second pass adds to the first's count
      far.out.values = moved_back(to.out.values, back);
      far.out.positions.array =
          moved_back(writes_lengths<P> ? lengths + 1 : static_cast<std::uint32_t*>(to.out.positions.array), back);
      return vec16::start_wide<FarPlaces>(a, in, far);
    });
    *a.out.count -= before_all;  // launches are synchronous on the emulator
    if constexpr (writes_lengths<O>)
      std::memcpy(a.out.positions.array, lengths + 1, *a.out.count * sizeof(std::uint32_t));
    return status;
  }
};

constexpr Rung rungs[] = {upsweep::make_rung<Binding, wide>("wide", Backend::simt),
                          upsweep::make_rung<Binding, far>("far", Backend::simt)};

}  // namespace

Rungs wide_select_kernels() {
  static constexpr const Rung* all[] = {&rungs[0], &rungs[1]};
  return all;
}

}  // namespace upsweep::test
