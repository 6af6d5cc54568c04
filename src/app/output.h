// Data goes to standard output or, complete, to a file; everything else goes to standard error.
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
// Declares --json, --format and, if `in_file` describes the file's contents, -o.
void declare_output(CLI::App& command, OutputOptions& o, const char* in_file = nullptr);
// True if standard output gets tables.
bool prints_tables(const OutputOptions& o);

// The destination of data, opened before the work starts, so that an unwritable path fails early. Commands pass every
// result both as a JSON line and as a table. Standard output gets tables, as text or Markdown, or the lines, as JSON or
// CSV; the file of -o gets JSON lines, whatever the format. -o - means --format json.
class Output {
 public:
  // Throws Error(invalid_argument) if both the format's output and the lines of `-o -` would go to standard output.
  explicit Output(const OutputOptions& options);
  void json_line(const std::string& line);
  // Writes a record: with all fields to standard output, in the compact form (lab::RecordWriter) to the file.
  void record(const lab::Record& record);
  void table(std::string_view text);
  // Writes text at the start of the file of -o, but not to standard output.
  void begin_file_with(std::string_view text);
  // Prints the CSV, if that is the format, and gives the file its final name.
  void commit();
  // Keeps the lines written so far, as FILE.partial, if the program is interrupted later. Call it after a line, for
  // lines that are useful without those that would follow. Returns the name of FILE.partial; nullopt if there is no
  // file.
  std::optional<std::string> keep_if_interrupted();
  const lab::Terminal& terminal() const { return terminal_; }

 private:
  void print_line(const std::string& line);  // in the formats that have lines
  lab::Terminal terminal_;
  std::optional<OutputFile> file_;
  OutputFile standard_output_{"-"};
  lab::RecordWriter records_;
  bool json_, csv_;
  std::vector<std::string> csv_lines_;  // kept until all columns are known
};

// Progress and remaining time on standard error, for work of more than a second: on a terminal one line, updated in
// place; elsewhere a line every ten seconds, or UPSWEEP_PROGRESS seconds.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress() { clear(); }
  // Reports the state; a total of 0 means unknown. Between updates, a thread repeats the report.
  void update(std::size_t done, std::size_t total, std::string_view note = {});
  void clear();  // erases the line; required before printing anything else

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  void show();  // prints the line if it is due; requires mutex_
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

// Prints one line to standard error. Ignores write errors.
void message(std::string_view text);

}  // namespace upsweep::app
