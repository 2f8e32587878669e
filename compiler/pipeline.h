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

/// A model with the conditional distributions of its blocks: everything before the schedule.
struct Derived {
  model::Model model;                       // the model, with the auxiliary variables that augmentations added
  conditionals::Conditionals conditionals;  // they contain the density
};

/// A model with its derived inference algorithm, before data: everything up to the schedule.
struct Analysed {
  model::Model model;           // the model, with the auxiliary variables that augmentations added
  schedule::Schedule schedule;  // the order of updates; it contains the density and the conditionals
  std::optional<model::GivenId> inverse_temperatures =
      {};  // array of 1 / T by item, if with_item_temperatures made this
};

/// Parses the text of a model (Text -> Ast), for callers that change the syntax tree or the text. Returns nothing if
/// there were errors; they are added to `diagnostics`.
std::optional<ast::Ast> read_syntax(const Source& source, Diagnostics& diagnostics);
/// Resolves the names of a syntax tree (Ast -> Model). Returns nothing if there were errors; they and the warnings are
/// added to `diagnostics`.
std::optional<model::Model> read_tree(const ast::Ast& ast, Diagnostics& diagnostics);
/// Parses the text of a model and resolves its names (Text -> Ast -> Model). Returns nothing if there were errors; they
/// and the warnings are added to `diagnostics`.
std::optional<model::Model> read(const Source& source, Diagnostics& diagnostics);

/// Returns the facts about `data` that change the form of the density. These are the variables with missing values, the
/// latent variables that are partly observed, and the given arrays of concentrations that contain zeros.
density::ExpandOptions expand_options(const BoundData& data);

/// Returns the model with joint factors for Normal variables that its terms couple, where that is cheap
/// (choose_joint_factors), besides those of its own guide. Variables of items are not joined with others. `complete` is
/// the analysis of `model`. The result chooses no more (Guide::factorised), as a model that says `guide factorised`
/// does. Factors of many coordinates are sparse, and are chosen where no variable of items is latent and elimination
/// is cheap (kMostFilled, kMostOperations).
model::Model with_joint_factors(const model::Model& model, const Analysed& complete,
                                const density::ExpandOptions& options, const BoundData& data);
/// Returns the sets of variables, each as names separated by commas, that would share one factor if variables of items
/// were joined with others. A stated `guide joint` does that; the variables then are those of these items, and of no
/// new ones. The result is empty if the guide is factorised.
std::vector<std::string> joinable_across_items(const model::Model& model, const Analysed& complete,
                                               const density::ExpandOptions& options, const BoundData& data);
/// Does what with_joint_factors() does, without data: it uses only sizes of plates that the model states as numbers,
/// and chooses no factors of many coordinates.
model::Model with_joint_factors(const model::Model& model, const Analysed& complete);
/// Returns the model with the joint factors whose parameters ("joint(a, b).mean") are in the posterior of a fit, and no
/// others but those of its own guide.
model::Model with_joint_factors_of(const model::Model& model, const std::vector<NamedArray>& posterior);

/// Derives the conditionals of a model (Model -> Density -> Conditionals). It finds all errors of a model: the schedule
/// never fails. `options` has what the data decide about the density; the default means data without missing values.
/// Returns nothing after an error, for example a variable without a conjugate family; `diagnostics` has the reasons.
std::optional<Derived> derive_conditionals(const model::Model& model, const density::ExpandOptions& options,
                                           Diagnostics& diagnostics);
/// Orders the updates of derived conditionals (Conditionals -> Schedule).
Analysed schedule_updates(Derived derived, const schedule::PlanOptions& options = {});

/// Derives the inference algorithm of a model: `derive_conditionals`, and `schedule_updates` of the result. Returns
/// nothing after an error.
std::optional<Analysed> analyse(const model::Model& model, const density::ExpandOptions& options,
                                Diagnostics& diagnostics, const schedule::PlanOptions& plan_options = {});
/// Reads a model text and derives its inference algorithm: `read` followed by `analyse` of the result. Returns nothing
/// after an error.
std::optional<Analysed> analyse(const Source& source, const density::ExpandOptions& options, Diagnostics& diagnostics,
                                const schedule::PlanOptions& plan_options = {});

/// Returns the analysis with a temperature for each item of the data. The log likelihood of an item is multiplied by 1
/// / T, an element of a new given array (`inverse_temperatures` of the result). Fails with ExitCode::model and the
/// reason if this model cannot be tempered by item.
Result<Analysed> with_item_temperatures(const Analysed& a, const schedule::PlanOptions& options = {});

/// Returns the analysis in which every block is drawn from its complete conditional instead of updated by its
/// expectation: a Gibbs sampler. It has no masks of barren elements, which are drawn from their priors given their
/// parents. Fails with ExitCode::model if a block cannot be drawn.
Result<Analysed> with_sample_factors(const Analysed& a, const schedule::PlanOptions& options = {});

/// Returns the analysis with a schedule for data of these sizes (schedule::PlanOptions::sizes), and with invariances if
/// they are wanted. Returns `a` unchanged if neither makes a difference.
Analysed with_options(Analysed a, const schedule::PlanOptions& options);

/// Returns the analysis with sums over pairs split into separable sums and sums over lists (schedule::separate_pairs),
/// scheduled for the sizes of `data`. The lists are added to `data`. Returns `a` unchanged, and leaves the data as they
/// are, if no term of the model has such a sum.
Analysed with_separate_pairs(Analysed a, BoundData& data, const schedule::PlanOptions& options);

/// Returns true if the sizes of the data can make a difference to with_options().
bool depends_on_sizes(const Analysed& a);

/// Lowers a schedule to a program of loops and runs the optimisation passes over it. `data` gives sizes and constants.
/// `options.inverse_temperatures` is taken from `a` and `options.thresholds` from `passes`, whatever their values are.
/// The result also has the program before the passes (`unoptimised`). Debug builds verify the loops and throw
/// std::logic_error if they are malformed.
loops::Lowered generate(const Analysed& a, const BoundData& data, loops::LowerOptions options,
                        const loops::PassOptions& passes = {});

/// Returns the program after the passes (loops::optimise), for programs that were read as text.
loops::Program optimised(loops::Program program, const loops::PassOptions& passes);

/// Compiles a program to machine code in this process (Loops -> LLVM), or loads the code from the cache. Throws if
/// there is no memory for it.
std::unique_ptr<native::Jit> compiled(const loops::Program& program);

/// Returns the bytes of an object file with the program and `image` (native::emit_embeddable).
std::string object_file(const loops::Program& program, const native::Image& image, const native::Options& options);

/// Returns the names of the intermediate representations (IRs) that `lehr emit --as` can print, in pipeline order:
/// "ast", "model", "density", "conditionals", "schedule", "loops", "llvm", "asm".
std::vector<std::string_view> ir_names();

/// Returns the text of one intermediate representation (IR) of a model. `ir_name` is the name of the IR, one of
/// ir_names(). No later stage runs, so the density of a model that is not conjugate can still be printed. Returns
/// nothing if an earlier stage reported an error to `diagnostics`. "loops", "llvm" and "asm" use the sizes in
/// `settings` and the options of the passes, and fail with an Error if the sizes are malformed; the others ignore both.
Result<std::optional<std::string>> emit(const Source& source, std::string_view ir_name, const Settings& settings,
                                        Diagnostics& diagnostics, const loops::PassOptions& passes = {});

}  // namespace lehr
