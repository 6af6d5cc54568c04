// The C structures of DLPack 1.3 for the exchange of arrays: https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once
#include <cstdint>

namespace upsweep::dlpack {

enum : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
enum : std::uint8_t { integer = 0, unsigned_integer = 1, real = 2, bfloat = 4, complex = 5, boolean = 6 };

struct Device {
  std::int32_t type, id;
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; before version 1.2, null if contiguous
  std::uint64_t byte_offset;
};
struct Version {
  std::uint32_t major, minor;
};
struct ManagedTensor {
  Version version;
  void* context;
  void (*deleter)(ManagedTensor*);
  std::uint64_t flags;  // bit 0: read-only
  Tensor tensor;
};

// An array library's functions. The library's array type has them as the attribute __dlpack_c_exchange_api__, a capsule
// named "dlpack_exchange_api". They return 0, or set a Python exception and return another value.
struct ExchangeApi {
  Version version;
  ExchangeApi* previous;
  int (*allocate)(Tensor* prototype, ManagedTensor** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*export_owned)(void* array, ManagedTensor** out);
  int (*import_owned)(ManagedTensor* tensor, void** array);
  int (*look)(void* array, Tensor* out);  // shape and strides are valid until the array changes
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** stream);
};

}  // namespace upsweep::dlpack
