// A fit that is made sweep by sweep by whoever asks for its parts: nothing but files is kept in between. What `lehr
// stats` and `lehr update-globals` have in common.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/commands/fit_options.h"
#include "compiler/fitting/fitting.h"
#include "runtime/files/saved_fit.h"

namespace lehr::commands {

struct ShardArguments {
  FitArguments fit;  // model, data, settings, and how long items are worked on
  std::string globals;
};
void add_shard_options(CLI::App& command, ShardArguments& o);

/// The fit of --globals as it stands, on its data. Its model can be shared out.
struct Standing {
  std::unique_ptr<Fitting> fitting;
  SavedFit fit;
  std::string model_text;
  std::int64_t step = 0;  // of the sweep that is next, above 0 in the middle of one
  std::int64_t turn = 0;  // how often statistics were added up
  std::string digest;     // of the data, the model, and where the fit stands

  const Engine& engine() const { return fitting->instance().engine(); }
};
std::variant<Standing, ExitCode> read_standing(const ShardArguments& o);

/// The numbers that the next sweep begins with, posterior.npz aside, which has rounded what they were made from:
/// factors outside the items with their expectations, and the statistics. Named as in the Loops program.
std::vector<NamedArray> state_of(const Standing& now);

/// A file of arrays, with the digest of what they belong to, and back; ExitCode::data where it is of something else.
Result<bool> write_shard(const std::string& path, std::vector<NamedArray> arrays, const std::string& digest);
Result<std::vector<NamedArray>> read_shard(const std::string& path, const std::string& digest, const std::string& what);

/// A machine that works on items as long as `o` says.
machine::Machine machine_of(const Engine& engine, const ShardArguments& o);

const NamedArray* find(const std::vector<NamedArray>& arrays, const std::string& name);

}  // namespace lehr::commands
