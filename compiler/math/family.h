// The family table: everything Lehr knows about a distribution stands in its row and nowhere else.
// Type checks, `lehr families`, the derivation, code generation, initial values and the family tests read rows.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/math/expr.h"
#include "compiler/math/margin.h"

namespace lehr {
struct Rng;  // runtime/rng.h
}

namespace lehr::math {

struct Predictive;  // predictive.h

/// Random numbers that draws are made of.
enum class Noise {
  uniform,      // on (0, 1)
  normal,       // mean 0, variance 1
  log_gamma,    // log of a Gamma(argument, rate 1)
  polya_gamma,  // PG(b, argument) / b, b the second argument: trials times the power of a tempered likelihood
  binomial,     // successes in `argument` trials; of copies of categories, in no row
  truncated     // mean 0, variance 1, between `argument` and its second
};
std::string_view name_of(Noise n);

/// Where a value lives. `category` is an element of a plate; `simplex`, `vector`, `counts` have one event axis,
/// `spd_matrix` two. `switched` is a category and a number together, `scaled` a vector and a precision that all its
/// terms are multiples of; its event axis is that of the vector.
enum class Support {
  real,
  positive,
  unit,
  count,
  bit,
  spin,
  category,
  simplex,
  vector,
  counts,
  spd_matrix,
  switched,
  scaled
};

int event_rank(Support s);            // 0, 1 or 2
bool is_discrete(Support s);          // categories, bits and spins: variables that can be summed over
std::string_view name_of(Support s);  // "real", "positive real", ... as messages say it

/// The functions of one value that can stand in a log joint. Each is a sufficient statistic of some family.
///   value        x itself (real, positive, unit, bit 0/1, spin -1/+1, count)
///   square       x^2            log       log x (positive, unit)      inverse  1/x      log1m  log(1 - x)
///   inverse_square  1/x^2       log_gamma  log Gamma(x)     value_log  x log x (positive)
///   log_gap      log(1 - exp(-x)) (positive)
///   indicator    [x = k]        log_comp  log x_k of a simplex
///   comp         x_j            comp2     x_j x_l
///   entry        X_jl           logdet    log det X                   inverse_entry  (X^-1)_jl
/// and of the joint families over (mean m, precision t or matrix L):
///   weighted     t m or (L m)_j        weighted_square  t m^2 or m' L m
/// There value is t, log is log t, entry is L_jl and logdet is log det L. Of a vector m and a number t (`scaled`):
///   weighted     t m_j           weighted2 t m_j m_l
/// Of the point xi where the bound log g(e) >= e / 2 + offset - curvature e^2 of the logistic function touches it:
///   curvature    lambda(xi) = tanh(xi / 2) / (4 xi)      offset   log g(xi) - xi / 2 + lambda(xi) xi^2
/// Of the point z where the tangent offset + tangent e of log Gamma(e) touches it:
///   tangent      digamma(z)                              offset   log Gamma(z) - z digamma(z)
/// Of a category z and a number x, beside the indicator [z = k]:
///   switched     [z = k] x                               switched_square  [z = k] x^2
/// Of a number x between limits, which are the naturals of `lower` and `upper` in multiples of those of `above` and
/// `below`, log [x > lower] and log [x < upper], where these are not 0. All four are 0 wherever x can be.
/// Of the point psi where the bound log sum_k exp e_k <= offset + e' slope + e' A e, A e = (e - mean(e)) / 4, touches
/// it:
///   slope        softmax(psi) - 2 A psi                   offset   log sum_k exp psi_k - psi' softmax(psi) + psi' A
///   psi
enum class Stat {
  value,
  square,
  log,
  inverse,
  log1m,
  inverse_square,
  log_gamma,
  value_log,
  log_gap,
  indicator,
  log_comp,
  comp,
  comp2,
  entry,
  logdet,
  inverse_entry,
  tangent,
  weighted,
  weighted_square,
  weighted2,
  curvature,
  offset,
  switched,
  switched_square,
  above,
  below,
  lower,
  upper,
  slope
};

int event_rank(Stat s);             // number of event indices it carries; weighted: 1, but 0 in NormalGamma
std::string_view name_of(Stat s);   // "x", "x^2", "log x", ...
std::string natural_name(Stat s);   // "n_value", "n_square", ...: the symbol of its natural parameter
std::string expected_name(Stat s);  // "E_value", "E_square", ...: of its expectation

/// One sufficient statistic of a family as a variational factor. Formulas are over the factor's exported
/// parameters (by name, at the event indices kFirst, kSecond as far as the statistic carries them).
/// A statistic with two event indices contributes the full double sum over j and l of natural_jl * statistic_jl,
/// and natural_jl is symmetric.
struct StatisticRow {
  Stat stat;
  Expr expectation;  // E_q[statistic]
  Expr natural;      // natural parameter (with respect to Lebesgue or counting measure)
};

/// What a parameter of a factor is to whoever knows no family: random starts, chains, averages of factors.
enum class ParameterRole {
  value,          // of a point: the value itself
  location,       // any real
  precision,      // of the location, if the factor has both
  freedom,        // degrees of freedom of a matrix
  probabilities,  // of the values of a category
  probability,    // of a bit, or of an end
  spread,         // a positive number that stretches or shrinks the value
  pseudo_count,   // a positive number that grows with what was seen
  other
};

/// One parameter of the factor: the posterior writes it as `variable.name`.
/// `from_natural` is over natural symbols and over parameters that stand earlier in the same list, exported or not
/// (Wishart: df, rate = -2 n_entry, scale = inverse("rate")). A parameter with exported = false is an intermediate of
/// those formulas: it is not written to the posterior and no other formula of the factor mentions it.
/// `from_density` gives the parameter of the factor that equals the density, over the canonical density parameters;
/// none: the parameter of the same name (of no meaning where exported = false).
struct FactorParameter {
  std::string name;
  int event_rank = 0;
  Expr from_natural;
  bool exported = true;
  bool of_mean = false;  // joint families: written under the name of the mean
  std::optional<Expr> from_density = {};
  ParameterRole role = ParameterRole::other;
  std::optional<Noise> noise = {};        // a random number, and from_natural its argument
  std::optional<Expr> noise_second = {};  // its second argument, of scalars
  std::optional<Expr> written = {};       // from_natural as a derivation shows it, without what is for odd cases
};

/// Of each component of a value, row-major; infinite where it does not exist. Joint families: of the mean, then of the
/// precision. Categories: the probabilities of the values. `sd` is empty for discrete values (but counts) and points.
struct MeanAndSd {
  std::vector<double> mean, sd;
};

/// A family as a variational factor. Discrete `indicator` factors (Categorical) have `probs` = softmax of the
/// naturals; that map is flagged because a softmax is not a component-wise formula.
struct Factor {
  std::vector<FactorParameter> parameters;
  std::vector<StatisticRow> statistics;
  Expr log_normaliser = 0.0;  // A(eta), over the parameters
  Expr entropy = 0.0;         // of q, in nats, over the parameters; finite also where a probability is 0 or 1
  /// The same by expected statistics, where these are known: with fewer functions to call.
  std::optional<Expr> known_entropy = {};
  /// Categorical: probs from naturals by softmax, and A = log sum exp of the naturals (log_normaliser is that of the
  /// naturals log probs, 0). from_natural is the softmax without the shift that keeps it from overflowing.
  bool softmax = false;
  bool hard = false;  // point factors of categories: all mass on the largest natural
  /// Each must be > 0 for the factor to be proper (shape, rate, ...), at every kFirst where that is free; that
  /// matrices are positive definite is checked by their Cholesky factorisation.
  std::vector<Expr> valid;
  /// Mode of the density with respect to Lebesgue or counting measure, at kFirst, kSecond as the support has them:
  /// what a point factor takes. Absent for categories (the largest natural) and joint families.
  std::optional<Expr> mode;
  /// `mode` is the mode only where these are >= 0 (shapes and concentrations >= 1, Wishart df >= D + 1), at every
  /// kFirst where that is free: below, the density has no largest value inside its support.
  std::vector<Expr> interior = {};
  /// One draw, in steps that follow the parameters: noise, what is made of it, and last the value (joint families: that
  /// of the precision, then that of the mean). Empty: the family has no draws here, or is a softmax.
  std::vector<FactorParameter> draw = {};
  /// Statistics at the value by steps of the draw, where they keep digits that the value has not; by statistic.
  std::map<Stat, Expr> drawn_statistics = {};
  bool drawn = false;  // of sample_factor()
  /// `parameters`: the exported ones concatenated in row order (matrices row-major), for one element whose event axis
  /// has size `extent`. What does not depend on a parameter that is NaN is not NaN.
  std::function<MeanAndSd(std::span<const double> parameters, std::size_t extent)> moments = {};
};

/// The parameter of that role, or null.
const FactorParameter* find_role(const Factor& factor, ParameterRole role);

/// The expectation of a statistic, in Factor::known_entropy.
Expr expected_symbol(Stat s, Index i);
/// The natural parameter that belongs to a statistic, in FactorParameter::from_natural.
Expr natural_symbol(Stat s);  // rank 0
Expr natural_symbol(Stat s, Index i);
Expr natural_symbol(Stat s, Index i, Index j);  // symmetrised by the caller: eta_jl = eta_lj

/// A parameter of the density, or another spelling of it: `variance` stands for `precision = 1/variance`.
struct Spelling {
  std::string name;                  // what the user types
  std::string canonical;             // the parameter of the log density it gives
  std::optional<Expr> convert = {};  // canonical, component-wise in symbol(name); none: it is the canonical one
  int event_rank = 0;                // rank of the argument: 0 scalar, 1 vector over the event axis, 2 matrix
  bool optional = false;             // Multinomial's n
  /// Where its values must lie, borders of the unit interval included; of a vector each entry, a simplex as a whole.
  Support domain = Support::real;
};

/// A distribution that is another one given a variable of its own with a conjugate prior: Normal with a Gamma precision
/// for Student's t. The compiler writes both into the model in its place.
struct Compound {
  struct Part {
    std::string family;
    /// By canonical parameter of that family, over the canonical parameters of the row; of the value also over
    /// symbol(variable). Vectors are passed on whole.
    std::vector<std::pair<std::string, Expr>> parameters;
  };
  std::string variable;  // "weight": that of x is called x.weight
  Part prior;            // its distribution
  Part value;            // that of x given it
};

struct FamilyRow {
  std::string name;
  std::string summary;  // one line for `lehr families`
  Support support;
  std::vector<Spelling> spellings = {};  // in positional order; alternatives of one canonical parameter are adjacent
  bool positional = false;               // positional arguments allowed: only one parameterisation exists
  /// Complete log density over symbol("x"...), and the canonical parameters. All constants, base measure included.
  /// Joint families: symbol("x"...) is the mean and symbol("x_precision"...) the precision.
  Expr log_density = 0.0;
  bool improper = false;              // Flat, Jeffreys
  std::optional<Factor> factor = {};  // when the family can be a variational factor
  /// For a joint family: the supports of its members (mean, precision); `support` is then that of the mean.
  std::optional<Support> joint_precision = {};
  /// One draw. `parameters`: the canonical density parameters concatenated in row order (matrices row-major),
  /// `extent`: size of the event axis (1 for scalars); the draw has extent^rank numbers (joint: mean then precision).
  /// Multinomial needs its n here, though its density does not mention it. Empty for improper families.
  std::function<std::vector<double>(std::span<const double> parameters, std::size_t extent, Rng& rng)> draw = {};
  /// log of the integral of p(x | parameters)^(1/temperature), parameters as for `draw`. Only where the natural
  /// maps of `factor` do not give it: no factor in this row, or a base measure that is not constant.
  std::function<double(std::span<const double> parameters, std::size_t extent, double temperature)> tempered = {};
  /// Canonical parameters that only shift the density: no integral of a power of it depends on them.
  std::vector<std::string> location = {};
  /// Of the factor, for parameters as of Factor::moments: the distribution of each component by itself (empty where
  /// they are no numbers), and second moments.
  std::function<std::vector<Margin>(std::span<const double> parameters, std::size_t extent)> margins = {};
  std::function<Spread(std::span<const double> parameters, std::size_t extent)> spread = {};
  /// Mean and covariance given the canonical parameters, at kFirst and kSecond as the support has them; of categories
  /// the mean is the probabilities of the values. None: they are no such formula, or need not exist.
  std::optional<Expr> mean = {}, covariance = {};
  /// Normal about its mean, which stands in the parameters linearly: a sum of such values is Normal too.
  bool gaussian = false;
  /// Of numbers: log probability of a value above x and below it, over the symbols of log_density.
  std::optional<Expr> log_above = {}, log_below = {};
  /// The same, above or below x, where it is no such formula; parameters as for `draw`.
  std::function<double(std::span<const double> parameters, double x, bool above)> log_tail = {};
  /// The distribution of a number (of vectors, of a component) whose canonical parameters, in row order, are
  /// independent and have these margins; of vectors, the margins of that component of each. Empty where it has no
  /// closed form.
  std::function<std::optional<Predictive>(std::span<const Margin> parameters)> predictive = {};
  /// Such a row stands in no term of the log joint: it has neither factor nor `tempered`, and its draws are those of
  /// its parts.
  std::optional<Compound> compound = {};
  /// The row of the same distribution that is meant where the parameters are named as there.
  std::string also = {};
};

/// The point factor of a family: its one exported parameter is `value`, the mode (categories: `probs`, 0 or 1), its
/// expected statistics are those of the value, its entropy is 0. Null where the family has no mode in closed form.
const Factor* point_factor(const FamilyRow& row);

/// The factor of a family at one draw from it: its exported parameters are the values, its expected statistics those of
/// the values (categories: `probs`, 0 or 1, or shares of copies), its entropy is 0. Null where the row has no draw.
const Factor* sample_factor(const FamilyRow& row);

/// The canonical density parameters in row order: name and event rank.
struct DensityParameter {
  std::string name;
  int event_rank = 0;
};
std::vector<DensityParameter> density_parameters(const FamilyRow& row);

/// All rows, in the order of `lehr families`.
const std::vector<FamilyRow>& families();
const FamilyRow* find_family(std::string_view name);
/// The same among all rows that factors have, those that are not in families() too.
const FamilyRow* find_factor_family(std::string_view name);
/// The family of a factor for a value and its precision, or null.
const FamilyRow* find_joint_family(Support mean, Support precision);

/// The row of the auxiliary xi of a logistic link: a point at which the bound is tightest. Not in families().
/// Jaakkola & Jordan, Bayesian parameter estimation via variational methods (2000).
const FamilyRow& logistic_bound();

/// The row of the auxiliary psi of a softmax: a point at which the bound is tightest. Not in families().
/// Boehning, Multinomial logistic regression algorithm (1992).
const FamilyRow& softmax_bound();

/// The row of a Normal number between limits. Not in families().
const FamilyRow& truncated_normal();
/// The row of the auxiliary xi of an absolute value: |e| <= (e^2 / xi + xi) / 2 touches it at xi = |e|. Not in
/// families(). As a draw 1 / xi is inverse Gaussian, and exp(-|e|) a Normal density on average: Andrews & Mallows,
/// Scale mixtures of normal distributions (1974).
const FamilyRow& absolute_bound();

/// The row of the auxiliary of log Gamma(e), e a sum of points: its tangent at e is below it. Not in families().
/// Minka, Estimating a Dirichlet distribution (2000).
const FamilyRow& log_gamma_bound();

/// A family on `support` that has only a point factor and statistics that contain all of `needed`, or null. Not in
/// families().
const FamilyRow* point_family(Support support, std::span<const Stat> needed);

/// The row of a category and the number that it switches: a Normal for each value. Not in families().
const FamilyRow& switched_normal();

/// The row of a vector and the precision that scales it: a Normal vector given a Gamma number. Not in families().
const FamilyRow& scaled_normal();

/// What tells the parts of a mixture: a category, or of two parts a bit that is 1 for the first.
const FamilyRow& family_of_parts(bool category);

/// Families that can be the factor of a latent on `support` and whose statistics contain all of `needed`, in table
/// order. Joint families are not offered: they are asked for by name.
std::vector<const FamilyRow*> factors_for(Support support, std::span<const Stat> needed);

}  // namespace lehr::math
