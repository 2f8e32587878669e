// The ladder: Ast -> Model -> Density -> Conditionals -> Schedule -> Loops -> LLVM. Each stage is a free function of
// the rung before, run here and nowhere else; the pipeline stops between rungs when a stage reported an error.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/loops/lower.h"
#include "compiler/model/bind.h"
#include "compiler/model/model.h"
#include "compiler/schedule/schedule.h"
#include "compiler/support/diagnostic.h"

namespace lehr {

/// A model and what was derived of it: how it is inferred from any data of its kind.
struct Analysed {
  model::Model model;                                       // with the auxiliary variables of its augmentations
  schedule::Schedule schedule;                              // holds density and conditionals
  std::optional<model::GivenId> inverse_temperatures = {};  // see with_item_temperatures
};

/// Text -> Ast -> Model.
std::optional<model::Model> read(const Source& source, Diagnostics& diagnostics);

/// What the data decide about the density.
density::ExpandOptions expand_options(const BoundData& data);

/// Model -> Density -> Conditionals -> Schedule. `options` is what the data decide about the density; without data,
/// nothing is missing.
std::optional<Analysed> analyse(const model::Model& model, const density::ExpandOptions& options,
                                Diagnostics& diagnostics);
/// Both.
std::optional<Analysed> analyse(const Source& source, const density::ExpandOptions& options, Diagnostics& diagnostics);

/// Every item of the data with a temperature of its own: 1 / T, an array among the givens. An Error says why they
/// cannot have one.
Result<Analysed> with_item_temperatures(const Analysed& a);

/// Every block at draws from its complete conditional. An Error says what cannot be drawn.
Result<Analysed> with_draws(const Analysed& a, schedule::Tempering tempering = schedule::Tempering::data);

/// Schedule -> Loops, for the sizes and constants of `data`. The options that only `a` decides are set here.
loops::Lowered generate(const Analysed& a, const BoundData& data, loops::LowerOptions options);

/// What `lehr emit --as` can print, in the order of the ladder.
std::vector<std::string_view> rungs();

/// The text form of one rung; no later stage runs, so that a model that is not conjugate still has a density.
/// Nothing when a stage up to it reported an error. `rung` is one of rungs(); the rungs of code (loops, llvm,
/// asm) need the sizes of `settings`, those above ignore them: a malformed setting is an Error.
Result<std::optional<std::string>> emit(const Source& source, std::string_view rung, const Settings& settings,
                                        Diagnostics& diagnostics);

}  // namespace lehr
