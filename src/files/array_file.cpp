#include "files/array_file.h"

#include "files/npy.h"
#include "files/png.h"
#include "files/pnm.h"
#include "files/raw.h"
#include "upsweep/error.h"

namespace upsweep {

namespace {

FileFormat format_of(const std::string& path, std::optional<Type> type) {
  if (path.ends_with(".png")) return FileFormat::png;
  for (const char* ending : {".pgm", ".ppm", ".pnm"})
    if (path.ends_with(ending)) return FileFormat::pnm;
  return path.ends_with(".npy") || !type ? FileFormat::npy : FileFormat::raw;
}

std::unique_ptr<ArrayReader> reader_of(FileFormat format, std::unique_ptr<Source> source) {
  if (format == FileFormat::png) return std::make_unique<PngReader>(std::move(source));
  if (format == FileFormat::pnm) return std::make_unique<PnmReader>(std::move(source));
  return std::make_unique<NpyReader>(std::move(source));
}

}  // namespace

std::unique_ptr<ArrayReader> open_array(const std::string& path, std::optional<Type> type, FileFormat format) {
  if (format == FileFormat::automatic) format = format_of(path, type);
  auto source = std::make_unique<InputFile>(path);
  if (format == FileFormat::raw) {
    if (!type)
      throw Error(Code::invalid_argument, source->name() + ": raw binary does not say its type", "give the type");
    return std::make_unique<RawReader>(std::move(source), *type);
  }
  const std::string name = source->name();
  auto reader = reader_of(format, std::move(source));
  if (type && *type != reader->type())
    throw Error(Code::invalid_argument,
                name + " holds " + std::string(to_string(reader->type())) + ", not " + std::string(to_string(*type)),
                "the file says its own type: leave yours out, or convert the file");
  return reader;
}

std::unique_ptr<ArrayWriter> create_array(const std::string& path, Type type, std::optional<std::uint64_t> count,
                                          FileFormat format) {
  if (format == FileFormat::automatic)
    format = path.ends_with(".npy") || path == "-" ? FileFormat::npy : FileFormat::raw;
  if (format == FileFormat::png || format == FileFormat::pnm)
    throw Error(Code::unsupported, path + ": images are read, not written", "write a .npy file");
  if (format == FileFormat::raw) return std::make_unique<RawWriter>(path, type, count);
  return std::make_unique<NpyWriter>(path, type, count);
}

}  // namespace upsweep
