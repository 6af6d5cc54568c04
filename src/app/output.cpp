#include "app/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "app/command.h"
#include "lab/grid.h"

namespace upsweep::app {

namespace {

void write(OutputFile& file, std::string_view text) { file.write(std::as_bytes(std::span(text))); }

// Ignores errors: if standard error is closed or full, they cannot be reported anywhere.
void to_stderr(std::string_view text) {
  (void)!std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

using Json = nlohmann::ordered_json;

// Formats a value for one cell; an object becomes "name=value name=value".
std::string cell_of(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [name, item] : value.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, cell_of(item));
  return text;
}

// Quotes a cell as in RFC 4180. Unlike there, lines end with \n, as in every other output.
std::string in_csv(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

// Converts JSON lines to CSV, one row each. The columns are the names in all lines, in order of first appearance.
std::string csv_of(const std::vector<std::string>& lines) {
  std::vector<Json> rows;
  std::vector<std::string> columns;
  for (const std::string& line : lines) {
    rows.push_back(Json::parse(line));
    for (const auto& [name, value] : rows.back().items())
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  }
  std::string text;
  for (const std::string& name : columns) text += (text.empty() ? "" : ",") + in_csv(name);
  text += '\n';
  for (const Json& row : rows) {
    for (std::size_t k = 0; k < columns.size(); ++k)
      text += (k == 0 ? "" : ",") + (row.contains(columns[k]) ? in_csv(cell_of(row[columns[k]])) : std::string());
    text += '\n';
  }
  return text;
}

lab::Terminal terminal_for(const OutputOptions& options) {
  // Markdown has no width limit, so tables are not split; they have no bars.
  if (options.format == "markdown") return {.markdown = true, .width = 1 << 20};
  return lab::terminal(STDOUT_FILENO);
}

// Returns the seconds between progress lines if they cannot be updated in place.
double line_period() {
  const char* const text = std::getenv("UPSWEEP_PROGRESS");
  const double seconds = text ? parse_number<double>(text).value_or(0) : 0;
  return seconds > 0 ? seconds : 10;
}

}  // namespace

void declare_output(CLI::App& command, OutputOptions& o, const char* in_file) {
  auto* json = command.add_flag("--json", o.json, "JSON lines on standard output, no tables: --format json");
  one_of(command.add_option("--format", o.format, "On standard output: table, csv, markdown or json (default: table)"),
         "format", {"table", "csv", "markdown", "json"})
      ->excludes(json);
  if (in_file)
    command.add_option("-o,--output", o.file, fmt::format("Write the {} to this file (JSON lines)", in_file));
}

bool prints_tables(const OutputOptions& o) {
  return !o.json && o.format != "json" && o.format != "csv" && o.file != "-";
}

Output::Output(const OutputOptions& options)
    : terminal_(terminal_for(options)),
      json_(options.json || options.format == "json" || options.file == "-"),
      csv_(options.format == "csv") {
  if (options.file == "-" && !options.format.empty() && options.format != "json")
    throw Error(Code::invalid_argument, fmt::format("--format {}: -o - writes JSON lines instead", options.format),
                "omit one of them");
  if (!options.file.empty() && options.file != "-") file_.emplace(options.file);
}

void Output::print_line(const std::string& line) {
  if (json_) write(standard_output_, line + "\n");
  if (csv_) csv_lines_.push_back(line);
}

void Output::json_line(const std::string& line) {
  if (file_) write(*file_, line + "\n");
  print_line(line);
}

void Output::record(const lab::Record& record) {
  if (file_)
    for (const std::string& line : records_.lines(record)) write(*file_, line + "\n");
  print_line(to_json(record));
}

void Output::table(std::string_view text) {
  if (!csv_ && !json_) write(standard_output_, text);
}

void Output::begin_file_with(std::string_view text) {
  if (file_) write(*file_, text);
}

void Output::commit() {
  if (csv_) write(standard_output_, csv_of(csv_lines_));
  if (file_) file_->commit();
  standard_output_.commit();
}

std::optional<std::string> Output::keep_if_interrupted() { return file_ ? file_->keep_if_interrupted() : std::nullopt; }

Progress::Progress(std::string what)
    : what_(std::move(what)),
      terminal_(lab::terminal(STDERR_FILENO)),
      in_place_(isatty(STDERR_FILENO)),
      period_(in_place_ ? 1 : line_period()) {
  // The thread does not disturb measurements: it sleeps until a line is due.
  try {
    ticker_ = std::jthread([this](const std::stop_token& stop) {
      std::unique_lock lock(mutex_);
      while (!stopped_.wait_for(lock, stop, period_, [&] { return stop.stop_requested(); })) show();
    });
  } catch (const std::system_error&) {  // without a thread, updates are still shown
  }
}

void Progress::update(std::size_t done, std::size_t total, std::string_view note) {
  const std::lock_guard lock(mutex_);
  under_way_ = true;
  done_ = done;
  total_ = total;
  note_ = note;
  show();
}

void Progress::show() {
  const Clock::time_point now = Clock::now();
  const double elapsed = Seconds(now - start_).count();
  // In place: nothing in the first second, then at most ten updates per second.
  const double since = Seconds(now - last_).count();
  if (!under_way_ || (in_place_ ? elapsed < 1 || since < 0.1 : since < period_.count() * 0.99)) return;
  last_ = now;
  std::string line = total_ ? fmt::format("{} {}/{}", what_, done_, total_) : fmt::format("{} {}", what_, done_);
  if (done_ > 0 && total_ >= done_)
    line += fmt::format(", {:.0f} s left", elapsed / static_cast<double>(done_) * static_cast<double>(total_ - done_));
  else
    line += fmt::format(", {:.0f} s so far", elapsed);
  if (!note_.empty()) line += fmt::format(" ({})", note_);
  if (!in_place_) return to_stderr("upsweep: " + line + "\n");
  if (lab::columns(line) >= static_cast<std::size_t>(terminal_.width))
    line.resize(static_cast<std::size_t>(terminal_.width) - 1);
  to_stderr("\r\033[K" + line);
  visible_ = true;
}

void Progress::clear() {
  const std::lock_guard lock(mutex_);
  under_way_ = false;
  if (!visible_) return;
  to_stderr("\r\033[K");
  visible_ = false;
}

void print(std::string_view text) {
  OutputFile file("-");
  write(file, text);
  file.commit();
}

void message(std::string_view text) { to_stderr(std::string(text) + "\n"); }

}  // namespace upsweep::app
