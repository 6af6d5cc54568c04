// The C structures of XLA's foreign function interface, version 0.3, that a handler needs:
// https://github.com/openxla/xla/blob/main/xla/ffi/api/c_api.h
#pragma once
#include <cstddef>
#include <cstdint>

namespace upsweep::xla {

constexpr int major_version = 0, minor_version = 3;

// The absl::StatusCode values that are used here; `unsupported` is UNIMPLEMENTED there.
enum : int { invalid_argument = 3, resource_exhausted = 8, failed_precondition = 9, unsupported = 12, internal = 13 };

// Every structure starts with its size, which grows with later versions.
struct Extension {
  std::size_t size;
  int type;  // 1: a MetadataExtension
  Extension* next;
};
struct Version {
  std::size_t size;
  Extension* extensions;
  int major, minor;
};

struct Error;
struct Context;

struct ErrorArguments {
  std::size_t size;
  Extension* extensions;
  const char* message;
  int code;
};
struct ReleaseArguments {
  std::size_t size;
  Extension* extensions;
  Error* error;
};
struct StreamArguments {
  std::size_t size;
  Extension* extensions;
  Context* context;
  void* stream;  // out: a cudaStream_t
};
struct OrdinalArguments {
  std::size_t size;
  Extension* extensions;
  Context* context;
  std::int32_t ordinal;  // out
};
struct AllocateArguments {
  std::size_t size;
  Extension* extensions;
  Context* context;
  std::size_t bytes, alignment;
  void* data;  // out
};
struct FreeArguments {
  std::size_t size;
  Extension* extensions;
  Context* context;
  std::size_t bytes;
  void* data;
};

struct Api {
  std::size_t size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorArguments*);
  void* get_message;
  void (*release_error)(ReleaseArguments*);
  void* register_handler;
  Error* (*get_stream)(StreamArguments*);
  void *register_type, *get_context, *set_state, *get_state;
  Error* (*allocate)(AllocateArguments*);
  Error* (*free)(FreeArguments*);
  void *schedule, *count_threads, *create_future, *set_available, *set_error, *get_run;
  Error* (*get_ordinal)(OrdinalArguments*);
};

struct Buffer {
  std::size_t size;
  Extension* extensions;
  int type;  // xla::PrimitiveType
  void* data;
  std::int64_t rank;
  std::int64_t* dimensions;
};
struct Span {
  const char* data;
  std::size_t size;
};
// Arguments or results; all are buffers, whose type is 1. Attributes also have names, between types and values.
struct Buffers {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  int* types;
  Buffer** buffers;
};
enum : int { string_attribute = 4 };
struct Attributes {
  std::size_t size;
  Extension* extensions;
  std::int64_t count;
  int* types;
  Span** names;
  void** values;  // for a string attribute, a Span
};
struct Frame {
  std::size_t size;
  Extension* extensions;
  const Api* api;
  Context* context;
  int stage;
  Buffers arguments, results;
  Attributes attributes;
};

// A handler that is called with this extension fills in the metadata.
struct Metadata {
  std::size_t size;
  Version version;
  std::uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

}  // namespace upsweep::xla
