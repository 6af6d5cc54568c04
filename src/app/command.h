// The subcommands. Each add_...() declares one on the command line and, if the user chooses that one, sets the exit
// code.
#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "lab/number.h"

namespace upsweep::app {

// Exit codes, the same for every subcommand.
enum Exit : int {
  all_right = 0,
  wrong_result = 1,  // a check or a device failed
  usage = 2,         // invalid arguments, names, files or sizes
  regression = 3,
  device_missing = 4,
  interrupted = 130,
};

void add_bench(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_render(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_devices(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);
// Adds help, completion and man, which describe the commands added before them.
void add_help(CLI::App& app, int& exit_code);

// --help, shell completion and the manual page are all generated from the CLI::App. It cannot hold the words that an
// option accepts if they depend on earlier arguments, so offer() stores these words separately.
using Line = std::vector<std::string>;
using Words = std::function<std::vector<std::string>(const Line&)>;
CLI::Option* offer(CLI::Option* option, Words words);
const Words* offered(const CLI::Option* option);  // null if none are offered
// Offers these words and rejects every other word, suggesting the nearest one.
CLI::Option* one_of(CLI::Option* option, const std::string& kind, const std::vector<std::string>& words);
// Adds an option that takes a number from `least` to `most`, parsed by parse_number(). CLI11's conversions accept more:
// octal and hexadecimal digits, numbers that wrap or saturate, NaN.
template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& name, T& to, const std::string& description, T least,
                        T most) {
  const char* const kind = std::is_integral_v<T> ? "a whole number" : "a number";
  const auto take = [&to, name, least, most, kind](const std::string& text) {
    const auto value = parse_number<T>(text);
    if (!value || *value < least || *value > most)
      throw CLI::ValidationError(name, fmt::format("'{}' is not {} from {} to {}", text, kind, least, most));
    to = *value;
  };
  return command.add_option_function<std::string>(name, take, description)
      ->type_name(std::is_integral_v<T> ? "INT" : "FLOAT");
}
// Restricts an option that is already declared to numbers from `least` to `most`.
CLI::Option* in_range(CLI::Option* option, double least, double most);
// Adds an option that takes a comma-separated list and may be repeated. Rejects empty items.
CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& to,
                      const std::string& description);
// Throws Error(invalid_argument) if one of these options, which `what` does not read, is on the command line.
void refuse_given(const std::vector<const CLI::Option*>& options, const std::string& what);
// Declares --color, and rejects empty values for every option of the command.
void declare_common(CLI::App& command);
// Returns the names of the visible commands.
std::vector<std::string> command_names(const CLI::App& app);
// Wraps --help at the width of the terminal.
void wrap_help(CLI::App& app);

// Registers the thresholds of all platforms of this program and reads the file named by UPSWEEP_TUNING, if any. Throws
// like load_tuning().
void read_tuning();
bool has_tuning();  // true if the environment names a file

// Adds the subcommand `name`. CLI11 fills in its Options, then `work(options)` returns the exit code.
template <class Options>
void add_command(CLI::App& app, int& exit_code, const std::string& name, const std::string& description,
                 const std::string& examples, void (*declare)(CLI::App&, Options&), int (*work)(const Options&)) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  const auto options = std::make_shared<Options>();
  declare(*command, *options);
  declare_common(*command);
  command->callback([options, work, &exit_code] {
    if (has_tuning()) read_tuning();
    exit_code = work(*options);
  });
}

}  // namespace upsweep::app
