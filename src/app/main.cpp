// The upsweep command. Reports a failure in one line, with an exit code for each kind of failure.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "base/platform.h"
#include "files/file.h"
#include "files/interrupt.h"
#include "files/quoted.h"
#include "lab/backends.h"
#include "revision.h"
#include "upsweep/device.h"
#include "upsweep/tuning.h"

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

// Prints the message as one printable line, even if it quotes a file's contents or an argument. Returns `code`.
int fail(int code, std::string_view what, std::string_view hint = {}) {
  constexpr std::size_t longest = 2000;
  message(fmt::format("upsweep: {}{}", printable(what, longest),
                      hint.empty() ? "" : fmt::format(" ({})", printable(hint, longest))));
  return code;
}

// Starts a thread that ends the program if it does not react to a signal. Work polls the interrupt flag between its
// steps, but a step can take seconds (an oracle over 2^30 elements). If no poll has noticed the signal within 0.3 s,
// the thread raises the signal again, which ends the program at once and removes temporary files. If a poll has noticed
// it, the program is left to report what it kept, however slow the machine. If no thread can be started, the user has
// to press Ctrl-C twice.
void hurry_interrupts() try {
  std::thread([] {
    using namespace std::chrono_literals;
    while (!upsweep::interrupted()) std::this_thread::sleep_for(50ms);
    std::this_thread::sleep_for(300ms);
    if (!upsweep::interrupt_noticed()) std::raise(upsweep::interrupted());
  }).detach();
} catch (const std::system_error&) {
}

// Returns the arguments that are options, without the values after =.
std::vector<std::string> options_given(int argc, char** argv) {
  std::vector<std::string> given;
  for (int k = 1; k < argc && std::string_view(argv[k]) != "--"; ++k) {
    const std::string word = argv[k];
    if (word.size() > 1 && word[0] == '-')
      given.push_back(word.starts_with("--") ? word.substr(0, word.find('=')) : word);
  }
  return given;
}

// Returns an error for the first unknown option, or nullopt. It explains more than the error at which the parser
// stopped.
std::optional<Error> unknown_option(const CLI::App& command, int argc, char** argv) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  for (const std::string& name : options_given(argc, argv)) {
    const bool is_long = name.starts_with("--");
    if (is_long ? std::find(known.begin(), known.end(), name) != known.end()
                : !std::isalpha(static_cast<unsigned char>(name[1])) || command.get_option_no_throw(name.substr(0, 2)))
      continue;
    if (command.get_parent() && command.get_parent()->get_option_no_throw(name)) continue;
    return unknown_name("option", name, known);
  }
  return std::nullopt;
}

std::string version_text() {
  const Description cpu = cpu_platform().describe();
  std::string text =
      fmt::format("upsweep {} ({})\ncompiler: {}, {}\nbackends:", version, revision, cpu.compiler, cpu.flags);
  for (const Backend backend : lab::present_backends()) text += fmt::format(" {}", to_string(backend));
  return text + (cuda_platform() ? "" : fmt::format(" (no cuda: {})", why_no_cuda()));
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Data-parallel algorithms as ladders of implementations: check, time, explain and use every rung."};
  app.name("upsweep");
  app.add_flag_callback(
      "--version", [] { throw CLI::CallForVersion(version_text(), 0); },
      "Print version, compiler and backends, and exit");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  upsweep bench reduce -n 2^10..2^24        time every rung beside its peers\n"
      "  upsweep explain reduce --rung total       what a GPU kernel does, without a GPU\n"
      "  upsweep run reduce data.npy --op max      use the best rung on your own data\n"
      "Exit codes: 0 right, 1 wrong result, 2 usage, 3 regression, 4 device missing, 130 interrupted.\n"
      "Environment: NO_COLOR for output without colour; UPSWEEP_CAPABILITY=8.0 to choose rungs as on an older GPU; "
      "UPSWEEP_TUNING=FILE for thresholds that tune wrote; "
      "UPSWEEP_PROGRESS for the seconds between two lines of progress on a standard error that is no terminal (10).");
  declare_common(app);
  wrap_help(app);
  int code = Exit::all_right;
  for (const auto add : {add_bench, add_check, add_explain, add_run, add_render, add_compare, add_report, add_list,
                         add_devices, add_tune, add_help})
    add(app, code);

  for (int k = 1; k < argc && std::string_view(argv[k]) != "--"; ++k)
    if (const std::string_view word = argv[k]; word.starts_with("--") && word.ends_with('='))
      return fail(Exit::usage, fmt::format("{}: the value is empty", word.substr(0, word.size() - 1)));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help, --version
    std::ostringstream text;
    const int status = app.exit(help, text, text);
    print(text.str());
    return status;
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const CLI::App& command = chosen.empty() ? app : *chosen.front();
    // An unknown command explains more than the options after it, which no command has claimed.
    if (const auto left = app.remaining(true); chosen.empty() && !left.empty() && !left.front().starts_with('-')) {
      const Error unknown = unknown_name("command", left.front(), command_names(app));
      return fail(Exit::usage, unknown.what(), unknown.hint());
    }
    if (const auto unknown = unknown_option(command, argc, argv))
      return fail(Exit::usage, unknown->what(),
                  fmt::format("see upsweep {}--help", chosen.empty() ? "" : command.get_name() + " "));
    return fail(Exit::usage, error.what(),
                fmt::format("see upsweep {}--help", chosen.empty() ? "" : command.get_name() + " "));
  }
  return code;
}

}  // namespace

bool has_tuning() {
  const char* const file = std::getenv("UPSWEEP_TUNING");
  return file && *file;
}

// Opens a Device on each emulator, which registers the thresholds of the emulator's rungs. thresholds_in_force()
// registers those of the CPU and the GPU. Whichever comes first reads the file.
void read_tuning() {
  const auto backends = lab::present_backends();
  if (std::find(backends.begin(), backends.end(), Backend::simt) != backends.end()) {
    const Device plain(lab::open_plain()), traced(lab::open_traced());
  }
  (void)thresholds_in_force();
}

}  // namespace upsweep::app

int main(int argc, char** argv) {
  using namespace upsweep;
  occupy_standard_descriptors();
  handle_interrupts();
  app::hurry_interrupts();
  try {
    return app::parse_and_run(argc, argv);
  } catch (const ReaderGone& error) {
    // Dies of SIGPIPE quietly, with its status, like a program that does not ignore the signal (`upsweep ... | head`).
    if (!interrupted()) {
      std::signal(SIGPIPE, SIG_DFL);
      std::raise(SIGPIPE);
    }
    return app::fail(app::Exit::interrupted, error.what(), error.hint());
  } catch (const Error& error) {
    // A closed pipe after Ctrl-C, or a read that Ctrl-C cut short, counts as an interrupt.
    return app::fail(interrupted() ? app::Exit::interrupted : app::exit_code_of(error.code()), error.what(),
                     error.hint());
  } catch (const std::bad_alloc&) {
    return app::fail(app::Exit::usage, "out of memory", "use a smaller n");
  } catch (const std::exception& error) {
    return app::fail(app::Exit::wrong_result, error.what());
  }
}
