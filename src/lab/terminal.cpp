#include "lab/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace upsweep::lab {

namespace {
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Colour colour = Colour::automatic;
}  // namespace

void use_colour(Colour wanted) { colour = wanted; }

Terminal terminal(int descriptor) {
  Terminal t;
  t.colour = colour == Colour::always;
  std::string_view locale = variable("LC_ALL");
  if (locale.empty()) locale = variable("LC_CTYPE");
  if (locale.empty()) locale = variable("LANG");
  t.unicode = locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos;
  if (!isatty(descriptor)) {
    t.width = 100;  // a file or pipe: wide enough for a bar, narrow enough to paste
    return t;
  }
  t.wraps = true;
  if (colour == Colour::automatic) t.colour = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) t.width = size.ws_col;
  return t;
}

std::string styled(const Terminal& terminal, Style style, std::string_view text) {
  const char* code = style == Style::good ? "32" : style == Style::bad ? "31" : style == Style::faint ? "2" : "1";
  if (!terminal.colour || style == Style::plain) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string bar(const Terminal& terminal, double fraction, int cells) {
  const double full = std::clamp(fraction, 0.0, 1.0) * cells;
  if (!terminal.unicode) {
    const int filled = static_cast<int>(std::lround(full));
    return std::string(static_cast<std::size_t>(filled), '#') +
           std::string(static_cast<std::size_t>(cells - filled), ' ');
  }
  constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int steps = static_cast<int>(std::lround(full * 8));
  std::string text;
  for (int i = 0; i < steps / 8; ++i) text += "█";
  text += eighths[steps % 8];
  for (int i = steps / 8 + (steps % 8 != 0); i < cells; ++i) text += ' ';
  return text;
}

}  // namespace upsweep::lab
