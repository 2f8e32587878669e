// `lehr plan`: estimates what a fit of given sizes needs, without data: memory, operations of a sweep, and bytes that
// processes exchange. The model is lowered for these sizes, and its tables of buffers and steps are evaluated; nothing
// is compiled or allocated.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "compiler/commands/commands.h"
#include "compiler/console/settings.h"
#include "compiler/fit/checks/rounding.h"
#include "compiler/fit/item_solution.h"
#include "compiler/machine/tables.h"
#include "compiler/pipeline.h"
#include "runtime/output/fit_files.h"

namespace lehr::commands {
namespace {

/// Values of the command's options.
struct PlanOptions {
  std::string model;
  SettingTexts settings;
};

/// Returns the sizes of all plates from --sizes and --set. Fails with ExitCode::usage if a size is missing. The size of
/// a nested plate is the length of each row.
Result<BoundData> sizes_of(const model::Model& m, const Settings& settings) {
  Result<BoundData> data = bind_sizes(m, settings);
  for (std::size_t k = 0; data && k < m.plates.size(); ++k) {
    const model::Plate& plate = m.plates[k];
    if (plate.set != model::PlateId(k) || plate.stick) continue;
    if (data->sizes[k] < 0) {
      return Error{ExitCode::usage,
                   "--sizes",
                   fmt::format("the size of '{}' is needed", plate.name),
                   {fmt::format("--sizes {}=N{}", plate.name, plate.parent ? ", the length of a row" : "")}};
    }
  }
  return data;
}

/// Computes memory and work from the tables of the generated program.
class Plan {
 public:
  Plan(const Analysed& analysed, const BoundData& data)
      : model_(analysed.model),
        lowered_(generate(analysed, data, {.new_items = true})),
        tables_(tables_of(model_, analysed.schedule, lowered_, lowered_.size_values)) {}

  /// Returns the bytes of memory by purpose ("data", "factors of items", "work", ...). Besides the buffers there are
  /// the data as read, the factors to be saved, and a second copy of all for the check of rounding errors.
  std::map<std::string, double> bytes() const {
    std::map<std::string, double> out;
    for (std::size_t k = 0; k < tables_.buffers.size(); ++k) {
      const auto is_here = [&](const machine::PickRow& p) { return p.buffer == static_cast<std::int64_t>(k); };
      if (std::ranges::none_of(tables_.picks, is_here))
        out[purpose_of(tables_.buffers[k])] += bytes_of(tables_.buffers[k]);
    }
    out["data as read"] = out["data"];
    if (const double item_bytes = saved_item_bytes(); item_bytes > 0) out[kItemsFile] = item_bytes;
    if (!has_real_data(model_)) return out;
    double all = 0;  // a second instance, whose data are distances from a reference
    for (const auto& [purpose, bytes] : out)
      all += bytes;
    out["rounding check"] = all;
    return out;
  }
  /// Returns an extent of an axis as a number. Negative extents are indices of sizes that the program looks up: index
  /// -(e + 1).
  double extent(machine::Extent e) const {
    if (e >= 0) return static_cast<double>(e);
    const auto slot = static_cast<std::size_t>(-(e + 1));
    const machine::SizeRow& row = tables_.sizes[slot];
    if (row.rule == machine::SizeRule::one_more) return extent(row.base) + 1;
    return static_cast<double>(std::max<std::int64_t>(0, lowered_.size_values[slot]));
  }
  /// Returns the bytes of the statistics of all item stages, which processes exchange in a sweep.
  double exchanged_bytes() const {
    double out = 0;
    for (const machine::StepRow& s : tables_.steps) {
      for (std::int64_t k = 0; s.stage && k < s.statistics; ++k)
        out += bytes_of(tables_.buffers[static_cast<std::size_t>(
            tables_.statistics[static_cast<std::size_t>(s.first_statistic + k)])]);
    }
    return out;
  }
  /// Returns the operations of a sweep inside the item stages.
  double item_operations() const {
    double out = 0;
    for (const machine::StepRow& s : tables_.steps)
      out += s.stage ? extent(s.items) * static_cast<double>(s.operations) : 0;
    return out;
  }
  /// Returns the operations of a sweep outside of the item stages.
  double outer_operations() const {
    double out = 0;
    for (const machine::StepRow& s : tables_.steps)
      out += static_cast<double>(s.outside);
    return out;
  }

 private:
  /// Returns the bytes for saving factors of items: the parameters as an array, in a table, and as bytes of a file. It
  /// is 0 if they are too many to be saved (kMaxSavedValues).
  double saved_item_bytes() const {
    constexpr double kCopies = 3;
    double out = 0;
    for (const machine::ParameterRow& p : tables_.parameters) {
      const machine::BufferRow& b = tables_.buffers[static_cast<std::size_t>(p.buffer)];
      if (b.on_items) out += bytes_of(b);
    }
    return out > 8 * static_cast<double>(kMaxSavedValues) ? 0 : kCopies * out;
  }
  /// Returns the bytes of a buffer of doubles.
  double bytes_of(const machine::BufferRow& b) const {
    double out = 8;
    for (std::int64_t k = 0; k < b.axes; ++k)
      out *= extent(tables_.axes[static_cast<std::size_t>(b.first_axis + k)]);
    return out;
  }
  /// Returns the purpose of a buffer, by its role.
  static std::string purpose_of(const machine::BufferRow& b) {
    switch (b.role) {
      case machine::Role::data:
        return "data";
      case machine::Role::factor:
        return b.on_items ? "factors of items" : "factors outside";
      case machine::Role::prior:
        return "factors outside";
      case machine::Role::statistic:
        return "statistics";
      case machine::Role::work:
      case machine::Role::scratch:
        return "work";
    }
    return "";
  }

  const model::Model& model_;
  loops::Lowered lowered_;
  Tables tables_;
};

/// Prints the plan.
void print(const model::Model& m, const Plan& plan) {
  double all = 0;
  fmt::print("{}\nmemory of a process, bytes\n", m.name);
  for (const auto& [purpose, bytes] : plan.bytes()) {
    fmt::print("  {:<18}{:>10.3g}\n", purpose, bytes);
    all += bytes;
  }
  fmt::print("  {:<18}{:>10.3g}\n", "all", all);
  fmt::print("a sweep\n  {:<18}{:>10.3g} operations, two passes over an item\n", "with items", plan.item_operations());
  fmt::print("  {:<18}{:>10.3g} operations\n", "outside", plan.outer_operations());
  fmt::print("  {:<18}{:>10.3g} bytes a process, up the tree and back\n", "statistics", plan.exchanged_bytes());
}

/// Runs the command: analyses the model, lowers it for the sizes, and prints the plan.
ExitCode plan(const PlanOptions& o) {
  const std::optional<Source> source = read_model(o.model);
  if (!source) return ExitCode::usage;
  Diagnostics diagnostics;
  const std::optional<Analysed> analysed = analyse(*source, {}, diagnostics);
  const ExitCode code = report(diagnostics, *source);
  if (!analysed) return code;
  const Result<Settings> settings = read_settings(o.settings);
  if (!settings) return complain(settings.error());
  const Result<BoundData> data = sizes_of(analysed->model, *settings);
  if (!data) return complain(data.error());
  print(analysed->model, Plan(*analysed, *data));
  return ExitCode::done;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  const auto o = std::make_shared<PlanOptions>();
  CLI::App* c = app.add_subcommand("plan", "Estimate the memory and the operations of a fit from its sizes");
  c->add_option("MODEL", o->model, "Model file (*.lehr)")->required();
  add_settings(*c, o->settings,
               "Sizes of plates (index sets such as `term`), e.g. doc=1000,token=100; needed for each that the model "
               "leaves open");
  c->get_option("--labels")->description(kLabelsOfCodeHelp);
  c->footer(
      "Examples:\n"
      "  lehr plan models/topics/lda.lehr --set K=1000 --sizes doc=1000000000,token=100,term=1000000\n"
      "The size of a nested plate is the length of a row. docs/scale.md has the formulas.");
  c->callback([o, &action] { action = [o] { return plan(*o); }; });
}

}  // namespace lehr::commands
