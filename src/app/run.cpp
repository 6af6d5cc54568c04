// upsweep run: runs a primitive on the user's data, streamed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <limits>
#include <memory>
#include <span>
#include <sstream>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "files/array_file.h"
#include "files/quoted.h"
#include "files/spool.h"
#include "lab/backends.h"
#include "lab/sizes.h"
#include "lab/stream.h"
#include "lab/widen.h"

namespace upsweep::app {
namespace {

struct RunOptions {
  std::string primitive, input = "-", output;
  std::string rung, backend = "cpu", type, out_type, op, format = "auto", out_format = "auto";
  std::vector<std::string> with, also, params;
  std::string size, memory, temporary;
  bool table = false, json = false;
};

void declare(CLI::App& command, RunOptions& o) {
  offer_primitives(command.add_option("primitive", o.primitive, "reduce, ...")->required(), Offered::of_run);
  command
      .add_option("input", o.input,
                  "A .npy file, a PNG, JPEG, PGM or PPM image, or raw numbers with --type; - for standard input")
      ->required();
  command.add_option("--with", o.with, "The other inputs, one file each: y of saxpy")->allow_extra_args(false);
  command.add_option("-o,--output", o.output, "Write the result to this file (.npy, or raw) instead of printing it");
  command.add_option("--also", o.also, "Write the other outputs, one file each: lengths of run_length_encode")
      ->allow_extra_args(false);
  command.add_flag("--table", o.table,
                   "Print a table instead of the result: of partition, the offset and the count of every bucket");
  command.add_flag("--json", o.json, "Print the result as JSON: an object with the list of the numbers, or the table");
  offer_operations(
      command.add_option("--op", o.op, "sum, product, min, max; of select: find_repeats, ... (default: the first)"));
  offer_rungs(command.add_option("--rung", o.rung, "Rung (default: the library's choice)"), Offered::of_run);
  offer_backends(command.add_option("--backend", o.backend,
                                    "cpu, cuda or simt (default: cpu, because a file is slower than a CPU)"));
  offer_types(command.add_option("--type", o.type, "Element type; raw numbers need it: u8 ... f64"));
  offer_types(command.add_option("--out-type", o.out_type,
                                 "Of reduce, scan and segmented_scan: compute in this wider type, which holds every "
                                 "element (default: the elements' type, in which sums of integers wrap)"));
  command.add_option("-n,--size", o.size, "Only the first n elements: 1000, 64K, 2^20 (default: all)");
  one_of(command.add_option("--format", o.format,
                            "Of the inputs: auto (by what they begin with, whatever they are called), npy, png, jpeg, "
                            "pnm or raw"),
         "format", {"auto", "npy", "raw", "png", "jpeg", "pnm"});
  one_of(command.add_option("--out-format", o.out_format,
                            "Of the outputs that are not named *.npy: auto (npy for -, else raw), npy or raw"),
         "format", {"auto", "npy", "raw"});
  command.add_option(
      "--memory", o.memory,
      "Bytes that a run may use: 8G; what sort, partition and histogram have to keep beyond that goes through a "
      "temporary file (default: three quarters of what is available)");
  command.add_option("--temporary", o.temporary,
                     "Folder of that file, if one is needed; it has to be writable in any case (default: TMPDIR, or "
                     "/var/tmp)");
  offer_params(add_list(command, "--param", o.params, "Parameters of the call: threads=4; see upsweep list"),
               Offered::of_run);
}

template <class Enum>
Enum named(const char* kind, const std::string& name, auto const& names) {
  if (const auto value = parse<Enum>(name)) return *value;
  throw unknown_name(kind, name, {names.begin(), names.end()});
}

FileFormat format_of(const std::string& name) {
  if (name == "npy") return FileFormat::npy;
  if (name == "raw") return FileFormat::raw;
  if (name == "png") return FileFormat::png;
  if (name == "jpeg") return FileFormat::jpeg;
  return name == "pnm" ? FileFormat::pnm : FileFormat::automatic;
}

const Rung& chosen_rung(const RunOptions& o, const Primitive& primitive, Platform& platform) {
  const std::string name = !o.rung.empty()
                               ? o.rung
                               : std::string(platform.backend() == Backend::cpu ? primitive.contract.default_cpu
                                                                                : primitive.contract.default_gpu);
  std::vector<std::string> names;
  for (const Rung* rung : platform.rungs()) {
    if (rung->primitive != primitive.name() || rung->peer || rung->expected_wrong) continue;
    if (rung->name == name) return *rung;
    names.emplace_back(rung->name);
  }
  throw unknown_name("rung", name, names);
}

// Returns the type to compute in: the input's, or a wider one that was asked for.
Type chosen_type(const RunOptions& o, const Primitive& primitive, Type input) {
  std::vector<std::string_view> wider;
  for (const Type type : primitive.types())
    if (primitive.sums_in_type && widens(input, type)) wider.push_back(to_string(type));
  const std::string hint =
      wider.empty() ? "leave --out-type out" : fmt::format("wider types: {}", fmt::join(wider, " "));
  if (o.out_type.empty()) {
    const auto types = primitive.types();
    if (wider.empty() || std::find(types.begin(), types.end(), input) != types.end()) return input;
    throw Error(Code::unsupported, fmt::format("{} does not take {}", primitive.name(), to_string(input)),
                fmt::format("compute in a wider type: --out-type {}", fmt::join(wider, ", ")));
  }
  const Type type = named<Type>("type", o.out_type, type_names);
  if (type == input) return input;
  if (!primitive.sums_in_type)
    throw Error(Code::invalid_argument,
                fmt::format("--out-type {}: {} is not computed in another type", o.out_type, primitive.name()), hint);
  if (std::find(wider.begin(), wider.end(), to_string(type)) == wider.end())
    throw Error(Code::invalid_argument,
                fmt::format("--out-type {}: {} does not convert {} to it without loss", o.out_type, primitive.name(),
                            to_string(input)),
                hint);
  return type;
}

std::string shown(const std::string& input) { return input == "-" ? "standard input" : printable(input); }

// Returns how many elements of the input to take: -n, or all (nothing if unknown before the end).
std::optional<std::uint64_t> chosen_count(const RunOptions& o, const ArrayReader& reader) {
  if (o.size.empty()) return reader.count();
  const std::size_t n = lab::parse_size("-n", o.size);
  if (reader.count() && *reader.count() < n)
    throw Error(Code::invalid_argument,
                fmt::format("n={} is beyond the end of {}, which holds {} elements of {}", n, shown(o.input),
                            *reader.count(), to_string(reader.type())),
                "use a smaller -n, or leave it out to take all");
  return n;
}

Streamer::Storage chosen_storage(const RunOptions& o) {
  Streamer::Storage storage;
  if (!o.memory.empty()) storage.bytes = lab::parse_bytes("--memory", o.memory);
  if (!o.temporary.empty()) {
    Spool::require(o.temporary);  // whether it will be needed or not, which may depend on the input
    storage.folder = o.temporary;
  }
  return storage;
}

// The way from a type that a primitive does not take to one that it takes, without losing a value.
std::string conversion_hint(const Primitive& primitive, Type from) {
  const auto types = primitive.types();
  const auto numpy = [](Type type, const char* kind) { return fmt::format("{}{}", kind, size_of(type)); };
  for (const Type to : types)
    if (widens(from, to)) {
      const bool is_float = to == Type::f32 || to == Type::f64, is_signed = widens(Type::i8, to);
      const char* const kind = is_float ? "f" : is_signed ? "i" : "u";
      return fmt::format("convert the file, in numpy: a.astype('{}')", numpy(to, kind));
    }
  for (const Type to : types)
    if (size_of(to) == size_of(from) && !widens(Type::i8, to))
      return fmt::format("to take the bits of every element as a number, in numpy: a.view('{}')", numpy(to, "u"));
  std::vector<std::string_view> names;
  for (const Type type : types) names.push_back(to_string(type));
  return fmt::format("it takes {}, none of which holds every value of {}", fmt::join(names, ", "), to_string(from));
}

// Throws if no rung of the primitive, here, takes the case: another one is of no use then.
void require_some_rung(const Primitive& primitive, Platform& platform, const Case& c) {
  for (const Rung* rung : platform.rungs())
    if (rung->primitive == primitive.name() && rung->find(c.type, c.operation)) return;
  std::vector<std::string_view> names;
  for (const Operation operation : primitive.operations())
    for (const Rung* rung : platform.rungs())
      if (rung->primitive == primitive.name() && rung->find(c.type, operation)) {
        names.push_back(operation.name());
        break;
      }
  throw Error(Code::unsupported,
              fmt::format("no rung of {} takes {} of {}", primitive.name(), c.operation.name(), to_string(c.type)),
              fmt::format("of {} it takes {}", to_string(c.type), fmt::join(names, ", ")));
}

// Says how many elements are in no bin of a histogram, if that is an output that nobody asked for.
void report_outside(const Streamer& streamer, std::size_t output, std::span<const std::byte> elements) {
  std::uint64_t outside = 0;
  if (streamer.other_outputs()[output - 1].name != "outside" || elements.size() != sizeof outside) return;
  std::memcpy(&outside, elements.data(), sizeof outside);
  if (outside > 0)
    message(fmt::format("{} {} in no bin (--also writes their number to a file, --param lower=,upper= sets the range)",
                        outside, outside == 1 ? "element is" : "elements are"));
}

// Returns the result as text, each element with the shortest digits that read back as the same value. As JSON, an
// element follows another, and what is no number there, NaN or an infinity, is a string; -0 is -0.0, because readers of
// JSON take -0 for an integer, which has no sign. A NaN is "nan", whatever its sign, which depends on the processor.
std::string as_text(Type type, std::span<const std::byte> elements, bool json, bool first) {
  std::string text;
  visit(type, [&]<class T>(TypeTag<T>) {
    for (std::size_t at = 0; at < elements.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, elements.data() + at, sizeof(T));
      bool finite = true, minus_zero = false;
      if constexpr (std::is_floating_point_v<T>) {
        finite = std::isfinite(value);
        minus_zero = value == 0 && std::signbit(value);
        if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
      }
      if (!json) {
        text += fmt::format("{}\n", value);
        continue;
      }
      text += first && at == 0 ? "" : ",";
      text += fmt::format(fmt::runtime(!finite ? "\"{}\"" : minus_zero ? "{}.0" : "{}"), value);
    }
  });
  return text;
}

// The main input and the other inputs, read in step.
class Inputs {
 public:
  // The main input's elements are passed as `type`, which is theirs or wider.
  Inputs(const RunOptions& o, std::size_t chunk_bytes, std::unique_ptr<ArrayReader> main, Type type,
         std::optional<std::uint64_t> count)
      : chunk_bytes_(chunk_bytes),
        type_(type),
        largest_(size_of(type)),
        names_{shown(o.input)},
        count_(count),
        most_(o.size.empty() ? ~std::uint64_t{0} : *count) {
    add(std::move(main));
  }
  // Opens the files of the other inputs, and compares their sizes, if known, with the main input's. Inputs that are
  // taken as a whole come after the others. With too few files for all, optional inputs are left out.
  void open(const RunOptions& o, Streamer& streamer, const Primitive& primitive) {
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
                  "leave it out");
    for (std::size_t k = 0; k < whole.size(); ++k) {
      auto reader = open_array(o.with[others.size() + k], whole[k].type, format_of(o.format),
                               whole[k].any_type ? TypeIsFor::raw_numbers : TypeIsFor::every_file);
      streamer.take_whole(k, read_whole(*reader, whole[k], shown(o.with[others.size() + k])), reader->type());
    }
    std::vector<Type> types;
    for (std::size_t k = 0; k < others.size(); ++k) {
      const std::string name = shown(o.with[k]);
      if (o.with[k] == "-" && std::find(names_.begin(), names_.end(), name) != names_.end())
        throw Error(Code::invalid_argument, "two inputs cannot both be standard input", "name a file for one of them");
      auto reader = open_array(o.with[k], others[k].type, format_of(o.format));
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
    // The first elements of a part are not those that are stored first.
    if (streamer.any_order() && o.size.empty()) readers_[0]->any_order();
  }
  // Returns the main input's shape, if all of it is read and the file states one.
  std::optional<Shape> shape() const { return most_ == ~std::uint64_t{0} ? readers_[0]->shape() : std::nullopt; }

  // Memory for one chunk of every input.
  struct Chunk {
    struct Free {
      void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::vector<std::unique_ptr<std::byte, Free>> memory;
    std::unique_ptr<std::byte, Free> widened;      // for the main input, if it has to be
    std::vector<std::span<const std::byte>> read;  // the elements that read() found, per input
  };
  Chunk new_chunk() const {
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

  // Reads the next elements of every input, equally many of each; returns false at the end.
  bool read(Chunk& chunk) {
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
  // Bytes of all inputs together; 0 if unknown.
  std::size_t bytes() const {
    std::size_t each = size_of(type_);
    for (std::size_t k = 1; k < readers_.size(); ++k) each += size_of(readers_[k]->type());
    return count_.value_or(0) * each;
  }

 private:
  // Elements are taken in C order, so vectors go with anything, but rows do not go with columns.
  void require_same_shape(const ArrayReader& other, const std::string& name) const {
    const auto mine = readers_[0]->shape(), theirs = other.shape();
    if (!mine || !theirs || mine->size() < 2 || theirs->size() < 2 || mine == theirs || mine->size() != theirs->size())
      return;
    throw Error(Code::invalid_argument,
                fmt::format("{} has the shape ({}), not ({}) as {}", name, fmt::join(*theirs, ", "),
                            fmt::join(*mine, ", "), names_[0]),
                "transpose one of them, or make it a vector: numpy.save(file, a.ravel())");
  }
  void add(std::unique_ptr<ArrayReader> reader) {
    largest_ = std::max(largest_, size_of(reader->type()));
    readers_.push_back(std::move(reader));
  }

  // Reads an input to its end.
  static std::vector<std::byte> read_whole(ArrayReader& reader, const Streamer::Beside& input,
                                           const std::string& name) {
    const std::size_t element = size_of(reader.type());
    std::vector<std::byte> all;
    for (std::size_t room = largest_whole_input;; room = all.size()) {
      const std::size_t before = all.size();
      all.resize(before + room);
      const std::size_t got = reader.read(std::span(all).subspan(before)) * element;
      all.resize(before + got);
      if (all.size() > input.largest)
        throw Error(Code::unsupported, fmt::format("{}: more than {} MiB of {}", name, input.largest >> 20, input.name),
                    "they have to be in memory as a whole");
      if (got < room) return all;
    }
  }

  const std::size_t chunk_bytes_;
  const Type type_;      // that the main input's elements are passed as
  std::size_t largest_;  // element of any input, bytes
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<ArrayReader>> readers_;  // the main input first
  std::optional<std::uint64_t> count_;                 // elements to take, if known
  std::uint64_t most_, done_ = 0;                      // elements: -n, and those read
};

// Refuses --out-format where no output goes by it.
void require_out_format(const RunOptions& o) {
  if (o.out_format == "auto") return;
  std::vector<std::string> files = o.also;
  if (!o.output.empty()) files.push_back(o.output);
  if (files.empty())
    throw Error(Code::invalid_argument, fmt::format("--out-format {}: nothing is written to a file", o.out_format),
                "name one with -o, or leave --out-format out");
  const bool all_npy =
      std::all_of(files.begin(), files.end(), [](const std::string& name) { return has_ending(name, ".npy"); });
  if (all_npy && o.out_format != "npy")
    throw Error(Code::invalid_argument,
                fmt::format("--out-format {}: {} is written as its name says", o.out_format, printable(files.back())),
                "give it another name, or leave --out-format out");
}

// Maps all names of one file to the same string.
std::string canonical(const std::string& output) {
  if (output.empty() || output == "-") return "standard output";
  std::error_code error;  // of a folder that cannot be searched: the name will do until it is opened
  const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(output), error);
  return error ? output : path.string();
}

// The files and the text that a run writes. Files get their final names once everything is written.
class Outputs {
 public:
  Outputs(const RunOptions& o, const Streamer& streamer, std::optional<std::uint64_t> count,
          const std::optional<Shape>& shape)
      : type_(streamer.output_type()), json_(o.json), prints_result_(o.output.empty() && !o.table) {
    require_out_format(o);
    const auto others = streamer.other_outputs();
    if (o.also.size() < others.size() && !others[o.also.size()].optional)
      throw Error(Code::invalid_argument, fmt::format("there is another output: {}", others[o.also.size()].name),
                  fmt::format("name its file: --also {}.npy", others[o.also.size()].name));
    if (o.also.size() > others.size())
      throw Error(Code::invalid_argument,
                  fmt::format("--also {}: there is no such output", printable(o.also[others.size()])), "leave it out");
    if (o.table && o.output == "-")
      throw Error(Code::invalid_argument, "two outputs cannot both be standard output: the table and the result",
                  "name a file for the result");
    std::vector<std::string> names{canonical(o.output)};
    for (const std::string& also : o.also) {
      const std::string name = canonical(also);
      if (std::find(names.begin(), names.end(), name) != names.end())
        throw Error(Code::invalid_argument,
                    fmt::format("two outputs cannot both be {}", also == "-" ? name : printable(also)),
                    "name another file for one of them");
      names.push_back(name);
    }
    const auto create = [&](const std::string& name, Type type, std::optional<std::uint64_t> n) {
      const FileFormat format = has_ending(name, ".npy") ? FileFormat::npy : format_of(o.out_format);
      return create_array(name, type, n, format, streamer.elementwise() ? shape : std::nullopt);
    };
    if (o.output.empty() || o.table) text_.emplace("-");
    files_.push_back(o.output.empty() ? nullptr : create(o.output, type_, streamer.output_count(count)));
    for (std::size_t k = 0; k < o.also.size(); ++k) files_.push_back(create(o.also[k], *others[k].type, std::nullopt));
  }
  void put(std::span<const std::byte> elements, std::size_t output) {
    if (output >= files_.size()) return;  // optional, and not asked for
    if (files_[output]) return files_[output]->write(elements);
    if (!prints_result_) return;  // but a table
    // Text takes several times the bytes of its numbers: a few at a time.
    for (const std::size_t most = size_of(type_) << 12; !elements.empty();) {
      const auto some = elements.first(std::min(most, elements.size()));
      print(as_text(type_, some, json_, first_));
      first_ = false;
      elements = elements.subspan(some.size());
    }
  }
  void print(const std::string& text) {
    if (text_) text_->write(std::as_bytes(std::span(text)));
  }
  // All of them, or none. The text comes before the files get their names: it cannot be taken back.
  void commit(const std::string& last_text) {
    std::vector<ArrayWriter*> files;
    for (const auto& file : files_)
      if (file) files.push_back(file.get());
    for (ArrayWriter* const file : files) file->finish();
    print(last_text);
    commit_together(files);
  }

 private:
  Type type_;  // of the main output
  bool json_, prints_result_, first_ = true;
  std::optional<OutputFile> text_;                   // the result, or the table
  std::vector<std::unique_ptr<ArrayWriter>> files_;  // the main output first; null: printed as text
};

// A table with tabs between its columns as JSON lines, one per row.
std::string table_json(const std::string& table) {
  const auto cells_of = [](const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
    return cells;
  };
  std::istringstream lines(table);
  std::string line, text;
  std::getline(lines, line);
  const auto names = cells_of(line);
  while (std::getline(lines, line)) {
    const auto cells = cells_of(line);
    for (std::size_t k = 0; k < cells.size(); ++k)
      text += fmt::format("{}\"{}\":{}", k == 0 ? "{" : ",", names[k], cells[k]);
    text += "}\n";
  }
  return text;
}

int work(const RunOptions& o) {
  const Primitive& primitive = chosen_primitive(o.primitive);
  if (!primitive.stream)
    throw Error(Code::unsupported, fmt::format("{} cannot be run on files", primitive.name()),
                primitive.name() == "render" ? "upsweep render draws them" : "see upsweep bench");
  Selection selection;
  selection.params = o.params;
  if (!o.op.empty()) selection.ops = {o.op};
  const Operation operation = chosen_operations(selection, primitive, {primitive.operations().front()}).front();
  Platform& platform = lab::open_platform(named<Backend>("backend", o.backend, backend_names));
  const Rung& rung = chosen_rung(o, primitive, platform);
  std::optional<Type> type;
  if (!o.type.empty()) type = named<Type>("type", o.type, type_names);

  auto reader = open_array(o.input, type, format_of(o.format));
  const auto types = primitive.types();
  const auto takes = [&](Type t) { return std::find(types.begin(), types.end(), t) != types.end(); };
  const Type computed = chosen_type(o, primitive, reader->type());
  if (!takes(computed))
    throw Error(Code::unsupported, fmt::format("{} does not take {}", primitive.name(), to_string(reader->type())),
                conversion_hint(primitive, reader->type()));
  const std::optional<std::uint64_t> count = chosen_count(o, *reader);
  Case c{.type = computed, .operation = operation};
  set_params(selection, primitive, platform.backend(), c);
  for (const Settings::Item& item : c.settings)
    if (!primitive.reads_streamed(*item.parameter))
      throw Error(Code::invalid_argument,
                  fmt::format("{} shapes inputs that the laboratory makes", item.parameter->name),
                  "leave it out: the file is the input");
  require_readers(selection, {platform.backend()}, {&rung});
  // An image says its channels.
  if (const Parameter* const channels = primitive.parameter("channels"); channels && reader->channels() > 1)
    if (!c.settings.find("channels")) c.settings.set(*channels, std::uint64_t{reader->channels()});
  require_some_rung(primitive, platform, c);
  const auto streamer = primitive.stream(platform, rung, c);
  if (o.table && !streamer->has_table())
    throw Error(Code::unsupported, fmt::format("{} has no table", primitive.name()), "leave --table out");
  Streamer::Storage storage = chosen_storage(o);
  storage.elements = count;
  streamer->use(storage);
  Inputs inputs(o, chunk_for(storage.bytes), std::move(reader), c.type, count);
  inputs.open(o, *streamer, primitive);

  // Everything that can be wrong is found before the first chunk is read.
  if (o.json && !o.output.empty() && !o.table)
    throw Error(Code::invalid_argument, "nothing is left to print as JSON: -o writes the result to a file",
                "leave --json or -o out");
  Outputs outputs(o, *streamer, count, inputs.shape());
  if (o.json && !o.table)
    outputs.print(fmt::format(
        R"({{"primitive":"{}","rung":"{}","backend":"{}","op":{},"type":"{}","result_type":"{}","result":[)",
        primitive.name(), rung.name, o.backend, operation ? fmt::format("\"{}\"", operation.name()) : "null",
        to_string(c.type), to_string(streamer->output_type())));
  Progress progress("MiB");
  // Output that is written after the input has been read counts as remaining work.
  const std::size_t after = streamer->bytes_after_input(count.value_or(0)), total = inputs.bytes() + after;
  progress.update(0, total >> 20);
  std::size_t done = 0, written = 0;
  const Streamer::Sink sink{[&](std::span<const std::byte> elements, std::size_t output) {
    outputs.put(elements, output);
    if (output > o.also.size()) {  // nobody asked for it
      progress.clear();
      report_outside(*streamer, output, elements);
    }
    written += elements.size();
    progress.update((after ? done + written : done) >> 20, total >> 20, fmt::format("{} MiB written", written >> 20));
  }};

  // The next chunk is read while this one is processed, or after it if there is no thread to be had.
  Inputs::Chunk front = inputs.new_chunk(), back = inputs.new_chunk();
  for (bool more = inputs.read(front); more; std::swap(front, back)) {
    throw_if_interrupted();
    auto next = std::async(std::launch::async | std::launch::deferred, [&] { return inputs.read(back); });
    streamer->feed(front.read, sink);
    for (const auto& part : front.read) done += part.size();
    progress.update(done >> 20, total >> 20);
    more = next.get();
  }
  streamer->finish(sink);
  progress.clear();
  std::string last_text = o.json ? "]}\n" : "";
  if (o.table) last_text = o.json ? table_json(streamer->table()) : streamer->table();
  outputs.commit(last_text);
  if (const std::string warning = streamer->warning(); !warning.empty())
    message(fmt::format("upsweep: {}", warning));
  return Exit::all_right;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  add_command<RunOptions>(app, exit_code, "run", "Run a primitive on your own data, larger than memory if need be",
                          "  upsweep run reduce data.npy --op max\n"
                          "  upsweep run reduce samples.bin --type f32 --rung reproducible\n"
                          "  upsweep run reduce samples.bin --type f32 -n 1M\n"
                          "  upsweep run saxpy x.npy --with y.npy --param a=-2.5 -o out.npy\n"
                          "  upsweep run scan bytes.npy --out-type u64 -o sums.npy\n"
                          "  upsweep run segmented_scan x.npy --with offsets.npy --param heads=offsets -o out.npy\n"
                          "  upsweep run select in.npy --op run_length_encode -o values.npy --also lengths.npy\n"
                          "  upsweep run partition keys.npy --param first_bit=24 --table -o keys_by_byte.npy\n"
                          "  upsweep run sort keys.npy --with values.npy -o keys_out.npy --also values_out.npy\n"
                          "  head -c 1G /dev/zero | upsweep run reduce - --type u32\n",
                          declare, work);
}

}  // namespace upsweep::app
