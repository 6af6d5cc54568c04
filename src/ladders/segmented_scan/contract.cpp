#include "base/contract.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "cpu/parallel.h"
#include "ladders/segmented_scan/binding.h"
#include "ladders/segmented_scan/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

constexpr InputRole inputs[] = {{"the input"}, {"the array of heads", false}};
constexpr OutputRole outputs[] = {
    {.name = "the output", .may_be = 0b1, .type = &ladders::segmented_scan::Binding::output_type, .types = wider_sums}};

void validate(const Call& c) {
  const auto kind = segmented_scan_scalars.read(c.scalars).heads;
  require_type("segmented_scan", "the array of heads", c.in[1].type, ladders::segmented_scan::element_of(kind));
  if (kind != HeadKind::offsets) require_room("segmented_scan", "the array of heads", c.in[1].count, c.n());
}

// Returns the first index whose offset is below its predecessor, or `count` if there is none. Runs on all cores,
// because there may be as many offsets as elements.
std::size_t first_descent(const std::uint64_t* offsets, std::size_t count) {
  const Parts parts = cut(count, sizeof *offsets, hardware_threads());
  std::atomic<std::size_t> first = count;
  parallel(parts.count, 0, [&](int p) {
    const std::size_t begin = static_cast<std::size_t>(p) * parts.size, end = std::min(begin + parts.size, count);
    std::size_t k = std::max<std::size_t>(begin, 1);
    while (k < end && offsets[k] >= offsets[k - 1]) ++k;
    if (k >= end) return;
    for (std::size_t now = first; k < now && !first.compare_exchange_weak(now, k);) continue;
  });
  return first;
}

// Refuses offsets that descend or exceed n.
void validate_elements(const Call& c) {
  if (segmented_scan_scalars.read(c.scalars).heads != HeadKind::offsets || !c.in[1].data || c.in[1].count == 0) return;
  const auto* const offsets = c.in[1].as<const std::uint64_t>();
  const auto offset = [&](std::size_t k) { return "offset " + std::to_string(k) + ", " + std::to_string(offsets[k]); };
  if (const std::size_t k = first_descent(offsets, c.in[1].count); k < c.in[1].count)
    refuse("segmented_scan", offset(k) + ", is below the one before it, " + std::to_string(offsets[k - 1]),
           "offsets ascend; equal ones are empty segments");
  if (const std::size_t last = c.in[1].count - 1; offsets[last] > c.n())
    refuse("segmented_scan", offset(last) + ", is beyond the " + std::to_string(c.n()) + " elements",
           "a segment begins within the input, or at its end if it is empty");
}

}  // namespace

extern const Contract segmented_scan_contract{
    .name = "segmented_scan",
    .promise = "a scan that restarts at every head; heads are flags, keys (equal neighbours are a segment) or offsets",
    .operations = ladders::segmented_scan::operations,
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &ladders::segmented_scan::rungs,
    .scalars = segmented_scan_scalars.parameters,
    .validate = &validate,
    .validate_elements = &validate_elements,
    .carry = [](const Call&) { return Carry::total; },
    .choose = &ladders::segmented_scan::choose,
    .thresholds = ladders::segmented_scan::thresholds};

}  // namespace upsweep
