#include "xla.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "xla_ffi.h"

namespace upsweep::python {
namespace {

constexpr std::size_t max_arrays = 16, max_scalars = 16;

// The address of arrays without elements, because a null address means that an array is left out.
alignas(8) char no_elements[8];

std::size_t size_of(int type) {
  switch (type) {
    case UPSWEEP_I8:
    case UPSWEEP_U8:
      return 1;
    case UPSWEEP_I16:
    case UPSWEEP_U16:
    case UPSWEEP_F16:
    case UPSWEEP_BF16:
      return 2;
    case UPSWEEP_I32:
    case UPSWEEP_U32:
    case UPSWEEP_F32:
      return 4;
    default:
      return 8;
  }
}

// Returns the bytes per element of an xla::PrimitiveType; 0 for types that no call takes.
std::size_t size_of_primitive(int type) {
  constexpr std::uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 8, 0, 0, 0, 2};  // from invalid to bf16
  return type >= 0 && type < static_cast<int>(sizeof sizes) ? sizes[type] : 0;
}

void append(std::string& text, std::string_view key, std::string_view value) {
  text.append(key).append(" ");
  // A newline ends a line of the text; no valid name contains one.
  for (const char c : value) text.push_back(c == '\n' ? ' ' : c);
  text.push_back('\n');
}

template <class Number>
std::string decimal(Number number) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

// A call, decoded from the text that text_of() returned. Its names point into text_.
struct Decoded {
  upsweep_call call{};
  upsweep_array in[max_arrays], out[max_arrays];
  upsweep_scalar scalars[max_scalars];
  bool borrows_scratch = false;

  // Returns false if text_of() does not return such a text.
  bool decode(std::string_view of) {
    text_.assign(of);
    call.in = in;
    call.out = out;
    call.scalars = scalars;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = text_.find('\n', at);
      if (end == std::string::npos) return false;
      text_[end] = '\0';
      if (!decode_line(text_.data() + at)) return false;
      at = end + 1;
    }
    return call.primitive != nullptr;
  }

 private:
  // Ends the word at `at` and returns the next one.
  static char* next_word(char* at) {
    char* const space = std::strchr(at, ' ');
    if (!space) return at + std::strlen(at);
    *space = '\0';
    return space + 1;
  }
  template <class Number>
  static bool read(const char* word, Number& number) {
    const char* const end = word + std::strlen(word);
    const auto [stop, error] = std::from_chars(word, end, number);
    return error == std::errc() && stop == end;
  }
  static bool decode_array(char* value, upsweep_array* arrays, std::size_t& count) {
    if (count == max_arrays) return false;
    upsweep_array& array = arrays[count++] = {};
    if (!*value) return true;  // left out
    array.data = no_elements;
    char* const n = next_word(value);
    return read(value, array.type) && read(n, array.count) && array.type >= UPSWEEP_I8 && array.type <= UPSWEEP_BF16;
  }
  bool decode_scalar(std::string_view key, char* name) {
    if (call.scalar_count == max_scalars) return false;
    upsweep_scalar& scalar = scalars[call.scalar_count++] = {name, nullptr, UPSWEEP_I64, {}};
    char* const value = next_word(name);
    if (key == "choice") {
      scalar.choice = value;
      return true;
    }
    if (key == "i64") return read(value, scalar.value.i64);
    scalar.type = key == "u64" ? UPSWEEP_U64 : UPSWEEP_F64;
    return key == "u64" ? read(value, scalar.value.u64) : key == "f64" && read(value, scalar.value.f64);
  }
  bool decode_line(char* line) {
    char* const value = next_word(line);
    const std::string_view key = line;
    if (key == "primitive")
      call.primitive = value;
    else if (key == "operation")
      call.operation = value;
    else if (key == "rung")
      call.rung = value;
    else if (key == "in")
      return decode_array(value, in, call.in_count);
    else if (key == "out")
      return decode_array(value, out, call.out_count);
    else if (key == "scratch")
      borrows_scratch = true;
    else
      return decode_scalar(key, value);
    return true;
  }

  std::string text_;
};

// The devices that no call is using now. XLA runs handlers on its own threads, so a device, with its scratch memory,
// belongs to a running call and not to a thread. A device that an earlier call used on the same stream can be reused
// without waiting, because the stream orders the calls.
class Devices {
 public:
  struct Opened {
    int ordinal;  // -1: the CPU
    void* stream;
    upsweep_device* device;
  };

  // Takes a free device of the ordinal and stream in `taken`, or opens one.
  upsweep_code take(Opened& taken) {
    {
      const std::lock_guard lock(mutex_);
      for (Opened& free : free_)
        if (free.ordinal == taken.ordinal && free.stream == taken.stream) {
          taken.device = std::exchange(free, free_.back()).device;
          free_.pop_back();
          return UPSWEEP_OK;
        }
    }
    return taken.ordinal < 0 ? upsweep_open_cpu(&taken.device)
                             : upsweep_open_cuda_on(taken.stream, taken.ordinal, &taken.device);
  }
  void give_back(const Opened& taken) {
    const std::lock_guard lock(mutex_);
    free_.push_back(taken);
  }
  void close() {
    std::vector<Opened> closed;
    {
      const std::lock_guard lock(mutex_);
      closed.swap(free_);
    }
    for (const Opened& each : closed) upsweep_close(each.device);
  }

 private:
  std::mutex mutex_;
  std::vector<Opened> free_;
};

// Never freed, because XLA's threads may still use it while Python finalizes.
Devices& devices() {
  static auto* const kept = new Devices;
  return *kept;
}

template <class Arguments>
Arguments arguments_of(const xla::Frame& frame) {
  Arguments arguments{};
  arguments.size = sizeof arguments;
  arguments.context = frame.context;
  return arguments;
}

xla::Error* error_of(const xla::Frame& frame, int code, const char* message) {
  xla::ErrorArguments arguments{sizeof arguments, nullptr, message, code};
  return frame.api->create_error(&arguments);
}

// Returns the error of this thread's last failed call.
xla::Error* error_of(const xla::Frame& frame, upsweep_code code) {
  switch (code) {
    case UPSWEEP_OK:
      return nullptr;
    case UPSWEEP_INVALID_ARGUMENT:
      return error_of(frame, xla::invalid_argument, upsweep_message());
    case UPSWEEP_UNSUPPORTED:
      return error_of(frame, xla::unsupported, upsweep_message());
    case UPSWEEP_OUT_OF_MEMORY:
      return error_of(frame, xla::resource_exhausted, upsweep_message());
    case UPSWEEP_NO_DEVICE:
      return error_of(frame, xla::failed_precondition, upsweep_message());
    default:
      return error_of(frame, xla::internal, upsweep_message());
  }
}

// Points the arrays at XLA's buffers, except those that are left out. Returns false if the numbers of arrays and
// buffers differ, or if a buffer is too small or has elements of another size.
bool take_buffers(const xla::Buffers& from, upsweep_array* arrays, std::size_t count, bool is_gpu) {
  std::int64_t next = 0;
  for (std::size_t k = 0; k < count; ++k) {
    upsweep_array& array = arrays[k];
    if (!array.data) continue;
    if (next == from.count) return false;
    const xla::Buffer& buffer = *from.buffers[next++];
    std::size_t size = 1;
    for (std::int64_t d = 0; d < buffer.rank; ++d) size *= static_cast<std::size_t>(buffer.dimensions[d]);
    if (size < array.count || size_of_primitive(buffer.type) != size_of(array.type)) return false;
    if (buffer.data) array.data = buffer.data;
    array.on_device = is_gpu;
  }
  return next == from.count;
}

// Runs a call in scratch memory from XLA. It is freed once the call is queued, because XLA's allocator hands it only to
// later work on the stream.
xla::Error* run_in_scratch(const xla::Frame& frame, upsweep_device* device, upsweep_call& call) {
  std::size_t bytes = 0;
  if (const upsweep_code code = upsweep_scratch_bytes(device, &call, &bytes)) return error_of(frame, code);
  if (bytes == 0) return error_of(frame, upsweep_run(device, &call));
  // XLA promises an alignment of no more than 16 bytes.
  constexpr std::size_t promised = 16, needed = 256;
  auto allocated = arguments_of<xla::AllocateArguments>(frame);
  allocated.bytes = bytes + needed - promised;
  allocated.alignment = promised;
  if (xla::Error* const error = frame.api->allocate(&allocated)) return error;
  const std::uintptr_t aligned = (reinterpret_cast<std::uintptr_t>(allocated.data) + needed - 1) / needed * needed;
  const upsweep_array scratch{reinterpret_cast<void*>(aligned), bytes, UPSWEEP_U8, 1};
  call.scratch = &scratch;
  xla::Error* const failed = error_of(frame, upsweep_run(device, &call));
  auto freed = arguments_of<xla::FreeArguments>(frame);
  freed.bytes = allocated.bytes;
  freed.data = allocated.data;
  xla::Error* const not_freed = frame.api->free(&freed);
  if (!failed || !not_freed) return failed ? failed : not_freed;
  xla::ReleaseArguments released{sizeof released, nullptr, not_freed};
  frame.api->release_error(&released);
  return failed;
}

xla::Error* run(const xla::Frame& frame, bool is_gpu) {
  const xla::Attributes& attributes = frame.attributes;
  Decoded decoded;
  if (attributes.count != 1 || attributes.types[0] != xla::string_attribute)
    return error_of(frame, xla::invalid_argument, "a call has other attributes than its text");
  const auto& text = *static_cast<const xla::Span*>(attributes.values[0]);
  if (!decoded.decode({text.data, text.size}))
    return error_of(frame, xla::invalid_argument, "the text of a call is of another version of upsweep");
  upsweep_call& call = decoded.call;
  if (!take_buffers(frame.arguments, decoded.in, call.in_count, is_gpu) ||
      !take_buffers(frame.results, decoded.out, call.out_count, is_gpu))
    return error_of(frame, xla::invalid_argument, "the arrays of a call have other types or sizes than its text");

  Devices::Opened opened{-1, nullptr, nullptr};
  if (is_gpu) {
    auto ordinal = arguments_of<xla::OrdinalArguments>(frame);
    if (xla::Error* const error = frame.api->get_ordinal(&ordinal)) return error;
    auto stream = arguments_of<xla::StreamArguments>(frame);
    if (xla::Error* const error = frame.api->get_stream(&stream)) return error;
    opened.ordinal = ordinal.ordinal;
    opened.stream = stream.stream;
  }
  upsweep_code code = devices().take(opened);
  if (code) return error_of(frame, code);
  code = UPSWEEP_OUT_OF_MEMORY;
  if (!is_gpu || !decoded.borrows_scratch) code = upsweep_run(opened.device, &call);
  // XLA reserves most of a GPU's memory, so it may have some when other allocators have none.
  xla::Error* const error =
      is_gpu && code == UPSWEEP_OUT_OF_MEMORY ? run_in_scratch(frame, opened.device, call) : error_of(frame, code);
  devices().give_back(opened);
  return error;
}

// Tells XLA the version of the structures in xla_ffi.h, or 0.0 if the structures that XLA passes are smaller. XLA
// refuses a handler of version 0.0, or of a version that it does not support.
void describe(const xla::Frame& frame, xla::Metadata& metadata) {
  const bool fits =
      frame.size >= sizeof frame && metadata.size >= offsetof(xla::Metadata, traits) + sizeof metadata.traits;
  metadata.version.major = fits ? xla::major_version : 0;
  metadata.version.minor = fits ? xla::minor_version : 0;
  metadata.traits = 0;  // no command buffers, because each would need its own scratch memory
}

template <bool is_gpu>
xla::Error* handle(xla::Frame* frame) noexcept {
  for (xla::Extension* extension = frame->extensions; extension; extension = extension->next)
    if (extension->type == 1) {
      describe(*frame, *reinterpret_cast<xla::MetadataExtension*>(extension)->metadata);
      return nullptr;
    }
  try {
    if (frame->api->size < sizeof(xla::Api))
      return error_of(*frame, xla::failed_precondition, "this version of JAX has an older interface than 0.3");
    return run(*frame, is_gpu);
  } catch (const std::exception&) {  // from strings and vectors
    return error_of(*frame, xla::resource_exhausted, "no memory");
  }
}

}  // namespace

std::string text_of(const upsweep_call& call, bool borrows_scratch) {
  std::string text;
  append(text, "primitive", call.primitive);
  if (call.operation) append(text, "operation", call.operation);
  if (call.rung) append(text, "rung", call.rung);
  const auto append_arrays = [&](const char* key, const upsweep_array* arrays, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k)
      append(text, key, arrays[k].data ? decimal(arrays[k].type) + ' ' + decimal(arrays[k].count) : std::string());
  };
  append_arrays("in", call.in, call.in_count);
  append_arrays("out", call.out, call.out_count);
  for (std::size_t k = 0; k < call.scalar_count; ++k) {
    const upsweep_scalar& scalar = call.scalars[k];
    const std::string name = std::string(scalar.name) + ' ';
    if (scalar.choice)
      append(text, "choice", name + scalar.choice);
    else if (scalar.type == UPSWEEP_I64)
      append(text, "i64", name + decimal(scalar.value.i64));
    else if (scalar.type == UPSWEEP_U64)
      append(text, "u64", name + decimal(scalar.value.u64));
    else
      append(text, "f64", name + decimal(scalar.value.f64));
  }
  if (borrows_scratch) append(text, "scratch", "");
  return text;
}

nb::object xla_handler(const char* platform) {
  xla::Error* (*const handler)(xla::Frame*) = std::string_view(platform) == "CUDA" ? &handle<true> : &handle<false>;
  return nb::steal(PyCapsule_New(reinterpret_cast<void*>(handler), nullptr, nullptr));
}

void close_xla_devices() { devices().close(); }

}  // namespace upsweep::python
