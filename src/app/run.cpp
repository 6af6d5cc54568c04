// upsweep run: streams the user's data through a primitive.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <memory>
#include <span>

#include "app/command.h"
#include "app/group_streamer.h"
#include "app/mpi.h"
#include "app/output.h"
#include "app/run_inputs.h"
#include "app/run_options.h"
#include "app/run_outputs.h"
#include "app/select.h"
#include "base/needs.h"
#include "files/array_file.h"
#include "files/quoted.h"
#include "files/spool.h"
#include "lab/backends.h"
#include "lab/default_rung.h"
#include "lab/sizes.h"
#include "lab/stream.h"
#include "lab/sums.h"
#include "lab/widen.h"
#include "multi/group_call.h"

namespace upsweep::app {
namespace {

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
                   "Print a table instead of the result: for partition, the offset and the count of every bucket");
  command.add_flag("--json", o.json, "Print the result as JSON: an object with the list of the numbers, or the table");
  offer_operations(
      command.add_option("--op", o.op, "sum, product, min, max; of select: find_repeats, ... (default: the first)"));
  offer_rungs(command.add_option("--rung", o.rung, "Rung (default: the library's choice)"), Offered::of_run);
  offer_backends(command.add_option("--backend", o.backend,
                                    "cpu, cuda or simt (default: cpu, because a file is slower than a CPU)"));
  offer_types(command.add_option("--type", o.type, "Element type; raw numbers need it: u8 ... f64"));
  offer_types(command.add_option("--out-type", o.out_type,
                                 "For reduce, scan and segmented_scan: compute in this wider type, which holds every "
                                 "element (default: the elements' type, in which integer sums wrap)"));
  command.add_option("-n,--size", o.size, "Only the first n elements: 1000, 64K, 2^20 (default: all)");
  one_of(command.add_option("--format", o.format,
                            "Format of the inputs: auto (by their first bytes, whatever their names), npy, png, jpeg, "
                            "pnm or raw"),
         "format", {"auto", "npy", "raw", "png", "jpeg", "pnm"});
  one_of(command.add_option("--out-format", o.out_format,
                            "Format of the outputs that are not named *.npy: auto (npy for -, else raw), npy or raw"),
         "format", {"auto", "npy", "raw"});
  command.add_option("--devices", o.devices,
                     "Divide the arrays among this many GPUs, or members that share the CPU: a number, or all; started "
                     "by mpirun, the processes do so together (default: 1, each)");
  command.add_option(
      "--memory", o.memory,
      "Memory that a run may use: 8G; beyond that, sort, partition and histogram use a temporary file (default: three "
      "quarters of the available memory)");
  command.add_option("--temporary", o.temporary,
                     "Folder of that file, if one is needed; it must be writable in any case (default: TMPDIR, or "
                     "/var/tmp)");
  offer_params(add_list(command, "--param", o.params, "Parameters of the call: threads=4; see upsweep list"),
               Offered::of_run);
}

template <class Enum>
Enum named(const char* kind, const std::string& name, auto const& names) {
  if (const auto value = parse<Enum>(name)) return *value;
  throw unknown_name(kind, name, {names.begin(), names.end()});
}

const Rung& chosen_rung(const RunOptions& o, const Primitive& primitive, Platform& platform) {
  if (o.rung.empty() || o.rung == lab::default_name)
    if (const Rung* const rung = lab::default_rung(platform, primitive)) return *rung;
  std::vector<std::string> names;
  for (const Rung* rung : platform.rungs_of(primitive.contract)) {
    if (rung->expected_wrong) continue;
    if (rung->name == o.rung) {
      require_needs(*rung, platform.machine());
      return *rung;
    }
    names.emplace_back(rung->name);
  }
  throw unknown_name("rung", o.rung, names);
}

// Returns the type in which the rung itself computes sums, if that is wider than the input's: the requested type, or
// f32 by default for f16 and bf16, because the sums of a file's chunks are added one by one. Otherwise returns nullopt.
std::optional<Type> type_of_rung(const RunOptions& o, const Primitive& primitive, const Rung& rung, Operation operation,
                                 Type input) {
  const auto out = o.out_type.empty() && is_half_type(input) ? Type::f32 : parse<Type>(o.out_type);
  const bool is_sum = primitive.sums_in_type && operation == Operation(Op::sum);
  return is_sum && out && rung.takes_wider_output && widens_sums(input, *out) ? out : std::nullopt;
}

// Returns the element types for which the primitive has this operation: those of its CPU rungs, which have all.
std::vector<Type> types_of(const Primitive& primitive, Operation operation) {
  std::vector<Type> types = primitive.types();
  const Rungs rungs = lab::open_platform(Backend::cpu).rungs_of(primitive.contract);
  std::erase_if(types, [&](Type type) {
    return std::none_of(rungs.begin(), rungs.end(), [&](const Rung* rung) { return rung->find(type, operation); });
  });
  return types;
}

// Returns the type to compute in: the input's, or a wider one if requested.
Type chosen_type(const RunOptions& o, const Primitive& primitive, Operation operation, Type input) {
  // True if the output has the input's type, so that a wider input widens the output; false for an index.
  const Call call{.operation = operation, .in = {{{.type = Type::f64}}}};
  const bool in_type = primitive.sums_in_type && primitive.contract.type_of_output(call, 0) == Type::f64;
  const std::vector<Type> types = types_of(primitive, operation);
  std::vector<std::string_view> wider;
  for (const Type type : types)
    if (in_type && widens(input, type)) wider.push_back(to_string(type));
  const std::string hint = wider.empty() ? "omit --out-type" : fmt::format("wider types: {}", fmt::join(wider, " "));
  if (o.out_type.empty()) {
    if (wider.empty() || std::find(types.begin(), types.end(), input) != types.end()) return input;
    throw Error(Code::unsupported,
                fmt::format("{} does not take the {} of {}", primitive.name(), operation.name(), to_string(input)),
                fmt::format("compute in a wider type: --out-type {}", fmt::join(wider, ", ")));
  }
  const Type type = named<Type>("type", o.out_type, type_names);
  if (type == input) return input;
  if (!in_type)
    throw Error(Code::invalid_argument,
                fmt::format("--out-type {}: {} cannot compute in another type", o.out_type, primitive.name()), hint);
  if (std::find(wider.begin(), wider.end(), to_string(type)) == wider.end())
    throw Error(Code::invalid_argument,
                fmt::format("--out-type {}: {} does not convert {} to it without loss", o.out_type, primitive.name(),
                            to_string(input)),
                hint);
  return type;
}

// Returns the number of elements to take from the input: -n, or all; nullopt if that is unknown until the end.
std::optional<std::uint64_t> chosen_count(const RunOptions& o, const ArrayReader& reader) {
  if (o.size.empty()) return reader.count();
  const std::size_t n = lab::parse_size("-n", o.size);
  if (reader.count() && *reader.count() < n)
    throw Error(Code::invalid_argument,
                fmt::format("n={} is beyond the end of {}, which holds {} elements of {}", n, shown(o.input),
                            *reader.count(), to_string(reader.type())),
                "use a smaller -n, or omit it to take all");
  return n;
}

Streamer::Storage chosen_storage(const RunOptions& o) {
  Streamer::Storage storage;
  if (!o.memory.empty()) storage.bytes = lab::parse_bytes("--memory", o.memory);
  if (!o.temporary.empty()) {
    Spool::require(o.temporary);  // even if it turns out to be unneeded, which may depend on the input
    storage.folder = o.temporary;
  }
  return storage;
}

// Suggests a lossless conversion from a type that the primitive does not take to one that it takes.
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
      return fmt::format("to reinterpret each element's bits as a number, in numpy: a.view('{}')", numpy(to, "u"));
  std::vector<std::string_view> names;
  for (const Type type : types) names.push_back(to_string(type));
  return fmt::format("it takes {}, none of which holds every value of {}", fmt::join(names, ", "), to_string(from));
}

// Throws if no rung of the primitive takes the case on this platform, so that suggesting another rung would not help.
void require_some_rung(const Primitive& primitive, Platform& platform, const Case& c) {
  const Rungs rungs = platform.rungs_of(primitive.contract);
  const auto some_takes = [&](Operation operation) {
    return std::any_of(rungs.begin(), rungs.end(), [&](const Rung* rung) { return rung->find(c.type, operation); });
  };
  if (some_takes(c.operation)) return;
  std::vector<std::string_view> names;
  for (const Operation operation : primitive.operations())
    if (some_takes(operation)) names.push_back(operation.name());
  throw Error(Code::unsupported,
              fmt::format("no rung of {} takes {} of {}", primitive.name(), c.operation.name(), to_string(c.type)),
              fmt::format("of {} it takes {}", to_string(c.type), fmt::join(names, ", ")));
}

// Reports the number of elements in no bin of a histogram, if `output` is that number. Called for outputs that the user
// did not request.
void report_outside(const Streamer& streamer, std::size_t output, std::span<const std::byte> elements) {
  std::uint64_t outside = 0;
  if (streamer.other_outputs()[output - 1].name != "outside" || elements.size() != sizeof outside) return;
  std::memcpy(&outside, elements.data(), sizeof outside);
  if (outside > 0)
    message(fmt::format("{} {} in no bin (--also writes their number to a file, --param lower=,upper= sets the range)",
                        outside, outside == 1 ? "element is" : "elements are"));
}

// Runs the command; `group` is null for one device.
int work_on(const RunOptions& o, Group* group) {
  const Primitive& primitive = chosen_primitive(o.primitive);
  const bool is_of_several = group && group->size() > static_cast<int>(group->devices().size());
  if (is_of_several && (o.input == "-" || std::ranges::find(o.with, "-") != o.with.end()))
    throw Error(Code::invalid_argument, "standard input reaches only one of the processes", "name a file");
  if (!primitive.stream)
    throw Error(Code::unsupported, fmt::format("{} cannot be run on files", primitive.name()),
                primitive.name() == "render" ? "upsweep render draws them" : "see upsweep bench");
  CaseOptions cases;
  cases.params = o.params;
  if (!o.op.empty()) cases.ops = {o.op};
  const Operation operation = chosen_operations(cases, primitive, {primitive.operations().front()}).front();
  Platform& platform = lab::open_platform(named<Backend>("backend", o.backend, backend_names));
  const Rung& rung = chosen_rung(o, primitive, platform);
  std::optional<Type> type;
  if (!o.type.empty()) type = named<Type>("type", o.type, type_names);

  auto reader = open_array(o.input, type, file_format_of(o.format));
  const auto types = primitive.types();
  const auto takes = [&](Type t) { return std::find(types.begin(), types.end(), t) != types.end(); };
  const std::optional<Type> widened_by_rung = type_of_rung(o, primitive, rung, operation, reader->type());
  const Type computed = widened_by_rung ? reader->type() : chosen_type(o, primitive, operation, reader->type());
  if (!takes(computed))
    throw Error(Code::unsupported, fmt::format("{} does not take {}", primitive.name(), to_string(reader->type())),
                conversion_hint(primitive, reader->type()));
  const std::optional<std::uint64_t> count = chosen_count(o, *reader);
  Case c{.type = computed, .operation = operation};
  if (widened_by_rung) c.settings.set(out_type_shape, out_type_scalar(*widened_by_rung));
  set_params(cases, primitive, platform.backend(), c);
  for (const Settings::Item& item : c.settings)
    if (!primitive.reads_streamed(*item.parameter))
      throw Error(Code::invalid_argument, fmt::format("{} shapes generated inputs", item.parameter->name),
                  "omit it: the file is the input");
  require_readers(cases, {platform.backend()}, {&rung});
  // The parameter `channels` defaults to the number of channels of an image.
  if (const Parameter* const channels = primitive.parameter("channels"); channels && reader->channels() > 1)
    if (!c.settings.find("channels")) c.settings.set(*channels, std::uint64_t{reader->channels()});
  require_some_rung(primitive, platform, c);
  auto streamer = primitive.stream(platform, rung, c);
  if (group)
    streamer = std::make_unique<GroupStreamer>(*group, primitive, c, std::move(streamer),
                                               o.rung == lab::default_name ? std::string() : o.rung);
  const bool writes = !group || group->first_rank() == 0;  // other processes pass their results to the first
  if (o.table && !streamer->has_table())
    throw Error(Code::unsupported, fmt::format("{} has no table", primitive.name()), "omit --table");
  Streamer::Storage storage = chosen_storage(o);
  storage.elements = count;
  streamer->use(storage);
  Inputs inputs(o, chunk_for(storage.bytes), std::move(reader), c.type, count);
  inputs.open(o, *streamer, primitive);

  // All errors in the arguments are found before the first chunk is read.
  if (o.json && !o.output.empty() && !o.table)
    throw Error(Code::invalid_argument, "there is nothing to print as JSON: -o writes the result to a file",
                "omit --json or -o");
  std::optional<Outputs> outputs;
  if (writes) outputs.emplace(o, *streamer, count, inputs.shape());
  if (writes && o.json && !o.table)
    outputs->print(fmt::format(
        R"({{"primitive":"{}","rung":"{}","backend":"{}","op":{},"type":"{}","result_type":"{}","result":[)",
        primitive.name(), rung.name, o.backend, operation ? fmt::format("\"{}\"", operation.name()) : "null",
        to_string(c.type), to_string(streamer->output_type())));
  Progress progress("MiB");
  // Output that is written after the input has been read counts as remaining work.
  const std::size_t after = streamer->bytes_after_input(count.value_or(0)), total = inputs.bytes() + after;
  if (writes) progress.update(0, total >> 20);
  std::size_t done = 0, written = 0;
  const Streamer::Sink sink{[&](std::span<const std::byte> elements, std::size_t output) {
    outputs->put(elements, output);
    if (output > o.also.size()) {  // not requested
      progress.clear();
      report_outside(*streamer, output, elements);
    }
    written += elements.size();
    progress.update((after ? done + written : done) >> 20, total >> 20, fmt::format("{} MiB written", written >> 20));
  }};

  // Reads the next chunk while this one is processed, or afterwards if no thread can be started.
  Inputs::Chunk front = inputs.new_chunk(), back = inputs.new_chunk();
  for (bool more = inputs.read(front); more; std::swap(front, back)) {
    throw_if_interrupted();
    auto next = std::async(std::launch::async | std::launch::deferred, [&] { return inputs.read(back); });
    streamer->feed(front.read, sink);
    for (const auto& part : front.read) done += part.size();
    if (writes) progress.update(done >> 20, total >> 20);
    more = next.get();
  }
  streamer->finish(sink);
  progress.clear();
  if (!writes) return Exit::all_right;
  std::string last_text = o.json ? "]}\n" : "";
  if (o.table) last_text = o.json ? table_json(streamer->table()) : streamer->table();
  outputs->commit(last_text);
  if (const std::string warning = streamer->warning(); !warning.empty()) message(fmt::format("upsweep: {}", warning));
  return Exit::all_right;
}

// The first process of a group reports every error; the errors of the others reach it as messages.
int work(const RunOptions& o) {
  std::optional<Group> group;
  bool is_first = true;
  try {
    if (!o.devices.empty() || is_started_by_mpi())
      group = open_group(o.devices, named<Backend>("backend", o.backend, backend_names), is_first);
    return work_on(o, group ? &*group : nullptr);
  } catch (const multi::MemberError&) {
    if (is_first) throw;
  } catch (const Error& error) {
    if (!group || error.code() == Code::lost_member) throw;
    multi::tell_failure(*group, error);
    if (is_first) throw;
  }
  return Exit::usage;
}

}  // namespace

FileFormat file_format_of(const std::string& name) {
  if (name == "npy") return FileFormat::npy;
  if (name == "raw") return FileFormat::raw;
  if (name == "png") return FileFormat::png;
  if (name == "jpeg") return FileFormat::jpeg;
  return name == "pnm" ? FileFormat::pnm : FileFormat::automatic;
}

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
