// upsweep report: shows recorded runs as tables, on the terminal or between a README's markers, and as plots.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "files/array_file.h"
#include "files/quoted.h"
#include "lab/plot.h"
#include "lab/plot_counts.h"
#include "lab/record.h"
#include "lab/table.h"

namespace upsweep::app {
namespace {

struct ReportOptions {
  std::string what;
  std::vector<std::string> files;
  std::string results = "results";
  OutputOptions output;
  std::vector<std::string> types;
  unsigned channels = 1;
  bool check = false;
  std::vector<const CLI::Option*> not_shown{}, not_filled{}, not_drawn{};  // unread by show, readme and plot
  const CLI::Option *type_option = nullptr, *channels_option = nullptr;
};

void declare(CLI::App& command, ReportOptions& o) {
  one_of(command
             .add_option("what", o.what,
                         "readme: fill the tables of Markdown files; show: print recorded runs; plot: draw them, or a "
                         "histogram")
             ->required(),
         "report", {"readme", "show", "plot"});
  command
      .add_option("files", o.files,
                  "Markdown files, files of records (JSON lines), or the counts of a histogram (.npy)")
      ->required();
  auto* results = command.add_option("--results", o.results,
                                     "readme: folder of the records: <device>/<primitive>.jsonl (default: results)");
  declare_output(command, o.output);  // used by show
  auto* file = command.add_option("-o,--output", o.output.file, "plot: the SVG file (default: standard output)");
  auto* types = offer_types(add_list(command, "--type", o.types, "show, plot: only these element types: f32,i32"));
  auto* channels =
      add_number(command, "--channels", o.channels, "plot: channels of the histogram, 1 to 4 (default: 1)", 1u, 4u);
  auto* check =
      command.add_flag("--check", o.check, "readme, plot: change nothing; exit 1 if a file does not match its records");
  o.not_shown = {results, file, channels, check};
  o.not_filled = {file, types, channels};
  o.not_drawn = {results};
  o.type_option = types, o.channels_option = channels;
}

constexpr std::uint64_t most_counts = 4 << 20;  // 2^20 bins for each of 4 channels

std::string read_text(const std::string& path) {
  InputFile file(path);
  std::string text;
  std::vector<std::byte> buffer(1 << 16);
  while (const std::size_t bytes = file.read(buffer)) text.append(reinterpret_cast<const char*>(buffer.data()), bytes);
  return text;
}

void write_text(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

std::vector<lab::Record> read_selected(const ReportOptions& o, const std::string& path) {
  std::vector<lab::Record> records = lab::read_records(path);
  if (!o.types.empty())
    std::erase_if(records, [&](const lab::Record& r) { return std::ranges::find(o.types, r.type) == o.types.end(); });
  return records;
}

int fill_readmes(const ReportOptions& o) {
  int code = Exit::all_right;
  for (const std::string& path : o.files) {
    const std::string before = read_text(path);
    const std::string after = lab::fill_markers(before, path, o.results);
    if (after == before) continue;
    if (o.check) {
      message(fmt::format("{}: a table does not match its records (run `upsweep report readme {}`)", printable(path),
                          printable(path)));
      code = Exit::wrong_result;
      continue;
    }
    write_text(path, after);
    message(fmt::format("{}: tables filled", printable(path)));
  }
  return code;
}

void require_known_types(const ReportOptions& o) {
  for (const std::string& type : o.types)
    if (!parse<Type>(type)) throw unknown_name("type", type, {type_names.begin(), type_names.end()});
}

int show(const ReportOptions& o) {
  Output output({.json = o.output.json, .format = o.output.format});
  bool any = false;
  for (const std::string& path : o.files) {
    // A series has the records that differ only in n and in the contestant; series are in order of first appearance.
    std::vector<std::string> order;
    std::map<std::string, std::vector<lab::Record>> series;
    for (lab::Record& r : read_selected(o, path)) {
      any = true;
      output.record(r);
      if (r.primitive == "ceiling") continue;
      std::string key = fmt::format("{} {} {} input={}", r.primitive, r.backend, type_and_op(r), r.input);
      for (const auto& [name, value] : r.params) key += fmt::format(" {}={}", name, value);
      key += fmt::format(", {}, {}", r.situation, r.device);
      if (!series.contains(key)) order.push_back(key);
      series[key].push_back(std::move(r));
    }
    for (const std::string& key : order) {
      std::map<std::uint64_t, std::vector<lab::Record>> by_size;
      for (const lab::Record& r : series[key]) by_size[r.n].push_back(r);
      if (by_size.size() > 1)
        output.table(fmt::format("{}, GB/s\n{}\n", key, sweep_table(series[key], output.terminal())));
      else
        output.table(fmt::format("{} n={}\n{}\n", key, lab::size_text(by_size.begin()->first),
                                 score_table(by_size.begin()->second, output.terminal())));
    }
  }
  if (!any && !o.types.empty())
    throw Error(Code::invalid_argument, fmt::format("no record is of type {}", fmt::join(o.types, " or ")),
                "omit --type");
  output.commit();
  return Exit::all_right;
}

// Plots the counts that `run histogram` wrote.
std::string plot_counts(const ReportOptions& o) {
  if (o.files.size() != 1) throw Error(Code::invalid_argument, "a plot shows one histogram", "name one .npy file");
  const auto reader = open_array(o.files[0]);
  if (!reader->count() || *reader->count() > most_counts)
    throw Error(Code::invalid_argument, fmt::format("{} is not a histogram: it has too many elements", o.files[0]));
  std::vector<std::byte> bytes(*reader->count() * size_of(reader->type()));
  std::vector<std::uint64_t> counts(reader->read(bytes));
  visit(reader->type(), [&]<class T>(TypeTag<T>) {
    if constexpr (!std::is_unsigned_v<T>)
      throw Error(Code::invalid_argument,
                  fmt::format("{} is not a histogram: it holds {}", o.files[0], to_string(reader->type())),
                  "counts are u8, u16, u32 or u64");
    else
      for (std::size_t k = 0; k < counts.size(); ++k) {
        T count;
        std::memcpy(&count, bytes.data() + k * sizeof(T), sizeof count);
        counts[k] = count;
      }
  });
  return lab::counts_svg(counts, o.channels, o.files[0]);
}

int plot(const ReportOptions& o) {
  if (o.check && o.output.file.empty())
    throw Error(Code::invalid_argument, "--check needs the picture to check", "name it with -o");
  std::string picture;
  if (o.files[0].ends_with(".npy")) {
    refuse_given({o.type_option}, "a plot of counts");
    picture = plot_counts(o);
  } else {
    refuse_given({o.channels_option}, "a plot of records");
    std::vector<lab::Record> records;
    for (const std::string& path : o.files)
      for (lab::Record& r : read_selected(o, path)) records.push_back(std::move(r));
    picture = lab::plot_svg(records);
  }
  if (!o.check) {
    write_text(o.output.file.empty() ? "-" : o.output.file, picture);
  } else if (read_text(o.output.file) != picture) {
    message(fmt::format("{} does not match its records (draw it again without --check)", printable(o.output.file)));
    return Exit::wrong_result;
  }
  return Exit::all_right;
}

int work(const ReportOptions& o) {
  if (o.what != "show" && (o.output.json || !o.output.format.empty()))
    throw Error(Code::invalid_argument, fmt::format("report {} has only one format", o.what),
                "--format and --json apply to report show");
  refuse_given(o.what == "show"     ? o.not_shown
               : o.what == "readme" ? o.not_filled
                                    : o.not_drawn,
               fmt::format("report {}", o.what));
  require_known_types(o);
  if (o.what == "readme") return fill_readmes(o);
  if (o.what == "plot") return plot(o);
  return show(o);
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  add_command<ReportOptions>(
      app, exit_code, "report", "Show or draw recorded runs, or fill the tables of a README from them",
      "  upsweep report show results/h200/reduce.jsonl\n"
      "  upsweep report show results/h200/reduce.jsonl --json | jq .median_us\n"
      "  upsweep report plot results/h200/reduce.jsonl --type i32 -o reduce.svg\n"
      "  upsweep report plot counts.npy --channels 3 -o histogram.svg\n"
      "  upsweep report readme README.md src/ladders/reduce/README.md\n"
      "A table stands between <!-- table:reduce device=h200 type=f32 op=sum n=2^10,2^20,2^28 --> and "
      "<!-- /table -->.\n",
      declare, work);
}

}  // namespace upsweep::app
