// 16-bit floats as element types: f16 (IEEE 754 binary16: 11 significant bits, up to 65504) and bf16 (bfloat16: 8
// significant bits, the range of float). They convert to float exactly and are compared and added as float.
//
//   std::vector<upsweep::bf16> x{1.5f, 2.0f};
//   upsweep::sort(device, x, x);
//   const float total = upsweep::reduce(device, x, 0.0f);
//
// Their bits are those of CUDA's __half and __nv_bfloat16 and of C++23's std::float16_t and std::bfloat16_t:
//
//   upsweep::device_view(reinterpret_cast<const upsweep::f16*>(halves), n)
#pragma once
#include <cstdint>
#include <limits>

#include "upsweep/operators.h"

namespace upsweep {

// Conversions use __builtin_bit_cast, because nvcc treats std::bit_cast() as a host function unless
// --expt-relaxed-constexpr is given.
template <unsigned mantissa_bits>
struct HalfFloat {
  static constexpr unsigned exponent_bits = 15 - mantissa_bits;
  static constexpr std::uint16_t sign = 0x8000, infinity = 0x7fff >> mantissa_bits << mantissa_bits;
  std::uint16_t bits;

  constexpr HalfFloat() = default;
  // Rounds to nearest, ties to even; values beyond the largest become infinite. Every NaN becomes a quiet one.
  UPSWEEP_HD constexpr HalfFloat(float value) : bits(rounded(__builtin_bit_cast(std::uint32_t, value))) {}  // NOLINT
  UPSWEEP_HD static constexpr HalfFloat of_bits(std::uint16_t bits) {
    HalfFloat half;
    half.bits = bits;
    return half;
  }

  UPSWEEP_HD constexpr operator float() const {  // NOLINT: implicit, because it is exact
    if constexpr (exponent_bits == 8) return __builtin_bit_cast(float, std::uint32_t(bits) << 16);
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) {
      float value;
      asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
      return value;
    }
#endif
    const std::uint32_t magnitude = std::uint32_t(bits & 0x7fff) << shift, minus = std::uint32_t(bits & sign) << 16;
    if ((bits & infinity) == infinity) return __builtin_bit_cast(float, minus | float_infinity | magnitude);
    // Read as a float, the magnitude still has the 16-bit type's exponent bias; the product corrects it. It is exact,
    // even for subnormals.
    const float value = __builtin_bit_cast(float, magnitude) * bias_ratio;
    return __builtin_bit_cast(float, minus | __builtin_bit_cast(std::uint32_t, value));
  }

 private:
  static constexpr unsigned shift = 23 - mantissa_bits;
  static constexpr std::uint32_t float_infinity = 0x7f800000u;
  static constexpr std::uint32_t bias_difference = 128 - (1u << (exponent_bits - 1));
  static constexpr float bias_ratio = __builtin_bit_cast(float, (127 + bias_difference) << 23);

  UPSWEEP_HD static constexpr std::uint16_t rounded(std::uint32_t value) {
#if defined(__CUDA_ARCH__)
    if constexpr (exponent_bits == 5)
      if (!__builtin_is_constant_evaluated()) {
        std::uint16_t half;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(__builtin_bit_cast(float, value)));
        return half;
      }
#endif
    const auto minus = static_cast<std::uint16_t>(value >> 16 & sign);
    std::uint32_t magnitude = value & 0x7fffffffu;
    if (magnitude > float_infinity) return static_cast<std::uint16_t>(minus | infinity | 1u << (mantissa_bits - 1));
    constexpr std::uint32_t least_normal = (1 + bias_difference) << 23;
    if (exponent_bits < 8 && magnitude < least_normal) {
      // Adding the power of two whose last mantissa bit is the smallest subnormal rounds the value to a multiple of
      // that subnormal.
      constexpr std::uint32_t power = (1 + bias_difference + shift) << 23;
      const float sum = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, power);
      return static_cast<std::uint16_t>(minus | (__builtin_bit_cast(std::uint32_t, sum) - power));
    }
    magnitude -= bias_difference << 23;
    magnitude += (1u << (shift - 1)) - 1 + (magnitude >> shift & 1);
    magnitude >>= shift;
    return static_cast<std::uint16_t>(minus | (magnitude < infinity ? magnitude : infinity));
  }
};

using f16 = HalfFloat<10>;
using bf16 = HalfFloat<7>;
static_assert(sizeof(f16) == 2 && sizeof(bf16) == 2);

template <unsigned mantissa_bits>
inline constexpr bool is_floating<HalfFloat<mantissa_bits>> = true;
template <class T>
inline constexpr bool is_half = false;
template <unsigned mantissa_bits>
inline constexpr bool is_half<HalfFloat<mantissa_bits>> = true;
// The type in which values of T are computed and printed.
template <class T>
using Computed = std::conditional_t<is_half<T>, float, T>;

}  // namespace upsweep

template <unsigned mantissa_bits>
class std::numeric_limits<upsweep::HalfFloat<mantissa_bits>> {
  using T = upsweep::HalfFloat<mantissa_bits>;

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true;
  static constexpr int radix = 2, digits = mantissa_bits + 1;
  static constexpr int max_digits10 = 2 + digits * 30103 / 100000;
  static constexpr int max_exponent = 1 << (T::exponent_bits - 1), min_exponent = 3 - max_exponent;
  UPSWEEP_HD static constexpr T min() noexcept { return T::of_bits(1 << mantissa_bits); }
  UPSWEEP_HD static constexpr T max() noexcept { return T::of_bits(T::infinity - 1); }
  UPSWEEP_HD static constexpr T lowest() noexcept { return T::of_bits(T::sign | (T::infinity - 1)); }
  UPSWEEP_HD static constexpr T denorm_min() noexcept { return T::of_bits(1); }
  UPSWEEP_HD static constexpr T infinity() noexcept { return T::of_bits(T::infinity); }
  UPSWEEP_HD static constexpr T quiet_NaN() noexcept { return T::of_bits(T::infinity | 1 << (mantissa_bits - 1)); }
  UPSWEEP_HD static constexpr T epsilon() noexcept { return __builtin_bit_cast(float, (127u - mantissa_bits) << 23); }
};
