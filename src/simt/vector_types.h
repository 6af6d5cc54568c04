// CUDA's built-in vector types. A copy of one is a single access of its whole size, as on the device: otherwise the
// compiler would split it into members, and the emulator would count several accesses where the hardware makes one.
#pragma once
#include <cstring>

namespace upsweep::simt {

// An 8- or 16-byte vector register that may alias anything.
template <unsigned bytes>
struct VectorRegister;
template <>
struct VectorRegister<8> {
  using type = unsigned long long __attribute__((may_alias));
};
template <>
struct VectorRegister<16> {
  using type = float __attribute__((vector_size(16), may_alias));
};

template <unsigned bytes>
__attribute__((always_inline)) inline void copy_whole(void* to, const void* from) {
  using Register = typename VectorRegister<bytes>::type;
  Register value = *static_cast<const Register*>(from);
#if defined(__x86_64__)
  // Keeps the value in one register: without this, GCC and Clang split the copy into the members that are used later.
  if constexpr (bytes == 16)
    __asm__("" : "+x"(value));
  else
    __asm__("" : "+r"(value));
#endif
  *static_cast<Register*>(to) = value;
}

}  // namespace upsweep::simt

// Member names and constructors differ by arity only; a macro keeps the types in step.
#define UPSWEEP_SIMT_VECTOR(name, type, bytes, parameters, initialisers, ...)                            \
  struct alignas(bytes) name {                                                                           \
    type __VA_ARGS__;                                                                                    \
    name() = default;                                                                                    \
    constexpr explicit name parameters : initialisers {}                                                 \
    __attribute__((always_inline)) name(const name& o) { ::upsweep::simt::copy_whole<bytes>(this, &o); } \
    __attribute__((always_inline)) name& operator=(const name& o) {                                      \
      ::upsweep::simt::copy_whole<bytes>(this, &o);                                                      \
      return *this;                                                                                      \
    }                                                                                                    \
  };                                                                                                     \
  inline name make_##name parameters

#define UPSWEEP_SIMT_COMMA ,
#define UPSWEEP_SIMT_VECTOR2(name, type, bytes) \
  UPSWEEP_SIMT_VECTOR(name, type, bytes, (type a, type b), x(a) UPSWEEP_SIMT_COMMA y(b), x, y) { return name(a, b); }
#define UPSWEEP_SIMT_VECTOR4(name, type, bytes)                                                                   \
  UPSWEEP_SIMT_VECTOR(name, type, bytes, (type a, type b, type c, type d),                                        \
                      x(a) UPSWEEP_SIMT_COMMA y(b) UPSWEEP_SIMT_COMMA z(c) UPSWEEP_SIMT_COMMA w(d), x, y, z, w) { \
    return name(a, b, c, d);                                                                                      \
  }

UPSWEEP_SIMT_VECTOR2(int2, int, 8)
UPSWEEP_SIMT_VECTOR2(uint2, unsigned, 8)
UPSWEEP_SIMT_VECTOR2(float2, float, 8)
UPSWEEP_SIMT_VECTOR2(double2, double, 16)
UPSWEEP_SIMT_VECTOR2(longlong2, long long, 16)
UPSWEEP_SIMT_VECTOR2(ulonglong2, unsigned long long, 16)
UPSWEEP_SIMT_VECTOR4(int4, int, 16)
UPSWEEP_SIMT_VECTOR4(uint4, unsigned, 16)
UPSWEEP_SIMT_VECTOR4(float4, float, 16)
UPSWEEP_SIMT_VECTOR4(ushort4, unsigned short, 8)
UPSWEEP_SIMT_VECTOR4(short4, short, 8)

#undef UPSWEEP_SIMT_VECTOR4
#undef UPSWEEP_SIMT_VECTOR2
#undef UPSWEEP_SIMT_COMMA
#undef UPSWEEP_SIMT_VECTOR

// Four bytes: an int-sized copy, which no compiler splits.
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};
struct alignas(4) char4 {
  signed char x, y, z, w;
};
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return {x, y, z, w}; }
inline char4 make_char4(signed char x, signed char y, signed char z, signed char w) { return {x, y, z, w}; }

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
