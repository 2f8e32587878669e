// Polynomials without elements that nothing informs: these are averaged over given their parents, children first.
#pragma once
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/fitting/laws.h"

namespace lehr {

/// A quantity that is `mean`, a polynomial, plus noise that is independent of it, of mean 0 and variance `noise`.
struct Resolved {
  Polynomial mean, noise;
  bool gaussian = true;  // the noise is Normal given what stands in `noise`
};

class Elimination {
 public:
  /// Both must outlive it.
  Elimination(const Symbolic& symbolic, Laws& laws);

  /// E[p | elements that have a law], where at most squares of the others stand in it. Nothing where a family has no
  /// such moment, or (Forward::unknown) a category lacks a value.
  std::optional<Polynomial> averaged(Polynomial p);

  /// The same of a quantity in which the others stand linearly, their noise kept apart.
  std::optional<Resolved> resolved(Polynomial p);

  /// E[p] and Var[p].
  std::optional<double> mean(const Polynomial& p);
  std::optional<double> variance(const Polynomial& p);

 private:
  using Rank = std::tuple<std::size_t, std::int64_t, std::size_t, std::size_t>;

  Rank rank(Element e) const;
  std::optional<Element> next(const Polynomial& p);
  std::optional<Polynomial> moment(Element e, const Atoms& own);
  std::optional<Polynomial> average_over(Element e, const Polynomial& p);

  const Symbolic& symbolic_;
  Laws& laws_;
  const model::Model& model_;
  struct Place {
    std::size_t group = 0, within = 0;
    std::optional<model::BoundId> ordered;
  };
  std::vector<Place> places_;  // by VariableId: when values of it would be drawn
};

}  // namespace lehr
