#include "app/run_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <sstream>

#include "files/quoted.h"

namespace upsweep::app {

namespace {

// Formats the result with the fewest digits that round-trip. In JSON, elements are separated by commas, NaN and
// infinities are strings, and -0 is -0.0, because JSON readers parse -0 as an integer, which has no sign. Every NaN is
// "nan", because its sign depends on the processor.
std::string as_text(Type type, std::span<const std::byte> elements, bool json, bool first) {
  std::string text;
  visit_any(type, [&]<class T>(TypeTag<T>) {
    for (std::size_t at = 0; at < elements.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, elements.data() + at, sizeof(T));
      auto value = static_cast<Computed<T>>(element);
      bool finite = true, minus_zero = false;
      if constexpr (is_floating<T>) {
        finite = std::isfinite(value);
        minus_zero = value == 0 && std::signbit(value);
        if (std::isnan(value)) value = std::numeric_limits<decltype(value)>::quiet_NaN();
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

// Rejects --out-format if no output uses it.
void require_out_format(const RunOptions& o) {
  if (o.out_format == "auto") return;
  std::vector<std::string> files = o.also;
  if (!o.output.empty()) files.push_back(o.output);
  if (files.empty())
    throw Error(Code::invalid_argument, fmt::format("--out-format {}: nothing is written to a file", o.out_format),
                "name one with -o, or omit --out-format");
  const bool all_npy =
      std::all_of(files.begin(), files.end(), [](const std::string& name) { return has_ending(name, ".npy"); });
  if (all_npy && o.out_format != "npy")
    throw Error(Code::invalid_argument,
                fmt::format("--out-format {}: the extension of {} decides", o.out_format, printable(files.back())),
                "give it another name, or omit --out-format");
}

// Maps all names of one file to the same string.
std::string canonical(const std::string& output) {
  if (output.empty() || output == "-") return "standard output";
  std::error_code error;  // for a folder that cannot be searched: the name suffices until the file is opened
  const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(output), error);
  return error ? output : path.string();
}

}  // namespace

Outputs::Outputs(const RunOptions& o, const Streamer& streamer, std::optional<std::uint64_t> count,
                 const std::optional<Shape>& shape)
    : type_(streamer.output_type()), json_(o.json), prints_result_(o.output.empty() && !o.table) {
  require_out_format(o);
  const auto others = streamer.other_outputs();
  if (o.also.size() < others.size() && !others[o.also.size()].optional)
    throw Error(Code::invalid_argument, fmt::format("there is another output: {}", others[o.also.size()].name),
                fmt::format("name its file: --also {}.npy", others[o.also.size()].name));
  if (o.also.size() > others.size())
    throw Error(Code::invalid_argument,
                fmt::format("--also {}: there is no such output", printable(o.also[others.size()])), "omit it");
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
    const FileFormat format = has_ending(name, ".npy") ? FileFormat::npy : file_format_of(o.out_format);
    return create_array(name, type, n, format, streamer.elementwise() ? shape : std::nullopt);
  };
  if (o.output.empty() || o.table) text_.emplace("-");
  files_.push_back(o.output.empty() ? nullptr : create(o.output, type_, streamer.output_count(count)));
  for (std::size_t k = 0; k < o.also.size(); ++k) files_.push_back(create(o.also[k], *others[k].type, std::nullopt));
}

void Outputs::put(std::span<const std::byte> elements, std::size_t output) {
  if (output >= files_.size()) return;  // optional, and not requested
  if (files_[output]) return files_[output]->write(elements);
  if (!prints_result_) return;  // a table is printed instead
  // Prints in small parts, because the text takes several times the memory of its numbers.
  for (const std::size_t most = size_of(type_) << 12; !elements.empty();) {
    const auto some = elements.first(std::min(most, elements.size()));
    print(as_text(type_, some, json_, first_));
    first_ = false;
    elements = elements.subspan(some.size());
  }
}

void Outputs::print(const std::string& text) {
  if (text_) text_->write(std::as_bytes(std::span(text)));
}

void Outputs::commit(const std::string& last_text) {
  std::vector<ArrayWriter*> files;
  for (const auto& file : files_)
    if (file) files.push_back(file.get());
  for (ArrayWriter* const file : files) file->finish();
  print(last_text);
  commit_together(files);
}

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

}  // namespace upsweep::app
