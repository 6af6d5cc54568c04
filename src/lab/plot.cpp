#include "lab/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "lab/sizes.h"

namespace upsweep::lab {

namespace {

// Sizes in pixels. A series is drawn as a title, two charts and a legend.
constexpr double chart_width = 370, chart_height = 290, left = 56, between = 60, legend_width = 196, title = 44,
                 below = 48;
constexpr double row_height = title + chart_height + below, width = left + 2 * chart_width + between + legend_width;
constexpr std::size_t rows_of_one_column = 4;

struct Series {
  std::string title;
  std::vector<std::string> names;                           // in order of first appearance, which is ladder order
  std::set<std::string> peers;                              // the subset of `names` that are peers
  std::map<std::string, std::map<double, double>> us, gbs;  // by name, then by n
  std::map<double, double> best_peer_us;                    // by n
  double ceiling = 0;                                       // GB/s, at the largest n
};

// Groups records into series, in order of first appearance.
std::vector<Series> series_of(const std::vector<Record>& records) {
  std::vector<Series> all;
  for (const Record& r : records) {
    if (!r.timed() || !r.own() || r.primitive == "ceiling" || r.n == 0 || r.traffic_bytes == 0) continue;
    std::string title = fmt::format("{} {}, {} input", r.primitive, type_and_op(r), r.input);
    for (const auto& [name, value] : r.params) title += fmt::format(", {}={}", name, value);
    title += ", " + r.situation;
    title += ", " + r.device;
    auto found = std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.title == title; });
    if (found == all.end()) found = all.insert(all.end(), Series{.title = title});
    Series& s = *found;
    if (!s.us.contains(r.name())) s.names.push_back(r.name());
    const double n = static_cast<double>(r.n);
    s.us[r.name()][n] = *r.median_us;
    s.gbs[r.name()][n] = r.gbs();
    if (r.peer) {
      s.peers.insert(r.name());
      double& best = s.best_peer_us.try_emplace(n, *r.median_us).first->second;
      best = std::min(best, *r.median_us);
    }
    s.ceiling = r.ceiling_gbs.value_or(s.ceiling);
  }
  return all;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

void put_text(std::string& svg, double x, double y, std::string_view anchor, std::string_view text) {
  svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

// Returns a colour from violet (t = 0) to yellow-green (t = 1): the first 4/5 of viridis, which is perceptually uniform
// and safe for colour-blind readers; the last fifth is too pale for a white page.
std::string ladder_colour(double t) {
  constexpr std::array<std::array<double, 3>, 5> stops{
      {{68, 1, 84}, {65, 68, 135}, {42, 120, 142}, {34, 168, 132}, {122, 209, 81}}};
  const double at = std::clamp(t, 0., 1.) * (stops.size() - 1);
  const auto low = std::min<std::size_t>(static_cast<std::size_t>(at), stops.size() - 2);
  std::array<int, 3> rgb{};
  for (std::size_t k = 0; k < 3; ++k)
    rgb[k] = static_cast<int>(std::lround(std::lerp(stops[low][k], stops[low + 1][k], at - static_cast<double>(low))));
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

// Returns the SVG attributes of the line of one rung or peer.
std::string stroke(const Series& s, const std::string& name) {
  if (s.peers.contains(name)) {
    // Peers are black, distinguished by dash patterns.
    static constexpr std::array dashes{"6 3", "2 3", "9 3 2 3", "12 4"};
    const auto index = static_cast<std::size_t>(std::distance(s.peers.begin(), s.peers.find(name)));
    return fmt::format("stroke=\"#111111\" stroke-width=\"1.8\" stroke-dasharray=\"{}\"",
                       dashes[index % dashes.size()]);
  }
  const auto rung = static_cast<double>(std::find(s.names.begin(), s.names.end(), name) - s.names.begin());
  const double rungs = static_cast<double>(s.names.size() - s.peers.size());
  return fmt::format("stroke=\"{}\" stroke-width=\"2\"", ladder_colour(rungs > 1 ? rung / (rungs - 1) : 1));
}

// Maps values to pixels along one axis.
struct Axis {
  double low, high, from, to;
  bool logarithmic;
  double operator()(double v) const {
    const auto scale = [&](double x) { return logarithmic ? std::log2(x) : x; };
    return from + (scale(v) - scale(low)) / (scale(high) - scale(low)) * (to - from);
  }
};

class Chart {
 public:
  Chart(std::string& svg, Axis x, Axis y, std::string_view what) : svg_(svg), x_(x), y_(y) {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"strong\">{}</text>\n", x.from, y.to - 8, what);
    for (double n = std::exp2(std::ceil(std::log2(x.low) / 4) * 4); n <= x.high; n *= 16)
      line(x(n), y.from, x(n), y.to, "grid"),
          put_text(svg_, x(n), y.from + 16, "middle", size_text(static_cast<std::size_t>(n)));
    put_text(svg_, (x.from + x.to) / 2, y.from + 34, "middle", "n, elements");
  }
  void horizontal(double value, std::string_view text, std::string_view style = "grid") {
    line(x_.from, y_(value), x_.to, y_(value), style);
    put_text(svg_, x_.from - 6, y_(value) + 4, "end", text);
  }
  // A single point is drawn as a ring, because a line through it would be invisible.
  void curve(const std::map<double, double>& points, const std::string& stroke) {
    if (points.size() == 1) {
      const auto& [n, value] = *points.begin();
      svg_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"none\" {}/>\n", x_(n),
                          y_(std::clamp(value, y_.low, y_.high)), stroke);
      return;
    }
    svg_ += fmt::format("<polyline fill=\"none\" {} points=\"", stroke);
    for (const auto& [n, value] : points)
      svg_ += fmt::format("{:.1f},{:.1f} ", x_(n), y_(std::clamp(value, y_.low, y_.high)));
    svg_ += "\"/>\n";
  }

 private:
  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    svg_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
                        y2, style);
  }
  std::string& svg_;
  Axis x_, y_;
};

void draw(std::string& svg, const Series& s, double x, double top) {
  double n_low = INFINITY, n_high = 0, low = INFINITY, high = s.ceiling;
  for (const auto& [name, points] : s.gbs)
    for (const auto& [n, gbs] : points) {
      n_low = std::min(n_low, n), n_high = std::max(n_high, n);
      low = std::min(low, gbs), high = std::max(high, gbs);
    }
  if (n_low == n_high) n_low /= 2, n_high *= 2;
  const double bottom = top + title + chart_height;
  svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"title\">{}</text>\n", x + left, top + 18, escaped(s.title));

  const auto x_from = [&](double from) { return Axis{n_low, n_high, from, from + chart_width, true}; };
  Chart speed(svg, x_from(x + left), {low, high * 1.1, bottom, top + title, true}, "GB/s");
  // An axis of less than two decades has ticks at 1, 2 and 5 times a power of ten; powers of ten alone would be only
  // one or two ticks.
  const bool narrow = high / low < 100;
  for (double decade = std::pow(10, std::floor(std::log10(low))); decade <= high; decade *= 10)
    for (const double step : {1, 2, 5})
      if (const double at = step * decade; at >= low && at <= high && (narrow || step == 1))
        speed.horizontal(at, fmt::format("{:g}", at));
  if (s.ceiling > 0) speed.horizontal(s.ceiling, "", "ceiling");

  constexpr double most = 2.5;  // maximum speedup; larger ones are clamped to the edge
  const double second = x + left + chart_width + between;
  Chart ratio(svg, x_from(second), {0, most, bottom, top + title, false}, "times as fast as the best peer");
  for (double r = 0; r <= most; r += 0.5) ratio.horizontal(r, fmt::format("{:g}", r), r == 1 ? "one" : "grid");

  double y = top + title + 4;
  const auto legend = [&](const std::string& style, const std::string& name) {
    const double from = second + chart_width + 16;
    svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" {3}/>\n", from, y - 4,
                       from + 22, style);
    put_text(svg, from + 28, y, "start", name);
    y += 18;
  };
  for (const std::string& name : s.names) {
    const std::string style = stroke(s, name);
    speed.curve(s.gbs.at(name), style);
    std::map<double, double> times;
    for (const auto& [n, us] : s.us.at(name))
      if (const auto peer = s.best_peer_us.find(n); peer != s.best_peer_us.end()) times[n] = peer->second / us;
    if (!times.empty()) ratio.curve(times, style);
    legend(style, name);
  }
  if (s.ceiling > 0) legend("class=\"ceiling\"", fmt::format("ceiling {:.0f} GB/s", s.ceiling));
}

}  // namespace

std::string plot_svg(const std::vector<Record>& records) {
  const std::vector<Series> all = series_of(records);
  if (all.empty()) throw Error(Code::invalid_argument, "there is no timed record to plot");
  // Up to rows_of_one_column series form one column; more form a page about as wide as it is high.
  const auto columns =
      all.size() <= rows_of_one_column
          ? std::size_t{1}
          : static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(all.size()) * row_height / width)));
  const std::size_t rows = (all.size() + columns - 1) / columns;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n"
      "<style>text{{font:12px sans-serif;fill:#333}}.title{{font-size:15px;font-weight:600;fill:#111}}"
      ".strong{{font-weight:600}}.grid{{stroke:#e4e4e4}}.one{{stroke:#888}}"
      ".ceiling{{stroke:#c0392b;stroke-width:1.5;stroke-dasharray:1 3;stroke-linecap:round}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      width * static_cast<double>(columns), row_height * static_cast<double>(rows));
  for (std::size_t k = 0; k < all.size(); ++k) {
    // Column-major, so that consecutive series are drawn one below the other.
    const double x = width * static_cast<double>(k / rows), y = row_height * static_cast<double>(k % rows);
    draw(svg, all[k], x, y);
  }
  return svg + "</svg>\n";
}

}  // namespace upsweep::lab
