// The progress bar, and the plain lines where there is no terminal.
#include "runtime/terminal/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "runtime/terminal/plot.h"

namespace lehr {
namespace {

/// Least time between two drawings of the bar.
constexpr double kSecondsBetweenFrames = 0.1;

/// Formats a duration: "3.2 s", "4:05" or "1:04:05".
std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  if (seconds < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

/// Returns a bar of `width` characters, of which the proportion `fraction` is filled.
std::string draw_bar(double fraction, int width, bool utf8) {
  static constexpr const char* kEighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  fraction = std::clamp(fraction, 0.0, 1.0);
  const int eighths = static_cast<int>(fraction * width * 8);
  std::string text;
  for (int i = 0; i < width; ++i) {
    const int filled = std::clamp(eighths - 8 * i, 0, 8);
    if (utf8) text += filled == 8 ? "█" : kEighths[filled];
    else text += filled == 8 ? '#' : '.';
  }
  return text;
}

}  // namespace

ProgressOptions progress_for(std::FILE* stream, bool quiet) {
  ProgressOptions options;
  options.quiet = quiet;
  options.utf8 = terminal_style() == PlotStyle::braille;
  const int descriptor = fileno(stream);
  const char* terminal = std::getenv("TERM");
  options.bar = isatty(descriptor) != 0 && !(terminal && std::string_view(terminal) == "dumb");
  winsize size = {};
  if (options.bar && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.columns = size.ws_col;
  return options;
}

Progress::Progress(std::FILE* stream, ProgressOptions options, std::int64_t max_iterations)
    : stream_(stream),
      options_(options),
      max_iterations_(max_iterations),
      change_(std::numeric_limits<double>::quiet_NaN()) {
  last_.elbo = std::numeric_limits<double>::quiet_NaN();
}

void Progress::update(const ProgressPoint& moment) {
  if (!some_) first_ = moment;
  change_ = moment.elbo - last_.elbo;
  last_ = moment;
  pending_ = true;
  const double least = options_.bar ? kSecondsBetweenFrames : options_.seconds_between;
  if (some_ && moment.seconds - shown_at_ < least) return;
  show();
}

std::string Progress::pace() const {
  constexpr double kLeastSeconds = 1;
  const double seconds = last_.seconds - first_.seconds;
  if (seconds < kLeastSeconds || last_.iteration == first_.iteration) return "";
  const double rate = static_cast<double>(last_.iteration - first_.iteration) / seconds;
  const std::int64_t left = max_iterations_ - last_.iteration;
  return fmt::format("  {:.3g}/s{}", rate,
                     left > 0 && !finished_ ? ", at most " + duration(static_cast<double>(left) / rate) + " left" : "");
}

void Progress::show() {
  if (!pending_) return;
  pending_ = false;
  some_ = true;
  shown_at_ = last_.seconds;
  if (options_.quiet) return;
  // A search makes more sweeps than one run may; they are counted without an end.
  const bool ends = max_iterations_ > 0 && last_.iteration <= max_iterations_;
  std::string line = ends ? fmt::format("iteration {:>{}}/{}", last_.iteration,
                                        fmt::formatted_size("{}", max_iterations_), max_iterations_)
                          : fmt::format("iteration {}", last_.iteration);
  if (!std::isnan(last_.elbo)) line += fmt::format("  ELBO {:.8g}", last_.elbo);
  if (!std::isnan(change_)) line += fmt::format("  change {:+.3g}", change_);
  if (last_.temperature != 1) line += fmt::format("  T {:.4g}", last_.temperature);
  line += "  " + duration(last_.seconds) + pace();
  if (!options_.bar) {
    write(line + "\n");
  } else {
    constexpr int kLongestBar = 24, kLeastBar = 6;
    const int available = options_.columns - static_cast<int>(line.size()) - 4;
    const int width = std::min(available, kLongestBar);
    if (ends && width >= kLeastBar) {
      const double fraction = static_cast<double>(last_.iteration) / static_cast<double>(max_iterations_);
      line = fmt::format("{} {}", draw_bar(fraction, width, options_.utf8), line);
    } else if (static_cast<int>(line.size()) >= options_.columns) {
      line.resize(static_cast<std::size_t>(std::max(1, options_.columns - 1)));
    }
    write("\r" + line + "\x1b[K");
    bar_drawn_ = true;
  }
  std::fflush(stream_);
}

void Progress::write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stream_); }

void Progress::message(const std::string& text) {
  if (options_.quiet) return;
  if (bar_drawn_) write("\r\x1b[K");
  write(text + "\n");
  std::fflush(stream_);
  if (bar_drawn_) {
    pending_ = true;
    show();
  }
}

void Progress::finish(const std::string& text) {
  finished_ = true;
  show();
  if (options_.quiet) return;
  if (bar_drawn_) write("\n");
  bar_drawn_ = false;
  if (!text.empty()) write(text + "\n");
  std::fflush(stream_);
}

}  // namespace lehr
