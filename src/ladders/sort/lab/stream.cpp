// sort over files. Every chunk is sorted by itself and kept; at the end the chunks are merged. So the input has to fit
// in host memory, but not in a GPU's.
//
// Values are optional; they have the type that their file says. Indices are u64 for any input, so that a file's type
// does not depend on its length.
#include "lab/stream.h"

#include <algorithm>
#include <cstring>
#include <queue>
#include <utility>

#include "ladders/partition/lab/elements.h"
#include "ladders/sort/binding.h"

namespace upsweep::ladders::sort {
namespace {

class SortStreamer final : public RungStreamer {
 public:
  SortStreamer(Platform& platform, const Rung& rung, const Case& c)
      : RungStreamer(platform, rung, c), indices_(c.settings.get("indices", false)) {
    for (const char* name : {"inplace", "distinct"})
      if (c.settings.find(name))
        throw Error(Code::invalid_argument, std::string(name) + " shapes calls that the laboratory makes",
                    "leave it out: the file is the input");
    if (value_type_ && indices_)
      refuse("sort", "both values and indices are asked for", "leave value_bytes or indices out");
    Call call = call_of(*find_primitive("sort"), case_);
    call.in[0].type = call.out[0].type = case_.type;
    find_primitive("sort")->contract.require_arrays(call);
  }

  std::vector<Beside> other_inputs() const override {
    if (indices_) return {};
    return {{"values", value_type_, /*optional=*/!value_type_}};
  }
  void take_types(std::span<const Type> others) override {
    has_values_ = !others.empty();
    if (!has_values_) return;
    value_type_ = others[0];
    partition::require_values("sort", *value_type_);
  }
  std::vector<Beside> other_outputs() const override {
    if (indices_) return {{"indices", Type::u64}};
    return has_values_ ? std::vector<Beside>{{"values", value_type_}} : std::vector<Beside>{};
  }

  void feed(Chunks chunks, const Sink&) override {
    const std::size_t n = chunks[0].size() / size_of(case_.type);
    const Type type = indices_ ? Type::u32 : value_type_.value_or(Type::u32);
    const std::size_t in_values = has_values_ ? n : 0, out_values = has_values_ || indices_ ? n : 0;
    std::byte* const out = out_.grow(chunks[0].size());
    std::byte* const moved = moved_.grow(out_values * size_of(type));
    run({input_array(case_.type, n, reachable(chunks[0], in_)),
         input_array(type, in_values, has_values_ ? reachable(chunks[1], values_) : nullptr)},
        {Array{case_.type, n, out}, Array{type, out_values, moved}});
    const auto copy_of = [&](const std::byte* from, std::size_t bytes) {
      const auto all = fetch(from, bytes);
      return std::vector<std::byte>(all.begin(), all.end());
    };
    kept_.push_back({copy_of(out, chunks[0].size()), copy_of(moved, out_values * size_of(type)), total_});
    total_ += n;
  }
  void finish(const Sink& sink) override {
    visit(case_.type, [&]<class T>(TypeTag<T>) { merge<T>(sink); });
  }

 private:
  // A chunk in order.
  struct Kept {
    std::vector<std::byte> keys, values;
    std::uint64_t first;  // the index of the chunk's first element in the input
  };

  // Passes the chunks' elements in order. Equal keys: those of the earlier chunk first.
  template <class T>
  void merge(const Sink& sink) const {
    using Key = UnsignedAs<T>;
    const Call call = call_of(*find_primitive("sort"), case_);
    const auto order = key_order<T>(case_.operation.as<Order>());
    const auto first = call.scalars[first_bit].as<std::uint64_t>(), count = call.scalars[bits].as<std::uint64_t>();
    const std::uint64_t mask = count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
    const auto key_at = [&](std::size_t chunk, std::size_t i) {
      Key key;
      std::memcpy(&key, kept_[chunk].keys.data() + i * sizeof key, sizeof key);
      return static_cast<std::uint64_t>(order(key)) >> first & mask;
    };
    struct Head {
      std::uint64_t key;
      std::size_t chunk;
      bool operator>(const Head& other) const { return key != other.key ? key > other.key : chunk > other.chunk; }
    };
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    for (std::size_t chunk = 0; chunk < kept_.size(); ++chunk)
      if (!kept_[chunk].keys.empty()) heads.push({key_at(chunk, 0), chunk});

    const std::size_t value = indices_ ? sizeof(std::uint64_t) : has_values_ ? size_of(*value_type_) : 0;
    std::vector<std::size_t> next(kept_.size());
    std::vector<std::byte> keys, values;
    const auto put = [&] {
      sink(keys, 0);
      if (value) sink(values, 1);
      keys.clear();
      values.clear();
    };
    while (!heads.empty()) {
      const std::size_t chunk = heads.top().chunk;
      heads.pop();
      const Kept& kept = kept_[chunk];
      const std::size_t i = next[chunk]++;
      append(keys, kept.keys.data() + i * sizeof(Key), sizeof(Key));
      if (indices_) {
        std::uint32_t index;
        std::memcpy(&index, kept.values.data() + i * sizeof index, sizeof index);
        const std::uint64_t of_input = kept.first + index;
        append(values, reinterpret_cast<const std::byte*>(&of_input), sizeof of_input);
      } else if (value) {
        append(values, kept.values.data() + i * value, value);
      }
      if (next[chunk] * sizeof(Key) < kept.keys.size()) heads.push({key_at(chunk, next[chunk]), chunk});
      if (keys.size() >= chunk_bytes) put();
    }
    put();
  }
  static void append(std::vector<std::byte>& to, const std::byte* from, std::size_t bytes) {
    to.insert(to.end(), from, from + bytes);
  }

  const bool indices_;
  std::optional<Type> value_type_ = partition::type_of_values("sort", case_.settings);
  bool has_values_ = false;
  std::vector<Kept> kept_;
  std::uint64_t total_ = 0;  // elements taken
  Room in_{*this}, values_{*this}, out_{*this}, moved_{*this};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  return std::make_unique<SortStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::sort
