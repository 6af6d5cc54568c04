// Groups: every call against one device, with any number of members, of one process and of several that threads stand
// for; and what happens when the members disagree or one fails.
#include <cmath>
#include <thread>

#include "error_of.h"
#include "group_calls.h"
#include "lab/backends.h"
#include "multi/engine.h"
#include "upsweep/nccl.h"

namespace upsweep {
namespace {

using namespace testing;

// A sanitizer's build has no emulators.
bool is_present(Backend backend) {
  const std::vector<Backend> present = lab::present_backends();
  return std::ranges::find(present, backend) != present.end();
}

// The GPUs take turns if there are more members.
std::vector<Device> devices(Backend backend, int members) {
  int gpus = 0;
  while (cuda_platform(gpus)) ++gpus;
  std::vector<Device> all;
  for (int m = 0; m < members; ++m) {
    if (backend == Backend::cuda)
      all.push_back(Device::cuda(m % gpus));
    else
      all.push_back(Device(lab::open_platform(backend)));
  }
  return all;
}

// Results of sort and partition may be divided in another way than the inputs.
std::vector<std::size_t> parts_of_results(const GroupCase& c, std::mt19937_64& rng,
                                          const std::vector<std::size_t>& parts) {
  const bool any = c.contract == &sort_contract || c.contract == &partition_contract;
  if (!any || rng() % 2) return parts;
  return random_parts(rng, std::accumulate(parts.begin(), parts.end(), std::size_t{0}), static_cast<int>(parts.size()));
}

class GroupCalls : public ::testing::TestWithParam<std::pair<Backend, int>> {};

TEST_P(GroupCalls, EqualThoseOfOneDevice) {
  const auto [backend, members] = GetParam();
  if (!is_present(backend)) GTEST_SKIP() << "no " << to_string(backend);
  Group group(devices(backend, members));
  Device one = Device::cpu();
  std::mt19937_64 rng(static_cast<std::uint64_t>(members));
  int compared = 0;
  for (int k = 0; k < (backend == Backend::cpu ? 300 : 100); ++k) {
    GroupCase c = random_case(rng);
    SCOPED_TRACE(c.name + ", call " + std::to_string(k));
    const auto parts = random_parts(rng, c.in[0].count(), members);
    const auto results = parts_of_results(c, rng, parts);
    Outputs expected = run_on_one(one, c);
    PartsOfProcess all = divide(c, parts, results, 0, static_cast<std::size_t>(members));
    if (!runs(backend, [&] { invoke(group, all.requests, {.rung = c.rung}); })) continue;
    expect_same(c, expected, all.out);
    if (HasFatalFailure()) return;
    ++compared;
  }
  EXPECT_GE(compared, 50);
}

INSTANTIATE_TEST_SUITE_P(, GroupCalls,
                         ::testing::Values(std::pair{Backend::cpu, 1}, std::pair{Backend::cpu, 2},
                                           std::pair{Backend::cpu, 3}, std::pair{Backend::cpu, 5},
                                           std::pair{Backend::simt, 2}, std::pair{Backend::simt, 3},
                                           std::pair{Backend::cuda, 2}, std::pair{Backend::cuda, 3}),
                         [](const auto& info) {
                           return std::string(to_string(info.param.first)) + std::to_string(info.param.second);
                         });

// Runs f(process, group) on a thread for each process, which has `members` members.
void on_threads(int processes, int members, const std::function<void(int, Group&)>& f) {
  auto engines = multi::engines_of_threads(processes);
  std::vector<std::thread> threads;
  for (int p = 0; p < processes; ++p)
    threads.emplace_back([&, p, engine = std::exchange(engines[static_cast<std::size_t>(p)], nullptr)]() mutable {
      try {
        Group group(devices(Backend::cpu, members), std::move(engine));
        f(p, group);
      } catch (const Error& error) {
        ADD_FAILURE() << "process " << p << ": " << error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(GroupOfThreads, CallsEqualThoseOfOneDevice) {
  for (const auto& [processes, members] : {std::pair{2, 1}, std::pair{3, 2}, std::pair{5, 1}}) {
    Device one = Device::cpu();
    std::mt19937_64 rng(7);
    std::vector<GroupCase> cases;
    std::vector<Outputs> expected;
    std::vector<std::vector<std::size_t>> parts, results;
    for (int k = 0; k < 100; ++k) {
      cases.push_back(random_case(rng));
      parts.push_back(random_parts(rng, cases.back().in[0].count(), processes * members));
      results.push_back(parts_of_results(cases.back(), rng, parts.back()));
      expected.push_back(run_on_one(one, cases.back()));
    }
    std::vector<std::vector<PartsOfProcess>> out(cases.size());
    const auto size = static_cast<std::size_t>(members);
    for (std::size_t k = 0; k < cases.size(); ++k)
      for (std::size_t p = 0; p < static_cast<std::size_t>(processes); ++p)
        out[k].push_back(divide(cases[k], parts[k], results[k], p * size, size));
    on_threads(processes, members, [&](int p, Group& group) {
      EXPECT_EQ(group.size(), processes * members);
      EXPECT_EQ(group.first_rank(), p * members);
      for (std::size_t k = 0; k < cases.size(); ++k)
        invoke(group, out[k][static_cast<std::size_t>(p)].requests, {.rung = cases[k].rung});
    });
    for (std::size_t k = 0; k < cases.size(); ++k) {
      std::vector<std::array<HostArray, 4>> all;
      for (PartsOfProcess& process : out[k]) all.insert(all.end(), process.out.begin(), process.out.end());
      expect_same(cases[k], expected[k], all);
      if (HasFatalFailure()) return;
    }
  }
}

// Threads as processes with a GPU each, whose memory moves over NCCL.
TEST(GroupOverNccl, CallsEqualThoseOfOneDevice) {
  if (!cuda_platform(1)) GTEST_SKIP() << "fewer than two GPUs";
  if (!multi::has_nccl()) GTEST_SKIP() << "no NCCL";
  constexpr int processes = 2;
  auto engines = multi::engines_of_threads(processes);
  std::vector<std::thread> threads;
  std::vector<std::vector<PartsOfProcess>> out(processes);
  std::vector<GroupCase> cases;
  std::vector<Outputs> expected;
  std::mt19937_64 rng(3);
  Device one = Device::cpu();
  for (int k = 0; k < 100; ++k) {
    cases.push_back(random_case(rng));
    const auto parts = random_parts(rng, cases.back().in[0].count(), processes);
    expected.push_back(run_on_one(one, cases.back()));
    for (std::size_t p = 0; p < processes; ++p) out[p].push_back(divide(cases.back(), parts, parts, p, 1));
  }
  for (int p = 0; p < processes; ++p)
    threads.emplace_back([&, p, engine = engines[static_cast<std::size_t>(p)]] {
      std::vector<Device> mine;
      mine.push_back(Device::cuda(p));
      auto over_nccl = multi::nccl_engine(engine, mine);
      Group group(std::move(mine), std::move(over_nccl));
      for (std::size_t k = 0; k < cases.size(); ++k)
        invoke(group, out[static_cast<std::size_t>(p)][k].requests, {.rung = cases[k].rung});
    });
  engines.clear();
  for (std::thread& thread : threads) thread.join();
  for (std::size_t k = 0; k < cases.size(); ++k) {
    std::vector<std::array<HostArray, 4>> all;
    for (auto& process : out) all.push_back(std::move(process[k].out[0]));
    expect_same(cases[k], expected[k], all);
  }
}

// Expects an error of this code and message.
template <class F>
void expect_error(F&& f, Code code, const std::string& message) {
  const Error error = error_of(f);
  EXPECT_EQ(error.code(), code) << error.what();
  EXPECT_EQ(error.what(), message);
}

TEST(GroupOfThreads, DifferentCallsAreAnErrorEverywhere) {
  on_threads(3, 1, [](int p, Group& group) {
    std::vector<std::vector<std::int32_t>> in(1, std::vector<std::int32_t>(100, p)), out = in;
    expect_error(
        [&] {
          if (p == 2)
            sort(group, distributed(in), distributed(out));
          else
            reduce(group, distributed(in));
        },
        Code::invalid_argument,
        "the members' calls differ: member 0 calls reduce (sum) of i32, member 2 sort (ascending) of i32");
    // The group still works.
    EXPECT_EQ(reduce(group, distributed(in)), 300);
  });
}

TEST(GroupOfThreads, AMembersErrorIsEveryones) {
  on_threads(3, 1, [](int p, Group& group) {
    std::vector<std::vector<std::int32_t>> in(1, std::vector<std::int32_t>(100, p));
    std::vector<std::vector<std::int32_t>> out(1, std::vector<std::int32_t>(p == 1 ? 99 : 100));
    const std::string message = "scan: the output has 99 elements, 100 are needed";
    expect_error([&] { inclusive_scan(group, distributed(in), distributed(out)); }, Code::invalid_argument,
                 p == 1 ? message : "member 1: " + message);
    EXPECT_EQ(reduce(group, distributed(in)), 300);
  });
}

TEST(GroupOfThreads, AProcessThatEndsIsAnErrorElsewhere) {
  on_threads(3, 1, [](int p, Group& group) {
    if (p == 1) return;
    std::vector<std::vector<std::int32_t>> in(1, std::vector<std::int32_t>(100, p));
    expect_error([&] { reduce(group, distributed(in)); }, Code::lost_member, "process 1 of the group has ended");
  });
}

// Unsigned keys are first partitioned between samples. Here nearly all keys are equal, or the samples are of no use
// because they repeat with the same period as the keys.
TEST(Group, SortsUnsignedKeysOfAnyDistribution) {
  constexpr std::size_t n = 30000;
  std::mt19937_64 rng(5);
  const std::vector<std::function<std::uint64_t(std::size_t)>> distributions{
      [&](std::size_t) { return rng(); },
      [](std::size_t i) { return i; },
      [](std::size_t i) { return n - i; },
      [](std::size_t) { return 7; },
      [](std::size_t) { return ~std::uint64_t{0}; },
      [](std::size_t i) { return i % 3 == 1 ? 1000000 + i : i % 3; },
      [&](std::size_t) { return rng() % 100 == 0 ? rng() : 1000; },
      [&](std::size_t) { return rng() % 2; }};
  for (std::size_t k = 0; k < distributions.size(); ++k) {
    GroupCase c{.name = "distribution " + std::to_string(k), .contract = &sort_contract, .operation = Order::ascending};
    c.scalars = sort_scalars.scalars({});
    c.in[0] = {k % 2 ? Type::u32 : Type::u64, {}};
    c.in[0].bytes.resize(n * size_of(c.in[0].type));
    visit(c.in[0].type, [&]<class T>(TypeTag<T>) {
      std::size_t i = 0;
      for (T& x : c.in[0].as<T>()) x = static_cast<T>(distributions[k](i++));
    });
    c.in_shares[0] = c.out_shares[0] = c.out_shares[1] = Share::parts;
    c.out_types = {c.in[0].type, Type::u32};
    c.out_counts = {n, n};  // keys and indices
    Device one = Device::cpu();
    Outputs expected = run_on_one(one, c);
    Group group = Group::cpus(4);
    const auto parts = random_parts(rng, n, 4), results = random_parts(rng, n, 4);
    PartsOfProcess all = divide(c, parts, results, 0, 4);
    invoke(group, all.requests);
    expect_same(c, expected, all.out);
  }
}

TEST(Group, RedistributesParts) {
  for (const Backend backend : {Backend::cpu, Backend::simt, Backend::cuda}) {
    if (!is_present(backend)) continue;
    Group group(devices(backend, 3));
    std::vector<std::vector<std::int16_t>> in{{1, 2, 3, 4, 5}, {}, {6, 7}}, out{{0}, {0, 0, 0, 0, 0}, {0}};
    redistribute(group, distributed(in), distributed(out));
    EXPECT_EQ(out, (std::vector<std::vector<std::int16_t>>{{1}, {2, 3, 4, 5, 6}, {7}}));
    out[2].clear();
    expect_error([&] { redistribute(group, distributed(in), distributed(out)); }, Code::invalid_argument,
                 "redistribute: the parts of the output have 6 elements together, those of the input 7");
  }
}

// A sum is -0 if all of its elements are, wherever the parts are divided; the segment of the last two elements begins
// with the last element of a part.
TEST(Group, SumsKeepTheSignOfZero) {
  Group group = Group::cpus(3);
  std::vector<std::vector<float>> in{{-0.0f, -0.0f}, {}, {-0.0f}}, out{{1, 1}, {}, {1}};
  std::vector<std::vector<std::uint8_t>> heads{{1, 1}, {}, {0}};
  EXPECT_TRUE(std::signbit(reduce(group, distributed(in))));
  segmented_exclusive_scan(group, distributed(in), distributed(heads), distributed(out));
  EXPECT_FALSE(std::signbit(out[0][1]));  // a sum of no elements
  EXPECT_TRUE(std::signbit(out[2][0]));
}

TEST(Group, OfNothingOrOfDifferentBackends) {
  expect_error([] { Group group({}); }, Code::invalid_argument, "a group without devices");
  if (!is_present(Backend::simt)) return;
  const Error error = error_of([] {
    std::vector<Device> mixed = devices(Backend::cpu, 1);
    mixed.push_back(Device(lab::open_platform(Backend::simt)));
    Group group(std::move(mixed));
  });
  EXPECT_EQ(error.code(), Code::invalid_argument);
  EXPECT_NE(std::string(error.what()).find("which are of different backends"), std::string::npos) << error.what();
}

TEST(Group, AnIndexNeedsItsOutput) {
  Group group = Group::cpus(2);
  std::vector<std::vector<float>> in(2, std::vector<float>(10));
  std::uint32_t out = 7;
  std::vector<Request> requests(2, {.contract = &reduce_contract, .operation = IndexOf::max});
  for (std::size_t m = 0; m < 2; ++m) requests[m].in[0] = view(in[m]), requests[m].out[0] = host_view(&out, 1);
  expect_error([&] { invoke(group, requests); }, Code::invalid_argument, "reduce: the output is u32, not u64");
  for (Request& request : requests) request.out[0] = AnyView();
  expect_error([&] { invoke(group, requests); }, Code::invalid_argument,
               "reduce: the output has no element, 1 is needed");
  EXPECT_EQ(out, 7u);
}

TEST(Group, PartsForAnotherNumberOfMembers) {
  Group group = Group::cpus(2);
  std::vector<std::vector<float>> in(3, std::vector<float>(10));
  expect_error([&] { reduce(group, distributed(in)); }, Code::invalid_argument,
               "reduce: an array of 3 parts for 2 members of this process");
}

}  // namespace
}  // namespace upsweep
