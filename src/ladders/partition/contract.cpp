#include "base/contract.h"

#include "kernel/multisplit/require_values.h"
#include "ladders/partition/binding.h"
#include "ladders/partition/choose.h"

namespace upsweep {
namespace {

using namespace ladders::partition;

constexpr Operation operations[] = {Bucketing::digit, Bucketing::splitters};
constexpr InputRole inputs[] = {
    {"the array of keys"}, {"the array of values", Fit::custom}, {"the array of splitters", Fit::custom}};
constexpr OutputRole outputs[] = {{.name = "the output of keys"},
                                  {.name = "the output of values", .fit = Fit::custom},
                                  {.name = "the array of offsets", .fit = Fit::custom}};
constexpr Parameter scalars[] = {
    {.name = "first_bit", .meaning = "of the digit, counted from the lowest bit of a key (0)", .most = 63},
    {.name = "bits", .meaning = "of the digit: 2^bits buckets (8)", .least = 1, .most = max_bits}};

void require_digit(const Call& c) {
  const auto first = c.scalars[first_bit].as<std::uint64_t>(), count = c.scalars[bits].as<std::uint64_t>();
  const std::size_t width = 8 * size_of(c.type());
  if (count == 0) refuse("partition", "a digit of 0 bits", "bits is from 1 to " + std::to_string(max_bits));
  if (count > max_bits)
    refuse("partition", "a digit of " + std::to_string(count) + " bits",
           "at most " + std::to_string(max_bits) + ": partition by the lower bits first, then by the others");
  if (first > width || first + count > width)
    refuse("partition", std::to_string(count) + " bits from bit " + std::to_string(first) + " on are beyond a key of " +
                            std::to_string(width) + " bits");
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
  const std::size_t offsets = bucket_count(c) + 1;
  if (c.out[2].count != offsets)
    refuse("partition", std::to_string(c.out[2].count) + " offsets for " + std::to_string(offsets - 1) + " buckets",
           "one for each bucket, and n: " + std::to_string(offsets));
  require_type("partition", "the array of offsets", c.out[2].type, offset_type(c.n()),
               "offsets are u32 for less than 2^32 keys, u64 for more");
}

// Every splitter is above the one before it, and the first above 0.
void validate_elements(const Call& c) {
  if (c.operation != Operation(Bucketing::splitters) || !c.in[2].data) return;
  visit(c.type(), [&]<class T>(TypeTag<T>) {
    const T* const splitters = c.in[2].as<const T>();
    for (std::size_t k = 0; k < c.in[2].count; ++k) {
      const auto before = k > 0 ? splitters[k - 1] : T{0};
      if (splitters[k] > before) continue;
      const std::string splitter = "splitter " + std::to_string(k) + ", " + std::to_string(splitters[k]);
      if (k == 0) refuse("partition", splitter + ", leaves no key for the first bucket", "the least splitter is 1");
      refuse("partition", splitter + ", is not above the one before it, " + std::to_string(before),
             "splitters ascend; one that is there twice leaves a bucket without keys");
    }
  });
}

}  // namespace

extern const Contract partition_contract{
    .name = "partition",
    .promise = "out[0] = the keys by bucket, in order; out[1] = their values; out[2] = where each bucket begins, and n",
    .operations = operations,
    .inputs = inputs,
    .outputs = outputs,
    .scalars = scalars,
    .reads_scalar = [](const Call& c, std::size_t) { return c.operation.as<Bucketing>() == Bucketing::digit; },
    .validate = &validate,
    .validate_elements = &validate_elements,
    .writes = [](const Call& c, std::size_t k,
                 std::uint64_t) { return k == 0   ? c.n()
                                         : k == 1 ? c.in[1].count
                                                  : bucket_count(c) + 1; },
    .choose = &ladders::partition::choose,
    .thresholds = ladders::partition::thresholds};

}  // namespace upsweep
