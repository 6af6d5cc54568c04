// Groups: every call against one device, with any number of members, of one process and of several that threads stand
// for; and what happens when the members disagree or one fails.
#include <cmath>
#include <thread>

#include "group_calls.h"
#include "lab/backends.h"
#include "multi/engine.h"

namespace upsweep {
namespace {

using namespace testing;

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
  if (backend == Backend::cuda && !cuda_platform()) GTEST_SKIP() << why_no_cuda();
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

// Returns the message of the error that f throws.
template <class F>
std::string error_of(F&& f, Code code) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(GroupOfThreads, DifferentCallsAreAnErrorEverywhere) {
  on_threads(3, 1, [](int p, Group& group) {
    std::vector<std::vector<std::int32_t>> in(1, std::vector<std::int32_t>(100, p)), out = in;
    EXPECT_EQ(error_of(
                  [&] {
                    if (p == 2)
                      sort(group, distributed(in), distributed(out));
                    else
                      reduce(group, distributed(in));
                  },
                  Code::invalid_argument),
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
    EXPECT_EQ(error_of([&] { inclusive_scan(group, distributed(in), distributed(out)); }, Code::invalid_argument),
              p == 1 ? message : "member 1: " + message);
    EXPECT_EQ(reduce(group, distributed(in)), 300);
  });
}

TEST(GroupOfThreads, AProcessThatEndsIsAnErrorElsewhere) {
  on_threads(3, 1, [](int p, Group& group) {
    if (p == 1) return;
    std::vector<std::vector<std::int32_t>> in(1, std::vector<std::int32_t>(100, p));
    EXPECT_EQ(error_of([&] { reduce(group, distributed(in)); }, Code::lost_member), "process 1 of the group has ended");
  });
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
  EXPECT_EQ(error_of([] { Group group({}); }, Code::invalid_argument), "a group without devices");
  error_of(
      [] {
        std::vector<Device> mixed = devices(Backend::cpu, 1);
        mixed.push_back(Device(lab::open_platform(Backend::simt)));
        Group group(std::move(mixed));
      },
      Code::invalid_argument);
}

TEST(Group, PartsForAnotherNumberOfMembers) {
  Group group = Group::cpus(2);
  std::vector<std::vector<float>> in(3, std::vector<float>(10));
  EXPECT_EQ(error_of([&] { reduce(group, distributed(in)); }, Code::invalid_argument),
            "reduce: an array of 3 parts for 2 members of this process");
}

}  // namespace
}  // namespace upsweep
