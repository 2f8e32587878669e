// Observed elements of a model whose log density is computed.
#pragma once
#include "compiler/evaluate/forward.h"

namespace lehr {

/// One observed element whose log density is to be computed and added to a score or marginal density, with its
/// statement and its multiplicity.
struct Observation {
  model::StatementId statement;  // the statement that defines its distribution
  Element element;               // the observed variable and the position in it
  double copies = 1;             // multiplicity: its log density counts this often
};

/// What one sequence of a chain, such as one hidden Markov path, contributes to the log density of the data.
struct SequenceDensity {
  std::size_t first = 0;   // position (Element::position) of the sequence's first element
  double log_density = 0;  // the contribution, in nats
};

/// Returns how many copies a statement's element stands for: the product of the multiplicities (`times`) of its plates,
/// 1 without any. `at` has the values of the statement's index variables at the element.
double multiplicity_of(const model::Model& model, const BoundData& data, const model::Statement& statement,
                       const IndexValues& at);

/// Returns the model with compound distributions of observations as written in its text, so that their densities are
/// evaluated in closed form: Student's t, and not a Normal with a random weight.
model::Model with_whole_compounds(model::Model m);

/// Returns, by VariableId, true for the variables that the compiler has added to observations: the weight of a
/// Student's t, the part of a mixture. The distributions that the model names have them integrated out.
std::vector<bool> added_to_observations(const model::Model& m);

}  // namespace lehr
