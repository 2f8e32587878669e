// Sums by item, for Interface::item_energies. If every item has its own temperature T, they are the items' energies
// divided by T: expected log densities of data and local variables (the tempered terms). If a start is chosen for each
// item, they are the items' contributions to the ELBO.
#pragma once
#include "compiler/lower/residuals.h"

namespace lehr::loops {

/// Emits code that adds up one number for each item, if the options request it (ItemEnergies): its energy divided by
/// its temperature, for tempering by item, or its contribution to the ELBO, for the choice of a start by item.
/// Otherwise the functions emit nothing.
class Energies : Part {
 public:
  Energies(Shared& shared, Terms& terms, Residuals& residuals) : Part(shared), terms_(terms), residuals_(residuals) {}

  /// Declares the buffer of the numbers by item (Interface::item_energies) if the options request temperatures or
  /// starts of single items.
  void declare_item_energies();
  /// Returns true if the sums by item are contributions to the ELBO: of all terms, with entropies. Returns false if
  /// they are energies, or if there are none.
  bool has_item_bounds() const { return interface_.item_energies && !interface_.item_energies->inverse.valid(); }
  /// Emits code that adds a value to the item's number (its energy, or its contribution to the ELBO).
  void add_item_energy(ExprId item, ExprId value);
  /// Emits code that adds the expectations of the stage's terms to the item's number: those of tempered terms if it is
  /// an energy, of all terms if it is a contribution to the ELBO. Terms with fused categories are left out; they are
  /// added when these are visited.
  void add_item_energies(const schedule::ItemStage& stage, ExprId item);
  /// Emits the function that adds, to the energies of a range of items, the expectations of tempered terms that no
  /// block of an item stage is in (ItemEnergies::outer). It emits nothing if the numbers are contributions to the ELBO.
  void emit_item_energies();

 private:
  Terms& terms_;          // the part that emits loop nests of terms
  Residuals& residuals_;  // the part for terms in residual form (running sums)
};

}  // namespace lehr::loops
