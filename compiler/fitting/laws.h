// What is known of the numbers of latent elements, and averages over them.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/fitting/joint_covariance.h"
#include "compiler/fitting/step_covariance.h"
#include "compiler/fitting/symbolic.h"
#include "compiler/math/margin.h"
#include "compiler/pipeline.h"
#include "runtime/files/saved_fit.h"

namespace lehr {

/// The distribution of an element by itself.
class Law {
 public:
  Law(std::vector<double> of_mean, std::vector<math::Margin> of_margins, bool is_fixed,
      std::function<math::Spread()> spread)
      : mean(std::move(of_mean)), margins(std::move(of_margins)), fixed(is_fixed), form_(std::move(spread)) {}

  std::vector<double> mean;           // of its numbers
  std::vector<math::Margin> margins;  // of its numbers
  bool fixed = false;                 // a point: every number is its mean

  /// Of joint factors that of both members. Formed when it is asked for: its memory is the square of the numbers.
  const math::Spread& spread() const {
    if (!spread_) spread_ = form_();
    return *spread_;
  }

 private:
  std::function<math::Spread()> form_;
  mutable std::optional<math::Spread> spread_;
};

/// Elements of one factor depend on each other; a chain is one, and so are the members of a joint one.
struct FactorKey {
  std::size_t block = 0, position = 0;
  auto operator<=>(const FactorKey&) const = default;
};

class Laws {
 public:
  /// `posterior` has the factors by name, `informed` the elements that they are of (informed.h). All must outlive it.
  Laws(const Analysed& analysed, const std::map<std::string, SavedVariable>& posterior,
       const std::vector<std::vector<bool>>& informed, const Symbolic& symbolic);

  /// An informed element has that of its factor, another one that of its distribution given its parents, if these are
  /// known numbers; null if they are not, or the family says nothing. Categories have none, and observed elements are
  /// not informed.
  const Law* find(Element e);
  /// Whether it is informed and yet has no law: its distribution given its parents says nothing of it then.
  bool is_lost(Element e) { return is_informed(e) && !find(e); }
  /// To be called when categories have got other values: what was found for elements that are not informed is
  /// forgotten.
  void forget() { given_parents_.clear(); }

  Element element(const Atom& a) const;
  const Law* find(const Atom& a) { return find(element(a)); }
  /// Which of the element's numbers it is.
  std::size_t component(const Atom& a) const;
  FactorKey key(const Atom& a) const;
  /// The covariance of two numbers given the precision that a joint factor has of them (Spread::tie, Spread::tied): so
  /// many of its inverse, 0 of different factors; nothing elsewhere.
  std::optional<Monomial> tied(const Atom& a, const Atom& b);

  /// The steps of a chain of numbers that reaches back one step, or null: their covariances are not to be had.
  const StepCovariance* steps_of(conditionals::BlockId b);

  /// E[p] and Cov[a, b] where every atom has a law; nothing where factors have no such moment here.
  std::optional<double> mean(const Polynomial& p);
  std::optional<double> covariance(const Monomial& a, const Monomial& b);
  std::optional<double> variance(const Polynomial& p);

 private:
  bool is_informed(Element e) const {
    return !model_[e.variable].observed && informed_[e.variable.index()][e.position];
  }
  std::optional<Law> of_factor(Element e) const;
  std::optional<Law> given_parents(Element e) const;
  std::optional<Law> of_member(Element e) const;
  std::optional<double> moment(const Monomial& m);
  std::optional<double> moment(const Atoms& of_one_factor);
  std::optional<double> pair(const Atom& a, const Atom& b);
  std::optional<double> centred(const Atoms& a, const Atoms& b);
  /// Of two plain atoms of members of one joint factor, or of two steps of a chain; nothing of others.
  std::optional<double> within_factor(const Atom& a, const Atom& b);
  StepNumber step_of(const Atom& a);
  const JointCovariance* joint_of(conditionals::BlockId b);
  std::optional<StepCovariance> steps_from_model(conditionals::BlockId b);
  conditionals::BlockId block_of(const Atom& a) const {
    return analysed_.schedule.conditionals.block_of[a.variable.index()];
  }
  /// The root of the covariances of the Normal vector that a plain atom is a number of, and which; null of others.
  std::pair<const std::vector<double>*, std::size_t> root_of(const Monomial& m);
  std::vector<std::pair<FactorKey, Atoms>> by_factor(const Monomial& m) const;

  const Analysed& analysed_;
  const model::Model& model_;
  const std::map<std::string, SavedVariable>& posterior_;
  const std::vector<std::vector<bool>>& informed_;
  const Symbolic& symbolic_;
  std::map<Element, std::optional<Law>> of_factors_, given_parents_;
  std::map<conditionals::BlockId, std::optional<JointCovariance>> joint_;
  std::map<conditionals::BlockId, std::optional<StepCovariance>> steps_;
};

}  // namespace lehr
