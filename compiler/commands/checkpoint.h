// DIR/checkpoint.bin: from where a fit that was interrupted, or killed, goes on with the bits of one that was not.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/commands/fit_options.h"
#include "compiler/fitting/fit_summary.h"
#include "runtime/methods/journal.h"

namespace lehr::commands {

/// What a fit is a function of, each by its name: options as they are spelled, the rest as digests.
using Identity = std::map<std::string, std::string>;
/// But for the data and the program.
Identity identity_of(const FitArguments& options, const std::string& model_text, const FitSettings& settings);
/// The same with them.
Identity with_data(Identity identity, const BoundData& data);
/// By which of them two are not the same, in words; empty: by none.
std::string differences(const Identity& was, const Identity& is);

/// What checkpoints begin with.
inline constexpr std::string_view kCheckpointMagic = "lehr checkpoint\n";

/// What a checkpoint holds.
struct SavedRuns {
  Identity identity;
  std::string command;  // that goes on from it
  Journal::Past past;
  std::vector<TracedRun> runs;
};

/// With a checksum at its end.
std::string format_checkpoint(const Identity& identity, const std::string& command, const Journal::Past& past,
                              const std::vector<const TracedRun*>& runs);
/// ExitCode::data where the bytes are none, or damaged; `path` is for messages.
Result<SavedRuns> parse_checkpoint(std::string_view bytes, const std::string& path);

/// Before anything is written: ExitCode::data where --resume names a directory without a checkpoint. A fit that begins
/// where another one was interrupted says so.
Result<bool> look_for_checkpoint(const FitArguments& options);

class Checkpoints {
 public:
  /// `identity` is what identity_of gives. Options and data must outlive it.
  Checkpoints(const FitArguments& options, Identity identity, const BoundData& data);

  /// What --resume names is read, and the journal on the way back. ExitCode::data where it is damaged, or of another
  /// fit, by which it says what differs.
  Result<bool> resume();
  Journal& journal() { return journal_; }

  /// Before a run that the checkpoint has: what it had drawn.
  void put_draws(TracedRun& run);
  /// After one that had been finished by then: what followed from its posterior.
  void put_results(TracedRun& run);

  /// Whether --checkpoint-every asks for one after this sweep.
  bool is_due();
  /// At the end of a sweep of `now`; whole, or not at all.
  Result<bool> write(const Engine& engine, const std::vector<TracedRun>& finished, const TracedRun& now) const;
  /// The fit has ended by itself.
  void remove() const;

  /// The command line that goes on.
  std::string command() const;

 private:
  std::string path() const;
  const Identity& identity() const;

  const FitArguments& options_;
  Identity identity_;  // but for what takes time to be told
  mutable std::optional<Identity> complete_;
  const BoundData& data_;
  Journal journal_;
  std::vector<TracedRun> runs_;  // of the checkpoint that was read
  std::int64_t sweeps_ = 0;
};

}  // namespace lehr::commands
