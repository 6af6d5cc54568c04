// A stage: one case laid out in a platform's memory for any rung, so that a rung's mistakes are visible.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/platform.h"
#include "base/workspace.h"
#include "lab/primitive.h"

namespace upsweep::lab {

// The layout of arrays in memory.
struct Layout {
  // Poisoned bytes before and after each array, checked after each call. With 0, every array is an allocation of
  // exactly its size instead, for a platform that checks bounds itself (the traced emulator).
  std::size_t guard_bytes = 256;
  // Offset of each array from an aligned address, in elements:
  //   none    0
  //   alike   1
  //   apart   1 for the first input, 2 for the second, and so on through the outputs: no two have the same alignment
  //   others  0 for the first input, 1 for the second, and so on: a kernel may take a fast path for the first alone
  enum class Shift { none, alike, apart, others };
  Shift shift = Shift::none;
};

// The arrays of one case between guard zones. Memory is reused across cases, because cudaMalloc costs more than a
// check.
class Stage {
 public:
  explicit Stage(Platform& platform, MemoryKind kind = MemoryKind::device)
      : platform_(platform), memory_(platform.memory(kind)) {
    renew_workspace();
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  // Copies the problem's inputs to the platform and lays out its outputs. The problem must outlive all calls of run()
  // and verify() for it. Throws Error(out_of_memory).
  void load(const Primitive& primitive, const Problem& problem, const Case& c, const Layout& layout);

  // Returns the case's call in a launch shape.
  Call call(const Tuning& tuning);

  // Poisons guards, workspace scratch and outputs (an in-place output gets its input again), runs the rung once and
  // waits for it. Throws Error(device_error) for a failure that the platform reports late.
  Status run(RunFn run, const Tuning& tuning);

  // Returns nullopt if the last run wrote the right outputs and nothing else; otherwise one line that describes the
  // mistake.
  std::optional<std::string> verify(const Rung& rung);

  // Replaces the workspace, after a rung that failed and may have left its counters nonzero.
  void renew_workspace() { workspace_.emplace(platform_); }

 private:
  struct Framed {
    void* memory = nullptr;
    std::size_t capacity = 0;
    std::size_t begin = 0, bytes = 0, total = 0;  // the payload's offset and size; the size with guards
    void* data() const { return static_cast<std::byte*>(memory) + begin; }
  };
  void place(Framed& array, std::size_t index, std::size_t bytes, std::size_t element, const Layout& layout);
  // Returns the memory of output k, which for an in-place output is that of the input that it overwrites.
  const Framed& output(std::size_t k) const { return in_place(k) ? in_[input_of(k)] : out_[k]; }
  bool in_place(std::size_t k) const { return outputs_[k].data != nullptr; }
  std::size_t input_of(std::size_t k) const;
  // Copies the array back with its guards and checks them; the payload is at host.data() + array.begin.
  std::optional<std::string> fetch(const Framed& array, std::vector<std::byte>& host, const std::string& name);

  Platform& platform_;
  MemorySpace& memory_;  // where the arrays are
  std::optional<Workspace> workspace_;
  const Problem* problem_ = nullptr;
  Call call_;                            // the case's call, without arrays and workspace
  std::vector<Array> inputs_, outputs_;  // the problem's
  std::vector<Framed> in_, out_;         // may be longer: memory of earlier cases is kept
  std::vector<std::vector<std::byte>> host_;
};

}  // namespace upsweep::lab
