#include "app/group_streamer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "app/mpi.h"
#include "lab/backends.h"
#include "multi/group_call.h"
#include "upsweep/nccl.h"

namespace upsweep::app {
namespace {

AnyView view_of(Type type, std::vector<std::byte>& bytes) {
  AnyView view;
  view.type = type, view.count = bytes.size() / size_of(type), view.data = bytes.data();
  return view;
}

std::vector<Device> open_devices(const std::string& devices, Backend backend) {
  int present = 1;
  if (backend == Backend::cuda) {
    lab::open_platform(backend);  // throws if there is none
    while (cuda_platform(present)) ++present;
  }
  int wanted = present;
  if (devices != "all") {
    const auto [end, error] = std::from_chars(devices.data(), devices.data() + devices.size(), wanted);
    if (error != std::errc() || end != devices.data() + devices.size() || wanted < 1 || wanted > 1024)
      throw Error(Code::invalid_argument, fmt::format("--devices {}: give a number from 1 to 1024, or all", devices));
  }
  if (backend == Backend::cuda && wanted > present)
    throw Error(Code::no_device, fmt::format("--devices {}: there are {} GPUs", devices, present));
  std::vector<Device> all;
  for (int m = 0; m < wanted; ++m)
    all.push_back(backend == Backend::cuda ? Device::cuda(m) : Device(lab::open_platform(backend)));
  return all;
}

}  // namespace

Group open_group(const std::string& devices, Backend backend, bool& is_first) {
  const std::string wanted = devices.empty() ? "1" : devices;
  std::shared_ptr<multi::Engine> engine = mpi_engine();
  if (!engine) return Group(open_devices(wanted, backend));
  is_first = engine->process() == 0;
  // A process without its devices would leave the others waiting, so all tell how they fared.
  std::vector<Device> mine;
  std::string mistake;
  try {
    mine = open_devices(wanted, backend);
  } catch (const Error& error) {
    mistake = error.what();
  }
  for (const std::vector<std::byte>& one : engine->all_gather(std::as_bytes(std::span(mistake))))
    if (!one.empty())
      throw multi::MemberError(Code::invalid_argument,
                               std::string(reinterpret_cast<const char*>(one.data()), one.size()));
  if (backend == Backend::cuda && multi::has_nccl()) engine = multi::nccl_engine(std::move(engine), mine);
  return Group(std::move(mine), std::move(engine));
}

GroupStreamer::GroupStreamer(Group& group, const Primitive& primitive, const Case& c, std::unique_ptr<Streamer> one,
                             std::string rung)
    : Streamer(c),
      group_(group),
      primitive_(primitive),
      one_(std::move(one)),
      rung_(std::move(rung)),
      in_(group.devices().size()) {
  const bool has_range = c.settings.find("lower") && c.settings.find("upper");
  if (c.operation == Operation(Binning::even) && !has_range)
    throw Error(Code::unsupported, "on several devices, the range of a histogram must be given",
                "set it: --param lower=0,upper=100");
}

Call GroupStreamer::whole_call() const {
  if (const auto* const streamer = dynamic_cast<const RungStreamer*>(one_.get())) return streamer->whole_call(total_);
  Call call = call_of(primitive_, case_);  // a streamer of its own, whose only output is the main one
  call.in[0].count = total_;
  call.out[0] = {one_->output_type(), one_->output_count(total_).value_or(total_)};
  return call;
}

void GroupStreamer::use(const Storage& storage) {
  one_->use(storage);
  is_total_known_ = storage.elements.has_value();
  total_ = storage.elements.value_or(0);
}

std::size_t GroupStreamer::input_of(std::string_view name) const {
  const auto& roles = primitive_.contract.inputs;
  for (std::size_t k = 1; k < roles.size(); ++k)
    if (roles[k].name.ends_with(name)) return k;
  return 1;
}

void GroupStreamer::take_whole(std::size_t k, std::vector<std::byte> bytes, Type type) {
  whole_[input_of(one_->whole_inputs()[k].name)] = {type, bytes};
  one_->take_whole(k, std::move(bytes), type);
}

void GroupStreamer::take_types(std::span<const Type> others) {
  other_types_.assign(others.begin(), others.end());
  for (std::size_t k = 0; k < others.size(); ++k) others_.push_back(input_of(one_->other_inputs()[k].name));
  one_->take_types(others);
}

void GroupStreamer::feed(Chunks chunks, const Sink&) {
  if (is_total_known_) return divide(chunks);
  held_.resize(chunks.size());
  for (std::size_t k = 0; k < chunks.size(); ++k) held_[k].insert(held_[k].end(), chunks[k].begin(), chunks[k].end());
}

// Gives the chunk's elements to the members whose shares they are in.
void GroupStreamer::divide(Chunks chunks) {
  const std::uint64_t n = chunks[0].size() / size_of(case_.type);
  std::uint64_t begin = 0;  // of a member's share
  for (int rank = 0; rank < group_.size(); ++rank) {
    const std::uint64_t share = even_share(total_, group_.size(), rank), end = begin + share;
    const int mine = rank - group_.first_rank();
    if (mine >= 0 && mine < static_cast<int>(in_.size()))
      for (std::size_t k = 0; k < chunks.size(); ++k) {
        const std::size_t element = n ? chunks[k].size() / n : 0;
        const std::uint64_t from = std::clamp(begin, done_, done_ + n), to = std::clamp(end, done_, done_ + n);
        const auto part = chunks[k].subspan((from - done_) * element, (to - from) * element);
        Bytes& all = in_[static_cast<std::size_t>(mine)][k == 0 ? 0 : others_[k - 1]];
        all.insert(all.end(), part.begin(), part.end());
      }
    begin = end;
  }
  done_ += n;
}

void GroupStreamer::finish(const Sink& sink) {
  if (!held_.empty()) {
    total_ = held_[0].size() / size_of(case_.type);
    divide(std::vector<std::span<const std::byte>>(held_.begin(), held_.end()));
    held_.clear();
  }
  const Call whole = whole_call();
  const Contract& contract = primitive_.contract;
  std::vector<Request> requests(in_.size(),
                                {.contract = &contract, .operation = whole.operation, .scalars = whole.scalars});
  std::vector<std::array<Bytes, arrays_of_a_call>> out(in_.size());
  std::array<Type, arrays_of_a_call> types{};
  // 1. The arrays of each member.
  for (std::size_t m = 0; m < in_.size(); ++m) {
    Request& request = requests[m];
    request.in[0] = view_of(case_.type, in_[m][0]);
    for (std::size_t k = 0; k < others_.size(); ++k)
      request.in[others_[k]] = view_of(other_types_[k], in_[m][others_[k]]);
    for (std::size_t k = 1; k < arrays_of_a_call; ++k)
      if (!whole_[k].second.empty()) request.in[k] = view_of(whole_[k].first, whole_[k].second);
    for (std::size_t k = 0; k < contract.outputs.size(); ++k) {
      const std::size_t room = contract.room(whole, k);
      if (room == 0 && !(k == 0 && total_ == 0)) continue;
      const bool is_divided = multi::is_divided(contract, whole, k);
      const std::uint64_t n = request.in[0].count;
      const std::uint64_t count = !is_divided ? room : total_ ? n * (room / total_) : 0;
      types[k] = contract.type_of_output(whole, k);
      out[m][k].resize(count * size_of(types[k]));
      request.out[k] = view_of(types[k], out[m][k]);
    }
  }
  // 2. The call.
  invoke(group_, requests, {.rung = rung_});
  // 3. The results, of which each member may have written only a part.
  const int counted = contract.count_output;
  const bool is_rest_written = one_->other_outputs().size() == 1 && one_->other_outputs()[0].name == "rest";
  for (std::size_t k = 0; k < contract.outputs.size(); ++k) {
    const bool is_main = k == 0;
    const auto& others = one_->other_outputs();
    const auto beside = std::ranges::find_if(others, [&](const Beside& b) {
      return b.name == contract.outputs[k].file || (b.name == "indices" && contract.outputs[k].file == "values");
    });
    if (!is_main && beside == others.end()) continue;
    std::vector<Bytes> parts;
    for (std::size_t m = 0; m < out.size(); ++m) {
      Bytes& bytes = out[m][k];
      if (counted != Contract::no_count && !is_rest_written) {
        std::uint64_t written = 0;
        std::memcpy(&written, out[m][static_cast<std::size_t>(counted)].data(), sizeof written);
        bytes.resize(written * size_of(types[k]));
      }
      if (!multi::is_divided(contract, whole, k) && m + static_cast<std::size_t>(group_.first_rank()) > 0)
        bytes.clear();  // a copy of member 0's
      parts.push_back(std::move(bytes));
    }
    const std::size_t index = is_main ? 0 : static_cast<std::size_t>(beside - others.begin()) + 1;
    if (!is_rest_written) {
      put(index, parts, sink);
      continue;
    }
    std::uint64_t selected = 0;
    std::memcpy(&selected, out[0][static_cast<std::size_t>(counted)].data(), sizeof selected);
    std::uint64_t left = selected * size_of(types[k]);
    put(0, parts, {[&](std::span<const std::byte> bytes, std::size_t) {
          const std::uint64_t some = std::min<std::uint64_t>(left, bytes.size());
          if (some) sink(bytes.first(some), 0);
          if (some < bytes.size()) sink(bytes.subspan(some), 1);
          left -= some;
        }});
  }
}

// Passes the parts of all members to the sink of the process that has member 0.
void GroupStreamer::put(std::size_t output, const std::vector<Bytes>& parts, const Sink& sink) {
  multi::for_each_part(group_, parts, [&](std::span<const std::byte> bytes) {
    if (!bytes.empty()) sink(bytes, output);
  });
}

}  // namespace upsweep::app
