#include "files/png.h"

#include <png.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <vector>

#include "upsweep/error.h"

namespace upsweep {

// libpng reports errors by longjmp to its caller, over frames without destructors. guarded() is that caller, and the
// steps passed to it call only libpng.
struct PngReader::Decoder {
  explicit Decoder(std::unique_ptr<Source> from) : source(std::move(from)) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, &on_error, &on_warning);
    info = png ? png_create_info_struct(png) : nullptr;
    if (!info) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      throw Error(Code::out_of_memory, "no memory to read " + source->name());
    }
  }
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Runs step(*this). Throws the source's exception, or Error(bad_file) with libpng's message.
  void guarded(void (*step)(Decoder&)) {
    if (setjmp(png_jmpbuf(png))) {
      if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
      throw Error(Code::bad_file, source->name() + " is not a PNG that can be read: " + message,
                  "convert it: magick in.png out.png");
    }
    step(*this);
  }

  [[noreturn]] static void on_error(png_structp png, png_const_charp text) {
    auto& self = *static_cast<Decoder*>(png_get_error_ptr(png));
    std::strncpy(self.message, text, sizeof self.message - 1);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}  // warnings do not affect the pixels
  static void on_read(png_structp png, png_bytep to, std::size_t bytes) {
    auto& self = *static_cast<Decoder*>(png_get_io_ptr(png));
    if (!self.fill(to, bytes)) png_error(png, "it ends early");
  }
  // Returns false at end of file, or if the source threw.
  bool fill(png_bytep to, std::size_t bytes) noexcept {
    try {
      return source->read({reinterpret_cast<std::byte*>(to), bytes}) == bytes;
    } catch (...) {
      thrown = std::current_exception();
      return false;
    }
  }

  void read_header() {
    png_set_read_fn(png, this, &on_read);
    guarded([](Decoder& d) {
      png_read_info(d.png, d.info);
      png_set_expand(d.png);  // palettes, 1 to 4 bits, transparent colours
      if (std::endian::native == std::endian::little) png_set_swap(d.png);
      d.passes = png_set_interlace_handling(d.png);
      png_read_update_info(d.png, d.info);
    });
    rows = png_get_image_height(png, info);
    row_bytes = png_get_rowbytes(png, info);
    if (passes > 1 && row_bytes > largest_interlaced / rows)
      throw Error(Code::unsupported, source->name() + " is interlaced, and too large to be held in memory",
                  "save it without interlacing");
    // Holds all rows of an interlaced image, which is complete only after its last pass.
    const std::size_t held = passes > 1 ? rows : 1;
    // Uninitialised, so that untouched pages take no memory: a file of a few bytes may announce gigabytes and then end.
    pixel_bytes = held * row_bytes;
    pixels = std::make_unique_for_overwrite<png_byte[]>(pixel_bytes);
    at = pixel_bytes;
    if (passes == 1) return;
    for (std::size_t k = 0; k < rows; ++k) row_pointers.push_back(pixels.get() + k * row_bytes);
    guarded([](Decoder& d) { png_read_image(d.png, d.row_pointers.data()); });
    rows_read = rows;
    at = 0;
  }

  // Decodes the next row; returns false after the last row.
  bool next_row() {
    if (rows_read == rows) {
      if (!std::exchange(ended, true)) guarded([](Decoder& d) { png_read_end(d.png, nullptr); });
      return false;
    }
    guarded([](Decoder& d) { png_read_row(d.png, d.pixels.get(), nullptr); });
    ++rows_read;
    at = 0;
    return true;
  }

  static constexpr std::size_t largest_interlaced = std::size_t{1} << 31;  // bytes
  std::unique_ptr<Source> source;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::exception_ptr thrown;
  char message[128] = {};
  int passes = 1;
  std::size_t rows = 0, row_bytes = 0, rows_read = 0;
  std::unique_ptr<png_byte[]> pixels;  // one row, or all of an interlaced image
  std::size_t pixel_bytes = 0;
  std::vector<png_bytep> row_pointers;
  std::size_t at = 0;  // bytes of `pixels` already returned
  bool ended = false;
};

PngReader::PngReader(std::unique_ptr<Source> source) : decoder_(std::make_unique<Decoder>(std::move(source))) {
  decoder_->read_header();
}
PngReader::~PngReader() = default;

Type PngReader::type() const { return png_get_bit_depth(decoder_->png, decoder_->info) == 16 ? Type::u16 : Type::u8; }
unsigned PngReader::channels() const { return png_get_channels(decoder_->png, decoder_->info); }
std::optional<std::uint64_t> PngReader::count() const {
  return std::uint64_t{decoder_->rows} * decoder_->row_bytes / size_of(type());
}

std::size_t PngReader::read(std::span<std::byte> to) {
  Decoder& d = *decoder_;
  std::size_t done = 0;
  while (done < to.size()) {
    if (d.at == d.pixel_bytes && !d.next_row()) break;
    const std::size_t bytes = std::min(to.size() - done, d.pixel_bytes - d.at);
    std::memcpy(to.data() + done, d.pixels.get() + d.at, bytes);
    d.at += bytes;
    done += bytes;
  }
  return done / size_of(type());
}

}  // namespace upsweep
