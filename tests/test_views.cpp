// The arrays of a call: views, buffers and ranges in any mix, at any offset; and arrays that a call rejects before it
// runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "error_of.h"
#include "lab/inputs.h"
#include "upsweep/partition.h"
#include "upsweep/reduce.h"
#include "upsweep/scan.h"
#include "upsweep/select.h"
#include "upsweep/sort.h"
#include "upsweep/transform.h"

namespace upsweep {
namespace {

static_assert(OutputOf<std::vector<float>&, float> && OutputOf<std::span<float>, float> &&
              OutputOf<View<float>, float>);
static_assert(!OutputOf<const std::vector<float>&, float>, "read only");
static_assert(!OutputOf<std::vector<float>, float>, "a temporary, whose elements would be lost");

using Item = std::int32_t;

// An array at an odd offset inside a larger one, between guard elements.
class Middle {
 public:
  static constexpr std::size_t before = 5, after = 3;
  static constexpr Item guard = -77;
  explicit Middle(const std::vector<Item>& values) : memory_(before + values.size() + after, guard) {
    std::copy(values.begin(), values.end(), memory_.begin() + before);
  }
  explicit Middle(std::size_t n) : Middle(std::vector<Item>(n, guard)) {}
  Item* data() { return memory_.data() + before; }
  std::size_t size() const { return memory_.size() - before - after; }
  std::vector<Item> values() const {
    return {memory_.begin() + before, memory_.end() - static_cast<std::ptrdiff_t>(after)};
  }
  bool guards_stand() const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if ((i < before || i >= before + size()) && memory_[i] != guard) return false;
    return true;
  }
  View<Item> as_device() { return device_view(data(), size()); }
  View<Item> as_host() { return host_view(data(), size()); }
  View<Item> as_part() { return view(memory_).subview(before, size()); }

 private:
  std::vector<Item> memory_;
};

// Each way to refer to the same memory.
using Way = View<Item> (Middle::*)();
constexpr Way ways[] = {&Middle::as_device, &Middle::as_host, &Middle::as_part};

class Views : public testing::Test {
 protected:
  Device cpu = Device::cpu();
  const std::vector<Item> x = make_input<Item>("uniform", 1001, 1), y = make_input<Item>("zipf", 1001, 2);
  const std::size_t n = x.size();
};

TEST_F(Views, EveryWayToNameMemoryAtAnOddOffset) {
  std::vector<Item> sums(n), prefixes(n), products(n), chosen;
  std::inclusive_scan(x.begin(), x.end(), sums.begin(), Sum{});
  std::exclusive_scan(x.begin(), x.end(), prefixes.begin(), Item{0}, Sum{});
  for (std::size_t i = 0; i < n; ++i) products[i] = Sum{}(Product{}(3, x[i]), y[i]);
  for (const Item v : x)
    if (v < 1000) chosen.push_back(v);
  for (const Way from : ways)
    for (const Way to : ways) {
      Middle in(x), other(y), out(n), total(1);
      const auto expect = [&](const std::vector<Item>& expected, const char* call) {
        EXPECT_EQ(out.values(), expected) << call;
        EXPECT_TRUE(in.guards_stand() && other.guards_stand() && out.guards_stand() && total.guards_stand()) << call;
        EXPECT_EQ(in.values(), x) << call << " changed its input";
      };
      reduce(cpu, (in.*from)(), (total.*to)());
      EXPECT_EQ(total.values()[0], sums.back());
      EXPECT_EQ(reduce(cpu, (in.*from)()), sums.back());
      inclusive_scan(cpu, (in.*from)(), (out.*to)());
      expect(sums, "inclusive_scan");
      exclusive_scan(cpu, (in.*from)(), (out.*to)());
      expect(prefixes, "exclusive_scan");
      saxpy(cpu, 3, (in.*from)(), (other.*from)(), (out.*to)());
      expect(products, "saxpy");
      out = Middle(n);
      EXPECT_EQ(select_if(cpu, (in.*from)(), 1000, (out.*to)()), chosen.size());
      std::vector<Item> selected = chosen;
      selected.resize(n, Middle::guard);
      expect(selected, "select_if");
    }
}

TEST_F(Views, BuffersRangesAndViewsInOneCall) {
  std::vector<Item> products(n);
  for (std::size_t i = 0; i < n; ++i) products[i] = Sum{}(Product{}(-2, x[i]), y[i]);
  const Buffer<Item> buffer(cpu, x);
  Middle other(y), out(n);
  saxpy(cpu, -2, buffer, y, out.as_device());
  EXPECT_EQ(out.values(), products);
  Buffer<Item> onto(cpu, n);
  saxpy(cpu, -2, std::span(x), other.as_host(), onto);
  EXPECT_EQ(onto.to_vector(), products);
  // A subview of a buffer; the surrounding elements must not change.
  Buffer<Item> larger(cpu, std::vector<Item>(n + 10, 7));
  saxpy(cpu, -2, buffer, other.as_part(), view(larger).subview(3, n));
  const std::vector<Item> all = larger.to_vector();
  EXPECT_TRUE(std::equal(products.begin(), products.end(), all.begin() + 3));
  EXPECT_EQ(std::count(all.begin(), all.begin() + 3, 7), 3);
  EXPECT_EQ(std::count(all.end() - 7, all.end(), 7), 7);

  std::array<std::uint64_t, 1> count{};
  std::vector<std::uint8_t> flags(n);
  for (std::size_t i = 0; i < n; ++i) flags[i] = i % 3 == 0;
  select_flagged(cpu, buffer, device_view(flags.data(), n), onto, count);
  EXPECT_EQ(count[0], (n + 2) / 3);
}

TEST_F(Views, SubviewsEndWithTheView) {
  std::vector<Item> values(10);
  const auto whole = view(values);
  EXPECT_EQ(whole.subview(3, 7).data(), values.data() + 3);
  EXPECT_EQ(whole.subview(10, 0).size(), 0u);
  EXPECT_EQ(whole.subview(2, 8).subview(5, 3).data(), values.data() + 7);
  constexpr std::size_t most = ~std::size_t{0};
  EXPECT_EQ(error_of([&] { whole.subview(3, 8); }).code(), Code::invalid_argument);
  EXPECT_EQ(error_of([&] { whole.subview(11, 0); }).code(), Code::invalid_argument);
  EXPECT_EQ(error_of([&] { whole.subview(1, most); }).code(), Code::invalid_argument) << "the sum wraps";
  EXPECT_EQ(error_of([&] { whole.subview(most, 2); }).code(), Code::invalid_argument);
  Buffer<Item> buffer(cpu, 10);
  EXPECT_EQ(view(buffer).subview(4, 2).owner(), view(buffer).owner()) << "a subview has the same owner";
  EXPECT_EQ(view(buffer).subview(4, 2).place(), Place::device);
}

// Outputs must be writable: a view of const elements, a const buffer and a const range are not.
template <class Out, class In = std::vector<Item>>
concept TakesScan = requires(Device& device, const In& in, Out&& out) {
  exclusive_scan(device, in, std::forward<Out>(out));
};
static_assert(TakesScan<View<Item>> && TakesScan<const View<Item>&> && TakesScan<Buffer<Item>&> &&
              TakesScan<std::span<Item>>);
static_assert(!TakesScan<View<const Item>> && !TakesScan<const Buffer<Item>&> && !TakesScan<const std::vector<Item>&>);
static_assert(!TakesScan<View<float>> && !TakesScan<View<std::uint32_t>>, "another type");
static_assert(TakesScan<View<Item>, View<const Item>> && TakesScan<View<Item>, View<Item>>);

// A count is one std::uint64_t.
template <class Count>
concept TakesCount = requires(Device& device, std::vector<Item>& v, Count& count) {
  unique(device, v, v, count);
};
static_assert(TakesCount<std::array<std::uint64_t, 1>> && TakesCount<Buffer<std::uint64_t>> &&
              TakesCount<View<std::uint64_t>>);
static_assert(!TakesCount<std::array<std::uint32_t, 1>> && !TakesCount<std::array<std::int64_t, 1>> &&
              !TakesCount<Buffer<std::uint32_t>> && !TakesCount<View<const std::uint64_t>>);

// ---- refusals and their messages ------------------------------------------------------------------------------------

class Refused : public Views {
 protected:
  template <class Action>
  void expect(const char* words, Action&& action) {
    const Error error = error_of(action);
    EXPECT_EQ(error.code(), Code::invalid_argument) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
  std::vector<Item> out = std::vector<Item>(n);
};

TEST_F(Refused, NullWithElements) {
  Item* const null = nullptr;
  expect("the input is null but has 3 elements", [&] { reduce(cpu, host_view(null, 3)); });
  expect("the input is null but has 3 elements", [&] { exclusive_scan(cpu, device_view(null, 3), out); });
  expect("the output is null but has 1001 elements", [&] { exclusive_scan(cpu, x, host_view(null, n)); });
  expect("y is null", [&] { saxpy(cpu, 2, x, device_view(null, n), out); });
  expect("the array of flags is null",
         [&] { select_flagged(cpu, x, host_view(static_cast<const std::uint8_t*>(nullptr), n), out); });
  expect("the count is null", [&] { unique(cpu, x, out, host_view(static_cast<std::uint64_t*>(nullptr), 1)); });
  exclusive_scan(cpu, host_view(null, 0), host_view(null, 0));
  EXPECT_EQ(reduce(cpu, device_view(null, 0), Op::max), std::numeric_limits<Item>::lowest());
  EXPECT_EQ(unique(cpu, host_view(null, 0), host_view(null, 0)), 0u);
}

TEST_F(Refused, MisalignedPointers) {
  alignas(8) char bytes[64] = {};
  auto* const odd = reinterpret_cast<Item*>(bytes + 1);
  expect("the input is not aligned to its element, i32", [&] { reduce(cpu, device_view(odd, 5)); });
  expect("the output is not aligned to its element, i32", [&] { inclusive_scan(cpu, x, host_view(odd, 5)); });
  auto* const half = reinterpret_cast<double*>(bytes + 4);
  expect("x is not aligned to its element, f64", [&] { saxpy(cpu, 2.0, host_view(half, 4), host_view(half, 4)); });
  auto* const count = reinterpret_cast<std::uint64_t*>(bytes + 4);
  expect("the count is not aligned", [&] { unique(cpu, x, out, host_view(count, 1)); });
  EXPECT_EQ(reduce(cpu, device_view(odd, 0)), 0) << "alignment does not matter without elements";
}

TEST_F(Refused, OutputsThatAreTooSmall) {
  const auto shorter = view(out).subview(0, n - 1), none = view(out).subview(0, 0);
  expect("the output has no element, 1 is needed", [&] { reduce(cpu, x, none); });
  expect("the output has 1000 elements, 1001 are needed", [&] { exclusive_scan(cpu, x, shorter); });
  expect("the output has 1000 elements, 1001 are needed", [&] { saxpy(cpu, 2, x, y, shorter); });
  expect("the output has 1000 elements, 1001 are needed", [&] { unique(cpu, x, shorter); });
  std::vector<std::uint32_t> lengths(n - 1);
  expect("the array of lengths has 1000 elements", [&] { run_length_encode(cpu, x, out, lengths); });
  expect("the count has no element", [&] { unique(cpu, x, out, host_view(static_cast<std::uint64_t*>(nullptr), 0)); });
}

// An output is either identical to one input, if the contract allows that, or overlaps none.
TEST_F(Refused, OverlapsAndWhatIsNone) {
  std::vector<Item> both(n + 1);
  const auto left = view(both).subview(0, n), right = view(both).subview(1, n);
  expect("the output overlaps the input", [&] { exclusive_scan(cpu, left, right); });
  expect("the output overlaps the input", [&] { inclusive_scan(cpu, right, left); });
  expect("the output overlaps x", [&] { saxpy(cpu, 2, left, x, right); });
  expect("the output overlaps y", [&] { saxpy(cpu, 2, x, right, left); });
  expect("the output overlaps y", [&] { saxpy(cpu, 2, left, right, left); });
  expect("the output overlaps the input", [&] { reduce(cpu, left, view(both).subview(5, 1)); });
  expect("the output overlaps the input", [&] { unique(cpu, left, left); });
  expect("the output overlaps the input", [&] { select_if(cpu, left, 3, right); });
  std::vector<std::uint32_t> words(n + 1);
  const auto some = view(words).subview(0, n), same = view(words).subview(1, n);
  expect("the array of lengths overlaps the output",
         [&] { run_length_encode(cpu, std::vector<std::uint32_t>(n), some, same); });
  std::vector<std::uint64_t> count_in_values(n);
  expect("the count overlaps",
         [&] { unique(cpu, std::vector<std::uint64_t>(n), count_in_values, view(count_in_values).subview(n - 1, 1)); });

  // Accepted: adjacent arrays, and an output longer than the written part.
  std::vector<Item> twice(2 * n);
  std::copy(x.begin(), x.end(), twice.begin());
  exclusive_scan(cpu, view(twice).subview(0, n), view(twice).subview(n, n));
  EXPECT_EQ(twice[n + 1], x[0]);
  std::vector<Item> front_to_back(n + 5);
  exclusive_scan(cpu, view(front_to_back).subview(3, n - 3), view(front_to_back).subview(3, n + 2));
}

TEST_F(Views, InPlaceWhereTheContractAllowsIt) {
  std::vector<Item> sums(n), products(n);
  std::exclusive_scan(x.begin(), x.end(), sums.begin(), Item{0}, Sum{});
  for (std::size_t i = 0; i < n; ++i) products[i] = Sum{}(Product{}(5, x[i]), y[i]);
  for (const Way way : ways) {
    Middle scanned(x);
    exclusive_scan(cpu, (scanned.*way)(), (scanned.*way)());
    EXPECT_EQ(scanned.values(), sums);
    Middle onto_x(x), onto_y(y);
    saxpy(cpu, 5, (onto_x.*way)(), y, (onto_x.*way)());
    EXPECT_EQ(onto_x.values(), products);
    saxpy(cpu, 5, x, (onto_y.*way)());
    EXPECT_EQ(onto_y.values(), products);
    Middle segmented(x);
    segmented_exclusive_scan(cpu, (segmented.*way)(), std::vector<std::uint8_t>(n), (segmented.*way)());
    EXPECT_EQ(segmented.values(), sums);
    EXPECT_TRUE(scanned.guards_stand() && onto_x.guards_stand() && onto_y.guards_stand() && segmented.guards_stand());
  }
  // x and y may be the same array, and so may the output.
  Middle all(x);
  saxpy(cpu, 5, all.as_host(), all.as_host(), all.as_host());
  EXPECT_EQ(all.values()[7], Sum{}(Product{}(5, x[7]), x[7]));
}

// ---- the type-erased entry, invoke() --------------------------------------------------------------------------------

class Invoke : public Refused {
 protected:
  void expect_refused(Code code, const char* words, const Request& request, const Options& options = {}) {
    const Error error = error_of([&] { invoke(cpu, request, options); });
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
  static const Contract* contract(std::string_view name) { return find_contract(name); }
  Request saxpy_of(const Scalar& a) {
    return {.contract = contract("saxpy"), .in = {view(x), view(y)}, .out = {view(out)}, .scalars = {a}};
  }
  Request scan_of(Operation operation, const Scalar& inclusive = false) {
    return {.contract = contract("scan"),
            .operation = operation,
            .in = {view(x)},
            .out = {view(out)},
            .scalars = {inclusive}};
  }
  Request select_of(Operation operation, const Scalar& below = {}) {
    return {.contract = contract("select"),
            .operation = operation,
            .in = {view(x)},
            .out = {view(out), view(count)},
            .scalars = {below}};
  }
  std::vector<std::uint64_t> count = std::vector<std::uint64_t>(1);
};

TEST_F(Invoke, IsWhatTheTypedFunctionsDo) {
  std::vector<Item> expected(n);
  saxpy(cpu, -7, x, y, expected);
  invoke(cpu, saxpy_of(Item{-7}));
  EXPECT_EQ(out, expected);
  for (const bool inclusive : {false, true}) {
    inclusive ? inclusive_scan(cpu, x, expected, Op::max) : exclusive_scan(cpu, x, expected, Op::max);
    invoke(cpu, scan_of(Op::max, inclusive));
    EXPECT_EQ(out, expected) << inclusive;
  }
  Item total = 0;
  invoke(cpu, {.contract = contract("reduce"), .operation = Op::min, .in = {view(x)}, .out = {host_view(&total, 1)}},
         {.rung = "serial"});
  EXPECT_EQ(total, *std::min_element(x.begin(), x.end()));
  for (const HeadKind kind : {HeadKind::flags, HeadKind::keys, HeadKind::offsets}) {
    const std::vector<std::uint8_t> flags(n, 1);
    std::vector<std::uint32_t> keys(n);
    std::iota(keys.begin(), keys.end(), 0u);
    std::vector<std::uint64_t> offsets(n);
    std::iota(offsets.begin(), offsets.end(), 0u);
    const AnyView heads[] = {view(flags), view(keys), view(offsets)};
    invoke(cpu, {.contract = contract("segmented_scan"),
                 .operation = Op::sum,
                 .in = {view(x), heads[static_cast<std::size_t>(kind)]},
                 .out = {view(out)},
                 .scalars = {true, kind}});
    EXPECT_EQ(out, x) << "every element is a segment, by " << to_string(kind);
  }
  const std::uint64_t runs = unique(cpu, x, expected);
  invoke(cpu, select_of(Selection::unique));
  EXPECT_EQ(count[0], runs);
  invoke(cpu, select_of(Selection::select_if, Item{0}));
  EXPECT_EQ(count[0], static_cast<std::uint64_t>(std::count_if(x.begin(), x.end(), [](Item v) { return v < 0; })));
}

TEST_F(Invoke, NamesOfContracts) {
  for (const char* name : {"reduce", "scan", "segmented_scan", "select", "saxpy"})
    EXPECT_TRUE(find_contract(name)) << name;
  EXPECT_EQ(find_contract("merge"), nullptr);
  EXPECT_EQ(find_contract("scan"), &scan_contract);
}

TEST_F(Invoke, ContractsThatDoNotRun) {
  expect_refused(Code::invalid_argument, "no contract", {.contract = find_contract("merge")});
  expect_refused(Code::unsupported, "ceiling",
                 {.contract = find_contract("ceiling"), .in = {view(x)}, .out = {view(out)}});
}

TEST_F(Invoke, ScalarsThatAreLeftOut) {
  std::vector<Item> expected(n);
  saxpy(cpu, 2, x, y, expected);
  invoke(cpu, saxpy_of({}));
  EXPECT_EQ(out, expected);
  exclusive_scan(cpu, x, expected);
  invoke(cpu, scan_of(Op::sum, {}));
  EXPECT_EQ(out, expected);
}

TEST_F(Invoke, ScalarsBeyondTheirBounds) {
  const std::vector<float> circles(8);
  const auto render_of = [&](const Scalar& width, const Scalar& x0) {
    return Request{.contract = contract("render"), .in = {view(circles)}, .scalars = {width, {}, x0}};
  };
  expect_refused(Code::invalid_argument, "width is 0, which is not in [1, 65536]", render_of(std::uint64_t{0}, {}));
  expect_refused(Code::invalid_argument, "x0 is inf, which is not in [-1152921504606846976, 1152921504606846976]",
                 render_of({}, std::numeric_limits<double>::infinity()));
  expect_refused(Code::invalid_argument, "x0 is nan", render_of({}, -std::numeric_limits<double>::quiet_NaN()));
}

// Outputs of indices, offsets or lengths accept every 32-bit and 64-bit integer type.
TEST_F(Invoke, IndicesOfAnyIntegerType) {
  std::vector<std::uint32_t> keys(n), sorted(n);
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::uint32_t>(i * 2654435761u % 1000 / 3);
  const auto of_type = [&]<class T>(T) {
    std::vector<std::int64_t> all;
    std::vector<T> indices(n), offsets(257), positions(n), nonzeros(n), lengths(n);
    argsort(cpu, keys, indices);
    partition_by_digit(cpu, keys, {}, sorted, offsets);
    sort(cpu, keys, sorted);
    const std::uint64_t repeats = find_repeats(cpu, sorted, positions);
    EXPECT_LT(nonzero(cpu, keys, nonzeros), n);
    std::vector<std::uint32_t> values(n);
    const std::uint64_t runs = run_length_encode(cpu, sorted, values, lengths);
    EXPECT_EQ(repeats + runs, n);
    for (const auto& part : {indices, offsets, positions, nonzeros, lengths})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  const std::vector<std::int64_t> expected = of_type(std::uint32_t{});
  EXPECT_EQ(of_type(std::int32_t{}), expected);
  EXPECT_EQ(of_type(std::uint64_t{}), expected);
  EXPECT_EQ(of_type(std::int64_t{}), expected);
}

TEST_F(Invoke, ScalarsOfAnotherType) {
  expect_refused(Code::invalid_argument, "a is f64, the elements are i32", saxpy_of(2.5));
  expect_refused(Code::invalid_argument, "a is i64, the elements are i32", saxpy_of(std::int64_t{2}));
  expect_refused(Code::invalid_argument, "a is u32, the elements are i32", saxpy_of(2u));
  expect_refused(Code::invalid_argument, "below is f64", select_of(Selection::select_if, 2.5));
  expect_refused(Code::invalid_argument, "inclusive", scan_of(Op::sum, 1.0));
  expect_refused(Code::invalid_argument, "inclusive", scan_of(Op::sum, Item{1}));
  const std::vector<std::uint64_t> offsets(3);
  Request segmented{.contract = contract("segmented_scan"),
                    .operation = Op::sum,
                    .in = {view(x), view(offsets)},
                    .out = {view(out)},
                    .scalars = {false, std::uint8_t{3}}};
  expect_refused(Code::invalid_argument, "heads", segmented);
  segmented.scalars[1] = 2.0;
  expect_refused(Code::invalid_argument, "heads", segmented);
}

TEST_F(Invoke, ArraysOfAnotherType) {
  std::vector<float> floats(n);
  std::vector<std::uint32_t> words(n), narrow(1);
  const auto with = [](Request request, auto&& change) {
    change(request);
    return request;
  };
  expect_refused(Code::invalid_argument, "the output is f32, not i32",
                 with(scan_of(Op::sum), [&](Request& r) { r.out[0] = view(floats); }));
  expect_refused(Code::invalid_argument, "y is u32, not i32",
                 with(saxpy_of(Item{1}), [&](Request& r) { r.in[1] = view(words); }));
  expect_refused(Code::invalid_argument, "the output is f32, not i32",
                 with(saxpy_of(Item{1}), [&](Request& r) { r.out[0] = view(floats); }));
  expect_refused(Code::invalid_argument, "the count is u32, not u64",
                 with(select_of(Selection::unique), [&](Request& r) { r.out[1] = view(narrow); }));
  expect_refused(Code::invalid_argument, "the output is f32, not u32",
                 with(select_of(Selection::find_repeats), [&](Request& r) { r.out[0] = view(floats); }));
  expect_refused(Code::invalid_argument, "the array of flags is u32",
                 with(select_of(Selection::select_flagged), [&](Request& r) { r.in[1] = view(words); }));
  expect_refused(Code::invalid_argument, "the array of heads is u32",
                 {.contract = contract("segmented_scan"),
                  .operation = Op::sum,
                  .in = {view(x), view(words)},
                  .out = {view(out)},
                  .scalars = {false, HeadKind::flags}});
  const std::vector<std::uint8_t> bytes(n);
  std::vector<std::uint8_t> byte(1);
  expect_refused(Code::invalid_argument, "the output is u8, not u64",
                 {.contract = contract("reduce"), .operation = Op::sum, .in = {view(bytes)}, .out = {view(byte)}});
  expect_refused(Code::unsupported, "does not take the product of u8",
                 {.contract = contract("reduce"), .operation = Op::product, .in = {view(bytes)}, .out = {view(byte)}});
  std::vector<std::uint8_t> products(n);
  expect_refused(
      Code::unsupported, "does not take the product of u8",
      {.contract = contract("scan"), .operation = Op::product, .in = {view(bytes)}, .out = {view(products)}});
}

TEST_F(Invoke, IndicesOfExtremes) {
  const std::vector<Item> empty;
  std::vector<std::uint64_t> index(1);
  std::vector<std::int64_t> signed_index(1);
  const auto arg = [&](IndexOf which, const AnyView& in, const AnyView& to, Scalars scalars = {}) {
    return Request{
        .contract = contract("reduce"), .operation = which, .in = {in}, .out = {to}, .scalars = scalars};
  };
  expect_refused(Code::invalid_argument, "argmin of an empty array", arg(IndexOf::min, view(empty), view(index)));
  expect_refused(Code::invalid_argument, "argmax of an empty array", arg(IndexOf::max, view(empty), view(index)));
  expect_refused(Code::invalid_argument, "argmax takes no initial value",
                 arg(IndexOf::max, view(x), view(index), {std::uint64_t{3}}));
  expect_refused(Code::invalid_argument, "argmin takes no segments",
                 arg(IndexOf::min, view(x), view(index), {Scalar(), std::uint64_t{3}}));
  expect_refused(Code::invalid_argument, "the output is i64, not u64",
                 arg(IndexOf::max, view(x), view(signed_index)));
  expect_refused(Code::invalid_argument, "the output has no element", arg(IndexOf::max, view(x), {}));
  invoke(cpu, arg(IndexOf::max, view(x), view(index)));
  EXPECT_EQ(index[0], static_cast<std::uint64_t>(std::max_element(x.begin(), x.end()) - x.begin()));
}

TEST_F(Invoke, ArraysThatAreMissing) {
  expect_refused(Code::invalid_argument, "the output has no element",
                 {.contract = contract("reduce"), .operation = Op::sum, .in = {view(x)}});
  expect_refused(Code::invalid_argument, "y 0",
                 {.contract = contract("saxpy"), .in = {view(x)}, .out = {view(out)}, .scalars = {Item{1}}});
  Request request = select_of(Selection::unique);
  request.out[1] = {};
  expect_refused(Code::invalid_argument, "the count has no element", request);
  expect_refused(Code::invalid_argument, "the array of lengths has no element",
                 select_of(Selection::run_length_encode));
}

// An operation belongs to one contract: the same enumerator value is a different operation in another contract.
TEST_F(Invoke, OperationsOfAnotherContract) {
  expect_refused(Code::unsupported, "unique", scan_of(Selection::unique));
  expect_refused(Code::unsupported, "find_repeats", scan_of(Selection::find_repeats));
  expect_refused(Code::unsupported, "sum", select_of(Op::sum));
  expect_refused(Code::unsupported, "no operation", scan_of({}));
  expect_refused(Code::unsupported, "no operation", select_of({}));
  Request request = saxpy_of(Item{1});
  request.operation = Op::sum;
  expect_refused(Code::unsupported, "sum", request);
}

TEST_F(Invoke, RungsAndShapes) {
  expect_refused(Code::invalid_argument, "no rung 'fastest'", scan_of(Op::sum), {.rung = "fastest"});
  expect_refused(Code::invalid_argument, "a block of 1025 threads", scan_of(Op::sum), {.block = 1025});
  invoke(cpu, scan_of(Op::sum), {.rung = "two_pass", .threads = 3});
  EXPECT_EQ(out[2], Sum{}(x[0], x[1]));
}

}  // namespace
}  // namespace upsweep
