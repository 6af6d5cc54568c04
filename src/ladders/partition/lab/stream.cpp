// partition over files. Each run is partitioned separately; at the end, a bucket is the concatenation of that bucket in
// every run.
//
// Offsets are always u64, so that a file's type does not depend on its length. Values are optional; the file states
// their type.
#include <algorithm>
#include <cstring>
#include <utility>

#include "lab/collecting_streamer.h"
#include "ladders/partition/binding.h"
#include "ladders/partition/lab/elements.h"

namespace upsweep::ladders::partition {
namespace {

class PartitionStreamer final : public CollectingStreamer {
 public:
  PartitionStreamer(Platform& platform, const Rung& rung, const Case& c) : CollectingStreamer(platform, rung, c) {
    if (!by_splitters()) set_splitters({});
  }

  std::vector<Beside> other_inputs() const override { return {{"values", value_type_, /*optional=*/!value_type_}}; }
  std::vector<Beside> whole_inputs() const override {
    return by_splitters() ? std::vector<Beside>{{"splitters", case_.type}} : std::vector<Beside>{};
  }
  void take_whole(std::size_t, std::vector<std::byte> splitters, Type) override { set_splitters(std::move(splitters)); }
  void take_types(std::span<const Type> others) override {
    has_values_ = !others.empty();
    if (!has_values_) return;
    value_type_ = others[0];
    require_values("partition", *value_type_);
  }

  // Returns the bytes of memory per element: input and output are separate, and with splitters there is a bucket id.
  std::size_t bytes_of_element() const override {
    return 2 * (key_bytes() + value_bytes()) + (by_splitters() ? sizeof(std::uint16_t) : 0);
  }

  void pass_run(const Sink& sink) override {
    const Partitioned run = partition_collected();
    add_to_totals(offsets_of(run));
    in_parts(run.keys, run.n * key_bytes(), [&](auto part) { sink(part, 0); });
    if (has_values_) in_parts(run.values, run.n * value_bytes(), [&](auto part) { sink(part, 1); });
    pass_totals(sink);
  }
  void keep_run() override {
    const Partitioned run = partition_collected();
    const std::vector<std::uint32_t> offsets = offsets_of(run);
    add_to_totals(offsets);
    const std::uint64_t begin = spool().size();
    spool().write(std::as_bytes(std::span(offsets)));
    const std::uint64_t keys = spool().size();
    in_parts(run.keys, run.n * key_bytes(), [&](auto part) { spool().write(part); });
    runs_.push_back({begin, keys, spool().size()});
    in_parts(run.values, run.n * value_bytes(), [&](auto part) { spool().write(part); });
  }
  void merge_runs(const Sink& sink) override {
    release_memory();
    for (Room* room : {&in_, &values_, &out_, &out_values_}) room->release();
    pass_buckets(sink, 0, key_bytes(), &Kept::keys);
    if (has_values_) pass_buckets(sink, 1, value_bytes(), &Kept::values);
    pass_totals(sink);
  }
  std::string table() const override {
    std::string text = "bucket\toffset\tcount\n";
    for (std::size_t b = 0; b + 1 < totals_.size(); ++b)
      text += std::to_string(b) + '\t' + std::to_string(totals_[b]) + '\t' +
              std::to_string(totals_[b + 1] - totals_[b]) + '\n';
    return text;
  }
  bool has_table() const override { return true; }

 private:
  void describe(Call& call, std::uint64_t n) const override {
    if (has_values_) call.in[1] = {*value_type_, n};
  }
  // A partitioned run, in memory of the rung's platform.
  struct Partitioned {
    std::size_t n;
    const std::byte *keys, *values, *offsets;
  };
  // Byte positions of a run in the spool: its [buckets + 1] u32 offsets, its keys and its values.
  struct Kept {
    std::uint64_t offsets, keys, values;
  };

  std::size_t key_bytes() const { return size_of(case_.type); }
  std::size_t value_bytes() const { return has_values_ ? size_of(*value_type_) : 0; }

  Partitioned partition_collected() {
    const std::size_t n = collected(), values = has_values_ ? n : 0;
    const Type type = value_type_.value_or(Type::u32);
    const std::byte* const keys = take_collected(0, in_);
    const std::byte* const moved = take_collected(1, values_);
    std::byte* const out = out_.grow(n * key_bytes());
    std::byte* const out_values = out_values_.grow(n * value_bytes());
    std::byte* const offsets = offsets_room_.grow((buckets_ + 1) * sizeof(std::uint32_t));
    run({input_array(case_.type, n, keys), input_array(type, values, moved), splitters_array()},
        {Array{case_.type, n, out}, Array{type, values, out_values}, Array{Type::u32, buckets_ + 1, offsets}});
    return {n, out, out_values, offsets};
  }
  std::vector<std::uint32_t> offsets_of(const Partitioned& run) {
    std::vector<std::uint32_t> offsets(buckets_ + 1);
    const auto bytes = fetch(run.offsets, offsets.size() * sizeof offsets[0]);
    std::memcpy(offsets.data(), bytes.data(), bytes.size());
    return offsets;
  }

  bool by_splitters() const { return case_.operation == Operation(Bucketing::splitters); }
  Array splitters_array() {
    return input_array(case_.type, splitters_.size() / size_of(case_.type),
                       by_splitters() ? reachable(splitters_, splitters_room_) : nullptr);
  }
  // Sets the splitters, if any, and the number of buckets. Throws Error(invalid_argument) if the chunks' calls would be
  // invalid.
  void set_splitters(std::vector<std::byte> splitters) {
    splitters_ = std::move(splitters);
    Call call = call_of(*find_primitive("partition"), case_);
    call.in[2] = input_array(case_.type, splitters_.size() / size_of(case_.type), splitters_.data());
    call.out[0].type = case_.type;
    buckets_ = bucket_count(call);
    call.out[2] = {Type::u32, buckets_ + 1};
    const Contract& contract = find_primitive("partition")->contract;
    contract.require_arrays(call);
    contract.validate_elements(call);
  }
  void add_to_totals(const std::vector<std::uint32_t>& offsets) {
    totals_.resize(buckets_ + 1);
    for (std::size_t b = 0; b <= buckets_; ++b) totals_[b] += offsets[b];
  }
  void pass_totals(const Sink& sink) const { sink(std::as_bytes(std::span(totals_)), has_values_ ? 2 : 1); }
  // Passes all buckets of one array to the sink, in pieces of a chunk. Another chunk of memory holds the offsets of
  // every run, for as many buckets at a time as fit.
  void pass_buckets(const Sink& sink, std::size_t output, std::size_t element, std::uint64_t Kept::*array) {
    std::vector<std::byte> bytes;
    bytes.reserve(chunk_bytes());
    const std::size_t most = std::max<std::size_t>(chunk_bytes() / sizeof(std::uint32_t) / runs_.size(), 2) - 1;
    std::vector<std::uint32_t> offsets;
    for (std::size_t first = 0, count; first < buckets_; first += count) {
      count = std::min(most, buckets_ - first);
      offsets.resize(runs_.size() * (count + 1));
      for (std::size_t r = 0; r < runs_.size(); ++r)
        spool().read(runs_[r].offsets + first * sizeof offsets[0],
                     std::as_writable_bytes(std::span(offsets).subspan(r * (count + 1), count + 1)));
      for (std::size_t b = 0; b < count; ++b)
        for (std::size_t r = 0; r < runs_.size(); ++r) {
          const std::uint32_t* const of_bucket = &offsets[r * (count + 1) + b];
          pass_bytes(sink, output, bytes, runs_[r].*array + std::uint64_t{of_bucket[0]} * element,
                     runs_[r].*array + std::uint64_t{of_bucket[1]} * element);
        }
    }
    if (!bytes.empty()) sink(bytes, output);
  }
  // Appends bytes [at, end) of the spool to `bytes`, and passes `bytes` on whenever it fills a chunk.
  void pass_bytes(const Sink& sink, std::size_t output, std::vector<std::byte>& bytes, std::uint64_t at,
                  std::uint64_t end) {
    while (at < end) {
      const std::size_t old = bytes.size();
      const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(end - at, chunk_bytes() - old));
      bytes.resize(old + more);
      spool().read(at, std::span(bytes).subspan(old));
      at += more;
      if (bytes.size() < chunk_bytes()) continue;
      sink(bytes, output);
      bytes.clear();
    }
  }

  std::optional<Type> value_type_ = type_of_values("partition", case_.settings);
  bool has_values_ = false;
  std::size_t buckets_ = 0;
  std::vector<std::byte> splitters_;
  std::vector<Kept> runs_;
  std::vector<std::uint64_t> totals_;
  Room in_{*this}, values_{*this}, splitters_room_{*this}, out_{*this}, out_values_{*this}, offsets_room_{*this};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  return std::make_unique<PartitionStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::partition
