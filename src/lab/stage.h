// A stage: one case laid out in a platform's memory, ready for any rung, so arranged that a wrong one is seen.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/primitive.h"

namespace upsweep::lab {

// How arrays lie in memory.
struct Layout {
  // Poisoned bytes before and after each array, looked at after each call. 0 gives every array an allocation of exactly
  // its own size instead: right where the platform itself watches the edges (the traced emulator).
  std::size_t guard_bytes = 256;
  // Elements that arrays start past an aligned address: none; one; or one for the first input, two for the second, and
  // so on, outputs after inputs, so that no two arrays are aligned alike.
  enum class Shift { none, alike, apart };
  Shift shift = Shift::none;
};

// Arrays of one case between guard zones. Memory is kept from case to case, because cudaMalloc costs more than a check.
class Stage {
 public:
  explicit Stage(Platform& platform, MemoryKind kind = MemoryKind::device)
      : platform_(platform), memory_(platform.memory(kind)) {
    renew_workspace();
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  // Copies the problem's inputs to the platform and lays out its outputs. The problem must outlive its use here.
  // Throws Error(out_of_memory).
  void load(const Problem& problem, const Case& c, const Layout& layout);

  // Fills outputs (those in place: with the input), guards and the workspace's scratch with poison, runs the rung once
  // and waits for it. Throws
  // Error(device_error) for a failure that the platform reports late.
  Status run(RunFn run, const Params& params);

  // Nothing if the last run left the right outputs and touched nothing else; otherwise one line: what is wrong.
  std::optional<std::string> verify(const Rung& rung);

  // Starts with a new workspace: after a rung that failed, whose counters may be left at anything.
  void renew_workspace() { workspace_.emplace(platform_); }

 private:
  struct Array {
    void* memory = nullptr;
    std::size_t capacity = 0;
    std::size_t begin = 0, bytes = 0, total = 0;  // payload's place, payload, payload with its guards
    void* data() const { return static_cast<std::byte*>(memory) + begin; }
  };
  void place(Array& array, std::size_t index, std::size_t bytes, std::size_t element, const Layout& layout);
  // Where output k lies: in an array of its own, or in that of the input whose place it takes.
  const Array& output(std::size_t k) const { return in_place(k) ? in_[input_of(k)] : out_[k]; }
  bool in_place(std::size_t k) const { return specs_[k].in_place_of != OutputSpec::own_memory; }
  std::size_t input_of(std::size_t k) const { return static_cast<std::size_t>(specs_[k].in_place_of); }
  // Copies the whole array back and looks at its guards; the payload is at host_[...] + array.begin.
  std::optional<std::string> fetch(const Array& array, std::vector<std::byte>& host, const std::string& name);

  Platform& platform_;
  MemorySpace& memory_;  // of the arrays
  std::optional<Workspace> workspace_;
  const Problem* problem_ = nullptr;
  Case case_;
  Layout layout_;
  std::vector<Problem::Array> inputs_;
  std::vector<OutputSpec> specs_;
  std::vector<Array> in_, out_;  // at least as many
  std::vector<std::vector<std::byte>> host_;
};

}  // namespace upsweep::lab
