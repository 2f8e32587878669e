// Draws of bits, spins and categories with the auxiliary variables of their links integrated out, as in partially
// collapsed Gibbs sampling (van Dyk & Park 2008; conditionals/collapse.h). Given its auxiliary variables, such an
// element would hardly ever change. So its log odds get, for each value v, the log normaliser of the auxiliary's
// conditional with the element at v:
//
//     log odds of v  +=  sum over auxiliaries beside the element of  log integral p(auxiliary, data | v)
#pragma once
#include "compiler/conditionals/collapse.h"
#include "compiler/lower/updates.h"

namespace lehr::loops {

/// Emits the code that a Gibbs sampler needs to draw a category, bit or spin with its auxiliary variables integrated
/// out: for each value of the element, the log integrals over these variables, which are added to its log odds.
class Integrals : Part {
 public:
  Integrals(Shared& shared, Terms& terms, FormulaLoops& formulas, Lookups& lookups, Updates& updates);

  /// Returns true if draws of the block integrate out some auxiliary variable.
  bool any(BlockId b) const { return !integrated_[b.index()].empty(); }
  /// Returns true if the term has an auxiliary variable that draws of the block integrate out. Such a term must not add
  /// to the natural parameters of the block directly.
  bool has(BlockId b, const Term& t) const;
  /// Emits code that adds the log integrals to the natural parameters of an element: of a category, each value's
  /// integral to the natural parameter of that value; of a bit, the difference of the two; of a spin, half of it. This
  /// overwrites the element's expected statistics, which the draw then forms anew.
  void add(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);

 private:
  /// What the code for one auxiliary block works with: the terms with it, and two sets of natural parameters of one of
  /// its elements.
  struct AuxiliaryWork {
    /// The drawn block, and the auxiliary block that its draw integrates out.
    BlockId block, auxiliary;
    /// The terms with the auxiliary variable, as its uses: those without the drawn block, and those with it.
    Uses fixed, varying;
    /// Natural parameters of one auxiliary element: from `fixed` alone; from `fixed` and `varying` with the drawn
    /// element at one value.
    NaturalTarget at_all, at_one;
  };
  /// Returns the uses of an auxiliary block that the drawn block integrates out, and declares arrays for its natural
  /// parameters.
  AuxiliaryWork open(BlockId b, BlockId auxiliary);
  /// Emits loops that run `body` once for each auxiliary element in a term with the drawn element.
  void each_neighbour(const conditionals::CollapsedAuxiliary& x, const std::vector<ExprId>& element,
                      const std::function<void(const std::vector<ExprId>&)>& body);
  /// Returns a bool expression: true if the drawn element and the auxiliary element are a pair of this kind. `pair` has
  /// an auxiliary atom and then a drawn atom, and the indices of the former determine those of the latter.
  ExprId is_neighbour(const Term& pair, const std::vector<ExprId>& element, const std::vector<ExprId>& auxiliary);
  /// Emits code that adds the log integral over one auxiliary element to the drawn element's natural parameters, for
  /// each of its values.
  void add_element(const AuxiliaryWork& w, const std::vector<ExprId>& element, const std::vector<ExprId>& auxiliary,
                   const NaturalTarget& n);
  /// Returns an expression for the log normaliser of the auxiliary's conditional, from its natural parameters `at_one`.
  ExprId log_integral(const AuxiliaryWork& w);
  /// Returns the buffer of the drawn block's expected statistic: of a category the indicators of its values.
  BufferId expected(const AuxiliaryWork& w) const;
  /// Returns an expression for the number of values that the drawn element can take, each of which gets a log integral.
  ExprId values(const AuxiliaryWork& w) const;
  /// Returns the indices of the element's expected statistic; of a category, at the value.
  std::vector<ExprId> address(const AuxiliaryWork& w, const std::vector<ExprId>& element, ExprId value);
  /// Emits code that computes the natural parameters of an auxiliary element from the uses.
  void gather(const AuxiliaryWork& w, const Uses& uses, const std::vector<ExprId>& auxiliary,
              const NaturalTarget& into);
  /// Returns `true` for each axis of the block's variable, as an argument that says that natural parameters are formed
  /// for one element at a time.
  std::vector<bool> all_axes(BlockId b) const {
    return std::vector<bool>(m_[s_.conditionals[b].variable].axes.size(), true);
  }

  /// By BlockId: the auxiliary variables that draws of the block integrate out; empty for most blocks.
  std::vector<std::vector<conditionals::CollapsedAuxiliary>> integrated_;
  Terms& terms_;            // the part that emits loop nests of terms
  FormulaLoops& formulas_;  // the part that emits formulas of families
  Lookups& lookups_;        // the part that solves for index variables
  Updates& updates_;        // the part that updates factors of single elements
};

}  // namespace lehr::loops
