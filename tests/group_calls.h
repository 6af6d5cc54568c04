// Random calls of groups, each compared with the same call of one CPU.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "base/contract.h"
#include "upsweep/group.h"
#include "upsweep/histogram.h"
#include "upsweep/partition.h"
#include "upsweep/reduce.h"
#include "upsweep/scan.h"
#include "upsweep/select.h"
#include "upsweep/sort.h"

namespace upsweep::testing {

// An array in host memory.
struct HostArray {
  Type type = Type::u8;
  std::vector<std::byte> bytes{};

  std::size_t count() const { return bytes.size() / size_of(type); }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), count()};
  }
  AnyView view(std::size_t first, std::size_t elements) {
    AnyView v;
    v.type = type, v.count = elements, v.data = bytes.data() + first * size_of(type);
    return v;
  }
  AnyView view() { return view(0, count()); }
};

// The division of an array among the members.
enum class Share : std::uint8_t { none, parts, copies };

struct GroupCase {
  std::string name;
  const Contract* contract = nullptr;
  Operation operation{};
  Scalars scalars{};
  std::array<HostArray, 4> in{};
  std::array<Type, 4> out_types{};
  std::array<std::size_t, 4> out_counts{};  // of the whole; 0: no such output
  std::array<Share, 4> in_shares{}, out_shares{};
  std::size_t words = 1;  // elements of in[1] and out[1] per element of in[0]
  bool counted = false;   // out[1] is each part's number of results
  std::string_view rung{};
};

// Random elements: few or many different ones, some of them extreme, floats whose sums are exact.
template <class Rng>
HostArray random_array(Rng& rng, Type type, std::size_t n) {
  HostArray array{type, std::vector<std::byte>(n * size_of(type))};
  static constexpr std::uint64_t spreads[] = {1, 2, 5, 100, 1u << 16};
  const std::uint64_t spread = spreads[rng() % 5];
  const bool runs = rng() % 2, only_minus_zero = rng() % 8 == 0;
  visit_any(type, [&]<class T>(TypeTag<T>) {
    std::uint64_t value = 0;
    for (T& x : array.as<T>()) {
      if (!runs || rng() % 8 == 0) value = rng() % spread;
      if constexpr (is_floating<T>) {
        x = static_cast<T>(static_cast<float>(static_cast<std::int64_t>(value % 512)) - 100);
        if (only_minus_zero || rng() % 64 == 0) x = static_cast<T>(-0.0f);
      } else {
        x = static_cast<T>(value * 0x9e3779b97f4a7c15u >> (64 - 8 * sizeof(T)) % 64);
        if (spread < 128) x = static_cast<T>(value);
      }
    }
  });
  return array;
}

template <class Rng>
GroupCase random_case(Rng& rng) {
  const std::size_t n = rng() % 4 == 0 ? rng() % 20 : rng() % 5000;
  static constexpr Type numbers[] = {Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64};
  static constexpr Type all[] = {Type::i8,  Type::u8,  Type::i16, Type::u16, Type::i32, Type::u32,
                                 Type::i64, Type::u64, Type::f32, Type::f64, Type::f16, Type::bf16};
  const Type number = numbers[rng() % 6], any = all[rng() % 12];
  GroupCase c;
  c.in_shares[0] = Share::parts;
  c.out_counts[0] = n;
  c.out_shares[0] = Share::parts;
  const auto input = [&](Type type) { c.in[0] = random_array(rng, type, n), c.out_types[0] = type; };
  switch (rng() % 8) {
    case 0: {
      c.contract = &reduce_contract;
      input(number);
      c.operation = std::array{Op::sum, Op::min, Op::max}[rng() % 3];
      c.out_counts[0] = 1, c.out_shares[0] = Share::copies;
      if (number == Type::u32 && c.operation == Operation(Op::sum)) c.out_types[0] = Type::u64;
      if (is_float(number) && c.operation == Operation(Op::sum)) {
        c.rung = "reproducible";  // sums of numbers of any exponent, but for infinities
        visit(number, [&]<class T>(TypeTag<T>) {
          for (T& x : c.in[0].template as<T>())
            if (rng() % 2)
              x = static_cast<T>(std::ldexp(static_cast<double>(rng() % 1000) - 500, int(rng() % 200) - 110));
        });
      }
      if (number == Type::i32 && rng() % 2) c.scalars = reduce_scalars.scalars({.initial = std::int32_t{-77}});
      break;
    }
    case 1:
      c.contract = &reduce_contract;
      input(any);
      if (n == 0) return random_case(rng);
      c.operation = rng() % 2 ? Operation(IndexOf::min) : Operation(IndexOf::max);
      c.out_counts[0] = 1, c.out_types[0] = Type::u64, c.out_shares[0] = Share::copies;
      break;
    case 2: {
      c.contract = &scan_contract;
      input(is_half_type(any) ? number : any);
      c.operation = std::array{Op::sum, Op::min, Op::max}[rng() % 3];
      Scanning how{.inclusive = rng() % 2 == 0};
      if (c.in[0].type == Type::u8 && c.operation == Operation(Op::sum)) c.out_types[0] = Type::u32;
      if (c.in[0].type == Type::i64 && rng() % 2) how.initial = std::int64_t{1000};
      c.scalars = scan_scalars.scalars(how);
      break;
    }
    case 3: {
      c.contract = &segmented_scan_contract;
      input(is_half_type(any) ? number : any);
      c.operation = std::array{Op::sum, Op::min, Op::max}[rng() % 3];
      SegmentedScanning how{.inclusive = rng() % 2 == 0, .heads = rng() % 2 ? HeadKind::flags : HeadKind::keys};
      c.in[1] = random_array(rng, how.heads == HeadKind::flags ? Type::u8 : Type::u32, n);
      c.in_shares[1] = Share::parts;
      if (how.heads == HeadKind::flags) {
        const std::size_t every = std::array{2, 50, 100000}[rng() % 3];
        for (std::uint8_t& flag : c.in[1].template as<std::uint8_t>()) flag = rng() % every == 0 ? 3 : 0;
      }
      if (c.in[0].type == Type::i64 && rng() % 2) how.initial = std::int64_t{1000};
      c.scalars = segmented_scan_scalars.scalars(how);
      break;
    }
    case 4: {
      c.contract = &histogram_contract;
      input(number);
      c.operation = Binning::even;
      c.scalars = histogram_scalars.scalars({.lower = -100.0, .upper = 1000.0});
      if (!is_float(number)) c.scalars = histogram_scalars.scalars({.lower = 0.0, .upper = 1000.0});
      c.out_types[0] = std::array{Type::u8, Type::u16, Type::u32, Type::u64}[rng() % 4];
      c.out_counts[0] = 1 + rng() % 300, c.out_shares[0] = Share::copies;
      c.out_types[1] = Type::u64, c.out_counts[1] = rng() % 2, c.out_shares[1] = Share::copies;
      break;
    }
    case 5: {
      c.contract = &select_contract;
      const auto selection = static_cast<Selection>(rng() % selection_names.size());
      input(number);
      c.operation = selection;
      c.out_types[1] = Type::u64, c.out_counts[1] = 1, c.out_shares[1] = Share::copies;
      c.counted = selection != Selection::partition_if;
      if (selection == Selection::find_repeats || selection == Selection::nonzero)
        c.out_types[0] = rng() % 2 ? Type::u32 : Type::i64;
      if (selection == Selection::select_flagged)
        c.in[1] = random_array(rng, Type::u8, n), c.in_shares[1] = Share::parts;
      if (selection == Selection::run_length_encode)
        c.out_types[2] = rng() % 2 ? Type::u32 : Type::u64, c.out_counts[2] = n, c.out_shares[2] = Share::parts;
      break;
    }
    case 6: {
      c.contract = &partition_contract;
      input(rng() % 2 ? Type::u32 : Type::u64);
      std::size_t buckets = 0;
      if (rng() % 2) {
        c.operation = Bucketing::digit;
        const Digit digit{.first_bit = rng() % 20, .bits = 1 + rng() % 10};
        buckets = std::size_t{1} << digit.bits;
        c.scalars = partition_scalars.scalars(digit);
      } else {
        c.operation = Bucketing::splitters;
        c.in[2] = {c.in[0].type, std::vector<std::byte>(3 * size_of(c.in[0].type))};
        visit(c.in[0].type, [&]<class T>(TypeTag<T>) {
          std::uint64_t splitter = 1;
          for (T& x : c.in[2].template as<T>()) x = static_cast<T>(splitter), splitter *= 1 + 9 * splitter;
        });
        c.in_shares[2] = Share::copies;
        buckets = 4;
      }
      c.out_types[2] = Type::u64, c.out_counts[2] = buckets + 1, c.out_shares[2] = Share::copies;
      break;
    }
    default: {
      c.contract = &sort_contract;
      input(any);
      Sorting how{.order = rng() % 2 ? Order::ascending : Order::descending};
      if (rng() % 4 == 0) how.first_bit = rng() % (8 * size_of(any));
      if (rng() % 4 == 0) how.float_order = FloatOrder::total_order;
      c.operation = how.order;
      c.scalars = sort_scalars.scalars(how);
      if (rng() % 3 == 0 && n > 0)
        c.out_types[1] = rng() % 2 ? Type::u32 : Type::i64, c.out_counts[1] = n, c.out_shares[1] = Share::parts;
      break;
    }
  }
  if ((c.contract == &partition_contract || c.contract == &sort_contract) && c.out_counts[1] == 0 && n > 0 &&
      rng() % 2) {
    c.words = 1 + rng() % 2;
    c.in[1] = random_array(rng, c.words == 2 || rng() % 2 ? Type::u64 : Type::f32, c.words * n);
    c.in_shares[1] = c.out_shares[1] = Share::parts;
    c.out_types[1] = c.in[1].type, c.out_counts[1] = c.words * n;
  }
  c.name = std::string(c.contract->name) + " " + std::string(c.operation.name()) + " of " + std::to_string(n) + " " +
           std::string(to_string(c.in[0].type));
  return c;
}

// Sizes of parts, some of them empty, whose sum is n.
template <class Rng>
std::vector<std::size_t> random_parts(Rng& rng, std::size_t n, int members) {
  std::vector<std::size_t> cuts{0, n};
  for (int m = 1; m < members; ++m) cuts.push_back(rng() % 3 == 0 ? cuts[rng() % cuts.size()] : rng() % (n + 1));
  std::ranges::sort(cuts);
  std::vector<std::size_t> parts;
  for (std::size_t m = 0; m + 1 < cuts.size(); ++m) parts.push_back(cuts[m + 1] - cuts[m]);
  return parts;
}

// Runs a call, and returns true; false if the emulator has no rung for its type, as for many.
template <class F>
bool runs(Backend backend, F&& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    if (backend == Backend::cpu || error.code() != Code::unsupported) throw;
    return false;
  }
}

// The outputs of a call, one after another.
using Outputs = std::array<HostArray, 4>;

// Returns the outputs of one device.
inline Outputs run_on_one(Device& device, GroupCase& c) {
  Outputs out;
  Request request{.contract = c.contract, .operation = c.operation, .scalars = c.scalars};
  for (std::size_t k = 0; k < 4; ++k) {
    if (c.in_shares[k] != Share::none) request.in[k] = c.in[k].view();
    out[k] = {c.out_types[k], std::vector<std::byte>(c.out_counts[k] * size_of(c.out_types[k]))};
    if (c.out_counts[k] > 0 || c.out_shares[k] != Share::none) request.out[k] = out[k].view();
  }
  invoke(device, request, {.rung = c.rung});
  if (c.counted) {
    const std::uint64_t count = out[1].as<std::uint64_t>()[0];
    for (HostArray* array : {&out[0], &out[2]})
      if (!array->bytes.empty()) array->bytes.resize(count * size_of(array->type));
  }
  return out;
}

// The arrays of one process's members: [first, first + parts.size()) of all.
struct PartsOfProcess {
  std::vector<std::array<HostArray, 4>> out;
  std::vector<Request> requests;
};

// Divides the arrays of a call: member m has parts[m] elements, and results[m] of the results of sort and partition.
inline PartsOfProcess divide(GroupCase& c, std::span<const std::size_t> parts, std::span<const std::size_t> results,
                             std::size_t first, std::size_t members) {
  PartsOfProcess all;
  all.out.resize(members);
  std::size_t begin =
      std::accumulate(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(first), std::size_t{0});
  for (std::size_t m = 0; m < members; ++m) {
    Request request{.contract = c.contract, .operation = c.operation, .scalars = c.scalars};
    const std::size_t n = parts[first + m], n_out = results[first + m];
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t words = k == 1 ? c.words : 1;
      if (c.in_shares[k] == Share::parts) request.in[k] = c.in[k].view(words * begin, words * n);
      if (c.in_shares[k] == Share::copies) request.in[k] = c.in[k].view();
      const std::size_t count = c.out_shares[k] == Share::copies ? c.out_counts[k]
                                : c.out_counts[k] == 0           ? 0
                                                                 : words * n_out;
      all.out[m][k] = {c.out_types[k], std::vector<std::byte>(count * size_of(c.out_types[k]), std::byte{0xa5})};
      if (c.out_counts[k] > 0 || c.out_shares[k] != Share::none) request.out[k] = all.out[m][k].view();
    }
    all.requests.push_back(request);
    begin += n;
  }
  return all;
}

// Compares the outputs of all members, in order of rank, with those of one device.
inline void expect_same(const GroupCase& c, Outputs& expected, std::span<std::array<HostArray, 4>> members) {
  Outputs joined;
  for (std::size_t k = 0; k < 4; ++k) {
    joined[k].type = c.out_types[k];
    std::uint64_t counted = 0;
    for (std::array<HostArray, 4>& out : members) {
      if (c.out_shares[k] == Share::copies && !(c.counted && k == 1)) {
        EXPECT_EQ(out[k].bytes, expected[k].bytes) << c.name << ", output " << k << " of each member";
        continue;
      }
      if (c.counted && k == 1) {
        counted += out[1].as<std::uint64_t>()[0];
        continue;
      }
      std::size_t bytes = out[k].bytes.size();
      if (c.counted && bytes > 0) bytes = out[1].as<std::uint64_t>()[0] * size_of(out[k].type);
      ASSERT_LE(bytes, out[k].bytes.size()) << c.name;
      joined[k].bytes.insert(joined[k].bytes.end(), out[k].bytes.begin(),
                             out[k].bytes.begin() + static_cast<std::ptrdiff_t>(bytes));
    }
    if (c.counted && k == 1) {
      EXPECT_EQ(counted, expected[1].as<std::uint64_t>()[0]) << c.name;
    }
    if (c.out_shares[k] != Share::parts) continue;
    ASSERT_EQ(joined[k].count(), expected[k].count()) << c.name << ", output " << k;
    for (std::size_t i = 0, size = size_of(joined[k].type); i < joined[k].count(); ++i)
      ASSERT_EQ(std::memcmp(&joined[k].bytes[i * size], &expected[k].bytes[i * size], size), 0)
          << c.name << ", output " << k << ", element " << i << " of " << joined[k].count();
  }
}

}  // namespace upsweep::testing
