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

/// Values of the options that both commands of a distributed fit have, `lehr stats` and `lehr update-globals`.
struct ShardArguments {
  FitArguments fit;     // model, data, settings, threads, and limits on the local iterations; other members are unused
  std::string globals;  // --globals: directory of the fit with the global factors with which the sweep begins
};
/// Adds the options that `lehr stats` and `lehr update-globals` share (MODEL, --data, --globals, --threads, ...) to one
/// of these commands. Parsing stores their values in `o`, which must outlive the command.
void add_shard_options(CLI::App& command, ShardArguments& o);

/// The state of a distributed fit that `lehr stats` and `lehr update-globals` continue: the compiled model with its
/// data, and the global factors of --globals. The fit is between two sweeps, or in the middle of one if a sweep visits
/// the items several times.
struct ShardState {
  std::unique_ptr<Fitting> fitting;  // the compiled model with data; its memory has the factors
  SavedFit fit;                      // the saved fit in the directory --globals
  std::string model_text;            // text of the model file
  std::int64_t step = 0;             // step of the schedule at which the sweep continues; 0: a new sweep begins
  std::int64_t update_count = 0;     // how often update-globals has run in this fit
  std::string digest;                // hash of data, model, options and progress; all files of one sweep have the same

  /// Returns the engine of the compiled model: its tables and the memory with factors and statistics.
  const Engine& engine() const { return fitting->instance().engine(); }
};
/// Reads and compiles the model with its data, and restores the state of the fit in --globals, from which `lehr stats`
/// or `lehr update-globals` continues. After an error, such as a model whose items cannot be distributed, prints it and
/// returns its exit code.
std::variant<ShardState, ExitCode> read_shard_state(const ShardArguments& o);

/// Returns the arrays that `lehr update-globals` writes to state.npz, with which the next sweep begins: global factors
/// with their expectations, statistics, and progress. They are named as in the Loops program. They have all bits of the
/// numbers, while parameters in posterior.npz are rounded.
std::vector<NamedArray> global_state_of(const ShardState& now);

/// Writes a file of a distributed fit (.npz), statistics of one shard or the global state: arrays, and the digest of
/// the sweep they belong to. The value is always true.
Result<bool> write_shard(const std::string& path, std::vector<NamedArray> arrays, const std::string& digest);
/// Reads a file that write_shard() wrote. Fails with ExitCode::data if it has no digest, or another than `digest`, so
/// that it belongs to another sweep, model, data set or set of options. `expected` names the kind of file that should
/// be there, for the message.
Result<std::vector<NamedArray>> read_shard(const std::string& path, const std::string& digest,
                                           const std::string& expected);

/// Returns the engine's machine (tables and memory of the compiled model), on which `lehr stats` and
/// `lehr update-globals` run their part of the sweep, with the limits on the local iterations of an item from `o`.
machine::Machine machine_of(const Engine& engine, const ShardArguments& o);

}  // namespace lehr::commands
