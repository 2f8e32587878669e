// Advice for models without a conditional in closed form: what the user can write instead.
//
// Proposed lines are complete statements in the user's own names, so that a test can compile them (compiler/advice.h).
#pragma once
#include <string>

#include "compiler/conditionals/conditionals.h"

namespace lehr::conditionals {

/// Returns the text of a statement that an error message proposes to the user: it draws a variable `name` on the axes
/// of `v` from the family `row` with simple parameters, as `tau[k] ~ Gamma(shape = 1, rate = 1);`.
std::string first_prior(const model::Model& m, model::VariableId v, const math::FamilyRow& row,
                        const std::string& name);

/// Returns true if an error message may propose another prior for `v`: its statement mentions no variable and has no
/// `start`, which would be lost.
bool has_replaceable_prior(const model::Model& m, model::VariableId v);

/// Adds a note to `diagnostic` for each family that would be a conjugate prior of `v`, with a statement that declares
/// it. These are the families on the support of `v` whose statistics include all of `outside`, the statistics of `v` in
/// the terms of other statements. The present family of `v` is left out.
///
/// Adds no note unless has_replaceable_prior(): a prior that mentions variables or has a `start` would lose them.
void propose_conjugate(const model::Model& m, model::VariableId v, const std::vector<math::Stat>& outside,
                       Diagnostic& diagnostic);

/// Returns advice for an error message, a sentence with complete statements: what to write instead of the statistic `a`
/// in the term `t`, which prevents a conjugate conditional. It is empty if no advice fits.
std::string advice_for(const model::Model& m, const density::Density& d, const density::Term& t,
                       const density::Atom& a);

}  // namespace lehr::conditionals
