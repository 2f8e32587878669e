// Draws from a factorised posterior, stored as values of the model's variables so that its expressions can be
// evaluated.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/evaluate/draw_values.h"
#include "compiler/instance/members.h"
#include "compiler/math/factor_draw.h"
#include "compiler/pipeline.h"
#include "compiler/posterior/posterior_moments.h"
#include "runtime/output/saved_fit.h"

namespace lehr {

/// The factors of a fit, prepared for drawing latent values. Predictions by simulation draw these, and evaluate the
/// model at them.
class FactorSampler {
 public:
  /// Prepares the factors of the variables that are `wanted` (by VariableId). Steps of a chain are drawn together where
  /// `posterior_moments` has their covariances. ExitCode::data if saved arrays of such a factor are missing or are
  /// those of another family, or if it cannot be drawn. `posterior_moments` must outlive the object.
  static Result<FactorSampler> make(const Analysed& analysed, const std::map<std::string, SavedVariable>& posterior,
                                    const std::vector<bool>& wanted, PosteriorMoments& posterior_moments);

  /// Draws every element that is d-connected to data (`d_connected`, by VariableId and element) from its factor into
  /// `to`; the values of other elements stay. Members of a joint factor are drawn together, elements of chains without
  /// covariances independently. `rng_of` returns the random numbers for an element of a variable. A factor of a mean
  /// and its precision is drawn with those of the mean's element, a joint variable (`guide joint`) as a whole with
  /// those of element 0 of its first member.
  void draw(const std::vector<std::vector<bool>>& d_connected, ModelEvaluator& to, const RngOf& rng_of) const;
  /// Draws every element that is d-connected to data from its factor into `to`, with all random numbers from one
  /// stream; the values of other elements stay.
  void draw(const std::vector<std::vector<bool>>& d_connected, ModelEvaluator& to, Rng& rng) const;

 private:
  /// One block's factor, prepared for drawing: functions that draw its elements, and the variables that the draws
  /// belong to.
  struct Source {
    std::vector<model::VariableId>
        members;                       // variables of the factor in the order of a draw: the mean before its precision
    std::vector<math::Draw> elements;  // for each element, a function that draws all its numbers
    std::vector<MemberLayout> layouts = {};  // for a joint variable: which numbers of a draw each member has
    bool switched = false;  // true if the factor is that of a category with a number whose distribution it chooses
    const StepCovariance* steps = nullptr;  // for a chain: joint distribution of its steps; null: draw each alone
  };
  /// Prepares the block of a joint variable if one of its members is wanted; otherwise does nothing. Returns an error
  /// if its saved arrays are missing or are those of another family.
  std::optional<Error> add_joint(const model::Model& m, const conditionals::Block& b,
                                 const std::map<std::string, SavedVariable>& posterior, const std::vector<bool>& wanted,
                                 conditionals::BlockId id, PosteriorMoments& posterior_moments);
  /// Draws a joint variable and stores the numbers of the d-connected elements of its members.
  static void draw_members(const Source& s, const std::vector<std::vector<bool>>& d_connected, ModelEvaluator& to,
                           const RngOf& rng_of);
  std::vector<Source> sources_;  // the prepared factors, one for each block
};

}  // namespace lehr
