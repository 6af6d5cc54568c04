// select over an input that need not fit in memory. An operation that looks at a neighbour gets the last element of the
// chunk before in front of each chunk.
#include "select/stream.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/chunk_room.h"
#include "base/platform.h"
#include "select/contract.h"

namespace upsweep::ladders::select {
namespace {

class SelectStreamer final : public Streamer {
 public:
  SelectStreamer(Platform& platform, RunFn run, const Case& c)
      : platform_(platform),
        run_(run),
        case_(c),
        workspace_(platform),
        in_(platform),
        flags_(platform),
        out_(platform),
        lengths_(platform),
        count_(platform) {
    count_.grow(sizeof(std::uint64_t));
  }
  std::vector<Beside> other_inputs() const override {
    if (case_.op == Op::select_flagged) return {{"flags", Type::u8}};
    return {};
  }
  std::vector<Beside> other_outputs() const override {
    if (case_.op == Op::run_length_encode) return {{"lengths", Type::u64}};
    if (case_.op == Op::partition_if) return {{"rest", case_.type}};
    return {};
  }
  Type output_type() const override { return finds_positions() ? Type::u64 : case_.type; }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t>) const override { return std::nullopt; }

  void feed(Chunks chunks, const Sink& sink) override {
    const std::span<const std::byte> chunk = chunks[0];
    const bool carries = case_.op == Op::find_repeats || finds_runs();
    const std::size_t element = size_of(case_.type), carried = begin_ > 0 && carries;
    const std::size_t n = carried + chunk.size() / element;
    std::byte* const in = in_with_room(chunk.size()) - carried * element;
    if (carried) platform_.copy_in(in, last_, element);
    platform_.copy_in(in + carried * element, chunk.data(), chunk.size());
    if (case_.op == Op::select_flagged) {
      flags_.grow(n);
      platform_.copy_in(flags_.chunk(), chunks[1].data(), n);
    }
    const std::size_t selected = select(in, n);

    // The carried element was a run's first, or in the same run as one that was, and that is written already.
    const std::size_t known = finds_runs() ? carried : 0;
    if (finds_positions())
      sink(positions(out_, selected, begin_ - carried));
    else
      sink(fetch(out_.chunk(), selected * element).subspan(known * element));
    if (case_.op == Op::partition_if) sink(fetch(out_.chunk() + selected * element, (n - selected) * element), 1);
    if (case_.op == Op::run_length_encode) put_lengths(selected, carried, sink);
    begin_ += chunk.size() / element;
    std::memcpy(last_, chunk.last(element).data(), element);
  }
  void finish(const Sink& sink) override {
    if (open_ > 0) sink(std::as_bytes(std::span(&open_, 1)), 1);
  }

 private:
  bool finds_positions() const { return case_.op == Op::find_repeats; }
  bool finds_runs() const { return case_.op == Op::unique || case_.op == Op::run_length_encode; }

  // The lengths of the chunk's runs but of the last, which may go on in the next chunk. The first is the one that was
  // under way, where there is an element carried over from it.
  void put_lengths(std::size_t runs, std::size_t carried, const Sink& sink) {
    positions(lengths_, runs, 0);
    if (carried) positions_[0] += open_ - carried;
    open_ = positions_.back();
    sink(std::as_bytes(std::span(positions_).first(runs - 1)), 1);
  }

  std::byte* in_with_room(std::size_t chunk_bytes) {
    in_.grow(chunk_bytes);
    const std::size_t elements = chunk_bytes / size_of(case_.type) + 1;
    out_.grow(elements * size_of(finds_positions() ? position_type(elements) : case_.type));
    if (case_.op == Op::run_length_encode) lengths_.grow(elements * size_of(position_type(elements)));
    return in_.chunk();
  }

  // Of n elements; how many are selected.
  std::size_t select(const std::byte* in, std::size_t n) {
    Call call{.type = case_.type, .op = case_.op, .n = n, .params = case_.params, .workspace = &workspace_};
    call.in = {in, case_.op == Op::select_flagged ? flags_.chunk() : nullptr};
    call.out = {out_.chunk(), count_.chunk(), case_.op == Op::run_length_encode ? lengths_.chunk() : nullptr};
    if (const Status s = run_(call); !s)
      throw Error(s.code, std::string("select failed: ") + (s.message ? s.message : "no message"));
    std::uint64_t count;
    std::memcpy(&count, fetch(count_.chunk(), sizeof count).data(), sizeof count);
    return count;
  }

  // What lies in the platform's memory, for the host to read until the next call.
  std::span<const std::byte> fetch(const std::byte* from, std::size_t bytes) {
    if (platform_.backend() == Backend::cpu) return {from, bytes};
    host_.resize(bytes);
    platform_.copy_out(host_.data(), from, bytes);
    platform_.synchronize();
    return host_;
  }

  // Of the whole input, of those in a chunk: u32, because a chunk has less than 2^32 elements. Lengths too.
  std::span<const std::byte> positions(ChunkRoom& room, std::size_t count, std::uint64_t begin) {
    const auto found = fetch(room.chunk(), count * sizeof(std::uint32_t));
    const auto* const in_chunk = reinterpret_cast<const std::uint32_t*>(found.data());
    positions_.resize(count);
    for (std::size_t k = 0; k < count; ++k) positions_[k] = begin + in_chunk[k];
    return std::as_bytes(std::span(positions_));
  }

  Platform& platform_;
  RunFn run_;
  Case case_;
  Workspace workspace_;
  ChunkRoom in_, flags_, out_, lengths_, count_;
  std::vector<std::byte> host_;
  std::vector<std::uint64_t> positions_;
  std::uint64_t begin_ = 0;  // of the next chunk, elements
  std::uint64_t open_ = 0;   // elements so far of the run that may go on
  alignas(8) std::byte last_[8] = {};
};

// A rung would take the nearest limit that the type can hold, and leave out elements that are below the one asked for.
void require_exact_limit(const Case& c) {
  if (is_float(c.type) || (c.op != Op::select_if && c.op != Op::partition_if)) return;
  const double below = c.params.get("below", 0);
  const std::string shown = "below=" + std::to_string(below), type(to_string(c.type));
  if (std::abs(below) > 0x1p53)
    throw Error(
        Code::invalid_argument, shown + " may have been rounded already",
        "parameters hold integers of up to 2^53 exactly; upsweep::select_if takes larger ones that a double holds");
  visit(c.type, [&]<class T>(TypeTag<T>) {
    constexpr T most = std::numeric_limits<T>::max();
    if (std::ceil(below) > static_cast<double>(most))
      throw Error(Code::invalid_argument, shown + " is more than " + type + " holds: every element is below it",
                  "use a limit up to " + std::to_string(most));
  });
}

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  const auto refuse = [](const std::string& what, const char* hint) { throw Error(Code::unsupported, what, hint); };
  const std::string name = "select/" + std::string(rung.name);
  const RunFn run = rung.find(c.type, c.op);
  if (!run)
    refuse(name + " does not take " + std::string(to_string(c.type)) + " " + std::string(to_string(c.op)),
           "name another rung");
  if (rung.largest) refuse(name + " takes up to " + std::to_string(rung.largest) + " elements", "name another rung");
  require_exact_limit(c);
  return std::make_unique<SelectStreamer>(platform, run, c);
}

}  // namespace upsweep::ladders::select
