#include "files/jpeg.h"

// Each header needs the one before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <exception>
#include <vector>

#include "upsweep/error.h"

namespace upsweep {

// libjpeg reports errors by longjmp to its caller, over frames without destructors. guarded() is that caller, and the
// steps passed to it call only libjpeg.
struct JpegReader::Decoder {
  explicit Decoder(std::unique_ptr<Source> from) : source(std::move(from)) {
    jpeg.err = jpeg_std_error(&errors);
    errors.error_exit = &on_error;
    errors.emit_message = &on_message;
    jpeg.client_data = this;
    guarded([](Decoder& d) { jpeg_create_decompress(&d.jpeg); });
    input.init_source = &do_nothing;
    input.fill_input_buffer = &on_fill;
    input.skip_input_data = &on_skip;
    input.resync_to_restart = &jpeg_resync_to_restart;
    input.term_source = &do_nothing;
    jpeg.src = &input;
  }
  ~Decoder() { jpeg_destroy_decompress(&jpeg); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Runs step(*this). Throws the source's exception, or Error(bad_file) with libjpeg's message.
  void guarded(void (*step)(Decoder&)) {
    if (setjmp(back)) {
      if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
      throw Error(Code::bad_file, source->name() + " is not a JPEG that can be read: " + message,
                  "convert it: magick in.jpg out.png");
    }
    step(*this);
  }
  [[noreturn]] void fail(const char* text) {
    std::strncpy(message, text, sizeof message - 1);
    std::longjmp(back, 1);
  }

  static Decoder& of(j_common_ptr jpeg) { return *static_cast<Decoder*>(jpeg->client_data); }
  [[noreturn]] static void on_error(j_common_ptr jpeg) {
    Decoder& self = of(jpeg);
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    self.fail(text);
  }
  // Negative levels are warnings. Most do not affect the pixels; these mean that libjpeg invented pixels.
  static void on_message(j_common_ptr jpeg, int level) {
    constexpr int made_up[] = {JWRN_HIT_MARKER,        JWRN_HUFF_BAD_CODE,  JWRN_MUST_RESYNC,   JWRN_JPEG_EOF,
                               JWRN_BOGUS_PROGRESSION, JWRN_ARITH_BAD_CODE, JWRN_NOT_SEQUENTIAL};
    if (level < 0 && std::ranges::find(made_up, jpeg->err->msg_code) != std::end(made_up)) on_error(jpeg);
  }
  static void do_nothing(j_decompress_ptr) {}
  static boolean on_fill(j_decompress_ptr jpeg) {
    Decoder& self = of(reinterpret_cast<j_common_ptr>(jpeg));
    self.input.bytes_in_buffer = self.fill();
    if (self.input.bytes_in_buffer == 0) self.fail("it ends early");
    self.input.next_input_byte = self.buffer.data();
    return TRUE;
  }
  static void on_skip(j_decompress_ptr jpeg, long bytes) {
    auto& input = *jpeg->src;
    while (bytes > static_cast<long>(input.bytes_in_buffer)) {
      bytes -= static_cast<long>(input.bytes_in_buffer);
      on_fill(jpeg);
    }
    if (bytes <= 0) return;
    input.next_input_byte += bytes;
    input.bytes_in_buffer -= static_cast<std::size_t>(bytes);
  }
  // Limits the number of scans: a file of a few bytes can request thousands of passes over a huge image.
  static void on_progress(j_common_ptr jpeg) {
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > 500) of(jpeg).fail("it has more than 500 scans");
  }
  // Returns 0 at end of file, or if the source threw.
  std::size_t fill() noexcept {
    try {
      return source->read(std::as_writable_bytes(std::span(buffer)));
    } catch (...) {
      thrown = std::current_exception();
      return 0;
    }
  }

  void read_header() {
    guarded([](Decoder& d) { jpeg_read_header(&d.jpeg, TRUE); });
    // libjpeg keeps all coefficients of a progressive image in memory until its last scan.
    const std::uint64_t coefficients =
        std::uint64_t{jpeg.image_width} * jpeg.image_height * static_cast<unsigned>(jpeg.num_components);
    if (jpeg_has_multiple_scans(&jpeg) && coefficients > largest_progressive)
      throw Error(Code::unsupported, source->name() + " is progressive, and too large to be held in memory",
                  "convert it: magick in.jpg -interlace none out.jpg");
    guarded([](Decoder& d) {
      d.progress.progress_monitor = &on_progress;
      d.jpeg.progress = &d.progress;
      jpeg_start_decompress(&d.jpeg);
    });
    row.resize(std::size_t{jpeg.output_width} * static_cast<unsigned>(jpeg.output_components));
    at = row.size();
  }

  // Decodes the next row; returns false after the last row.
  bool next_row() {
    if (jpeg.output_scanline == jpeg.output_height) {
      if (!std::exchange(ended, true)) guarded([](Decoder& d) { jpeg_finish_decompress(&d.jpeg); });
      return false;
    }
    guarded([](Decoder& d) {
      JSAMPROW rows[] = {d.row.data()};
      jpeg_read_scanlines(&d.jpeg, rows, 1);
    });
    at = 0;
    return true;
  }

  static constexpr std::uint64_t largest_progressive = std::uint64_t{1} << 30;  // coefficients of 16 bits
  std::unique_ptr<Source> source;
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr input{};
  jpeg_progress_mgr progress{};
  std::jmp_buf back{};
  std::exception_ptr thrown;
  char message[JMSG_LENGTH_MAX] = {};
  std::array<JOCTET, 65536> buffer{};
  std::vector<JSAMPLE> row;
  std::size_t at = 0;  // samples of the row already returned
  bool ended = false;
};

JpegReader::JpegReader(std::unique_ptr<Source> source) : decoder_(std::make_unique<Decoder>(std::move(source))) {
  decoder_->read_header();
}
JpegReader::~JpegReader() = default;

unsigned JpegReader::channels() const { return static_cast<unsigned>(decoder_->jpeg.output_components); }
std::optional<std::uint64_t> JpegReader::count() const {
  return std::uint64_t{decoder_->jpeg.output_height} * decoder_->row.size();
}

std::size_t JpegReader::read(std::span<std::byte> to) {
  Decoder& d = *decoder_;
  std::size_t done = 0;
  while (done < to.size()) {
    if (d.at == d.row.size() && !d.next_row()) break;
    const std::size_t part = std::min(to.size() - done, d.row.size() - d.at);
    std::memcpy(to.data() + done, d.row.data() + d.at, part);
    d.at += part;
    done += part;
  }
  return done;
}

}  // namespace upsweep
