// An element whose density is wanted.
#pragma once
#include "compiler/evaluate/forward.h"

namespace lehr {

/// One observed element, and how many copies of it there are.
struct Observation {
  model::StatementId statement;
  Element element;
  double copies = 1;
};

/// What is observed of one sequence of a chain.
struct SequenceDensity {
  std::size_t first = 0;  // position of its first element
  double log_density = 0;
};

/// By how much the element of the statement counts: the multiplicities of its plates (`times`).
double copies_of(const model::Model& model, const BoundData& data, const model::Statement& statement, const At& at);

}  // namespace lehr
