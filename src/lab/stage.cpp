#include "lab/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace upsweep::lab {

namespace {
// A byte that is neither zero nor a small number in any type, so that unwritten outputs and reads past the end show.
constexpr unsigned char poison = 0xCD;
// Scratch poisoned before a call: enough for the block totals that a launcher keeps between two launches.
constexpr std::size_t poisoned_scratch = 64 * 1024;
}  // namespace

Stage::~Stage() {
  for (auto* arrays : {&in_, &out_})
    for (Array& array : *arrays) platform_.release(array.memory);
}

void Stage::place(Array& array, std::size_t bytes, std::size_t element, const Layout& layout) {
  array.begin = layout.guard_bytes + (layout.misaligned ? element : 0);
  array.bytes = bytes;
  array.total = array.begin + bytes + layout.guard_bytes;
  const bool exact = layout.guard_bytes == 0;
  if (exact ? array.total != array.capacity : array.total > array.capacity) {
    platform_.release(array.memory);
    array = {.begin = array.begin, .bytes = array.bytes, .total = array.total};
    array.memory = platform_.allocate(std::max<std::size_t>(array.total, 1));
    array.capacity = array.total;
  }
}

void Stage::load(const Problem& problem, const Case& c, const Layout& layout) {
  problem_ = &problem;
  case_ = c;
  layout_ = layout;
  const std::vector<Problem::Array> inputs = problem.inputs();
  const std::vector<OutputSpec> outputs = problem.outputs();
  in_.resize(std::max(in_.size(), inputs.size()));
  out_.resize(std::max(out_.size(), outputs.size()));
  inputs_ = inputs.size();
  outputs_ = outputs.size();
  host_.resize(std::max(inputs_, outputs_));
  for (std::size_t k = 0; k < inputs_; ++k) {
    const std::size_t element = size_of(inputs[k].type);
    place(in_[k], inputs[k].count * element, element, layout);
    platform_.fill(in_[k].memory, poison, in_[k].total);
    platform_.copy_in(in_[k].data(), inputs[k].data, in_[k].bytes);
  }
  for (std::size_t k = 0; k < outputs_; ++k) {
    const std::size_t element = size_of(outputs[k].type);
    place(out_[k], outputs[k].count * element, element, layout);
  }
  platform_.synchronize();
}

Status Stage::run(RunFn run, const Params& params) {
  for (std::size_t k = 0; k < outputs_; ++k) platform_.fill(out_[k].memory, poison, out_[k].total);
  if (void* scratch = workspace_->scratch(poisoned_scratch)) platform_.fill(scratch, poison, poisoned_scratch);
  platform_.synchronize();

  Call call{.type = case_.type, .op = case_.op, .n = case_.n, .params = params, .workspace = &*workspace_};
  for (std::size_t k = 0; k < inputs_; ++k) call.in[k] = in_[k].data();
  for (std::size_t k = 0; k < outputs_; ++k) call.out[k] = out_[k].data();
  const Status status = run(call);
  platform_.synchronize();
  return status;
}

std::optional<std::string> Stage::fetch(const Array& array, std::vector<std::byte>& host, const std::string& name) {
  host.resize(array.total);
  platform_.copy_out(host.data(), array.memory, array.total);
  platform_.synchronize();
  const auto is_poison = [](std::byte b) { return b == std::byte{poison}; };
  const auto begin = host.begin() + static_cast<std::ptrdiff_t>(array.begin);
  const auto end = begin + static_cast<std::ptrdiff_t>(array.bytes);
  if (const auto at = std::find_if_not(host.begin(), begin, is_poison); at != begin)
    return fmt::format("wrote {} bytes before {}", begin - at, name);
  if (const auto at = std::find_if_not(end, host.end(), is_poison); at != host.end())
    return fmt::format("wrote {} bytes past the end of {}", at - end + 1, name);
  return std::nullopt;
}

std::optional<std::string> Stage::verify(const Rung& rung) {
  std::vector<const void*> outputs;
  for (std::size_t k = 0; k < outputs_; ++k) {
    if (auto wrong = fetch(out_[k], host_[k], fmt::format("out[{}]", k))) return wrong;
    outputs.push_back(host_[k].data() + out_[k].begin);
  }
  if (auto wrong = problem_->verify(rung, outputs)) return wrong;

  const std::vector<Problem::Array> inputs = problem_->inputs();
  for (std::size_t k = 0; k < inputs_; ++k) {
    if (auto wrong = fetch(in_[k], host_[k], fmt::format("in[{}]", k))) return wrong;
    if (in_[k].bytes && std::memcmp(host_[k].data() + in_[k].begin, inputs[k].data, in_[k].bytes) != 0)
      return fmt::format("changed in[{}]", k);
  }
  if (!workspace_->counters_are_zero()) return "left the workspace's counters not zero: the next call would go wrong";
  return std::nullopt;
}

}  // namespace upsweep::lab
