// What is said of an element in closed form, and how the parts of a mixture add up to it.
#pragma once
#include <optional>
#include <vector>

#include "compiler/fitting/elimination.h"
#include "compiler/math/predictive.h"

namespace lehr {

/// By number of the element (of categories, by value). Empty: there is no closed form.
struct AveragedElement {
  std::vector<double> mean, sd;
  std::vector<math::Mixture> distribution;
};

/// Adds up the variances about means that are known, and the distributions, of what an element is when categories have
/// values.
class MixtureSum {
 public:
  /// Of the element that `s` is about. All must outlive it; `to.mean` is there.
  MixtureSum(const Symbolic& symbolic, Laws& laws, Elimination& elimination, const model::Statement& s, const At& at,
             AveragedElement& to);

  /// With the categories as they are, which is so with this probability (a polynomial in what else is latent).
  void add(const Polynomial& weight);
  /// Variances become standard deviations.
  void finish();

 private:
  bool is_apart(const Polynomial& weight, const Polynomial& p) const;
  std::optional<double> square(const Polynomial& weight, const Polynomial& mean, const Polynomial& noise, double about);
  std::optional<math::Predictive> distribution(std::size_t j, const Polynomial& weight);
  std::optional<math::Predictive> gaussian(const Polynomial& mean, const Polynomial& noise, const Polynomial& weight);
  std::optional<math::Predictive> of_row(std::size_t j, const Polynomial& weight);
  math::Margin margin(const Polynomial& p);
  Polynomial with_points(const Polynomial& p);

  const Symbolic& symbolic_;
  Laws& laws_;
  Elimination& elimination_;
  const model::Statement& statement_;
  const At& at_;
  AveragedElement& to_;
  std::vector<double> variance_;
};

}  // namespace lehr
