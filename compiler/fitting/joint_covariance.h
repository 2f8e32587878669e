// Covariances of numbers that share a Normal factor, or one that a precision in it scales (`guide joint`).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/conditionals/conditionals.h"
#include "compiler/fitting/symbolic.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

class JointCovariance {
 public:
  /// Of the block of a joint variable; nothing where its factor is not in the posterior, or no Normal one.
  static std::optional<JointCovariance> make(const model::Model& model, const conditionals::Block& block,
                                             const std::map<std::string, SavedVariable>& posterior);

  /// Of two numbers of members, numbered as their arrays are; nothing for numbers of two elements of a chain, whose
  /// factor is stored element by element (step_covariance.h).
  std::optional<double> between(model::VariableId a, std::size_t number_of_a, model::VariableId b,
                                std::size_t number_of_b) const;
  /// Of two numbers of a scaled vector, given its precision: so many inverses of that. Nothing for others.
  std::optional<Monomial> tied(model::VariableId a, std::size_t number_of_a, model::VariableId b,
                               std::size_t number_of_b) const;
  /// The root (math::Spread) of the element of the factor that has a number, and the number's coordinate there.
  std::pair<const std::vector<double>*, std::size_t> root_at(model::VariableId a, std::size_t number) const;

  /// Coordinates of an element, and which element and coordinate a number of a member is.
  std::size_t extent() const { return extent_; }
  std::pair<std::size_t, std::size_t> place(model::VariableId v, std::size_t number) const;
  const std::vector<std::vector<double>>& means() const { return mean_; }  // by element
  const std::vector<std::vector<double>>& roots() const { return root_; }

 private:
  std::size_t extent_ = 0;
  bool chain_ = false;
  std::vector<std::vector<double>> mean_, covariance_, root_;  // by element, row-major
  std::vector<std::vector<double>> tied_;  // scaled: of its vector, which has one coordinate less; else empty
  std::vector<Atom> inverse_;              // scaled: the inverse of the precision
  std::map<model::VariableId, std::vector<std::size_t>> members_;  // by number: element times extent plus coordinate
};

}  // namespace lehr
