#include "lab/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "lab/grid.h"

namespace upsweep::lab {

namespace {

// The fastest peer, or null.
const Record* best_peer(const std::vector<Record>& records) {
  const Record* best = nullptr;
  for (const Record& r : records)
    if (r.peer && r.timed() && (!best || *r.median_us < *best->median_us)) best = &r;
  return best;
}

// How many times as fast as the best peer: 1.32x, or = for a tie.
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

// 0 where the case did not set it: the rung's own, and what is off.
double param_of(const Record& r, std::string_view name) {
  const auto found = std::find_if(r.params.begin(), r.params.end(), [&](const auto& p) { return p.first == name; });
  return found == r.params.end() ? 0 : found->second;
}

// What the columns of a table are: sizes, or values of a parameter.
struct Columns {
  std::string param{};  // empty: n
  double of(const Record& r) const { return param.empty() ? static_cast<double>(r.n) : param_of(r, param); }
  std::string title(double value) const {
    return param.empty() ? size_text(static_cast<std::uint64_t>(value)) : fmt::format("{}={:g}", param, value);
  }
};

// Distinct names in order of first appearance, and distinct columns ascending.
struct Axes {
  std::vector<std::string> names;
  std::set<double> columns;
  std::map<std::pair<std::string, double>, const Record*> at;
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

Grid sweep_grid(const std::vector<Record>& records, bool scores, const Columns& columns = {}) {
  const Axes axes = axes_of(records, columns);
  std::map<double, double> fastest;
  for (const Record& r : records)
    if (const double c = columns.of(r); r.timed())
      fastest[c] = std::min(fastest.contains(c) ? fastest[c] : *r.median_us, *r.median_us);
  std::vector<std::string> header{scores ? "GB/s (score)" : "GB/s"};
  for (const double c : axes.columns) header.push_back(columns.title(c));
  Grid grid(header);
  for (const std::string& name : axes.names) {
    std::vector<Cell> row{name};
    for (const double column : axes.columns) {
      const auto found = axes.at.find({name, column});
      if (found == axes.at.end())
        row.emplace_back("-");
      else if (const Record& r = *found->second; !r.timed())
        row.emplace_back("(F)", Style::bad);
      else {
        std::string text = gbs_text(r.gbs());
        if (scores && r.score) text += fmt::format(" ({:.2f})", *r.score);
        row.emplace_back(text, *r.median_us == fastest[column] ? Style::strong : Style::plain);
      }
    }
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
  // A bar is drawn where at least ten columns are left for it; beyond thirty it tells no more.
  const int left = terminal.width - narrow.width() - 4;
  if (!has_score || left < 10) return narrow.text(terminal, 2);
  header.emplace_back("");
  return rows(Grid(header), std::min(left, 30)).text(terminal, 2);
}

std::string sweep_table(const std::vector<Record>& records, const Terminal& terminal) {
  // As many sizes to a table as the width takes.
  std::set<std::uint64_t> sizes;
  for (const Record& r : records) sizes.insert(r.n);
  std::string text;
  std::vector<Record> part;
  std::string rendered;
  std::size_t in_part = 0;
  for (const std::uint64_t n : sizes) {
    std::vector<Record> wider = part;
    std::copy_if(records.begin(), records.end(), std::back_inserter(wider), [&](const Record& r) { return r.n == n; });
    if (in_part > 0 && sweep_grid(wider, false).width() + 2 > terminal.width) {
      text += sweep_grid(part, false).text(terminal, 2) + "\n";
      wider.clear();
      std::copy_if(records.begin(), records.end(), std::back_inserter(wider),
                   [&](const Record& r) { return r.n == n; });
      in_part = 0;
    }
    part = std::move(wider);
    ++in_part;
  }
  if (!part.empty()) text += sweep_grid(part, false).text(terminal, 2);
  return text;
}

namespace {

// The words of a marker: "reduce", then name=value pairs.
struct Marker {
  std::string primitive;
  std::map<std::string, std::string> wanted;
  std::vector<std::pair<std::string, double>> params;
};

Marker parse_marker(const std::string& words, const std::string& where) {
  static const std::set<std::string> known{"device", "file", "backend", "type", "op", "input", "n", "columns"};
  Marker marker;
  std::istringstream in(words);
  in >> marker.primitive;
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto number = [](const std::string& value) -> std::optional<double> {
      char* end = nullptr;
      const double parsed = std::strtod(value.c_str(), &end);
      return value.empty() || *end ? std::nullopt : std::optional(parsed);
    };
    if (equals != word.npos && known.contains(name))
      marker.wanted[name] = word.substr(equals + 1);
    else if (const auto value = equals == word.npos ? std::nullopt : number(word.substr(equals + 1)))
      marker.params.emplace_back(name, *value);
    else
      throw Error(Code::bad_file, fmt::format("{}: '{}' means nothing in a table marker", where, word),
                  "known: device= file= backend= type= op= input= n= columns=, and parameters with their numbers");
  }
  if (!marker.wanted.contains("device"))
    throw Error(Code::bad_file, fmt::format("{}: the table marker names no device", where),
                "write device=<a folder of results/>");
  return marker;
}

std::string marker_table(const Marker& marker, const std::string& where, const std::filesystem::path& results) {
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
      return wanted != marker.wanted.end() && wanted->second != value;
    };
    return r.primitive != marker.primitive || differs("backend", r.backend) || differs("type", r.type) ||
           differs("op", r.op) || differs("input", r.input) || (!sizes.empty() && !sizes.contains(r.n)) ||
           std::any_of(marker.params.begin(), marker.params.end(),
                       [&](const auto& p) { return param_of(r, p.first) != p.second; });
  });
  if (records.empty())
    throw Error(Code::bad_file, fmt::format("{}: nothing in {} is what the marker asks for", where, file.string()),
                "run `upsweep bench` for that case, or change the marker");
  const Record& r = records.front();
  std::set<std::pair<std::string, std::string>> made;  // when, and of which revision
  for (const Record& record : records) made.emplace(record.time.substr(0, 10), record.revision);
  std::string revisions;
  for (const auto& [date, revision] : made)
    revisions += fmt::format("{}revision {}, {}", revisions.empty() ? "" : "; ", revision, date);
  const auto columns = marker.wanted.find("columns");
  return sweep_grid(records, true, {columns == marker.wanted.end() ? "" : columns->second}).markdown() +
         fmt::format("\n{}; {}; {}; {}.\n", r.device, r.driver, r.compiler, revisions);
}

}  // namespace

std::string fill_markers(const std::string& text, const std::string& source, const std::filesystem::path& results) {
  static const std::string open = "<!-- table:", close = "<!-- /table -->";
  std::string out;
  std::size_t at = 0;
  for (std::size_t begin; (begin = text.find(open, at)) != text.npos;) {
    const std::string where = fmt::format(
        "{}:{}", source, 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    const std::size_t words = begin + open.size();
    const std::size_t words_end = text.find("-->", words);
    const std::size_t end = text.find(close, words);
    if (words_end == text.npos || end == text.npos || text.substr(words, end - words).find(open) != std::string::npos)
      throw Error(Code::bad_file, where + ": this table marker is not closed", "write <!-- /table --> below it");
    const Marker marker = parse_marker(text.substr(words, words_end - words), where);
    out += text.substr(at, words_end + 3 - at) + "\n" + marker_table(marker, where, results);
    at = end;
  }
  return out + text.substr(at);
}

}  // namespace upsweep::lab
