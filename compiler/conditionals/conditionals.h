// Conditionals: for each block of latent variables, the family of its factor q and the terms that its natural
// parameters come from.
//
// Each use (a term and one of its atoms) adds to the natural parameter of the atom's statistic, at the atom's element:
//     coef * product(multiplicities that the block does not own) * product over the other atoms of E[atom].
// No table of conjugate pairs is needed. A block is conjugate if all its statistics in the log joint are sufficient
// statistics of one family on its support (Bishop 2006, sections 2.4 and 10.4.1). Example: -1/2 tau x^2 + 1/2 log tau
// has tau and log tau, which are those of a Gamma, so a Gamma prior of tau gives a Gamma factor.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "compiler/density/density.h"

namespace lehr::conditionals {

/// The id of a block (latent variables that are updated together), an index into Conditionals::blocks.
using BlockId = Id<struct BlockTag>;

/// One occurrence of a latent variable in the log joint: the atom density.terms[term].atoms[atom]. What multiplies it
/// there is a summand of a natural parameter of the variable's conditional.
struct Use {
  /// The term of the density in which the variable occurs, as an index into Density::terms.
  std::size_t term = 0;
  /// The statistic in that term, as an index into Term::atoms.
  std::size_t atom = 0;
};

/// The exact inference algorithm for a factor that covers a whole sequence of elements: forward-backward for
/// categories, a Kalman smoother for Normal elements.
enum class ChainFactor {
  categories,  // forward-backward over the joint values of neighbouring elements
  gaussian     // Kalman smoother, for Normal or MvNormal elements whose pairs are linear in both elements
};

/// The distances of the elements of one chain that a term multiplies: how many steps each is before the last of them,
/// ascending. The last one itself is left out: x[t] * x[t-1] has {1}, and a term of z[t], z[t-1] and z[t-2] has {1, 2}.
using Lags = std::vector<std::int64_t>;

/// Says that a block has one factor for each whole sequence, along its last axis, and what the factor couples.
struct Chain {
  /// The exact algorithm that computes the factor of a sequence.
  ChainFactor factor;
  /// The groups of elements of a sequence that terms multiply, each by its lags: {1} for x[t] * x[t-1]. Their factor
  /// has a potential for each group.
  std::set<Lags> joint;
  /// The largest lag in `joint`: how many steps back an element depends on others.
  std::int64_t max_lag = 0;
};

/// A block: a latent variable whose elements are updated together and have variational factors of one family. It may be
/// a joint variable (Auxiliary::joint), or a precision together with its mean.
struct Block {
  /// The latent variable whose factor this is, which atoms of the density name; of a mean and its precision the
  /// precision.
  model::VariableId variable;
  /// The mean of a mean and its precision in one factor (NormalGamma, NormalWishart); none for other blocks.
  std::optional<model::VariableId> mean;
  /// The family of the block's variational factor. Null only inside derive(), which then reports the block.
  const math::FamilyRow* family = nullptr;
  /// The formulas of the factor: the family's own, or those of its point or sample factor.
  const math::Factor* factor = nullptr;
  /// True if the factor is a single value: the mode of the family (MAP, `guide point`), or the tangent point of a local
  /// bound, where the ELBO is largest.
  bool point = false;
  /// True if the factor is a random draw from the complete conditional, for a Gibbs sampler.
  bool drawn = false;
  /// What the factor of a whole sequence couples, if one factor covers each sequence along the last, ordered axis;
  /// empty if each element has a factor of its own.
  std::optional<Chain> chain;
  /// The occurrences of `variable` in the terms of the density, from which the natural parameters are gathered.
  std::vector<Use> uses;
  /// By axis: true if elements that differ there share a term and so must be updated one after another.
  std::vector<bool> sequential;
  /// Returns true if some axis is sequential: elements of the block share a term, and depend on each other.
  bool coupled() const;
  /// Returns true if the factor has an entropy that the ELBO counts: it is neither a point nor a draw.
  bool has_entropy() const { return !point && !drawn; }
};

/// The complete conditionals of a model, as derive() finds them: for each block of latent variables its family and the
/// terms that give its natural parameters. The schedule of updates is planned from them.
struct Conditionals {
  /// The log joint as terms, in which products of a mean and its precision are contracted (contract_joint).
  density::Density density;
  /// The blocks, in the order in which their variables are declared. A joint variable stands at its first member, a
  /// mean and its precision at the precision.
  std::vector<Block> blocks;
  /// By VariableId: the block of the variable; of a member the block of its joint variable, of a mean in a joint block
  /// that of its precision. Invalid if observed.
  std::vector<BlockId> block_of;

  /// Returns the block with the given id.
  const Block& operator[](BlockId id) const { return blocks[id.index()]; }
};

/// Returns all occurrences of a variable in the terms of the density, in order of the terms.
std::vector<Use> uses_of(const density::Density& d, model::VariableId v);

/// Returns, by axis of `v`, true if its elements must be updated one after another along that axis, so that no two that
/// share a term are updated together. Example: with z[i] * z[j] where i != j, the axis of i is sequential. The axes are
/// chosen such that every pair of atoms of `v` in one term certainly differs on one of them; they are the fewest,
/// unless the search takes too long. All are sequential if a pair differs on none for certain. `var` is the variable
/// with the id `v`.
std::vector<bool> sequential_axes(const density::Density& d, const model::Variable& var, model::VariableId v);

/// Decides whether one factor can cover each whole sequence of `v` along its last axis, by forward-backward or a Kalman
/// smoother, and returns what it couples. Returns nothing if no exact algorithm applies or no term has two elements of
/// a sequence. The last axis must be an ordered plate. The atoms of `v` in a term must all be of one sequence, or each
/// of a sequence of its own. Atoms of one sequence must differ by constant steps, at most max_lag_of(), may be two at
/// most for the Kalman smoother, and must have the statistic that the algorithm for `family` works with.
std::optional<Chain> chain_of(const density::Density& d, const model::Model& m, model::VariableId v,
                              const math::FamilyRow& family);

/// Converts conditionals for variational inference to those of a Gibbs sampler: every block gets the sample factor of
/// its family, so that a sweep draws from the complete conditionals. Masks are removed from the terms, and terms are
/// added that make draws of Laplace variables exact. If some variable cannot be drawn, returns a text that names it and
/// says why.
std::variant<Conditionals, std::string> with_sample_factors(const model::Model& m, Conditionals c);

/// Returns why the members of a `guide joint` cannot share one MvNormal factor, in words for an error message, or
/// nothing if they can. All must be real numbers or vectors. A plate that only some have, or that is in
/// JointGuide::coordinates, numbers coordinates: its elements must not have copies, and must be as many for each
/// element of the factor.
std::optional<std::string> why_not_one_normal(const model::Model& m, const model::JointGuide& guide);

/// Returns the statements of the model that give the prior of a block: those of its variable, mean and members, and
/// further statements of its variable and mean. Lowering forms starting values from them. One may be listed twice.
std::vector<model::StatementId> statements_of(const model::Model& m, const Block& b);

/// Returns the family of a variable's own posterior: of its marginal if it is a member of a joint variable, else that
/// of its block. A member of an MvNormal or SparseNormal has Normal or MvNormal. In a factor of a category with the
/// number that it switches, the category has Categorical (a bit Bernoulli), and the number Normal, with the mean and
/// variance of the true mixture. In a factor of a vector with the precision that scales it, a number or vector has
/// Student's t (math::marginal_family), and the precision Gamma. A mean and its precision have their NormalGamma or
/// NormalWishart.
const math::FamilyRow& family_of(const model::Model& m, const Conditionals& c, model::VariableId v);

/// Prepares the density for one factor of a mean and its precision: rewrites products of their statistics at one
/// element as statistics of NormalGamma or NormalWishart, so that tau * mu^2 becomes weighted_square. Products without
/// such a form stay, and derive() reports them.
void contract_joint(density::Density& d, const model::Model& m, model::VariableId mean, model::VariableId precision);

/// Adds the error that `v` has no conditional in closed form to `diagnostics`: the line and the term that prevent it,
/// the statistics that the families on its support have, and what to write instead. `prior` is the family of its prior,
/// `uses` are all occurrences of `v`; without any, nothing is reported.
void report_not_conjugate(const model::Model& m, const density::Density& d, model::VariableId v,
                          const math::FamilyRow& prior, const std::vector<Use>& uses, Diagnostics& diagnostics);

}  // namespace lehr::conditionals

namespace lehr {

/// Gives the members of each `guide joint` one factor: replaces them, in the model and in every term, by one variable
/// that has all their numbers (Auxiliary::joint). A mean and its precision are left to contract_joint(). There are
/// three kinds:
///   one vector of Normal variables:             x is comp(x), x * y is comp2(x, y);
///   a category or bit, and a Normal number:     [z = k] x is switched;
///   Normal variables and their precision tau:   tau * x is weighted(x).
/// It returns nothing after it has reported members that cannot share a factor, or a term without such a statistic.
/// Members of no kind are left as they are, for derive() to report.
std::optional<Expanded> join(Expanded expanded, Diagnostics& diagnostics);

/// Derives the complete conditionals of a model from its log joint: finds the blocks of latent variables, the family of
/// each and how it is updated. Reports every block that is not conjugate, and guides that are impossible (joint
/// factors, points). Returns nothing if `diagnostics` has errors then.
std::optional<conditionals::Conditionals> derive(const model::Model& model, density::Density density,
                                                 Diagnostics& diagnostics);

}  // namespace lehr
