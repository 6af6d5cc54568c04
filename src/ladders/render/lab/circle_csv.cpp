// Reads circles from CSV as written by spreadsheets, pandas, numpy.savetxt or by hand.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "files/quoted.h"
#include "ladders/render/lab/circle_fields.h"
#include "ladders/render/lab/circle_text.h"
#include "ladders/render/lab/colour_text.h"
#include "upsweep/error.h"

namespace upsweep::ladders::render {
namespace {

constexpr std::string_view blanks = " \t";
constexpr const char* decimal_comma = "a decimal comma? Numbers are written with a point: 0.5";

std::string_view trimmed(std::string_view text, std::string_view ends = blanks) {
  const std::size_t begin = text.find_first_not_of(ends);
  return begin == text.npos ? text.substr(0, 0) : text.substr(begin, text.find_last_not_of(ends) + 1 - begin);
}

// The fields of a line, without enclosing quotation marks. Doubled quotation marks inside a field stay doubled, because
// numbers and names contain none.
using Fields = std::vector<std::string_view>;

class CsvText {
 public:
  CsvText(std::string_view text, const std::string& file) : left_(text), file_(file) {}

  // Advances to the next line that has fields or a comment; returns false at the end.
  bool next() {
    for (; !left_.empty(); end_line()) {
      line_ = left_.substr(0, left_.find_first_of("\r\n"));
      if (!trimmed(line_).empty()) return true;
      left_.remove_prefix(line_.size());
    }
    return false;
  }
  // Call either skip() or read() for each line.
  void skip() {
    left_.remove_prefix(line_.size());
    end_line();
  }
  // Reads the line's fields. The first line read determines the separator.
  void read(Fields& fields) {
    if (!separator_) separator_ = separator_of(line_);
    first_ = number_;
    fields.clear();
    do fields.push_back(field());
    while (accept_separator());
    end_line();
  }
  void split(std::string_view line, Fields& fields) const {
    CsvText part(line, file_);
    part.separator_ = separator_, part.number_ = number_;
    fields.clear();
    if (part.next()) part.read(fields);
  }
  std::string_view line() const { return line_; }  // the first line, if a quoted field spans several lines
  char separator() const { return separator_; }

  [[noreturn]] void fail(const std::string& what, const std::string& hint) const {
    throw Error(Code::bad_file, fmt::format("{}: line {}{}", file_, first_, what), hint);
  }

 private:
  // Returns the first candidate that occurs outside quotation marks, or a space if none does.
  static char separator_of(std::string_view line) {
    for (const char candidate : {';', '\t', ','}) {
      bool quoted = false;
      for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (c == candidate && !quoted) return candidate;
      }
    }
    return ' ';
  }
  bool separates(char c) const { return separator_ == ' ' ? blanks.find(c) != blanks.npos : c == separator_; }
  void skip_blanks() {
    while (!left_.empty() && blanks.find(left_.front()) != blanks.npos && left_.front() != separator_)
      left_.remove_prefix(1);
    if (separator_ == ' ') left_.remove_prefix(std::min(left_.find_first_not_of(blanks), left_.size()));
  }
  bool at_end() const { return left_.empty() || left_.front() == '\n' || left_.front() == '\r'; }
  void end_line() {
    if (left_.empty()) return;
    left_.remove_prefix(left_.starts_with("\r\n") ? 2 : 1);
    ++number_;
  }
  std::string_view field() {
    skip_blanks();
    if (left_.starts_with('"')) return quoted();
    std::size_t size = 0;
    while (size < left_.size() && left_[size] != '\n' && left_[size] != '\r' && !separates(left_[size])) ++size;
    const std::string_view text = left_.substr(0, size);
    left_.remove_prefix(size);
    return trimmed(text);
  }
  std::string_view quoted() {
    left_.remove_prefix(1);
    std::size_t size = 0;
    for (;; size += 2) {  // past a doubled quotation mark
      size = left_.find('"', size);
      if (size == left_.npos) fail(": a field in quotation marks does not end", "add a \" where it ends");
      if (size + 1 == left_.size() || left_[size + 1] != '"') break;
    }
    const std::string_view text = left_.substr(0, size);
    number_ += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    left_.remove_prefix(size + 1);
    skip_blanks();
    if (!at_end() && !separates(left_.front()) && separator_ != ' ')
      fail(fmt::format(": {} follows a field in quotation marks", in_quotes(left_.substr(0, 1))),
           "put the whole field in quotation marks, or none of it");
    return trimmed(text);
  }
  bool accept_separator() {
    skip_blanks();
    if (at_end()) return false;
    if (separator_ != ' ') left_.remove_prefix(1);
    return true;
  }

  std::string_view left_, line_;
  const std::string& file_;
  std::size_t number_ = 1, first_ = 1;  // of the current line, and of the line where its fields began
  char separator_ = 0;
};

// Returns nullopt if the text is not a number. Numbers are written as in C, with a decimal point; a leading + is
// accepted, because some programs write it.
std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);  // 0 or infinity
  return value;
}

class CsvReader {
 public:
  CsvReader(std::string_view text, ColourRange colours, CircleFile& file)
      : text_(text, file.name), colours_(colours), file_(file) {}

  void read(const TakeCircle& take) {
    std::string_view comment;
    while (text_.next()) {
      if (is_comment()) {
        comment = trimmed(text_.line(), " \t#");
        text_.skip();
        continue;
      }
      text_.read(fields_);
      if (std::all_of(fields_.begin(), fields_.end(), [](std::string_view f) { return f.empty(); })) continue;
      if (columns_.empty() && read_header(comment)) continue;
      take(circle());
    }
  }

 private:
  // A # begins a comment, or a colour if the first column holds colours.
  bool is_comment() const {
    const std::string_view line = trimmed(text_.line());
    if (!line.starts_with('#')) return false;
    if (columns_.empty() || columns_[0] != Field::colour) return true;
    const char ends[] = {text_.separator(), ' ', '\0'};
    return !parse_colour(line.substr(0, line.find_first_of(ends)));
  }

  // Determines the columns from the first line of fields; returns whether that line names them.
  bool read_header(std::string_view comment) {
    if (names_columns(fields_)) {
      name_columns(fields_);
      return true;
    }
    Fields names;
    if (comment.find('"') == comment.npos) text_.split(comment, names);
    if (names.size() == fields_.size() && names_all_needed(names)) {
      name_columns(names);
      return false;
    }
    for (std::size_t k = 0; k < 8; ++k) columns_.push_back(static_cast<Field>(k));
    return false;
  }
  // A line names columns if it has a known name, or words and no number.
  static bool names_columns(const Fields& fields) {
    const auto any = [&](auto&& test) { return std::any_of(fields.begin(), fields.end(), test); };
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    if (any([](std::string_view f) { return field_named(f).has_value(); })) return true;
    return !any([](std::string_view f) { return number_of(f).has_value(); }) &&
           any([&](std::string_view f) { return !f.empty() && is_letter(f[0]); });
  }
  static bool names_all_needed(const Fields& names) {
    GivenFields given;
    for (const std::string_view name : names) given.add(name, field_named(name));
    return !given.mistake();
  }
  void name_columns(const Fields& names) {
    GivenFields given;
    for (const std::string_view name : names) {
      columns_.push_back(field_named(name));
      if (const auto mistake = given.add(name, columns_.back())) text_.fail(": " + *mistake, fields_hint);
      if (!columns_.back() && !name.empty()) file_.skipped.emplace_back(name);
    }
    if (const auto mistake = given.mistake()) text_.fail(": " + *mistake, fields_hint);
    named_ = true;
  }

  WideCircle circle() {
    // Some programs write a trailing separator, or omit the separator before an empty last column without a name.
    if (fields_.size() == columns_.size() + 1 && fields_.back().empty()) fields_.pop_back();
    const bool complete =
        fields_.size() == columns_.size() || (fields_.size() + 1 == columns_.size() && !columns_.back());
    if (!complete)
      text_.fail(
          fmt::format(" has {} field{}, not {}", fields_.size(), fields_.size() == 1 ? "" : "s", columns_.size()),
          hint_of_count());
    WideCircle circle;
    for (std::size_t k = 0; k < fields_.size(); ++k)
      if (const auto field = columns_[k]) set(circle, *field, k);
    return circle;
  }
  void set(WideCircle& circle, Field field, std::size_t k) const {
    const std::string_view text = fields_[k];
    const auto check = [&](const std::optional<Mistake>& mistake) {
      if (mistake) text_.fail(fmt::format(", column {} ({}): {}", k + 1, name_of(field), mistake->what), mistake->hint);
    };
    if (field == Field::colour) return check(set_colour(circle, text));
    if (const auto value = number_of(text)) return check(set_field(circle, field, *value, colours_));
    if (text.empty()) return check(Mistake{"it is empty", "write a number, or leave the circle out"});
    check(Mistake{in_quotes(text) + " is not a number",
                  text.find(',') != text.npos ? decimal_comma : "a number is written 0.5 or 5e-1"});
  }
  std::string hint_of_count() const {
    const auto have = [&](const char* characters) {
      return std::any_of(fields_.begin(), fields_.end(),
                         [&](std::string_view f) { return f.find_first_of(characters) != f.npos; });
    };
    if (have(",")) return decimal_comma;
    if (have(";\t ")) return fmt::format("fields are separated by {}, as in the first line", separator_name());
    return named_ ? "as many as there are names of columns"
                  : "without names of columns, a line is x y z radius red green blue alpha";
  }
  const char* separator_name() const {
    switch (text_.separator()) {
      case ';':
        return "semicolons";
      case '\t':
        return "tabs";
      case ',':
        return "commas";
      default:
        return "spaces";
    }
  }

  CsvText text_;
  ColourRange colours_;
  CircleFile& file_;
  std::vector<std::optional<Field>> columns_;  // nullopt: not a field of a circle
  bool named_ = false;
  Fields fields_;
};

}  // namespace

void read_csv(std::string_view text, ColourRange colours, const TakeCircle& take, CircleFile& file) {
  CsvReader(text, colours, file).read(take);
}

}  // namespace upsweep::ladders::render
