// `lehr stats`: the first half of a distributed sweep. Updates the local variables of one shard of the items and writes
// the expected sufficient statistics of the shard to a file.
//
// Items are divided into the same chunks on every machine, and a shard is a range of chunks. Its sums are stored as
// branches of the sum tree, not as one sum. `lehr update-globals` then adds them in the order of a fit on one machine,
// and gets its bits. For 8 chunks, shard 1/2 writes branch [0, 4) and shard 2/2 branch [4, 8).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/commands/shard_state.h"
#include "runtime/files/npz.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

using machine::ParallelWork;

/// Values of the command's options.
struct StatsArguments : ShardArguments {
  std::string out, after, shard = "1/1";  // output file; file of the last sweep; K/N as typed
  std::size_t part = 0, parts = 1;        // K - 1 and N of --shard
};

/// Parses K/N of --shard into `part` and `parts`. Returns false unless 1 <= K <= N.
bool parse_shard(StatsArguments& o) {
  const char* const end = o.shard.data() + o.shard.size();
  const auto [slash, bad] = std::from_chars(o.shard.data(), end, o.part);
  if (bad != std::errc() || slash == end || *slash != '/') return false;
  const auto [past, worse] = std::from_chars(slash + 1, end, o.parts);
  return worse == std::errc() && past == end && o.part >= 1 && o.part-- <= o.parts;
}

/// Calls `body` with the name and the memory of each buffer of the shard's items, as a list of contiguous rows.
template <class Body>
void for_each_item_buffer(const ShardState& now, const ParallelWork& items, const Partition& partition,
                          ChunkRange own_chunks, const Body& body) {
  for (std::int64_t b = 0; b < now.engine().model().buffer_count; ++b) {
    std::vector<std::span<double>> rows;
    for (std::size_t chunk = own_chunks.begin; chunk < own_chunks.end; ++chunk) {
      for (const ItemRange& run : partition.of(chunk))
        rows.push_back(rows_of(now.engine().machine(), items.items, run, b));
    }
    if (!rows.empty() && !rows[0].empty()) body("items." + now.fitting->instance().name_of(b), rows);
  }
}

/// Returns the numbers that identify a shard in a file: part, number of parts, and number of the update.
std::vector<double> shard_identity(const StatsArguments& o, std::int64_t update_count) {
  return {static_cast<double>(o.part), static_cast<double>(o.parts), static_cast<double>(update_count)};
}

/// Restores the local factors of the shard from the file of the previous sweep (--after). Without it they start at
/// their priors. Fails with ExitCode::data if the file is of another shard or sweep.
Result<bool> restore_items(const StatsArguments& o, const ShardState& now, const ParallelWork& items,
                           const Partition& partition, ChunkRange own_chunks) {
  if (o.after.empty()) return true;
  const Result<std::vector<NamedArray>> arrays = read_npz(o.after);
  if (!arrays) return arrays.error();
  const NamedArray* const place = find_array(*arrays, "lehr.place");
  if (!place || place->values != shard_identity(o, now.update_count - 1))
    return Error{ExitCode::data, o.after, "not what `lehr stats` made of this shard the last time", {}};
  bool fits = true;
  for_each_item_buffer(now, items, partition, own_chunks,
                       [&](const std::string& name, const std::vector<std::span<double>>& rows) {
                         const NamedArray* const from = find_array(*arrays, name);
                         std::size_t at = 0;
                         for (const std::span<double> to : rows) {
                           fits = fits && from && from->values.size() - at >= to.size();
                           if (fits)
                             std::copy_n(from->values.begin() + static_cast<std::ptrdiff_t>(at), to.size(), to.begin());
                           at += to.size();
                         }
                         fits = fits && at == from->values.size();
                       });
  if (!fits) return Error{ExitCode::data, o.after, "it has other items than this shard", {}};
  return true;
}

/// Returns the sums of the shard as arrays: for each branch of the tree its range of chunks, and for each statistic its
/// values by branch.
std::vector<NamedArray> sums_of(const ShardState& now, const ParallelWork& items, const SumTree& tree) {
  const auto parts = std::ssize(tree.parts());
  std::vector<NamedArray> out{{"lehr.shares", {}, {static_cast<double>(tree.root().end)}, true},
                              {"lehr.branches", {parts, 2}, {}, true}};
  for (const auto& [branch, sums] : tree.parts())
    out[1].values.insert(out[1].values.end(), {static_cast<double>(branch.begin), static_cast<double>(branch.end)});
  std::size_t k = 0;
  for (const std::int64_t b : items.sums) {
    NamedArray a{now.fitting->instance().name_of(b), {parts}, {}};
    const machine::BufferRow& row = now.engine().model().buffers[b];
    for (std::int64_t axis = 0; axis < row.axes; ++axis)
      a.shape.push_back(now.engine().extent(now.engine().model().axes[row.first_axis + axis]));
    for (const auto& [branch, sums] : tree.parts())
      a.values.insert(a.values.end(), sums.of(k).begin(), sums.of(k).end());
    out.push_back(std::move(a));
    ++k;
  }
  return out;
}

/// Sweeps over the shard and writes its file. Returns the number of chunks in the shard, which can be 0.
Result<std::size_t> write_statistics(const StatsArguments& o, ShardState& now) {
  const machine::Machine m = machine_of(now.engine(), o);
  const StepRow* stage = nullptr;
  const auto failed = [&](std::int32_t status) {
    return Error{ExitCode::numerical, o.globals, now.engine().describe(status), {}};
  };
  if (const std::int32_t status = machine::sweep_to_stage(m, now.step, stage)) return failed(status);
  Workers& workers = now.engine().workers();
  const ParallelWork items = machine::items_of(*m.model, *stage);
  const Partition partition = workers.partition_items(m, items);
  const ChunkRange own_chunks = chunks_of_process(partition.count(), o.part, o.parts);
  if (Result<bool> r = restore_items(o, now, items, partition, own_chunks); !r) return r.error();
  SumTree tree = workers.tree(items, partition.count());
  workers.work(m, items, partition, own_chunks, {stage->update}, tree);
  for (const auto& [branch, sums] : tree.parts()) {
    if (sums.status() != 0) return failed(sums.status());
  }
  std::vector<NamedArray> out = sums_of(now, items, tree);
  out.push_back({"lehr.place", {3}, shard_identity(o, now.update_count), true});
  for_each_item_buffer(now, items, partition, own_chunks,
                       [&](const std::string& name, const std::vector<std::span<double>>& rows) {
                         NamedArray a{name, {0}, {}};
                         for (const std::span<double> row : rows)
                           a.values.insert(a.values.end(), row.begin(), row.end());
                         a.shape[0] = std::ssize(a.values);
                         out.push_back(std::move(a));
                       });
  if (Result<bool> r = write_shard(o.out, std::move(out), now.digest); !r) return r.error();
  return own_chunks.end - own_chunks.begin;
}

/// Runs the command.
ExitCode stats(StatsArguments o) {
  if (!parse_shard(o))
    return complain({ExitCode::usage, "--shard", fmt::format("'{}' is not K/N with K from 1 to N", o.shard), {}});
  std::variant<ShardState, ExitCode> read = read_shard_state(o);
  if (const ExitCode* code = std::get_if<ExitCode>(&read)) return *code;
  const Result<std::size_t> chunks = write_statistics(o, std::get<ShardState>(read));
  if (!chunks) return complain(chunks.error());
  if (*chunks == 0)
    print_diagnostics(
        {make_warning(fmt::format("shard {} is empty: the data make fewer shares than there are shards", o.shard))},
        o.fit.model);
  return ExitCode::done;
}

}  // namespace

void add_stats(CLI::App& app, Action& action) {
  const auto o = std::make_shared<StatsArguments>();
  CLI::App* c =
      app.add_subcommand("stats", "Compute the statistics of one part of the items, for `lehr update-globals`");
  add_shard_options(*c, *o);
  c->get_option("--labels")
      ->description(
          "Names of the elements of a plate (an index set such as `term`), one per line of a text file: "
          "term=vocab.txt. Only their number counts here; `lehr update-globals` writes them. Default: none; "
          "repeatable");
  c->add_option("--shard", o->shard, "Part of the items to work on (a shard): K/N is the K-th of N parts")
      ->type_name("K/N")
      ->capture_default_str();
  c->add_option("--after", o->after,
                "File that `lehr stats` wrote for the same shard in the previous sweep, from which its items "
                "continue; without it they start at their priors")
      ->type_name("FILE");
  c->add_option("--out", o->out, "File for the sufficient statistics (.npz)")->required()->type_name("FILE");
  c->footer(
      "Examples:\n"
      "  lehr fit models/mixtures/gmm.lehr --data x=models/data/mixtures/faithful.csv:eruptions,waiting \\\n"
      "      --search none --max-iter 0 --out out/sweep0\n"
      "  lehr stats models/mixtures/gmm.lehr --data x=models/data/mixtures/faithful.csv:eruptions,waiting \\\n"
      "      --globals out/sweep0 --shard 1/2 --out out/S1.npz\n"
      "The sweep is made by `lehr update-globals`; docs/scale.md has all of it.");
  c->callback([o, &action] { action = [o] { return stats(*o); }; });
}

}  // namespace lehr::commands
