// Recognises a file by its first bytes, because its name may be misleading, and a pipe has none.
#pragma once
#include <string>
#include <string_view>

#include "files/file.h"

namespace upsweep {

enum class Content : std::uint8_t { unknown, npy, png, pnm, jpeg };

// A source with look-ahead: its first bytes can be inspected, and reading still begins with them.
class PeekedSource final : public Source {
 public:
  explicit PeekedSource(std::unique_ptr<Source> source);
  // Returns the first 32 bytes, or fewer if the file is shorter.
  std::string_view beginning() const { return beginning_; }
  std::size_t read(std::span<std::byte> to) override;
  // Returns 0 for any source that has turned out to be empty, even a pipe or a file in /proc, whose reported size of 0
  // means unknown.
  std::optional<std::uint64_t> size() const override { return beginning_.empty() ? 0 : source_->size(); }
  const std::string& name() const override { return source_->name(); }
  bool can_read_at() const override { return source_->can_read_at(); }
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> to) override { return source_->read_at(offset, to); }

 private:
  std::unique_ptr<Source> source_;
  std::string beginning_;
  std::size_t passed_ = 0;  // bytes of the beginning already returned by read()
};

// Returns the format whose magic number the first bytes match: at least four bytes, except for PNM, where the start of
// the header is checked too ("P5", white space, a digit).
Content content_of(std::string_view beginning);

// Throws Error(bad_file) for formats that are recognised but not supported, such as .npz or gzip: the message names the
// format, the hint says how to extract or convert the data.
void refuse_other_formats(const PeekedSource& source);

}  // namespace upsweep
