// Checkpoints: DIR/checkpoint.bin, from which `lehr fit --resume DIR` continues an interrupted or killed fit.
//
// A checkpoint has the journal of the run (every result that its decisions depend on), the memory of the engine, and
// the finished runs. A resumed fit replays the journal from the start without computing, then restores the memory, and
// continues. It gives the same bits as a fit that was never interrupted. An identity, a digest of all inputs, guards
// against resuming a different fit. Files have a CRC at their end and are written atomically.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/commands/fit_options.h"
#include "compiler/fit/fit_summary.h"
#include "runtime/parallel/journal.h"

namespace lehr::commands {

/// Everything that determines the numbers of a fit, as a map from a name to its value. Options are spelled as on the
/// command line; files and arrays are digests. Two fits with equal identities give the same bits.
using Identity = std::map<std::string, std::string>;
/// Returns the identity of a fit from its options and its model text. It lacks the data and the program, which
/// with_data() adds later because reading them takes time. --threads is left out, as it changes no bits.
Identity identity_of(const FitArguments& options, const std::string& model_text, const FitSettings& settings);
/// Returns `identity` with digests of the data, the constants and sizes, and the program file added. This reads all
/// data and the executable, so it is called only when a checkpoint is written or compared.
Identity with_data(Identity identity, const BoundData& data);
/// Returns the entries in which two identities differ, as text for an error message: "--seed was '1' and is '2',
/// another data". Empty if they are equal. `was` is the identity of the checkpoint, or of the first process of a group;
/// `is` that of this fit, or of another process.
std::string differences(const Identity& was, const Identity& is);

/// The bytes with which every checkpoint file begins, by which a reader recognises it.
inline constexpr std::string_view kCheckpointMagic = "lehr checkpoint\n";

/// The content of a checkpoint file, from which `lehr fit --resume` continues an interrupted fit.
struct CheckpointContent {
  Identity identity;            // all inputs of the interrupted fit, files as digests; --resume must have the same
  std::string command;          // the command line that resumes the fit
  Journal::Past past;           // the recorded results to replay, and the engine's memory at the end of them
  std::vector<TracedRun> runs;  // the finished runs, and last the interrupted one
};

/// Returns the bytes of a checkpoint file, with a CRC-32 at their end. `runs` are the finished runs and last the
/// interrupted one.
std::string format_checkpoint(const Identity& identity, const std::string& command, const Journal::Past& past,
                              const std::vector<const TracedRun*>& runs);
/// Parses the bytes of a checkpoint file. Fails with ExitCode::data if they are not a checkpoint, are damaged, or come
/// from another version of the program. `path` is only for messages.
Result<CheckpointContent> parse_checkpoint(std::string_view bytes, const std::string& path);

/// Looks whether the output directory has a checkpoint, before the fit writes anything. Fails with ExitCode::data if
/// --resume names a directory without one. Prints a warning if a new fit replaces one that was interrupted there. The
/// value is always true.
Result<bool> look_for_checkpoint(const FitArguments& options);

/// The checkpoint of one `lehr fit`: writes it during the runs, reads it for --resume, and owns the journal in which
/// the runs record their results or from which they replay them.
class Checkpoints {
 public:
  /// Prepares checkpoints for a fit with this identity, which identity_of() made; nothing is read or written yet.
  /// `options` and `data` must outlive the object.
  Checkpoints(const FitArguments& options, Identity identity, const BoundData& data);

  /// Reads the checkpoint that --resume names and sets the journal to replay it. Fails with ExitCode::data if the file
  /// is damaged or belongs to a different fit; the message says what differs. The value is always true.
  Result<bool> resume();
  /// Returns the journal of the fit's runs: it records what they compute, or replays what a checkpoint recorded.
  Journal& journal() { return journal_; }

  /// Gives a run of a sampler the draws that the checkpoint has of it, since the replay computes none. Call it before
  /// the run is replayed or resumed; for runs that the checkpoint does not have it does nothing.
  void restore_draws(TracedRun& run);
  /// Gives a replayed run that was finished in the checkpoint its saved results: status, posterior, warnings and
  /// held-out score. Throws ReplayMismatch if the checkpoint has no such run, or its arrays have other shapes.
  void restore_results(TracedRun& run);

  /// Counts a sweep, and returns true if a checkpoint is due after it: after every --checkpoint-every sweeps of all
  /// runs together, never if that is 0. It must be called once for each sweep.
  bool is_due();
  /// Writes a checkpoint at the end of a sweep of run `now`; `finished` are the runs before it. The file is replaced
  /// atomically. All processes of a group must call it, and those without an output directory write no file. The value
  /// is always true.
  Result<bool> write(const Engine& engine, const std::vector<TracedRun>& finished, const TracedRun& now) const;
  /// Deletes the checkpoint file, if there is an output directory and a file. Call it when the fit was not interrupted.
  void remove() const;

  /// Returns the command line that resumes this fit, for messages and the checkpoint: that of the fit with --resume
  /// DIR.
  std::string command() const;

 private:
  /// Returns the path of the checkpoint file, in the directory of --out or --resume.
  std::string path() const;
  /// Returns the identity with data and program, to be written or compared; computes it at the first call.
  const Identity& identity() const;

  const FitArguments& options_;               // options of the fit
  Identity identity_;                         // identity of the fit without data and program, which take time to digest
  mutable std::optional<Identity> complete_;  // identity with data and program, computed when it is first needed
  const BoundData& data_;                     // data of the fit
  Journal journal_;                           // record of the runs, which is written or replayed
  std::vector<TracedRun> runs_;               // runs of the checkpoint that was read
  std::int64_t sweeps_ = 0;                   // sweeps counted by is_due
};

}  // namespace lehr::commands
