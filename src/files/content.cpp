#include "files/content.h"

#include <algorithm>
#include <cstring>

#include "upsweep/error.h"

namespace upsweep {
namespace {

using namespace std::string_view_literals;

struct Other {
  std::string_view magic;
  std::size_t at;           // offset of `second`
  std::string_view second;  // empty if `magic` suffices
  std::string_view what, hint;
};
constexpr std::string_view as_png = "convert it: magick FILE out.png";
constexpr Other others[] = {
    {"PK\3\4"sv, 0, "", "a zip archive, as .npz files are",
     "take one array out: unzip -p a.npz NAME.npy | upsweep run ... -"},
    {"PK\5\6"sv, 0, "", "an empty zip archive", "save an array with numpy.save"},
    {"\x1f\x8b\x08"sv, 0, "", "compressed with gzip", "unpack it: gunzip -c FILE | upsweep run ... -"},
    {"BZh"sv, 4, "1AY&SY"sv, "compressed with bzip2", "unpack it: bunzip2 -c FILE | upsweep run ... -"},
    {"\xfd\x37zXZ\0"sv, 0, "", "compressed with xz", "unpack it: xz -dc FILE | upsweep run ... -"},
    {"\x28\xb5\x2f\xfd"sv, 0, "", "compressed with zstd", "unpack it: zstd -dc FILE | upsweep run ... -"},
    {"\x89HDF\r\n\x1a\n"sv, 0, "", "an HDF5 file", "take one array out: numpy.save(file, h5py.File(name)['dataset'])"},
    {"MATLAB 5.0 MAT-file"sv, 0, "", "a MATLAB file",
     "take one array out: numpy.save(file, scipy.io.loadmat(name)['array'])"},
    {"SIMPLE  ="sv, 0, "", "a FITS file", "take one array out: numpy.save(file, astropy.io.fits.getdata(name))"},
    {"PAR1"sv, 0, "", "a Parquet file", "take one column out: numpy.save(file, pandas.read_parquet(name)['column'])"},
    {"RIFF"sv, 8, "WAVE"sv, "a WAV file", "take its samples out: numpy.save(file, scipy.io.wavfile.read(name)[1])"},
    {"RIFF"sv, 8, "WEBP"sv, "a WebP image", as_png},
    {"\0\0\0"sv, 4, "ftyp"sv, "an AVIF or HEIC image, or a film", as_png},
    {"II*\0"sv, 0, "", "a TIFF image", as_png},
    {"MM\0*"sv, 0, "", "a TIFF image", as_png},
    {"GIF8"sv, 0, "", "a GIF image", as_png},
    {"BM"sv, 6, "\0\0\0\0"sv, "a BMP image", as_png},
    {"v/1\1"sv, 0, "", "an OpenEXR image", "save its channels as .npy"},
};

bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool matches(const Other& other, std::string_view beginning) {
  return beginning.starts_with(other.magic) &&
         (other.second.empty() ||
          (beginning.size() >= other.at && beginning.substr(other.at).starts_with(other.second)));
}

}  // namespace

PeekedSource::PeekedSource(std::unique_ptr<Source> source) : source_(std::move(source)), beginning_(32, '\0') {
  beginning_.resize(source_->read(std::as_writable_bytes(std::span(beginning_))));
}

std::size_t PeekedSource::read(std::span<std::byte> to) {
  const std::size_t peeked = std::min(to.size(), beginning_.size() - passed_);
  if (peeked) std::memcpy(to.data(), beginning_.data() + passed_, peeked);
  passed_ += peeked;
  return peeked < to.size() ? peeked + source_->read(to.subspan(peeked)) : peeked;
}

Content content_of(std::string_view beginning) {
  if (beginning.starts_with("\x93NUMPY")) return Content::npy;
  if (beginning.starts_with("\x89PNG\r\n\x1a\n")) return Content::png;
  if (beginning.starts_with("\xff\xd8\xff") && beginning.size() > 3 && static_cast<unsigned char>(beginning[3]) >= 0xc0)
    return Content::jpeg;
  if (beginning.size() > 3 && beginning[0] == 'P' && beginning[1] >= '1' && beginning[1] <= '6' &&
      is_white_space(beginning[2]) && (is_digit(beginning[3]) || is_white_space(beginning[3]) || beginning[3] == '#'))
    return Content::pnm;
  return Content::unknown;
}

void refuse_other_formats(const PeekedSource& source) {
  for (const Other& other : others)
    if (matches(other, source.beginning()))
      throw Error(Code::bad_file, source.name() + " is " + std::string(other.what), std::string(other.hint));
}

}  // namespace upsweep
