#include "ladders/histogram/lab/oracle.h"

#include <algorithm>
#include <limits>

#include "lab/oracle.h"
#include "ladders/histogram/binding.h"

namespace upsweep::ladders::histogram {
namespace {

// A type that represents every sample and edge exactly.
using Number = long double;
static_assert(std::numeric_limits<Number>::digits >= 64);

// Returns the edges of the bins, computed one by one as the contract defines them; none if the bins need no edges.
template <class T>
std::vector<Number> edges_of(const Call& c, const Counting& how, std::size_t bins) {
  std::vector<Number> edges;
  if (c.operation == Operation(Binning::edges))
    visit(c.in[1].type,
          [&]<class E>(TypeTag<E>) { edges.assign(c.in[1].as<const E>(), c.in[1].as<const E>() + bins + 1); });
  if (c.operation != Operation(Binning::even) || std::is_integral_v<T>) return edges;
  const double from = *how.lower, to = *how.upper;
  for (std::size_t k = 0; k < bins; ++k)
    edges.push_back(static_cast<T>(from + static_cast<double>(k) * (to - from) / static_cast<double>(bins)));
  edges.push_back(static_cast<T>(to));
  return edges;
}

// Returns the bin of a sample by the definition, without the rungs' shortcuts; nullopt if the sample is in no bin.
template <class T>
std::optional<std::size_t> bin_of(T x, const Call& c, const Counting& how, std::size_t bins,
                                  const std::vector<Number>& edges) {
  if (!edges.empty()) {
    const auto number = static_cast<Number>(x);
    if (!(x == x)) return std::nullopt;
    if (how.closed && number == edges.back()) return bins - 1;
    // The first edge above x.
    const auto above = std::upper_bound(edges.begin(), edges.end(), number) - edges.begin();
    if (above == 0 || above == static_cast<std::ptrdiff_t>(edges.size())) return std::nullopt;
    return above - 1;
  }
  if (c.operation == Operation(Binning::even)) {
    const auto from = static_cast<Int128>(*how.lower), to = static_cast<Int128>(*how.upper);
    const auto value = static_cast<Int128>(x);
    if (how.closed && value == to) return bins - 1;
    if (value < from || value >= to) return std::nullopt;
    return static_cast<std::size_t>((value - from) * static_cast<Int128>(bins) / (to - from));
  }
  if (x < T{0} || static_cast<std::uint64_t>(x) >= bins) return std::nullopt;
  return static_cast<std::size_t>(x);
}

}  // namespace

std::vector<std::uint64_t> count(const Call& call) {
  const Counting how = histogram_scalars.read(call.scalars);
  const Shape2D shape = shape_of(how);
  const std::size_t bins = call.out[0].count / shape.channels;
  std::vector<std::uint64_t> counts(call.out[0].count + 1);
  visit(call.type(), [&]<class T>(TypeTag<T>) {
    const T* const samples = call.in[0].as<const T>();
    const std::vector<Number> edges = edges_of<T>(call, how, bins);
    for (std::size_t i = 0; i < call.n(); ++i) {
      const std::size_t column = shape.width ? i % shape.pitch : i;
      if (shape.width && column >= shape.width) continue;  // in the gap between two rows
      const auto bin = bin_of(samples[i], call, how, bins, edges);
      ++(bin ? counts[column % shape.channels * bins + *bin] : counts.back());
    }
  });
  return counts;
}

std::optional<std::string> find_mistake(const std::vector<std::uint64_t>& counts, const Call& call) {
  // The layout of the outputs does not depend on the samples' type or the operation.
  const Output out{call.out[0].data, 8 * static_cast<unsigned>(size_of(call.out[0].type)),
                   call.out[1].as<std::uint64_t>()};
  for (std::size_t k = 0; k + 1 < counts.size(); ++k) {
    const std::uint64_t should = std::min(counts[k], out.top());
    if (out.get(k) != should) return wrong_element(k, out.get(k), std::to_string(should), 0, "out[0]");
  }
  if (out.outside && *out.outside != counts.back())
    return wrong_element(0, *out.outside, std::to_string(counts.back()), 0, "out[1]");
  return std::nullopt;
}

}  // namespace upsweep::ladders::histogram
