// Observed elements of a model whose log density is computed.
#pragma once
#include "compiler/evaluate/forward.h"

namespace lehr {

/// One observed element whose log density is wanted, with its statement and its multiplicity.
struct Observation {
  model::StatementId statement;  // defines its distribution
  Element element;               // position and variable
  double copies = 1;             // multiplicity: its log density counts this often
};

/// The contribution of one sequence of a chain to a log density.
struct SequenceDensity {
  std::size_t first = 0;   // position of its first element
  double log_density = 0;  // nats
};

/// Returns the multiplicity of a statement's element: the product of the `times` of its plates.
double multiplicity_of(const model::Model& model, const BoundData& data, const model::Statement& statement,
                       const IndexValues& at);

}  // namespace lehr
