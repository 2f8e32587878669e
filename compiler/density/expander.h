// Expressions of the model as polynomials in statistics: the state of one expansion.
//
// A latent index is replaced by a selector: a fresh bound k with the atom [z[..] = k]. One selector per distinct
// latent index per scope, opened in the innermost scope (statement or enclosing sum) whose bounds it mentions, so
// that f(sum_k [z = k] m_k) = sum_k [z = k] f(m_k) holds for every function applied inside the scope.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/density/poly.h"

namespace lehr::density {

class Expander {
 public:
  Expander(model::Model& m, Density& out, const ExpandOptions& options, bool draws, Diagnostics& diagnostics)
      : m_(m), out_(out), a_(out.algebra), options_(options), draws_(draws), diagnostics_(diagnostics) {}

  void statement(model::StatementId id);
  void potential(std::size_t index);

 private:
  struct Selector {
    model::VariableId variable;
    std::vector<IndexId> axes;
    BoundId bound;
  };
  struct Scope {
    std::set<BoundId> bounds;
    std::vector<Selector> selectors;
  };
  /// A parameter of the distribution being expanded: the typed expression and the spelling it was given in.
  struct Argument {
    const math::Spelling* spelling = nullptr;
    model::ExprId value;
    std::optional<Poly> instead = {};  // of its value
  };
  using Arguments = std::map<std::string, Argument>;  // by canonical name

  // expander_index.cpp: bounds, indices, scopes
  BoundId open_bound(model::BoundId b);
  IndexId index(const model::Index& i);
  std::vector<IndexId> indices(const std::vector<model::Index>& list);
  IndexId selector(model::VariableId v, std::vector<IndexId> axes);
  Poly close_scope(Poly p);
  /// The sum of body(index) over a fresh index of a plate.
  template <class Body>
  Poly sum_over(model::PlateId plate, const Body& body) {
    const BoundId b = a_.bound({m_[plate].name, plate, std::nullopt, false});
    return with_bound(body(a_.index(b)), b);
  }

  // product.cpp: multiplying out, within bounds
  /// p * q, of a family's formula or of the expression `of`. Where the product has several terms, what is alike is
  /// added up first: data alone is a coefficient, which is evaluated and not multiplied out. A product that is too
  /// large all the same is reported, with `of` or the largest parameter of the statement.
  Poly product(const Poly& p, const Poly& q, std::optional<model::ExprId> of = std::nullopt);
  Poly too_many_terms(std::optional<model::ExprId> of);

  // expander_expr.cpp: expressions of the model
  Poly scalar(model::ExprId e) { return component(e, {}); }
  Poly component(model::ExprId e, std::vector<IndexId> at);
  Poly binary(model::ExprId e, const std::vector<IndexId>& at);
  Poly logdet(model::ExprId e);
  Poly log_component(model::ExprId e, std::vector<IndexId> at);
  Poly matrix_inverse(model::ExprId e, IndexId row, IndexId column);
  Poly inverse_entry(model::VariableId v, std::vector<IndexId> lead, IndexId row, IndexId column);
  Poly variable(model::VariableId v, std::vector<IndexId> all);
  Poly given(model::GivenId g, std::vector<IndexId> all);

  // expander_functions.cpp: functions of polynomials
  Poly apply(Function f, const Poly& p);
  Poly log(const Poly& p);
  /// log; of a literal 0 in a prior (Gamma(0, 0), precision = 0) nothing: that constant is infinite and left out.
  Poly prior_log(const Poly& p);
  bool is_improper_zero(const Poly& p);
  Poly log1m(const Poly& p);
  Poly reciprocal(const Poly& p);
  Poly opaque(Function f, const Poly& p);
  std::string text(const Poly& p) const;

  // impossible.cpp: values without mass
  /// Logarithms of a number that data give, or of 1 less it; of the number 0 never() stands in its place.
  Poly log_of_data(CoefId c);
  Poly log1m_of_data(CoefId c);
  /// What is never drawn where the coefficient is 1 (elsewhere it is 0): the latent choices that it depends on have no
  /// mass there. What depends on none is data, which the binding has checked.
  Poly never(CoefId where);
  /// The latent variables that choose what a coefficient of the statement is.
  std::set<model::VariableId> choosing(CoefId c) const;
  /// Whether some latent variable may choose what an expression of the statement is.
  bool is_chosen(model::ExprId e) const;
  /// Totals that a latent variable chooses: of a count above one, the total is the count, and the choice has no mass.
  Poly within_total(Arguments& arguments);

  // augment.cpp: auxiliary variables
  /// Logarithm of a rate or probability of the statement's counts, which may be a sum: c log sum_k m_k >=
  /// c sum_k [a = k] log m_k with c copies of a category a, the source of each count; exact for Poisson and
  /// Multinomial.
  Poly family_log(const Poly& p);
  Poly log_of_sum(const Poly& p);
  Poly log_of_summand(const Term& t);
  /// log of logistic(sign * eta), by a quadratic bound that touches it at a point for each element of the statement,
  /// and of the plate of `at`.
  Poly log_logistic(const Poly& eta, double sign, std::optional<IndexId> at = std::nullopt);
  /// log of the probability of a category that lies between its cuts.
  Poly log_ordered(const model::OrderedLogistic& ordered, IndexId category);
  /// log(1 - exp(-p)).
  Poly log_gap(const Poly& p);
  /// log of probit(sign * argument): a Normal number about the argument is above 0, or below.
  Poly log_probit(model::ExprId argument, double sign);
  /// log of a component of softmax(scores), by a quadratic bound.
  Poly log_softmax(model::ExprId scores, IndexId at);
  /// A statistic of the auxiliary variable of the statement's own element.
  Poly own_statistic(model::VariableId auxiliary, math::Stat stat, std::vector<IndexId> event = {});
  /// log Phi(eta), of sign < 0 log Phi(-eta), by the density of a Normal number above 0 at its factor's maximum: a
  /// quadratic bound.
  Poly log_probit_at_point(const Poly& eta, double sign);
  /// log [value > limit] of a number, or of side < 0 log [value < limit], as a term for each side.
  Poly limited(const Poly& value, double side, CoefId limit);
  struct Censoring {
    CoefId known, value;  // known: 1 where the observed value is within all limits, else 0
    struct Side {
      double sign;
      CoefId limit, beyond;  // 1 where the value is beyond the limit, else 0
    };
    std::vector<Side> sides;
  };
  Censoring censoring(const model::Limits& limits);
  /// The log density of an observed value that says no more than its side beyond the limits; of a Normal one that of
  /// the number in its place, whose limits are censored_value().
  Poly censored(const model::Distribution& d, const model::Limits& limits);
  /// The limits of that number: both of them the observed value where that is known.
  Poly censored_value(const model::Limits& limits);
  /// A log density where the element is of the k-th part of a mixture.
  Poly of_part(model::ExprId part, std::size_t k, Poly p);
  /// The log density of a mixture, from that of each part.
  Poly mixture(const model::Statement& s, const std::function<Poly(const model::Distribution&)>& density);
  Poly within_limits(const model::Limits& limits);
  /// The auxiliary of this kind that the statement has, or a new one; of bounds, that of the part of a mixture and of
  /// the values of bits that are being expanded.
  model::VariableId auxiliary(model::Auxiliary::Kind kind, std::vector<model::PlateId> axes,
                              std::optional<model::PlateId> values, const math::FamilyRow* bound = nullptr);
  model::VariableId new_auxiliary(model::Auxiliary::Kind kind, std::vector<model::PlateId> axes,
                                  std::optional<model::PlateId> values, const math::FamilyRow* bound);
  /// The values of a source: `fixed` single summands, then the elements of `spread`.
  model::PlateId source_plate(std::size_t fixed, std::optional<model::PlateId> spread);
  /// Makes the observed count of a term with a source the multiplicity of that source.
  void own_copies(Term& t);

  // bound.cpp: bounds of functions of one number
  /// The point where a bound of a function of p touches it: a new variable, with the element that belongs to p.
  struct Touching {
    model::VariableId variable;
    std::vector<IndexId> element;
  };
  Touching touching(const math::FamilyRow& bound, const Poly& p);
  /// That of the statement's element, of one of `at` where there is one, and of each value of what selects p.
  Touching own_point(const math::FamilyRow& bound, const Poly& p, std::optional<IndexId> at = std::nullopt,
                     std::optional<model::PlateId> values = std::nullopt);
  Poly statistic(const Touching& at, math::Stat s, std::vector<IndexId> event = {});
  /// |p| from above.
  Poly absolute(const Poly& p);
  bool is_sum_of_points(const Poly& p) const;
  /// log Gamma of one point, or from below of a sum of points.
  Poly log_gamma_of_points(const Poly& p);
  /// Reports a term in which a bound stands with the sign for which it is none.
  void check_sides(const Poly& p);

  // switches.cpp: a point of a bound for each value of what switches its argument
  using Element = std::pair<model::VariableId, std::vector<IndexId>>;
  /// The latent categories that select p, by their indices.
  std::vector<IndexId> selectors_of(const Poly& p) const;
  bool has_bound(const model::Distribution& d, const math::Expr& formula) const;
  bool is_of_statement(const std::vector<model::Index>& indices) const;
  /// The first few bits and spins in the parameters, each one element for an element of the statement.
  std::vector<Element> bits_of(const model::Distribution& d);
  /// The sum over the values of the bits of their indicators times the density with these values in it.
  Poly for_each_value(std::span<const Element> bits, const std::function<Poly()>& density);

  // expand_statement.cpp: log densities of the family rows
  /// The function that is the whole of a parameter.
  const model::Apply* link(const Arguments& arguments, const std::string& name) const;
  Poly density(const math::Expr& e, const Arguments& arguments, const std::map<int, IndexId>& event);
  Poly function(const math::Apply& f, const Arguments& arguments, const std::map<int, IndexId>& event);
  Poly argument(const Argument& a, std::vector<IndexId> at);
  Poly argument_logdet(const Argument& a);
  Poly value(std::vector<IndexId> at);
  Poly distribution(const model::Distribution& d) { return distribution(d, d.family->log_density); }
  Poly distribution(const model::Distribution& d, const math::Expr& formula);
  /// The observed variable without whose value an element of `v` has no say, where values may be missing: itself, or
  /// the one of which `v` chooses the part.
  std::optional<model::VariableId> told_by(model::VariableId v) const;
  /// The terms of `v` where `teller` has a value. Elsewhere a part is one of all with equal probabilities: the weights
  /// learn nothing from it, and with its entropy it adds nothing to the ELBO.
  Poly with_gaps(Poly p, model::VariableId v, model::VariableId teller);
  /// The terms of a statement whose variable has a mask: they count for all others where it is 1 alone.
  Poly masked(Poly p, model::VariableId v, model::GivenId mask);
  /// An MvNormal of independent entries, as a sum of theirs, each with its entry of the mask.
  Poly masked_entries(const model::Distribution& d, model::VariableId v, model::GivenId mask);
  void finish(Poly p, const Origin& origin);

  Poly fail(std::string why, std::vector<std::string> notes = {});
  bool is_censored(model::VariableId v) const;
  Poly fail_of_limits(model::VariableId v);

  model::Model& m_;  // grows by auxiliary variables
  Density& out_;
  Algebra& a_;
  const ExpandOptions& options_;
  const bool draws_;  // see expand_for_draws
  Diagnostics& diagnostics_;

  std::map<model::BoundId, IndexId> bound_;  // the model's bounds in the algebra
  std::vector<Scope> scopes_;
  Span span_;  // of the statement, for messages
  std::optional<model::StatementId> statement_;
  std::vector<IndexId> own_;               // the statement variable's axes
  std::vector<IndexId> log_element_;       // of the count whose rate or probability is below a logarithm
  std::optional<Poly> in_place_of_value_;  // of the statement's variable
  std::map<Element, double> known_bits_;   // in what is being expanded, see for_each_value
  std::vector<bool> setting_;              // their values, in the order of the bits
  std::optional<std::size_t> part_;        // of a mixture
  using AuxiliaryKey =
      std::tuple<model::VariableId, model::Auxiliary::Kind, std::vector<model::PlateId>, std::optional<model::PlateId>,
                 const math::FamilyRow*, std::vector<bool>, std::optional<std::size_t>>;
  std::map<AuxiliaryKey, model::VariableId> auxiliaries_;
  bool improper_ = false;   // the statement's density has no normaliser
  bool too_large_ = false;  // reported: the rest of the statement is not expanded
  struct {
    model::ExprId value;
    std::size_t terms = 0;
  } largest_;  // parameter of the statement
};

}  // namespace lehr::density
