// Makes untrusted text, such as a file's contents or name, safe for a message: short, one line, without control
// characters that a terminal would interpret.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace upsweep {

inline constexpr std::size_t longest_quoted = 60;  // characters of a file's contents in a message
inline constexpr std::size_t longest_name = 240;   // characters of a path; its end is the most informative part

namespace quoted_detail {

// Returns the bytes of the UTF-8 character at the start of `text`, or 0 if a message must not show it: invalid UTF-8, a
// control character, an invisible character, or one that changes the direction of the line.
inline std::size_t shown_bytes(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= ' ' && first != 0x7f;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return 0;
  char32_t code = first & (0x7fu >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(k) & 0x3fu);
  }
  const auto within = [&](char32_t from, char32_t to) { return code >= from && code <= to; };
  const bool overlong = code < (bytes == 3 ? 0x800u : bytes == 4 ? 0x10000u : 0u);
  if (overlong || within(0xd800, 0xdfff) || code > 0x10ffff || within(0x80, 0x9f)) return 0;
  if (code == 0x61c || within(0x200b, 0x200f) || within(0x2028, 0x202e) || within(0x2060, 0x206f) || code == 0xfeff)
    return 0;  // zero-width marks, line separators, direction changes
  return bytes;
}

// Appends the first character of `text`, escaped if necessary, and returns its length in bytes.
inline std::size_t append_shown(std::string& to, std::string_view text) {
  if (const std::size_t bytes = shown_bytes(text)) {
    to += text.substr(0, bytes);
    return bytes;
  }
  constexpr char digits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(text[0]);
  switch (byte) {
    case '\n':
      to += "\\n";
      break;
    case '\r':
      to += "\\r";
      break;
    case '\t':
      to += "\\t";
      break;
    default:
      to += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  return 1;
}

}  // namespace quoted_detail

// Returns the text with control characters and invalid UTF-8 escaped, as \n or \x1b. Of a text longer than `most`
// characters, only the beginning and the end remain, with dots in between: "aaaaaa...zzz". Takes time proportional to
// the result, not to the text.
inline std::string printable(std::string_view text, std::size_t most = longest_name) {
  std::string shown;
  const bool all = text.size() <= most;  // in bytes, which are at least as many as characters
  const std::size_t head = all ? most : most - most / 3;
  for (std::size_t characters = 0; characters < head && !text.empty(); ++characters)
    text.remove_prefix(quoted_detail::append_shown(shown, text));
  if (text.empty()) return shown;
  if (text.size() > most / 3) {
    std::size_t begin = text.size() - most / 3;
    while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80)
      ++begin;  // skips UTF-8 continuation bytes
    text.remove_prefix(begin);
    shown += "...";
  }
  while (!text.empty()) text.remove_prefix(quoted_detail::append_shown(shown, text));
  return shown;
}

// Returns printable() text in quotation marks: 'abc', 'a\x1b[2J'. (Not `quoted`, which would find std::quoted.)
inline std::string in_quotes(std::string_view text, std::size_t most = longest_quoted) {
  return "'" + printable(text, most) + "'";
}

}  // namespace upsweep
