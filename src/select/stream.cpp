// select over an input that need not fit in memory. An operation that looks at a neighbour gets the last element of the
// chunk before in front of each chunk.
#include "select/stream.h"

#include <cstring>
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
        count_(platform) {
    count_.grow(sizeof(std::uint64_t));
  }
  std::vector<Input> others() const override {
    if (case_.op == Op::select_flagged) return {{"flags", Type::u8}};
    return {};
  }
  Type output_type() const override { return finds_positions() ? Type::u64 : case_.type; }
  std::optional<std::uint64_t> output_count(std::optional<std::uint64_t>) const override { return std::nullopt; }

  void feed(Chunks chunks, const Sink& sink) override {
    const std::span<const std::byte> chunk = chunks[0];
    const bool carries = case_.op == Op::find_repeats || case_.op == Op::unique;
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
    const std::size_t known = case_.op == Op::unique ? carried : 0;
    if (finds_positions())
      sink(positions(selected, begin_ - carried));
    else
      sink(fetch(out_.chunk(), selected * element).subspan(known * element));
    begin_ += chunk.size() / element;
    std::memcpy(last_, chunk.last(element).data(), element);
  }
  void finish(const Sink&) override {}

 private:
  bool finds_positions() const { return case_.op == Op::find_repeats; }

  std::byte* in_with_room(std::size_t chunk_bytes) {
    in_.grow(chunk_bytes);
    const std::size_t elements = chunk_bytes / size_of(case_.type) + 1;
    out_.grow(elements * size_of(finds_positions() ? position_type(elements) : case_.type));
    return in_.chunk();
  }

  // Of n elements; how many are selected.
  std::size_t select(const std::byte* in, std::size_t n) {
    Call call{.type = case_.type, .op = case_.op, .n = n, .params = case_.params, .workspace = &workspace_};
    call.in = {in, case_.op == Op::select_flagged ? flags_.chunk() : nullptr};
    call.out = {out_.chunk(), count_.chunk()};
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

  // Of the whole input, of those in a chunk: u32, because a chunk has less than 2^32 elements.
  std::span<const std::byte> positions(std::size_t count, std::uint64_t begin) {
    const auto found = fetch(out_.chunk(), count * sizeof(std::uint32_t));
    const auto* const in_chunk = reinterpret_cast<const std::uint32_t*>(found.data());
    positions_.resize(count);
    for (std::size_t k = 0; k < count; ++k) positions_[k] = begin + in_chunk[k];
    return std::as_bytes(std::span(positions_));
  }

  Platform& platform_;
  RunFn run_;
  Case case_;
  Workspace workspace_;
  ChunkRoom in_, flags_, out_, count_;
  std::vector<std::byte> host_;
  std::vector<std::uint64_t> positions_;
  std::uint64_t begin_ = 0;  // of the next chunk, elements
  alignas(8) std::byte last_[8] = {};
};

}  // namespace

std::unique_ptr<Streamer> stream(Platform& platform, const Rung& rung, const Case& c) {
  const auto refuse = [](const std::string& what, const char* hint) { throw Error(Code::unsupported, what, hint); };
  if (c.op == Op::run_length_encode)
    refuse("run_length_encode has two outputs, and a file holds one array",
           "--op unique gives the first element of each run");
  if (c.op == Op::partition_if)
    refuse("partition_if of a file: where its second part begins is known when all has been read",
           "--op select_if gives the first part");
  const std::string name = "select/" + std::string(rung.name);
  const RunFn run = rung.find(c.type, c.op);
  if (!run)
    refuse(name + " does not take " + std::string(to_string(c.type)) + " " + std::string(to_string(c.op)),
           "name another rung");
  if (rung.largest) refuse(name + " takes up to " + std::to_string(rung.largest) + " elements", "name another rung");
  return std::make_unique<SelectStreamer>(platform, run, c);
}

}  // namespace upsweep::ladders::select
