// Shows the progress of a fit on stderr: one bar that is redrawn on a terminal, a few plain lines otherwise.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

namespace lehr {

/// Options of the progress display of a fit.
struct ProgressOptions {
  bool quiet = false;          // true: nothing is shown
  bool bar = false;            // true: one line with a bar is redrawn, on a terminal; false: plain lines
  bool utf8 = false;           // true: the bar consists of block characters; false: of ASCII characters
  int columns = 80;            // width of the terminal
  double seconds_between = 5;  // least time between two plain lines; the first and the last are always printed
};

/// Returns the options for a stream: a bar of the terminal's width if the stream is a terminal (and TERM is not
/// "dumb"), plain lines otherwise.
ProgressOptions progress_for(std::FILE* stream, bool quiet);

/// The state of a fit after an iteration, as the progress display shows it.
struct ProgressPoint {
  std::int64_t iteration = 0;  // number of the iteration, from 1; may exceed the expected number of iterations
  double seconds = 0;          // seconds since the start of the fit
  double elbo = 0;             // the ELBO in nats; NaN if it was not computed
  double temperature = 1;      // the temperature of the iteration; 1 without annealing
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

  std::FILE* stream_;            // where the progress is shown
  ProgressOptions options_;      // how it is shown
  std::int64_t max_iterations_;  // expected number of iterations; 0: unknown
  ProgressPoint first_, last_;   // first and last moment passed to update()
  double change_;                // change of the ELBO in the last call of update(), in nats; NaN: unknown
  double shown_at_ = 0;          // seconds of the moment shown last
  bool some_ = false,            // true: a moment was shown
      pending_ = false,          // true: the last moment is not shown yet
      bar_drawn_ = false,        // true: the bar is on the present line of the terminal
      finished_ = false;         // true: finish() was called
};

}  // namespace lehr
