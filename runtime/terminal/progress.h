// What a fit says while it runs, on stderr: one bar that is redrawn on a terminal, a few plain lines
// otherwise.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

namespace lehr {

struct ProgressOptions {
  bool quiet = false;          // says nothing at all
  bool bar = false;            // redraw one line; see progress_for()
  bool utf8 = false;           // draw the bar with block characters
  int columns = 80;            // width of the terminal
  double seconds_between = 5;  // least time between two plain lines; the first and the last always come
};

/// The options for a stream: a bar when it is a terminal, as wide as that is.
ProgressOptions progress_for(std::FILE* stream, bool quiet);

/// A measured moment of a fit. `iteration` counts from 1 up to `max_iterations` (0: unknown) or beyond; `elbo` in nats,
/// NaN when it was not computed; `seconds` since the start.
struct Moment {
  std::int64_t iteration = 0;
  double seconds = 0;
  double elbo = 0;
  double temperature = 1;
};

class Progress {
 public:
  Progress(std::FILE* stream, ProgressOptions options, std::int64_t max_iterations);

  /// Shows the moment if it is time to; the change is against the last ELBO that was passed, shown or not.
  void update(const Moment& moment);

  /// A line of its own (a warning); the bar is drawn again below it.
  void message(const std::string& text);

  /// Shows the last moment, if it has not been shown, and then `text` (for instance "converged after 12
  /// iterations").
  void finish(const std::string& text = {});

 private:
  void show();
  /// Iterations a second since the first moment, and the time that the others would take; empty in the first second.
  std::string pace() const;
  /// What the stream does not take is lost: a fit goes on without its audience.
  void write(const std::string& text);

  std::FILE* stream_;
  ProgressOptions options_;
  std::int64_t max_iterations_;
  Moment first_, last_;
  double change_;
  double shown_at_ = 0;
  bool some_ = false, pending_ = false, bar_drawn_ = false, finished_ = false;
};

}  // namespace lehr
