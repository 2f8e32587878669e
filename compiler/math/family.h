// The family table: everything Lehr knows about a distribution stands in its row and nowhere else.
// Type checks, `lehr families`, the derivation, code generation, initial values and the family tests read rows.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/math/expr.h"
#include "runtime/rng.h"

namespace lehr::math {

/// Where a value lives. `category` is an element of a plate; `simplex`, `vector`, `counts` have one event axis,
/// `spd_matrix` two.
enum class Support { real, positive, unit, count, bit, spin, category, simplex, vector, counts, spd_matrix };

int event_rank(Support s);             // 0, 1 or 2
std::string_view name_of(Support s);   // "real", "positive real", ... as messages say it

/// The functions of one value that can stand in a log joint. Each is a sufficient statistic of some family.
///   value        x itself (real, positive, unit, bit 0/1, spin -1/+1, count)
///   square       x^2            log       log x (positive, unit)      inverse  1/x      log1m  log(1 - x)
///   indicator    [x = k]        log_comp  log x_k of a simplex
///   comp         x_j            comp2     x_j x_l
///   entry        X_jl           logdet    log det X
/// and of the joint families over (mean m, precision t or matrix L):
///   weighted     t m or (L m)_j        weighted_square  t m^2 or m' L m
enum class Stat { value, square, log, inverse, log1m, indicator, log_comp, comp, comp2, entry, logdet, weighted,
                  weighted_square };

int event_rank(Stat s);                // number of event indices the statistic carries
std::string_view name_of(Stat s);      // "x", "x^2", "log x", ...

/// One sufficient statistic of a family as a variational factor. Formulas are over the factor's parameters
/// (by name, at the event indices kFirst, kSecond as far as the statistic carries them).
struct StatisticRow {
  Stat stat;
  Expr expectation;  // E_q[statistic]
  Expr natural;      // natural parameter (with respect to Lebesgue or counting measure)
};

/// One parameter of the factor: the posterior writes it as `variable.name`.
struct FactorParameter {
  std::string name;
  int event_rank = 0;
  Expr from_natural;  // over symbols named by the statistics' symbols ("n_square", ...): see natural_symbol
};

/// A family as a variational factor. Discrete `indicator` factors (Categorical) have `probs` = softmax of the
/// naturals; that map is flagged because a softmax is not a component-wise formula.
struct Factor {
  std::vector<FactorParameter> parameters;
  std::vector<StatisticRow> statistics;
  Expr log_normaliser = 0.0;  // A(eta), over the parameters
  Expr entropy = 0.0;         // of q, in nats, over the parameters
  bool softmax = false;       // Categorical: probs from naturals by softmax
  std::vector<Expr> valid;    // each must be > 0 for the factor to be proper (shape, rate, ...); matrices: checked by Cholesky
};

/// The natural parameter that belongs to a statistic, in FactorParameter::from_natural.
Expr natural_symbol(Stat s);                      // rank 0
Expr natural_symbol(Stat s, Index i);
Expr natural_symbol(Stat s, Index i, Index j);    // symmetrised by the caller: eta_jl = eta_lj

/// A parameter of the density, or another spelling of it: `variance` stands for `precision = 1/variance`.
struct Spelling {
  std::string name;             // what the user types
  std::string canonical;        // the parameter of the log density it gives
  std::optional<Expr> convert;  // canonical in terms of symbol(name) (component-wise); none: it is the canonical one
  int event_rank = 0;           // rank of the argument: 0 scalar, 1 vector over the event axis, 2 matrix
  bool optional = false;        // Multinomial's n
};

struct FamilyRow {
  std::string name;
  std::string summary;              // one line for `lehr families`
  Support support;
  std::vector<Spelling> spellings;  // in positional order; alternatives of one canonical parameter are adjacent
  bool positional = false;          // positional arguments allowed: only one parameterisation exists
  /// Complete log density over symbol("x"...), and the canonical parameters. All constants, base measure included.
  Expr log_density = 0.0;
  bool improper = false;            // Flat, Jeffreys
  std::optional<Factor> factor;     // when the family can be a variational factor
  /// For a joint family: the supports of its members (mean, precision); `support` is then that of the mean.
  std::optional<Support> joint_precision;
  /// One draw. `parameters`: the canonical density parameters concatenated in row order (matrices row-major),
  /// `extent`: size of the event axis (1 for scalars); the draw has extent^rank numbers (joint: mean then precision).
  std::function<std::vector<double>(std::span<const double> parameters, std::size_t extent, Rng& rng)> draw;
};

/// All rows, in the order of `lehr families`.
const std::vector<FamilyRow>& families();
const FamilyRow* find_family(std::string_view name);

/// Families that can be the factor of a latent on `support` and whose statistics contain all of `needed`.
std::vector<const FamilyRow*> factors_for(Support support, std::span<const Stat> needed);

}  // namespace lehr::math
