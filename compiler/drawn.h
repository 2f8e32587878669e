// Models whose blocks are drawn, made of the model before it had auxiliary variables.
#pragma once
#include "compiler/pipeline.h"

namespace lehr {

/// with_draws(complete), `complete` what was analysed of `resolved` with these options; where it has points of bounds,
/// with other auxiliary variables, of which one serves all values of a switch (expand_for_draws).
Result<Analysed> analyse_for_draws(const model::Model& resolved, const density::ExpandOptions& options,
                                   const Analysed& complete, schedule::Tempering tempering = schedule::Tempering::data);

}  // namespace lehr
