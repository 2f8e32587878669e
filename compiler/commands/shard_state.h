// A distributed fit by files. `lehr stats` computes the expected statistics of one part (shard) of the items. `lehr
// update-globals` adds up those of all shards and updates the global factors. Each is a separate process that keeps its
// state only in files, so that any batch system can run a sweep. This header has what the two commands share.
//
// Sweeps of a model with one item stage, on two machines:
//   stats 1/2, stats 2/2 -> update-globals -> stats 1/2, stats 2/2 -> update-globals -> ...
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/commands/fit_options.h"
#include "compiler/fit/fitting.h"
#include "runtime/output/saved_fit.h"

namespace lehr::commands {

/// Options that `lehr stats` and `lehr update-globals` share.
struct ShardArguments {
  FitArguments fit;     // model, data, settings, threads, and the limits on the local iterations
  std::string globals;  // --globals: directory of the fit with the present global factors
};
/// Adds the options that `lehr stats` and `lehr update-globals` share; parsing stores their values in `o`, which must
/// outlive the command.
void add_shard_options(CLI::App& command, ShardArguments& o);

/// What `lehr stats` and `lehr update-globals` begin with: the compiled model with its data, and the global factors of
/// --globals. The fit is between two sweeps, or in the middle of one if a sweep visits the items several times.
struct ShardState {
  std::unique_ptr<Fitting> fitting;  // the compiled model with data; its memory has the factors
  SavedFit fit;                      // content of the directory --globals
  std::string model_text;            // text of the model file
  std::int64_t step = 0;             // step of the schedule where the sweep continues; above 0 in the middle of a sweep
  std::int64_t update_count = 0;     // how often update-globals has run in this fit
  std::string digest;                // hash of data, model, options and progress, which all files of one sweep share

  /// The engine of the compiled model.
  const Engine& engine() const { return fitting->instance().engine(); }
};
/// Reads model and data, and restores the state of the fit in --globals. After an error, prints it and returns its exit
/// code; one is that the model's items cannot be distributed.
std::variant<ShardState, ExitCode> read_shard_state(const ShardArguments& o);

/// Returns the arrays of state.npz, with which the next sweep begins: global factors with their expectations,
/// statistics, and progress. They are named as in the Loops program. posterior.npz would not do, since its parameters
/// are rounded.
std::vector<NamedArray> global_state_of(const ShardState& now);

/// Writes a file of arrays (.npz) with the digest of the sweep they belong to. The value is always true.
Result<bool> write_shard(const std::string& path, std::vector<NamedArray> arrays, const std::string& digest);
/// Reads a file that write_shard wrote. Fails with ExitCode::data if its digest is not `digest`, so that it belongs to
/// another sweep, model or data set. `expected` names the expected kind of file in the message.
Result<std::vector<NamedArray>> read_shard(const std::string& path, const std::string& digest,
                                           const std::string& expected);

/// Returns the engine's machine (tables and memory of the compiled model), with the limits on the local iterations of
/// an item that the options `o` ask for.
machine::Machine machine_of(const Engine& engine, const ShardArguments& o);

}  // namespace lehr::commands
