// The family table: what Lehr knows about a distribution is in its row (FamilyRow) and nowhere else. Type checks, `lehr
// families`, the derivation, code generation, initial values and the tests read rows.
//
// A row describes the density that a model may name. If the family can also be a factor of the variational posterior,
// the row has a Factor. That is its exponential-family form (Bishop 2006, 2.4): natural parameters eta, sufficient
// statistics t(x), log normaliser A(eta). A new family is a function in families/*.cpp.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/math/expr.h"
#include "compiler/math/scalar_marginal.h"

namespace lehr {
struct Rng;  // declared in runtime/rng.h
}

namespace lehr::math {

/// The predictive distribution of a number, with its parameters integrated out. Defined in predictive.h.
struct Predictive;

/// Kinds of random numbers. A step of a draw (Factor::draw) may be one: `argument` is then its
/// FactorParameter::from_natural, and the second argument its noise_second. Some code draws them without steps.
enum class Noise {
  uniform,    // uniform on (0, 1)
  normal,     // mean 0, variance 1
  log_gamma,  // log of a Gamma(argument, rate 1)
  /// PG(b, argument) / b: a Polya-Gamma number divided by its shape b, the second argument. Here b is the number of
  /// trials times the power of a tempered likelihood.
  polya_gamma,
  /// The number of successes in `argument` trials; the second argument is the probability of success. Code for
  /// categories with copies uses it, and no family row.
  binomial,
  truncated  // standard Normal between `argument` and the second argument
};
/// Returns the name of a kind of noise in printed loops, such as "log_gamma".
std::string_view name_of(Noise n);

/// The set in which a value lies. Vectors have one event axis, matrices two. A model declares values of the first
/// eleven; the last three are of joint factors.
enum class Support {
  real,        // any real number
  positive,    // above 0
  unit,        // in (0, 1)
  count,       // 0, 1, 2, ...
  bit,         // 0 or 1
  spin,        // -1 or +1
  category,    // an element of a plate
  simplex,     // a probability vector
  vector,      // a vector of real numbers
  counts,      // a vector of counts
  spd_matrix,  // a symmetric positive definite matrix
  switched,    // a category together with a number
  scaled,      // a vector together with a precision that multiplies all its terms
  sparse       // a vector of many coordinates, few of which occur together in a term
};

/// Returns the number of event axes of a value in this set: 0 for numbers, categories and pairs (`switched`), 1 for
/// vectors, 2 for matrices.
int event_rank(Support s);
/// Returns true for categories, bits and spins, whose few values can be summed over.
bool is_discrete(Support s);
/// Returns the name of a support in messages: "real", "positive real", ...
std::string_view name_of(Support s);

/// The functions of one value x that the log joint may contain. Each is a sufficient statistic t(x) of some family; the
/// comments give it. Joint families have a mean m and a precision, a number t or a matrix L. In them, `value` is t,
/// `log` is log t, `entry` is L_jl and `logdet` is log det L.
///
/// `curvature`, `tangent`, `slope` and `offset` belong to auxiliary points of local bounds. They are coefficients of
/// the bound that touches its function at the point:
///
///   log logistic(e) >= e / 2 + offset - curvature e^2                            touches at e = xi and -xi
///   log Gamma(e) >= offset + tangent e                                           touches at e = z
///   log Phi(e) >= offset + tangent e - e^2 / 2                                   touches at e = m (probit)
///   log sum_k exp e_k <= offset + e' slope + e' A e,  A e = (e - mean(e)) / 4    touches at e = psi
///
/// `above`, `below`, `lower` and `upper` are statistics of a number between limits, and are 0 wherever the number can
/// be. Their natural parameters carry the limits. The lower limit is natural(lower) / natural(above) where
/// natural(above) is not 0, and the upper one is natural(upper) / natural(below).
enum class Stat {
  value,            // x (real, positive, unit, bit, spin, count)
  square,           // x^2
  log,              // log x (positive, unit)
  inverse,          // 1 / x
  log1m,            // log(1 - x)
  inverse_square,   // 1 / x^2
  log_gamma,        // log Gamma(x)
  value_log,        // x log x (positive)
  log_gap,          // log(1 - exp(-x)) (positive)
  indicator,        // [x = k] of a category
  log_comp,         // log x_k of a simplex
  comp,             // x_j of a vector
  comp2,            // x_j x_l of a vector
  entry,            // X_jl of a matrix
  logdet,           // log det X
  inverse_entry,    // (X^-1)_jl
  tangent,          // digamma(z) of a point z of log Gamma; m + phi(m) / Phi(m) of a point m of log Phi
  weighted,         // t m or (L m)_j of joint families, t m_j of `scaled`
  weighted_square,  // t m^2 or m' L m of joint families
  weighted2,        // t m_j m_l of `scaled`
  curvature,        // tanh(xi / 2) / (4 xi) of a point xi of the logistic function
  /// The constant of a bound at its point: log logistic(xi) - xi / 2 + curvature(xi) xi^2; log Gamma(z) - z digamma(z);
  /// log Phi(m) - m tangent(m) + m^2 / 2; log sum_k exp psi_k - psi' softmax(psi) + psi' A psi.
  offset,
  switched,         // [z = k] x of a category z with a number x
  switched_square,  // [z = k] x^2
  above,            // log [x > lower]
  below,            // log [x < upper]
  lower,            // 0; its natural carries the lower limit
  upper,            // 0; its natural carries the upper limit
  slope,            // softmax(psi) - 2 A psi of a point psi of log sum exp
  complement        // 1 - x (bit)
};

/// Returns the number of event indices of a statistic: 0, 1 or 2. `weighted` has 1, although it has none in
/// NormalGamma.
int event_rank(Stat s);
/// Returns the name of a statistic in messages: "x", "x^2", "log x", ...
std::string_view name_of(Stat s);
/// Returns the name of the symbol that stands for the natural parameter of a statistic in formulas: "n_value",
/// "n_square", ...
std::string natural_name(Stat s);
/// Returns the name of the symbol that stands for the expectation of a statistic in formulas: "E_value", "E_square",
/// ...
std::string expected_name(Stat s);

/// One sufficient statistic of a family as a variational factor. The formulas are over the factor's exported
/// parameters, by name, with event indices kFirst and kSecond as far as the statistic has them.
///
/// A statistic with two event indices contributes the full double sum over j and l of natural_jl * statistic_jl, where
/// natural_jl is symmetric.
struct StatisticRow {
  Stat stat;         // which function of the value
  Expr expectation;  // its expectation under q
  Expr natural;      // its natural parameter, with respect to Lebesgue or counting measure
};

/// What kind of parameter of a variational factor this is (location, precision, ...), for code that works on any
/// family, such as random starts, invariances, and latent variables of which some elements are observed.
enum class ParameterRole {
  value,          // the value itself, of a point factor or a draw
  location,       // a location: any real number, or the mean of a spin
  precision,      // the precision of the location, if the factor has both
  freedom,        // degrees of freedom of a matrix
  probabilities,  // probabilities of the values of a category
  probability,    // probability of a bit, or that the next trial ends the count
  spread,         // a positive number that stretches or shrinks the value
  pseudo_count,   // a positive number that grows with the observations
  other           // anything else
};

/// One parameter of a variational factor; the posterior stores it as `variable.name`. A step of a random draw
/// (Factor::draw) has the same form.
struct FactorParameter {
  std::string name;    // name in the posterior and in formulas
  int event_rank = 0;  // 0: a number, 1: a vector, 2: a matrix
  /// The parameter as a formula of natural symbols and of parameters earlier in the same list, exported or not. Wishart
  /// has df, then rate = -2 n_entry, then scale = inverse("rate"). A step of a draw may mention all parameters of the
  /// factor, too.
  Expr from_natural;
  /// False for an intermediate of the formulas `from_natural` or of a draw. It is not stored in the posterior, so the
  /// expected statistics and the entropy do not mention it; `draw`, `mode` and `valid` may.
  bool exported = true;
  /// For joint families: true if it is stored under the name of the mean instead of that of the precision.
  bool of_mean = false;
  /// The parameter of the factor that equals a density, as a formula of the canonical parameters of that density. None:
  /// it is the density parameter of the same name. It has no meaning if `exported` is false.
  std::optional<Expr> from_density = {};
  ParameterRole role = ParameterRole::other;  // its meaning
  /// For a step of a draw that is a random number: its kind. `from_natural` is then its argument.
  std::optional<Noise> noise = {};
  /// The second argument of a random number, of kinds that have two. It is a number, the same for all components.
  std::optional<Expr> noise_second = {};
  /// `from_natural` as a derivation shows it to the user, without the terms that guard against special cases.
  std::optional<Expr> written = {};
};

/// Mean and standard deviation of each component of a value, row-major. They are infinite where they do not exist.
/// Joint families have those of the mean, then those of the precision. For categories, `mean` has the probabilities of
/// the values.
struct MeanAndSd {
  /// Means and standard deviations, by component. `sd` is empty for points, and for discrete values other than counts.
  std::vector<double> mean, sd;
};

/// A family as a variational factor q in exponential-family form: log q(x) = eta.t(x) - A(eta).
struct Factor {
  std::vector<FactorParameter> parameters;  // parameters, in the order in which they are computed and stored
  std::vector<StatisticRow> statistics;     // sufficient statistics t(x)
  Expr log_normaliser = 0.0;  // A(eta) as a formula of the parameters; for points of bounds, of the naturals
  Expr entropy = 0.0;         // in nats, a formula of the parameters; finite also where a probability is 0 or 1
  /// The entropy as a formula of parameters and expected statistics (expected_symbol), used where the expectations have
  /// been computed. It calls fewer functions.
  std::optional<Expr> entropy_from_statistics = {};
  /// True for Categorical, whose parameter `probs` is the softmax of the naturals. A(eta) is then log sum exp of the
  /// naturals; `log_normaliser` is that at the naturals log probs, which is 0. `from_natural` is the softmax without
  /// the shift that prevents overflow; code generation adds the shift.
  bool softmax = false;
  bool one_hot = false;  // point factor of a category: all mass is at the largest natural
  /// Formulas that must be > 0 for the factor to be proper (shape, rate, ...), at every kFirst if that is free. That
  /// matrices are positive definite is checked by their Cholesky factorisation.
  std::vector<Expr> valid;
  /// The mode of the density with respect to Lebesgue or counting measure, with kFirst and kSecond as the support has
  /// them. A point factor is at this value. None for categories (their mode is the largest natural), joint families,
  /// joint factors (SwitchedNormal, ScaledNormal, SparseNormal), marginals and points of bounds.
  std::optional<Expr> mode;
  /// Formulas that must be >= 0 for `mode` to be the mode, at every kFirst if that is free. Examples are shape - 1,
  /// concentration - 1, and Wishart's df - D - 1. If one is negative, the density has no maximum inside its support.
  std::vector<Expr> interior = {};
  /// One draw from q, in steps that may use the parameters and earlier steps: random numbers, intermediates, and last
  /// the value. Joint families have the value of the precision, then that of the mean. Empty if the family cannot be
  /// drawn from here, or is a softmax.
  std::vector<FactorParameter> draw = {};
  /// Statistics of the drawn value as formulas of the steps of the draw, where these are more precise than functions of
  /// the value. An example is log x of a Gamma number that underflows.
  std::map<Stat, Expr> drawn_statistics = {};
  bool drawn = false;  // this factor is the result of sample_factor()
  /// Returns mean and sd of the value of one element, whose event axis has size `extent`. `parameters` are the exported
  /// ones concatenated in row order, matrices row-major. Results that do not depend on a NaN parameter are not NaN.
  /// Empty for SwitchedNormal and SparseNormal, and for families of points, whose point_factor() has it.
  std::function<MeanAndSd(std::span<const double> parameters, std::size_t extent)> moments = {};
};

/// Returns the first exported parameter with this role, or null if the factor has none.
const FactorParameter* find_role(const Factor& factor, ParameterRole role);

/// Returns the symbol (a variable of formulas) that stands for the expectation of a statistic with one event index.
/// Factor::entropy_from_statistics contains it.
Expr expected_symbol(Stat s, Index i);
/// Returns the symbol (a variable of formulas) that stands for the natural parameter of a scalar statistic.
/// FactorParameter::from_natural contains it.
Expr natural_symbol(Stat s);
/// Returns the symbol (a variable of formulas) that stands for component i of the natural parameter of a vector
/// statistic.
Expr natural_symbol(Stat s, Index i);
/// Returns the symbol (a variable of formulas) that stands for entry (i, j) of the natural parameter of a matrix
/// statistic. Code that computes the naturals makes them symmetric.
Expr natural_symbol(Stat s, Index i, Index j);

/// A name under which the user may give a parameter of a density: `precision` itself, or `variance`, which stands for
/// precision = 1/variance.
struct Spelling {
  std::string name;       // what the user types
  std::string canonical;  // the parameter of the log density that it determines
  /// The canonical parameter as a formula of symbol(name), component by component. None: this is the canonical
  /// parameter itself.
  std::optional<Expr> convert = {};
  int event_rank = 0;     // of the argument: 0 a number, 1 a vector over the event axis, 2 a matrix
  bool optional = false;  // the argument may be omitted, as Multinomial's n
  /// Where its values must lie; the ends of the unit interval are allowed. Each entry of a vector is checked by itself,
  /// a simplex as a whole.
  Support domain = Support::real;
};

/// Describes a compound distribution: a value given a hidden variable that has a conjugate prior of its own. Student's
/// t is a Normal with a Gamma weight. The compiler replaces a statement with such a distribution by one statement for
/// each part.
struct Compound {
  /// One of the two distributions of a compound: that of the hidden variable, or that of the value.
  struct Part {
    std::string family;  // name of its row
    /// For each canonical parameter of that family, its formula. It is a formula of the canonical parameters of the
    /// compound row; in the part of the value also of symbol(variable). Vectors are passed as a whole.
    std::vector<std::pair<std::string, Expr>> parameters;
  };
  std::string variable;  // name of the hidden variable: "weight" is called x.weight for a variable x
  Part prior;            // distribution of the hidden variable
  Part value;            // distribution of x given it
};

/// One row of the family table: a distribution that a model may name, or a factor that the compiler may choose.
struct FamilyRow {
  std::string name;     // as the user types it
  std::string summary;  // one line for `lehr families`
  Support support;      // where its values lie; of NormalGamma and NormalWishart, where the mean lies
  /// The parameters that the user may type, in positional order. Alternatives for one canonical parameter are adjacent.
  std::vector<Spelling> spellings = {};
  bool positional = false;  // arguments may be positional, because there is one parameterisation
  /// The complete log density as a formula of symbol("x"...) and the canonical parameters, with all constants and the
  /// base measure. In joint families, symbol("x"...) is the mean and symbol("x_precision"...) the precision. It is 0 in
  /// rows that have no density.
  Expr log_density = 0.0;
  /// True if the density has no finite integral (Flat, Jeffreys). Also true for points of bounds, families of points
  /// and TruncatedNormal, which have no density. False for marginals and for SwitchedNormal, ScaledNormal and
  /// SparseNormal, although they have none either.
  bool improper = false;
  std::optional<Factor> factor = {};  // the family as a variational factor, if it can be one
  /// In NormalGamma and NormalWishart: the support of the precision. None in all other rows.
  std::optional<Support> joint_precision = {};
  /// Returns one draw of extent^rank numbers (joint families: mean, then precision). `parameters` are the canonical
  /// parameters of the density concatenated in row order, matrices row-major. `extent` is the size of the event axis,
  /// the number of values of a category, or 1 for other numbers. The draw of a category is one number, its value
  /// counted from 0. Multinomial needs its n here, although its density does not mention it. Empty for priors without a
  /// normaliser, points of bounds, families of points, marginals, and SwitchedNormal, ScaledNormal and SparseNormal.
  std::function<std::vector<double>(std::span<const double> parameters, std::size_t extent, Rng& rng)> draw = {};
  /// Returns the log of the integral over x of p(x | parameters)^(1/temperature), with parameters and extent as for
  /// `draw`. Empty if the natural parameters of `factor` give it, or if there is no closed form.
  /// tempered_log_normaliser() is the function to call.
  std::function<double(std::span<const double> parameters, std::size_t extent, double temperature)> tempered = {};
  /// Names of canonical parameters that only shift the density, such as a mean. An integral of a power of the density
  /// does not depend on them, so tempering sets them to 0 there.
  std::vector<std::string> location = {};
  /// Returns the marginal distribution of each component of the factor's value, for quantiles and predictive
  /// distributions. Parameters and order are those of Factor::moments. A component without a closed form has kind
  /// `none`. Empty for rows that have none.
  std::function<std::vector<ScalarMarginal>(std::span<const double> parameters, std::size_t extent)> margins = {};
  /// Returns second moments of the factor's value, for parameters as in Factor::moments. Empty for rows that have none.
  std::function<Spread(std::span<const double> parameters, std::size_t extent)> spread = {};
  /// Mean and covariance of the density given the canonical parameters, at kFirst and kSecond as the support has them.
  /// For categories, the mean is the probabilities of the values. None if they are no such formula, or may not exist.
  std::optional<Expr> mean = {}, covariance = {};
  /// True if the value is Normal about its mean, and the mean is linear in the parameters. A sum of such values is
  /// Normal too.
  bool gaussian = false;
  /// For numbers: formulas of the log probabilities of a value at or above x, and at or below x, over the symbols of
  /// `log_density`. A family without the formula cannot have observations that are censored on that side.
  std::optional<Expr> log_above = {}, log_below = {};
  /// Returns the log probability of a value at or above x, or at or below x if `above` is false, with parameters as for
  /// `draw`. Set for Student's t, where log_above and log_below are no formulas; empty for all other families.
  std::function<double(std::span<const double> parameters, double x, bool above)> log_tail = {};
  /// Returns the predictive distribution of a number, with its parameters integrated out. The parameters are
  /// independent of each other; `parameters` has their margins, in the order of density_parameters(). For vectors, the
  /// arguments and the result belong to one component. Returns nothing if there is no closed form for these margins.
  /// Empty for families without any, and for Normal ones, which have normal_mixture().
  std::function<std::optional<Predictive>(std::span<const ScalarMarginal> parameters)> predictive = {};
  /// Set for a compound distribution. No term of the log joint has such a row: it has neither `factor` nor `tempered`,
  /// and is drawn from by its parts.
  std::optional<Compound> compound = {};
  /// The name of another row for the same distribution, which is used if the parameters are named as in that row:
  /// GammaPoisson for NegativeBinomial. Empty if there is none.
  std::string alternative_row = {};
};

/// Returns the point factor of a family: all mass at the mode. Its exported parameter is `value`, the mode (categories:
/// `probs`, each 0 or 1). Its expected statistics are those of the value, and its entropy is 0. Returns null if the
/// family is no category and has no Factor::mode.
const Factor* point_factor(const FamilyRow& row);

/// Returns the sample factor of a family: all mass at one draw, for Gibbs sampling. Its exported parameters are the
/// drawn values (categories: `probs`, each 0 or 1, or fractions of the copies). Its expected statistics are those of
/// the values, and its entropy is 0. Returns null if the family is no category and has no Factor::draw.
const Factor* sample_factor(const FamilyRow& row);

/// A canonical parameter of a density: one of those that the log density is a formula of, after spellings such as
/// `variance` have been converted. Multinomial's n is one too, although the log density has the sum of the counts
/// instead.
struct DensityParameter {
  std::string name;    // as in Spelling::canonical
  int event_rank = 0;  // 0: a number, 1: a vector, 2: a matrix
};
/// Returns the names and ranks of the canonical parameters of the row's density, in row order.
std::vector<DensityParameter> density_parameters(const FamilyRow& row);

/// Returns the rows that `lehr families` lists, in its order: all distributions that a model may name, and the joint
/// families NormalGamma and NormalWishart, which are factors only.
const std::vector<FamilyRow>& families();
/// Returns the row of families() with this name, or null.
const FamilyRow* find_family(std::string_view name);
/// Returns the row with this name, or null. It finds all rows that a factor may have: those of families(), auxiliary
/// points of bounds, TruncatedNormal, families of points, joint factors and marginals.
const FamilyRow* find_factor_family(std::string_view name);
/// Returns the row of the joint family of a mean with support `mean` and a precision with support `precision`:
/// NormalGamma, NormalWishart, or null.
const FamilyRow* find_joint_family(Support mean, Support precision);

/// Returns the row of the auxiliary xi of a logistic link, the point at which Jaakkola & Jordan's bound touches. As a
/// draw it is a Polya-Gamma variable. Not in families(). Source: Bayesian parameter estimation via variational methods
/// (2000).
const FamilyRow& logistic_bound();

/// Returns the row of the auxiliary psi of a softmax: the point at which Boehning's quadratic bound touches
/// (Multinomial logistic regression algorithm, 1992). Not in families().
const FamilyRow& softmax_bound();

/// Returns the row of a bit whose 1 - x is a statistic, too: Bernoulli otherwise. Not in families().
const FamilyRow& switching_bit();
/// Returns the row of a Normal number between two limits, the factor of a latent number with `above` or `below`. Its
/// natural parameters Stat::above to Stat::upper carry the limits. Not in families().
const FamilyRow& truncated_normal();
/// Returns the row of the auxiliary xi of an absolute value |e|. The bound |e| <= (e^2 / xi + xi) / 2 touches at xi =
/// |e|. As a draw, 1 / xi is inverse Gaussian, and exp(-|e|) is an average of Normal densities over it: Andrews &
/// Mallows, Scale mixtures of normal distributions (1974). Not in families().
const FamilyRow& absolute_bound();

/// Returns the row of the auxiliary z of log Gamma(e), where e is a sum or multiple of points. A tangent from below
/// touches at e = z. Minka, Estimating a Dirichlet distribution (2000). Not in families().
const FamilyRow& log_gamma_bound();

/// Returns the first row on `support` that has only a point factor, and whose statistics include all of `needed`; null
/// if there is none. Such a row has a formula for the mode (closed, or a fixed number of Newton steps), but none for
/// expectations. It serves a point (MAP) variable whose terms no ordinary factor fits. Not in families().
const FamilyRow* point_family(Support support, std::span<const Stat> needed);

/// Returns the row of a category together with the number that it switches: the number is Normal for each value of the
/// category. Not in families().
const FamilyRow& switched_normal();

/// Returns the row of a vector together with the precision that scales it: the vector is Normal given the precision,
/// which is Gamma. Not in families().
const FamilyRow& scaled_normal();

/// Returns the row of a Normal vector whose precision matrix is sparse (SparsePattern). Not in families().
const FamilyRow& sparse_normal();

/// Returns the family of the variable that selects the part of a mixture: Categorical, or Bernoulli if `category` is
/// false. A Bernoulli selector is 1 for the first of two parts.
const FamilyRow& mixture_selector_family(bool category);

/// Returns the families that can be the factor of a latent variable on `support`, where `needed` are the statistics of
/// the variable in the log joint: all of these are among the family's. They are in table order. Joint families are not
/// among them; find_joint_family() returns those.
std::vector<const FamilyRow*> factors_for(Support support, std::span<const Stat> needed);

}  // namespace lehr::math
