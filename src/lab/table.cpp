#include "lab/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "lab/default_rung.h"
#include "lab/grid.h"

namespace upsweep::lab {

namespace {

// Returns the fastest peer, or null.
const Record* best_peer(const std::vector<Record>& records) {
  const Record* best = nullptr;
  for (const Record& r : records)
    if (r.peer && r.timed() && (!best || *r.median_us < *best->median_us)) best = &r;
  return best;
}

// Returns the speedup over the best peer: 1.32x, or = for a tie.
Cell against_peer(const Record& r, const Record* peer) {
  if (!peer || !r.timed() || &r == peer) return {};
  if (tied(r.timing(), peer->timing())) return {"="};
  const double ratio = *peer->median_us / *r.median_us;
  return {fmt::format("{:.2f}x", ratio), ratio > 1 ? Style::good : Style::bad};
}

std::string gbs_text(double gbs) { return gbs >= 99.95 ? fmt::format("{:.0f}", gbs) : fmt::format("{:.3g}", gbs); }

std::string shown_name(const Record& r) {
  return r.name() + (r.peer ? " (peer)" : "") + (r.synchronises ? " (synchronises)" : "");
}

// Returns "-" if the case does not set the parameter.
std::string param_of(const Record& r, std::string_view name) {
  const auto found = std::find_if(r.params.begin(), r.params.end(), [&](const auto& p) { return p.first == name; });
  return found == r.params.end() ? "-" : found->second;
}

// The columns of a table: sizes, inputs by size, or values of a parameter. Numbers sort by value, names as text.
struct Columns {
  using Key = std::pair<double, std::string>;
  std::string param{};  // empty for n
  Key of(const Record& r) const {
    if (param.empty()) return {static_cast<double>(r.n), {}};
    if (param == "input") return {static_cast<double>(r.n), r.input};
    const std::string text = param_of(r, param);
    return {std::atof(text.c_str()), text};
  }
  std::string title(const Key& key) const {
    if (param.empty()) return size_text(static_cast<std::uint64_t>(key.first));
    return param == "input" ? key.second : fmt::format("{}={}", param, key.second);
  }
};

// The quantity that a table's cells show.
enum class Shown { gbs, gbs_and_score, time };
std::string title_of(Shown shown) {
  return shown == Shown::time ? "time" : shown == Shown::gbs ? "GB/s" : "GB/s (score)";
}
std::string text_of(const Record& r, Shown shown) {
  if (shown == Shown::time) return time_text(*r.median_us);
  return gbs_text(r.gbs()) + (shown == Shown::gbs_and_score && r.score ? fmt::format(" ({:.2f})", *r.score) : "");
}

// The rows and columns of a table: distinct names in order of first appearance, distinct columns in ascending order,
// and the record in each cell.
struct Axes {
  std::vector<std::string> names;
  std::set<Columns::Key> columns;
  std::map<std::pair<std::string, Columns::Key>, const Record*> at;
};
Axes axes_of(const std::vector<Record>& records, const Columns& columns) {
  Axes axes;
  for (const Record& r : records) {
    const std::string name = shown_name(r);
    if (std::find(axes.names.begin(), axes.names.end(), name) == axes.names.end()) axes.names.push_back(name);
    axes.columns.insert(columns.of(r));
    axes.at[{name, columns.of(r)}] = &r;
  }
  return axes;
}

// Builds the table of some records, one row per name. If `letters` are given, each row's name is followed by the
// letters of its records' revisions.
Grid sweep_grid(const std::vector<Record>& records, Shown shown, const Columns& columns = {},
                const std::map<std::string, char>& letters = {}) {
  const Axes axes = axes_of(records, columns);
  std::map<Columns::Key, double> fastest;
  for (const Record& r : records)
    if (const Columns::Key c = columns.of(r); r.timed())
      fastest[c] = std::min(fastest.contains(c) ? fastest[c] : *r.median_us, *r.median_us);
  std::vector<std::string> header{title_of(shown)};
  for (const Columns::Key& c : axes.columns) header.push_back(columns.title(c));
  Grid grid(header);
  for (const std::string& name : axes.names) {
    std::vector<Cell> row{Cell("")};
    std::set<char> of_row;
    for (const Columns::Key& column : axes.columns) {
      const auto found = axes.at.find({name, column});
      if (found == axes.at.end())
        row.emplace_back("-");
      else if (const Record& r = *found->second; !r.timed())
        row.emplace_back("(F)", Style::bad);
      else
        row.emplace_back(text_of(r, shown), *r.median_us == fastest[column] ? Style::strong : Style::plain);
      if (found != axes.at.end() && !letters.empty()) of_row.insert(letters.at(found->second->revision));
    }
    row.front() = of_row.empty() ? name : fmt::format("{} [{}]", name, fmt::join(of_row, ", "));
    grid.add(row);
  }
  return grid;
}

}  // namespace

std::string time_text(double us) {
  const auto three = [](double value, const char* unit) {
    return value >= 99.95 ? fmt::format("{:.0f} {}", value, unit) : fmt::format("{:#.3g} {}", value, unit);
  };
  if (us < 0.9995) return three(us * 1e3, "ns");
  if (us < 999.5) return three(us, "us");
  if (us < 999.5e3) return three(us / 1e3, "ms");
  return three(us / 1e6, "s");
}

std::string score_table(const std::vector<Record>& records, const Terminal& terminal) {
  const Record* peer = best_peer(records);
  const bool has_score =
      std::any_of(records.begin(), records.end(), [](const Record& r) { return r.score.has_value(); });
  std::vector<std::string> header{"rung", "time", "GB/s"};
  if (has_score) header.emplace_back("score");
  if (peer) header.emplace_back("vs peer");
  const auto rows = [&](Grid grid, int bar_cells) {
    for (const Record& r : records) {
      std::vector<Cell> row{shown_name(r)};
      if (!r.timed())
        row.emplace_back("(F)", Style::bad);
      else {
        row.emplace_back(time_text(*r.median_us));
        row.emplace_back(r.traffic_bytes ? gbs_text(r.gbs()) : "");
        if (has_score) row.emplace_back(r.score ? fmt::format("{:.2f}", *r.score) : "");
        if (peer) row.push_back(against_peer(r, peer));
        if (bar_cells) row.emplace_back(bar(terminal, r.score.value_or(0), bar_cells));
      }
      grid.add(row);
    }
    return grid;
  };
  const Grid narrow = rows(Grid(header), 0);
  // A bar needs at least ten columns, and more than thirty add no detail.
  const int left = terminal.width - narrow.width() - 4;
  if (!has_score || left < 10 || terminal.markdown) return narrow.text(terminal, 2);
  header.emplace_back("");
  return rows(Grid(header), std::min(left, 30)).text(terminal, 2);
}

std::string sweep_table(const std::vector<Record>& records, const Terminal& terminal) {
  // Splits the sizes into as many tables as the width requires.
  std::set<std::uint64_t> sizes;
  for (const Record& r : records) sizes.insert(r.n);
  std::string text;
  std::vector<Record> part;
  std::string rendered;
  std::size_t in_part = 0;
  for (const std::uint64_t n : sizes) {
    std::vector<Record> wider = part;
    std::copy_if(records.begin(), records.end(), std::back_inserter(wider), [&](const Record& r) { return r.n == n; });
    if (in_part > 0 && sweep_grid(wider, Shown::gbs).width() + 2 > terminal.width) {
      text += sweep_grid(part, Shown::gbs).text(terminal, 2) + "\n";
      wider.clear();
      std::copy_if(records.begin(), records.end(), std::back_inserter(wider),
                   [&](const Record& r) { return r.n == n; });
      in_part = 0;
    }
    part = std::move(wider);
    ++in_part;
  }
  if (!part.empty()) text += sweep_grid(part, Shown::gbs).text(terminal, 2);
  return text;
}

std::string input_table(const std::vector<Record>& records, const Terminal& terminal) {
  std::vector<std::string> inputs, names;
  for (const Record& r : records) {
    if (std::find(inputs.begin(), inputs.end(), r.input) == inputs.end()) inputs.push_back(r.input);
    if (std::find(names.begin(), names.end(), r.name()) == names.end()) names.push_back(r.name());
  }
  std::vector<std::string> header{"input", "n"};
  header.insert(header.end(), names.begin(), names.end());
  if (names.size() > 1) header.push_back("speedup");
  Grid grid(header);
  for (const std::string& input : inputs) {
    std::vector<const Record*> row(names.size());
    for (const Record& r : records)
      if (r.input == input) row[std::size_t(std::find(names.begin(), names.end(), r.name()) - names.begin())] = &r;
    const Record* fastest = nullptr;
    for (const Record* r : row)
      if (r && r->timed() && (!fastest || *r->median_us < *fastest->median_us)) fastest = r;
    std::vector<Cell> cells{input};
    for (const Record* r : row)
      if (r && cells.size() == 1) cells.emplace_back(size_text(r->n));
    for (const Record* r : row)
      cells.push_back(!r            ? Cell("-")
                      : !r->timed() ? Cell("(F)", Style::bad)
                                    : Cell(time_text(*r->median_us), r == fastest ? Style::strong : Style::plain));
    if (names.size() > 1)
      cells.emplace_back(row[0] && row[0]->timed() ? fmt::format("{:.1f}x", *row[0]->median_us / *fastest->median_us)
                                                   : "-");
    grid.add(cells);
  }
  return grid.text(terminal, 2);
}

namespace {

// The words of a marker: the primitive, then name=value pairs.
struct Marker {
  std::string primitive;
  std::map<std::string, std::string> wanted;
  std::vector<std::pair<std::string, std::string>> params;
};

Marker parse_marker(const std::string& words, const std::string& where) {
  static const std::set<std::string> known{"device", "file",    "backend",   "type", "op",  "input",
                                           "n",      "columns", "situation", "rung", "show"};
  Marker marker;
  std::istringstream in(words);
  in >> marker.primitive;
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals != word.npos && known.contains(name))
      marker.wanted[name] = word.substr(equals + 1);
    else if (equals != word.npos && equals + 1 < word.size())
      marker.params.emplace_back(name, word.substr(equals + 1));
    else
      throw Error(Code::bad_file, fmt::format("{}: '{}' is not known in a marker", where, word),
                  "known: device= file= backend= type= op= input= n= situation= columns= rung= show=, and parameters "
                  "with their values, - for unset");
  }
  marker.wanted.try_emplace("situation", to_string(Situation::back_to_back));
  if (!marker.wanted.contains("device"))
    throw Error(Code::bad_file, fmt::format("{}: the marker names no device", where),
                "write device=<a folder of results/>");
  return marker;
}

// Returns the records that a marker selects. Throws Error(bad_file) if it selects none.
std::vector<Record> marked_records(const Marker& marker, const std::string& where,
                                   const std::filesystem::path& results) {
  const auto named = marker.wanted.find("file");
  const std::string& stem = named != marker.wanted.end() ? named->second : marker.primitive;
  const auto file = results / marker.wanted.at("device") / (stem + ".jsonl");
  std::vector<Record> records = read_records(file);
  std::set<std::size_t> sizes;
  if (const auto n = marker.wanted.find("n"); n != marker.wanted.end()) {
    const auto list = parse_sizes(n->second);
    sizes.insert(list.begin(), list.end());
  }
  std::erase_if(records, [&](const Record& r) {
    const auto differs = [&](const char* name, const std::string& value) {
      const auto wanted = marker.wanted.find(name);
      return wanted != marker.wanted.end() && wanted->second != value && wanted->second != "worst";
    };
    return r.primitive != marker.primitive || !r.own() || differs("backend", r.backend) || differs("type", r.type) ||
           differs("op", r.op) || differs("input", r.input) || differs("situation", r.situation) ||
           (!sizes.empty() && !sizes.contains(r.n)) ||
           std::any_of(marker.params.begin(), marker.params.end(),
                       [&](const auto& p) { return param_of(r, p.first) != p.second; });
  });
  if (records.empty())
    throw Error(Code::bad_file, fmt::format("{}: the marker matches no record of {}", where, file.string()),
                "run `upsweep bench` for that case, or change the marker");
  return records;
}

// Wraps text at 120 columns.
std::string wrapped(std::string text) {
  for (std::size_t begin = 0; text.size() - begin > 120;) {
    const std::size_t space = text.rfind(' ', begin + 120);
    if (space == text.npos || space <= begin) break;
    text[space] = '\n';
    begin = space + 1;
  }
  return text;
}

std::string marker_table(const Marker& marker, const std::string& where, const std::filesystem::path& results) {
  const std::vector<Record> records = marked_records(marker, where, results);
  const Record& r = records.front();
  std::map<std::string, std::string> made;  // revision to its earliest date
  for (const Record& record : records) {
    const std::string date = record.time.substr(0, 10);
    const auto [at, is_new] = made.emplace(record.revision, date);
    if (!is_new) at->second = std::min(at->second, date);
  }
  std::vector<std::pair<std::string, std::string>> by_date;
  for (const auto& [revision, date] : made) by_date.emplace_back(date, revision);
  std::sort(by_date.begin(), by_date.end());
  std::map<std::string, char> letters;  // by revision, if there are several
  std::string revisions;
  for (const auto& [date, revision] : by_date) {
    std::string letter;
    if (made.size() > 1) letter = fmt::format("{}: ", letters[revision] = static_cast<char>('a' + letters.size()));
    revisions += fmt::format("{}{}revision {}, {}", revisions.empty() ? "" : "; ", letter, revision, date);
  }
  const auto columns = marker.wanted.find("columns");
  const auto show = marker.wanted.find("show");
  if (show != marker.wanted.end() && show->second != "time")
    throw Error(Code::bad_file, fmt::format("{}: a table has no show={}", where, show->second), "show=time, or none");
  return "\n" +
         sweep_grid(records, show == marker.wanted.end() ? Shown::gbs_and_score : Shown::time,
                    {columns == marker.wanted.end() ? "" : columns->second}, letters)
             .markdown() +
         "\n" +
         wrapped(fmt::format("{}; {}; {}; {}; {}.", r.device, r.driver, r.compiler, marker.wanted.at("situation"),
                             revisions)) +
         "\n";
}

// Returns one number of the rung that the marker names, or of the default: score, GB/s, time, or speedup over the best
// peer. If several records match (situation=worst), returns the worst.
std::string marker_figure(const Marker& marker, const std::string& where, const std::filesystem::path& results) {
  const std::vector<Record> records = marked_records(marker, where, results);
  const auto named = marker.wanted.find("rung");
  const std::string_view rung = named == marker.wanted.end() ? default_name : std::string_view(named->second);
  const auto shown = marker.wanted.find("show");
  const std::string show = shown == marker.wanted.end() ? "score" : shown->second;
  std::optional<double> worst;
  for (const Record& r : records) {
    if (!r.rung || *r.rung != rung || !r.timed()) continue;
    double value = show == "gbs" ? r.gbs() : show == "time" ? *r.median_us : r.score.value_or(0);
    if (show == "speedup") {
      std::optional<double> best_us;
      for (const Record& peer : records)
        if (peer.peer && peer.timed() && peer.n == r.n && peer.situation == r.situation && peer.params == r.params)
          best_us = std::min(best_us.value_or(*peer.median_us), *peer.median_us);
      if (!best_us) continue;
      value = *best_us / *r.median_us;
    }
    const double so_far = worst.value_or(value);
    worst = show == "time" ? std::max(so_far, value) : std::min(so_far, value);
  }
  if (!worst || (show != "score" && show != "gbs" && show != "time" && show != "speedup"))
    throw Error(Code::bad_file, fmt::format("{}: no figure for show={} of {}", where, show, rung),
                "show=score, gbs, time or speedup, of a rung that was timed (and beside a peer)");
  return show == "gbs" ? gbs_text(*worst) : show == "time" ? time_text(*worst) : fmt::format("{:.2f}", *worst);
}

}  // namespace

std::string fill_markers(const std::string& text, const std::string& source, const std::filesystem::path& results) {
  struct Kind {
    std::string open, close;
    std::string (*fill)(const Marker&, const std::string& where, const std::filesystem::path& results);
  };
  static const Kind kinds[] = {{"<!-- table:", "<!-- /table -->", &marker_table},
                               {"<!-- figure:", "<!-- /figure -->", &marker_figure}};
  std::string out;
  for (std::size_t at = 0;;) {
    const Kind* kind = nullptr;
    std::size_t begin = text.npos;
    for (const Kind& k : kinds)
      if (const std::size_t found = text.find(k.open, at); found < begin) {
        begin = found;
        kind = &k;
      }
    if (!kind) return out + text.substr(at);
    const std::string where = fmt::format(
        "{}:{}", source, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    const std::size_t words = begin + kind->open.size();
    const std::size_t words_end = text.find("-->", words);
    const std::size_t end = text.find(kind->close, words);
    if (words_end == text.npos || end == text.npos ||
        text.substr(words, end - words).find(kind->open) != std::string::npos)
      throw Error(Code::bad_file, where + ": this marker is not closed", fmt::format("write {} after it", kind->close));
    const Marker marker = parse_marker(text.substr(words, words_end - words), where);
    out += text.substr(at, words_end + 3 - at) + kind->fill(marker, where, results);
    at = end;
  }
}

}  // namespace upsweep::lab
