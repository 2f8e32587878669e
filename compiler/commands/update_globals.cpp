// `lehr update-globals`: the second half of a distributed sweep. Adds up the statistics of all shards and updates the
// global factors. The result is a directory like that of `lehr fit` after one more sweep, with state.npz for the next.
//
// The sums of the shards are put into the sum tree at their branches. So the order of all additions, and with it every
// bit, is that of a fit on one machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/commands/shard_state.h"
#include "compiler/fit/fit_summary.h"
#include "compiler/fit/write_fit.h"
#include "runtime/output/fit_files.h"
#include "runtime/output/trace.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

using machine::ParallelWork;

/// Values of the command's options.
struct UpdateArguments : ShardArguments {
  std::vector<std::string> shards;  // --stats: files of the shards
};

// The expected kind of file, for messages.
constexpr const char* kExpected = "what `lehr stats` writes";

/// Which file provided which part of the sums, to find files that overlap or are missing.
struct ShardFiles {
  std::vector<std::string> by_chunk;                    // file of each chunk; empty: none yet
  std::map<std::vector<double>, std::string> by_shard;  // file of each shard; a shard can be without items
};

/// Reads the sums of one file and puts them into the tree. Fails with ExitCode::data if the file is of another sweep,
/// or overlaps with a file that was read before.
Result<bool> add_file(const std::string& path, const ShardState& now, const ParallelWork& items, SumTree& tree,
                      ShardFiles& from) {
  const Result<std::vector<NamedArray>> arrays = read_shard(path, now.digest, kExpected);
  if (!arrays) return arrays.error();
  const auto wrong = [&](const std::string& text) { return Error{ExitCode::data, path, text, {}}; };
  const NamedArray *const branches = find_array(*arrays, "lehr.branches"), *const identity =
                                                                               find_array(*arrays, "lehr.place");
  if (!branches || !identity) return wrong(fmt::format("not {}", kExpected));
  if (const auto [entry, first] = from.by_shard.emplace(identity->values, path); !first)
    return wrong(fmt::format("{} is of the same shard", entry->second));
  for (std::size_t k = 0; 2 * k + 1 < branches->values.size(); ++k) {
    const Branch branch{static_cast<std::size_t>(branches->values[2 * k]),
                        static_cast<std::size_t>(branches->values[2 * k + 1])};
    if (!tree.is_branch(branch)) return wrong(fmt::format("not {} for these data", kExpected));
    for (std::size_t chunk = branch.begin; chunk < branch.end; ++chunk) {
      if (!from.by_chunk[chunk].empty()) return wrong(fmt::format("{} has the same items", from.by_chunk[chunk]));
      from.by_chunk[chunk] = path;
    }
    Sums sums = tree.fresh(now.engine().machine(), items);
    std::size_t statistic = 0;
    for (const std::int64_t b : items.sums) {
      const NamedArray* const values = find_array(*arrays, now.fitting->instance().name_of(b));
      const std::span<double> to = sums.of(statistic++);
      if (!values || values->values.size() < (k + 1) * to.size()) return wrong(fmt::format("not {}", kExpected));
      std::copy_n(values->values.begin() + static_cast<std::ptrdiff_t>(k * to.size()), to.size(), to.begin());
    }
    tree.put(branch, std::move(sums));
  }
  return true;
}

/// Reads the files of all shards and stores the sums of all items in the machine. Fails with ExitCode::data if sums of
/// some chunks are missing.
Result<bool> sum_shards(const UpdateArguments& o, const ShardState& now, const ParallelWork& items) {
  Workers& workers = now.engine().workers();
  const std::size_t chunks = workers.partition_items(now.engine().machine(), items).count();
  SumTree tree = workers.tree(items, chunks);
  ShardFiles from{std::vector<std::string>(chunks), {}};
  for (const std::string& path : o.shards) {
    if (Result<bool> r = add_file(path, now, items, tree, from); !r) return r;
  }
  const auto missing = std::ranges::count(from.by_chunk, "");
  if (missing > 0) {
    return Error{ExitCode::data,
                 o.globals,
                 fmt::format("the sums of {} of {} chunks of the items are missing", missing, chunks),
                 {"each of `lehr stats` with --shard 1/N to N/N writes one of the files"}};
  }
  tree.take(tree.root()).add_to(now.engine().machine(), items);
  return true;
}

/// Writes the directory of the fit after this update. `whole`: the sweep is complete and has an ELBO.
Result<bool> write(const UpdateArguments& o, const ShardState& now, const Elbo& elbo, bool whole) {
  TracedRun run;
  run.outcome.status = Status::max_iter;
  run.outcome.iterations = now.fit.iterations + (whole ? 1 : 0);
  run.outcome.elbo = whole ? elbo.value : now.fit.elbo;
  run.posterior = now.fitting->instance().posterior(false);
  std::vector<double> elbos = now.fit.elbo_trace;
  if (whole) elbos.push_back(elbo.value);
  Result<Trace> trace = Trace::open(o.fit.out);
  if (!trace) return trace.error();
  for (std::size_t k = 0; k < elbos.size(); ++k) {
    if (Result<bool> r = trace->append(run.outcome.iterations + 1 + static_cast<std::int64_t>(k) - std::ssize(elbos), 0,
                                       elbos[k], 1);
        !r)
      return r;
  }
  if (Result<bool> r = trace->write(); !r) return r;
  const model::Model& m = now.fitting->model();
  nlohmann::json summary =
      fit_summary({o.fit.model, now.model_text, o.fit.command, o.fit.fit.method, "", "", now.fit.seed}, m,
                  now.fitting->schedule().conditionals, now.fitting->data(), run, {run}, false, {});
  if (Result<bool> r = write_shard(o.fit.out + "/" + kStateFile, global_state_of(now), now.digest); !r) return r;
  return write_fit(o.fit.out, {std::move(summary), run, now.fitting.get()});
}

/// Runs the command.
ExitCode update_globals(const UpdateArguments& o) {
  std::variant<ShardState, ExitCode> read = read_shard_state(o);
  if (const ExitCode* code = std::get_if<ExitCode>(&read)) return *code;
  ShardState& now = std::get<ShardState>(read);
  const machine::Machine m = machine_of(now.engine(), o);
  const StepRow* stage = nullptr;
  std::int32_t status = machine::sweep_to_stage(m, now.step, stage);
  if (status == 0) {
    if (Result<bool> r = sum_shards(o, now, machine::items_of(*m.model, *stage)); !r) return complain(r.error());
  }
  // If a later step of the sweep visits items again, its statistics must be computed before the sweep can go on.
  const std::span<const StepRow> steps = now.engine().steps();
  const bool whole = std::ranges::none_of(steps.subspan(static_cast<std::size_t>(now.step)),
                                          [](const StepRow& s) { return s.stage && s.operations > 0; });
  Elbo elbo;
  if (status == 0 && whole) status = machine::sweep_to_stage(m, now.step, stage);
  if (status == 0 && whole) status = now.engine().elbo(elbo);
  if (status == 0 && whole && !machine::is_possible(elbo.value))
    return complain({ExitCode::numerical, o.globals, "the ELBO is not a number that data can have", {}});
  if (status != 0) return complain({ExitCode::numerical, o.globals, now.engine().describe(status), {}});
  if (whole) now.step = 0;
  ++now.update_count;
  if (Result<bool> r = write(o, now, elbo, whole); !r) return complain(r.error());
  if (whole)
    fmt::print("{}: sweep {}, ELBO {:.6f}; posterior in {}/{}\n", now.fitting->model().name, now.fit.iterations + 1,
               elbo.value, o.fit.out, kPosteriorFile);
  else
    fmt::print("{}: in the middle of sweep {}: `lehr stats` is needed once more\n", now.fitting->model().name,
               now.fit.iterations + 1);
  return ExitCode::done;
}

}  // namespace

void add_update_globals(CLI::App& app, Action& action, const std::string& command) {
  const auto o = std::make_shared<UpdateArguments>();
  o->fit.command = command;
  CLI::App* c = app.add_subcommand("update-globals", "Make one sweep out of the statistics of all parts of the items");
  c->add_option("--stats", o->shards,
                "Files written by `lehr stats`, one for each part of the items, separated by spaces")
      ->required()
      ->type_name("FILE");
  add_shard_options(*c, *o);
  c->get_option("--data")
      ->description("All data, in the same words as for `lehr stats`, though the sums come from --stats")
      ->required();
  for (const char* const option : {"--local-iters", "--local-tol"}) {
    CLI::Option* const shared = c->get_option(option);
    shared->description(shared->get_description() + "; must be as given to `lehr stats`");
  }
  c->add_option("--out", o->fit.out, "Directory for the fit after one more sweep")->required()->type_name("DIR");
  c->footer(
      "Examples:\n"
      "  lehr update-globals models/mixtures/gmm.lehr --data x=models/data/mixtures/faithful.csv:eruptions,waiting \\\n"
      "      --globals out/sweep0 --stats out/S1.npz out/S2.npz --out out/sweep1\n"
      "The order of the files does not matter. docs/scale.md has all of it.");
  c->callback([o, &action] { action = [o] { return update_globals(*o); }; });
}

}  // namespace lehr::commands
