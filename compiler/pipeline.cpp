// The compiler, stage by stage in order: start reading here.
//
// Each stage takes the result of the one before and returns a new value. After each stage a comment says which
// invariant holds from there on. `emit` runs the same stages and stops at the intermediate representation (IR) that is
// to be printed, by asking a StopCondition after each of them.
#include "compiler/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "compiler/analysis/verify.h"
#include "compiler/ast/parse.h"
#include "compiler/ast/print_ast.h"
#include "compiler/conditionals/joint_choice.h"
#include "compiler/conditionals/print_conditionals.h"
#include "compiler/density/for_draws.h"
#include "compiler/density/print_density.h"
#include "compiler/gibbs_analysis.h"
#include "compiler/loops/print_loops.h"
#include "compiler/math/sparse_pattern.h"
#include "compiler/model/print_model.h"
#include "compiler/model/roles.h"
#include "compiler/native/native.h"
#include "compiler/passes/passes.h"
#include "compiler/schedule/invariance.h"
#include "compiler/schedule/separate_pairs.h"
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
  if (model) model->source = std::make_shared<const Source>(source);
  if (!model || watch.stops_at("model", [&] { return print(*model); })) return std::nullopt;
  // From here on every name is resolved and every index has a plate.
  return model;
}

/// The stages from Density to Conditionals. Returns nothing after an error, or if `watch` ends the pipeline.
std::optional<Derived> derive_conditionals(std::optional<Expanded> expanded, Diagnostics& diagnostics,
                                           StopCondition& watch) {
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
  return Derived{std::move(model), std::move(*conditionals)};
}

/// Returns the conditionals with a sample factor in every block. Fails if a block cannot be drawn.
Result<Derived> with_draws(const model::Model& model, const conditionals::Conditionals& complete) {
  auto drawn = conditionals::with_sample_factors(model, complete);
  if (const auto* why = std::get_if<std::string>(&drawn))
    return Error{ExitCode::model, option("method"), fmt::format("this model cannot be sampled: {}", *why), {}};
  // Elements that no data depend on are drawn from their priors given their parents, so their masks are not needed.
  return Derived{model::without_masks(model), std::move(std::get<conditionals::Conditionals>(drawn))};
}

/// What the names of joint variables begin with.
constexpr std::string_view kJointPrefix = "joint(";

/// Returns true if `word` occurs in the text as a whole name.
bool has_word(std::string_view text, std::string_view word) {
  const auto is_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_of_name(text[at - 1])) && (end == text.size() || !is_of_name(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::optional<ast::Ast> read_syntax(const Source& source, Diagnostics& diagnostics) {
  return parse(source, diagnostics);
}

std::optional<model::Model> read_tree(const ast::Ast& ast, Diagnostics& diagnostics) {
  return resolve(ast, diagnostics);
}

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

namespace {

/// Sets the pattern of a factor of many coordinates, or adds to it. Returns false if such a factor is not possible, or
/// not cheap.
bool set_pattern(model::Model model, model::JointGuide& guide, const density::ExpandOptions& options,
                 const BoundData& data) {
  const std::shared_ptr<const math::SparsePattern> before = std::exchange(guide.pattern, nullptr);
  std::erase_if(model.guide.joint, [&](const model::JointGuide& joint) { return joint.has(guide.members[0]); });
  model.guide.joint.push_back(guide);
  Diagnostics ignored;
  const std::optional<Derived> derived = derive_conditionals(model, options, ignored);
  if (!derived) return false;
  const std::optional<model::VariableId> joint = derived->model[guide.members[0]].joint;
  guide.pattern =
      conditionals::sparse_pattern_of(derived->model, derived->conditionals.density, *joint, data, before.get());
  return guide.pattern != nullptr;
}

/// Returns true if stages update the factors of the variable, item by item.
bool is_of_items(const schedule::Schedule& s, model::VariableId v) {
  const conditionals::BlockId block = s.conditionals.block_of[v.index()];
  return block.valid() && s.stage_of[block.index()];
}

/// Returns true if a term has an element of an item next to another element of the same plate that no stage updates, as
/// s[i] + r[j] for all pairs of a plate has. The items then are no data sets of their own.
bool reaches_across_items(const model::Model& m, const schedule::Schedule& s, model::VariableId v) {
  if (m[v].axes.empty()) return false;
  const model::PlateId items = m[m[v].axes[0]].set;
  if (m[items].ordered) return false;
  return std::ranges::any_of(s.conditionals.density.terms, [&](const density::Term& t) {
    const auto own = std::ranges::find(t.atoms, v, &density::Atom::variable);
    return own != t.atoms.end() && std::ranges::any_of(t.atoms, [&](const density::Atom& x) {
             if (is_of_items(s, x.variable) || x.variable.index() >= m.variables.size()) return false;
             for (std::size_t k = 0; k < x.axes.size(); ++k)
               if (m[m[x.variable].axes[k]].set == items && x.axes[k] != own->axes[0]) return true;
             return false;
           });
  });
}

/// Returns the variables of a model whose factors stages update, item by item.
std::vector<model::VariableId> variables_of_items(const model::Model& model, const schedule::Schedule& s) {
  std::vector<model::VariableId> out;
  for (std::size_t k = 0; k < model.variables.size(); ++k)
    if (is_of_items(s, model::VariableId(k)) && !reaches_across_items(model, s, model::VariableId(k)))
      out.emplace_back(k);
  return out;
}

/// Chooses joint factors; without `data` none of many coordinates.
model::Model choose(const model::Model& model, const Analysed& complete, const density::ExpandOptions& options,
                    const std::vector<std::int64_t>& sizes, const BoundData* data) {
  model::Model out = model;
  // The pattern of an earlier fit grows by what these data couple.
  for (std::size_t k = 0; k < out.guide.joint.size() && data;) {
    model::JointGuide& joint = out.guide.joint[k];
    if (!joint.pattern || set_pattern(model, joint, options, *data)) ++k;
    else out.guide.joint.erase(out.guide.joint.begin() + static_cast<std::ptrdiff_t>(k));
  }
  if (std::exchange(out.guide.factorised, true)) return out;
  Diagnostics ignored;
  std::optional<Expanded> expanded = expand(model, options, ignored);
  if (!expanded) return out;
  // Variables with masks stay alone.
  for (std::size_t k = 0; k < options.may_be_missing.size(); ++k)
    if (options.may_be_missing[k]) expanded->model.guide.independent.emplace_back(k);
  const std::vector<model::VariableId> of_items = variables_of_items(model, complete.schedule);
  conditionals::JointChoice choice = conditionals::choose_joint_factors(*expanded, sizes, of_items);
  if (of_items.empty() && data) {
    for (model::JointGuide& large : choice.large) {
      if (!set_pattern(out, large, options, *data)) continue;
      std::erase_if(choice.dense, [&](const model::JointGuide& small) { return large.has(small.members[0]); });
      out.guide.joint.push_back(std::move(large));
    }
  }
  for (model::JointGuide& joint : choice.dense) {
    out.guide.joint.push_back(std::move(joint));
    Diagnostics of_joint;
    if (!derive_conditionals(out, options, of_joint)) out.guide.joint.pop_back();
  }
  return out;
}

}  // namespace

model::Model with_joint_factors(const model::Model& model, const Analysed& complete,
                                const density::ExpandOptions& options, const BoundData& data) {
  return choose(model, complete, options, data.sizes, &data);
}

std::vector<std::string> joinable_across_items(const model::Model& model, const Analysed& complete,
                                               const density::ExpandOptions& options, const BoundData& data) {
  const std::vector<model::VariableId> of_items = variables_of_items(model, complete.schedule);
  Diagnostics ignored;
  const std::optional<Expanded> expanded =
      of_items.empty() || model.guide.factorised ? std::optional<Expanded>() : expand(model, options, ignored);
  if (!expanded) return {};
  const auto separate = conditionals::choose_joint_factors(*expanded, data.sizes, of_items).dense;
  std::vector<std::string> out;
  for (const model::JointGuide& joint : conditionals::choose_joint_factors(*expanded, data.sizes, {}).dense) {
    const auto is_same = [&](const model::JointGuide& x) {
      return x.members == joint.members && x.coordinates == joint.coordinates;
    };
    if (joint.members.size() < 2 || std::ranges::any_of(separate, is_same)) continue;
    std::vector<std::string> names;
    for (const model::VariableId v : joint.members)
      names.push_back(model[v].name);
    out.push_back(fmt::format("{}", fmt::join(names, ", ")));
  }
  return out;
}

model::Model with_joint_factors(const model::Model& model, const Analysed& complete) {
  std::vector<std::int64_t> sizes;
  for (const model::Plate& p : model.plates) {
    const auto* number = p.size ? std::get_if<model::Number>(&model[*p.size].node) : nullptr;
    sizes.push_back(number ? static_cast<std::int64_t>(number->value) : -1);
  }
  return choose(model, complete, {}, sizes, nullptr);
}

namespace {

/// Returns the entries of a sparse precision in the posterior of a fit; null if the factor is another one.
std::shared_ptr<const math::SparsePattern> saved_pattern(const std::vector<NamedArray>& posterior,
                                                         const std::string& joint) {
  const auto array = [&](const char* name) {
    const auto found = std::ranges::find(posterior, joint + "." + name, &NamedArray::name);
    return found == posterior.end() ? nullptr : &*found;
  };
  const NamedArray *mean = array("mean"), *rows = array("row"), *columns = array("column");
  if (!mean || !rows || !columns) return nullptr;
  std::optional<std::vector<math::SparsePattern::Pair>> pairs =
      math::SparsePattern::pairs_of(rows->values, columns->values, mean->values.size());
  if (!pairs) return nullptr;
  return std::make_shared<const math::SparsePattern>(
      math::SparsePattern::make(std::ssize(mean->values), std::move(*pairs)));
}

}  // namespace

model::Model with_joint_factors_of(const model::Model& model, const std::vector<NamedArray>& posterior) {
  model::Model out = model;
  out.guide.factorised = true;
  std::map<std::vector<model::VariableId>, std::string> found;  // members, and the name of their joint variable
  for (const NamedArray& array : posterior) {
    const std::string& name = array.name;
    if (!name.starts_with(kJointPrefix)) continue;
    const std::string list = name.substr(kJointPrefix.size(), name.find(')') - kJointPrefix.size());
    std::vector<model::VariableId> members;
    for (std::size_t k = 0; k < model.variables.size(); ++k)
      if (has_word(list, model.variables[k].name)) members.emplace_back(k);
    const auto is_stated = [&](const model::JointGuide& joint) { return joint.has(members[0]); };
    if (!members.empty() && std::ranges::none_of(model.guide.joint, is_stated))
      found.emplace(std::move(members), name.substr(0, name.rfind('.')));
  }
  if (found.empty()) return out;
  Diagnostics ignored;
  const std::optional<Expanded> expanded = expand(model, {}, ignored);
  for (const auto& [members, name] : found) {
    if (!expanded) break;
    out.guide.joint.push_back(conditionals::joint_layout(*expanded, members));
    out.guide.joint.back().pattern = saved_pattern(posterior, name);
  }
  return out;
}

std::optional<Derived> derive_conditionals(const model::Model& model, const density::ExpandOptions& options,
                                           Diagnostics& diagnostics) {
  StopCondition none;
  return derive_conditionals(expand(model, options, diagnostics), diagnostics, none);
}

Analysed schedule_updates(Derived derived, const schedule::PlanOptions& options) {
  schedule::Schedule schedule = plan(derived.model, std::move(derived.conditionals), options);
  // From here on the order of updates is fixed: what is updated item by item, and what is summed over items once.
  return {std::move(derived.model), std::move(schedule)};
}

std::optional<Analysed> analyse(const model::Model& model, const density::ExpandOptions& options,
                                Diagnostics& diagnostics, const schedule::PlanOptions& plan_options) {
  std::optional<Derived> derived = derive_conditionals(model, options, diagnostics);
  return derived ? std::optional(schedule_updates(std::move(*derived), plan_options)) : std::nullopt;
}

std::optional<Analysed> analyse(const Source& source, const density::ExpandOptions& options, Diagnostics& diagnostics,
                                const schedule::PlanOptions& plan_options) {
  const std::optional<model::Model> model = read(source, diagnostics);
  return model ? analyse(*model, options, diagnostics, plan_options) : std::nullopt;
}

Result<Analysed> with_item_temperatures(const Analysed& a, const schedule::PlanOptions& options) {
  auto items = schedule::temper_items(a.model, a.schedule.conditionals, a.schedule.tempered);
  if (const auto* why = std::get_if<std::string>(&items)) {
    return Error{ExitCode::model,
                 option("temper"),
                 fmt::format("this model cannot be tempered: {}", *why),
                 {option("anneal") + " weights the data of every model by a temperature that falls by a schedule"}};
  }
  auto& tempered = std::get<schedule::TemperedItems>(items);
  Analysed out = schedule_updates({std::move(tempered.model), std::move(tempered.conditionals)}, options);
  out.inverse_temperatures = tempered.inverse;
  return out;
}

Result<Analysed> with_sample_factors(const Analysed& a, const schedule::PlanOptions& options) {
  Result<Derived> drawn = with_draws(a.model, a.schedule.conditionals);
  if (!drawn) return drawn.error();
  return schedule_updates(std::move(*drawn), options);
}

bool depends_on_sizes(const Analysed& a) {
  const auto visits_items = [](const schedule::Step& x) { return std::holds_alternative<schedule::ItemStage>(x); };
  const auto is_summed = [](const schedule::OuterTerm& t) { return t.statistic && !t.undivided; };
  return std::ranges::none_of(a.schedule.steps, visits_items) && !std::ranges::all_of(a.schedule.outer, is_summed);
}

Analysed with_options(Analysed a, const schedule::PlanOptions& options) {
  if (options.invariances || (!options.sizes.empty() && depends_on_sizes(a)))
    a.schedule = plan(a.model, std::move(a.schedule.conditionals), options);
  return a;
}

Analysed with_separate_pairs(Analysed a, BoundData& data, const schedule::PlanOptions& options) {
  std::vector<bool> of_items;
  for (const auto& stage : a.schedule.stage_of)
    of_items.push_back(stage.has_value());
  if (!schedule::separate_pairs(a.model, a.schedule.conditionals, data, of_items, options.thresholds)) return a;
  schedule::PlanOptions with_lists = options;
  with_lists.sizes = data.sizes;
  a.schedule = plan(a.model, std::move(a.schedule.conditionals), with_lists);
  return a;
}

Result<Derived> derive_for_gibbs(const model::Model& resolved, const density::ExpandOptions& options,
                                 const Analysed& complete) {
  if (std::ranges::none_of(complete.model.variables, model::is_tangent_point))
    return with_draws(complete.model, complete.schedule.conditionals);
  Diagnostics diagnostics;
  StopCondition none;
  // Points of local bounds have no density to be drawn from, so the density is expanded with auxiliary variables.
  const std::optional<Derived> anew =
      derive_conditionals(expand_for_draws(resolved, options, diagnostics), diagnostics, none);
  if (anew) return with_draws(anew->model, anew->conditionals);
  const auto why = std::ranges::find(diagnostics.all(), Severity::error, &Diagnostic::severity);
  return Error{ExitCode::model, option("method"), fmt::format("this model cannot be sampled: {}", why->text), {}};
}

Result<Analysed> analyse_for_gibbs(const model::Model& resolved, const density::ExpandOptions& options,
                                   const Analysed& complete, const schedule::PlanOptions& plan_options) {
  Result<Derived> drawn = derive_for_gibbs(resolved, options, complete);
  if (!drawn) return drawn.error();
  return schedule_updates(std::move(*drawn), plan_options);
}

loops::Lowered generate(const Analysed& a, const BoundData& data, loops::LowerOptions options,
                        const loops::PassOptions& passes) {
  options.inverse_temperatures = a.inverse_temperatures;
  options.thresholds = passes.thresholds;
  loops::Lowered lowered = lower(a.model, a.schedule, data, options);
  lowered.unoptimised = std::make_shared<const loops::Program>(lowered.program);
  lowered.program = loops::optimise(std::move(lowered.program), passes);
#ifndef NDEBUG
  if (const std::vector<std::string> problems = loops::verify(lowered.program); !problems.empty())
    throw std::logic_error(fmt::format("lowering: {}", fmt::join(problems, "; ")));
#endif
  return lowered;
}

loops::Program optimised(loops::Program program, const loops::PassOptions& passes) {
  return loops::optimise(std::move(program), passes);
}

std::unique_ptr<native::Jit> compiled(const loops::Program& program) { return std::make_unique<native::Jit>(program); }

std::string object_file(const loops::Program& program, const native::Image& image, const native::Options& options) {
  return native::emit_embeddable(program, image, options);
}

std::vector<std::string_view> ir_names() {
  return {"ast", "model", "density", "conditionals", "schedule", "loops", "llvm", "asm"};
}

Result<std::optional<std::string>> emit(const Source& source, std::string_view ir_name, const Settings& settings,
                                        Diagnostics& diagnostics, const loops::PassOptions& passes) {
  using Text = std::optional<std::string>;
  StopCondition watch{ir_name, &source};
  const std::optional<model::Model> model = read(source, diagnostics, watch);
  std::optional<Derived> derived =
      model ? derive_conditionals(expand(*model, {}, diagnostics), diagnostics, watch) : std::nullopt;
  if (!derived) return watch.text;
  const Analysed analysed = schedule_updates(std::move(*derived));
  if (ir_name == "schedule") return Text(print(analysed.model, analysed.schedule));

  const Result<BoundData> sizes = bind_sizes(analysed.model, settings);
  if (!sizes) return sizes.error();
  const loops::Lowered lowered = generate(analysed, *sizes, {}, passes);
  if (ir_name == "loops") return Text(print(lowered.program));

  return Text(ir_name == "llvm" ? native::llvm_text(lowered.program) : native::assembly(lowered.program));
}

}  // namespace lehr
