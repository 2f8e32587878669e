// Sums by item. They are the expected log density of each item's data (its energy), for runs in which every item has
// its own temperature. Or they are each item's contribution to the ELBO, by which a start is chosen for each item.
#pragma once
#include "compiler/lower/residuals.h"

namespace lehr::loops {

/// Emits code that adds up one number for each item: its energy (the expected log density of its data), or its
/// contribution to the ELBO. If no such sums are requested, the functions emit nothing.
class Energies : Part {
 public:
  Energies(Shared& shared, Terms& terms, Residuals& residuals) : Part(shared), terms_(terms), residuals_(residuals) {}

  /// Declares Interface::item_energies if the options request it.
  void declare_item_energies();
  /// Returns true if the sums by item are contributions to the ELBO: of all terms, with entropies. Otherwise they are
  /// energies.
  bool has_item_bounds() const { return interface_.item_energies && !interface_.item_energies->inverse.valid(); }
  /// Emits code that adds a value to the item's sum.
  void add_item_energy(ExprId item, ExprId value);
  /// Emits code that adds the stage's terms to the item's sum; fused categories add theirs when they are visited.
  void add_item_energies(const schedule::ItemStage& stage, ExprId item);
  /// Emits the function that adds, to the sums of a range of items, the terms without blocks of item stages
  /// (ItemEnergies::outer).
  void emit_item_energies();

 private:
  Terms& terms_;          // loop nests of terms
  Residuals& residuals_;  // running sums
};

}  // namespace lehr::loops
