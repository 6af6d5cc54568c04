#include "base/contract.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "ladders/histogram/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

using namespace ladders::histogram;

constexpr bool is_counter(Type type) {
  return type == Type::u8 || type == Type::u16 || type == Type::u32 || type == Type::u64;
}

constexpr InputRole inputs[] = {{"the array of samples"}, {"the array of edges", false}};
// The array of counts determines the number of bins and the type of the counters.
constexpr OutputRole outputs[] = {
    {.name = "the array of counts",
     .type = [](const Call& c) { return is_counter(c.out[0].type) ? c.out[0].type : Type::u32; },
     .count = [](const Call& c, std::uint64_t) { return c.out[0].count; },
     .types = "u32 and u64 count, u8 and u16 saturate",
     .join = [](const Call&) { return Join::by_addition; }},
    {.name = "the count outside",
     .type = [](const Call&) { return Type::u64; },
     .count = [](const Call& c, std::uint64_t) { return c.out[1].count > 0 ? std::size_t{1} : 0; },
     .file = "outside",
     .on_request = true,
     .join = [](const Call&) { return Join::by_addition; }}};

template <class T>
std::string digits(T x) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

void require_range(const Call& c, const Counting& how, std::size_t bins) {
  const double from = *how.lower, to = *how.upper;
  const std::string range = "the range from " + digits(from) + " to " + digits(to);
  const std::string type(to_string(c.type()));
  if (!std::isfinite(from) || !std::isfinite(to)) refuse("histogram", range + " is not finite");
  if (!(from < to)) refuse("histogram", range + " is empty", "the upper bound must be above the lower one");
  visit(c.type(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      const T least = static_cast<T>(from), past = static_cast<T>(to);
      if (!(least < past) || !std::isfinite(least) || !std::isfinite(past))
        refuse("histogram", range + " is empty or infinite in " + type);
      if (!std::isfinite((to - from) * static_cast<double>(bins)))
        refuse("histogram", range + " is too wide for " + std::to_string(bins) + " bins");
    } else {
      constexpr bool is_long = sizeof(T) == 8;
      constexpr double farthest = is_long ? 0x1p64 : 0x1p53;
      if (from != std::floor(from) || to != std::floor(to))
        refuse("histogram", range + " does not begin and end at whole numbers", "the samples are integers");
      if (std::fabs(from) > farthest || std::fabs(to) > farthest)
        refuse("histogram", range + " is beyond " + (is_long ? "2^64" : "2^53"));
      if (static_cast<Int128>(to) - static_cast<Int128>(from) > Int128{1} << (is_long ? 64 : 32))
        refuse("histogram", range + " is wider than " + (is_long ? "2^64" : "2^32"),
               "the samples have no more values than that");
      if (const auto values = integers_between<T>(from, to, how.closed); values.least > values.greatest)
        refuse("histogram", range + " contains no value of " + type);
    }
  });
}

void validate(const Call& c) {
  const Counting how = histogram_scalars.read(c.scalars);
  const Shape2D shape = shape_of(how);
  if (shape.pitch < shape.width)
    refuse("histogram",
           "rows of " + std::to_string(shape.width) + " samples are " + std::to_string(shape.pitch) + " apart",
           "the pitch is at least the width");
  if (c.out[0].type == Type::u32 && c.n() > 0xffffffffu)
    refuse("histogram", "a count of 2^32 samples or more does not fit u32", "pass u64 counts");
  const std::size_t bins = c.out[0].count / shape.channels;
  if (bins == 0 || c.out[0].count % shape.channels)
    refuse("histogram",
           std::to_string(c.out[0].count) + " counters for " + std::to_string(shape.channels) + " channels",
           "each channel has the same number, at least one");
  if (bins > 1 << 20) refuse("histogram", std::to_string(bins) + " bins", "at most 2^20");
  switch (c.operation.as<Binning>()) {
    case Binning::even:
      return require_range(c, how, bins);
    case Binning::edges:
      if (c.in[1].count != bins + 1)
        refuse("histogram", std::to_string(c.in[1].count) + " edges for " + std::to_string(bins) + " bins",
               "the edges are one more than the bins");
      return;
    case Binning::direct:
      return;
  }
}

// Checks that edges ascend and that none is NaN.
void validate_elements(const Call& c) {
  if (c.operation != Operation(Binning::edges) || !c.in[1].data) return;
  visit(c.in[1].type, [&]<class T>(TypeTag<T>) {
    const T* const edges = c.in[1].as<const T>();
    for (std::size_t k = 0; k < c.in[1].count; ++k) {
      if (edges[k] != edges[k]) refuse("histogram", "edge " + std::to_string(k) + " is NaN");
      if (k > 0 && !(edges[k - 1] < edges[k]))
        refuse("histogram",
               "edge " + std::to_string(k) + ", " + digits(edges[k]) + ", is not above the one before it, " +
                   digits(edges[k - 1]),
               "edges must ascend; leave out bins that no sample can be in");
    }
  });
}

}  // namespace

extern const Contract histogram_contract{
    .name = "histogram",
    .promise = "out[0] = the number of samples in each bin; out[1] = the number in no bin",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &rungs,
    .scalars = histogram_scalars.parameters,
    .reads_scalar =
        [](const Call& c, std::size_t k) {
          const std::string_view name = histogram_scalars.parameters[k].name;
          const bool is_bound = name == "lower" || name == "upper";
          if (c.operation == Operation(Binning::direct)) return !is_bound && name != "closed";
          return !is_bound || c.operation == Operation(Binning::even);
        },
    .validate = &validate,
    .validate_elements = &validate_elements,
    .choose = &choose,
    .thresholds = thresholds};

}  // namespace upsweep
