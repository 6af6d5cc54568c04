#include "files/raw.h"

#include <algorithm>

#include "upsweep/error.h"

namespace upsweep {
namespace {

Error ragged(const std::string& name, std::uint64_t bytes, Type type) {
  return Error(Code::bad_file,
               name + " holds " + std::to_string(bytes) + " bytes, which is not a whole number of " +
                   std::string(to_string(type)) + " elements",
               "give the type that was written, or cut the file to a multiple of " + std::to_string(size_of(type)));
}

}  // namespace

RawReader::RawReader(std::unique_ptr<Source> source, Type type) : source_(std::move(source)), type_(type) {
  if (const auto bytes = source_->size()) {
    if (*bytes % size_of(type) != 0) throw ragged(source_->name(), *bytes, type);
    count_ = *bytes / size_of(type);
  }
}

std::size_t RawReader::read(std::span<std::byte> to) {
  if (count_) to = to.first(std::min<std::uint64_t>(to.size(), *count_ * size_of(type_) - read_));
  const std::size_t got = source_->read(to);
  read_ += got;
  if (got % size_of(type_) != 0) throw ragged(source_->name(), read_, type_);
  if (got < to.size() && count_ && read_ < *count_ * size_of(type_))
    throw Error(Code::bad_file, source_->name() + " shrank while it was read");
  return got / size_of(type_);
}

RawWriter::RawWriter(const std::string& path, Type type, std::optional<std::uint64_t> count)
    : file_(path), type_(type), count_(count) {}

void RawWriter::write(std::span<const std::byte> elements) {
  file_.write(elements);
  written_ += elements.size();
}

void RawWriter::finish() {
  if (file_.finished()) return;
  require_all_written(file_.name(), type_, count_, written_);
  file_.finish();
}

void require_all_written(const std::string& name, Type type, std::optional<std::uint64_t> count,
                         std::uint64_t written) {
  if (written % size_of(type) == 0 && (!count || written / size_of(type) == *count)) return;
  throw Error(Code::invalid_argument, name + ": " + std::to_string(written) + " bytes were written, not the " +
                                          (count ? std::to_string(*count) : "whole") + " " +
                                          std::string(to_string(type)) + " elements that were announced");
}

}  // namespace upsweep
