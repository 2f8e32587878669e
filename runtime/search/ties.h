// Places the nodes of a network by their ties: nodes with ties to the same nodes come near each other. The places are
// leading singular vectors of the matrix of ties, which are much less noisy than its rows where ties are few.
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/search/features.h"

namespace lehr {

/// A value that belongs to a row (a node) and a column (another node, perhaps of another kind).
struct Tie {
  std::int64_t row, column;  // numbers of the two nodes
  double value;              // strength of the tie
};

/// Returns coordinates of each row: left singular vectors, one a column, of the matrix of ties after its rows and
/// columns were divided by roots of their regularised degrees (Qin & Rohe 2013). Those are returned whose singular
/// values a random matrix of the same size and norm would hardly have (Marchenko & Pastur 1967), and 32 at most; there
/// may be none. Ties of the same row and column are added; pairs without a tie count as 0. With `same`, rows and
/// columns are the same nodes: if ties have no direction, or each pair is there once, a row and its column describe one
/// node together, else side by side. The singular vectors come from a random subspace (Halko et al. 2011).
Columns places_by_ties(std::int64_t rows, std::int64_t columns, std::vector<Tie> ties, bool same);

}  // namespace lehr
