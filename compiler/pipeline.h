// The compiler as a sequence of stages: Ast -> Model -> Density -> Conditionals -> Schedule -> Loops -> LLVM.
//
// Each stage is a free function from one intermediate representation (IR) to the next, on immutable values. The stages
// are called here and nowhere else. The pipeline stops after the first stage that reported an error.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/binding/bind.h"
#include "compiler/lower/lower.h"
#include "compiler/model/model.h"
#include "compiler/passes/passes.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/diagnostic.h"

namespace lehr {

/// A model with its derived inference algorithm, before data: everything up to the schedule.
struct Analysed {
  model::Model model;           // the model, with the auxiliary variables that augmentations added
  schedule::Schedule schedule;  // the order of updates; it contains the density and the conditionals
  std::optional<model::GivenId> inverse_temperatures =
      {};  // array of 1 / T by item, if with_item_temperatures made this
};

/// Parses the text of a model and resolves its names (Text -> Ast -> Model). Returns nothing if there were errors; they
/// and the warnings are added to `diagnostics`.
std::optional<model::Model> read(const Source& source, Diagnostics& diagnostics);

/// Returns the facts about `data` that change the form of the density. These are the variables with missing values, the
/// latent variables that are partly observed, and the given arrays that contain zeros.
density::ExpandOptions expand_options(const BoundData& data);

/// Derives the inference algorithm of a model (Model -> Density -> Conditionals -> Schedule). `options` has what the
/// data decide about the density; the default means data without missing values. Returns nothing after an error, for
/// example a variable without a conjugate family; `diagnostics` has the reasons.
std::optional<Analysed> analyse(const model::Model& model, const density::ExpandOptions& options,
                                Diagnostics& diagnostics);
/// Reads a model text and derives its inference algorithm: `read` followed by `analyse` of the result.
std::optional<Analysed> analyse(const Source& source, const density::ExpandOptions& options, Diagnostics& diagnostics);

/// Returns the analysis with a temperature for each item of the data. The log likelihood of an item is multiplied by 1
/// / T, an element of a new given array (`inverse_temperatures` of the result). Fails with ExitCode::model and the
/// reason if this model cannot be tempered by item.
Result<Analysed> with_item_temperatures(const Analysed& a);

/// Returns the analysis in which every block is drawn from its complete conditional instead of updated by its
/// expectation: a Gibbs sampler. `tempering` says which terms a temperature multiplies. Fails with ExitCode::model if a
/// block cannot be drawn.
Result<Analysed> with_sample_factors(const Analysed& a, schedule::Tempering tempering = schedule::Tempering::data);

/// Lowers a schedule to a program of loops and runs the optimisation passes over it. `data` gives sizes and constants.
/// The result also has the program before the passes (`unoptimised`). Debug builds verify the loops and throw
/// std::logic_error if they are malformed.
loops::Lowered generate(const Analysed& a, const BoundData& data, loops::LowerOptions options,
                        const loops::PassOptions& passes = {});

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
