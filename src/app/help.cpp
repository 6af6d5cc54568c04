// help, completion and man: generated from the CLI::App that parses the command line.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "lab/grid.h"
#include "revision.h"

namespace upsweep::app {

namespace {

std::map<const CLI::Option*, Words>& all_words() {
  static std::map<const CLI::Option*, Words> words;
  return words;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// Returns a command's options or, if `positional`, its positional arguments.
std::vector<const CLI::Option*> options_of(const CLI::App& command, bool positional = false) {
  return command.get_options([&](const CLI::Option* o) { return o->nonpositional() != positional; });
}

// Returns all names of an option, with dashes: "-n", "--size".
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

// Breaks lines at spaces so that none exceeds `width`, unless a word does; continuation lines are indented.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    while (lab::columns(line) > width) {
      std::size_t space = line.rfind(' ', width);
      const std::size_t begin = line.find_first_not_of(' ');
      if (space == line.npos || space <= begin) space = line.find(' ', std::max(width, begin));
      if (space == line.npos) break;
      out += line.substr(0, space) + "\n";
      line = std::string(indent, ' ') + line.substr(line.find_first_not_of(' ', space));
    }
    out += line + "\n";
  }
  return out;
}

class Wrapping : public CLI::Formatter {
 public:
  Wrapping() : width_(static_cast<std::size_t>(lab::terminal(STDOUT_FILENO).width)) {}
  std::string make_option(const CLI::Option* o, bool positional) const override {
    return entry(make_option_name(o, positional) + (o->get_required() ? " REQUIRED" : ""), make_option_desc(o));
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    return entry(sub->get_name(), sub->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), width_, 0);
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return wrapped(CLI::Formatter::make_usage(app, std::move(name)), width_, 2);
  }
  std::string make_footer(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_footer(app), width_, 6);
  }

 private:
  // Formats an entry: the description is beside the name or, if the name is too long, below it.
  std::string entry(const std::string& name, const std::string& description) const {
    const std::size_t column = width_ >= 70 ? 26 : 6;
    std::string line = "  " + name;
    if (line.size() + 2 > column)
      line += "\n" + std::string(column, ' ');
    else
      line.resize(column, ' ');
    return wrapped(line + description, width_, column);
  }
  std::size_t width_;
};

// ---- completion -----------------------------------------------------------------------------------------------------

// `upsweep complete` finds the completions. The scripts only pass it the line and read its answer, in each shell's own
// way.
constexpr const char* bash_script =
    R"(# bash completion for upsweep: source this, or let the bash-completion package find it.
_upsweep() {
  local IFS=$'\n' line=${COMP_LINE:0:COMP_POINT} word cut
  word=${line##*[[:space:]]}
  cut=${word%"${word##*[=:]}"}  # bash replaces what follows the last of its own word breaks
  COMPREPLY=($("${COMP_WORDS[0]}" complete "$line" 2>/dev/null | cut -f1))
  COMPREPLY=("${COMPREPLY[@]#"$cut"}")
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -o nosort -F _upsweep upsweep
)";
constexpr const char* zsh_script = R"(#compdef upsweep
# zsh completion for upsweep: a file _upsweep in a folder of $fpath.
_upsweep() {
  local -a answers
  local answer
  for answer in "${(@f)$("${words[1]}" complete "${(j: :)words[1,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $answer ]] && answers+=("${${answer%%$'\t'*}//:/\\:}:${answer#*$'\t'}")
  done
  if (( $#answers )); then _describe upsweep answers; else _files; fi
}
if [[ $funcstack[1] == _upsweep ]]; then _upsweep "$@"; else compdef _upsweep upsweep; fi
)";
constexpr const char* fish_script = R"(# fish completion for upsweep.
function __upsweep_complete
    set -l answers (upsweep complete (commandline -cp) 2>/dev/null)
    if test (count $answers) -gt 0
        printf '%s\n' $answers
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c upsweep -f -a '(__upsweep_complete)'
)";

struct Answer {
  std::string word, description;
};

// Returns the completions of the last word of the line; none if the word may be a file name or anything else.
std::vector<Answer> answers(const CLI::App& app, Line line) {
  const std::string last = line.empty() ? "" : line.back();
  if (!line.empty()) line.pop_back();
  const CLI::App* command = nullptr;
  for (std::size_t k = 1; k < line.size() && !command; ++k)
    for (const CLI::App* each : commands_of(app))
      if (each->get_name() == line[k]) command = each;

  std::vector<Answer> all;
  const auto add_words = [&](const CLI::Option& option, const std::string& before, const std::string& text) {
    const Words* const words = offered(&option);
    if (!words) return;
    const std::size_t comma = text.rfind(',');
    const std::string list = comma == text.npos ? "" : text.substr(0, comma + 1);
    for (const std::string& word : (*words)(line)) all.push_back({before + list + word, ""});
  };
  const auto named = [&](const std::string& name) -> const CLI::Option* {
    for (const CLI::Option* option : options_of(command ? *command : app))
      if (takes_value(*option) && option->check_name(name)) return option;
    return nullptr;
  };
  const std::size_t equals = last.find('=');
  if (const CLI::Option* option = line.empty() ? nullptr : named(line.back())) {
    add_words(*option, "", last);
  } else if (last.starts_with("--") && equals != last.npos) {
    if (const CLI::Option* given = named(last.substr(0, equals)))
      add_words(*given, last.substr(0, equals + 1), last.substr(equals + 1));
  } else if (last.starts_with("-")) {
    for (const CLI::Option* each : options_of(command ? *command : app))
      for (const std::string& name : names_of(*each)) all.push_back({name, each->get_description()});
  } else if (!command) {
    for (const CLI::App* each : commands_of(app)) all.push_back({each->get_name(), each->get_description()});
  } else {
    // Completes the next positional argument, or the last one, which may take several words.
    const auto arguments = options_of(*command, true);
    std::size_t given = 0;
    bool value = false;
    for (auto word = std::find(line.begin(), line.end(), command->get_name()) + 1; word < line.end(); ++word) {
      if (!value && !word->starts_with("-")) ++given;
      value = !value && word->starts_with("-") && word->find('=') == word->npos && named(*word);
    }
    if (!arguments.empty()) add_words(*arguments[std::min(given, arguments.size() - 1)], "", last);
  }
  std::erase_if(all, [&](const Answer& answer) { return !answer.word.starts_with(last); });
  return all;
}

void complete(const CLI::App& app, const std::string& typed) {
  Line line;
  std::istringstream words(typed);
  for (std::string word; words >> word;) line.push_back(word);
  if (typed.empty() || typed.back() == ' ') line.emplace_back();
  std::string text;
  for (const Answer& answer : answers(app, line)) text += fmt::format("{}\t{}\n", answer.word, answer.description);
  print(text);
}

// ---- the manual page ------------------------------------------------------------------------------------------------

// Escapes text for roff: backslashes, dashes, and a dot or quote at the beginning of a line, which would be a request.
std::string roff(const std::string& text) {
  std::string out;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    at_begin = c == '\n';
  }
  return out;
}

std::string manual_entry(const CLI::Option& option, bool positional) {
  std::string value = !takes_value(option) ? "" : " " + option.get_type_name();
  const std::string name = positional ? option.get_name(true) : fmt::format("{}", fmt::join(names_of(option), ", "));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name), roff(positional ? "" : value),
                     roff(option.get_description()));
}

std::string manual_command(const CLI::App& command) {
  std::string synopsis = command.get_name();
  for (const CLI::Option* argument : options_of(command, true))
    synopsis += fmt::format(fmt::runtime(argument->get_required() ? " {}" : " [{}]"), argument->get_name(true)) +
                (argument->get_items_expected_max() > 1 ? " ..." : "");
  std::string text = fmt::format(".SS upsweep {} [options]\n{}.\n", roff(synopsis), roff(command.get_description()));
  for (const bool positional : {true, false})
    for (const CLI::Option* option : options_of(command, positional)) text += manual_entry(*option, positional);
  if (!command.get_footer().empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.get_footer()));
  return text;
}

std::string manual(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH UPSWEEP 1 \"\" \"upsweep {}\" \"User Commands\"\n.SH NAME\nupsweep \\- check, time, explain and use ladders "
      "of data\\-parallel algorithms\n.SH SYNOPSIS\n.B upsweep\n.I command\n[arguments]\n.SH DESCRIPTION\n{}\n"
      ".SH COMMANDS\n",
      version, roff(app.get_description()));
  for (const CLI::App* command : commands_of(app)) text += manual_command(*command);
  text += ".SH OPTIONS\n";
  for (const CLI::Option* option : options_of(app)) text += manual_entry(*option, false);
  return text + fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(app.get_footer()));
}

}  // namespace

CLI::Option* offer(CLI::Option* option, Words words) {
  all_words()[option] = std::move(words);
  return option;
}

const Words* offered(const CLI::Option* option) {
  const auto found = all_words().find(option);
  return found == all_words().end() ? nullptr : &found->second;
}

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& to,
                      const std::string& description) {
  const auto take = [&to, name](const std::vector<std::string>& lists) {
    for (const std::string& list : lists)
      for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        if (end == begin) throw CLI::ValidationError(name, fmt::format("'{}' has an empty item", list));
        to.push_back(list.substr(begin, end - begin));
        begin = end + 1;
      }
  };
  return command.add_option_function<std::vector<std::string>>(name, take, description)->allow_extra_args(false);
}

CLI::Option* one_of(CLI::Option* option, const std::string& kind, const std::vector<std::string>& words) {
  option->check([kind, words](const std::string& word) -> std::string {
    if (std::find(words.begin(), words.end(), word) != words.end()) return {};
    return unknown_name(kind, word, words).what();
  });
  return offer(option, [words](const Line&) { return words; });
}

CLI::Option* in_range(CLI::Option* option, double least, double most) {
  return option->check([least, most](const std::string& text) -> std::string {
    if (const auto value = parse_number<double>(text); value && *value >= least && *value <= most) return {};
    return fmt::format("'{}' is not a number from {} to {}", text, least, most);
  });
}

void refuse_given(const std::vector<const CLI::Option*>& options, const std::string& what) {
  for (const CLI::Option* option : options)
    if (option->count() > 0)
      throw Error(Code::invalid_argument, fmt::format("{} does not read {}", what, names_of(*option).back()),
                  "omit it");
}

void declare_common(CLI::App& command) {
  const auto paint = [](const std::string& when) {
    lab::use_colour(when == "always"  ? lab::Colour::always
                    : when == "never" ? lab::Colour::never
                                      : lab::Colour::automatic);
  };
  one_of(command.add_option_function<std::string>(
             "--color", paint, "auto, always or never (default: auto, on a terminal without NO_COLOR)"),
         "colour mode", {"auto", "always", "never"});
  for (CLI::Option* option : command.get_options())
    if (takes_value(*option))
      option->check([](const std::string& value) { return value.empty() ? "the value is empty" : std::string(); });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

void wrap_help(CLI::App& app) { app.formatter(std::make_shared<Wrapping>()); }

void add_help(CLI::App& app, int& exit_code) {
  struct Options {
    std::string word;
    std::vector<std::string> words;
  };
  const auto options = std::make_shared<Options>();
  const auto add = [&](const char* name, const char* description, const char* examples) {
    CLI::App* command = app.add_subcommand(name, description);
    if (*examples) command->footer(std::string("Examples:\n") + examples);
    exit_code = Exit::all_right;
    return command;
  };

  CLI::App* help = add("help", "Show the help of a command, or the description of a primitive",
                       "  upsweep help bench\n"
                       "  upsweep help sort\n"
                       "  upsweep help run sort       the options of run, then the parameters and rungs of sort\n");
  const auto topics = [&app] {
    std::vector<std::string> names = command_names(app);
    for (const Primitive* primitive : primitives()) {
      const std::string name(primitive->name());
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  };
  offer(help->add_option("topic", options->words, "Commands and primitives: bench, sort, ... (default: the commands)"),
        [topics](const Line&) { return topics(); });
  help->callback([&app, options, topics] {
    const auto commands = command_names(app);
    std::string text, separator;
    const auto add_text = [&](const std::string& more) { text += std::exchange(separator, "\n") + more; };
    // app.help() would print the help of the current subcommand.
    if (options->words.empty())
      add_text(app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal));
    for (std::size_t k = 0; k < options->words.size(); ++k) {
      const std::string& word = options->words[k];
      // "render" names a command and a primitive. As the first word it means the command, after another the primitive.
      const bool is_command = std::find(commands.begin(), commands.end(), word) != commands.end();
      if (const Primitive* const primitive = find_primitive(word); primitive && (k > 0 || !is_command))
        add_text(description_of(*primitive, lab::terminal(STDOUT_FILENO)));
      else if (is_command)
        add_text(app.get_subcommand(word)->help(app.get_name()));
      else
        throw unknown_name("command or primitive", word, topics());
    }
    print(text);
  });

  CLI::App* completion = add("completion", "Print a shell's completion script",
                             "  source <(upsweep completion bash)\n"
                             "  upsweep completion zsh >~/.zfunc/_upsweep\n"
                             "  upsweep completion fish >~/.config/fish/completions/upsweep.fish\n");
  one_of(completion->add_option("shell", options->word, "bash, zsh or fish")->required(), "shell",
         {"bash", "zsh", "fish"});
  completion->callback([options] {
    print(options->word == "bash" ? bash_script : options->word == "zsh" ? zsh_script : fish_script);
  });

  add("man", "Print the manual page", "  upsweep man | man -l -\n")->callback([&app] { print(manual(app)); });

  CLI::App* words = add("complete", "", "")->group("");  // hidden: only the scripts call it
  words->add_option("line", options->word);
  words->callback([&app, options] { complete(app, options->word); });
  for (CLI::App* command : {help, completion}) declare_common(*command);
}

}  // namespace upsweep::app
