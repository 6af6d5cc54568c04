#include "app/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <span>

#include "lab/grid.h"

namespace upsweep::app {

namespace {
void write(OutputFile& file, std::string_view text) { file.write(std::as_bytes(std::span(text))); }

// What cannot be said there can be said nowhere: a closed or full standard error ends nothing.
void to_stderr(std::string_view text) {
  (void)!std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}
}  // namespace

Output::Output(bool json, const std::string& path)
    : terminal_(lab::terminal(STDOUT_FILENO)), tables_(!json && path != "-") {
  if (json || !path.empty()) json_.emplace(path.empty() ? "-" : path);
  if (tables_) text_.emplace("-");
}

void Output::json_line(const std::string& line) {
  if (json_) write(*json_, line + "\n");
}

void Output::table(std::string_view text) {
  if (text_) write(*text_, text);
}

void Output::commit() {
  if (json_) json_->commit();
  if (text_) text_->commit();
}

std::optional<std::string> Output::keep_if_interrupted() {
  return json_ ? json_->keep_if_interrupted() : std::nullopt;
}

Progress::Progress(std::string what)
    : what_(std::move(what)), terminal_(lab::terminal(STDERR_FILENO)), shown_on_terminal_(isatty(STDERR_FILENO)) {}

void Progress::update(std::size_t done, std::size_t total, std::string_view note) {
  if (!shown_on_terminal_) return;
  const Clock::time_point now = Clock::now();
  using Seconds = std::chrono::duration<double>;
  const double elapsed = Seconds(now - start_).count();
  // Nothing in the first second, then ten times a second at most.
  if (elapsed < 1 || Seconds(now - last_).count() < 0.1 || total == 0) return;
  last_ = now;
  std::string line = fmt::format("{} {}/{}", what_, done, total);
  if (done > 0)
    line += fmt::format(", {:.0f} s left", elapsed / static_cast<double>(done) * static_cast<double>(total - done));
  if (!note.empty()) line += fmt::format(" ({})", note);
  if (lab::columns(line) >= static_cast<std::size_t>(terminal_.width))
    line.resize(static_cast<std::size_t>(terminal_.width) - 1);
  to_stderr("\r\033[K" + line);
  visible_ = true;
}

void Progress::clear() {
  if (!visible_) return;
  to_stderr("\r\033[K");
  visible_ = false;
}

void message(std::string_view text) { to_stderr(std::string(text) + "\n"); }

}  // namespace upsweep::app
