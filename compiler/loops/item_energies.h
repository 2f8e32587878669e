// Expected log density of the data of every item, for temperatures of their own; bounds of items, for their starts.
#pragma once
#include "compiler/loops/residuals.h"

namespace lehr::loops {

class Energies : Part {
 public:
  Energies(Shared& shared, Terms& terms, Residuals& residuals) : Part(shared), terms_(terms), residuals_(residuals) {}

  void declare_item_energies();
  /// The energies are those of all terms, and entropies belong to them.
  bool has_item_bounds() const { return interface_.item_energies && !interface_.item_energies->inverse.valid(); }
  void add_item_energy(ExprId item, ExprId value);
  /// Of the stage's terms but those of streamed categories.
  void add_item_energies(const schedule::ItemStage& stage, ExprId item);
  void emit_item_energies();

 private:
  Terms& terms_;
  Residuals& residuals_;
};

}  // namespace lehr::loops
