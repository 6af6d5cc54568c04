// Recognises a file by its first bytes: its name may say anything, and a pipe has none.
#pragma once
#include <string>
#include <string_view>

#include "files/file.h"

namespace upsweep {

enum class Content : std::uint8_t { unknown, npy, png, pnm, jpeg };

// A source whose first bytes have been looked at; reading begins with them all the same.
class PeekedSource final : public Source {
 public:
  explicit PeekedSource(std::unique_ptr<Source> source);
  // At most 32 bytes: fewer of a shorter file.
  std::string_view beginning() const { return beginning_; }
  std::size_t read(std::span<std::byte> to) override;
  // Known for an empty source too, whatever it is: a pipe, or a file whose size of 0 might be that of one in /proc.
  std::optional<std::uint64_t> size() const override { return beginning_.empty() ? 0 : source_->size(); }
  const std::string& name() const override { return source_->name(); }
  bool can_read_at() const override { return source_->can_read_at(); }
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> to) override { return source_->read_at(offset, to); }

 private:
  std::unique_ptr<Source> source_;
  std::string beginning_;
  std::size_t passed_ = 0;  // bytes of the beginning that read() has returned
};

// By the bytes that every such file begins with. Four bytes at least, except for PNM: "P5", white space, a digit.
Content content_of(std::string_view beginning);

// Throws Error(bad_file) for files that hold arrays in a form that is not read, .npz or gzip: the message says which,
// the hint how to take an array out.
void refuse_other_formats(const PeekedSource& source);

}  // namespace upsweep
