#include "lab/record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/sizes.h"
#include "revision.h"
#include "upsweep/tuning.h"

namespace upsweep::lab {

namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// ---- reading --------------------------------------------------------------------------------------------------------

// Thrown for an invalid field; with_json() adds file and line.
struct BadField {
  std::string what;
};

// Records are printed on terminals, in Markdown and in SVG, and a file may come from anywhere. So text that could
// control a terminal or break a line is rejected here, once, and so are numbers that no measurement can produce.
constexpr double highest_score = 1e9;
constexpr std::size_t longest_text = 1000, longest_line = std::size_t{1} << 16;  // bytes; bench writes lines of 1 KiB

std::string checked_text(const char* name, const Json& field) {
  if (!field.is_string()) throw BadField{fmt::format("'{}' must be a string", name)};
  auto text = field.get<std::string>();
  if (text.size() > longest_text) throw BadField{fmt::format("'{}' has more than {} bytes", name, longest_text)};
  for (std::size_t k = 0; k < text.size(); ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    // U+0080 to U+009F are control characters too: in UTF-8, bytes 0x80 to 0x9f after 0xc2.
    const bool second_half = byte == 0xc2 && k + 1 < text.size() && static_cast<unsigned char>(text[k + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f || second_half) throw BadField{fmt::format("'{}' has a control character", name)};
  }
  return text;
}

const Json& field_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) throw BadField{fmt::format("'{}' is missing", name)};
  return *found;
}

// Returns a JSON null if the field is missing.
const Json& field_or_null(const Json& json, const char* name) {
  static const Json null;
  const auto found = json.find(name);
  return found == json.end() ? null : *found;
}

void read(const Json& json, const char* name, std::string& value) { value = checked_text(name, field_of(json, name)); }
void read(const Json& json, const char* name, std::optional<std::string>& value) {
  if (const Json& field = field_or_null(json, name); !field.is_null()) value = checked_text(name, field);
}
void read(const Json& json, const char* name, bool& value) {
  const Json& field = field_of(json, name);
  if (!field.is_boolean()) throw BadField{fmt::format("'{}' must be true or false", name)};
  value = field.get<bool>();
}

void read_count(const Json& json, const char* name, std::uint64_t most, auto& value) {
  const Json& field = field_of(json, name);
  if (!field.is_number_unsigned() || field.get<std::uint64_t>() > most)
    throw BadField{fmt::format("'{}' must be a whole number, at most {}", name, most)};
  value = static_cast<std::remove_reference_t<decltype(value)>>(field.get<std::uint64_t>());
}

void read_number(const Json& json, const char* name, double least, double most, std::optional<double>& value) {
  const Json& field = field_or_null(json, name);
  if (field.is_null()) return;
  if (!field.is_number() || !(field.get<double>() >= least && field.get<double>() <= most))
    throw BadField{fmt::format("'{}' must be a number from {:g} to {:g}, or null", name, least, most)};
  value = field.get<double>();
}

// Reads the three quartiles: all present and in ascending order, or all null.
void read_times(const Json& json, Record& r) {
  constexpr double shortest = 1e-6, longest = 1e12;  // a picosecond; eleven days
  read_number(json, "median_us", shortest, longest, r.median_us);
  read_number(json, "q1_us", shortest, longest, r.q1_us);
  read_number(json, "q3_us", shortest, longest, r.q3_us);
  if (r.q1_us.has_value() != r.timed() || r.q3_us.has_value() != r.timed() ||
      (r.timed() && !(*r.q1_us <= *r.median_us && *r.median_us <= *r.q3_us)))
    throw BadField{"'q1_us', 'median_us' and 'q3_us' must be quartiles, or all null"};
}

// Converts a parameter's value to JSON: numbers and booleans as such, names as strings. JSON's -0 is an integer, so it
// becomes -0.0, which keeps its sign.
Json as_json(const std::string& text) {
  if (text == "-0") return -0.0;
  const Json value = Json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : Json(text);
}
std::string param_text(const Json& value) {
  if (value.is_string()) return checked_text("params", value);
  if (!value.is_number() && !value.is_boolean()) throw BadField{"'params' has to hold texts, numbers and booleans"};
  const std::string text = value.dump();
  return text == "-0.0" ? "-0" : text;
}

double rounded(double value, int significant_digits) {
  return std::stod(fmt::format("{:.{}g}", value, significant_digits));
}

// Computes the score from traffic, time and ceiling. Returns nullopt if time or ceiling are missing, or if the ceiling
// is a launch, whose time a record does not have.
std::optional<double> derived_score(const Record& r) {
  if (!r.timed() || !r.ceiling_gbs) return std::nullopt;
  return rounded(r.gbs() / *r.ceiling_gbs, 4);
}

}  // namespace

RunIdentity identify(const Description& description) {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  RunIdentity identity{description, fmt::format("{:%Y%m%dT%H%M%S}-{}", fmt::gmtime(seconds), getpid()),
                       fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds))};
  for (ThresholdInForce& t : thresholds_in_force())
    if (t.value != t.measured) identity.tuning.emplace_back(std::move(t.name), t.value);
  return identity;
}

namespace {
Record blank(const RunIdentity& identity, Backend backend) {
  Record r;
  r.backend = to_string(backend);
  r.device = identity.description.device;
  r.driver = identity.description.driver;
  r.compiler = identity.description.compiler;
  r.flags = identity.description.flags;
  r.revision = revision;
  r.run = identity.run;
  r.time = identity.time;
  r.tuning = identity.tuning;
  return r;
}

void set_timing(Record& r, const Measurement& measured) {
  r.samples = measured.samples;
  r.checked = measured.checked;
  if (measured.failure) return;
  r.median_us = rounded(measured.time.us.median, 6);
  r.q1_us = rounded(measured.time.us.q1, 6);
  r.q3_us = rounded(measured.time.us.q3, 6);
  r.aa_spread = rounded(measured.time.aa_spread, 3);
}
}  // namespace

Record make_record(const RunIdentity& identity, const Primitive& primitive, const Case& c, Situation situation,
                   const Measurement& measured, const Ceiling* ceiling) {
  Record r = blank(identity, measured.rung->backend);
  r.primitive = primitive.name();
  (measured.rung->peer ? r.peer : r.rung) = std::string(measured.rung->name);
  if (measured.rung->peer) r.peer_version = std::string(measured.rung->version);
  r.op = c.operation.name();
  r.type = to_string(c.type);
  r.n = c.n;
  r.input = c.input;
  r.params = texts_of(c.settings, measured.tuning);
  r.situation = to_string(situation);
  r.synchronises = measured.rung->synchronises;
  set_timing(r, measured);
  r.traffic_bytes = measured.traffic.bytes;
  r.ceiling = measured.traffic.ceiling;
  if (ceiling && ceiling->bytes) {
    r.ceiling_gbs = rounded(ceiling->gbs(), 6);
    r.score = derived_score(r);
  } else if (ceiling && r.timed()) {
    r.score = rounded(ceiling->measured.time.us.median / *r.median_us, 4);
  }
  return r;
}

Record make_record(const RunIdentity& identity, Backend backend, const Ceiling& ceiling) {
  Record r = blank(identity, backend);
  r.primitive = "ceiling";
  r.rung = ceiling.kind;
  r.type = to_string(ceiling.type);
  r.n = ceiling.n;
  r.input = "uniform";
  set_timing(r, ceiling.measured);
  r.traffic_bytes = ceiling.bytes;
  r.ceiling = ceiling.kind;
  if (r.timed()) {
    r.score = 1;
    if (ceiling.bytes) r.ceiling_gbs = rounded(ceiling.gbs(), 6);
  }
  return r;
}

namespace {

Json run_json(const Record& r) {
  Json json;
  json["device"] = r.device;
  json["driver"] = r.driver;
  json["compiler"] = r.compiler;
  json["flags"] = r.flags;
  json["revision"] = r.revision;
  json["run"] = r.run;
  json["time"] = r.time;
  for (const auto& [name, value] : r.tuning) json["tuning"][name] = value;  // omitted if all are as measured
  return json;
}

// The fields in which the records of a run seldom differ.
constexpr const char* seldom_different[] = {"primitive", "backend",   "op",      "type",    "input",
                                            "params",    "situation", "samples", "ceiling", "checked"};

Json complete_json(const Record& r) {
  Json params = Json::object();
  for (const auto& [name, value] : r.params) params[name] = as_json(value);
  Json json;
  json["primitive"] = r.primitive;
  json["rung"] = or_null(r.rung);
  if (r.ran) json["ran"] = *r.ran;  // omitted if equal to the rung
  json["peer"] = or_null(r.peer);
  json["backend"] = r.backend;
  json["op"] = r.op.empty() ? Json(nullptr) : Json(r.op);
  json["type"] = r.type;
  json["n"] = r.n;
  json["input"] = r.input;
  json["params"] = params;
  json["situation"] = r.situation;
  json["samples"] = r.samples;
  json["median_us"] = or_null(r.median_us);
  json["q1_us"] = or_null(r.q1_us);
  json["q3_us"] = or_null(r.q3_us);
  json["traffic_bytes"] = r.traffic_bytes;
  json["ceiling"] = r.ceiling;
  json["ceiling_gbs"] = or_null(r.ceiling_gbs);
  json["score"] = or_null(r.score);
  json["checked"] = r.checked;
  json["aa_spread"] = or_null(r.aa_spread);
  json["peer_version"] = or_null(r.peer_version);
  if (r.synchronises) json["synchronises"] = true;  // omitted if false
  json.update(run_json(r));
  return json;
}

void read_run(const Json& json, Record& r) {
  read(json, "device", r.device);
  read(json, "driver", r.driver);
  read(json, "compiler", r.compiler);
  read(json, "flags", r.flags);
  read(json, "revision", r.revision);
  read(json, "run", r.run);
  read(json, "time", r.time);
  if (!json.contains("tuning")) return;
  const Json& tuning = json["tuning"];
  if (!tuning.is_object()) throw BadField{"'tuning' must be an object"};
  for (const auto& [name, value] : tuning.items()) {
    if (!value.is_number_unsigned()) throw BadField{"'tuning' has to hold whole numbers"};
    r.tuning.emplace_back(checked_text("tuning", Json(name)), value.get<std::uint64_t>());
  }
}

Record record_of(const Json& json) {
  Record r;
  read(json, "primitive", r.primitive);
  read(json, "rung", r.rung);
  read(json, "ran", r.ran);
  read(json, "peer", r.peer);
  if (r.rung.has_value() == r.peer.has_value()) throw BadField{"exactly one of 'rung' and 'peer' must be set"};
  read(json, "backend", r.backend);
  if (!field_or_null(json, "op").is_null()) read(json, "op", r.op);
  read(json, "type", r.type);
  read_count(json, "n", std::numeric_limits<std::int64_t>::max(), r.n);
  read(json, "input", r.input);
  const Json& params = field_of(json, "params");
  if (!params.is_object()) throw BadField{"'params' must be an object"};
  for (const auto& [name, value] : params.items())
    r.params.emplace_back(checked_text("params", Json(name)), param_text(value));
  if (json.contains("situation")) read(json, "situation", r.situation);
  read_count(json, "samples", 1'000'000'000, r.samples);
  read_times(json, r);
  read_count(json, "traffic_bytes", std::numeric_limits<std::int64_t>::max(), r.traffic_bytes);
  read(json, "ceiling", r.ceiling);
  read_number(json, "ceiling_gbs", 1e-9, 1e9, r.ceiling_gbs);
  read_number(json, "score", 0, highest_score, r.score);
  if (!r.score) r.score = derived_score(r);
  if (r.score > highest_score) throw BadField{"'traffic_bytes', 'median_us' and 'ceiling_gbs' give no possible score"};
  read(json, "checked", r.checked);
  read_number(json, "aa_spread", 0, 1e9, r.aa_spread);
  read(json, "peer_version", r.peer_version);
  if (json.contains("synchronises")) read(json, "synchronises", r.synchronises);
  read_run(json, r);
  return r;
}

// Calls f with the line's JSON object; adds file and line to errors.
template <class F>
auto with_json(const std::string& line, const std::string& source, std::size_t line_number, F&& f) {
  const auto bad = [&](const std::string& what) {
    return Error(Code::bad_file, fmt::format("{}:{}: not a record: {}", source, line_number, what),
                 "records are JSON lines written by `upsweep bench --json`");
  };
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) throw bad("invalid JSON");
  if (!json.is_object()) throw bad("expected a JSON object");
  try {
    return f(json);
  } catch (const BadField& field) {
    throw bad(field.what);
  }
}

}  // namespace

std::string to_json(const Record& r) { return complete_json(r).dump(); }

Record parse_record(const std::string& line, const std::string& source, std::size_t line_number) {
  return with_json(line, source, line_number, &record_of);
}

std::vector<std::string> RecordWriter::lines(const Record& record) {
  const bool begins_run = !first_ || run_json(*first_) != run_json(record);
  if (begins_run) first_ = record;
  const Json first = complete_json(*first_);
  Json header = run_json(*first_);
  for (const char* name : seldom_different)
    if (!first[name].is_null()) header[name] = first[name];

  Json complete = complete_json(record), own = Json::object();
  if (record.score == derived_score(record)) complete.erase("score");
  for (const auto& [name, value] : complete.items())
    if (header.contains(name) ? header[name] != value : !value.is_null()) own[name] = value;

  std::vector<std::string> lines;
  if (begins_run) lines.push_back(header.dump());
  lines.push_back(own.dump());
  return lines;
}

std::optional<Record> RecordReader::read(const std::string& line, const std::string& source, std::size_t line_number) {
  return with_json(line, source, line_number, [&](const Json& json) -> std::optional<Record> {
    if (!json.contains("n")) {
      Record r;
      read_run(json, r);
      current_ = r.run;
      headers_[r.run] = line;
      return std::nullopt;
    }
    if (json.contains("device")) return record_of(json);
    std::string run = current_;
    if (json.contains("run")) lab::read(json, "run", run);
    const auto header = headers_.find(run);
    if (header == headers_.end())
      throw BadField{fmt::format("no preceding line describes its run{}{}", run.empty() ? "" : ", ", run)};
    Json complete = Json::parse(header->second);
    complete.update(json);
    return record_of(complete);
  });
}

std::string case_of(const Record& r) {
  std::string text =
      fmt::format("{}/{} {} {} n={} {}", r.primitive, r.name(), r.backend, type_and_op(r), size_text(r.n), r.input);
  if (r.peer) text += " (peer)";
  for (const auto& [name, value] : r.params) text += fmt::format(" {}={}", name, value);
  if (r.situation != to_string(Situation::back_to_back)) text += " " + r.situation;
  return text;
}

std::string type_and_op(const Record& r) { return r.op.empty() ? r.type : r.type + " " + r.op; }

std::vector<Record> read_records(const std::filesystem::path& path) {
  const bool stdin_asked = path == "-";
  std::ifstream file;
  if (!stdin_asked) {
    file.open(path);
    if (!file) throw Error(Code::io_error, fmt::format("{}: cannot be read", path.string()), "check the path");
  }
  std::istream& in = stdin_asked ? std::cin : file;
  std::vector<Record> records;
  RecordReader reader;
  std::map<std::string, std::size_t> places;  // index in `records`, by case and machine
  std::size_t line_number = 0;
  const std::string source = stdin_asked ? "standard input" : path.string();
  std::string buffer(longest_line + 1, '\0');
  while (in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    ++line_number;
    if (in.fail())
      throw Error(Code::bad_file, fmt::format("{}:{}: not a record: longer than 64 KiB", source, line_number),
                  "records are JSON lines written by `upsweep bench --json`");
    const std::string line(buffer.data(), static_cast<std::size_t>(in.gcount()) - (in.eof() ? 0 : 1));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::optional<Record> record = reader.read(line, source, line_number);
    if (!record) continue;
    const auto [place, is_new] = places.try_emplace(case_of(*record) + " on " + record->device, records.size());
    if (is_new)
      records.push_back(*std::move(record));
    else
      records[place->second] = *std::move(record);
  }
  if (records.empty())
    throw Error(Code::bad_file, fmt::format("{}: holds no records", path.string()),
                "records are JSON lines written by `upsweep bench --json`");
  return records;
}

}  // namespace upsweep::lab
