#include "files/content.h"

#include <algorithm>
#include <cstring>

#include "upsweep/error.h"

namespace upsweep {
namespace {

using namespace std::string_view_literals;

struct Other {
  std::string_view magic, what, hint;
};
constexpr Other others[] = {
    {"PK\3\4"sv, "a zip archive, as .npz files are", "take one array out: unzip -p a.npz NAME.npy | upsweep run ... -"},
    {"PK\5\6"sv, "an empty zip archive", "save an array with numpy.save"},
    {"\x1f\x8b\x08"sv, "compressed with gzip", "gunzip -c FILE | upsweep run ... -"},
    {"BZh"sv, "compressed with bzip2", "bunzip2 -c FILE | upsweep run ... -"},
    {"\xfd"
     "7zXZ\0"sv,
     "compressed with xz", "xz -dc FILE | upsweep run ... -"},
    {"\x28\xb5\x2f\xfd"sv, "compressed with zstd", "zstd -dc FILE | upsweep run ... -"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file", "take one array out: numpy.save(file, h5py.File(name)['dataset'])"},
    {"MATLAB 5.0 MAT-file"sv, "a MATLAB file", "take one array out: numpy.save(file, scipy.io.loadmat(name)['array'])"},
    {"II*\0"sv, "a TIFF image", "convert it: magick in.tif out.png"},
    {"MM\0*"sv, "a TIFF image", "convert it: magick in.tif out.png"},
    {"GIF8"sv, "a GIF image", "convert it: magick in.gif out.png"},
};

bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// bzip2 has three letters and a digit, then the first block's magic: letters alone may be numbers.
bool matches(const Other& other, std::string_view beginning) {
  return beginning.starts_with(other.magic) && (other.magic != "BZh" || beginning.find("1AY&SY") == 4);
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
