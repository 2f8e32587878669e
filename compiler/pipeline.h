// The compiler as a sequence of stages: Ast -> Model -> Density -> Conditionals -> Schedule -> Loops -> LLVM.
//
// Each stage is a free function from one intermediate representation (IR) to the next, on immutable values. The stages
// are called in pipeline.cpp and nowhere else (ctest -R test_layering); this header has what others need of them. The
// pipeline stops after the first stage that reported an error. No function here runs inference.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/binding/bind.h"
#include "compiler/lower/lower.h"
#include "compiler/model/model.h"
#include "compiler/native/native.h"
#include "compiler/passes/passes.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/diagnostic.h"
#include "runtime/array.h"

namespace lehr {

/// A model with the complete conditionals of its latent variables, as derive_conditionals() makes them: everything that
/// is derived before the updates are put in order (schedule_updates).
struct Derived {
  model::Model model;  // the model, with the auxiliary variables that augmentations added
  /// The complete conditional of each block of latent variables, as a family with natural parameters, and the density
  /// that they are derived from.
  conditionals::Conditionals conditionals;
};

/// A model with its derived inference algorithm, before data: everything up to the schedule.
struct Analysed {
  model::Model model;           // the model, with the auxiliary variables that augmentations added
  schedule::Schedule schedule;  // the order of updates; it contains the density and the conditionals
  /// The data array with 1 / T of each item, T its temperature. None unless with_item_temperatures() added it to the
  /// model.
  std::optional<model::GivenId> inverse_temperatures = {};
};

/// Parses the text of a model (Text -> Ast), for callers that edit the text or the syntax tree before names are
/// resolved. Returns nothing if there were errors; they are added to `diagnostics`.
std::optional<ast::Ast> read_syntax(const Source& source, Diagnostics& diagnostics);
/// Resolves the names of a syntax tree (Ast -> Model), for callers that have changed the tree that read_syntax() gave.
/// Returns nothing if there were errors; they and the warnings are added to `diagnostics`. Model::source is not set.
std::optional<model::Model> read_tree(const ast::Ast& ast, Diagnostics& diagnostics);
/// Parses the text of a model and resolves its names (Text -> Ast -> Model). Returns nothing if there were errors; they
/// and the warnings are added to `diagnostics`.
std::optional<model::Model> read(const Source& source, Diagnostics& diagnostics);

/// Returns the facts about `data` that change the form of the density, as the options of expand(). They are: which
/// observed variables have missing values that the density leaves out, which variables are latent where the data have
/// no value (BoundData::clamped), and which given arrays are concentrations with zeros. Masks of elements without data
/// are not among them.
density::ExpandOptions expand_options(const BoundData& data);

/// Returns the model with more joint factors in its guide: of Normal variables that the terms couple, where that is
/// cheap (choose_joint_factors). A fit to `data` then uses it in place of `model`. `complete` is the analysis of
/// `model`, whose own joint factors stay; one with a sparse precision gets the pairs that these data couple too, or is
/// dropped if that is not cheap. Variables on the items are joined only with others of the same item. A factor of many
/// coordinates has a sparse precision; it is chosen only if no variable on the items is latent and elimination is cheap
/// (kMostFilled, kMostOperations). Guide::factorised is true in the result, so that a second call chooses nothing;
/// nothing is chosen either if it is true in `model`.
model::Model with_joint_factors(const model::Model& model, const Analysed& complete,
                                const density::ExpandOptions& options, const BoundData& data);
/// Returns the sets of variables that a note of the fit proposes to the user for a `guide joint(...)`, each as names
/// separated by commas. They would share one factor if variables on the items might be joined with others, which
/// with_joint_factors() never does. Such a guide ties the fit to the items of these data: new items have no factors
/// then. Empty if no variable is on the items, or if Guide::factorised is true.
std::vector<std::string> joinable_across_items(const model::Model& model, const Analysed& complete,
                                               const density::ExpandOptions& options, const BoundData& data);
/// Returns the model with more joint factors in its guide, chosen before there are data (for `lehr derive`): of Normal
/// variables that the terms couple, where that is cheap (choose_joint_factors). It uses only sizes of plates that the
/// model states as numbers, and chooses no factors of many coordinates. `complete` is the analysis of `model`.
/// Guide::factorised is true in the result.
model::Model with_joint_factors(const model::Model& model, const Analysed& complete);
/// Returns the model with the joint factors of a saved fit in its guide, so that the posterior of the fit can be read
/// into it. They are those whose parameters ("joint(a, b).mean") are in `posterior`, besides those that the guide
/// states. Guide::factorised is true in the result, so that no others are chosen.
model::Model with_joint_factors_of(const model::Model& model, const std::vector<NamedArray>& posterior);

/// Derives the complete conditional of every block of latent variables of a model (Model -> Density -> Conditionals).
/// This stage finds the last errors of a model: the schedule never fails. `options` has what the data decide about the
/// density; the default means data without missing values. Returns nothing after an error, for example a variable
/// without a conjugate family; `diagnostics` has the reasons.
std::optional<Derived> derive_conditionals(const model::Model& model, const density::ExpandOptions& options,
                                           Diagnostics& diagnostics);
/// Puts the updates of all blocks of latent variables in the order of a sweep (Conditionals -> Schedule), the last
/// stage before data are needed. It never fails.
Analysed schedule_updates(Derived derived, const schedule::PlanOptions& options = {});

/// Derives the inference algorithm of a model: `derive_conditionals`, and `schedule_updates` of the result. Returns
/// nothing after an error.
std::optional<Analysed> analyse(const model::Model& model, const density::ExpandOptions& options,
                                Diagnostics& diagnostics, const schedule::PlanOptions& plan_options = {});
/// Reads a model text and derives its inference algorithm: `read` followed by `analyse` of the result. Returns nothing
/// after an error.
std::optional<Analysed> analyse(const Source& source, const density::ExpandOptions& options, Diagnostics& diagnostics,
                                const schedule::PlanOptions& plan_options = {});

/// Returns the analysis for tempering with a temperature T for each item of the data. The tempered terms of an item
/// (Schedule::tempered) are multiplied by 1 / T, which the code reads from a new given array (`inverse_temperatures` of
/// the result). The caller provides the values of that array. Fails with ExitCode::model and the reason if this model
/// cannot be tempered by item.
Result<Analysed> with_item_temperatures(const Analysed& a, const schedule::PlanOptions& options = {});

/// Returns the analysis in which every block is drawn from its complete conditional instead of updated by its
/// expectation: a Gibbs sampler for a model without local bounds. With local bounds use analyse_for_gibbs(), which
/// expands the model anew. The result has no masks: elements that no data depend on are drawn from their priors given
/// their parents. Fails with ExitCode::model if a block cannot be drawn.
Result<Analysed> with_sample_factors(const Analysed& a, const schedule::PlanOptions& options = {});

/// Returns the analysis scheduled again for the sizes of the data (schedule::PlanOptions::sizes), and with invariances
/// if PlanOptions::invariances asks for them. Returns `a` unchanged if there are no invariances to add and the schedule
/// does not depend on the sizes (depends_on_sizes), or the options have none.
Analysed with_options(Analysed a, const schedule::PlanOptions& options);

/// Returns the analysis with sums over all pairs of a plate's elements split, so that they take linear time where the
/// data of nearly all pairs are equal (schedule::separate_pairs). Each becomes a sum that separates into sums over
/// elements, and a correction over a list of the pairs that differ. The lists are added to `data`. Returns `a`
/// unchanged, and leaves the data as they are, if no term of the model has such a sum.
Analysed with_separate_pairs(Analysed a, BoundData& data, const schedule::PlanOptions& options);

/// Returns true if the schedule of a model may differ for data of other sizes, so that with_options() must plan it anew
/// and a cache of programs needs the sizes in its key. That is so if no step is an item stage and some term in
/// Schedule::outer is not yet multiplied by a statistic, or only by a cached one.
bool depends_on_sizes(const Analysed& a);

/// Lowers a schedule to a program of loops and runs the optimisation passes over it. `data` gives sizes and constants.
/// `options.inverse_temperatures` is taken from `a` and `options.thresholds` from `passes`, whatever their values are.
/// The result also has the program before the passes (`unoptimised`). Debug builds verify the loops and throw
/// std::logic_error if they are malformed.
loops::Lowered generate(const Analysed& a, const BoundData& data, loops::LowerOptions options,
                        const loops::PassOptions& passes = {});

/// Returns the program after the optimisation passes (loops::optimise), for programs that do not come from generate()
/// but were read as text (`lehr opt`).
loops::Program optimised(loops::Program program, const loops::PassOptions& passes);

/// Compiles a program to machine code in this process (Loops -> LLVM), or loads the code from the cache. Throws what
/// the constructor of native::Jit does if there is no memory for the code, or it cannot be made or run.
std::unique_ptr<native::Jit> compiled(const loops::Program& program);

/// Returns the bytes of the object file that `lehr build` writes: the code of the program, the driver that runs it, and
/// the tables and exported functions that `image` lists (native::emit_embeddable).
std::string object_file(const loops::Program& program, const native::Image& image, const native::Options& options);

/// Returns the names of the intermediate representations (IRs) of a model that `lehr emit --as` can print, in pipeline
/// order: "ast", "model", "density", "conditionals", "schedule", "loops", "llvm", "asm".
std::vector<std::string_view> ir_names();

/// Returns the text of one intermediate representation (IR) of a model. `ir_name` is the name of the IR, one of
/// ir_names(). No later stage runs, so the density of a model that is not conjugate can still be printed. Returns
/// nothing if an earlier stage reported an error to `diagnostics`. "loops", "llvm" and "asm" use the sizes in
/// `settings` and the options of the passes, and fail with an Error if the sizes are malformed; the others ignore both.
Result<std::optional<std::string>> emit(const Source& source, std::string_view ir_name, const Settings& settings,
                                        Diagnostics& diagnostics, const loops::PassOptions& passes = {});

}  // namespace lehr
