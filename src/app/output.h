// Data goes to standard output, or whole to a file; everything else goes to standard error.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "files/file.h"
#include "lab/terminal.h"

namespace upsweep::app {

// The destination of data, opened before the work starts, so that an unwritable path costs nothing. JSON lines go to
// standard output with --json, or to the file of -o, which leaves standard output to the tables.
class Output {
 public:
  Output(bool json, const std::string& path);
  bool wants_json() const { return json_.has_value(); }
  bool wants_tables() const { return tables_; }
  void json_line(const std::string& line);
  void table(std::string_view text);
  // Gives the file its final name.
  void commit();
  // For lines that are of use without those that should follow. Call it after a line: if the program is interrupted
  // then, the file of -o has the lines so far, as FILE.partial, which this returns; nothing without a file.
  std::optional<std::string> keep_if_interrupted();
  const lab::Terminal& terminal() const { return terminal_; }

 private:
  lab::Terminal terminal_;
  std::optional<OutputFile> json_, text_;
  bool tables_;
};

// A line on standard error with progress and the time left: only on a terminal, and only once the work has taken a
// second.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress() { clear(); }
  void update(std::size_t done, std::size_t total, std::string_view note = {});
  void clear();  // required before anything else is printed

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  lab::Terminal terminal_;
  bool shown_on_terminal_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  bool visible_ = false;
};

// One line on standard error; lost, if that cannot be written.
void message(std::string_view text);

}  // namespace upsweep::app
