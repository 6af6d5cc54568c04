#include "files/array_file.h"

#include "files/commit.h"
#include "files/content.h"
#include "files/jpeg.h"
#include "files/npy.h"
#include "files/png.h"
#include "files/pnm.h"
#include "files/raw.h"
#include "upsweep/error.h"

namespace upsweep {

namespace {

FileFormat format_of(Content content) {
  switch (content) {
    case Content::npy:
      return FileFormat::npy;
    case Content::png:
      return FileFormat::png;
    case Content::pnm:
      return FileFormat::pnm;
    case Content::jpeg:
      return FileFormat::jpeg;
    case Content::unknown:
      break;
  }
  return FileFormat::automatic;
}

// Returns the format that a file name's extension implies; automatic if it implies none.
FileFormat format_of(const std::string& name) {
  constexpr std::pair<std::string_view, FileFormat> endings[] = {
      {".npy", FileFormat::npy}, {".png", FileFormat::png},  {".pgm", FileFormat::pnm},  {".ppm", FileFormat::pnm},
      {".pnm", FileFormat::pnm}, {".jpg", FileFormat::jpeg}, {".jpeg", FileFormat::jpeg}};
  for (const auto& [ending, format] : endings)
    if (has_ending(name, ending)) return format;
  return FileFormat::automatic;
}

FileFormat found_format(const PeekedSource& source, std::optional<Type> type) {
  if (const FileFormat said = format_of(content_of(source.beginning())); said != FileFormat::automatic) return said;
  if (const FileFormat promised = format_of(source.name()); promised != FileFormat::automatic) return promised;
  return type ? FileFormat::raw : FileFormat::npy;  // the .npy reader then reports that the file is not .npy
}

std::unique_ptr<ArrayReader> reader_of(FileFormat format, std::unique_ptr<Source> source) {
  if (format == FileFormat::png) return std::make_unique<PngReader>(std::move(source));
  if (format == FileFormat::pnm) return std::make_unique<PnmReader>(std::move(source));
  if (format == FileFormat::jpeg) return std::make_unique<JpegReader>(std::move(source));
  return std::make_unique<NpyReader>(std::move(source));
}

}  // namespace

std::unique_ptr<ArrayReader> open_array(const std::string& path, std::optional<Type> type, FileFormat format,
                                        TypeIsFor files) {
  return open_array(std::make_unique<InputFile>(path), type, format, files);
}

std::unique_ptr<ArrayReader> open_array(std::unique_ptr<Source> from, std::optional<Type> type, FileFormat format,
                                        TypeIsFor files) {
  auto source = std::make_unique<PeekedSource>(std::move(from));
  if (format != FileFormat::raw) refuse_other_formats(*source);
  if (format == FileFormat::automatic) format = found_format(*source, type);
  if (format == FileFormat::raw) {
    if (!type)
      throw Error(Code::invalid_argument, source->name() + ": raw binary does not say its type", "give the type");
    return std::make_unique<RawReader>(std::move(source), *type);
  }
  const std::string name = source->name();
  auto reader = reader_of(format, std::move(source));
  if (type && files == TypeIsFor::every_file && *type != reader->type())
    throw Error(Code::invalid_argument,
                name + " holds " + std::string(to_string(reader->type())) + ", not " + std::string(to_string(*type)),
                "the file says its own type: leave yours out, or convert the file");
  return reader;
}

std::unique_ptr<ArrayWriter> create_array(const std::string& path, Type type, std::optional<std::uint64_t> count,
                                          FileFormat format, const std::optional<Shape>& shape) {
  if (format == FileFormat::automatic)
    format = has_ending(path, ".npy") || path == "-" ? FileFormat::npy : FileFormat::raw;
  if (format == FileFormat::raw) return std::make_unique<RawWriter>(path, type, count);
  if (format != FileFormat::npy)
    throw Error(Code::unsupported, path + ": images are read, not written", "write a .npy file");
  return std::make_unique<NpyWriter>(path, type, count, shape);
}

void ArrayWriter::commit() {
  ArrayWriter* const alone[] = {this};
  commit_together(alone);
}

void commit_together(std::span<ArrayWriter* const> writers) {
  std::vector<OutputFile*> files;
  for (ArrayWriter* const writer : writers) {
    writer->finish();
    files.push_back(&writer->file());
  }
  commit_together(files);
}

}  // namespace upsweep
