// An external sort of files: each run is sorted separately, and the sorted runs are merged.
//
// The merge is another sort. Memory holds the next elements of each run. Those that precede every element not yet in
// memory are collected run by run, sorted by the rung, and passed on. On all cores, the rung sorts them in less time
// than a merge would take for one comparison per element.
//
// Values are optional; they have the type of their file. Indices are u64 for any input, so that a file's type does not
// depend on its length.
#include <algorithm>
#include <cstring>
#include <ranges>
#include <utility>

#include "lab/collecting_streamer.h"
#include "ladders/partition/lab/elements.h"
#include "ladders/sort/binding.h"
#include "ladders/sort/cpu_merged.h"

namespace upsweep::ladders::sort {
namespace {

class SortStreamer final : public CollectingStreamer {
 public:
  SortStreamer(Platform& platform, const Rung& rung, const Case& c)
      : CollectingStreamer(platform, rung, c), indices_(c.settings.get("indices", false)) {
    for (const char* name : {"inplace", "distinct"})
      if (c.settings.find(name))
        throw Error(Code::invalid_argument, std::string(name) + " shapes calls that the laboratory makes",
                    "leave it out: the file is the input");
    if (value_type_ && indices_)
      refuse("sort", "both values and indices are asked for", "leave value_bytes or indices out");
    if (c.settings.find("float_order") && !is_float(case_.type))
      refuse("sort", "the parameter 'float_order' is of floats", "leave it out");
    Call call = call_of(*find_primitive("sort"), case_);
    call.out[0].type = case_.type;
    find_primitive("sort")->contract.require_arrays(call);
  }

  std::vector<Beside> other_inputs() const override {
    if (indices_) return {};
    return {{"values", value_type_, /*optional=*/!value_type_}};
  }
  // The order of the input does not matter if equal keys are identical: if no values, indices or bits that are not
  // compared tell them apart, and they are not floats, whose zeros have two signs.
  bool any_order() const override {
    return !indices_ && !has_values_ && !is_float(case_.type) && !case_.settings.find("first_bit") &&
           !case_.settings.find("bits");
  }
  void take_types(std::span<const Type> others) override {
    has_values_ = !others.empty();
    if (!has_values_) return;
    value_type_ = others[0];
    partition::require_values("sort", *value_type_);
  }
  std::vector<Beside> other_outputs() const override {
    std::vector<Beside> all = CollectingStreamer::other_outputs();
    if (indices_) all[0].name = "indices";
    return all;
  }

  // Notes whether there may be floats that are equal though their bits differ: they take more memory to sort.
  void see(Chunks chunks) override {
    if (merges_ || !is_float(case_.type)) return;
    const auto order = case_.settings.find("float_order");
    if (order && order->as<FloatOrder>() == FloatOrder::total_order) return;
    merges_ = zero_or_nan(case_.type, chunks[0].data(), chunks[0].size() / key_bytes());
  }
  std::size_t bytes_of_element() const override {
    if (indices_) return key_bytes() + sizeof(std::uint32_t) + scratch_of_key(sizeof(std::uint32_t));
    return key_bytes() + value_bytes() + scratch_of_key(value_bytes());
  }

  void pass_run(const Sink& sink) override {
    const Sorted run = sort_collected(indices_);
    in_parts(run.keys, run.n * key_bytes(), [&](auto part) { sink(part, 0); });
    values_of_run(run, [&](auto part) { sink(part, 1); });
  }
  void keep_run() override {
    const Sorted run = sort_collected(indices_);
    const std::uint64_t keys = spool().size();
    in_parts(run.keys, run.n * key_bytes(), [&](auto part) { spool().write(part); });
    runs_.push_back({run.n, keys, spool().size()});
    values_of_run(run, [&](auto part) { spool().write(part); });
    total_ += run.n;
  }
  void merge_runs(const Sink& sink) override {
    visit_any(case_.type, [&]<class T>(TypeTag<T>) { merge<T>(sink); });
  }

 private:
  void describe(Call& call, std::uint64_t n) const override {
    call.out[0].count = n;
    if (has_values_) call.in[1] = {*value_type_, n};
    if (indices_) call.out[1].count = n;
  }
  // A sorted run in the rung's arrays; the values may be indices.
  struct Sorted {
    std::size_t n;
    const std::byte *keys, *values;
  };
  // A run in the spool, and its next elements in memory.
  struct Kept {
    std::uint64_t n, keys, values;                      // number of elements; offsets of keys and values in the spool
    std::uint64_t read = 0;                             // elements read so far
    std::vector<std::byte> next_keys{}, next_values{};  // read, but not yet passed on
  };

  std::size_t key_bytes() const { return size_of(case_.type); }
  std::size_t scratch_of_key(std::size_t bytes_of_value) const {
    return most_scratch_of_key(static_cast<unsigned>(key_bytes()), static_cast<unsigned>(bytes_of_value), merges_);
  }
  // Returns the output bytes per element besides the key; 0 if none.
  std::size_t value_bytes() const { return indices_ ? sizeof(std::uint64_t) : has_values_ ? size_of(*value_type_) : 0; }

  // Sorts the collected keys, and returns them with their indices or with their values.
  Sorted sort_collected(bool want_indices) {
    const std::size_t n = collected(), values = value_bytes() ? n : 0;
    const Type type = want_indices ? Type::u32 : indices_ ? Type::u64 : value_type_.value_or(Type::u32);
    std::byte* const keys = take_collected(0, keys_);
    std::byte* const moved = want_indices ? values_.grow(n * size_of(type)) : take_collected(1, values_);
    run({input_array(case_.type, n, keys), want_indices ? Array{} : input_array(type, values, moved)},
        {Array{case_.type, n, keys}, Array{type, values, moved}});
    return {n, keys, moved};
  }
  // Calls f with a run's values, part by part. Indices within the run become indices of the whole input.
  template <class F>
  void values_of_run(const Sorted& run, F&& f) {
    if (!indices_) return in_parts(run.values, run.n * value_bytes(), f);
    std::array<std::uint64_t, std::size_t{1} << 13> indices;  // per call of f
    in_parts(run.values, run.n * sizeof(std::uint32_t), [&](std::span<const std::byte> part) {
      const std::size_t n = part.size() / sizeof(std::uint32_t);
      for (std::size_t first = 0; first < n; first += indices.size()) {
        const std::size_t some = std::min(indices.size(), n - first);
        for (std::size_t i = 0; i < some; ++i) {
          std::uint32_t index;
          std::memcpy(&index, part.data() + (first + i) * sizeof index, sizeof index);
          indices[i] = total_ + index;
        }
        f(std::as_bytes(std::span(indices).first(some)));
      }
    });
  }

  template <class T>
  void merge(const Sink& sink) {
    using Key = UnsignedAs<T>;
    const Sorting how = sort_scalars.read(call_of(*find_primitive("sort"), case_).scalars);
    const auto order = key_order<T>(case_.operation.as<Order>(), how.float_order);
    const std::uint64_t first = how.first_bit, count = *how.bits;
    const std::uint64_t mask = count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
    // Elements are ordered by key; equal ones, by run.
    using Rank = std::pair<std::uint64_t, std::size_t>;
    const auto rank = [&](std::size_t run, std::size_t i) {
      Key key;
      std::memcpy(&key, runs_[run].next_keys.data() + i * sizeof key, sizeof key);
      return Rank{static_cast<std::uint64_t>(order(key)) >> first & mask, run};
    };
    const auto in_memory = [&](std::size_t run) { return runs_[run].next_keys.size() / sizeof(Key); };

    // Memory holds the next elements of every run, copies of those being sorted, and the scratch of the sort.
    values_.release();
    release_memory();
    const std::size_t element = sizeof(Key) + value_bytes();
    const std::size_t each =
        std::max(memory() / (2 * element + scratch_of_key(value_bytes())) / runs_.size(), least_in_memory);
    make_room(each * runs_.size(), {sizeof(Key), value_bytes()});
    for (Kept& run : runs_) {
      run.next_keys.reserve(each * sizeof(Key));
      run.next_values.reserve(each * value_bytes());
    }
    for (;;) {
      std::optional<Rank> last;  // the last element that precedes all those not in memory
      for (std::size_t run = 0; run < runs_.size(); ++run) {
        read_on(runs_[run], each);
        if (runs_[run].read == runs_[run].n) continue;
        const Rank here = rank(run, in_memory(run) - 1);
        last = last ? std::min(*last, here) : here;
      }
      for (std::size_t run = 0; run < runs_.size(); ++run) {
        const auto all = std::views::iota(std::size_t{0}, in_memory(run));
        const auto end =
            std::ranges::partition_point(all, [&](std::size_t i) { return !last || rank(run, i) <= *last; });
        take(runs_[run], static_cast<std::size_t>(end - all.begin()));
      }
      if (collected() == 0) return;
      const Sorted next = sort_collected(false);
      in_parts(next.keys, next.n * sizeof(Key), [&](auto part) { sink(part, 0); });
      in_parts(next.values, next.n * value_bytes(), [&](auto part) { sink(part, 1); });
      drop_collected();
    }
  }
  // Reads until `elements` elements of a run are in memory, or the run ends.
  void read_on(Kept& run, std::size_t elements) {
    const std::uint64_t more = std::min<std::uint64_t>(elements - run.next_keys.size() / key_bytes(), run.n - run.read);
    const auto append = [&](std::vector<std::byte>& bytes, std::uint64_t begin, std::size_t element) {
      const std::size_t old = bytes.size();
      bytes.resize(old + more * element);
      spool().read(begin + run.read * element, std::span(bytes).subspan(old));
    };
    append(run.next_keys, run.keys, key_bytes());
    append(run.next_values, run.values, value_bytes());
    run.read += more;
  }
  // Moves the next elements of a run to the collected ones.
  void take(Kept& run, std::size_t elements) {
    const std::span keys = std::span<const std::byte>(run.next_keys).first(elements * key_bytes());
    const std::span values = std::span<const std::byte>(run.next_values).first(elements * value_bytes());
    collect(std::array{keys, values});
    run.next_keys.erase(run.next_keys.begin(), run.next_keys.begin() + std::ssize(keys));
    run.next_values.erase(run.next_values.begin(), run.next_values.begin() + std::ssize(values));
  }

  // Minimum elements of a run in memory: of 8-byte keys, a 512-byte disk sector.
  static constexpr std::size_t least_in_memory = 64;

  const bool indices_;
  std::optional<Type> value_type_ = partition::type_of_values("sort", case_.settings);
  bool has_values_ = false;
  std::vector<Kept> runs_;
  std::uint64_t total_ = 0;  // elements in runs_
  bool merges_ = false;      // a key seen so far may equal one with other bits
  Room keys_{*this}, values_{*this};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  return std::make_unique<SortStreamer>(platform, rung, c);
}

}  // namespace upsweep::ladders::sort
