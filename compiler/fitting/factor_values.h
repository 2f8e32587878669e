// Draws from a factorised posterior, put where the model's expressions read them.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/evaluate/draw_values.h"
#include "compiler/fitting/laws.h"
#include "compiler/instance/members.h"
#include "compiler/math/factor_draw.h"
#include "compiler/pipeline.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

class FactorValues {
 public:
  /// The factors of the variables that are wanted (by VariableId), from their arrays. ExitCode::data where the arrays
  /// are not those of the factors, or not there. `laws` of the same factors, which must outlive it: steps of chains are
  /// drawn together where it has their covariances.
  static Result<FactorValues> make(const Analysed& analysed, const std::map<std::string, SavedVariable>& posterior,
                                   const std::vector<bool>& wanted, Laws& laws);

  /// One draw of every element that `informed` has (by VariableId and element), each from its own factor, joint factors
  /// as a whole; the other elements stay. Factors of other chains are drawn by element. Random numbers are those of the
  /// element of its first variable, of joint factors of the first element.
  void draw(const std::vector<std::vector<bool>>& informed, Forward& to, const RngOf& rng_of) const;
  void draw(const std::vector<std::vector<bool>>& informed, Forward& to, Rng& rng) const;

 private:
  struct Source {
    std::vector<model::VariableId> members;  // as a draw has them: the mean of a joint factor first
    std::vector<math::Draw> elements;
    std::vector<MemberNumbers> numbers = {};  // of a joint variable
    bool switched = false;
    const StepCovariance* steps = nullptr;  // of a chain; null: elements are independent
  };
  std::optional<Error> add_joint(const model::Model& m, const conditionals::Block& b,
                                 const std::map<std::string, SavedVariable>& posterior, const std::vector<bool>& wanted,
                                 conditionals::BlockId id, Laws& laws);
  static void draw_members(const Source& s, const std::vector<std::vector<bool>>& informed, Forward& to,
                           const RngOf& rng_of);
  std::vector<Source> sources_;
};

}  // namespace lehr
