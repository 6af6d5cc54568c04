// Data goes to standard output, or whole to a file; everything else goes to standard error.
#pragma once
#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "files/file.h"
#include "lab/record.h"
#include "lab/terminal.h"

namespace upsweep::app {

// The format and destination of a command's data.
struct OutputOptions {
  bool json = false;
  std::string format{};  // empty: tables
  std::string file{};
};
// Declares --json, --format and, with the name of what it holds, -o.
void declare_output(CLI::App& command, OutputOptions& o, const char* in_file = nullptr);
// Whether standard output gets tables.
bool prints_tables(const OutputOptions& o);

// The destination of data, opened before the work starts, so that an unwritable path costs nothing. Commands give every
// result as a JSON line, and as a table. Standard output gets the tables, as text or Markdown, or the lines, as they
// are or as CSV; the file of -o gets the lines, whatever the format. With -o - standard output gets the lines alone.
class Output {
 public:
  // Throws Error(invalid_argument) if standard output cannot have both the format and the lines of -o -.
  explicit Output(const OutputOptions& options);
  void json_line(const std::string& line);
  // As lines (lab::RecordWriter), or as a row of the CSV table.
  void record(const lab::Record& record);
  void table(std::string_view text);
  // Text that stands in the file of -o before the lines, and nowhere else.
  void begin_file_with(std::string_view text);
  // Gives the file its final name.
  void commit();
  // For lines that are of use without those that should follow. Call it after a line: if the program is interrupted
  // then, the file of -o has the lines so far, as FILE.partial, which this returns; nothing without a file.
  std::optional<std::string> keep_if_interrupted();
  const lab::Terminal& terminal() const { return terminal_; }

 private:
  void write_line(const std::string& line);
  lab::Terminal terminal_;
  std::optional<OutputFile> lines_, text_;
  lab::RecordWriter records_;
  bool json_, csv_;
  std::vector<std::string> csv_lines_;  // until all columns are known
};

// Lines on standard error with progress and the time left, for work of more than a second: on a terminal one line, in
// place; elsewhere a line every ten seconds, or UPSWEEP_PROGRESS seconds.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress() { clear(); }
  // A total of 0 is unknown. Work that takes long between two updates is reported too.
  void update(std::size_t done, std::size_t total, std::string_view note = {});
  void clear();  // required before anything else is printed

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  void show();  // if it is time; with mutex_ held
  std::string what_;
  lab::Terminal terminal_;
  bool in_place_;
  Seconds period_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  bool visible_ = false;
  bool under_way_ = false;
  std::size_t done_ = 0, total_ = 0;
  std::string note_{};
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread ticker_;
};

// Writes text to standard output. Throws Error(io_error) if it is full or closed.
void print(std::string_view text);

// One line on standard error; lost, if that cannot be written.
void message(std::string_view text);

}  // namespace upsweep::app
