#include "app/run_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "files/quoted.h"
#include "lab/widen.h"

namespace upsweep::app {

namespace {

// Reads an input to its end.
std::vector<std::byte> read_whole(ArrayReader& reader, const Streamer::Beside& input, const std::string& name) {
  const std::size_t element = size_of(reader.type());
  std::vector<std::byte> all;
  for (std::size_t room = largest_whole_input;; room = all.size()) {
    const std::size_t before = all.size();
    all.resize(before + room);
    const std::size_t got = reader.read(std::span(all).subspan(before)) * element;
    all.resize(before + got);
    if (all.size() > input.largest)
      throw Error(Code::unsupported, fmt::format("{}: more than {} MiB of {}", name, input.largest >> 20, input.name),
                  "they must be in memory as a whole");
    if (got < room) return all;
  }
}

}  // namespace

std::string shown(const std::string& input) { return input == "-" ? "standard input" : printable(input); }

Inputs::Inputs(const RunOptions& o, std::size_t chunk_bytes, std::unique_ptr<ArrayReader> main, Type type,
               std::optional<std::uint64_t> count)
    : chunk_bytes_(chunk_bytes),
      type_(type),
      largest_(size_of(type)),
      names_{shown(o.input)},
      count_(count),
      most_(o.size.empty() ? ~std::uint64_t{0} : *count) {
  add(std::move(main));
}

void Inputs::open(const RunOptions& o, Streamer& streamer, const Primitive& primitive) {
  auto others = streamer.other_inputs();
  const auto whole = streamer.whole_inputs();
  const std::size_t most = others.size() + whole.size();
  if (o.with.size() < most) std::erase_if(others, [](const Streamer::Beside& input) { return input.optional; });
  const std::size_t files = others.size() + whole.size();
  if (o.with.size() < files) {
    const std::string_view name =
        o.with.size() < others.size() ? others[o.with.size()].name : whole[o.with.size() - others.size()].name;
    throw Error(Code::invalid_argument, fmt::format("{} needs another input: {}", primitive.name(), name),
                fmt::format("name its file: --with {}.npy", name));
  }
  if (o.with.size() > files)
    throw Error(Code::invalid_argument,
                fmt::format("--with {}: {} takes {} input{}", printable(o.with[files]), primitive.name(), 1 + files,
                            files == 0 ? "" : "s"),
                "omit it");
  for (std::size_t k = 0; k < whole.size(); ++k) {
    auto reader = open_array(o.with[others.size() + k], whole[k].type, file_format_of(o.format),
                             whole[k].any_type ? TypeIsFor::raw_numbers : TypeIsFor::every_file);
    streamer.take_whole(k, read_whole(*reader, whole[k], shown(o.with[others.size() + k])), reader->type());
  }
  std::vector<Type> types;
  for (std::size_t k = 0; k < others.size(); ++k) {
    const std::string name = shown(o.with[k]);
    if (o.with[k] == "-" && std::find(names_.begin(), names_.end(), name) != names_.end())
      throw Error(Code::invalid_argument, "two inputs cannot both be standard input", "name a file for one of them");
    auto reader = open_array(o.with[k], others[k].type, file_format_of(o.format));
    const auto counted = reader->count();
    if (count_ && counted && (o.size.empty() ? *counted != *count_ : *counted < *count_))
      throw Error(Code::invalid_argument, fmt::format("{} holds {} elements, {} are needed, as many as of {}", name,
                                                      *counted, *count_, names_[0]));
    require_same_shape(*reader, name);
    names_.push_back(name);
    types.push_back(reader->type());
    add(std::move(reader));
  }
  streamer.take_types(types);
  // With -n the stored order matters: the first n elements in C order are not the first ones stored.
  if (streamer.any_order() && o.size.empty()) readers_[0]->any_order();
}

Inputs::Chunk Inputs::new_chunk() const {
  Chunk chunk;
  for (std::size_t k = 0; k < readers_.size(); ++k) {
    chunk.memory.emplace_back(static_cast<std::byte*>(std::aligned_alloc(64, chunk_bytes_)));
    if (!chunk.memory.back()) throw Error(Code::out_of_memory, "no memory for the chunks of the input");
  }
  if (type_ != readers_[0]->type()) {
    chunk.widened.reset(static_cast<std::byte*>(std::aligned_alloc(64, chunk_bytes_)));
    if (!chunk.widened) throw Error(Code::out_of_memory, "no memory for the chunks of the input");
  }
  return chunk;
}

bool Inputs::read(Chunk& chunk) {
  chunk.read.clear();
  const std::uint64_t wanted = std::min<std::uint64_t>(chunk_bytes_ / largest_, most_ - done_);
  std::size_t got = 0;
  for (std::size_t k = 0; k < readers_.size(); ++k) {
    const std::size_t element = size_of(readers_[k]->type());
    const std::size_t here = readers_[k]->read({chunk.memory[k].get(), wanted * element});
    if (k == 0) got = here;
    if (here != got)
      throw Error(Code::bad_file,
                  fmt::format("{} has {} elements than {}", names_[k], here < got ? "fewer" : "more", names_[0]));
    chunk.read.emplace_back(chunk.memory[k].get(), here * element);
  }
  done_ += got;
  if (chunk.widened) {
    widen(readers_[0]->type(), chunk.read[0], type_, chunk.widened.get());
    chunk.read[0] = {chunk.widened.get(), got * size_of(type_)};
  }
  if (got == 0 && count_ && done_ < *count_)
    throw Error(Code::bad_file, fmt::format("{} ended after {} of {} elements", names_[0], done_, *count_));
  return got > 0;
}

std::size_t Inputs::bytes() const {
  std::size_t each = size_of(type_);
  for (std::size_t k = 1; k < readers_.size(); ++k) each += size_of(readers_[k]->type());
  return count_.value_or(0) * each;
}

void Inputs::require_same_shape(const ArrayReader& other, const std::string& name) const {
  const auto mine = readers_[0]->shape(), theirs = other.shape();
  if (!mine || !theirs || mine->size() < 2 || theirs->size() < 2 || mine == theirs || mine->size() != theirs->size())
    return;
  throw Error(Code::invalid_argument,
              fmt::format("{} has the shape ({}), not ({}) like {}", name, fmt::join(*theirs, ", "),
                          fmt::join(*mine, ", "), names_[0]),
              "transpose one of them, or make it a vector: numpy.save(file, a.ravel())");
}

void Inputs::add(std::unique_ptr<ArrayReader> reader) {
  largest_ = std::max(largest_, size_of(reader->type()));
  readers_.push_back(std::move(reader));
}

}  // namespace upsweep::app
