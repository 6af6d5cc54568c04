// Histograms: how many of n samples fall into each bin.
//
//   histogram_even    bins are equal parts of [lower, upper): bin k has edge k <= x < edge k + 1, and edge k is
//                     lower + k * (upper - lower) / bins. Integer samples need whole bounds, and are exact. For f32
//                     and f64 an edge is computed in f64, from left to right, and rounded to their type (NumPy's
//                     rule); the last edge is `upper`, rounded. Where more bins than floats are in the range, some
//                     bins have both edges at one float, and are empty.
//   histogram_edges   bin k has edges[k] <= x < edges[k + 1]; one edge more than bins, each above the one before it;
//                     the first may be -infinity, the last infinity. They may have any type that samples may have,
//                     and are compared with samples as numbers, exactly: {0, 128, 256} for bytes, {-0.5, 0.5, 1.5} for
//                     integers. Edges of another type than the samples' cost two short launches more.
//   histogram_direct  bin k has the samples equal to k; integers only
//
//   std::array<std::uint32_t, 256> counts;
//   upsweep::histogram_even(device, samples, 0, 1, counts);          // 256 bins: as many as there are counts
//
// Counts are u32 or u64, or u8 or u16, which saturate: they stop at their largest value. They are overwritten, not
// added to. Samples in no bin, NaN among them, are not counted; histogram_even and its siblings store their number in
// outside[0] if they get an `outside`, one std::uint64_t. Samples are integers of 8 to 64 bits, f32 or f64.
//
// The last bin ends before the last edge, like the others; with LastBin::closed it has that edge, too, as NumPy's has.
// So the range from the least to the greatest sample has all of them, and edges can reach the type's greatest value.
//
// An Image describes rows of interleaved channels: counts then holds the bins of channel 0, of channel 1, and so on.
// Refused with Error(invalid_argument) before anything is launched: a range that is empty, reversed, not finite, or,
// for integers, not of whole numbers or wider than their 2^32 or 2^64 values; edges that are NaN or do not ascend; u32
// counts for 2^32 samples or more; 0 bins, or more than 2^20. Edges in a GPU's memory are not read for this, because
// the call would have to wait: if they do not ascend, samples are counted in wrong bins or in none, but nothing else is
// read or written. Bounds are doubles, exact ones: beyond 2^53 not every whole number can be one.
//
// For arrays, waiting and other errors see upsweep/view.h and invoke().
#pragma once
#include <cstdint>
#include <optional>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/histogram.h"

namespace upsweep {

extern const Contract histogram_contract;

// The layout of the samples: rows of `width` samples, the first ones of two rows `pitch` samples apart; sample j of a
// row belongs to channel j % channels. width 0: one row of all samples. pitch 0: rows without gaps.
struct Image {
  std::uint64_t width = 0, pitch = 0, channels = 1;  // channels: 1 to 4
};

// Whether the last bin of histogram_even and histogram_edges has its upper edge, too.
enum class LastBin : std::uint8_t { open, closed };

namespace detail {

struct NoCount {};
template <class A>
concept SampleArray = InputOf<A, std::uint8_t> || InputOf<A, std::int8_t> || InputOf<A, std::uint16_t> ||
    InputOf<A, std::int16_t> || InputOf<A, std::uint32_t> || InputOf<A, std::int32_t> || InputOf<A, std::uint64_t> ||
    InputOf<A, std::int64_t> || InputOf<A, float> || InputOf<A, double>;
template <class A>
concept CounterArray =
    OutputOf<A, std::uint8_t> || OutputOf<A, std::uint16_t> || OutputOf<A, std::uint32_t> || OutputOf<A, std::uint64_t>;
template <class A>
concept OutsideArray = std::same_as<std::remove_cvref_t<A>, NoCount> || OutputOf<A, std::uint64_t>;

template <class Outside>
void histogram(Device& device, Request request, Outside&& outside, const Image& image, const Options& options,
               LastBin last = LastBin::open, std::optional<double> lower = {}, std::optional<double> upper = {}) {
  request.contract = &histogram_contract;
  request.scalars = histogram_scalars.scalars(
      {lower, upper, image.channels, image.width, image.pitch, last == LastBin::closed});
  if constexpr (!std::same_as<std::remove_cvref_t<Outside>, NoCount>) request.out[1] = view(outside);
  invoke(device, request, options);
}

}  // namespace detail

template <detail::SampleArray In, detail::CounterArray Counts, detail::OutsideArray Outside = detail::NoCount>
void histogram_even(Device& device, const In& samples, double lower, double upper, Counts&& counts,
                    Outside&& outside = {}, const Image& image = {}, const Options& options = {},
                    LastBin last = LastBin::open) {
  detail::histogram(device, {.operation = Binning::even, .in = {view(samples)}, .out = {view(counts)}}, outside, image,
                    options, last, lower, upper);
}

template <detail::SampleArray In, detail::SampleArray Edges, detail::CounterArray Counts,
          detail::OutsideArray Outside = detail::NoCount>
void histogram_edges(Device& device, const In& samples, const Edges& edges, Counts&& counts, Outside&& outside = {},
                     const Image& image = {}, const Options& options = {}, LastBin last = LastBin::open) {
  detail::histogram(device, {.operation = Binning::edges, .in = {view(samples), view(edges)}, .out = {view(counts)}},
                    outside, image, options, last);
}

template <detail::SampleArray In, detail::CounterArray Counts, detail::OutsideArray Outside = detail::NoCount>
void histogram_direct(Device& device, const In& samples, Counts&& counts, Outside&& outside = {},
                      const Image& image = {}, const Options& options = {}) {
  detail::histogram(device, {.operation = Binning::direct, .in = {view(samples)}, .out = {view(counts)}}, outside,
                    image, options);
}

}  // namespace upsweep
