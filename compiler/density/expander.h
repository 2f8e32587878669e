// The expansion of one model: log densities and expressions become polynomials in statistics of latent elements.
//
// A latent index is replaced by a selector: a new index variable k with the atom [z[n] = k]. So mu[z[n]] is sum_k [z[n]
// = k] mu[k]. Exactly one of the indicators is 1, and so f(mu[z[n]]) = sum_k [z[n] = k] f(mu[k]) for every function f.
// For this, each latent index has one selector in a scope, and the sum over k stands outside all functions of the
// scope. A scope is the statement or an enclosing sum(...): the innermost one whose index variables the latent index
// mentions.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/density/poly.h"

namespace lehr::density {

/// Expands the statements and potentials of one model and appends their terms to a Density. A latent index z[n] becomes
/// a selector: an index variable k with the indicator [z[n] = k]. Functions without a closed form get a local bound
/// with a tangent point, or another auxiliary variable. Errors go to the diagnostics; a function that reports an error
/// returns the polynomial 0, and the expansion goes on to find more.
class Expander {
 public:
  /// Sets up the expansion of `m` into `out`. `m` grows by auxiliary variables. `draws` chooses the expansion for a
  /// sampler (for_draws.h). All references must outlive the expander.
  Expander(model::Model& m, Density& out, const ExpandOptions& options, bool draws, Diagnostics& diagnostics)
      : m_(m), out_(out), a_(out.algebra), options_(options), draws_(draws), diagnostics_(diagnostics) {}

  /// Appends the log density of one statement of the model, summed over its elements, to the density.
  void statement(model::StatementId id);
  /// Appends one potential of the model, by its index into Model::potentials, to the density.
  void potential(std::size_t index);

 private:
  /// The index variable k that replaces a latent index z[n]; the sum over k of [z[n] = k] stands around its scope.
  struct Selector {
    /// The latent category z whose value was the index.
    model::VariableId variable;
    /// The element of the latent category: n of z[n].
    std::vector<IndexId> axes;
    /// The index variable, which ranges over the values of the category.
    IndexVarId bound;
  };
  /// A part of the model around which the sums over its selectors are put when it has been expanded: a statement or a
  /// sum(...). A function such as log is applied inside these sums, for each value of the latent index.
  struct Scope {
    /// The index variables that the statement or sum(...) has introduced, and those of `selectors`.
    std::set<IndexVarId> index_vars;
    /// The selectors (index variables in place of latent indices) whose sums stand around this scope.
    std::vector<Selector> selectors;
  };
  /// A parameter of the distribution that is being expanded, as the user gave it.
  struct Argument {
    /// The name under which the user gave the parameter (sd or precision); null inside the formula of a conversion
    /// (Spelling::convert), where `value` is used as it is.
    const math::Spelling* spelling = nullptr;
    /// The expression that the user gave for the parameter.
    model::ExprId value;
    /// Read instead of `value` if it is set: exclude_above_total() sets it where a number of trials is impossible.
    std::optional<Poly> instead = {};
  };
  /// The parameters of the distribution that is being expanded, by their canonical names. Inside the formula of a
  /// conversion: the parameter that is converted, by the name that the user typed.
  using Arguments = std::map<std::string, Argument>;

  // expander_index.cpp: index variables, indices, scopes

  /// Returns a new index variable of the algebra that stands for the index variable `b` of the model from now on
  /// (bound_). It belongs to the innermost scope. If `b` is nested in another one, that must have been opened before.
  IndexVarId open_index_var(model::IndexVarId b);
  /// Returns the index expression for an index of the model file, such as n, t-1 or z[n]. A latent category becomes the
  /// index variable that replaces it (a selector).
  IndexId index(const model::Index& i);
  /// Returns the index expressions for several indices of the model file.
  std::vector<IndexId> indices(const std::vector<model::Index>& list);
  /// Returns the index variable that replaces the latent index v[axes] (its selector). A new one is added if none is in
  /// scope.
  IndexId selector(model::VariableId v, std::vector<IndexId> axes);
  /// Ends the innermost scope. For each latent index z[n] that the scope has replaced by an index variable k, it
  /// multiplies `p` by the indicator [z[n] = k] and sums over k. Returns the result.
  Poly close_scope(Poly p);
  /// Returns the sum of body(index) over a new index variable of the plate.
  template <class Body>
  Poly sum_over(model::PlateId plate, const Body& body) {
    const IndexVarId b = a_.bound({m_[plate].name, plate, std::nullopt, false});
    return with_index_var(body(a_.index(b)), b);
  }

  // product.cpp: products with a limit on their size

  /// Returns p * q. Unless the product is small, like terms of p and of q are merged first. All terms that depend on
  /// data alone then become one coefficient, which is not multiplied out. `of` is the expression of the model that is
  /// this product; none for a product in a family's formula. A product above kMaxTerms is reported.
  Poly product(const Poly& p, const Poly& q, std::optional<model::ExprId> of = std::nullopt);
  /// Reports that a product is too large, at the expression `of` or else at the largest parameter of the statement. The
  /// rest of the statement is then not expanded. Returns 0.
  Poly too_many_terms(std::optional<model::ExprId> of);

  // expander_expr.cpp: expressions of the model

  /// Returns the value of a scalar expression of the model as a polynomial in statistics.
  Poly scalar(model::ExprId e) { return component(e, {}); }
  /// Returns the component `at` of an expression of the model as a polynomial: no index for a scalar, one for a vector,
  /// two for a matrix. A scalar counts as a vector of equal components, or as a multiple of the identity matrix.
  Poly component(model::ExprId e, std::vector<IndexId> at);
  /// Returns the component `at` of an expression that is a sum, difference, product or quotient.
  Poly binary(model::ExprId e, const std::vector<IndexId>& at);
  /// Returns the log determinant of a matrix expression; of a scalar, that of its multiple of the identity.
  Poly logdet(model::ExprId e);
  /// Returns the logarithm of a component of a probability vector or rate, also of stick_breaking, softmax and
  /// ordered_logistic.
  Poly log_component(model::ExprId e, std::vector<IndexId> at);
  /// Returns the entry [row, column] of the inverse of a matrix expression.
  Poly matrix_inverse(model::ExprId e, IndexId row, IndexId column);
  /// Returns the entry [row, column] of the inverse of a matrix variable, at its element `lead`.
  Poly inverse_entry(model::VariableId v, std::vector<IndexId> lead, IndexId row, IndexId column);
  /// Returns the value of a variable: its data if it is observed, else an atom. `all` indexes its axes, then its event
  /// axes. A bit or spin whose value sum_over_bit_values() has fixed is that number. A latent category is an error.
  Poly variable(model::VariableId v, std::vector<IndexId> all);
  /// Returns an entry of a data array of the model (a given). `all` indexes its axes, then its event axes.
  Poly given(model::GivenId g, std::vector<IndexId> all);

  // expander_functions.cpp: functions of polynomials

  /// Returns the function f of a polynomial. It is exact where statistics allow it. Otherwise it is a local bound
  /// (absolute(), log_gamma_of_points()), an opaque atom, or an error.
  Poly apply(Function f, const Poly& p);
  /// Returns the logarithm of a polynomial that is data, one product of statistics, or 1 - x. Any other sum is an
  /// error.
  Poly log(const Poly& p);
  /// Returns the logarithm in a family's formula whose argument is p: family_log(p). If p is the literal 0 in a prior
  /// (Gamma(0, 0), precision = 0), it returns 0: the constant is infinite, so it is dropped and the prior marked as
  /// improper.
  Poly prior_log(const Poly& p);
  /// Returns true if p is the literal 0 and the statement a prior, not of a bit (which then is 0). It then marks the
  /// statement as improper: the logarithm or gamma function of p is to be dropped.
  bool is_improper_zero(const Poly& p);
  /// Returns log(1 - p) for a polynomial p that is data, one statistic, or 1 - x. Anything else is an error.
  Poly log1m(const Poly& p);
  /// Returns 1 / p for a polynomial p that is data or one product of statistics. A sum is an error.
  Poly reciprocal(const Poly& p);
  /// Returns any other function f of a polynomial p. Of data it is a coefficient; lgamma of points is a statistic or a
  /// tangent; lgamma(1 + x) is log x + lgamma(x). Otherwise it is an atom of the first variable in p that carries the
  /// function as Opaque, or an error if p is a sum of data over some elements only, as in cumulative(d).
  Poly opaque(Function f, const Poly& p);
  /// Returns a polynomial as text, for error messages.
  std::string text(const Poly& p) const;

  // impossible.cpp: values with probability 0

  /// Returns the logarithm of a coefficient as a polynomial. In a statement, 0 means an impossible choice: the literal
  /// 0, and a step function where it is 0, become log odds of -1e15 (exclude_where), as log 0 is not finite.
  Poly log_of_data(CoefId c);
  /// Returns log(1 - c) of a coefficient as a polynomial. In a statement, the literal 1 means an impossible choice: the
  /// result is log odds of -1e15 (exclude_where), as log 0 is not finite.
  Poly log1m_of_data(CoefId c);
  /// Returns log odds of -1e15 where the coefficient `where` is 1, and 0 where it is 0. The latent choices that the
  /// coefficient depends on then have no probability there. If one variable alone chooses, the term counts for its
  /// factor and for nothing else (a multiplicity of 0). Returns 0 where nothing latent chooses: binding has checked
  /// such data.
  Poly exclude_where(CoefId where);
  /// Returns the latent variables whose value decides what the coefficient is: those of the selectors in it, and in a
  /// mixture the variable that chooses the part. In the prior of a latent bit without either, the bit itself.
  std::set<model::VariableId> choosing_variables(CoefId c) const;
  /// Returns true if the statement draws a latent bit, of which the data give no values.
  bool is_prior_of_bit() const;
  /// Returns true if the expression mentions a latent variable, or if the statement is a mixture. A number of trials
  /// that it gives may then be impossible under some choices.
  bool depends_on_latent(model::ExprId e) const;
  /// Excludes choices of a latent variable under which the number of trials is impossible: below the observed count, or
  /// for a vector of counts different from their sum. Returns the exclude_where() terms of these choices. For single
  /// counts it also replaces an impossible number in `arguments` by the count, so that the log density stays finite.
  Poly exclude_above_total(Arguments& arguments);

  // augment.cpp: auxiliary variables

  /// Returns the logarithm of a rate or probability p of the statement. If the statement is of observed counts or
  /// categories, and p is a sum that is not data alone, it is the lower bound with an auxiliary category (log_of_sum);
  /// else log(p).
  Poly family_log(const Poly& p);
  /// Returns the lower bound of log sum_k m_k with an auxiliary category a, the source of each count: sum_k [a = k] log
  /// m_k, to which the ELBO adds the entropy of a. For Poisson and Multinomial counts, the model with the category has
  /// the same posterior of all other variables. A negative summand or a second sum over a plate is an error.
  Poly log_of_sum(const Poly& p);
  /// Returns true if there may be elements of the statement whose source (the auxiliary category of log_of_sum())
  /// stands in no term: the statement has a `start`, is a mixture, or has categories without a value. Sources then have
  /// a prior, in which all values are equally probable. It cancels the entropy of those that no term reads:
  /// log_of_sum() adds log_of_values() where it reads a source, and idle_source() subtracts it everywhere.
  bool sources_may_be_idle() const;
  /// Returns the logarithm of the number of values of a source, the auxiliary category that says from which summand of
  /// a rate a count came.
  Poly log_of_values(model::VariableId source);
  /// Returns the log prior of the sources of the counts of one element, in which all values are equally probable: minus
  /// the logarithm of their number for each count. A source is the auxiliary category that says from which summand of a
  /// rate a count came.
  Poly idle_source(model::VariableId source);
  /// Returns log t of one summand t of the sum in log_of_sum(). Indicators of selectors stand outside the logarithm,
  /// since exactly one of them is 1.
  Poly log_of_summand(const Term& t);
  /// Returns log logistic(sign * eta): exact for data, else a quadratic lower bound (Jaakkola & Jordan 2000), or the
  /// tangent plane of its expectation if the guide asks for it. Either has a point for each element of the statement,
  /// and for each element `at` of another plate if given.
  Poly log_logistic(const Poly& eta, double sign, std::optional<IndexId> at = std::nullopt);
  /// Returns the log probability that a logistic variable lies between the cuts of `category` (the first and the last
  /// category have one cut), with the bound of log_logistic() at each cut. There is a tangent point for each element of
  /// the statement and each cut, whatever the category.
  Poly log_ordered(const model::OrderedLogistic& ordered, IndexId category);
  /// Returns log(1 - exp(-p)), a part of the log probability between two cuts at the distance p (log_ordered). p is
  /// data or one positive variable; anything else is an error.
  Poly log_gap(const Poly& p);
  /// Returns log probit(sign * argument), where probit is the Normal distribution function. It is exact for data.
  /// Otherwise the statement must be of an observed bit. Then it adds a Normal variable about the argument that is
  /// above 0 for sign > 0, else below (Albert & Chib 1993). In variational inference it is the tangent plane of its
  /// expectation if the guide asks for it, and log_probit_at_point() if a category, a bit or the part of a mixture
  /// switches the argument.
  Poly log_probit(model::ExprId argument, double sign);
  /// Returns the quadratic lower bound of log softmax(scores) at the component `at` (Boehning 1992).
  Poly log_softmax(model::ExprId scores, IndexId at);
  /// Returns one statistic of an auxiliary variable, at the element of the statement that is being expanded, as a
  /// polynomial.
  Poly own_statistic(model::VariableId auxiliary, math::Stat stat, std::vector<IndexId> event = {});
  /// Returns a lower bound of log Phi(sign * eta), Phi the Normal distribution function, that is quadratic in eta and
  /// touches at a tangent point. It is the ELBO of log_probit() in the added Normal variable, when the factor of that
  /// variable is a unit-variance Normal cut off at 0, and the tangent point is its mean before the cut.
  Poly log_probit_at_point(const Poly& eta, double sign);
  /// Returns log [value > limit] for side > 0 and log [value < limit] for side < 0, in statistics of a truncated Normal
  /// variable. `value` must be one atom.
  Poly log_indicator(const Poly& value, double side, CoefId limit);
  /// Coefficients that say, for each observed element, within or beyond which limits its value lies.
  struct Censoring {
    /// `uncensored` is 1 where the observed value lies within all limits, else 0; `value` is the observed value.
    CoefId uncensored, value;
    /// One limit of a censored statement, with the elements that lie beyond it.
    struct Side {
      /// 1 for an upper end (values above it are censored), -1 for a lower end.
      double sign;
      /// The coefficients of this limit: `limit` is its value; `beyond` is 1 where the observed value is beyond it,
      /// else 0.
      CoefId limit, beyond;
    };
    /// The limits of the censored statement, one or two.
    std::vector<Side> sides;
  };
  /// Returns the coefficients that say which elements of the observed statement under expansion are censored, and
  /// where. A value at a limit counts as beyond it.
  Censoring censoring(const model::Limits& limits);
  /// Returns the log density of a censored observation: its density within the limits, the log probability of the tail
  /// beyond them. A Normal one gets an auxiliary variable in place of its value, which censored_value() limits.
  Poly censored(const model::Distribution& d, const model::Limits& limits);
  /// Returns the terms that limit the auxiliary variable of censored(): to the observed value within the limits, to the
  /// tail beyond them.
  Poly censored_value(const model::Limits& limits);
  /// Returns p times the indicator that the element belongs to part k of the mixture; `part` is the expression that
  /// chooses the part.
  Poly times_part_indicator(model::ExprId part, std::size_t k, Poly p);
  /// Returns the log density of a mixture given the variable that selects the part: the sum over the parts of the
  /// indicator of the part times its log density, which `density` gives.
  Poly mixture(const model::Statement& s, const std::function<Poly(const model::Distribution&)>& density);
  /// Returns the terms that keep a latent Normal variable above or below its limits (`above low below high` in the
  /// model).
  Poly within_limits(const model::Limits& limits);
  /// Returns the auxiliary variable of that kind that the statement has on these axes, and adds it if there is none.
  /// `values` is the plate of a category's values or of a vector's components; `bound` is the family row of a tangent
  /// point. Each part of a mixture and each setting of the bits that is being expanded has tangent points of its own,
  /// but not for a sampler.
  model::VariableId auxiliary(model::Auxiliary::Kind kind, std::vector<model::PlateId> axes,
                              std::optional<model::PlateId> values, const math::FamilyRow* bound = nullptr);
  /// Adds an auxiliary variable of the statement to the model. `values` is the plate of a category's values or of a
  /// vector's components; `bound` is the family row of a tangent point.
  model::VariableId new_auxiliary(model::Auxiliary::Kind kind, std::vector<model::PlateId> axes,
                                  std::optional<model::PlateId> values, const math::FamilyRow* bound);
  /// Returns the plate of the values of a source, the auxiliary category that says from which summand of a rate a count
  /// came. Its elements are `fixed` single summands, then the elements of `spread`, if given. It is a new plate of the
  /// model, unless `fixed` is 0: then it is `spread`.
  model::PlateId source_plate(std::size_t fixed, std::optional<model::PlateId> spread);
  /// Moves the observed count of a term with a source from the coefficient to a multiplicity that the source owns: each
  /// count has a source of its own.
  void count_to_multiplicity(Term& t);

  // bound.cpp: local bounds of functions of one number

  /// The point where a local bound touches its function (a tangent point), as a variable and the element of it that the
  /// term reads.
  struct TangentPoint {
    /// The auxiliary variable that is the tangent point.
    model::VariableId variable;
    /// The element of the tangent point's variable, one index for each axis.
    std::vector<IndexId> element;
  };
  /// Returns the index variables that p depends on and does not sum over, as indices: the element of a tangent point
  /// that is added for p. For a sampler, selectors are left out.
  std::vector<IndexId> element_of(const Poly& p);
  /// Adds a tangent point with one element for each value of the index variables that element_of() returns. `bound` is
  /// the family row of the point.
  TangentPoint new_tangent_point(const math::FamilyRow& bound, const Poly& p);
  /// Returns the statement's tangent point. It has an element for each element of the statement and each value of the
  /// selectors in p. If `at` is given, it also has one for each element of that plate. `values` is the plate of its
  /// components.
  TangentPoint statement_tangent_point(const math::FamilyRow& bound, const Poly& p,
                                       std::optional<IndexId> at = std::nullopt,
                                       std::optional<model::PlateId> values = std::nullopt);
  /// Returns one statistic of a tangent point as a polynomial.
  Poly statistic(const TangentPoint& at, math::Stat s, std::vector<IndexId> event = {});
  /// Returns |p| of a polynomial: exact for data, else the upper bound (p^2 / xi + xi) / 2, which touches at xi = |p|.
  /// The point xi is a new variable. In a potential, |p| of random variables is an error.
  Poly absolute(const Poly& p);
  /// Returns true if every term of p is data times at most one positive variable that the guide makes a point, so that
  /// log Gamma(p) has a tangent (log_gamma_of_points()).
  bool is_sum_of_points(const Poly& p) const;
  /// Returns log Gamma(p): a statistic if p is one point, else the tangent, a lower bound for a sum of points.
  Poly log_gamma_of_points(const Poly& p);
  /// Reports the first term in which the tangent of log Gamma has a negative coefficient: the term would be an upper
  /// bound.
  void check_bound_signs(const Poly& p);

  // expectations.cpp: expectations of links under the posterior

  /// Returns true if the predictor is Normal under the posterior: a sum of Normal variables and points, times data.
  bool is_normal(const Poly& eta) const;
  /// Returns true if a logistic or probit link of this predictor gets the tangent plane of its expectation under the
  /// posterior, instead of a bound or an auxiliary variable. The guide must ask for it (Guide::gaussian_links), and the
  /// predictor be Normal. It is false for a sampler, in a mixture, and where a latent category, bit or spin switches
  /// the predictor.
  bool takes_expectation(const Poly& eta) const;
  /// Returns the tangent plane of an expectation at a point, as a polynomial in the predictor: offset + tangent * eta -
  /// curvature * eta^2, with statistics of the point.
  Poly tangent_plane(const TangentPoint& point, const Poly& eta);
  /// Returns exp(eta) of a Normal predictor, which the expression `id` of the model is, as a mark: an opaque atom that
  /// log() replaces by eta, and without_exponentials() by a tangent plane. For a sampler it is an error.
  Poly exponential(model::ExprId id, const Poly& eta);
  /// Returns the predictor eta if the atom is a mark of exponential(eta); nothing for other atoms.
  std::optional<Poly> exponent_of(const Atom& x);
  /// Returns the polynomial of a complete statement with tangent planes of expectations in place of the marks of
  /// exponential(). A mark with a factor or sign for which the plane is no bound is an error.
  Poly without_exponentials(Poly p);

  // switches.cpp: a tangent point for each value of a switch

  /// One element of a variable: the variable, and one index for each of its axes.
  using Element = std::pair<model::VariableId, std::vector<IndexId>>;
  /// Returns the selectors (index variables in place of latent categories) that p depends on and does not sum over, as
  /// indices. A tangent point gets an element for each of their values. None for a sampler.
  std::vector<IndexId> free_selectors(const Poly& p) const;
  /// Returns true if the formula has an absolute value, or a parameter of the distribution is a link (logistic, probit,
  /// softmax, ordered_logistic): these have local bounds.
  bool needs_local_bound(const model::Distribution& d, const math::Expr& formula) const;
  /// Returns true if the indices mention no index variables but the statement's own, also inside lookups: the element
  /// of the statement then determines which element they name.
  bool uses_only_own_indices(const std::vector<model::Index>& indices) const;
  /// Returns the latent bits and spins, at most three, that switch the parameters of a distribution, so that the caller
  /// expands its density for each of their values. Only those count whose element is determined by the element of the
  /// statement (uses_only_own_indices).
  std::vector<Element> switching_bits(const model::Distribution& d);
  /// Returns 1 minus a bit, times p. If p has expectations of links, 1 - x is a statistic of its own: planes are large
  /// far from their points, so that those of x and 1 - x may not cancel by rounding.
  Poly unless(model::VariableId bit, const std::vector<IndexId>& element, const Poly& p);
  /// Returns the sum, over all values of the bits, of their indicator times `density` with the bits fixed to the
  /// values.
  Poly sum_over_bit_values(std::span<const Element> bits, const std::function<Poly()>& density);

  // expand_statement.cpp: log densities of families

  /// Returns the function call that is the whole of a parameter, as logistic(e) in Bernoulli(logistic(e)), or null.
  const model::Apply* link(const Arguments& arguments, const std::string& name) const;
  /// Translates a formula of a family, such as its log density, to a polynomial in statistics: the value of the
  /// statement and `arguments` take the place of its symbols. `event` maps the formula's index symbols to index
  /// expressions.
  Poly density(const math::Expr& e, const Arguments& arguments, const std::map<int, IndexId>& event);
  /// Translates a function call in a formula of a family to a polynomial in statistics. Logarithms of probabilities and
  /// links get their own expansions.
  Poly function(const math::Apply& f, const Arguments& arguments, const std::map<int, IndexId>& event);
  /// Returns the component `at` of a parameter as a polynomial in statistics, converted to its canonical form (sd to
  /// precision).
  Poly argument(const Argument& a, std::vector<IndexId> at);
  /// Returns the log determinant of a matrix parameter, in its canonical form (covariance to precision), as a
  /// polynomial.
  Poly argument_logdet(const Argument& a);
  /// Returns the component `at` of the value of the statement's variable as a polynomial. If value_override_ is set, as
  /// for a censored observation, it returns that.
  Poly value(std::vector<IndexId> at);
  /// Returns the log density of a distribution at the statement's value, as a polynomial in statistics.
  Poly distribution(const model::Distribution& d) { return distribution(d, d.family->log_density); }
  /// Translates a formula of the distribution's family, its log density or the log probability of a tail, to a
  /// polynomial in statistics at the statement's value.
  Poly distribution(const model::Distribution& d, const math::Expr& formula);
  /// The elements of a chain that terms are of: those that `start` draws, all others, or all.
  enum class Elements { all, first, rest };
  /// Returns the terms of density() as sums over the elements of the statement, with the copies (`times`) that each
  /// stands for as multiplicities. For a chain, `which` limits the sums to the elements that `start` draws, or to the
  /// rest. Sets statement_element_ for density().
  Poly over_elements(Elements which, const std::function<Poly()>& density);
  /// Returns the observed variable with missing values that decides whether an element of `v` matters: `v` itself, or
  /// the variable whose mixture part `v` chooses. Returns nothing if no value may be missing.
  std::optional<model::VariableId> missing_source(model::VariableId v) const;
  /// Restricts the terms of the statement of `v` to elements at which `missing_source_variable` has a value. Where `v`
  /// chooses a mixture part and the value is missing, all parts become equally probable: the weights learn nothing
  /// there, and with the entropy of `v` the ELBO gains nothing.
  Poly guard_missing(Poly p, model::VariableId v, model::VariableId missing_source_variable);
  /// Multiplies the terms of the statement of `v` by its mask, a data array of 1 and 0. Elements with 0 then affect no
  /// factor but that of `v`.
  Poly masked(Poly p, model::VariableId v, model::GivenId mask);
  /// Returns the log density of an MvNormal with independent entries as a sum over the entries. Each is multiplied by
  /// its entry of the mask: with 0, it affects no factor but that of `v`.
  Poly masked_entries(const model::Distribution& d, model::VariableId v, model::GivenId mask);
  /// Brings the terms into normal form, merges like terms and appends them to the density with a new origin. Reports
  /// them instead if they weigh more than kMaxTerms.
  void finish(Poly p, const Origin& origin);

  /// Reports that the statement has no closed form, because of `why`, with notes. Returns 0. It reports nothing if the
  /// statement was already reported as too large.
  Poly fail(std::string why, std::vector<std::string> notes = {});
  /// Returns true if the variable is observed and its statement has limits: its values are then censored from a limit
  /// on.
  bool is_censored(model::VariableId v) const;
  /// Reports that a censored variable is used as a number. Returns 0.
  Poly fail_of_limits(model::VariableId v);

  /// The model that is expanded; it grows by auxiliary variables and their plates.
  model::Model& m_;
  /// The density that receives the terms of all statements.
  Density& out_;
  /// The algebra of that density, which stores indices and coefficients.
  Algebra& a_;
  /// What the data decide about the terms: missing values, masks, and concentrations of 0.
  const ExpandOptions& options_;
  /// True if the density is for a sampler, see expand_for_draws().
  const bool draws_;
  /// Receives the errors of the expansion.
  Diagnostics& diagnostics_;

  /// The index variables of the model that are in scope, as indices of the algebra.
  std::map<model::IndexVarId, IndexId> bound_;
  /// The scopes that are open: the statement first, then enclosing sums.
  std::vector<Scope> scopes_;
  /// The place in the model file that error messages point to: that of the statement, or of the distribution in it that
  /// is being expanded.
  Span span_;
  /// The statement that is being expanded; none for a potential.
  std::optional<model::StatementId> statement_;
  /// The element of the statement's variable: one index for each axis.
  std::vector<IndexId> statement_element_;
  /// While the logarithm of a rate or probability is expanded: the observed count or category that it belongs to. It is
  /// the statement's element; for a Multinomial, the index of the component follows. log_of_sum() adds a source that
  /// has a value for each such element.
  std::vector<IndexId> log_element_;
  /// Read in place of the value of the statement's variable if it is set: an auxiliary variable or the limit, in a
  /// censored statement.
  std::optional<Poly> value_override_;
  /// The latent bits and spins that sum_over_bit_values() has fixed, with their values.
  std::map<Element, double> fixed_bits_;
  /// The values of the bits and spins that sum_over_bit_values() has fixed, as flags (true: 1, or spin +1), in the
  /// order of the bits. Each setting of them has tangent points of its own.
  std::vector<bool> bit_values_;
  /// The part of a mixture that is being expanded; none outside mixtures.
  std::optional<std::size_t> part_;
  /// The key by which auxiliary() finds a variable that it has added: host, kind, axes, values, family row of a bound,
  /// setting of bits, mixture part.
  using AuxiliaryKey =
      std::tuple<model::VariableId, model::Auxiliary::Kind, std::vector<model::PlateId>, std::optional<model::PlateId>,
                 const math::FamilyRow*, std::vector<bool>, std::optional<std::size_t>>;
  /// The auxiliary variables that auxiliary() has added so far, so that equal requests share one.
  std::map<AuxiliaryKey, model::VariableId> auxiliaries_;
  /// The predictor eta below exp(eta), and the tangent point of the expectation of exp(eta).
  struct Exponent {
    /// The tangent point, at the element that is given by the index variables of `eta`.
    TangentPoint point;
    /// The predictor, as it was expanded last: with the index variables of that occurrence.
    Poly eta;
  };
  /// The predictors below exp(...), by the statement's variable, their expression and the setting of bits.
  std::map<std::tuple<model::VariableId, model::ExprId, std::vector<bool>>, Exponent> exponents_;
  /// True if the distribution that is being expanded (the main one, `start` or a part of a mixture) has no normaliser:
  /// its family has none, or a parameter of a prior is the literal 0 where its logarithm or lgamma is taken. Constant
  /// terms are then dropped; a mixture is an error.
  bool improper_ = false;
  /// True once the statement was reported as too large: the rest of it is not expanded.
  bool too_large_ = false;
  /// What too_many_terms() names: the parameter of the statement with the most terms so far, the argument of a link
  /// that was expanded since, or the whole value of a potential.
  struct {
    model::ExprId value;    // the expression
    std::size_t terms = 0;  // the number of its terms
  } largest_;
};

}  // namespace lehr::density
