// partition over files. Every chunk is partitioned by itself and kept; at the end, a bucket is that of the first chunk,
// that of the second, and so on. So the input has to fit in host memory, but not in a GPU's.
//
// Offsets are u64 for any input, so that a file's type does not depend on its length. Values are optional; they have
// the type that their file says.
#include "lab/stream.h"

#include <algorithm>
#include <utility>

#include "ladders/partition/binding.h"
#include "ladders/partition/lab/elements.h"

namespace upsweep::ladders::partition {
namespace {

class PartitionStreamer final : public RungStreamer {
 public:
  PartitionStreamer(Platform& platform, const Rung& rung, const Case& c) : RungStreamer(platform, rung, c) {
    for (const char* name : {"buckets", "distinct"})
      if (c.settings.find(name))
        throw Error(Code::invalid_argument, std::string(name) + " shapes inputs that the laboratory makes",
                    "leave it out: the file is the input");
    if (!by_splitters()) set_splitters({});
  }

  std::vector<Beside> other_inputs() const override { return {{"values", value_type_, /*optional=*/!value_type_}}; }
  std::vector<Beside> whole_inputs() const override {
    return by_splitters() ? std::vector<Beside>{{"splitters", case_.type}} : std::vector<Beside>{};
  }
  void take_whole(std::size_t, std::vector<std::byte> splitters) override { set_splitters(std::move(splitters)); }
  void take_types(std::span<const Type> others) override {
    has_values_ = !others.empty();
    if (!has_values_) return;
    value_type_ = others[0];
    require_values("partition", *value_type_);
  }
  std::vector<Beside> other_outputs() const override {
    std::vector<Beside> all;
    if (has_values_) all.push_back({"values", value_type_});
    all.push_back({"offsets", Type::u64, /*optional=*/true});
    return all;
  }

  void feed(Chunks chunks, const Sink&) override {
    const std::size_t n = chunks[0].size() / size_of(case_.type), values = has_values_ ? n : 0;
    const std::size_t value = has_values_ ? size_of(*value_type_) : 0;
    const Type type = value_type_.value_or(Type::u32);
    std::byte* const out = out_.grow(chunks[0].size());
    std::byte* const out_values = has_values_ ? out_values_.grow(n * value) : nullptr;
    std::byte* const offsets = offsets_room_.grow((buckets_ + 1) * sizeof(std::uint32_t));
    run({input_array(case_.type, n, reachable(chunks[0], in_)),
         input_array(type, values, has_values_ ? reachable(chunks[1], values_) : nullptr), splitters_array()},
        {Array{case_.type, n, out}, Array{type, values, out_values}, Array{Type::u32, buckets_ + 1, offsets}});
    const auto copy_of = [&](const std::byte* from, std::size_t bytes) {
      const auto all = fetch(from, bytes);
      return std::vector<std::byte>(all.begin(), all.end());
    };
    Kept& chunk = kept_.emplace_back();
    chunk.keys = copy_of(out, chunks[0].size());
    if (has_values_) chunk.values = copy_of(out_values, n * value);
    chunk.offsets = copy_of(offsets, (buckets_ + 1) * sizeof(std::uint32_t));
  }
  void finish(const Sink& sink) override {
    totals_.assign(buckets_ + 1, 0);
    for (std::size_t b = 0; b < buckets_; ++b) {
      totals_[b + 1] = totals_[b];
      for (const Kept& chunk : kept_) totals_[b + 1] += chunk.offset(b + 1) - chunk.offset(b);
    }
    put(sink, 0, size_of(case_.type), &Kept::keys);
    if (has_values_) put(sink, 1, size_of(*value_type_), &Kept::values);
    sink(std::as_bytes(std::span(totals_)), has_values_ ? 2 : 1);
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
  // A chunk by bucket.
  struct Kept {
    std::vector<std::byte> keys, values, offsets;  // offsets are u32
    std::size_t offset(std::size_t bucket) const {
      return reinterpret_cast<const std::uint32_t*>(offsets.data())[bucket];
    }
  };

  bool by_splitters() const { return case_.operation == Operation(Bucketing::splitters); }
  Array splitters_array() {
    return input_array(case_.type, splitters_.size() / size_of(case_.type),
                       by_splitters() ? reachable(splitters_, splitters_room_) : nullptr);
  }
  // Throws Error(invalid_argument) if the call that the chunks will make cannot be.
  void set_splitters(std::vector<std::byte> splitters) {
    splitters_ = std::move(splitters);
    Call call = call_of(*find_primitive("partition"), case_);
    call.in[0].type = case_.type;
    call.in[2] = input_array(case_.type, splitters_.size() / size_of(case_.type), splitters_.data());
    call.out[0].type = case_.type;
    buckets_ = bucket_count(call);
    call.out[2] = {Type::u32, buckets_ + 1};
    const Contract& contract = find_primitive("partition")->contract;
    contract.require_arrays(call);
    contract.validate_elements(call);
  }
  // Passes all buckets of one array to the sink, about as many bytes at a time as a chunk has.
  void put(const Sink& sink, std::size_t output, std::size_t element, std::vector<std::byte> Kept::*array) const {
    std::vector<std::byte> bytes;
    for (std::size_t b = 0; b < buckets_; ++b)
      for (const Kept& chunk : kept_) {
        const auto from = (chunk.*array).begin();
        bytes.insert(bytes.end(), from + static_cast<std::ptrdiff_t>(chunk.offset(b) * element),
                     from + static_cast<std::ptrdiff_t>(chunk.offset(b + 1) * element));
        if (bytes.size() < chunk_bytes) continue;
        sink(bytes, output);
        bytes.clear();
      }
    if (!bytes.empty()) sink(bytes, output);
  }

  std::optional<Type> value_type_ = type_of_values("partition", case_.settings);
  bool has_values_ = false;
  std::size_t buckets_ = 0;
  std::vector<std::byte> splitters_;
  std::vector<Kept> kept_;
  std::vector<std::uint64_t> totals_;
  Room in_{*this}, values_{*this}, splitters_room_{*this}, out_{*this}, out_values_{*this}, offsets_room_{*this};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  return std::make_unique<PartitionStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::partition
