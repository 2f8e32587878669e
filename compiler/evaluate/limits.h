// Latent numbers with limits (`above`, `below`) and the variables that the compiler adds to their statements: the
// weight of a Student's t, the part of a mixture. Both are drawn together, given that the number lies within its
// limits.
#pragma once
#include <optional>

#include "compiler/evaluate/forward.h"
#include "runtime/rng.h"

namespace lehr {

/// Returns true if the statement draws a latent number within limits.
bool draws_within_limits(const model::Model& model, const model::Statement& s);

/// Returns the variable that the compiler has added to the statement, or nothing if it has added none.
std::optional<model::VariableId> added_variable(const model::Model& model, const model::Statement& s);

/// Returns the statement of the latent number with limits to which the compiler has added this variable, or null for
/// other variables.
const model::Statement* limited_owner(const model::Model& model, model::VariableId added);

/// Returns true if the variable is a latent number with limits, or is added to one. The distribution that its statement
/// has is then not the one given its parents, which the limits change.
bool is_within_limits(const model::Model& model, model::VariableId v);

/// Draws a latent number within its limits and the variable that is added to its statement, which has no value yet, and
/// stores both. Returns false if the limits have no probability, or parameters are outside their domains.
bool draw_with_added(ModelEvaluator& forward, const model::Statement& s, const IndexValues& at, Rng& rng);

/// A latent number with limits whose probability of lying within them depends on another latent variable.
struct RandomLimits {
  model::VariableId variable, parent;  // the number, and the first such variable on which it depends
};

/// Returns the first latent number whose limits have a random probability: a latent variable stands in its
/// distribution. A density within limits and one that counts them as an observation then differ. Returns nothing if
/// there is none. One limit at the mean, both without latent variables, has probability 1/2 and does not count.
std::optional<RandomLimits> random_limits(const ModelEvaluator& forward);

}  // namespace lehr
