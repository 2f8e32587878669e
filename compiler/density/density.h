// Density: the log joint probability of a model as a sum of terms.
//
// Term = coef * product(multiplicities) * product(atoms), summed over `index_vars` where all guards are true. An atom
// is a statistic of one element of a latent variable, such as log theta[doc][k]. In the normal form that expand()
// returns, every element of a variable occurs in at most one atom of a term. So the log joint is affine in the
// statistics of every single element, which is what a conjugate update needs (Bishop 2006, section 10.4).
//
// Latent indices are gone: `mu[z[n]]` becomes a sum over the values k of z[n], and k is called a selector:
//     x[n] ~ Normal(mu[z[n]], 1)      ->      sum(n, k) [z[n] = k] * (mu[k] * x[n] - 1/2 mu[k]^2 - ...)
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/density/algebra.h"

namespace lehr::density {

/// A function that is a sufficient statistic of no family: mu^4, x log x of a variable that is no point, lgamma(alpha).
/// An atom with such a function keeps its variable from having a conjugate conditional. A function of several
/// variables, exp(a + b), is an atom of the first of them. The fields serve the error message and its advice.
struct Opaque {
  /// The function in words, "mu^4" or "lgamma(alpha)". It identifies the function; an empty text means that there is
  /// none and the atom is an ordinary statistic.
  std::string text;
  /// The exponent if the function is a power of the variable (4 for mu^4), before `functions` are applied; else 0.
  int power = 0;
  /// True if the function is a product of several statistics that is no power, before `functions` are applied.
  bool product = false;
  /// The functions that are applied to the power or product, outermost first: {log, exp} for log(exp(...)). What is
  /// inside a function other than log, log(1 - x) and 1 / x is not listed: {exp} for exp(log(...)).
  std::vector<Function> functions;

  /// Returns true if there is no such function, so that the atom is an ordinary statistic of its family.
  bool empty() const { return text.empty(); }
  /// Returns true if all fields of the two functions are equal.
  bool operator==(const Opaque&) const = default;
};

/// A statistic of one element of a latent variable: `comp` j of mu[k], or the indicator [z[n] = k]. If `opaque` is not
/// empty, the conditional distribution of the variable has no closed form.
struct Atom {
  /// The latent variable. After joint blocks are contracted, an atom of a mean and its precision names the precision.
  model::VariableId variable;
  /// The element of the variable that the statistic is of: one index for each axis.
  std::vector<IndexId> axes;
  /// Which sufficient statistic of the element it is: its value, square, logarithm, indicator and so on.
  math::Stat stat = math::Stat::value;
  /// The indices that the statistic itself has, math::event_rank(stat) of them: j and l of x_j x_l, k of [z = k]. The
  /// `weighted` of a number (NormalGamma) has none.
  std::vector<IndexId> event;
  /// The function that stands in place of `stat`, if the term has no statistic of a family here.
  Opaque opaque;
  /// Returns true if two atoms are the same statistic of the same element.
  bool operator==(const Atom&) const = default;
};

/// How a guard (a condition on the index variables of a sum) compares its two indices: the same element of a plate, a
/// different one, an earlier one, or one that is not earlier.
enum class Relation {
  equal,         // the element that `left` names is the one that `right` names
  not_equal,     // they are two different elements of the plate
  less,          // that of `left` precedes that of `right`
  greater_equal  // that of `left` is that of `right` or follows it
};
/// A condition that limits the sum of a term: either a relation of two indices, or "this observed element has a value".
struct Guard {
  /// The relation that must be true of `left` and `right`. It is ignored if `present` is set.
  Relation relation = Relation::equal;
  /// The two indices that are compared; invalid if `present` is set.
  IndexId left, right;
  /// The observed variable whose element must have a value in the data.
  std::optional<model::VariableId> present;
  /// The element of `present`, one index for each of its axes.
  std::vector<IndexId> element;
  /// Returns true if two guards are the same condition.
  bool operator==(const Guard&) const = default;
};

/// A factor of a term that counts copies: an element with count 3 stands for three equal copies. The factor multiplies
/// what the term gives to the ELBO and to the updates of all variables but those that `has_factor_per_copy` names.
/// These have a separate factor for each copy, so the update of one copy sees the term once.
struct Multiplicity {
  /// Who has a factor for each copy, so that its updates leave the count out: all variables on a plate declared with
  /// `times`, or one variable. The variable is the auxiliary category that says from which summand of a rate each count
  /// came (model::is_source), a latent variable with a mask (model::mask_of; its counts are 0 and 1), or a category or
  /// bit with an impossible choice (its count is 0).
  std::variant<model::PlateId, model::VariableId> owner;
  /// How many copies the element stands for, a coefficient.
  CoefId count;
  /// Returns true if owner and count are equal.
  bool operator==(const Multiplicity&) const = default;
};

/// The statement or potential of the model that terms of the density come from. Messages show it, and annealing and
/// tempering decide by it which terms a temperature divides.
struct Origin {
  /// The statement of the model that the terms come from; none for a potential.
  std::optional<model::StatementId> statement;
  /// The potential that the terms come from, as an index into Model::potentials; none for a statement.
  std::optional<std::size_t> potential;
  /// The text of the statement or potential in the model file.
  Span span;
  /// True if the terms are of an observed variable's statement or of a potential, and not of a prior.
  bool observed = false;
  /// True for a prior without a normaliser. Its constants were dropped, so the ELBO is correct up to a constant.
  bool improper = false;
};

/// One summand of the log joint: coef * product(multiplicities) * product(atoms), summed over `index_vars`.
struct Term {
  /// The coefficient: the factor that is a number once data and sizes are given.
  CoefId coef;
  /// The factors of the term that count copies of elements.
  std::vector<Multiplicity> multiplicities;
  /// The statistics of latent elements; the term is their product. Two atoms never belong to the same element.
  std::vector<Atom> atoms;
  /// The index variables that the term is summed over. A parent precedes the index variables nested in it.
  std::vector<IndexVarId> index_vars;
  /// The conditions on the index variables. An assignment of them counts in the sum only if all conditions are true.
  std::vector<Guard> guards;
  /// The index into Density::origins of the statement or potential that the term comes from.
  std::size_t origin = 0;
};

/// The log joint of a model: the sum of `terms`.
struct Density {
  /// The arena that holds all index variables, index expressions and coefficients of the terms.
  Algebra algebra;
  /// The statements and potentials of the model that the terms come from; Term::origin is an index into it.
  std::vector<Origin> origins;
  /// The terms, in normal form. Like terms of one origin are merged.
  std::vector<Term> terms;
};

/// What the data decide about the terms of the density: which variables have missing values or elements without data,
/// and which concentrations have entries of 0. The default is data with none of these. A list may be shorter than the
/// model's: the flags that it lacks are false.
struct ExpandOptions {
  /// By VariableId: true if the variable is observed with missing values, whose terms then get the guard `present`, or
  /// if it is latent with a mask (model::mask_of).
  std::vector<bool> may_be_missing;
  /// By VariableId: true if the variable is latent at the elements for which the data have no value, and has the data's
  /// values at the others (model::Variable::clamped). It is an observed variable on whose missing values others depend,
  /// or a latent one that is partly observed.
  std::vector<bool> clamped;
  /// By GivenId: true if the data array is a concentration of a simplex that has some entries of 0 beside positive
  /// ones. Such an entry of the simplex must keep probability 0 (density/zeros.h).
  std::vector<bool> with_zeros;

  /// Returns true if any of the options is set. The density differs then from the one without data, so the analysis is
  /// repeated.
  bool any() const;
};

/// Returns notes for reports and fit.json on why the ELBO of a model is not exact. The sum of the terms of `d` is a
/// lower bound of the log joint for logistic links, softmax and absolute values, and it lacks a constant for improper
/// priors. The result has one note for each of these four kinds that the model has, with the names of the variables; it
/// is empty for most models. Bounds of other functions (probit, log Gamma) get no note.
std::vector<Diagnostic> elbo_notes(const model::Model& m, const Density& d);

/// Returns true if `v` has a separate factor for each of the copies that `x` counts: if `v` owns `x`, is the joint
/// variable of the owner, or has an axis over the plate that owns `x`. The update of such a variable leaves the count
/// out, since it concerns one copy; all others multiply by it.
bool has_factor_per_copy(const model::Model& m, model::VariableId v, const Multiplicity& x);

/// Returns true if the elements that the indices `a` and `b` name provably differ in every summand of the term. A guard
/// says so, they are different constants, or they are one index variable with different offsets (t and t-1). False
/// means that this is not proven. Used for atoms of one variable, to see whether they can belong to one element.
bool certainly_different(const Density& d, const Term& t, IndexId a, IndexId b);

}  // namespace lehr::density

namespace lehr {

/// The log joint of a model together with the model that it belongs to.
struct Expanded {
  /// The model, with the auxiliary variables, their plates and the masks that the expansion added. They stand behind
  /// the model's own, whose ids stay the same: data that are bound to the unexpanded model fit this one too. Variables
  /// in ExpandOptions::clamped are latent here (Variable::clamped).
  model::Model model;
  /// The log joint of `model`, or a lower bound of it.
  density::Density density;
};

/// Expands the log joint of a model into a sum of terms. It returns nothing if some part has no expansion (the
/// logarithm of a sum of random variables, for example), or if `diagnostics` had errors before. For each part that has
/// no expansion, `diagnostics` gets the line, the reason and often a proposal.
std::optional<Expanded> expand(const model::Model& model, const density::ExpandOptions& options,
                               Diagnostics& diagnostics);

}  // namespace lehr
