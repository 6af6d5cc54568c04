// Reads circles from JSON. Handles the events of nlohmann's parser and tracks their positions in the text.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "files/quoted.h"
#include "ladders/render/lab/circle_fields.h"
#include "ladders/render/lab/circle_text.h"
#include "upsweep/error.h"

namespace upsweep::ladders::render {
namespace {

// The parser's input iterator. All copies share one position, `at`, which JsonReader reads too.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  const char** at;
  const char* end;
  const char& operator*() const { return **at; }
  Cursor& operator++() { return ++*at, *this; }
  Cursor operator++(int) { return ++*at, *this; }
  bool operator==(const Cursor&) const { return *at == end; }  // only compared with the end
  bool operator!=(const Cursor&) const { return *at != end; }
};

constexpr std::size_t numbers_per_circle = 8;
constexpr std::size_t most_skipped = 20;  // names listed in messages
constexpr const char* both_hint = "an object is a circle, or has a list of them";

class JsonReader {
 public:
  JsonReader(std::string_view text, ColourRange colours, const TakeCircle& take, CircleFile& file)
      : text_(text), at_(text.data()), colours_(colours), take_(take), file_(file) {}

  void read() {
    const char* const end = text_.data() + text_.size();
    do {
      nlohmann::json::sax_parse(Cursor{&at_, end}, Cursor{&at_, end}, this, nlohmann::json::input_format_t::json,
                                /*strict=*/false);
      while (at_ != end && is_space(*at_)) ++at_;
    } while (at_ != end);
  }

  // ---- the parser's events; they return true, or throw ----

  bool null() { return scalar("null"); }
  bool boolean(bool value) { return scalar(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return number(static_cast<double>(value)); }
  bool number_unsigned(std::uint64_t value) { return number(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) { return number(value); }
  bool binary(nlohmann::json::binary_t&) { return true; }  // text has no binary values
  bool string(const std::string& value) {
    if (skipped_ > 0) return true;
    if (inside(Level::object) && field_ == Field::colour)
      check(set_colour(circle_, value));
    else
      scalar(in_quotes(value));
    return true;
  }
  bool key(const std::string& name) {
    if (skipped_ > 0) return true;
    name_ = name;
    field_ = field_named(name);
    if (field_ && wrapped_ && levels_.size() == 1) fail(name + " beside a list of circles", both_hint);
    if (const auto mistake = given_.add(name, field_)) fail(*mistake, "give each once");
    if (field_) any_field_ = true;
    return true;
  }
  bool start_object(std::size_t) {
    if (skipped_ > 0 || skips_value()) {
      ++skipped_;
    } else if (levels_.empty() || inside(Level::list)) {
      levels_.push_back(Level::object);
      circle_ = {}, given_ = {};
      any_field_ = may_be_circle_ = false;
    } else {
      fail(place() + " is an object, not a number", fields_hint);
    }
    return true;
  }
  bool end_object() {
    if (skipped_ > 0) return --skipped_, true;
    levels_.pop_back();
    if (wrapped_ && levels_.empty()) return wrapped_ = false, true;
    if (const auto mistake = given_.mistake()) fail(*mistake, fields_hint);
    take_(circle_);
    return true;
  }
  bool start_array(std::size_t) {
    if (skipped_ == 0 && levels_.size() == 1 && inside(Level::object) && name_ == "circles") {
      if (any_field_) fail("a list of circles beside a circle's own numbers", both_hint);
      if (wrapped_) fail("circles is given twice", "put all into one list");
      wrapped_ = true;
      levels_.push_back(Level::list);
    } else if (skipped_ > 0 || skips_value()) {
      ++skipped_;
    } else if (levels_.empty()) {
      levels_.push_back(Level::list);
      may_be_circle_ = true;
    } else if (inside(Level::list)) {
      may_be_circle_ = false;
      begin_numbers();
      levels_.push_back(Level::numbers);
    } else {
      fail(place() + " is a list, not a number", fields_hint);
    }
    return true;
  }
  bool end_array() {
    if (skipped_ > 0) return --skipped_, true;
    if (inside(Level::numbers)) {
      if (numbers_ != numbers_per_circle)
        fail(fmt::format("a circle of {} numbers, not 8", numbers_), "x y z radius red green blue alpha");
      take_(circle_);
    }
    levels_.pop_back();
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    const char* const end = text_.data() + text_.size();
    const std::string_view rest(last(), static_cast<std::size_t>(end - last()));
    for (const char* word : {"NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"})
      if (near(word)) fail(fmt::format("{} is no number in JSON", word), "leave such circles out");
    const std::string_view full = error.what();
    const bool open = !levels_.empty() || full.find("end of input") != full.npos;
    if (at_ == end && open && (rest.empty() || !is_closing(rest[0])))
      fail("the text ends before what it began", "the file may have been cut off: write it again");
    if (!rest.empty() && is_closing(rest[0]) && before_last() == ',')
      fail(fmt::format("a comma before {}", rest[0]), "leave the comma out");
    // `full` has the form "[json.exception.parse_error.101] parse error at line 1, column 9: syntax error while parsing
    // value - invalid literal; last read: ..."
    const std::size_t dash = full.find(" - "), begin = dash == full.npos ? full.find("] ") + 2 : dash + 3;
    const std::string_view what = full.substr(std::min(begin, full.size()));
    fail(std::string(what.substr(0, what.find("; last read"))), "write a list of circles, or one after another");
  }

 private:
  enum class Level { list, object, numbers };

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_closing(char c) { return c == ']' || c == '}'; }
  bool inside(Level level) const { return !levels_.empty() && levels_.back() == level; }
  // Returns whether the next value belongs to a key that is not a field of a circle, and records that key.
  bool skips_value() {
    if (!inside(Level::object) || field_) return false;
    auto& names = file_.skipped;
    if (names.size() < most_skipped && std::find(names.begin(), names.end(), name_) == names.end())
      names.push_back(name_);
    return true;
  }
  std::string place() const {
    return inside(Level::object) ? in_quotes(name_) : fmt::format("number {} of a circle", numbers_ + 1);
  }
  void begin_numbers() {
    circle_ = {};
    numbers_ = 0;
  }
  bool number(double value) {
    if (skipped_ > 0 || skips_value()) return true;
    if (levels_.size() == 1 && inside(Level::list) && may_be_circle_) {  // the only circle, or one of JSON lines
      levels_.back() = Level::numbers;
      begin_numbers();
    }
    if (inside(Level::numbers)) {
      if (numbers_ < numbers_per_circle) {
        field_ = static_cast<Field>(numbers_);
        check(set_field(circle_, *field_, value, colours_));
      }
      ++numbers_;
    } else if (inside(Level::object)) {
      if (field_ == Field::colour) fail("a colour is not a number", R"(write "#fff", or red, green and blue)");
      check(set_field(circle_, *field_, value, colours_));
    } else {
      fail("a number where a circle should be", "a circle is an object, or a list of eight numbers");
    }
    return true;
  }
  bool scalar(const std::string& shown) {
    if (skipped_ > 0 || skips_value()) return true;
    if (levels_.empty() || inside(Level::list))
      fail(shown + " is no circle", "a circle is an object, or a list of eight numbers");
    fail(fmt::format("{}: {} is not a number", place(), shown), "numbers are without quotation marks: 0.5");
  }
  void check(const std::optional<Mistake>& mistake) const {
    if (mistake) fail(fmt::format("{}: {}", name_of(*field_), mistake->what), mistake->hint);
  }

  // Returns the address of the last byte that the parser has read.
  const char* last() const { return at_ == text_.data() ? at_ : at_ - 1; }
  char before_last() const {
    const char* before = last();
    while (before > text_.data() && is_space(*--before)) {
    }
    return *before;
  }
  // Returns whether the parser stopped inside the word or next to it.
  bool near(std::string_view word) const {
    const auto done = static_cast<std::size_t>(at_ - text_.data());
    for (std::size_t back = 0; back <= std::min(done, word.size()); ++back)
      if (text_.substr(done - back).starts_with(word)) return true;
    return false;
  }
  [[noreturn]] void fail(const std::string& what, const std::string& hint) const {
    const std::string_view before = text_.substr(0, static_cast<std::size_t>(last() - text_.data()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t begin = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
    throw Error(Code::bad_file,
                fmt::format("{}: line {}, byte {}: {}", file_.name, line, before.size() - begin + 1, printable(what)),
                hint);
  }

  const std::string_view text_;
  const char* at_;
  const ColourRange colours_;
  const TakeCircle& take_;
  CircleFile& file_;

  std::vector<Level> levels_{};  // at most three
  std::size_t skipped_ = 0;      // open lists and objects in a skipped value
  bool may_be_circle_ = false;   // the top-level list may hold a circle's numbers
  bool wrapped_ = false;         // the list is in an object, {"circles": list}
  WideCircle circle_{};
  std::size_t numbers_ = 0;  // read so far, if the circle is a list
  GivenFields given_{};      // if the circle is an object
  bool any_field_ = false;
  std::string name_{};
  std::optional<Field> field_{};  // of name_
};

}  // namespace

void read_json(std::string_view text, ColourRange colours, const TakeCircle& take, CircleFile& file) {
  JsonReader(text, colours, take, file).read();
}

}  // namespace upsweep::ladders::render
