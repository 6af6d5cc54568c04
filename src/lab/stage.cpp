#include "lab/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace upsweep::lab {

namespace {
constexpr auto poison_byte = static_cast<unsigned char>(poison);
// Bytes of scratch that are poisoned before a call: enough for the block totals that a launcher keeps between two
// launches.
constexpr std::size_t poisoned_scratch = 64 * 1024;
}  // namespace

Stage::~Stage() {
  for (auto* arrays : {&in_, &out_})
    for (Framed& array : *arrays) memory_.release(array.memory);
}

void Stage::place(Framed& array, std::size_t index, std::size_t bytes, std::size_t element, const Layout& layout) {
  const std::size_t shift = layout.shift == Layout::Shift::none    ? 0
                            : layout.shift == Layout::Shift::alike ? 1
                            : layout.shift == Layout::Shift::apart ? index + 1
                                                                   : index;
  array.begin = layout.guard_bytes + shift * element;
  array.bytes = bytes;
  array.total = array.begin + bytes + layout.guard_bytes;
  const bool exact = layout.guard_bytes == 0;
  if (exact ? array.total != array.capacity : array.total > array.capacity) {
    memory_.release(array.memory);
    array = {.begin = array.begin, .bytes = array.bytes, .total = array.total};
    array.memory = memory_.allocate(std::max<std::size_t>(array.total, 1));
    array.capacity = array.total;
  }
}

std::size_t Stage::input_of(std::size_t k) const {
  std::size_t j = 0;
  while (inputs_[j].data != outputs_[k].data) ++j;
  return j;
}

void Stage::load(const Primitive& primitive, const Problem& problem, const Case& c, const Layout& layout) {
  problem_ = &problem;
  call_ = call_of(primitive, c);
  inputs_ = problem.inputs();
  outputs_ = problem.outputs();
  in_.resize(std::max(in_.size(), inputs_.size()));
  out_.resize(std::max(out_.size(), outputs_.size()));
  host_.resize(std::max(inputs_.size(), outputs_.size()));
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const std::size_t element = size_of(inputs_[k].type);
    place(in_[k], k, inputs_[k].count * element, element, layout);
    memory_.fill(in_[k].memory, poison_byte, in_[k].total);
    memory_.copy_in(in_[k].data(), inputs_[k].data, in_[k].bytes);
  }
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (in_place(k)) continue;
    const std::size_t element = size_of(outputs_[k].type);
    place(out_[k], inputs_.size() + k, outputs_[k].count * element, element, layout);
  }
  platform_.synchronize();
}

Call Stage::call(const Tuning& tuning) {
  Call call = call_;
  call.tuning = tuning;
  call.workspace = &*workspace_;
  for (std::size_t k = 0; k < inputs_.size(); ++k) call.in[k] = {inputs_[k].type, inputs_[k].count, in_[k].data()};
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    call.out[k] = {outputs_[k].type, outputs_[k].count, output(k).data()};
  return call;
}

Status Stage::run(RunFn run, const Tuning& tuning) {
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    if (in_place(k))
      memory_.copy_in(output(k).data(), inputs_[input_of(k)].data, output(k).bytes);
    else
      memory_.fill(out_[k].memory, poison_byte, out_[k].total);
  if (Scratch scratch(*workspace_); void* const memory = scratch.take<std::byte>(poisoned_scratch))
    platform_.fill(memory, poison_byte, poisoned_scratch);
  platform_.synchronize();

  const Status status = run(call(tuning));
  platform_.synchronize();
  return status;
}

std::optional<std::string> Stage::fetch(const Framed& array, std::vector<std::byte>& host, const std::string& name) {
  host.resize(array.total);
  memory_.copy_out(host.data(), array.memory, array.total);
  platform_.synchronize();
  const auto is_poison = [](std::byte b) { return b == poison; };
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
  std::vector<bool> overwritten(inputs_.size());
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (auto wrong = fetch(output(k), host_[k], fmt::format("out[{}]", k))) return wrong;
    outputs.push_back(host_[k].data() + output(k).begin);
    if (in_place(k)) overwritten[input_of(k)] = true;
  }
  if (auto wrong = problem_->verify(rung, outputs)) return wrong;

  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (overwritten[k]) continue;
    if (auto wrong = fetch(in_[k], host_[k], fmt::format("in[{}]", k))) return wrong;
    if (in_[k].bytes && std::memcmp(host_[k].data() + in_[k].begin, inputs_[k].data, in_[k].bytes) != 0)
      return fmt::format("changed in[{}]", k);
  }
  if (!workspace_->counters_are_zero()) return "left the workspace's counters nonzero, so the next call would go wrong";
  return std::nullopt;
}

}  // namespace upsweep::lab
