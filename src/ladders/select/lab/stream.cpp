// select over an input that need not fit in memory. An operation that looks at a neighbour gets the last element of the
// chunk before in front of each chunk.
#include "ladders/select/lab/stream.h"

#include <cstring>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/workspace.h"
#include "lab/chunk_room.h"
#include "ladders/select/contract.h"

namespace upsweep {
extern const Primitive select_primitive;
}

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
    if (does_.flags) return {{"flags", Type::u8}};
    return {};
  }
  std::vector<Beside> other_outputs() const override {
    if (does_.lengths) return {{"lengths", Type::u64}};
    if (does_.rest) return {{"rest", case_.type}};
    return {};
  }
  Type output_type() const override { return does_.positions ? Type::u64 : case_.type; }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t>) const override { return std::nullopt; }

  void feed(Chunks chunks, const Sink& sink) override {
    const std::span<const std::byte> chunk = chunks[0];
    const bool carries = does_.neighbour;
    const std::size_t element = size_of(case_.type), carried = begin_ > 0 && carries;
    const std::size_t n = carried + chunk.size() / element;
    std::byte* const in = in_with_room(chunk.size()) - carried * element;
    if (carried) platform_.copy_in(in, last_, element);
    platform_.copy_in(in + carried * element, chunk.data(), chunk.size());
    if (does_.flags) {
      flags_.grow(n);
      platform_.copy_in(flags_.chunk(), chunks[1].data(), n);
    }
    const std::size_t selected = select(in, n);

    // The carried element was a run's first, or in the same run as one that was, and that is written already.
    const std::size_t known = does_.starts_runs ? carried : 0;
    if (does_.positions)
      sink(positions(out_, selected, begin_ - carried));
    else
      sink(fetch(out_.chunk(), selected * element).subspan(known * element));
    if (does_.rest) sink(fetch(out_.chunk() + selected * element, (n - selected) * element), 1);
    if (does_.lengths) put_lengths(selected, carried, sink);
    begin_ += chunk.size() / element;
    std::memcpy(last_, chunk.last(element).data(), element);
  }
  void finish(const Sink& sink) override {
    if (open_ > 0) sink(std::as_bytes(std::span(&open_, 1)), 1);
  }

 private:
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
    out_.grow(elements * size_of(does_.positions ? position_type(elements) : case_.type));
    if (does_.lengths) lengths_.grow(elements * size_of(position_type(elements)));
    return in_.chunk();
  }

  // Of n elements; how many are selected.
  std::size_t select(const std::byte* in, std::size_t n) {
    Call call = call_of(select_primitive, case_);
    call.in = {input_array(case_.type, n, in), Array{Type::u8, n, does_.flags ? flags_.chunk() : nullptr}};
    call.out = {Array{does_.positions ? position_type(n) : case_.type, n, out_.chunk()},
                Array{Type::u64, 1, count_.chunk()},
                Array{position_type(n), n, does_.lengths ? lengths_.chunk() : nullptr}};
    call.workspace = &workspace_;
    run_chunk(run_, call, "select");
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
  Traits does_ = traits(case_.operation.as<Selection>());
  Workspace workspace_;
  ChunkRoom in_, flags_, out_, lengths_, count_;
  std::vector<std::byte> host_;
  std::vector<std::uint64_t> positions_;
  std::uint64_t begin_ = 0;  // of the next chunk, elements
  std::uint64_t open_ = 0;   // elements so far of the run that may go on
  alignas(8) std::byte last_[8] = {};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  return std::make_unique<SelectStreamer>(platform, streaming_run(rung, c), c);
}

}  // namespace upsweep::ladders::select
