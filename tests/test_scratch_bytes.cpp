// scratch_bytes() and Options::scratch, for every rung: a call needs what scratch_bytes() says, and no more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/contract.h"
#include "base/platform.h"
#include "base/workspace.h"
#include "error_of.h"
#include "lab/primitive.h"
#include "upsweep/buffer.h"
#include "upsweep/invoke.h"
#include "upsweep/scan.h"

#if defined(UPSWEEP_WITH_SIMT)
#include "simt/report.h"
#endif

namespace upsweep {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<Platform*> platforms() {
  std::vector<Platform*> all{&cpu_platform()};
  if (Platform* const gpu = cuda_platform()) all.push_back(gpu);
#if defined(UPSWEEP_WITH_SIMT)
  all.push_back(&plain_emulator());
#endif
  return all;
}

// A laboratory case as a request, with its arrays in device memory or on the host.
class Requested {
 public:
  Requested(const Device& device, const Primitive& primitive, const Case& c, const Problem& problem, Place place)
      : place_(place) {
    const Call call = call_of(primitive, c);
    request = {.contract = &primitive.contract, .operation = c.operation, .scalars = call.scalars};
    std::size_t k = 0;
    for (const Array& in : problem.inputs()) {
      in_.push_back(memory(device, in.bytes()));
      if (in.bytes()) in_.back()->copy_from({static_cast<const std::byte*>(in.data), in.bytes()});
      request.in[k] = view_of(in, *in_[k], in.data);
      ++k;
    }
    k = 0;
    for (const Array& out : problem.outputs()) {
      std::optional<std::size_t> replaced;
      for (std::size_t j = 0; j < in_.size(); ++j)
        if (out.data && out.data == problem.inputs()[j].data) replaced = j;
      out_.push_back(replaced ? in_[*replaced] : memory(device, out.bytes()));
      host_.emplace_back(out.bytes(), poison);
      if (!replaced) out_.back()->copy_from(Bytes(out_.back()->size(), poison));
      request.out[k] = view_of(out, *out_[k], host_[k].data());
      ++k;
    }
  }

  // Returns the last call's mistake, or nullopt.
  std::optional<std::string> mistake(const Problem& problem, const Rung& rung) {
    std::vector<const void*> outputs;
    for (std::size_t k = 0; k < out_.size(); ++k) {
      Bytes all = out_[k]->to_vector();
      if (place_ == Place::device && !host_[k].empty()) std::copy_n(all.begin(), host_[k].size(), host_[k].begin());
      outputs.push_back(host_[k].data());
    }
    return problem.verify(rung, outputs);
  }
  bool untouched() const {
    for (const auto& out : out_)
      for (const std::byte b : out->to_vector())
        if (b != poison) return false;
    return true;
  }

  Request request;

 private:
  static std::shared_ptr<Buffer<std::byte>> memory(const Device& device, std::size_t bytes) {
    return std::make_shared<Buffer<std::byte>>(device, bytes);
  }
  AnyView view_of(const Array& array, Buffer<std::byte>& buffer, void* host) const {
    AnyView v;
    v.type = array.type, v.count = array.count, v.place = place_;
    v.data = place_ == Place::host ? host : buffer.data();
    v.owner = place_ == Place::host ? nullptr : buffer.view().owner();
    return v;
  }
  const Place place_;
  std::vector<std::shared_ptr<Buffer<std::byte>>> in_, out_;
  std::vector<Bytes> host_;
};

// Makes a call with exactly the memory that it needs, with one byte less, and with a fresh device's workspace. Returns
// true if the call needs scratch memory and states how much.
bool expect_needs(Platform& platform, const Primitive& primitive, const Rung& rung, const Case& c) {
  SCOPED_TRACE(std::string(primitive.name()) + "/" + std::string(rung.name) + " on " +
               std::string(to_string(platform.backend())) + ", " + std::string(to_string(c.type)) + ", n " +
               std::to_string(c.n));
  const auto problem = primitive.make(c, {});
  const Place place = rung.from_host() ? Place::host : Place::device;
  const Options options{.rung = rung.name};
  Device device(platform);
  std::size_t needed = 0;
  {
    Requested dry(device, primitive, c, *problem, place);
    try {
      needed = scratch_bytes(device, dry.request, options);
    } catch (const Error& error) {
      if (error.code() != Code::unsupported) throw;
      return false;
    }
    EXPECT_EQ(device.workspace().held(), 0u);
    if (problem->outputs()[0].data == nullptr) {
      EXPECT_TRUE(dry.untouched());
    }
  }
  {
    Requested fresh(device, primitive, c, *problem, place);
    invoke(device, fresh.request, options);
    device.synchronize();
    const std::size_t held = device.workspace().held();
    EXPECT_LE(held, needed);
    // Two areas are rounded up to 256 bytes. A CPU rung's scratch may depend on the keys.
    if (platform.backend() != Backend::cpu) {
      EXPECT_LE(needed, held + 2 * 255);
    }
    EXPECT_EQ(fresh.mistake(*problem, rung), std::nullopt);
  }
  Device other(platform);
  Buffer<std::uint8_t> scratch(other, needed + 1);
  Requested lent(other, primitive, c, *problem, place);
  Options in_scratch = options;
  if (needed > 0) {
    in_scratch.scratch = scratch.view().subview(0, needed - 1);
    const Error error = error_of([&] { invoke(other, lent.request, in_scratch); });
    EXPECT_EQ(error.code(), Code::out_of_memory);
    EXPECT_NE(std::string(error.what()).find(std::to_string(needed)), std::string::npos) << error.what();
  }
  in_scratch.scratch = scratch.view().subview(0, needed);
  for (int call = 0; call < (rung.from_host() || problem->outputs()[0].data ? 1 : 2); ++call) {
    scratch.copy_from(std::vector<std::uint8_t>(needed + 1, 0xA5));
    invoke(other, lent.request, in_scratch);
    other.synchronize();
    EXPECT_EQ(lent.mistake(*problem, rung), std::nullopt) << "call " << call;
    EXPECT_EQ(scratch.to_vector().back(), 0xA5) << "wrote past its end";
  }
  EXPECT_EQ(other.workspace().held(), 0u);
  return needed > 0;
}

// Alternates sizes, operations and parameters.
TEST(ScratchBytes, EveryRungTakesWhatItSays) {
  constexpr std::size_t sizes[] = {1000, 20'011, 1, 70'001};
  int calls_with_scratch = 0;
  for (Platform* const platform : platforms())
    for (const Rung* const rung : all_rungs(*platform)) {
      const Primitive& primitive = *find_primitive(rung->primitive);
      if (rung->expected_wrong || !primitive.contract.choose) continue;  // ceilings are not part of the library
      std::size_t turn = 0;
      for (const Type type : primitive.types())
        for (int k = 0; k < 2; ++k, ++turn) {
          const std::vector<Operation> operations = primitive.operations();
          const std::vector<Settings> settings = primitive.variants(primitive, type);
          const Case c{.type = type,
                       .operation = operations[turn % operations.size()],
                       .n = sizes[(turn + turn / 4) % std::size(sizes)],
                       .input = primitive.inputs(type)[0],
                       .settings = settings[turn / 2 % settings.size()]};
          const bool emulated = platform->backend() == Backend::simt;
          if (c.n > primitive.largest_checked || (emulated && c.n > 20'011)) continue;
          if (emulated && rung->largest_emulated && c.n > rung->largest_emulated) continue;
          if (!rung->find_for(type, c.operation, c.n)) continue;
          try {
            calls_with_scratch += expect_needs(*platform, primitive, *rung, c);
          } catch (const Error& error) {
            // The laboratory cannot make the case, or the rung does not take it.
            EXPECT_EQ(error.code(), Code::unsupported) << rung->primitive << '/' << rung->name << ": " << error.what();
          }
        }
    }
  EXPECT_GT(calls_with_scratch, 100);
}

constexpr std::size_t n = 10'000;

Request scan_of(const AnyView& in, const AnyView& out) {
  return {.contract = find_contract("scan"), .operation = Op::sum, .in = {in}, .out = {out}};
}

// On a GPU, host arrays are copied, and the output replaces the input. On a CPU they are used in place.
TEST(ScratchBytes, CountsCopiesOfHostArrays) {
  for (Platform* const platform : platforms()) {
    Device device(*platform);
    std::vector<std::uint32_t> in(n, 3), out(n);
    Buffer<std::uint32_t> far_in(device, in), far_out(device, n);
    const std::size_t here = scratch_bytes(device, scan_of(view(in), view(out))),
                      there = scratch_bytes(device, scan_of(view(far_in), view(far_out)));
    if (platform->backend() == Backend::cpu) {
      EXPECT_EQ(here, there);
      continue;
    }
    EXPECT_GE(here, there + n * sizeof(std::uint32_t));
    EXPECT_LE(here, there + n * sizeof(std::uint32_t) + 1024) << "one array, and paddings";
    Buffer<std::uint8_t> scratch(device, here);
    invoke(device, scan_of(view(in), view(out)), {.scratch = view(scratch)});
    EXPECT_EQ(out[n - 1], 3 * (n - 1));
    EXPECT_EQ(device.workspace().held(), 0u);
  }
}

TEST(ScratchBytes, RefusesMemoryThatACallCannotUse) {
  for (Platform* const platform : platforms()) {
    Device device(*platform);
    Buffer<std::uint32_t> in(device, std::vector<std::uint32_t>(n, 3)), out(device, n);
    const std::size_t bytes = scratch_bytes(device, scan_of(view(in), view(out)));
    Buffer<std::uint8_t> scratch(device, bytes + 2);
    const auto refusal = [&](const AnyView& given) {
      const Error error = error_of([&] { invoke(device, scan_of(view(in), view(out)), {.scratch = given}); });
      EXPECT_EQ(error.code(), Code::invalid_argument);
      return std::string(error.what());
    };
    EXPECT_NE(refusal(scratch.view().subview(1, bytes + 1)).find("aligned to 256"), std::string::npos);
    for (const AnyView& array : {AnyView(view(in)), AnyView(view(out))})
      EXPECT_NE(refusal(array).find("scratch overlaps the"), std::string::npos);
    if (platform->backend() == Backend::cpu) continue;
    std::vector<std::uint8_t> host(bytes + 512);
    EXPECT_NE(refusal(view(host)).find("host memory"), std::string::npos);
  }
}

}  // namespace
}  // namespace upsweep
