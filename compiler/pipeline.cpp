// The compiler, stage by stage in order: start reading here.
//
// Each stage takes the result of the one before and returns a new value. After each stage a comment says which
// invariant holds from there on. `emit` runs the same stages and stops at the intermediate representation (IR) that is
// to be printed, by asking a Watch after each of them.
#include "compiler/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "compiler/ast/parse.h"
#include "compiler/ast/print_ast.h"
#include "compiler/conditionals/print_conditionals.h"
#include "compiler/density/for_draws.h"
#include "compiler/density/print_density.h"
#include "compiler/gibbs_analysis.h"
#include "compiler/loops/print_loops.h"
#include "compiler/loops/verify.h"
#include "compiler/model/print_model.h"
#include "compiler/model/roles.h"
#include "compiler/native/native.h"
#include "compiler/passes/passes.h"
#include "compiler/schedule/temper_items.h"

namespace lehr {
namespace {

/// The stop condition of `emit`: remembers the text of the IR that is to be printed once that IR exists, and then ends
/// the pipeline. With an empty name it never stops.
struct StopCondition {
  std::string_view ir_name;  // name of the IR to print
  const Source* source = nullptr;
  std::optional<std::string> text = {};  // its text, once it has been reached

  template <class Print>
  /// Returns true if the IR called `name` is the one to print, after storing its text.
  bool stops_at(std::string_view name, const Print& print) {
    if (name == ir_name) text = print();
    return name == ir_name;
  }
};

/// The stages from text to Model. Returns nothing after an error, or if `watch` ends the pipeline.
std::optional<model::Model> read(const Source& source, Diagnostics& diagnostics, StopCondition& watch) {
  const std::optional<ast::Ast> ast = parse(source, diagnostics);
  if (!ast || watch.stops_at("ast", [&] { return print(*ast, source); })) return std::nullopt;
  // From here on the text is one model of the grammar.

  std::optional<model::Model> model = resolve(*ast, diagnostics);
  if (!model || watch.stops_at("model", [&] { return print(*model); })) return std::nullopt;
  // From here on every name is resolved and every index has a plate.
  return model;
}

/// The stages from Density to Schedule. Returns nothing after an error, or if `watch` ends the pipeline.
std::optional<Analysed> analyse(std::optional<Expanded> expanded, Diagnostics& diagnostics, StopCondition& watch) {
  if (!expanded) return std::nullopt;
  if (watch.stops_at("density", [&] { return print(expanded->model, expanded->density, *watch.source); }))
    return std::nullopt;
  // From here on the log joint is a sum of terms, affine in the statistics of every element.

  expanded = join(std::move(*expanded), diagnostics);
  if (!expanded) return std::nullopt;
  // From here on variables that share a joint factor are one variable: a vector for Normal ones.
  model::Model& model = expanded->model;

  std::optional<conditionals::Conditionals> conditionals = derive(model, std::move(expanded->density), diagnostics);
  if (!conditionals) return std::nullopt;
  if (watch.stops_at("conditionals", [&] { return print(model, *conditionals, *watch.source); })) return std::nullopt;
  // From here on every block has a family and natural parameters.

  schedule::Schedule schedule = plan(model, std::move(*conditionals));
  if (watch.stops_at("schedule", [&] { return print(model, schedule); })) return std::nullopt;
  // From here on the order of updates is fixed: what is updated item by item, and what is summed over items once.
  return Analysed{std::move(model), std::move(schedule)};
}

}  // namespace

std::optional<model::Model> read(const Source& source, Diagnostics& diagnostics) {
  StopCondition none;
  return read(source, diagnostics, none);
}

density::ExpandOptions expand_options(const BoundData& data) {
  density::ExpandOptions out;
  for (std::size_t k = 0; k < data.observed.size(); ++k)
    out.may_be_missing.push_back(data.observed[k].has_missing && !(k < data.clamped.size() && data.clamped[k]));
  out.clamped = data.clamped;
  for (const BoundArray& a : data.givens)
    out.with_zeros.push_back(a.has_zeros);
  return out;
}

std::optional<Analysed> analyse(const model::Model& model, const density::ExpandOptions& options,
                                Diagnostics& diagnostics) {
  StopCondition none;
  return analyse(expand(model, options, diagnostics), diagnostics, none);
}

std::optional<Analysed> analyse(const Source& source, const density::ExpandOptions& options, Diagnostics& diagnostics) {
  const std::optional<model::Model> model = read(source, diagnostics);
  return model ? analyse(*model, options, diagnostics) : std::nullopt;
}

Result<Analysed> with_item_temperatures(const Analysed& a) {
  auto items = schedule::temper_items(a.model, a.schedule.conditionals, a.schedule.tempered);
  if (const auto* why = std::get_if<std::string>(&items)) {
    return Error{ExitCode::model,
                 option("temper"),
                 fmt::format("this model cannot be tempered: {}", *why),
                 {option("anneal") + " weights the data of every model by a temperature that falls by a schedule"}};
  }
  auto& tempered = std::get<schedule::TemperedItems>(items);
  schedule::Schedule schedule = plan(tempered.model, std::move(tempered.conditionals));
  return Analysed{std::move(tempered.model), std::move(schedule), tempered.inverse};
}

Result<Analysed> with_sample_factors(const Analysed& a, schedule::Tempering tempering) {
  auto drawn = conditionals::with_sample_factors(a.model, a.schedule.conditionals);
  if (const auto* why = std::get_if<std::string>(&drawn))
    return Error{ExitCode::model, option("method"), fmt::format("this model cannot be sampled: {}", *why), {}};
  // Elements that no data depend on are drawn from their priors given their parents, so their masks are not needed.
  model::Model model = model::without_masks(a.model);
  return Analysed{model, plan(model, std::move(std::get<conditionals::Conditionals>(drawn)), tempering)};
}

Result<Analysed> analyse_for_gibbs(const model::Model& resolved, const density::ExpandOptions& options,
                                   const Analysed& complete, schedule::Tempering tempering) {
  if (std::ranges::none_of(complete.model.variables, model::is_tangent_point))
    return with_sample_factors(complete, tempering);
  Diagnostics diagnostics;
  StopCondition none;
  // Points of local bounds have no density to be drawn from, so the density is expanded with auxiliary variables.
  const std::optional<Analysed> anew = analyse(expand_for_draws(resolved, options, diagnostics), diagnostics, none);
  if (anew) return with_sample_factors(*anew, tempering);
  const auto why = std::ranges::find(diagnostics.all(), Severity::error, &Diagnostic::severity);
  return Error{ExitCode::model, option("method"), fmt::format("this model cannot be sampled: {}", why->text), {}};
}

loops::Lowered generate(const Analysed& a, const BoundData& data, loops::LowerOptions options,
                        const loops::PassOptions& passes) {
  options.inverse_temperatures = a.inverse_temperatures;
  loops::Lowered lowered = lower(a.model, a.schedule, data, options);
  lowered.unoptimised = std::make_shared<const loops::Program>(lowered.program);
  lowered.program = loops::optimise(std::move(lowered.program), passes);
#ifndef NDEBUG
  if (const std::vector<std::string> problems = loops::verify(lowered.program); !problems.empty())
    throw std::logic_error(fmt::format("lowering: {}", fmt::join(problems, "; ")));
#endif
  return lowered;
}

std::vector<std::string_view> ir_names() {
  return {"ast", "model", "density", "conditionals", "schedule", "loops", "llvm", "asm"};
}

Result<std::optional<std::string>> emit(const Source& source, std::string_view ir_name, const Settings& settings,
                                        Diagnostics& diagnostics, const loops::PassOptions& passes) {
  using Text = std::optional<std::string>;
  StopCondition watch{ir_name, &source};
  const std::optional<model::Model> model = read(source, diagnostics, watch);
  const std::optional<Analysed> analysed =
      model ? analyse(expand(*model, {}, diagnostics), diagnostics, watch) : std::nullopt;
  if (!analysed) return watch.text;

  const Result<BoundData> sizes = bind_sizes(analysed->model, settings);
  if (!sizes) return sizes.error();
  const loops::Lowered lowered = generate(*analysed, *sizes, {}, passes);
  if (ir_name == "loops") return Text(print(lowered.program));

  return Text(ir_name == "llvm" ? native::llvm_text(lowered.program) : native::assembly(lowered.program));
}

}  // namespace lehr
