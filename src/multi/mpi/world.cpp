// The module that gives a program an engine of all processes that MPI has started, without linking MPI itself.
#include "multi/mpi/engine.h"

namespace upsweep::multi {
namespace {

class World final : public Engine {
 public:
  World() {
    int is_initialised = 0;
    MPI_Initialized(&is_initialised);
    finalises_ = !is_initialised;
    if (finalises_) MPI_Init(nullptr, nullptr);
    engine_ = make_mpi_engine(MPI_COMM_WORLD);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() override {
    engine_.reset();
    if (finalises_) MPI_Finalize();
  }
  int processes() const override { return engine_->processes(); }
  int process() const override { return engine_->process(); }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    return engine_->all_gather(mine);
  }
  void exchange(std::span<const Transfer> transfers, std::span<const int> process_of) override {
    engine_->exchange(transfers, process_of);
  }

 private:
  bool finalises_ = false;
  std::unique_ptr<Engine> engine_;
};

}  // namespace
}  // namespace upsweep::multi

extern "C" upsweep::multi::Engine* upsweep_mpi_engine() { return new upsweep::multi::World; }
