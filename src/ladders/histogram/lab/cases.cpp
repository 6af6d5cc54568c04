// The laboratory's side of histogram.
#include <algorithm>
#include <cmath>
#include <limits>

#include "files/spool.h"
#include "lab/planted.h"
#include "lab/primitive.h"
#include "lab/rng.h"
#include "lab/stream.h"
#include "ladders/histogram/binding.h"
#include "ladders/histogram/lab/oracle.h"
#include "ladders/histogram/lab/probes.h"

namespace upsweep {

extern const Contract histogram_contract;
extern const Primitive histogram_primitive;

namespace ladders::histogram {
namespace {

constexpr std::string_view counter_names[] = {"u32", "u64", "u8", "u16"};
enum class Counter : std::uint8_t { u32, u64, u8, u16 };
constexpr Type type_of_counter(Counter c) {
  constexpr Type types[] = {Type::u32, Type::u64, Type::u8, Type::u16};
  return types[static_cast<std::size_t>(c)];
}

constexpr Parameter shapes[] = {{.name = "bins",
                                 .meaning = "per channel",
                                 .least = 1,
                                 .most = 1 << 20,
                                 .initial_in_words = "256; 128 between edges of one byte"},
                                {.name = "counter",
                                 .kind = Parameter::Kind::choice,
                                 .meaning = "the counters' type; u8 and u16 saturate",
                                 .choices = counter_names,
                                 .initial = Counter::u32},
                                {.name = "on_edge",
                                 .kind = Parameter::Kind::real,
                                 .meaning = "share of samples on a bin's lower edge or just below it",
                                 .most = 1,
                                 .initial = 0.0},
                                {.name = "edge_type",
                                 .kind = Parameter::Kind::choice,
                                 .meaning = "the type of the edges",
                                 .choices = arithmetic_type_names,
                                 .initial_in_words = "run: that of their file; for raw numbers, the samples'"},
                                {.name = "run_length",
                                 .kind = Parameter::Kind::real,
                                 .meaning = "mean length of the runs of equal samples",
                                 .least = 1,
                                 .initial_in_words = "as the input has them"}};
constexpr std::string_view streamed[] = {"bins", "counter", "edge_type"};

constexpr std::uint64_t edges_stream = 0x686973746f677201;  // a random stream that no other input uses

std::uint64_t bins_of(const Case& c) { return c.settings.get<std::uint64_t>("bins", 256); }
Type counter_of(const Case& c) { return type_of_counter(c.settings.get("counter", Counter::u32)); }

Type edge_type_of(const Case& c) { return c.settings.get("edge_type", c.type); }

Wide width_of(double from, double to) { return static_cast<Wide>(static_cast<Int128>(to) - static_cast<Int128>(from)); }

class HistogramProblem final : public Problem {
 public:
  HistogramProblem(const Primitive& primitive, const Case& c, std::span<const std::byte> data)
      : Problem(primitive, c, data) {
    visit(c.type, [&]<class T>(TypeTag<T>) {
      if (binning_ == Binning::direct && data.empty()) plant_indices(static_cast<T*>(values()));
      if (binning_ == Binning::edges) make_edges();
      if (data.empty() && case_.settings.find("run_length"))
        plant_runs(c.type, c.settings.get("run_length", 1.0), c.seed, c.n, values());
      if (data.empty() && binning_ != Binning::direct) plant_edges(static_cast<T*>(values()));
    });
    require_valid();
  }
  std::vector<Array> inputs() const override {
    std::vector<Array> all = Problem::inputs();
    if (binning_ == Binning::edges) all.push_back(input_array(edge_type_of(case_), bins_ + 1, edges_.data()));
    return all;
  }
  void choose_outputs(Call& call) const override {
    call.out[0] = {counter_of(case_), channels_ * bins_};
    call.out[1].count = 1;
  }
  std::string_view ceiling(const Rung&) const override { return "read"; }
  std::optional<std::string> verify(const Rung&, std::span<const void* const> outputs) const override {
    const Call call = host_call(outputs);
    if (counts_.empty()) counts_ = count(call);
    return find_mistake(counts_, call);
  }

 private:
  // Maps samples to bin indices, about one in nine of them past the last bin.
  template <class T>
  void plant_indices(T* samples) const {
    if constexpr (std::is_integral_v<T>)
      for (std::size_t i = 0; i < case_.n; ++i)
        samples[i] = static_cast<T>(static_cast<UnsignedAs<T>>(samples[i]) % (bins_ + bins_ / 8 + 1));
  }
  // Makes edges at unequal distances, from 1/16 to 15/16 of the usual range, so that some samples are outside. If that
  // many edges would coincide, they are equidistant over the whole range instead. Edges of another type begin below the
  // range and end above it, as far as their type allows, so that some bins can have no sample.
  void make_edges() {
    const Type type = edge_type_of(case_);
    visit(type, [&]<class E>(TypeTag<E>) {
      double from = detail::least_sample(case_.type), to = detail::past_samples(case_.type);
      const bool is_other = type != case_.type;
      if (is_other) {
        const double least = static_cast<double>(std::numeric_limits<E>::lowest());
        const double past = static_cast<double>(std::numeric_limits<E>::max());  // rounds up to max + 1 for i64 and u64
        const double beside = std::max((to - from) / 16, std::is_integral_v<E> ? static_cast<double>(bins_) : 0.0);
        from = std::max(from - beside, least), to = std::min(to + beside, std::nextafter(past, 0));
      }
      const double bins = static_cast<double>(bins_), values = std::is_integral_v<E> ? to - from : 0x1p24;
      if (bins > values - 1)
        throw Error(Code::unsupported,
                    "the laboratory has no " + std::to_string(bins_ + 1) + " different edges of " +
                        std::string(to_string(type)),
                    "fewer bins, or a wider type");
      const bool crowded = bins > values / 2;
      edges_.resize((bins_ + 1) * sizeof(E));
      E* const edges = reinterpret_cast<E*>(edges_.data());
      for (std::size_t k = 0; k <= bins_; ++k) {
        const double t = static_cast<double>(k) / bins, bent = t + 0.25 * t * (1 - t);
        edges[k] = static_cast<E>(crowded    ? from + std::floor(t * (values - 1))
                                  : is_other ? std::min(from + (to - from) * bent, to)
                                             : from + (to - from) * (1 + 14 * bent) / 16);
      }
    });
  }

  // Returns edge k, clamped to the range of the samples' type and truncated.
  template <class T>
  T sample_near_edge(std::size_t k) const {
    return visit(edge_type_of(case_), [&]<class E>(TypeTag<E>) {
      const E edge = reinterpret_cast<const E*>(edges_.data())[k];
      if constexpr (std::is_same_v<T, E>) return edge;
      const auto x = static_cast<long double>(edge);
      if (x <= static_cast<long double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
      if (x >= static_cast<long double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
      return static_cast<T>(edge);
    });
  }

  // Replaces a fraction `on_edge` of the samples by the smallest value of a bin or the value just below it.
  template <class T>
  void plant_edges(T* samples) const {
    const double share = shape<double>("on_edge");
    if (share == 0) return;
    const Random random(case_.seed, edges_stream);
    const Counting how = histogram_scalars.read(call_of(primitive_, case_).scalars);
    const double from = *how.lower, to = *how.upper;
    for (std::size_t i = 0; i < case_.n; ++i) {
      const auto [coin, which] = random.pair(i);
      if (static_cast<double>(coin) >= share * 0x1p64) continue;
      const std::size_t k = scale(which, bins_ + 1);
      T edge;
      if (binning_ == Binning::edges)
        edge = sample_near_edge<T>(k);
      else if constexpr (std::is_integral_v<T>)  // the smallest x with (x - from) * bins >= k * (to - from)
        edge = static_cast<T>(static_cast<Int128>(from) + (k * width_of(from, to) + bins_ - 1) / bins_);
      else
        edge = static_cast<T>(from + static_cast<double>(k) * (to - from) / static_cast<double>(bins_));
      if constexpr (std::is_integral_v<T>)
        samples[i] = static_cast<T>(edge - (which & 1));
      else
        samples[i] = which & 1 ? std::nextafter(edge, -std::numeric_limits<T>::infinity()) : edge;
    }
  }

  const Binning binning_ = case_.operation.as<Binning>();
  const std::size_t channels_ = case_.settings.get<std::uint64_t>("channels", 1);
  // A byte has only 256 values: too few for the 257 edges of 256 bins.
  const std::size_t bins_ =
      case_.settings.get<std::uint64_t>("bins", binning_ == Binning::edges && size_of(case_.type) == 1 ? 128 : 256);
  std::vector<std::byte> edges_;
  mutable std::vector<std::uint64_t> counts_;  // computed when first needed
};

// Elements in order of arrival, in memory while they fit, then in a temporary file.
class Kept {
 public:
  void use(const Streamer::Storage& storage) {
    most_in_memory_ = storage.bytes / 2;
    spool_.emplace(storage.folder);
  }
  void add(std::span<const std::byte> bytes) {
    if (spool_->size() == 0 && in_memory_ + bytes.size() <= most_in_memory_) {
      chunks_.emplace_back(bytes.begin(), bytes.end());
      in_memory_ += bytes.size();
    } else {
      spool_->write(bytes);
    }
  }
  // Calls f(bytes) for consecutive parts of up to most_chunk_bytes each, and frees every part in memory after its call.
  void for_each_part(auto&& f) {
    for (std::vector<std::byte>& chunk : chunks_) {
      f(std::span<const std::byte>(chunk));
      std::vector<std::byte>().swap(chunk);
    }
    std::vector<std::byte> part;
    for (std::uint64_t done = 0; done < spool_->size(); done += part.size()) {
      part.resize(std::min<std::uint64_t>(spool_->size() - done, most_chunk_bytes));
      spool_->read(done, part);
      f(std::span<const std::byte>(part));
    }
  }

 private:
  std::size_t most_in_memory_ = 0, in_memory_ = 0;
  std::vector<std::vector<std::byte>> chunks_;
  std::optional<Spool> spool_;
};

// The smallest and largest finite sample; least > greatest if there is none.
struct Extent {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;

  template <class T>
  void add(std::span<const std::byte> bytes) {
    const auto* const samples = reinterpret_cast<const T*>(bytes.data());
    T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::lowest();
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(samples[i])) continue;
      low = std::min(low, samples[i]);
      high = std::max(high, samples[i]);
    }
    if (low > high) return;
    least = std::min(least, next_to(low, -1));
    greatest = std::max(greatest, next_to(high, 1));
  }

 private:
  // Returns x as a double; an integer that no double equals is rounded in `direction`, -1 for down or 1 for up.
  template <class T>
  static double next_to(T x, int direction) {
    const double near = static_cast<double>(x);
    if constexpr (std::is_integral_v<T>) {
      const Int128 error = static_cast<Int128>(near) - static_cast<Int128>(x);
      if (error * direction < 0) return std::nextafter(near, direction * 0x1p65);
    }
    return near;
  }
};

// Counts every chunk with 64-bit counters, and adds up the counts. If the range is to span the samples, as it does by
// default in NumPy, all samples are kept until the range is known.
class HistogramStreamer final : public RungStreamer {
 public:
  HistogramStreamer(Platform& platform, const Rung& rung, const Case& c) : RungStreamer(platform, rung, c) {
    for (const char* name : {"width", "pitch"})
      if (c.settings.find(name))
        throw Error(Code::unsupported, "images with gaps between rows cannot be streamed", "cut the gaps out");
    kept_.use({});
    if (by_edges()) return;
    if (c.settings.find("edge_type")) refuse("histogram", "edge_type without edges", "leave it out, or use --op edges");
    Counting how = counting();
    if (range_of_samples_) how.lower = 0, how.upper = 1;  // until the samples' range is known
    set_bins(bins_of(c), how);
  }
  void use(const Storage& storage) override { kept_.use(storage); }
  std::vector<Beside> whole_inputs() const override {
    if (!by_edges()) return {};
    const bool is_said = case_.settings.find("edge_type");
    return {{.name = "edges", .type = edge_type_of(case_), .any_type = !is_said}};
  }
  void take_whole(std::size_t, std::vector<std::byte> edges, Type type) override {
    edges_ = std::move(edges);
    edge_type_ = type;
    const std::size_t count = edges_.size() / size_of(type);
    if (count < 2) refuse("histogram", std::to_string(count) + " edges", "one bin needs two");
    if (case_.settings.find("bins") && bins_of(case_) != count - 1)
      refuse("histogram", std::to_string(count) + " edges for " + std::to_string(bins_of(case_)) + " bins",
             "leave bins out: the edges determine their number");
    set_bins(count - 1, counting());
  }
  bool any_order() const override { return channels_ == 1 && RungStreamer::any_order(); }

  void feed(Chunks chunks, const Sink&) override {
    if (!range_of_samples_) return count(chunks[0]);
    visit(case_.type, [&]<class T>(TypeTag<T>) { extent_.add<T>(chunks[0]); });
    kept_.add(chunks[0]);
  }
  void finish(const Sink& sink) override {
    if (range_of_samples_) {
      set_range();
      kept_.for_each_part([&](std::span<const std::byte> part) { count(part); });
    }
    std::vector<std::byte> result(counts_.size() * size_of(output_type()));
    const Output out{result.data(), 8 * static_cast<unsigned>(size_of(output_type())), nullptr};
    for (std::size_t k = 0; k < counts_.size(); ++k) {
      if (output_type() == Type::u32 && counts_[k] > out.top())
        throw Error(Code::unsupported, "counter " + std::to_string(k) + " does not fit u32", "use --param counter=u64");
      out.put(k, counts_[k]);
    }
    sink(result);
    sink(std::as_bytes(std::span(&outside_, 1)), 1);
  }

 private:
  void describe(Call& call, std::uint64_t) const override {
    call.out[0] = {counter_of(case_), counts_.size()};
    call.out[1].count = 1;
  }
  bool by_edges() const { return case_.operation == Operation(Binning::edges); }
  Array edges_array(const std::byte* edges) const {
    return input_array(edge_type_, edges_.size() / size_of(edge_type_), by_edges() ? edges : nullptr);
  }
  void count(std::span<const std::byte> samples) {
    const std::size_t bytes = counts_.size() * sizeof(std::uint64_t), n = samples.size() / size_of(case_.type);
    std::byte* const out = counts_room_.grow(bytes);
    std::byte* const outside = outside_room_.grow(sizeof outside_);
    run({input_array(case_.type, n, reachable(samples, in_)), edges_array(reachable(edges_, edges_room_))},
        {Array{Type::u64, counts_.size(), out}, Array{Type::u64, 1, outside}});
    const auto* const counts = reinterpret_cast<const std::uint64_t*>(fetch(out, bytes).data());
    // A chunk may start at any channel.
    const std::size_t bins = counts_.size() / channels_;
    for (std::size_t k = 0; k < counts_.size(); ++k)
      counts_[(k / bins + done_) % channels_ * bins + k % bins] += counts[k];
    outside_ += *reinterpret_cast<const std::uint64_t*>(fetch(outside, sizeof outside_).data());
    done_ += n;
  }
  // Sets the range from the smallest to the largest sample, except for bounds that the caller has set. If the two
  // samples are equal, the range of floats is widened by 0.5, or 2^-20 of the value if that is more, at both ends; that
  // of integers by 1 at the upper end.
  void set_range() {
    Counting how = counting();
    const bool is_float = case_.type == Type::f32 || case_.type == Type::f64;
    double low = extent_.least, high = extent_.greatest;
    if (low > high) low = 0, high = 1;
    if (low == high && is_float) {
      const double half = std::max(0.5, std::fabs(low) * 0x1p-20);
      low -= half, high += half;
    } else if (low == high) {
      high = low + 1;
    }
    if (!case_.settings.find("lower")) how.lower = low;
    if (!case_.settings.find("upper")) how.upper = high;
    if (!case_.settings.find("upper") && !case_.settings.find("closed")) how.closed = true;
    set_bins(counts_.size() / channels_, how);
    set_scalars(histogram_scalars.scalars(how));
  }
  Counting counting() const { return histogram_scalars.read(call_of(histogram_primitive, case_).scalars); }
  // Sets the number of bins. Throws Error(invalid_argument) if the calls for the chunks would be invalid.
  void set_bins(std::size_t bins, const Counting& how) {
    Call call = call_of(histogram_primitive, case_);
    call.scalars = histogram_scalars.scalars(how);
    counts_.resize(channels_ * bins);
    call.in = {Array{case_.type}, edges_array(edges_.data())};
    call.out[0] = {Type::u64, counts_.size()};
    histogram_contract.require_arrays(call);
    histogram_contract.validate_elements(call);
  }

  const std::size_t channels_ = case_.settings.get<std::uint64_t>("channels", 1);
  // Returns true if the range is to span the samples. Bytes in 256 bins, as in images, get one bin per value instead.
  bool wants_range() const {
    const bool from = case_.settings.find("lower"), to = case_.settings.find("upper");
    if (case_.operation != Operation(Binning::even) || (from && to)) return false;
    return from || to || case_.type != Type::u8 || bins_of(case_) != 256;
  }
  const bool range_of_samples_ = wants_range();
  Kept kept_;
  Extent extent_;
  std::vector<std::byte> edges_;
  Type edge_type_ = case_.type;
  std::vector<std::uint64_t> counts_;
  std::uint64_t outside_ = 0, done_ = 0;
  Room in_{*this}, edges_room_{*this}, counts_room_{*this}, outside_room_{*this};
};

}  // namespace
}  // namespace ladders::histogram

extern const Primitive histogram_primitive{
    .contract = histogram_contract,
    .types =
        [] {
          return std::vector{Type::u8, Type::u16, Type::u32, Type::i32, Type::f32,
                             Type::i8, Type::i16, Type::i64, Type::u64, Type::f64};
        },
    .shapes = ladders::histogram::shapes,
    .streamed = ladders::histogram::streamed,
    // One bin; edges of another type; saturating counters; a range that leaves samples out, with edges that are not
    // round numbers; samples on lower edges; a closed last bin; runs; images with gaps between rows.
    .variants =
        [](const Primitive& p, Type type) {
          const bool is_float = type == Type::f32 || type == Type::f64;
          return std::vector<Settings>{
              {},
              p.settings(type, {{"bins", "1"}, {"counter", "u64"}}),
              p.settings(type, {{"bins", "50"}, {"edge_type", type == Type::f64 ? "f32" : "f64"}, {"on_edge", "0.5"}}),
              p.settings(type, {{"bins", "9"},
                                {"edge_type", type == Type::i64 ? "i32" : "i64"},
                                {"counter", "u8"},
                                {"channels", "2"},
                                {"on_edge", "0.25"},
                                {"closed", "true"}}),
              p.settings(type, {{"bins", "7"},
                                {"counter", "u8"},
                                {"on_edge", "0.5"},
                                {"lower", is_float ? "-0.25" : "3"},
                                {"upper", is_float ? "0.3" : "200"}}),
              p.settings(type, {{"bins", "1024"}, {"counter", "u16"}, {"on_edge", "0.25"}}),
              p.settings(type, {{"bins", "10"},
                                {"closed", "true"},
                                {"on_edge", "0.5"},
                                {"lower", is_float ? "-0.75" : "3"},
                                {"upper", is_float ? "0.7" : "100"}}),
              p.settings(type, {{"bins", "33"}, {"channels", "3"}, {"width", "96"}, {"pitch", "101"}}),
              p.settings(type, {{"bins", "16"}, {"channels", "4"}}),
              p.settings(type, {{"bins", "40"}, {"counter", "u8"}, {"run_length", "100"}})};
        },
    .probes = ladders::histogram::probes,
    .problem = &make_problem<ladders::histogram::HistogramProblem>,
    .stream = &make_streamer<ladders::histogram::HistogramStreamer>,
};

}  // namespace upsweep
