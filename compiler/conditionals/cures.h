// What to write instead of a statement without a conditional. Lines of model text are complete statements of the
// model at hand, so that they can be tried before they are said (compiler/advice.h).
#pragma once
#include <string>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// `tau ~ Gamma(shape = 1, rate = 1);`: a first prior of that family on the axes of `v`, under the given name.
std::string first_prior(const model::Model& m, model::VariableId v, const math::FamilyRow& row,
                        const std::string& name);

/// Whether another prior takes nothing from the model: that of `v` names no variable, and is no chain.
bool has_free_prior(const model::Model& m, model::VariableId v);

/// Notes with the other families that are conjugate to what stands outside the prior of `v`; none where another prior
/// would take something from the model.
void propose_conjugate(const model::Model& m, model::VariableId v, const std::vector<math::Stat>& outside,
                       Diagnostic& diagnostic);

/// What to write instead of a statistic of `a` that no family has; empty where nothing better is known.
std::string cure(const model::Model& m, const density::Density& d, const density::Term& t, const density::Atom& a);

}  // namespace lehr::conditionals
