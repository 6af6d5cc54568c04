#include "files/pnm.h"

#include <algorithm>
#include <bit>
#include <string>

#include "upsweep/error.h"

namespace upsweep {
namespace {

// Reads the header byte by byte, up to the one white-space character that ends it.
class Header {
 public:
  explicit Header(Source& source) : source_(source) {}
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Code::bad_file, source_.name() + " is not a binary PGM or PPM: " + why,
                "convert it: magick in.ppm -depth 8 out.ppm");
  }
  char next() {
    std::byte byte;
    if (source_.read({&byte, 1}) != 1) fail("its header ends early");
    ++bytes_;
    return static_cast<char>(byte);
  }
  // Parses a number from 1 to `most`, after white space and comments.
  std::uint64_t number(const char* name, std::uint64_t most) {
    char c = next();
    for (; c == '#' || is_space(c); c = next())
      if (c == '#')
        while (c != '\n') c = next();
    std::uint64_t value = 0;
    for (; c >= '0' && c <= '9' && value <= most; c = next()) value = 10 * value + static_cast<std::uint64_t>(c - '0');
    if (!is_space(c) || value == 0 || value > most)
      fail("its " + std::string(name) + " is not a number from 1 to " + std::to_string(most));
    return value;
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  Source& source_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

PnmReader::PnmReader(std::unique_ptr<Source> source) : source_(std::move(source)) {
  Header header(*source_);
  if (header.next() != 'P') header.fail("it does not begin with P5 or P6");
  switch (header.next()) {
    case '5':
      break;
    case '6':
      channels_ = 3;
      break;
    default:
      header.fail("it does not begin with P5 or P6");
  }
  constexpr std::uint64_t longest_side = 0x7fffffff;  // as in libpng; the product of two sides fits 64 bits
  const std::uint64_t width = header.number("width", longest_side), height = header.number("height", longest_side);
  type_ = header.number("largest value", 65535) < 256 ? Type::u8 : Type::u16;
  left_ = count_ = width * height;
  // The product with channels and sample size may overflow.
  if (count_ > ~std::uint64_t{0} / 6) header.fail("its pixels are more than any file holds");
  left_ = count_ *= channels_;
  if (const auto size = source_->size(); size && *size - header.bytes() < count_ * size_of(type_))
    header.fail("it ends before its last pixel");
}

std::size_t PnmReader::read(std::span<std::byte> to) {
  const std::size_t element = size_of(type_), wanted = std::min<std::uint64_t>(to.size() / element, left_);
  const std::size_t got = source_->read(to.first(wanted * element));
  if (got < wanted * element)
    throw Error(Code::bad_file, source_->name() + " ends before its last pixel", "it was cut short");
  if (type_ == Type::u16 && std::endian::native == std::endian::little)
    for (std::size_t at = 0; at < got; at += 2) std::swap(to[at], to[at + 1]);  // big-endian in the file
  left_ -= wanted;
  return wanted;
}

}  // namespace upsweep
