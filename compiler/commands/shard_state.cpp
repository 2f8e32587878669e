// Saves and restores the state of a distributed fit between sweeps.
//
// Buffers whose first axis is not the items are saved; the factors of items stay with the shard that works on them.
// Every file has a digest of model, data, options and the number of updates so far, so that files of different sweeps
// cannot be mixed.
#include "compiler/commands/shard_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/commands/checkpoint.h"
#include "compiler/commands/fit_inputs.h"
#include "compiler/options/fit_settings.h"
#include "runtime/bytes.h"
#include "runtime/files/npz.h"
#include "runtime/files/zip.h"
#include "runtime/inference/sweep.h"
#include "runtime/machine/items.h"
#include "runtime/output/fit_files.h"

namespace lehr::commands {
namespace {

// Names of the arrays with the digest, and with the progress: step of the sweep, number of updates.
constexpr const char* kDigest = "lehr.digest";
constexpr const char* kProgress = "lehr.at";

/// Returns the characters of a text as numbers, so that an array can hold it.
std::vector<double> char_codes(const std::string& text) { return {text.begin(), text.end()}; }

/// Returns the buffers of the state that do not belong to single items.
std::vector<std::int64_t> buffers_outside(const Engine& e) {
  const StepRow& stage = *machine::batch_stage(e.model());
  std::vector<std::int64_t> out;
  for (const std::int64_t b : e.state_buffers()) {
    const machine::BufferRow& row = e.model().buffers[b];
    const bool of_items =
        row.axes > 0 && machine::row_of(e.machine(), stage.items, e.model().axes[row.first_axis], 0) >= 0;
    if (!of_items) out.push_back(b);
  }
  return out;
}

/// Copies saved buffers and progress into the fit. Fails with ExitCode::data if an array is missing or has another
/// size.
Result<bool> restore_state(ShardState& now, const std::vector<NamedArray>& arrays, const std::string& path) {
  const Error wrong{ExitCode::data, path, "not what `lehr update-globals` writes for this model", {}};
  for (const std::int64_t b : buffers_outside(now.engine())) {
    const NamedArray* const from = find_array(arrays, now.fitting->instance().name_of(b));
    const std::span<double> to = now.engine().reals(b);
    if (!from || from->values.size() != to.size()) return wrong;
    std::ranges::copy(from->values, to.begin());
  }
  const NamedArray* const at = find_array(arrays, kProgress);
  if (!at || at->values.size() != 2) return wrong;
  now.step = static_cast<std::int64_t>(at->values[0]);
  now.update_count = static_cast<std::int64_t>(at->values[1]);
  return true;
}

/// Compiles the model with its data and restores the state of --globals. Without state.npz, as directly after `lehr
/// fit`, the statistics are computed from the saved factors.
Result<ShardState> restore_shard_state(const ShardArguments& o, const Source& source, BoundModel bound) {
  ShardState now;
  Result<SavedFit> fit = read_fit(o.globals);
  if (!fit) return fit.error();
  FitOptions options = o.fit.fit;
  options.search = "none";
  Result<FitSettings> settings = to_fit_settings(options);
  if (!settings) return settings.error();
  settings->init = fit->posterior;
  settings->init_source = o.globals;
  Identity identity = identity_of(o.fit, source.text, *settings);
  now.fit = std::move(*fit);
  now.model_text = source.text;
  Result<std::unique_ptr<Fitting>> made = Fitting::make(std::move(bound), std::move(*settings));
  if (!made) return made.error();
  now.fitting = std::move(*made);
  if (const std::optional<Error> e = now.fitting->cannot_distribute()) return *e;
  if (Result<FitRun> run = now.fitting->start(0); !run) return run.error();
  const std::string path = o.globals + "/" + kStateFile;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    const Result<std::vector<NamedArray>> state = read_npz(path);
    if (!state) return state.error();
    if (Result<bool> r = restore_state(now, *state, path); !r) return r.error();
  } else if (const std::int32_t status = prepare_statistics(now.engine())) {
    return Error{ExitCode::numerical, o.globals, now.engine().describe(status), {}};
  }
  identity["update"] = fmt::format("{}", now.update_count);
  std::string all;
  Writer{all}(with_data(std::move(identity), now.fitting->data()));
  now.digest = fmt::format("{:08x}", checksum(all));
  return now;
}

}  // namespace

void add_shard_options(CLI::App& c, ShardArguments& o) {
  c.add_option("MODEL", o.fit.model, "Model file (*.lehr)")->required();
  add_data(c, o.fit.data, kDataHelp);
  add_settings(c, o.fit.settings, kSizesOfDataHelp);
  c.add_option("--globals", o.globals,
               "Directory of the fit whose global parameters (those that all items share) the sweep begins with")
      ->required()
      ->type_name("DIR");
  add_shared_options(c, o.fit.fit, [](const FitOption& row) {
    return row.option == "local-iters" || row.option == "local-tol" || row.option == "threads";
  });
  add_no_cache(c);
}

std::variant<ShardState, ExitCode> read_shard_state(const ShardArguments& o) {
  const std::optional<Source> source = read_model(o.fit.model);
  if (!source) return ExitCode::usage;
  std::variant<Inputs, ExitCode> read = read_inputs(o.fit, *source);
  if (const ExitCode* code = std::get_if<ExitCode>(&read)) return *code;
  Result<ShardState> now = restore_shard_state(o, *source, std::move(std::get<Inputs>(read).bound));
  if (!now) return complain_of(now.error(), o.fit.model);
  return std::move(*now);
}

std::vector<NamedArray> global_state_of(const ShardState& now) {
  std::vector<NamedArray> out{
      {kProgress, {2}, {static_cast<double>(now.step), static_cast<double>(now.update_count)}, true}};
  for (const std::int64_t b : buffers_outside(now.engine())) {
    const std::span<const double> x = now.engine().reals(b);
    out.push_back({now.fitting->instance().name_of(b), {std::ssize(x)}, {x.begin(), x.end()}});
  }
  return out;
}

Result<bool> write_shard(const std::string& path, std::vector<NamedArray> arrays, const std::string& digest) {
  arrays.push_back({kDigest, {std::ssize(digest)}, char_codes(digest), true});
  const Result<std::string> bytes = format_npz(arrays);
  return bytes ? write_output(path, *bytes) : bytes.error();
}

Result<std::vector<NamedArray>> read_shard(const std::string& path, const std::string& digest,
                                           const std::string& expected) {
  Result<std::vector<NamedArray>> arrays = read_npz(path);
  if (!arrays) return arrays;
  const NamedArray* const stored = find_array(*arrays, kDigest);
  if (!stored) return Error{ExitCode::data, path, "not " + expected, {}};
  if (stored->values != char_codes(digest)) {
    return Error{ExitCode::data,
                 path,
                 "of another sweep, model, option, data or program than " + option("globals"),
                 {"every sweep needs files of its own, made with the same words and by the same build of lehr"}};
  }
  return arrays;
}

machine::Machine machine_of(const Engine& engine, const ShardArguments& o) {
  machine::Machine out = engine.machine();
  out.accuracy = {o.fit.fit.local_iterations, o.fit.fit.local_tolerance};
  return out;
}

}  // namespace lehr::commands
