// Started by mpiexec: the processes of MPI as a group. Every process makes the same random calls, each with its own
// part, and the first compares all parts of the results with those of one device.
#include "group_calls.h"
#include "lab/backends.h"
#include "upsweep/mpi.h"

namespace upsweep {
namespace {

using namespace testing;

int rank_of_this() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Returns every process's bytes, on the first process.
std::vector<std::vector<std::byte>> gather(const std::vector<std::byte>& mine) {
  int processes = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(processes)), begins(counts.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  std::vector<std::byte> all(static_cast<std::size_t>(begins.back() + counts.back()));
  MPI_Gatherv(mine.data(), count, MPI_BYTE, all.data(), counts.data(), begins.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
  std::vector<std::vector<std::byte>> lists;
  for (std::size_t p = 0; p < counts.size(); ++p)
    lists.emplace_back(all.begin() + begins[p], all.begin() + begins[p] + counts[p]);
  return lists;
}

void compare_calls(Backend backend, int calls) {
  std::vector<Device> devices;
  devices.push_back(backend == Backend::cpu ? Device::cpu() : Device(lab::open_platform(backend)));
  Group group = mpi_group(MPI_COMM_WORLD, std::move(devices));
  ASSERT_EQ(group.first_rank(), rank_of_this());
  Device one = Device::cpu();
  std::mt19937_64 rng(11);
  for (int k = 0; k < calls; ++k) {
    GroupCase c = random_case(rng);
    const auto parts = random_parts(rng, c.in[0].count(), group.size());
    Outputs expected = run_on_one(one, c);
    PartsOfProcess mine = divide(c, parts, parts, static_cast<std::size_t>(group.first_rank()), 1);
    if (!runs(backend, [&] { invoke(group, mine.requests, {.rung = c.rung}); })) continue;
    std::vector<std::array<HostArray, 4>> all(static_cast<std::size_t>(group.size()));
    for (std::size_t j = 0; j < 4; ++j) {
      auto lists = gather(mine.out[0][j].bytes);
      for (std::size_t p = 0; p < all.size(); ++p) all[p][j] = {c.out_types[j], std::move(lists[p])};
    }
    if (rank_of_this() == 0) expect_same(c, expected, all);
  }
}

TEST(MpiGroup, CallsOnCpusEqualThoseOfOneDevice) { compare_calls(Backend::cpu, 100); }
TEST(MpiGroup, CallsOnEmulatedGpusEqualThoseOfOneDevice) { compare_calls(Backend::simt, 20); }

TEST(MpiGroup, AMembersErrorIsEveryones) {
  std::vector<Device> devices;
  devices.push_back(Device::cpu());
  Group group = mpi_group(MPI_COMM_WORLD, std::move(devices));
  const int last = group.size() - 1, rank = group.first_rank();
  std::vector<std::vector<std::int32_t>> in(1, std::vector<std::int32_t>(100, 1));
  std::vector<std::vector<std::int32_t>> out(1, std::vector<std::int32_t>(rank == last ? 99 : 100));
  std::string message = "scan: the output has 99 elements, 100 are needed";
  try {
    inclusive_scan(group, distributed(in), distributed(out));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument);
    EXPECT_EQ(error.what(), rank == last ? message : "member " + std::to_string(last) + ": " + message);
  }
  EXPECT_EQ(reduce(group, distributed(in)), 100 * group.size());
}

TEST(MpiGroup, AProcessThatLeavesIsAnErrorElsewhere) {
  std::vector<Device> devices;
  devices.push_back(Device::cpu());
  std::optional<Group> group = mpi_group(MPI_COMM_WORLD, std::move(devices));
  if (group->size() == 1) return;
  if (rank_of_this() == 0) {
    group.reset();
    return;
  }
  std::vector<std::vector<std::int32_t>> in(1, std::vector<std::int32_t>(100, 1));
  try {
    reduce(*group, distributed(in));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::lost_member);
    EXPECT_STREQ(error.what(), "process 0 has left the group");
  }
}

}  // namespace
}  // namespace upsweep

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (upsweep::rank_of_this() > 0) delete listeners.Release(listeners.default_result_printer());
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
