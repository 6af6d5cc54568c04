// The operations and scalars of upsweep/histogram.h.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "upsweep/parameter.h"

namespace upsweep {

// The map from a sample to its bin: equal bins of a range, ascending edges, or the sample itself.
enum class Binning : std::uint8_t { even, edges, direct };
inline constexpr std::array<std::string_view, 3> binning_names{"even", "edges", "direct"};
constexpr std::string_view to_string(Binning b) { return binning_names[static_cast<std::size_t>(b)]; }

// The range of `even`; the layout of the samples (Image in upsweep/histogram.h); and whether the last bin is closed.
struct Counting {
  std::optional<double> lower{}, upper{};
  std::uint64_t channels = 1, width = 0, pitch = 0;
  bool closed = false;
};

namespace detail {
// The default range: all values of an integer type; [-1, 1) for floats.
constexpr double least_sample(Type type) {
  return is_float(type)
             ? -1
             : visit(type, []<class T>(TypeTag<T>) { return static_cast<double>(std::numeric_limits<T>::lowest()); });
}
constexpr double past_samples(Type type) {
  return is_float(type)
             ? 1
             : visit(type, []<class T>(TypeTag<T>) { return static_cast<double>(std::numeric_limits<T>::max()) + 1; });
}
}  // namespace detail

inline constexpr ScalarTable histogram_scalars{
    scalar<&Counting::lower>(
        {.name = "lower",
         .meaning = "lower edge of the first bin",
         .least = -std::numeric_limits<double>::infinity(),
         .initial_for = [](Type element, std::span<const Scalar>) { return Scalar(detail::least_sample(element)); },
         .initial_in_words = "run: the minimum sample, or 0 for u8 in 256 bins; otherwise the type's minimum, -1 for "
                             "floats"}),
    scalar<&Counting::upper>(
        {.name = "upper",
         .meaning = "upper edge of the last bin",
         .least = -std::numeric_limits<double>::infinity(),
         .initial_for = [](Type element, std::span<const Scalar>) { return Scalar(detail::past_samples(element)); },
         .initial_in_words = "run: the maximum sample, inclusive, or 256 for u8 in 256 bins; otherwise past the type's "
                             "maximum, 1 for floats"}),
    scalar<&Counting::channels>(
        {.name = "channels", .meaning = "interleaved in a row, each with separate bins", .least = 1, .most = 4}),
    scalar<&Counting::width>({.name = "width", .meaning = "samples per row; 0: all", .most = 0x1p53}),
    scalar<&Counting::pitch>({.name = "pitch",
                              .meaning = "samples from the start of a row to the start of the next; 0: width",
                              .most = 0x1p53}),
    scalar<&Counting::closed>({.name = "closed", .meaning = "the last bin includes its upper edge"})};

}  // namespace upsweep
