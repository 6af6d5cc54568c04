#include "files/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>

#include "files/raw.h"
#include "upsweep/error.h"

namespace upsweep {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_dimensions = 64;  // numpy's own limit

// The header is a Python dictionary literal. This parser accepts the literals that numpy writes, and nothing else.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      bool* seen = key == "descr"           ? &seen_descr_
                   : key == "fortran_order" ? &seen_order_
                   : key == "shape"         ? &seen_shape_
                                            : nullptr;
      if (!seen) fail("its header has an unknown key");
      if (*seen) fail("its header has the key '" + std::string(key) + "' twice");
      *seen = true;
      if (key == "descr")
        header_.type = type();
      else if (key == "fortran_order")
        fortran_ = boolean();
      else
        header_.shape = shape();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size()) fail("its header has text after the dictionary");
    if (!seen_descr_ || !seen_order_ || !seen_shape_) fail("its header lacks 'descr', 'fortran_order' or 'shape'");
    if (fortran_ && header_.shape.size() > 1)
      fail("it is in Fortran order", "save it in C order: numpy.save(file, numpy.ascontiguousarray(a))");
    header_.count = count();
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& hint = "write it again with numpy.save") const {
    throw Error(Code::bad_file, file_ + " is not a .npy file that can be read: " + what, hint);
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("its header has no '") + c + "' at byte " + std::to_string(at_));
  }
  std::string_view string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("its header has no string at byte " + std::to_string(at_));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("its header has a string without an end");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    fail("its 'fortran_order' is neither True nor False");
  }
  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> dimensions;
    expect('(');
    while (!accept(')')) {
      if (dimensions.size() == most_dimensions) fail("it has more than 64 dimensions");
      dimensions.push_back(dimension());
      if (accept(',')) continue;
      expect(')');
      if (dimensions.size() == 1) fail("its 'shape' is a number in parentheses, not a tuple");
      break;
    }
    return dimensions;
  }
  std::uint64_t dimension() {
    skip_space();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const unsigned digit = static_cast<unsigned>(text_[at_] - '0');
      if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) fail("a dimension is beyond 2^64");
      value = value * 10 + digit;
    }
    if (at_ == begin) fail("its 'shape' holds something that is not a whole number >= 0");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
    return value;
  }

  // '<f4', '|u1', '=i8', 'i4': byte order, kind, bytes.
  Type type() {
    if (accept('[')) fail("its elements are structures", "save one field of it: numpy.save(file, a['field'])");
    std::string_view descr = string();
    const auto refuse = [&](const std::string& what, const std::string& hint) {
      std::string shown(descr.substr(0, 16));  // enough for every type; the text is untrusted
      std::replace_if(
          shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
      fail("its elements are " + what + " ('" + shown + "')", hint);
    };
    char order = '=';
    std::string_view name = descr;
    if (!name.empty() && std::string_view("<>|=").find(name[0]) != name.npos) {
      order = name[0];
      name.remove_prefix(1);
    }
    for (std::size_t t = 0; t < type_names.size(); ++t) {
      const Type type = static_cast<Type>(t);
      const char spelled[] = {type_names[t][0], static_cast<char>('0' + size_of(type)), '\0'};
      if (name != spelled) continue;
      if (order == '>' && size_of(type) > 1)
        refuse("big-endian", "swap its bytes: numpy.save(file, a.astype('<" + std::string(spelled) + "'))");
      return type;
    }
    const std::string to_float = "convert it: numpy.save(file, a.astype('<f4')) or '<f8'";
    switch (name.empty() ? '\0' : name[0]) {
      case 'c':
        refuse("complex", "save its parts: numpy.save(file, a.real)");
        break;
      case 'O':
        refuse("Python objects", to_float);
        break;
      case 'b':
        refuse("booleans", "convert it: numpy.save(file, a.astype('u1'))");
        break;
      case 'f':
        refuse("floats of a size that upsweep does not support", to_float);
        break;
      case 'M':
      case 'm':
        refuse("times", "convert it: numpy.save(file, a.astype('<i8'))");
        break;
      case 'S':
      case 'U':
      case 'V':
        refuse("strings or bytes", "save numbers");
        break;
      default:
        break;
    }
    refuse("of an unknown type", "upsweep reads i1 u1 i2 u2 i4 u4 i8 u8 f4 f8");
    return {};
  }

  std::uint64_t count() const {
    // A dimension of zero makes the array empty, whatever the others are.
    if (std::find(header_.shape.begin(), header_.shape.end(), 0u) != header_.shape.end()) return 0;
    // 2^63 - 1 bytes: no file is larger.
    const std::uint64_t most = std::numeric_limits<std::int64_t>::max() / size_of(header_.type);
    std::uint64_t product = 1;
    for (std::uint64_t dimension : header_.shape) {
      if (dimension > most / product) fail("its 'shape' describes more bytes than any file can hold");
      product *= dimension;
    }
    return product;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  NpyHeader header_;
  bool fortran_ = false, seen_descr_ = false, seen_order_ = false, seen_shape_ = false;
};

std::string descr(Type type) {
  return std::string(size_of(type) == 1 ? "|" : "<") + to_string(type)[0] + std::to_string(size_of(type));
}

Error cut_short(const std::string& name, const std::string& what) {
  return Error(Code::bad_file, name + " is cut short: " + what, "copy or write it again");
}

NpyHeader read_header(Source& source, std::uint64_t& header_bytes) {
  // Magic, version and the header's length: 2 bytes in format 1.0, 4 bytes in 2.0 and 3.0.
  std::array<unsigned char, 12> start{};
  const auto get = [&](std::span<unsigned char> to) { return source.read(std::as_writable_bytes(to)) == to.size(); };
  if (!get(std::span(start).first(8)) || std::memcmp(start.data(), magic.data(), magic.size()) != 0)
    throw Error(Code::bad_file, source.name() + " is not a .npy file",
                "if it is raw binary, give its type; if not, write it with numpy.save");
  const unsigned major = start[6], minor = start[7];
  if (major < 1 || major > 3 || minor != 0)
    throw Error(Code::bad_file,
                source.name() + " is of .npy format " + std::to_string(major) + "." + std::to_string(minor) +
                    ", which is not known",
                "formats 1.0, 2.0 and 3.0 are: write it again with numpy.save");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (!get(std::span(start).subspan(8, length_bytes))) throw cut_short(source.name(), "it ends in its header");
  std::uint64_t length = 0;
  for (std::size_t k = length_bytes; k-- > 0;) length = length << 8 | start[8 + k];
  if (length > largest_npy_header)
    throw Error(Code::bad_file,
                source.name() + " has a header of " + std::to_string(length) + " bytes; the most that is read is " +
                    std::to_string(largest_npy_header),
                "save one plain array with numpy.save");
  header_bytes = 8 + length_bytes + length;
  if (source.size() && *source.size() < header_bytes) throw cut_short(source.name(), "it ends in its header");
  std::string text(static_cast<std::size_t>(length), '\0');
  if (source.read(std::as_writable_bytes(std::span(text))) != text.size())
    throw cut_short(source.name(), "it ends in its header");
  return HeaderParser(text, source.name()).parse();
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string elements(std::uint64_t count, Type type) {
  return std::to_string(count) + " " + std::string(to_string(type)) + (count == 1 ? " element" : " elements");
}

}  // namespace

NpyHeader read_npy_header(Source& source) {
  std::uint64_t header_bytes = 0;
  return read_header(source, header_bytes);
}

std::string npy_header(Type type, std::span<const std::uint64_t> shape) {
  std::string text = "{'descr': '" + descr(type) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t k = 0; k < shape.size(); ++k)
    text += std::to_string(shape[k]) + (shape.size() == 1 ? "," : k + 1 < shape.size() ? ", " : "");
  text += "), }";
  constexpr std::size_t before = 10, alignment = 64;
  // The longest 1-d dictionary has 78 bytes, so a 1-d header takes 128 however long its count is.
  const std::size_t total = std::max((before + text.size() + 1 + alignment - 1) / alignment * alignment, 2 * alignment);
  text.append(total - before - text.size() - 1, ' ').push_back('\n');
  std::string header(magic);
  header += {'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

NpyReader::NpyReader(std::unique_ptr<Source> source) : source_(std::move(source)) {
  std::uint64_t header_bytes = 0;
  header_ = read_header(*source_, header_bytes);
  left_ = header_.count * size_of(header_.type);
  if (const auto size = source_->size()) {
    const std::uint64_t there = *size - header_bytes;
    if (there < left_)
      throw cut_short(source_->name(), "its header announces " + elements(header_.count, header_.type) + ", " +
                                           std::to_string(left_) + " bytes, but only " + std::to_string(there) +
                                           " bytes follow");
    if (there > left_)
      throw Error(Code::bad_file,
                  source_->name() + " has " + std::to_string(there - left_) + " bytes after its " +
                      elements(header_.count, header_.type),
                  "save one array a file");
  }
}

std::size_t NpyReader::read(std::span<std::byte> to) {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), left_));
  const std::size_t got = source_->read(to.first(wanted));
  left_ -= got;
  if (got < wanted)
    throw cut_short(source_->name(),
                    std::to_string(left_) + " bytes of its " + elements(header_.count, header_.type) + " are missing");
  if (wanted < to.size()) {
    std::byte beyond;
    if (source_->read({&beyond, 1}) != 0)
      throw Error(Code::bad_file, source_->name() + " goes on after its " + elements(header_.count, header_.type),
                  "save one array a file");
  }
  return got / size_of(header_.type);
}

NpyWriter::NpyWriter(const std::string& path, Type type, std::optional<std::uint64_t> count)
    : file_(path), type_(type), count_(count) {
  if (!count && !file_.can_rewrite())
    throw Error(Code::unsupported, file_.name() + ": a .npy header begins with the count, which is not known yet",
                "write to a file, or write raw binary");
  const std::array shape{count.value_or(0)};
  file_.write(bytes_of(npy_header(type, shape)));
}

void NpyWriter::write(std::span<const std::byte> elements) {
  file_.write(elements);
  written_ += elements.size();
}

void NpyWriter::commit() {
  finish();
  file_.commit();
}

void NpyWriter::finish() {
  if (file_.finished()) return;
  require_all_written(file_.name(), type_, count_, written_);
  if (!count_) {
    const std::array shape{written_ / size_of(type_)};
    file_.rewrite(0, bytes_of(npy_header(type_, shape)));
  }
  file_.finish();
}

}  // namespace upsweep
