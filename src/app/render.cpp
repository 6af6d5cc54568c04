// upsweep render: draws a scene, or circles from a file, into an image file.
#include "upsweep/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>

#include "app/command.h"
#include "app/output.h"
#include "app/select.h"
#include "files/image.h"
#include "lab/backends.h"
#include "lab/sizes.h"
#include "ladders/render/binding.h"
#include "ladders/render/lab/circle_file.h"
#include "ladders/render/lab/oracle.h"
#include "ladders/render/lab/scenes.h"

namespace upsweep::app {
namespace {

using namespace ladders::render;

struct Options {
  std::string scene, output;
  std::string size = "1024x1024", view, background, rung, backend = "cpu", circles;
  std::uint64_t seed = 0;
  double alpha = -1, eps = 0;
  bool fast = false, coverage = false, check = false, snow = false;
};

void declare(CLI::App& command, Options& o) {
  command.add_option("scene", o.scene, "A scene by name, or circles in a .npy, .csv or .json file")->required();
  command.add_option("-o,--output", o.output, "Image to write: .png, .ppm, .pfm, .npy; - for a PNG on standard output");
  command.add_option("--size", o.size, "Width and height in pixels (1024x1024)");
  command.add_option("--view", o.view, "The rectangle to show: x0,y0,x1,y1 (0,0,1,1)");
  command.add_option("--background", o.background, "Three numbers, 0,0,0, or #rrggbb (white)");
  command.add_option("--alpha", o.alpha, "Alpha of every circle, 0 to 1, instead of its own")
      ->check(CLI::Range(0., 1.));
  command.add_option("--seed", o.seed, "Of a scene's random numbers (0)");
  command.add_option("-n,--circles", o.circles, "Circles of a scene, instead of its own number: 1000, 64K, 2^20");
  command.add_flag("--snow", o.snow, "Shade the circles of a file as snowflakes");
  command.add_flag("--fast", o.fast, "Permit an error of 2^-16 of the largest colour");
  command.add_option("--eps", o.eps, "Permit another error than that of --fast")->check(CLI::Range(0., 1.));
  command.add_flag("--coverage", o.coverage, "Compute the coverage as a fourth channel, which .npy keeps");
  command.add_option("--rung", o.rung, "Rung (default: the library's choice)");
  command.add_option("--backend", o.backend, "cpu, cuda or simt");
  command.add_flag("--check", o.check, "Hold the image against the serial renderer's, and print the difference");
}

// The numbers of a list "1,2,3"; throws unless there are `count`.
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
    if (error != std::errc{} || stop != digits.data() + digits.size() || value == 0 || value > 65536)
      throw Error(Code::invalid_argument, fmt::format("--size {} is not a size", text), "write --size 1920x1080");
    return value;
  };
  picture.width = side(std::string_view(text).substr(0, cross));
  picture.height = cross == text.npos ? picture.width : side(std::string_view(text).substr(cross + 1));
}

void take_background(const std::string& text, Picture& picture) {
  if (text.starts_with('#') && text.size() == 7) {
    unsigned value = 0;
    if (const auto [stop, error] = std::from_chars(text.data() + 1, text.data() + 7, value, 16);
        error == std::errc{} && stop == text.data() + 7) {
      picture.red = (value >> 16) / 255., picture.green = (value >> 8 & 255) / 255.,
      picture.blue = (value & 255) / 255.;
      return;
    }
  }
  const auto all = numbers("--background", text, 3);
  picture.red = all[0], picture.green = all[1], picture.blue = all[2];
}

Picture picture_of(const Options& o) {
  Picture picture;
  take_size(o.size, picture);
  if (!o.view.empty()) {
    const auto all = numbers("--view", o.view, 4);
    picture.x0 = all[0], picture.y0 = all[1], picture.x1 = all[2], picture.y1 = all[3];
  }
  if (!o.background.empty()) take_background(o.background, picture);
  if (o.coverage) picture.channels = Channels::rgbw;
  picture.eps = o.eps > 0 ? o.eps : o.fast ? 0x1p-16 : 0;
  return picture;
}

std::vector<Circle> circles_of(const Options& o, Picture& picture) {
  std::vector<Circle> circles;
  if (o.scene.find_first_of("./-") != std::string::npos) {
    circles = read_circles(o.scene);
    if (o.snow) picture.shading = Shading::snow;
  } else {
    std::vector<std::string> names;
    for (const Scene& scene : scenes()) names.emplace_back(scene.name);
    if (std::find(names.begin(), names.end(), o.scene) == names.end()) throw unknown_name("scene", o.scene, names);
    const Scene& scene = find_scene(o.scene);
    const std::size_t n = o.circles.empty() ? scene.circles : lab::parse_sizes(o.circles).front();
    circles = draw_scene(scene, n, o.seed);
    picture.shading = scene.shading;
  }
  if (o.alpha >= 0)
    for (Circle& c : circles) c.alpha = static_cast<float>(o.alpha);
  return circles;
}

int work(const Options& o) {
  Picture picture = picture_of(o);
  const auto format = o.output.empty() ? ImageFormat::png : image_format(o.output);
  std::optional<OutputFile> file;
  if (!o.output.empty()) file.emplace(o.output);  // before the work, so that an unwritable path costs nothing
  const std::vector<Circle> circles = circles_of(o, picture);
  const std::span floats(reinterpret_cast<const float*>(circles.data()), circles.size() * floats_per_circle);

  Selection selection{.backends = {o.backend}};
  Device device(lab::open_platform(chosen_backends(selection, {}).front()));
  const unsigned channels = count_of(picture.channels);
  std::vector<float> image(std::size_t{picture.width} * picture.height * channels);
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  render(device, floats, image, picture, {.rung = o.rung});
  const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
  message(fmt::format("{} circles, {}x{}: {:.3g} ms on {}", circles.size(), picture.width, picture.height, took.count(),
                      device.name()));

  int code = Exit::all_right;
  if (o.check) {
    const Frame frame = frame_of({.scalars = scalars_of(picture)});
    const std::vector<float> expected = expected_image(floats.data(), circles.size(), frame);
    const double permitted = permitted_error(floats.data(), circles.size(), frame);
    const Difference d = difference(frame, image.data(), expected.data());
    message(fmt::format("check: {} of {} numbers differ from the serial renderer's, by at most {:.3g}{}", d.differing,
                        image.size(), d.error, permitted > 0 ? fmt::format("; permitted {:.3g}", permitted) : ""));
    if (d.error > permitted || (permitted == 0 && d.differing > 0)) code = Exit::wrong_result;
  }
  if (file) {
    write_image(*file, format, {picture.width, picture.height, channels, image});
    file->commit();
  }
  return code;
}

}  // namespace

void add_render(CLI::App& app, int& exit_code) {
  add_command<Options>(app, exit_code, "render", "Draw semi-transparent circles in order, exactly",
                       "  upsweep render rand100k -o picture.png\n"
                       "  upsweep render points.csv --size 1920x1080 --background '#202020' -o points.png\n"
                       "  upsweep render rand1M --view 0.4,0.4,0.5,0.5 --check -o part.png\n"
                       "Scenes: rgb rgby pattern rand10k rand100k rand1M micro2M biglittle littlebig snow snowsingle\n"
                       "  bouncingballs hypnosis fireworks scatter10M\n",
                       declare, work);
}

}  // namespace upsweep::app
