// Histograms: the number of samples in each bin.
//
//   histogram_even    Divides [lower, upper) into equal bins: bin k holds edge(k) <= x < edge(k + 1), with edge(k) =
//                     lower + k * (upper - lower) / bins. Integer samples require integral bounds and are binned
//                     exactly. For f32 and f64, edges are computed in f64, from left to right, and rounded to the
//                     sample type (NumPy's rule); the last edge is `upper`, rounded. If the range contains fewer
//                     floats than bins, some bins have two equal edges and are empty.
//   histogram_edges   Bin k holds edges[k] <= x < edges[k + 1]. There is one more edge than bins, in strictly ascending
//                     order; the first may be -infinity, the last infinity. Edges may have any sample type and are
//                     compared with samples by exact numerical value: {0, 128, 256} for bytes, {-0.5, 0.5, 1.5} for
//                     integers. Edges of a type other than the samples' cost two more short launches.
//   histogram_direct  Bin k holds the samples equal to k; integers only.
//
//   std::array<std::uint32_t, 256> counts;
//   upsweep::histogram_even(device, samples, 0, 1, counts);          // 256 bins, the size of counts
//
// Counts are u32 or u64, or u8 or u16, which saturate. They are overwritten, not accumulated. Samples outside every
// bin, NaN included, are not counted; if `outside`, an array of one std::uint64_t, is passed, outside[0] receives their
// number. Samples are integers of 8 to 64 bits, f32 or f64.
//
// The last bin excludes its upper edge, like the others; LastBin::closed includes it, as NumPy does. The range from the
// minimum to the maximum sample then covers every sample, and edges can reach the type's maximum.
//
// An Image describes rows of interleaved channels: counts then holds the bins of channel 0, of channel 1, and so on.
//
// Throws Error(invalid_argument) before any launch for: a range that is empty, reversed or not finite, or, for
// integers, not integral or wider than 2^32 (2^64 for 64-bit samples); edges that are NaN or not ascending; u32 counts
// for 2^32 samples or more; 0 bins, or more than 2^20. Edges in GPU memory are not validated, because the call would
// have to wait: if they do not ascend, samples are counted in wrong bins or in none, but no access is out of bounds.
// Bounds are doubles and used exactly: beyond 2^53, not every integer can be a bound.
//
// For arrays, waiting and other errors, see upsweep/view.h and invoke().
#pragma once
#include <cstdint>
#include <optional>

#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/parameters/histogram.h"

namespace upsweep {

extern const Contract histogram_contract;

// The layout of the samples: rows of `width` samples whose starts are `pitch` samples apart; sample j of a row belongs
// to channel j % channels. width 0: one row of all samples. pitch 0: rows without padding.
struct Image {
  std::uint64_t width = 0, pitch = 0, channels = 1;  // channels: 1 to 4
};

// The last bin of histogram_even and histogram_edges: half-open, or closed, so that it includes its upper edge.
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
  request.scalars =
      histogram_scalars.scalars({lower, upper, image.channels, image.width, image.pitch, last == LastBin::closed});
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
