// The upsweep command: one line per failure, and an exit code that says what kind it was.
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "files/file.h"
#include "files/interrupt.h"
#include "revision.h"

namespace upsweep::app {
namespace {

int exit_code_of(Code code) {
  switch (code) {
    case Code::interrupted:
      return Exit::interrupted;
    case Code::no_device:
      return Exit::device_missing;
    case Code::wrong_result:
    case Code::device_error:
      return Exit::wrong_result;
    default:
      return Exit::usage;
  }
}

int fail(int code, std::string_view what, std::string_view hint = {}) {
  message(fmt::format("upsweep: {}{}", what, hint.empty() ? "" : fmt::format(" ({})", hint)));
  return code;
}

// Work polls the interrupt flag between its steps. A step can take seconds (an oracle over 2^30 elements), so a second
// signal is raised on the user's behalf if the program has not ended within 0.3 s: it ends the program at once, with
// temporary files removed. Where there is no thread to be had, the user has to press twice.
void hurry_interrupts() try {
  std::thread([] {
    using namespace std::chrono_literals;
    while (!upsweep::interrupted()) std::this_thread::sleep_for(50ms);
    std::this_thread::sleep_for(300ms);
    std::raise(upsweep::interrupted());
  }).detach();
} catch (const std::system_error&) {
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Data-parallel algorithms as ladders of implementations: check, time, explain and use every rung."};
  app.name("upsweep");
  app.set_version_flag("--version", fmt::format("upsweep {} ({})", version, revision));
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  upsweep bench reduce -n 2^10..2^24        time every rung beside its peers\n"
      "  upsweep explain reduce --rung total       what a GPU kernel does, without a GPU\n"
      "  upsweep run reduce data.npy --op max      use the best rung on your own data\n"
      "Exit codes: 0 right, 1 wrong result, 2 usage, 3 regression, 4 device missing, 130 interrupted.");
  int code = Exit::all_right;
  for (const auto add : {add_bench, add_check, add_explain, add_run, add_render, add_compare, add_report, add_devices})
    add(app, code);

  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::find(commands.begin(), commands.end(), argv[1]) == commands.end()) {
    const Error error = unknown_name("command", argv[1], commands);
    return fail(Exit::usage, error.what(), error.hint());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help, --version
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    return fail(Exit::usage, error.what(),
                fmt::format("see upsweep {}--help", chosen.empty() ? "" : chosen.front()->get_name() + " "));
  }
  return code;
}

}  // namespace
}  // namespace upsweep::app

int main(int argc, char** argv) {
  using namespace upsweep;
  occupy_standard_descriptors();
  handle_interrupts();
  app::hurry_interrupts();
  try {
    return app::parse_and_run(argc, argv);
  } catch (const Error& error) {
    // A closed pipe after Ctrl-C, or a read that Ctrl-C cut short, counts as the interrupt.
    return app::fail(interrupted() ? app::Exit::interrupted : app::exit_code_of(error.code()), error.what(),
                     error.hint());
  } catch (const std::bad_alloc&) {
    return app::fail(app::Exit::usage, "out of memory", "use a smaller n");
  } catch (const std::exception& error) {
    return app::fail(app::Exit::wrong_result, error.what());
  }
}
