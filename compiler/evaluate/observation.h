// Observed elements of a model whose log density is computed.
#pragma once
#include "compiler/evaluate/forward.h"

namespace lehr {

/// One observed element whose log density is to be computed and added to a score or marginal density, with its
/// statement and its multiplicity.
struct Observation {
  model::StatementId statement;  // defines its distribution
  Element element;               // the observed variable and the position in it
  double copies = 1;             // multiplicity: its log density counts this often
};

/// What one sequence of a chain, such as one hidden Markov path, contributes to the log density of the data.
struct SequenceDensity {
  std::size_t first = 0;   // position (Element::position) of the sequence's first element
  double log_density = 0;  // nats
};

/// Returns the multiplicity of a statement's element: the product of the `times` of its plates.
double multiplicity_of(const model::Model& model, const BoundData& data, const model::Statement& statement,
                       const IndexValues& at);

}  // namespace lehr
