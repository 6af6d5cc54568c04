// Counters of the classic scan rungs against theory; operand order, with a non-commutative operator; reproducible bits;
// the sign of zero, for reductions too; stale descriptors of the single-pass rungs.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "affine.h"
#include "base/workspace.h"
#include "lab/check.h"
#include "lab/inputs.h"
#include "lab/source_text.h"
#include "launcher.h"
#include "simt/report.h"
#include "upsweep/parameters/scan.h"

namespace upsweep {
namespace {

// ---- counters -------------------------------------------------------------------------------------------------------

// Default tile, in elements, of the classic rungs except `block`.
constexpr unsigned tile = 512;

struct How {
  unsigned shift = 0;  // elements by which out is misaligned relative to in
  unsigned block = 0;  // threads; 0: the rung's default
};

// Most rungs are compiled for this type on the emulators (base/coverage.h).
using Item = std::int32_t;

// Returns the emulator's report on one exclusive sum of small numbers.
template <class T>
simt::Report report_of(const char* name, unsigned n, How how = {}) {
  simt::Emulator& emulator = traced_emulator();
  emulator.configure({.lines = true});
  (void)emulator.take_report();
  const Rung* rung = find_rung(emulator.rungs(), "scan", name);
  if (!rung) throw Error(Code::invalid_argument, name);
  test::Array<T> in(emulator, n), out(emulator, n + how.shift);
  in.set([](std::size_t i) { return i % 9 + 1; });
  Workspace workspace(emulator);
  const Call call{.operation = Op::sum,
                  .in = {{{type_of<T>(), n, in.data()}}},
                  .out = {{{type_of<T>(), n, out.data() + how.shift}}},
                  .tuning = {.block = how.block},
                  .workspace = &workspace};
  EXPECT_TRUE(rung->find(type_of<T>(), Op::sum)(call));
  simt::Report report = emulator.take_report();
  EXPECT_TRUE(report.issues.empty()) << test::to_string(report);
  T sum = 0;
  for (unsigned i = 0; i < n; ++i) {
    if (out[i + how.shift] != sum) {
      ADD_FAILURE() << name << ": out[" << i << "]";
      break;
    }
    sum = Sum{}(sum, in[i]);
  }
  return report;
}

// Returns the shared-memory wavefronts; for one tile, those in the table of src/ladders/scan/README.md.
std::uint64_t shared_wavefronts(const simt::Counters& c) {
  return c.shared_load_wavefronts + c.shared_store_wavefronts;
}

simt::Counters first_kernel(const char* name, unsigned n) { return report_of<Item>(name, n).kernels.at(0).counters; }

// Returns the counters of the source line `text`, summed over all kernels.
simt::Counters line_of(const simt::Report& report, const std::string& text) {
  lab::SourceText source;
  simt::Counters sum;
  int found = 0;
  for (const auto& kernel : report.kernels)
    for (const auto& line : kernel.lines)
      if (source.line(line.file, line.line) == text) sum += line.counters, ++found;
  EXPECT_GT(found, 0) << text;
  return sum;
}

constexpr const char* pack_store =
    "for (unsigned r = 0; r < Rows; ++r) *reinterpret_cast<uint4*>(out + position + r * row_elements<T>) = rows[r];";
constexpr const char* pack_load =
    "rows[r] = *reinterpret_cast<const uint4*>(in.base + position + r * row_elements<T>);";
constexpr const char* item_store = "if (in.has(i)) out[i] = pack.item[k];";
constexpr const char* up_line = "s[right] = op(s[left], s[right]);";

// The up-sweep of 512 elements, with pairs at distances 1, 2, 4, ..., 256: active warps and degree of bank conflict.
// The degree doubles with the distance until lanes are 32 words apart or fewer lanes remain.
struct Level {
  unsigned warps, conflict;
};
constexpr Level up_sweep[] = {{8, 2}, {4, 4}, {2, 8}, {1, 16}, {1, 16}, {1, 8}, {1, 4}, {1, 2}, {1, 1}};
constexpr unsigned requests = 8 + 4 + 2 + 1 + 1 + 1 + 1 + 1 + 1;
unsigned wavefronts() {
  unsigned sum = 0;
  for (const Level& level : up_sweep) sum += level.warps * level.conflict;
  return sum;
}

TEST(ScanClassics, ConflictsDoubleWithTheDistance) {
  for (const char* name : {"block", "recursive"}) {
    const simt::Report report = report_of<Item>(name, tile, {.block = tile / 2});
    const simt::Counters up = line_of(report, up_line);
    EXPECT_EQ(up.shared_load_requests, 2 * requests) << name;
    EXPECT_EQ(up.shared_store_requests, requests) << name;
    EXPECT_EQ(up.shared_load_wavefronts, 2 * wavefronts()) << name;
    EXPECT_EQ(up.shared_store_wavefronts, wavefronts()) << name;
    // The whole tile. The down-sweep is like the up-sweep, plus a second store. Elements in and out take 16 warps each;
    // loading the total takes 8 warps, and storing the root one.
    const simt::Counters c = report.kernels.at(0).counters;
    EXPECT_EQ(c.shared_load_wavefronts, 4 * wavefronts() + 16 + 8) << name;
    EXPECT_EQ(c.shared_store_wavefronts, 3 * wavefronts() + 16 + 1) << name;
    EXPECT_EQ(shared_wavefronts(c), 706u) << name;
    EXPECT_EQ(c.barriers, 8u * 21) << name << ": nine levels up, nine down, and three more";
  }
}

template <class T>
void expect_no_conflicts(unsigned n, unsigned block = tile / 2) {
  const simt::Counters c = report_of<T>("padded", n, {.block = block}).total();
  EXPECT_GT(c.shared_load_requests, 0u);
  EXPECT_EQ(c.shared_load_wavefronts, c.shared_load_ideal) << sizeof(T) << " bytes";
  EXPECT_EQ(c.shared_store_wavefronts, c.shared_store_ideal) << sizeof(T) << " bytes";
}

TEST(ScanClassics, PaddingLeavesNoConflicts) {
  const simt::Report report = report_of<Item>("padded", tile);
  const simt::Counters up = line_of(report, up_line);
  EXPECT_EQ(up.shared_load_requests, 2 * requests);
  EXPECT_EQ(up.shared_load_wavefronts, 2 * requests);
  EXPECT_EQ(up.shared_store_wavefronts, requests);
  EXPECT_EQ(shared_wavefronts(report.kernels.at(0).counters), 181u);
  EXPECT_EQ(report.kernels.at(0).counters.barriers, 8u * 21);
  EXPECT_EQ(report.kernels.at(0).shared_bytes, (tile + tile / 32 - 1) * sizeof(Item));
  // Every element width, over several tiles and the scan of their totals.
  expect_no_conflicts<std::uint8_t>(5 * tile + 3);
  expect_no_conflicts<std::int16_t>(5 * tile + 3);
  expect_no_conflicts<std::int32_t>(5 * tile + 3);
  expect_no_conflicts<double>(5 * tile + 3);
  // The largest tiles need the second padding.
  expect_no_conflicts<std::int32_t>(5 * tile + 3, 1024);
  expect_no_conflicts<double>(5 * tile + 3, 1024);
}

TEST(ScanClassics, Merges) {  // every warp of tile b reads b totals; all lanes read the same one
  constexpr unsigned tiles = 8, warps = tile / 32, n = tiles * tile;
  constexpr unsigned reads = warps * (tiles * (tiles - 1) / 2);
  const simt::Report loop = report_of<Item>("merge_loop", n), totals = report_of<Item>("merge_totals", n);
  ASSERT_EQ(loop.kernels.size(), 2u);
  ASSERT_EQ(totals.kernels.size(), 2u);
  const auto a = line_of(loop,
                         "for (std::size_t total = tile - 1; total < i; total += tile) prefix = op(prefix, "
                         "tiles[total]);");
  EXPECT_EQ(a.global_load_requests, reads);
  EXPECT_EQ(a.global_load_sectors, reads);
  const auto b = line_of(totals,
                         "for (unsigned tile = 0; tile < blockIdx.x / 2; ++tile) prefix = op(prefix, "
                         "totals[tile]);");
  EXPECT_EQ(b.global_load_requests, reads);
  EXPECT_EQ(b.global_load_sectors, reads);
  // Twice the elements: four times the loads, and warps * tiles more, because a tile does not read its total.
  const auto more =
      line_of(report_of<Item>("merge_totals", 2 * n),
              "for (unsigned tile = 0; tile < blockIdx.x / 2; ++tile) prefix = op(prefix, totals[tile]);");
  EXPECT_EQ(more.global_load_requests, 4 * reads + warps * tiles);
}

TEST(ScanClassics, Launches) {  // one for the tiles; more for their totals, if there are several
  const auto launches = [](const char* name, unsigned n) {
    std::uint64_t sum = 0;
    for (const auto& kernel : report_of<Item>(name, n).kernels) sum += kernel.launches;
    return sum;
  };
  for (const char* name : {"recursive", "padded", "hillis_steele", "warp_shuffle"}) {
    EXPECT_EQ(launches(name, tile), 1u) << name;
    EXPECT_EQ(launches(name, tile + 1), 3u) << name;
  }
  EXPECT_EQ(launches("recursive", tile * tile + 1), 5u);
  EXPECT_EQ(launches("host_totals", 2 * tile), 2u);
  EXPECT_EQ(launches("reduce_then_scan", tile), 1u);
  EXPECT_EQ(launches("reduce_then_scan", 1 << 16), 3u);
}

TEST(ScanClassics, HillisSteele) {
  // Nine steps of 16 warps. Only warps with a lane that has a neighbour at the distance load: all 16 up to distance 16,
  // then 15, 14, 12 and 8. Finally every warp loads the sums to its left, and the total.
  const simt::Counters c = first_kernel("hillis_steele", tile);
  EXPECT_EQ(c.shared_load_requests, 5u * 16 + 15 + 14 + 12 + 8 + 16 + 16);
  EXPECT_EQ(c.shared_store_requests, 16u + 9 * 16);
  EXPECT_EQ(c.shared_load_wavefronts, c.shared_load_requests);
  EXPECT_EQ(c.shared_store_wavefronts, c.shared_store_requests);
  EXPECT_EQ(shared_wavefronts(c), 321u);
  EXPECT_EQ(c.barriers, 16u * 10);
}

TEST(ScanClassics, WarpShuffle) {  // per warp: two scans of five steps and a shift; the total; the warp's prefix
  const simt::Counters c = first_kernel("warp_shuffle", tile);
  EXPECT_EQ(c.shuffles, 16u * (5 + 1 + 5 + 1 + 1 + 1));
  EXPECT_EQ(c.shared_load_requests, 16u);
  EXPECT_EQ(c.shared_store_requests, 16u);
  EXPECT_EQ(shared_wavefronts(c), 32u);
  EXPECT_EQ(c.barriers, 16u);
}

TEST(ScanClassics, ReduceThenScanMovesThreeArrays) {
  constexpr unsigned n = 1 << 16, sectors = n * sizeof(Item) / 32;
  const simt::Report report = report_of<Item>("reduce_then_scan", n);
  ASSERT_EQ(report.kernels.size(), 2u);  // the second kernel also scans the totals
  const simt::Counters reduced = report.kernels[0].counters, scanned = report.kernels[1].counters;
  const std::uint64_t ranges = report.kernels[0].blocks;
  ASSERT_EQ(ranges, 16u);
  EXPECT_EQ(reduced.global_load_sectors, sectors);
  EXPECT_EQ(reduced.global_load_requests, sectors / 16) << "16 bytes per lane";
  EXPECT_EQ(reduced.global_store_requests, ranges) << "one total per range";
  // 16 totals do not fill four rows, so they are read and written one by one: four requests of two sectors. Each of 8
  // warps also reads the range's prefix, except in the first range.
  EXPECT_EQ(scanned.global_load_sectors, sectors + 4 * 2 + 8 * (ranges - 1));
  EXPECT_EQ(line_of(report, pack_store).global_store_sectors, sectors);
  EXPECT_EQ(line_of(report, item_store).global_store_requests, 4u);
  // With out misaligned by a word, each 16-byte store becomes four one-word stores, with lanes a pack apart.
  const simt::Report shifted = report_of<Item>("reduce_then_scan", n, {.shift = 1});
  EXPECT_EQ(shifted.kernels[1].counters.global_load_requests, scanned.global_load_requests);
  EXPECT_EQ(line_of(shifted, item_store).global_store_requests, n / 32 + 4);
}

TEST(ScanSinglePass, EachElementIsReadOnceAndWrittenOnce) {
  constexpr unsigned n = 1 << 16, sectors = n * sizeof(Item) / 32;
  for (const char* name : {"lookback", "wave"}) {
    const simt::Report report = report_of<Item>(name, n);
    ASSERT_EQ(report.kernels.size(), 1u);
    const auto load = line_of(report, pack_load);
    EXPECT_EQ(load.global_load_sectors, sectors) << name;
    EXPECT_EQ(load.global_load_requests, sectors / 16) << name;
    EXPECT_EQ(line_of(report, pack_store).global_store_sectors, sectors) << name;
  }
}

// ---- operand order --------------------------------------------------------------------------------------------------

// A way to call a rung. for_each_call() calls f(rung, way) for each rung of the ladder and each way.
struct Way {
  bool inclusive, from_initial;
  unsigned block;  // threads; 0: the rung's default
  unsigned grid;   // blocks, for rungs that take a grid
};
template <class F>
void for_each_call(simt::Emulator& emulator, F&& f) {
  for (const Rung* rung : emulator.rungs())
    if (rung->name.starts_with("scan/"))
      for (const bool inclusive : {false, true})
        for (const bool from_initial : {false, true})
          for (const unsigned block : {0, 32, 128}) f(*rung, Way{inclusive, from_initial, block, block / 32});
}

constexpr test::Affine some_map{5, 3};  // the initial value

// Scans the maps with the rung and expects the right result in `out`. Returns false if the rung does not take n.
bool scans(const Rung& rung, Way way, const std::vector<test::Affine>& maps, const test::Affine* in, test::Affine* out,
           Workspace& workspace) {
  const Call call{
      .in = {input_array(Type::u64, maps.size(), in)},
      .out = {{{Type::u64, maps.size(), out}}},
      .scalars = {way.inclusive, way.from_initial ? Scalar(std::bit_cast<std::uint64_t>(some_map)) : Scalar()},
      .tuning = {.block = way.block, .grid = way.grid},
      .workspace = &workspace};
  const Status status = rung.find(Type::u64, {})(call);
  if (status.code == Code::unsupported) return false;
  EXPECT_TRUE(status) << rung.name;
  test::Affine sum = way.from_initial ? some_map : test::Compose::neutral<test::Affine>();
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const test::Affine upto = test::Compose{}(sum, maps[i]);
    if (out[i] != (way.inclusive ? upto : sum)) {
      ADD_FAILURE() << rung.name << " n=" << maps.size() << " block=" << way.block << " at " << i;
      break;
    }
    sum = upto;
  }
  return true;
}

std::vector<test::Affine> some_maps(unsigned n) {
  std::vector<test::Affine> maps;
  for (unsigned i = 0; i < n; ++i) maps.push_back({2654435761u * i | 1u, 40503u * i + 7});
  return maps;
}

TEST(ScanOrder, OperandsNeverChangePlaces) {
  simt::Emulator& emulator = test_plain_emulator();
  Workspace workspace(emulator);
  std::size_t ran = 0;
  for (const unsigned n : {1, 33, 512, 513, 2048, 5000, 70001})
    for (const unsigned shift : {0, 1}) {
      const auto maps = some_maps(n);
      test::Array<test::Affine> in(emulator, n + shift), out(emulator, n);
      std::copy(maps.begin(), maps.end(), in.data() + shift);
      for_each_call(emulator, [&](const Rung& rung, Way way) {
        ran += scans(rung, way, maps, in.data() + shift, out.data(), workspace);
      });
    }
  EXPECT_GT(ran, 1100u);  // 13 rungs, 12 ways, 7 sizes, minus those that `block` rejects; 3 rungs with an initial value
}

TEST(ScanOrder, InAndOutMayBeTheSame) {
  simt::Emulator& emulator = test_plain_emulator();
  Workspace workspace(emulator);
  std::size_t ran = 0;
  for (const unsigned n : {1000, 5001}) {
    const auto maps = some_maps(n);
    test::Array<test::Affine> array(emulator, n);
    for_each_call(emulator, [&](const Rung& rung, Way way) {
      std::copy(maps.begin(), maps.end(), array.data());
      ran += scans(rung, way, maps, array.data(), array.data(), workspace);
    });
  }
  EXPECT_GT(ran, 100u);
}

// ---- reproducible bits ----------------------------------------------------------------------------------------------

// Scans with `reproducible` on this platform. `in` may be `out`.
template <class T>
void scan_reproducibly(Platform& platform, const T* in, T* out, std::size_t n, bool inclusive, unsigned grid = 0,
                       const Scalar& initial = {}) {
  Workspace workspace(platform);
  const Call call{.operation = Op::sum,
                  .in = {input_array(type_of<T>(), n, in)},
                  .out = {{{type_of<T>(), n, out}}},
                  .scalars = {inclusive, initial},
                  .tuning = {.grid = grid},
                  .workspace = &workspace};
  ASSERT_TRUE(find_rung(platform.rungs_of(*find_contract("scan")), "scan", "reproducible")
                  ->find(call.type(), call.operation)(call));
}

template <class T>
void expect_the_cpus_bits(simt::Emulator& emulator, const char* input, std::size_t n) {
  const std::vector<T> x = make_input<T>(input, n, 5);
  for (const bool inclusive : {false, true}) {
    struct How {
      std::size_t in, out;  // elements past an aligned address
      unsigned grid;        // 0: the rung's default
      bool in_place;        // then also with an initial value
    };
    std::vector<T> expected(n);
    for (const How how : {How{0, 0, 0, false}, How{1, 0, 1, false}, How{3, 2, 5, false}, How{1, 1, 2, true}}) {
      test::Array<T> in(emulator, n + 4), out(emulator, n + 4);
      T* const from = in.data() + how.in;
      T* const to = how.in_place ? from : out.data() + how.out;
      std::copy(x.begin(), x.end(), from);
      const Scalar initial = how.in_place ? Scalar(T(0.1)) : Scalar();
      scan_reproducibly(cpu_platform(), x.data(), expected.data(), n, inclusive, 0, initial);
      scan_reproducibly(emulator, from, to, n, inclusive, how.grid, initial);
      ASSERT_EQ(std::memcmp(to, expected.data(), n * sizeof(T)), 0)
          << input << " n=" << n << (inclusive ? " inclusive" : " exclusive") << " grid=" << how.grid;
    }
    const simt::Report report = emulator.take_report();
    ASSERT_TRUE(report.issues.empty()) << test::to_string(report);
  }
}

TEST(ScanReproducible, HasTheCpusBits) {
  simt::Emulator& emulator = plain_emulator();
  emulator.configure({});
  for (const char* input : {"wide", "cancellation", "denormals", "signed_zeros", "minus_zeros"})
    for (const std::size_t n : {1, 31, 33, 1023, 1024, 1025, 4097, 8191, 8193, 32 * 1024 + 1, 100'003}) {
      expect_the_cpus_bits<float>(emulator, input, n);
      expect_the_cpus_bits<double>(emulator, input, n);
    }
  // The tiles' totals fill one tile and begin a second.
  expect_the_cpus_bits<float>(emulator, "wide", (1u << 20) + 1025);
  expect_the_cpus_bits<double>(emulator, "wide", (1u << 20) + 1025);
}

TEST(ScanReproducible, HasTheCpusBitsWhereEveryAccessIsChecked) {
  simt::Emulator& emulator = traced_emulator();
  emulator.configure({});
  (void)emulator.take_report();
  expect_the_cpus_bits<float>(emulator, "wide", 40'000);
  expect_the_cpus_bits<double>(emulator, "wide", 20'000);
}

// ---- the sign of zero -----------------------------------------------------------------------------------------------

// Sums of -0 only, and of both zeros, by every rung and in several shapes.
void expect_the_sign_of_zero(simt::Emulator& emulator, std::string_view ladder, Type type) {
  const Primitive& primitive = *find_primitive(ladder);
  std::vector<const Rung*> rungs;
  for (const Rung* rung : emulator.rungs())
    if (rung->primitive == ladder && !rung->expected_wrong && rung->find(type, Op::sum)) rungs.push_back(rung);
  const lab::CheckOptions options{.depth = lab::emulated_depth,
                                  .types = {type},
                                  .operations = {Op::sum},
                                  .inputs = {"minus_zeros", "signed_zeros"},
                                  .sizes = {0, 1, 2, 33, 1025, 5000, 20'001}};
  for (const lab::RungCheck& result : lab::check(emulator, &emulator, primitive, rungs, options))
    EXPECT_TRUE(result.passed()) << (result.failures.empty() ? "nothing ran" : result.failures.front());
}

TEST(SignOfZero, IsKeptByEverySum) {
  simt::Emulator& emulator = plain_emulator();
  emulator.configure({});
  for (const char* ladder : {"reduce", "scan", "segmented_scan"})
    for (const Type type : {Type::f32, Type::f64}) expect_the_sign_of_zero(emulator, ladder, type);
}

// ---- communication between blocks -----------------------------------------------------------------------------------

// Computes an exclusive sum of small numbers with a rung and a grid (0: its default). Returns the mistake, or "".
std::string scan_of(simt::Emulator& emulator, const char* name, unsigned n, Workspace& workspace, unsigned grid = 0) {
  test::Array<Item> in(emulator, n), out(emulator, n);
  in.set([](std::size_t i) { return i % 1009 + 1; });
  out.set([](std::size_t) { return -7; });
  const Call call{.operation = Op::sum,
                  .in = {{{Type::i32, n, in.data()}}},
                  .out = {{{Type::i32, n, out.data()}}},
                  .tuning = {.grid = grid},
                  .workspace = &workspace};
  const Status status = find_rung(emulator.rungs(), "scan", name)->find(Type::i32, Op::sum)(call);
  const simt::Report report = emulator.take_report();
  if (!report.issues.empty()) return report.issues[0].kind;
  if (!status) return status.message;
  Item sum = 0;  // below 2^28
  for (unsigned i = 0; i < n; sum += in[i++])
    if (out[i] != sum) return "out[" + std::to_string(i) + "]";
  return "";
}

// Number of elements that has more tiles, of 4096 (lookback, wave) or 8192 elements (pipeline), than a warp polls at a
// time.
constexpr unsigned many_tiles = 700'000;

TEST(ScanSinglePass, BlocksInAnyOrder) {
  simt::Emulator& emulator = plain_emulator();
  for (const int threads : {1, 4}) {
    emulator.configure({.threads = threads});
    Workspace workspace(emulator);
    for (const char* name : {"lookback", "wave", "pipeline"})
      EXPECT_EQ(scan_of(emulator, name, many_tiles, workspace, 9), "") << name << " on " << threads << " threads";
    // Rungs that draw their tiles from a counter accept any dispatch order.
    emulator.configure({.threads = threads, .reverse_blocks = true});
    for (const char* name : {"lookback", "pipeline"})
      EXPECT_EQ(scan_of(emulator, name, many_tiles, workspace, 9), "") << name << " reversed";
  }
  // wave relies on blocks being dispatched in order, as the hardware does.
  emulator.configure({.threads = 1, .reverse_blocks = true, .yield_limit = 10'000});
  Workspace workspace(emulator);
  EXPECT_EQ(scan_of(emulator, "wave", many_tiles, workspace), "livelock");
  emulator.configure({});
}

constexpr std::size_t first_descriptor = 16;  // Descriptors::reserved

// Descriptors keep the epochs of earlier calls, and the 32-bit epoch wraps.
void expect_current_totals(simt::Emulator& emulator) {
  emulator.configure({.threads = 4});  // so that blocks poll descriptors before they are published
  for (const char* name : {"lookback", "wave", "pipeline"})
    for (const std::uint32_t last : {0x7ffffffeu, 0xfffffffeu}) {
      const std::uint32_t next = last == 0xfffffffe ? 1 : last + 2;  // epoch of the second call; 0 is never used
      Workspace workspace(emulator);
      const auto [words, count] = workspace.kept(1000);
      // Simulates a call before the wrap that published other totals in that epoch.
      for (std::size_t i = first_descriptor; i < count; ++i) words[i] = 0x7700000000ull | next;
      words[0] = std::uint64_t{last} << 32;  // the upper half; the lower one is the tile counter
      EXPECT_EQ(scan_of(emulator, name, 20'000, workspace, 3), "") << name << " after epoch " << last;
      EXPECT_EQ(words[0] >> 32, last == 0xfffffffe ? 0 : last + 1);
      EXPECT_EQ(words[0] << 32, 0) << "tiles are drawn from 0 again";
      EXPECT_EQ(scan_of(emulator, name, many_tiles, workspace, 3), "") << name << " in epoch " << next;
    }
  emulator.configure({});
}
TEST(ScanSinglePass, OldTotalsAreNeverTaken) { expect_current_totals(plain_emulator()); }
TEST(ScanSinglePass, OldTotalsAreNeverTakenWhereEveryAccessIsChecked) { expect_current_totals(traced_emulator()); }

// A call may publish only one of a tile's two descriptors, or only the sums of whole rows of tiles.
void expect_current_boxes(simt::Emulator& emulator) {
  emulator.configure({.threads = 4});
  constexpr unsigned n = 300'000;
  test::Array<Item> in(emulator, n), out(emulator, n);
  test::Array<float> numbers(emulator, n), sums(emulator, n);
  test::Array<std::uint8_t> heads(emulator, n);
  in.set([](std::size_t i) { return i % 1009 + 1; });
  numbers.set([](std::size_t i) { return i % 8; });
  for (const std::uint32_t last : {0x7ffffffeu, 0xfffffffeu})
    for (const char* name : {"lookback", "pipeline", "reproducible"}) {
      const bool floats = std::string_view(name) == "reproducible";
      const std::uint32_t next = last == 0xfffffffe ? 1 : last + 2;
      Workspace workspace(emulator);
      const auto [words, count] = workspace.kept(2000);
      for (std::size_t i = first_descriptor; i < count; ++i) words[i] = 0x4500000000ull | next;
      words[0] = std::uint64_t{last} << 32;  // the upper half; the lower one is the tile counter
      // A head in every other tile of 4096 elements: first in the even tiles, then in the odd ones.
      for (const unsigned odd : {0u, 1u}) {
        heads.set([&](std::size_t i) { return i % 8192 == odd * 4096 + 100; });
        const Type type = floats ? Type::f32 : Type::i32;
        const std::size_t some = odd ? n : n - 40'000;
        const Call call{.operation = Op::sum,
                        .in = {{{type, some, floats ? static_cast<void*>(numbers.data()) : in.data()},
                                {Type::u8, n, heads.data()}}},
                        .out = {{{type, some, floats ? static_cast<void*>(sums.data()) : out.data()}}},
                        .scalars = {true, HeadKind::flags},
                        .tuning = {.grid = 3},
                        .workspace = &workspace};
        const char* const primitive = floats ? "scan" : "segmented_scan";
        ASSERT_TRUE(find_rung(emulator.rungs(), primitive, name)->find(type, Op::sum)(call)) << name;
        ASSERT_TRUE(emulator.take_report().issues.empty()) << name;
        Item sum = 0;
        float exact = 0;  // below 2^24
        for (unsigned i = 0; i < some; ++i) {
          sum = heads[i] ? in[i] : sum + in[i];
          exact += numbers[i];
          if (floats)
            ASSERT_EQ(sums[i], exact) << name << " after " << last << " call " << odd << " at " << i;
          else
            ASSERT_EQ(out[i], sum) << name << " after " << last << " call " << odd << " at " << i;
        }
      }
    }
  emulator.configure({});
}
TEST(ScanSinglePass, OldTotalsInBoxesThatACallLeavesOut) { expect_current_boxes(plain_emulator()); }
TEST(ScanSinglePass, OldTotalsInBoxesWhereEveryAccessIsChecked) { expect_current_boxes(traced_emulator()); }

}  // namespace
}  // namespace upsweep
