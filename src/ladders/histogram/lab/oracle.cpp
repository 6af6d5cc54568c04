#include "ladders/histogram/lab/oracle.h"

#include <algorithm>

#include "lab/oracle.h"
#include "ladders/histogram/binding.h"

namespace upsweep::ladders::histogram {
namespace {

// Returns the bin of a sample, or nothing: the definition, without the rungs' short cuts.
template <class T>
std::optional<std::size_t> bin_of(T x, const Call& c, std::size_t bins) {
  switch (c.operation.as<Binning>()) {
    case Binning::even: {
      const double from = c.scalars[lower].as<double>(), to = c.scalars[upper].as<double>();
      if constexpr (std::is_integral_v<T>) {
        if (static_cast<double>(x) < from || static_cast<double>(x) >= to) return std::nullopt;
        const auto least = static_cast<std::int64_t>(from), past = static_cast<std::int64_t>(to);
        const auto distance = static_cast<std::uint64_t>(static_cast<std::int64_t>(x) - least);
        return distance * bins / static_cast<std::uint64_t>(past - least);  // below 2^52
      } else {
        const T least = static_cast<T>(from), past = static_cast<T>(to);
        if (!(least <= x && x < past)) return std::nullopt;
        const T scale = static_cast<T>(bins) / (past - least);
        return std::min(static_cast<std::size_t>((x - least) * scale), bins - 1);
      }
    }
    case Binning::edges: {
      const T* const edges = c.in[1].as<const T>();
      if (!(x == x)) return std::nullopt;
      const auto above = std::upper_bound(edges, edges + bins + 1, x) - edges;  // the first edge that x is below
      if (above == 0 || above == static_cast<std::ptrdiff_t>(bins) + 1) return std::nullopt;
      return above - 1;
    }
    case Binning::direct:
      break;
  }
  if (x < T{0} || static_cast<double>(x) >= static_cast<double>(bins)) return std::nullopt;
  return static_cast<std::size_t>(x);
}

}  // namespace

std::vector<std::uint64_t> count(const Call& call) {
  const Shape2D shape = shape_of(call);
  const std::size_t bins = call.out[0].count / shape.channels;
  std::vector<std::uint64_t> counts(call.out[0].count + 1);
  visit(call.type(), [&]<class T>(TypeTag<T>) {
    const T* const samples = call.in[0].as<const T>();
    for (std::size_t i = 0; i < call.n(); ++i) {
      const std::size_t column = shape.width ? i % shape.pitch : i;
      if (shape.width && column >= shape.width) continue;  // between two rows
      const auto bin = bin_of(samples[i], call, bins);
      ++(bin ? counts[column % shape.channels * bins + *bin] : counts.back());
    }
  });
  return counts;
}

std::optional<std::string> find_mistake(const std::vector<std::uint64_t>& counts, const Call& call) {
  // Only the outputs are read, which do not depend on type and operation.
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
