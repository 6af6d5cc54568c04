#include "files/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "files/quoted.h"
#include "files/raw.h"
#include "upsweep/error.h"

namespace upsweep {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied, or swapped if they are big-endian");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_dimensions = 64;  // numpy's limit

struct NamedType {
  std::string_view name;
  Type type;
  Stored stored = Stored::as_read;
};
// The type names that numpy.dtype() accepts on platforms where C's long has 64 bits. Names of one or two characters may
// follow a byte order.
constexpr NamedType named_types[] = {{"f4", Type::f32},
                                     {"f8", Type::f64},
                                     {"i1", Type::i8},
                                     {"u1", Type::u8},
                                     {"i2", Type::i16},
                                     {"u2", Type::u16},
                                     {"i4", Type::i32},
                                     {"u4", Type::u32},
                                     {"i8", Type::i64},
                                     {"u8", Type::u64},
                                     {"f2", Type::f32, Stored::half},
                                     {"b1", Type::u8, Stored::boolean},
                                     {"f", Type::f32},
                                     {"d", Type::f64},
                                     {"e", Type::f32, Stored::half},
                                     {"?", Type::u8, Stored::boolean},
                                     {"b", Type::i8},
                                     {"B", Type::u8},
                                     {"h", Type::i16},
                                     {"H", Type::u16},
                                     {"i", Type::i32},
                                     {"I", Type::u32},
                                     {"l", Type::i64},
                                     {"L", Type::u64},
                                     {"q", Type::i64},
                                     {"Q", Type::u64},
                                     {"float16", Type::f32, Stored::half},
                                     {"float32", Type::f32},
                                     {"float64", Type::f64},
                                     {"int8", Type::i8},
                                     {"uint8", Type::u8},
                                     {"int16", Type::i16},
                                     {"uint16", Type::u16},
                                     {"int32", Type::i32},
                                     {"uint32", Type::u32},
                                     {"int64", Type::i64},
                                     {"uint64", Type::u64},
                                     {"bool", Type::u8, Stored::boolean},
                                     {"half", Type::f32, Stored::half},
                                     {"single", Type::f32},
                                     {"double", Type::f64},
                                     {"float", Type::f64},
                                     {"int", Type::i64},
                                     {"uint", Type::u64}};

// Types that are refused, by the first letter of a name that is not in named_types. The hints suggest a lossless
// conversion if there is one.
struct RefusedTypes {
  std::string_view letters, what, hint;
};
constexpr RefusedTypes refused_types[] = {
    {"cFDG", "complex", "save its parts: numpy.save(file, a.real), numpy.save(file2, a.imag)"},
    {"O", "Python objects", "if they are numbers, give them a type: numpy.save(file, a.astype('<f8'))"},
    {"fgl", "floats of a size that upsweep does not support",
     "the nearest there is: numpy.save(file, a.astype('<f8'))"},
    {"Mm", "times", "save their ticks: numpy.save(file, a.view('<i8'))"},
    {"SUVa", "strings or bytes", "save numbers"}};

// Parses the header, a Python dictionary literal. Accepts only the literals that numpy writes.
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
      if (!seen) fail("its header has an unknown key, " + in_quotes(key));
      if (*seen) fail("its header has the key " + in_quotes(key) + " twice");
      *seen = true;
      if (key == "descr")
        read_type();
      else if (key == "fortran_order")
        header_.fortran_order = boolean();
      else
        header_.shape = shape();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size()) fail("its header has text after the dictionary");
    if (!seen_descr_ || !seen_order_ || !seen_shape_) fail("its header lacks 'descr', 'fortran_order' or 'shape'");
    header_.count = count();
    const auto several = [](std::uint64_t length) { return length > 1; };
    header_.fortran_order &= header_.count > 0 && std::ranges::count_if(header_.shape, several) > 1;
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

  // Parses the element type, an optional byte order and a numpy type name: '<f4', '>u1', 'i8', 'f', 'float64'.
  void read_type() {
    if (accept('[')) fail("its elements are structures", "save one field of it: numpy.save(file, a['field'])");
    const std::string_view descr = string();
    std::string_view name = descr;
    const bool ordered = !name.empty() && std::string_view("<>|=").find(name[0]) != name.npos;
    if (ordered) name.remove_prefix(1);
    for (const NamedType& named : named_types) {
      if (name != named.name || (ordered && named.name.size() > 2)) continue;
      header_.type = named.type;
      header_.stored = named.stored;
      header_.big_endian = ordered && descr[0] == '>' && header_.stored_bytes() > 1;
      return;
    }
    for (const auto& [letters, what, hint] : refused_types)
      if (!name.empty() && letters.find(name[0]) != letters.npos)
        fail("its elements are " + std::string(what) + " (" + in_quotes(descr) + ")", std::string(hint));
    fail("its elements are of an unknown type (" + in_quotes(descr) + ")",
         "upsweep reads b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8");
  }

  std::uint64_t count() const {
    // A dimension of zero makes the array empty, whatever the others are.
    if (std::find(header_.shape.begin(), header_.shape.end(), 0u) != header_.shape.end()) return 0;
    // No file is larger than 2^63 - 1 bytes.
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
  bool seen_descr_ = false, seen_order_ = false, seen_shape_ = false;
};

std::string descr(Type type) {
  if (type == Type::bf16)
    throw Error(Code::unsupported, ".npy files have no bf16", "write raw numbers: --out-format raw");
  return std::string(size_of(type) == 1 ? "|" : "<") + to_string(type)[0] + std::to_string(size_of(type));
}

Error cut_short(const std::string& name, const std::string& what) {
  return Error(Code::bad_file, name + " is cut short: " + what, "copy or write it again");
}

NpyHeader read_header(Source& source, std::uint64_t& header_bytes) {
  // Magic number, version, and the length of the header: 2 bytes in format 1.0, 4 bytes in 2.0 and 3.0.
  std::array<unsigned char, 12> start{};
  const auto get = [&](std::span<unsigned char> to) { return source.read(std::as_writable_bytes(to)) == to.size(); };
  if (!get(std::span(start).first(8)) || std::memcmp(start.data(), magic.data(), magic.size()) != 0)
    throw Error(Code::bad_file, source.name() + " is not a .npy file",
                "if it holds raw numbers, say so: --format raw --type f32; if not, write it with numpy.save");
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
  // The longest 1-d dictionary has 78 bytes, so a 1-d header takes 128 bytes for any count.
  const std::size_t total = std::max((before + text.size() + 1 + alignment - 1) / alignment * alignment, 2 * alignment);
  text.append(total - before - text.size() - 1, ' ').push_back('\n');
  std::string header(magic);
  header += {'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
  return header + text;
}

namespace {

template <std::size_t size>
void swap_bytes(std::span<std::byte> elements) {
  for (std::size_t at = 0; at < elements.size(); at += size)
    std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(at),
                 elements.begin() + static_cast<std::ptrdiff_t>(at + size));
}

void swap_bytes(std::span<std::byte> elements, std::size_t size) {
  if (size == 2) swap_bytes<2>(elements);
  if (size == 4) swap_bytes<4>(elements);
  if (size == 8) swap_bytes<8>(elements);
}

// Converts the halves in the second half of `to` to floats that fill `to`, in place: reads stay ahead of writes.
void widen_halves(std::span<std::byte> to) {
  const std::byte* const halves = to.data() + to.size() / 2;
  for (std::size_t k = 0; k < to.size() / sizeof(float); ++k) {
    std::uint16_t half;
    std::memcpy(&half, halves + k * sizeof half, sizeof half);
    const float value = f16::of_bits(half);
    std::memcpy(to.data() + k * sizeof value, &value, sizeof value);
  }
}

}  // namespace

NpyReader::NpyReader(std::unique_ptr<Source> source) : source_(std::move(source)) {
  std::uint64_t header_bytes = 0;
  header_ = read_header(*source_, header_bytes);
  left_ = header_.count;
  const std::uint64_t bytes = header_.count * header_.stored_bytes();
  if (const auto size = source_->size()) {
    const std::uint64_t there = *size - header_bytes;
    if (there < bytes)
      throw cut_short(source_->name(), "its header announces " + elements(header_.count, header_.type) + ", " +
                                           std::to_string(bytes) + " bytes, but only " + std::to_string(there) +
                                           " bytes follow");
    if (there > bytes)
      throw Error(Code::bad_file,
                  source_->name() + " has " + std::to_string(there - bytes) + " bytes after its " +
                      elements(header_.count, header_.type),
                  "save one array a file");
  }
  if (header_.fortran_order) transposed_.emplace(*source_, header_bytes, header_.shape, header_.stored_bytes());
}

std::size_t NpyReader::read(std::span<std::byte> to) {
  const std::uint64_t asked = to.size() / size_of(header_.type), wanted = std::min(asked, left_);
  to = to.first(wanted * size_of(header_.type));
  // Narrower stored elements are read into the end of the buffer, then widened in place from the front.
  const std::span<std::byte> stored = to.last(wanted * header_.stored_bytes());
  read_stored(stored);
  if (header_.big_endian) swap_bytes(stored, header_.stored_bytes());
  if (header_.stored == Stored::half) widen_halves(to);
  if (header_.stored == Stored::boolean)
    for (std::byte& value : to) value = std::byte{value != std::byte{0}};
  left_ -= wanted;
  if (wanted < asked && !source_->size()) {
    std::byte beyond;
    if (source_->read({&beyond, 1}) != 0)
      throw Error(Code::bad_file, source_->name() + " goes on after its " + elements(header_.count, header_.type),
                  "save one array a file");
  }
  return wanted;
}

void NpyReader::read_stored(std::span<std::byte> to) {
  if (transposed_ && !source_->can_read_at())
    throw Error(Code::unsupported,
                source_->name() + " is in Fortran order, and a pipe: its elements cannot be read in another order",
                "read it from a file, or save it in C order: numpy.save(file, numpy.ascontiguousarray(a))");
  const std::size_t got = transposed_ ? transposed_->read(to) : source_->read(to);
  if (got == to.size()) return;
  const std::uint64_t missing = left_ * header_.stored_bytes() - got;
  throw cut_short(source_->name(),
                  std::to_string(missing) + " bytes of its " + elements(header_.count, header_.type) + " are missing");
}

NpyWriter::NpyWriter(const std::string& path, Type type, std::optional<std::uint64_t> count,
                     const std::optional<Shape>& shape)
    : file_(path), type_(type), count_(count) {
  if (!count && !file_.can_rewrite())
    throw Error(Code::unsupported, file_.name() + ": a .npy header begins with the count, which is not known yet",
                "write to a file, or write raw binary");
  header_ = npy_header(type, shape && count ? *shape : Shape{count.value_or(0)});
}

void NpyWriter::write(std::span<const std::byte> elements) {
  write_header();
  file_.write(elements);
  written_ += elements.size();
}

void NpyWriter::write_header() { file_.write(bytes_of(std::exchange(header_, {}))); }

void NpyWriter::finish() {
  if (file_.finished()) return;
  require_all_written(file_.name(), type_, count_, written_);
  write_header();
  if (!count_) {
    const std::array shape{written_ / size_of(type_)};
    file_.rewrite(0, bytes_of(npy_header(type_, shape)));
  }
  file_.finish();
}

}  // namespace upsweep
