#include "base/contract.h"

#include "kernel/multisplit/require_values.h"
#include "ladders/partition/binding.h"
#include "ladders/partition/choose.h"
#include "rung_tables.h"

namespace upsweep {
namespace {

using namespace ladders::partition;

constexpr InputRole inputs[] = {
    {"the array of keys"}, {"the array of values", false}, {"the array of splitters", false}};
Join merged(const Call&) { return Join::merged; }
constexpr OutputRole outputs[] = {{.name = "the output of keys", .join = &merged},
                                  {.name = "the output of values",
                                   .type = [](const Call& c) { return c.in[1].type; },
                                   .count = [](const Call& c, std::uint64_t) { return c.in[1].count; },
                                   .file = "values",
                                   .join = &merged},
                                  {.name = "the array of offsets",
                                   .type = [](const Call& c) { return index_type(c.out[2].type, c.n()); },
                                   .count = [](const Call& c, std::uint64_t) { return bucket_count(c) + 1; },
                                   .types = index_types,
                                   .file = "offsets",
                                   .on_request = true,
                                   .join = [](const Call&) { return Join::by_addition; }}};

void require_digit(const Call& c) {
  const Digit digit = partition_scalars.read(c.scalars);
  const std::size_t width = 8 * size_of(c.type());
  if (digit.first_bit + digit.bits > width)
    refuse("partition", std::to_string(digit.bits) + " bits from bit " + std::to_string(digit.first_bit) +
                            " on are beyond a key of " + std::to_string(width) + " bits");
}

void require_splitters(const Call& c) {
  const std::size_t count = c.in[2].count;
  if (count == 0) refuse("partition", "there are no splitters", "one splitter makes two buckets");
  if (count >= max_buckets)
    refuse("partition", std::to_string(count) + " splitters", "at most " + std::to_string(max_buckets - 1));
  require_type("partition", "the array of splitters", c.in[2].type, c.type());
}

void require_values(const Call& c) {
  if (c.in[1].count > 0) return ladders::partition::require_values("partition", c);
  if (c.n() > 0 && c.out[1].count > 0)
    refuse("partition", "there is an output of values, but no value",
           "pass as many values as keys, or leave the output out");
}

void validate(const Call& c) {
  c.operation.as<Bucketing>() == Bucketing::digit ? require_digit(c) : require_splitters(c);
  require_values(c);
  // The number of offsets must be exact: any other number implies another number of buckets.
  const std::size_t offsets = bucket_count(c) + 1;
  if (c.out[2].count != offsets)
    refuse("partition", std::to_string(c.out[2].count) + " offsets for " + std::to_string(offsets - 1) + " buckets",
           "one for each bucket, and n: " + std::to_string(offsets));
}

// Requires strictly ascending splitters, the first above 0.
void validate_elements(const Call& c) {
  if (c.operation != Operation(Bucketing::splitters) || !c.in[2].data) return;
  visit(c.type(), [&]<class T>(TypeTag<T>) {
    const T* const splitters = c.in[2].as<const T>();
    for (std::size_t k = 0; k < c.in[2].count; ++k) {
      const auto before = k > 0 ? splitters[k - 1] : T{0};
      if (splitters[k] > before) continue;
      const std::string splitter = "splitter " + std::to_string(k) + ", " + std::to_string(splitters[k]);
      if (k == 0) refuse("partition", splitter + ", leaves no key for the first bucket", "the minimum is 1");
      refuse("partition", splitter + ", is not above the one before it, " + std::to_string(before),
             "splitters must ascend; a repeated one leaves a bucket without keys");
    }
  });
}

}  // namespace

extern const Contract partition_contract{
    .name = "partition",
    .promise = "out[0] = the keys, stably by bucket; out[1] = their values; out[2] = the offset of each bucket, and n",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .rungs = &ladders::partition::rungs,
    .scalars = partition_scalars.parameters,
    .reads_scalar = [](const Call& c, std::size_t) { return c.operation.as<Bucketing>() == Bucketing::digit; },
    .validate = &validate,
    .validate_elements = &validate_elements,
    .choose = &ladders::partition::choose,
    .thresholds = ladders::partition::thresholds};

}  // namespace upsweep
