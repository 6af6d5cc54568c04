#include "lab/wrapping.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "lab/parts.h"
#include "lab/sums.h"

namespace upsweep {
namespace {

std::string wrapped(std::string what, Type type) {
  const Type wide = visit(type, []<class T>(TypeTag<T>) { return std::is_signed_v<T> ? Type::i64 : Type::u64; });
  std::string text = std::move(what) + " is beyond " + std::string(to_string(type)) + " and has wrapped";
  if (wide != type) text += " (--out-type " + std::string(to_string(wide)) + " computes in a wider type)";
  return text;
}

// True if a + b overflows T; `sum` is the wrapped sum.
template <class T>
bool overflows(T a, T b, T sum) {
  if constexpr (std::is_unsigned_v<T>)
    return sum < a;
  else
    return ((a ^ sum) & (b ^ sum)) < 0;
}

template <class T>
T wrapping_add(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
}
template <class T>
T wrapping_subtract(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
}

// True if step i wraps: adding in[i] to the running sum, or multiplying the running product by in[i]. out[i] is the
// running value before in[i] in an exclusive scan, and after it in an inclusive one; `left` is the running product
// before in[0].
template <Op op, class From, class T>
bool step_wraps(const From* in, const T* out, std::size_t i, bool inclusive, [[maybe_unused]] T left) {
  const T x = in[i];
  if constexpr (op == Op::product) {
    T product;
    return __builtin_mul_overflow(!inclusive ? out[i] : i > 0 ? out[i - 1] : left, x, &product);
  }
  if (!inclusive) return overflows(out[i], x, wrapping_add(out[i], x));
  return overflows(wrapping_subtract(out[i], x), x, out[i]);
}

// Returns the first i in [begin, end) for which step_wraps() is true and skip(i + 1) is false, or `end`. A block is
// searched only if a vectorised pass finds a step that wraps.
template <Op op, class From, class T>
std::size_t first_step(const From* in, const T* out, std::size_t begin, std::size_t end, bool inclusive, T left,
                       auto&& skip) {
  constexpr std::size_t block = 4096;
  for (; begin < end; begin += std::min(block, end - begin)) {
    const std::size_t until = begin + std::min(block, end - begin);
    bool any = false;
    for (std::size_t i = begin; i < until; ++i) any |= step_wraps<op>(in, out, i, inclusive, left);
    if (!any) continue;
    for (std::size_t i = begin; i < until; ++i)
      if (step_wraps<op>(in, out, i, inclusive, left) && !skip(i + 1)) return i;
  }
  return end;
}

}  // namespace

ScanWatch::ScanWatch(const Case& c, Type out, bool inclusive)
    : type_(c.type),
      out_type_(out),
      op_(c.operation.as<Op>()),
      inclusive_(inclusive),
      watches_(!is_float(c.type) && (op_ == Op::sum || op_ == Op::product)),
      last_(initial_value(c)) {}

void ScanWatch::see(std::span<const std::byte> in_bytes, std::span<const std::byte> out_bytes, const IsHead& is_head) {
  if (!watches_) return;
  const auto see_all = [&]<Op op, class From, class T>(std::integral_constant<Op, op>, TypeTag<From>, TypeTag<T>) {
    if constexpr (std::is_integral_v<T> && (std::is_same_v<From, T> || widens_sums(type_of<From>(), type_of<T>()))) {
      const auto* const in = reinterpret_cast<const From*>(in_bytes.data());
      const auto* const out = reinterpret_cast<const T*>(out_bytes.data());
      const std::size_t n = in_bytes.size() / sizeof(From);
      if (n == 0) return;
      const T left = last_ ? last_.as<T>() : T{1};
      // In an exclusive scan, step i yields out[i + 1], unless element i + 1 begins a segment. In an inclusive scan,
      // the step into a new segment never wraps: step_wraps() computes the sum before it as 0.
      const auto skip = [&](std::size_t i) { return !inclusive_ && is_head && is_head(i); };
      const std::size_t late = inclusive_ ? 0 : 1, steps = n - late;
      std::atomic<std::size_t> first = last_wraps_ && !(is_head && is_head(0)) ? 0 : n;
      if (first == n)
        for_each_part(steps, [&](std::size_t, std::size_t begin, std::size_t end) {
          const std::size_t step = first_step<op>(in, out, begin, end, inclusive_, left, skip);
          if (step == end) return;
          for (std::size_t now = first; step + late < now && !first.compare_exchange_weak(now, step + late);) continue;
        });
      last_wraps_ = !inclusive_ && step_wraps<op>(in, out, n - 1, false, left);
      if (op == Op::product && inclusive_) last_ = out[n - 1];
      if (first < n) first_ = seen_ + first, watches_ = false;
      seen_ += n;
    }
  };
  visit(type_, [&](auto from) {
    visit(out_type_, [&](auto to) {
      if (op_ == Op::product)
        see_all(std::integral_constant<Op, Op::product>{}, from, to);
      else
        see_all(std::integral_constant<Op, Op::sum>{}, from, to);
    });
  });
}

std::string ScanWatch::warning() const {
  if (!first_) return {};
  return wrapped("the " + std::string(to_string(op_)) + " at element " + std::to_string(*first_), out_type_);
}

ReduceWatch::ReduceWatch(const Case& c)
    : type_(c.type), op_(c.operation.as<Op>()), watches_(!is_float(c.type) && (op_ == Op::sum || op_ == Op::product)) {
  const Scalar initial = initial_value(c);
  if (!initial || !watches_) return;
  visit(initial.type(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      sum_ = initial.as<T>();
      product_ = static_cast<double>(initial.as<T>());
      has_zero_ = initial.as<T>() == 0;
    }
  });
}

void ReduceWatch::see(std::span<const std::byte> in) {
  if (!watches_) return;
  visit(type_, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      const auto* const values = reinterpret_cast<const T*>(in.data());
      const std::size_t n = in.size() / sizeof(T);
      if (op_ == Op::sum) {
        // Sums the upper and the lower 32 bits separately, so that neither sum of a chunk exceeds 64 bits.
        std::int64_t upper = 0;
        std::uint64_t lower = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const auto wide = static_cast<std::uint64_t>(values[i]);
          lower += wide & 0xffffffffu;
          upper += std::is_signed_v<T> ? static_cast<std::int64_t>(wide) >> 32 : static_cast<std::int64_t>(wide >> 32);
        }
        __extension__ using Wide = __int128;
        sum_ += static_cast<Wide>(upper) * (Wide{1} << 32) + static_cast<Wide>(lower);
        return;
      }
      std::array<double, 8> products;  // independent, to hide the latency of multiplication
      products.fill(1);
      for (std::size_t i = 0; i < n; ++i) {
        products[i % products.size()] *= static_cast<double>(values[i]);
        has_zero_ |= values[i] == 0;
      }
      for (const double product : products) product_ *= product;
    }
  });
}

std::string ReduceWatch::warning(const Scalar& result) const {
  if (!watches_) return {};
  const bool right = visit(result.type(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      if (op_ == Op::sum) return sum_ >= std::numeric_limits<T>::lowest() && sum_ <= std::numeric_limits<T>::max();
      // A wrapped product differs from the estimate in its leading digits, an exact one only in its last digits. An
      // estimate that has overflowed is above every integer.
      return has_zero_ || (std::isfinite(product_) &&
                           std::abs(product_ - static_cast<double>(result.as<T>())) <= 1e-9 * std::abs(product_));
    }
    return true;
  });
  return right ? std::string() : wrapped("the " + std::string(to_string(op_)), result.type());
}

}  // namespace upsweep
