// Elements with a value from the data among latent ones: their factors are all mass at the value. Of a vector single
// entries may have one; the others are then conditioned on them.
#pragma once
#include "compiler/loops/formulas.h"
#include "compiler/loops/terms.h"
#include "runtime/abi.h"

namespace lehr::loops {

class Clamps : Part {
 public:
  Clamps(Shared& shared, Terms& terms) : Part(shared), terms_(terms) {}

  bool any(BlockId b) const { return m_[s_.conditionals[b].variable].clamped; }
  /// Whether the data have the value of the element, of a vector that of the entry `event`; of a block without such
  /// values the literal false, so that a select on it is what it was.
  ExprId is_known(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event = {});
  ExprId value(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event = {});
  /// The parameter `x` of that role at `event`, or what it is of a factor that is all mass at the value. Entries of a
  /// precision matrix beside a known one are 0.
  ExprId parameter(BlockId b, math::ParameterRole role, const std::vector<ExprId>& element,
                   const std::vector<ExprId>& event, ExprId x);
  /// `x` where no value is known that `event` (of any rank) mentions, and `instead` elsewhere.
  ExprId unless_known(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event, ExprId x,
                      ExprId instead);
  /// All mass of a category on its value, where there is one: `store(k, probability)`.
  void put_category(BlockId b, const std::vector<ExprId>& element, ExprId size,
                    const std::function<void(ExprId k, ExprId probability)>& store);
  /// The exported parameters of the element as they are where its values are known.
  void put(BlockId b, const std::vector<ExprId>& element);
  /// The linear naturals of the unknown entries of a vector given the known ones, whose own become 0: h_m + 2 sum over
  /// known o of n_mo x_o, with n the symmetric naturals of the squares. `at` is where an element's naturals are.
  using Address = std::function<std::vector<ExprId>(const std::vector<ExprId>& event)>;
  void condition(BlockId b, const std::vector<ExprId>& element, BufferId linear, BufferId square, const Address& at);
  /// Known entries of the precision matrix of a vector at those of the identity, which adds nothing to its log
  /// determinant; how many there are.
  ExprId stand_in(BlockId b, const std::vector<ExprId>& element, Formulas& f);

 private:
  std::vector<ExprId> address(BlockId b, const std::vector<ExprId>& element, const std::vector<ExprId>& event);
  BufferId data(BlockId b) const { return at_.data.observed[s_.conditionals[b].variable.index()]; }

  Terms& terms_;
};

}  // namespace lehr::loops
