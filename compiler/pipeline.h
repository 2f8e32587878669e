// The ladder: Ast -> Model -> Density -> Conditionals -> Schedule -> Loops -> LLVM. Each stage is a free
// function of the rung it makes; the pipeline stops between rungs when a stage reported an error.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/conditionals/conditionals.h"
#include "compiler/model/bind.h"
#include "compiler/model/model.h"
#include "compiler/support/diagnostic.h"

namespace lehr {

/// Everything that is known of a model without its data.
struct FrontEnd {
  ast::Ast ast;
  model::Model model;
  conditionals::Conditionals conditionals;
};

/// All stages in order. `options` is what the data decide about the density; without data, nothing is
/// missing.
std::optional<FrontEnd> analyse(const Source& source, const density::ExpandOptions& options,
                                Diagnostics& diagnostics);

/// What `lehr emit --as` can print, in the order of the ladder.
std::vector<std::string_view> rungs();

/// The text form of one rung; no later stage runs, so that a model that is not conjugate still has a density.
/// Nothing when a stage up to it reported an error. `rung` is one of rungs(); the rungs of code (loops, llvm,
/// asm) need the sizes of `settings`, those above ignore them: a malformed setting is an Error.
Result<std::optional<std::string>> emit(const Source& source, std::string_view rung, const Settings& settings,
                                        Diagnostics& diagnostics);

}  // namespace lehr
