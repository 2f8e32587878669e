// Bits and categories that are drawn with the auxiliary variables of their links integrated out.
#pragma once
#include "compiler/conditionals/integrate.h"
#include "compiler/loops/updates.h"

namespace lehr::loops {

class Integrals : Part {
 public:
  Integrals(Shared& shared, Terms& terms, FormulaLoops& formulas, Lookups& lookups, Updates& updates);

  bool any(BlockId b) const { return !integrated_[b.index()].empty(); }
  /// Whether the term is gone from the naturals of the block: what its draws integrate out is in it.
  bool has(BlockId b, const Term& t) const;
  /// Adds, to the naturals of an element, the logarithms of the integrals at each of its values. What the element is
  /// expected to be is lost.
  void add(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);

 private:
  /// An auxiliary variable, and its naturals: from terms without the block, and from all at one value.
  struct Work {
    BlockId block, auxiliary;
    Uses fixed, varying;
    NaturalTarget at_all, at_one;
  };
  Work open(BlockId b, BlockId auxiliary);
  /// Calls `body` with each element of the auxiliary that stands beside that of the block, once.
  void each_beside(const conditionals::Integrated& x, const std::vector<ExprId>& element,
                   const std::function<void(const std::vector<ExprId>&)>& body);
  /// Whether the block's element of a pair is this one, as a function of the auxiliary's.
  ExprId is_beside(const Term& pair, const std::vector<ExprId>& element, const std::vector<ExprId>& auxiliary);
  void add_element(const Work& w, const std::vector<ExprId>& element, const std::vector<ExprId>& auxiliary,
                   const NaturalTarget& n);
  ExprId log_integral(const Work& w);
  /// Where it is kept what the element is expected to be; of a category, [it is the value].
  BufferId expected(const Work& w) const;
  ExprId values(const Work& w) const;
  std::vector<ExprId> address(const Work& w, const std::vector<ExprId>& element, ExprId value);
  void gather(const Work& w, const Uses& uses, const std::vector<ExprId>& auxiliary, const NaturalTarget& into);
  std::vector<bool> all_axes(BlockId b) const {
    return std::vector<bool>(m_[s_.conditionals[b].variable].axes.size(), true);
  }

  std::vector<std::vector<conditionals::Integrated>> integrated_;  // by BlockId
  Terms& terms_;
  FormulaLoops& formulas_;
  Lookups& lookups_;
  Updates& updates_;
};

}  // namespace lehr::loops
