// Capabilities of an output stream: colour, width, block characters.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace upsweep::lab {

struct Terminal {
  bool colour = false;    // see Colour
  bool unicode = false;   // a UTF-8 locale
  bool wraps = false;     // a terminal, which wraps lines longer than its width
  bool markdown = false;  // not a terminal: tables are written as Markdown
  int width = 80;         // columns; 100 if not a terminal
};

// When to colour output. `automatic`: on a terminal, unless NO_COLOR is set or TERM is dumb.
enum class Colour : std::uint8_t { automatic, always, never };
void use_colour(Colour);

// Detects the capabilities of a file descriptor: 1 for standard output, 2 for standard error.
Terminal terminal(int descriptor);

enum class Style { plain, good, bad, faint, strong };
// Returns the text in that style, or unchanged if colour is off.
std::string styled(const Terminal& terminal, Style style, std::string_view text);

// Draws a horizontal bar for a fraction from 0 to 1, padded to `cells` columns.
std::string bar(const Terminal& terminal, double fraction, int cells);

}  // namespace upsweep::lab
