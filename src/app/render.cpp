// upsweep render: draws a scene, or circles from a file, into an image file.
#include "upsweep/render.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "cpu/host_memory.h"
#include "files/image.h"
#include "files/quoted.h"
#include "lab/backends.h"
#include "lab/clock.h"
#include "lab/sizes.h"
#include "lab/statistics.h"
#include "lab/table.h"
#include "ladders/render/binding.h"
#include "ladders/render/lab/animation.h"
#include "ladders/render/lab/circle_file.h"
#include "ladders/render/lab/colour_text.h"
#include "ladders/render/lab/oracle.h"
#include "ladders/render/lab/scenes.h"
#include "ladders/render/lab/viewport.h"

namespace upsweep::app {
namespace {

using namespace ladders::render;

struct RenderOptions {
  std::string scene, output;
  std::string size = "1024x1024", view, aspect = "fit", background, rung, backend = "cpu", circles, frames, memory;
  std::uint64_t seed = 0;
  std::optional<double> alpha, eps, min_radius;
  bool fast = false, coverage = false, check = false, snow = false, bench = false;
};

void declare(CLI::App& command, RenderOptions& o) {
  offer(command
            .add_option("scene", o.scene,
                        "A scene by name, or a file of circles, .npy, CSV or JSON by its content; - for standard input")
            ->required(),
        [](const Line&) {
          std::vector<std::string> names;
          for (const Scene& scene : scenes()) names.emplace_back(scene.name);
          return names;
        });
  command.add_option("-o,--output", o.output,
                     "Image to write: .png, .ppm, .pfm, .exr, .npy; - for a PNG on standard output. "
                     "With --frames, a pattern like out-%04d.png, a .y4m film, or - for a film on standard output");
  command.add_option("--frames", o.frames, "Frames A to B - 1 of a scene that moves, A:B, at 60 a second");
  command.add_option("--size", o.size, "Width and height in pixels (1024x1024)");
  command.add_option("--view", o.view, "The rectangle to show: x0,y0,x1,y1 (0,0,1,1)");
  one_of(command.add_option("--aspect", o.aspect,
                            "If the picture and the view differ in shape: fit shows more around the view, fill shows "
                            "less of it, stretch turns circles into ellipses (fit)"),
         "aspect", {"fit", "fill", "stretch"});
  command.add_option("--background", o.background,
                     "#rgb, #rrggbb, black, ... or three numbers from 0 to 1: 0,0,0 (white)");
  in_range(command.add_option("--alpha", o.alpha, "Alpha of every circle, 0 to 1, instead of its own"), 0, 1);
  in_range(command.add_option("--min-radius-px", o.min_radius,
                              "Minimum radius in pixels, so that every circle is visible (0.72 for circles of CSV and "
                              "JSON, which are often points of a plot; otherwise 0)"),
           0, 65536);
  add_number(command, "--seed", o.seed, "Seed of a scene's random numbers (0)", std::uint64_t{0}, ~std::uint64_t{0});
  command.add_option("-n,--circles", o.circles,
                     "Number of circles of a scene, by default its own: 1000, 64K, 2^20; of a file, the first ones");
  command.add_flag("--snow", o.snow, "Shade the circles of a file as snowflakes");
  CLI::Option* const fast = command.add_flag("--fast", o.fast, "Permit an error of 2^-16 of the largest colour");
  in_range(command.add_option("--eps", o.eps, "Permit a different error from --fast's"), 0, 1)->excludes(fast);
  command.add_flag("--coverage", o.coverage, "Compute the coverage as a fourth channel, which .npy and .exr keep");
  command.add_option("--rung", o.rung, "Rung (default: the library's choice)");
  command.add_option("--backend", o.backend, "cpu, cuda or simt");
  command.add_option("--memory", o.memory,
                     "GPU memory that drawing may use besides circles and image, for rungs that take a limit: 256M "
                     "(default: whatever is fastest)");
  command.add_flag("--check", o.check, "Compare the image with the serial renderer's, and print the difference");
  command.add_flag("--bench", o.bench, "Draw the image repeatedly, and print the time");
}

// Parses a list "1,2,3"; throws unless it has `count` numbers.
std::vector<double> numbers(const char* option, const std::string& text, std::size_t count) {
  std::vector<double> all;
  const char *at = text.data(), *const end = at + text.size();
  for (;;) {
    double value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error == std::errc{}) all.push_back(value);
    if (error != std::errc{} || stop == end || *stop != ',') {
      if (error == std::errc{} && stop == end && all.size() == count) return all;
      throw Error(Code::invalid_argument, fmt::format("{} {}: {} numbers are needed", option, text, count),
                  "with commas between them");
    }
    at = stop + 1;
  }
}

void take_size(const std::string& text, Picture& picture) {
  const auto cross = text.find('x');
  const auto side = [&](std::string_view digits) {
    unsigned value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range || value > Picture::most_pixels)
      throw Error(Code::invalid_argument,
                  fmt::format("--size {}: a side has at most {} pixels", text, Picture::most_pixels),
                  "write --size 1920x1080");
    if (error != std::errc{} || stop != digits.data() + digits.size() || value == 0)
      throw Error(Code::invalid_argument, fmt::format("--size {} is not a size", text), "write --size 1920x1080");
    return value;
  };
  picture.width = side(std::string_view(text).substr(0, cross));
  picture.height = cross == text.npos ? picture.width : side(std::string_view(text).substr(cross + 1));
}

bool is_film(const RenderOptions& o) { return o.output == "-" || has_ending(o.output, ".y4m"); }
// Returns the output format; nullopt for a film, or if nothing is written.
std::optional<ImageFormat> format_of(const RenderOptions& o) {
  if (o.output.empty() || (!o.frames.empty() && is_film(o))) return std::nullopt;
  return image_format(o.output);
}
bool is_written(const RenderOptions& o, std::initializer_list<ImageFormat> formats) {
  const auto format = format_of(o);
  return format && std::find(formats.begin(), formats.end(), *format) != formats.end();
}
// True for 8-bit formats, which clamp colours to [0, 1].
bool writes_bytes(const RenderOptions& o) {
  return (!o.frames.empty() && is_film(o)) || is_written(o, {ImageFormat::png, ImageFormat::ppm});
}

std::array<double, 3> background_of(const RenderOptions& o) {
  const std::string& text = o.background;
  if (const auto colour = parse_colour(text)) return {(*colour)[0], (*colour)[1], (*colour)[2]};
  if (text == "transparent" || text == "none")
    throw Error(Code::invalid_argument, fmt::format("--background {}: a picture has no transparent pixels", text),
                "--coverage, into .npy or .exr, gives each pixel's coverage");
  if (text.find(',') == text.npos)
    throw Error(Code::invalid_argument, fmt::format("--background {} is not a colour", in_quotes(text)), colour_hint);
  const auto all = numbers("--background", text, 3);
  if (writes_bytes(o) && std::any_of(all.begin(), all.end(), outside_of_bytes)) {
    const bool bytes = std::all_of(all.begin(), all.end(), [](double c) { return c >= 0 && c <= 255; });
    throw Error(Code::invalid_argument,
                fmt::format("--background {}: an 8-bit picture holds colours from 0 to 1 only", text),
                bytes ? fmt::format("of 255, that is '#{:02x}{:02x}{:02x}'", int(all[0]), int(all[1]), int(all[2]))
                      : ".pfm, .exr and .npy hold others");
  }
  return {all[0], all[1], all[2]};
}

Viewport view_of(const RenderOptions& o, const Picture& picture) {
  Viewport view;
  if (!o.view.empty()) {
    const auto all = numbers("--view", o.view, 4);
    view = {all[0], all[1], all[2], all[3]};
  }
  const std::string shown = "--view " + (o.view.empty() ? "0,0,1,1" : o.view);
  view.require_pixels(picture.width, picture.height, shown);
  const Aspect aspect = o.aspect == "fit" ? Aspect::fit : o.aspect == "fill" ? Aspect::fill : Aspect::stretch;
  view = view.shaped(aspect, picture.width, picture.height);
  view.require_pixels(picture.width, picture.height, shown);
  return view;
}

Picture picture_of(const RenderOptions& o) {
  Picture picture;
  if (!o.memory.empty()) picture.scratch_bytes = lab::parse_bytes("--memory", o.memory);
  take_size(o.size, picture);
  if (!o.background.empty()) {
    const auto [red, green, blue] = background_of(o);
    picture.red = red, picture.green = green, picture.blue = blue;
  }
  if (o.coverage) picture.channels = Channels::rgbw;
  picture.eps = o.eps.value_or(o.fast ? 0x1p-16 : 0);
  return picture;
}

bool is_scene(const RenderOptions& o) {
  return std::ranges::any_of(scenes(), [&](const Scene& scene) { return scene.name == o.scene; });
}
bool is_file(const RenderOptions& o) {
  return o.scene.find_first_of("./-") != std::string::npos || (!is_scene(o) && std::filesystem::exists(o.scene));
}

const Scene& scene_of(const RenderOptions& o) {
  if (is_scene(o)) return find_scene(o.scene);
  std::vector<std::string> names;
  for (const Scene& scene : scenes()) names.emplace_back(scene.name);
  throw unknown_name("scene", o.scene, names);
}

std::size_t count_of_circles(const RenderOptions& o, const Scene& scene) {
  return o.circles.empty() ? scene.circles : lab::parse_size("-n", o.circles);
}

std::optional<float> alpha_of(const RenderOptions& o) {
  return o.alpha ? std::optional(static_cast<float>(*o.alpha)) : std::nullopt;
}

// Throws Error(out_of_memory), before any work, if circles, images and bins do not fit in host memory.
void require_memory(const RenderOptions& o, const Picture& picture, std::size_t circles) {
  const double floats = double(picture.width) * picture.height * count_of(picture.channels) * (o.check ? 3 : 2);
  const double needed = floats * sizeof(float) + 2. * circles * sizeof(Circle);
  const auto available = static_cast<double>(available_host_bytes());
  if (needed <= available) return;
  constexpr double gib = 1 << 30;
  throw Error(Code::out_of_memory,
              fmt::format("{}x{} pixels and {} circles need {:.1f} GiB of host memory, {:.1f} GiB are available",
                          picture.width, picture.height, circles, needed / gib, available / gib),
              "use a smaller --size, or fewer circles");
}

void show(const Viewport& view, Picture& picture) {
  picture.x0 = view.x0, picture.y0 = view.y0, picture.x1 = view.x1, picture.y1 = view.y1;
}

void enlarge(std::vector<Circle>& circles, double pixels, const Picture& p) {
  const auto radius = float(radius_of_pixels(pixels, {p.x0, p.y0, p.x1, p.y1}, p.width, p.height));
  for (Circle& c : circles) c.radius = std::max(c.radius, radius);
}

// True if the seed changes the scene's circles; those of some scenes are fixed.
bool is_random(const Scene& scene) {
  const auto some = [&](std::uint64_t seed) { return draw_scene(scene, 8, seed); };
  const std::vector<Circle> one = some(2), other = some(3);
  return !std::ranges::equal(std::as_bytes(std::span(one)), std::as_bytes(std::span(other)));
}

Platform& platform_of(const RenderOptions& o) {
  return lab::open_platform(chosen_backends(CaseOptions{.backends = {o.backend}}, {}).front());
}

// Returns the rungs that respect a limit on their scratch memory.
std::vector<std::string_view> limited_rungs(const Platform& platform) {
  std::vector<std::string_view> names;
  for (const Rung* rung : platform.rungs_of(render_contract))
    if (rung->limits_scratch) names.push_back(rung->name);
  return names;
}

// Rejects options that would have no effect.
void require_use(const RenderOptions& o) {
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw Error(Code::invalid_argument, what, hint);
  };
  if (is_file(o)) {
    if (!o.frames.empty()) refuse("the circles of a file stand still", "omit --frames");
    if (o.seed != 0) refuse("--seed: the circles of a file are not random", "omit --seed");
  } else {
    const Scene& scene = scene_of(o);
    if (o.seed != 0 && !is_random(scene))
      refuse(fmt::format("--seed: the circles of {} are not random", scene.name), "omit --seed");
    if (o.snow) refuse("--snow shades the circles of a file", "the scenes snow and snowsingle are shaded so");
    if (!o.background.empty() && scene.shading == Shading::snow)
      refuse(fmt::format("--background: the scene {} has its own sky", scene.name), "omit --background");
  }
  if (o.snow && !o.background.empty()) refuse("--background: --snow has its own sky", "omit one of them");
  if (!o.frames.empty() && o.bench) refuse("--bench times one picture", "omit --frames");
  if (!o.frames.empty() && o.min_radius) refuse("--min-radius-px is for one picture", "omit --frames");
  if (!o.memory.empty() && o.backend == "cpu")
    refuse("--memory limits what a GPU uses", "omit it, or add --backend cuda");
  if (!o.memory.empty())
    if (const Rung* const rung = find_rung(platform_of(o).rungs_of(render_contract), "render", o.rung);
        rung && !rung->limits_scratch)
      refuse(fmt::format("--memory: {} takes no limit", o.rung),
             fmt::format("omit it; these take one: {}", fmt::join(limited_rungs(platform_of(o)), ", ")));
  if (o.coverage && !o.output.empty() && !is_written(o, {ImageFormat::npy, ImageFormat::exr}))
    refuse(fmt::format("--coverage: {} does not keep it", o.output == "-" ? "the picture" : o.output),
           "write .npy or .exr");
}

// The bounding box of the circles.
struct Extent {
  static constexpr double far = std::numeric_limits<double>::infinity();
  double x0 = far, y0 = far, x1 = -far, y1 = -far;
  void add(const WideCircle& c) {
    x0 = std::min(x0, c.x - c.radius), x1 = std::max(x1, c.x + c.radius);
    y0 = std::min(y0, c.y - c.radius), y1 = std::max(y1, c.y + c.radius);
  }
  bool meets(const Viewport& view) const { return x0 <= view.x1 && x1 >= view.x0 && y0 <= view.y1 && y1 >= view.y0; }
};

std::vector<Circle> circles_of_file(const RenderOptions& o, const Viewport& view, Picture& picture) {
  if (o.snow) picture.shading = Shading::snow;
  const Placement place(view);
  show(place.shown(), picture);
  std::vector<Circle> circles;
  std::size_t all = 0;
  Extent extent;
  const std::size_t most = o.circles.empty() ? std::size_t(-1) : lab::parse_size("-n", o.circles);
  const CircleFile file =
      read_circles(o.scene, writes_bytes(o) ? ColourRange::of_bytes : ColourRange::any, [&](const WideCircle& c) {
        if (all++ >= most) return;
        circles.push_back(place(c));
        extent.add(c);
      });
  if (!o.circles.empty() && all < most)
    throw Error(Code::invalid_argument,
                fmt::format("-n {} is beyond the end of {}, which holds {} circles", o.circles, file.name, all),
                "use a smaller -n, or omit it");
  require_memory(o, picture, circles.size());
  if (!circles.empty() && !extent.meets(view))
    message(fmt::format("{}: the circles are outside of the view, in --view {:.6g},{:.6g},{:.6g},{:.6g}", file.name,
                        extent.x0, extent.y0, extent.x1, extent.y1));
  if (all == 0) message(fmt::format("no circles in {}; the picture is the background", file.name));
  if (!file.skipped.empty()) {
    std::string names;
    for (const std::string& name : file.skipped) names += (names.empty() ? "" : ", ") + in_quotes(name);
    message(fmt::format("{}: skipped the columns {}", file.name, printable(names)));
  }
  if (const double pixel = std::min((view.x1 - view.x0) / picture.width, (view.y1 - view.y0) / picture.height);
      file.rounded && pixel < view.spacing<float>())
    message(fmt::format("{}: f32 positions are {:.2g} apart in this view, whose pixels are {:.2g} wide; save f64",
                        file.name, view.spacing<float>(), pixel));
  const bool is_plot = file.format != CircleFormat::npy && !o.snow;
  enlarge(circles, o.min_radius.value_or(is_plot ? least_visible_radius : 0), picture);
  return circles;
}

std::vector<Circle> circles_of(const RenderOptions& o, Picture& picture) {
  const Viewport view = view_of(o, picture);
  std::vector<Circle> circles;
  if (is_file(o)) {
    circles = circles_of_file(o, view, picture);
  } else {
    const Scene& scene = scene_of(o);
    picture.shading = scene.shading;
    require_memory(o, picture, count_of_circles(o, scene));
    circles = draw_scene(scene, count_of_circles(o, scene), o.seed);
    const Placement place(view);
    show(place.shown(), picture);
    for (Circle& c : circles) c = place({c.x, c.y, c.radius, c.z, c.red, c.green, c.blue, c.alpha});
    enlarge(circles, o.min_radius.value_or(0), picture);
  }
  if (const auto alpha = alpha_of(o))
    for (Circle& c : circles) c.alpha = *alpha;
  return circles;
}

const float* floats_in(const Circle* circles) { return reinterpret_cast<const float*>(circles); }
std::span<const float> floats_of(const std::vector<Circle>& circles) {
  return {floats_in(circles.data()), circles.size() * floats_per_circle};
}

// Draws pictures on the selected device.
class Renderer {
 public:
  explicit Renderer(const RenderOptions& o) : options_(o), device_(platform_of(o)) {}

  Device& device() { return device_; }
  const std::vector<float>& draw(View<const float> circles, const Picture& picture) {
    image_.resize(std::size_t{picture.width} * picture.height * count_of(picture.channels));
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    render(device_, circles, image_, picture, how());
    took_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    return image_;
  }
  double took_ms = 0;  // the last picture's time

  // Draws the last picture repeatedly, from device memory to device memory, and prints the time.
  void bench(std::span<const float> circles, const Picture& picture) {
    const Buffer<float> from(device_, circles);
    Buffer<float> to(device_, image_.size());
    const auto call = [&](int) { render(device_, from.view(), to.view(), picture, how()); };
    const auto clock = lab::make_clock(device_.platform());
    const auto time_us = [&](int samples, int batch) { return clock->time_us(call, samples, batch, device_.stream()); };
    time_us(1, 1);  // allocates scratch
    // Enough consecutive draws per sample for the events to be accurate.
    const double once = time_us(1, 1).front();
    const int batch = static_cast<int>(std::clamp(2000 / std::max(once, 1.), 1., 200.));
    constexpr int runs = 15;
    const lab::Quartiles us = lab::quartiles(time_us(runs, batch));
    message(fmt::format("bench: {} a picture, from the device's memory into it; half of {} runs within {} and {}",
                        lab::time_text(us.median), runs, lab::time_text(us.q1), lab::time_text(us.q3)));
  }

  // Compares the last picture with the serial renderer's, exactly or within the permitted error, and prints the
  // difference.
  bool right(std::span<const float> circles, const Picture& picture) const {
    const std::size_t n = circles.size() / floats_per_circle;
    const Frame frame = frame_of(picture);
    const std::vector<float> expected = expected_image(circles.data(), n, frame);
    const double permitted = permitted_error(circles.data(), n, frame);
    const Difference d = difference(frame, image_.data(), expected.data());
    message(fmt::format("check: {} of {} numbers differ from the serial renderer's, by at most {:.3g}{}", d.differing,
                        image_.size(), d.error, permitted > 0 ? fmt::format("; permitted {:.3g}", permitted) : ""));
    return d.differing == 0 || (permitted > 0 && d.error <= permitted);
  }

 private:
  ::upsweep::Options how() const { return {.rung = options_.rung}; }
  const RenderOptions& options_;
  Device device_;
  std::vector<float> image_;
};

// ---- films ----------------------------------------------------------------------------------------------------------

struct FrameRange {
  unsigned begin, end;
};
FrameRange frames_of(const std::string& text) {
  FrameRange range{};
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.begin);
  if (first.ec == std::errc{} && first.ptr != end && *first.ptr == ':') {
    const auto last = std::from_chars(first.ptr + 1, end, range.end);
    if (last.ec == std::errc{} && last.ptr == end && range.begin < range.end) return range;
  }
  throw Error(Code::invalid_argument, fmt::format("--frames {} is not a range of frames", text),
              "write --frames 0:300 for the first 300");
}

// Returns the name of a frame's image, from a pattern with one %d or %04d.
std::string numbered(const std::string& pattern, unsigned frame) {
  const std::size_t at = pattern.find('%'), letter = pattern.find('d', at);
  unsigned digits = 0;
  if (at != pattern.npos && letter != pattern.npos && pattern.find('%', at + 1) == pattern.npos) {
    const char *const first = pattern.data() + at + 1, *const last = pattern.data() + letter;
    const auto [stop, error] = std::from_chars(first, last, digits);
    if (first == last || (error == std::errc{} && stop == last && digits < 20))
      return pattern.substr(0, at) + fmt::format("{:0{}}", frame, digits) + pattern.substr(letter + 1);
  }
  throw Error(Code::invalid_argument, "--frames writes many images: " + pattern + " has no %d for their numbers",
              "write -o out-%04d.png, or a film: -o film.y4m, or -o - into a video encoder");
}

// Sets the view of a film. Its circles move in f32, on the device, so the view is not mapped in f64 as for a picture,
// and its pixels must be at least as far apart as f32 numbers.
void show_moving(const Viewport& view, Picture& picture) {
  if (std::min((view.x1 - view.x0) / picture.width, (view.y1 - view.y0) / picture.height) < view.spacing<float>())
    throw Error(Code::invalid_argument, "--view: the pixels of a film would be closer together than f32 numbers",
                "show more, or draw one picture");
  show(view, picture);
}

int film(const RenderOptions& o, Picture picture) {
  const FrameRange range = frames_of(o.frames);
  const Scene& scene = scene_of(o);
  picture.shading = scene.shading;
  show_moving(view_of(o, picture), picture);
  const bool y4m = is_film(o);
  const auto format = format_of(o).value_or(ImageFormat::png);
  std::optional<OutputFile> whole;
  if (y4m)
    whole.emplace(o.output);
  else if (!o.output.empty())
    OutputFile(numbered(o.output, range.begin));  // so that an unwritable path fails early

  const std::size_t circles = count_of_circles(o, scene);
  require_memory(o, picture, circles);
  Renderer renderer(o);
  Animation animation(renderer.device().platform(), renderer.device().stream(), scene, circles, o.seed, alpha_of(o));
  if (y4m) write_y4m_header(*whole, picture.width, picture.height, Step::per_second);
  Progress progress("frame");
  int code = Exit::all_right;
  double ms = 0;
  for (unsigned frame = 0; frame < range.end; ++frame, animation.step()) {
    throw_if_interrupted();
    if (frame < range.begin) continue;
    progress.update(frame - range.begin, range.end - range.begin);
    const std::vector<float>& pixels =
        renderer.draw(device_view(floats_in(animation.circles()), circles * floats_per_circle), picture);
    ms += renderer.took_ms;
    if (o.check && !renderer.right(floats_of(animation.on_host()), picture)) code = Exit::wrong_result;
    const FloatImage image{picture.width, picture.height, count_of(picture.channels), pixels};
    if (y4m) {
      write_y4m_frame(*whole, image);
    } else if (!o.output.empty()) {
      OutputFile file(numbered(o.output, frame));
      write_image(file, format, image);
      file.commit();
    }
  }
  if (y4m) whole->commit();
  progress.clear();
  const unsigned frames = range.end - range.begin;
  message(fmt::format("{} frames of {} circles, {}x{}: {:.3g} ms each on {}", frames, circles, picture.width,
                      picture.height, ms / frames, renderer.device().name()));
  return code;
}

int work(const RenderOptions& o) {
  require_use(o);
  Picture picture = picture_of(o);
  if (!o.frames.empty()) return film(o, picture);
  const auto format = format_of(o).value_or(ImageFormat::png);
  std::optional<OutputFile> file;
  if (!o.output.empty()) file.emplace(o.output);  // before the work, so that an unwritable path fails early
  const std::vector<Circle> circles = circles_of(o, picture);
  Renderer renderer(o);
  const std::span<const float> floats = floats_of(circles);
  const std::vector<float>& pixels = renderer.draw(view(floats), picture);
  const bool right = !o.check || renderer.right(floats, picture);
  message(fmt::format("{} circles, {}x{}: {:.3g} ms on {}", circles.size(), picture.width, picture.height,
                      renderer.took_ms, renderer.device().name()));
  if (o.bench) renderer.bench(floats, picture);
  if (file) {
    write_image(*file, format, {picture.width, picture.height, count_of(picture.channels), pixels});
    file->commit();
  }
  return right ? Exit::all_right : Exit::wrong_result;
}

}  // namespace

void add_render(CLI::App& app, int& exit_code) {
  add_command<RenderOptions>(
      app, exit_code, "render", "Draw semi-transparent circles in order, exactly",
      "  upsweep render rand100k -o picture.png\n"
      "  upsweep render points.csv --size 1920x1080 --background '#202020' -o points.png\n"
      "  upsweep render stars.csv --view 266.4,-29.1,266.5,-29 --min-radius-px 1.5 -o stars.png\n"
      "  upsweep render rand1M --view 0.4,0.4,0.5,0.5 --check -o part.png\n"
      "  upsweep render snow --frames 0:300 --size 1280x720 --aspect fill -o - | ffmpeg -i - snow.mp4\n"
      "Scenes: rgb rgby pattern rand10k rand100k rand1M micro2M biglittle littlebig snow snowsingle\n"
      "  bouncingballs hypnosis fireworks scatter10M\n",
      declare, work);
}

}  // namespace upsweep::app
