// The subcommands: each adds itself to the command line, and sets the exit code if it was chosen.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

namespace upsweep::app {

// Exit codes, the same for every subcommand.
enum Exit : int {
  all_right = 0,
  wrong_result = 1,  // a check failed, or a device did
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
void add_devices(CLI::App& app, int& exit_code);

// Adds the subcommand `name`. Its Options are parsed before `work(options)` returns the exit code.
template <class Options>
void add_command(CLI::App& app, int& exit_code, const std::string& name, const std::string& description,
                 const std::string& examples, void (*declare)(CLI::App&, Options&), int (*work)(const Options&)) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  const auto options = std::make_shared<Options>();
  declare(*command, *options);
  command->callback([options, work, &exit_code] { exit_code = work(*options); });
}

}  // namespace upsweep::app
