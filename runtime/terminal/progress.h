// Shows the progress of a fit on stderr: one bar that is redrawn on a terminal, a few plain lines otherwise.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

namespace lehr {

/// Options of the progress display of a fit.
struct ProgressOptions {
  bool quiet = false;          // show nothing
  bool bar = false;            // redraw one line, on a terminal; see progress_for()
  bool utf8 = false;           // draw the bar with block characters
  int columns = 80;            // width of the terminal
  double seconds_between = 5;  // least time between two plain lines; the first and the last are always printed
};

/// Returns the options for a stream: a bar of the terminal's width if the stream is a terminal, plain lines otherwise.
ProgressOptions progress_for(std::FILE* stream, bool quiet);

/// The state of a fit after an iteration, as the progress display shows it.
struct ProgressPoint {
  std::int64_t iteration = 0;  // from 1; may exceed the expected number of iterations
  double seconds = 0;          // since the start of the fit
  double elbo = 0;             // nats; NaN if it was not computed
  double temperature = 1;      // 1 without annealing
};

/// Shows the progress of one fit on a stream, as a bar or as plain lines.
class Progress {
 public:
  /// Starts the display. `max_iterations` is the expected number of iterations, 0 if unknown. The stream must outlive
  /// the object.
  Progress(std::FILE* stream, ProgressOptions options, std::int64_t max_iterations);

  /// Shows this moment if enough time has passed since the last one shown. The displayed change of the ELBO is against
  /// the previous call, whether that was shown or not.
  void update(const ProgressPoint& moment);

  /// Prints a line of its own, such as a warning; the bar is redrawn below it. Prints nothing with
  /// ProgressOptions::quiet.
  void message(const std::string& text);

  /// Shows the last moment if it was not shown, then `text`, for instance "converged after 12 iterations".
  void finish(const std::string& text = {});

 private:
  /// Prints the last moment passed to update(), unless it was printed.
  void show();
  /// Returns iterations per second since the first moment, and the estimated time left; empty during the first second.
  std::string pace() const;
  /// Writes text to the stream; errors are ignored, so that a fit continues without its display.
  void write(const std::string& text);

  std::FILE* stream_;
  ProgressOptions options_;
  std::int64_t max_iterations_;
  ProgressPoint first_, last_;  // first and last moment passed to update()
  double change_;               // of the ELBO, last against previous moment
  double shown_at_ = 0;         // seconds of the moment shown last
  /// A moment was shown; the last one is not shown yet; the bar is on the line; finish() was called.
  bool some_ = false, pending_ = false, bar_drawn_ = false, finished_ = false;
};

}  // namespace lehr
