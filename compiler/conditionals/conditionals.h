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

/// One occurrence of a block's variable in the density: the atom density.terms[term].atoms[atom].
struct Use {
  /// The term of the density in which the variable occurs, as an index into Density::terms.
  std::size_t term = 0;
  /// The statistic in that term, as an index into Term::atoms.
  std::size_t atom = 0;
};

/// The exact inference algorithm for a chain: a factor that covers a whole sequence of elements.
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
  /// The groups of elements that occur together in one term, by their lags.
  std::set<Lags> joint;
  /// The largest lag: how many steps back an element depends on others.
  std::int64_t max_lag = 0;
};

/// A latent variable whose elements all have factors of one family. It may be a joint variable (Auxiliary::joint), or a
/// precision together with its mean.
struct Block {
  /// The variable that atoms name; of a joint block the precision.
  model::VariableId variable;
  /// The mean of a joint block (NormalGamma, NormalWishart); none for other blocks.
  std::optional<model::VariableId> mean;
  /// The family of the block's variational factor. Null only inside derive(), which then reports the block.
  const math::FamilyRow* family = nullptr;
  /// The formulas of the factor: the family's own, or those of its point or sample factor.
  const math::Factor* factor = nullptr;
  /// True if the block is a point estimate: `factor` has all mass at the mode (MAP). True also for the tangent point of
  /// a local bound, where the ELBO is largest.
  bool point = false;
  /// True if the block is sampled: `factor` has all mass at a random draw (Gibbs).
  bool drawn = false;
  /// Set if one factor covers each sequence along the last, ordered axis.
  std::optional<Chain> chain;
  /// The occurrences of the block's variable in the terms of the density.
  std::vector<Use> uses;
  /// By axis: true if elements that differ there share a term and so must be updated one after another.
  std::vector<bool> sequential;
  /// Returns true if some axis is sequential: elements of the block share a term.
  bool coupled() const;
  /// Returns true if the factor has an entropy that the ELBO counts: it is neither a point nor a draw.
  bool has_entropy() const { return !point && !drawn; }
};

/// The conditional distributions of a model: for each block of latent variables its family and the terms that give its
/// natural parameters. The schedule is planned from them.
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

/// Returns all occurrences of a variable in the terms of the density.
std::vector<Use> uses_of(const density::Density& d, model::VariableId v);

/// Returns, by axis of `v`, which axes must be updated in sequence so that no two elements that share a term are
/// updated together. The set of these axes has, for every pair of atoms of `v` in one term, an axis on which they
/// certainly differ; it is a smallest such set, unless the search takes too long. Example: with z[i] * z[j] where i !=
/// j, the axis of i is sequential. All axes are sequential if a pair differs on none for certain. `var` is the variable
/// with the id `v`.
std::vector<bool> sequential_axes(const density::Density& d, const model::Variable& var, model::VariableId v);

/// Returns how one factor covers a whole sequence of `v`, or nothing if no exact algorithm applies or no term has two
/// elements of a sequence. The last axis must be an ordered plate. The atoms of `v` in a term must all be of one
/// sequence, or each of a sequence of its own. The atoms of one sequence must differ by constant steps of that axis, at
/// most max_lag_of() (chain_lag.h), and may be two at most for the Kalman smoother. Their statistic must be the one
/// that the algorithm for `family` works with.
std::optional<Chain> chain_of(const density::Density& d, const model::Model& m, model::VariableId v,
                              const math::FamilyRow& family);

/// Returns the conditionals with the sample factor of its family in every block, so that a sweep is Gibbs sampling.
/// Masks are removed from the terms, and terms are added that make draws of absolute values exact. If some variable
/// cannot be drawn, it returns a text that names it and says why.
std::variant<Conditionals, std::string> with_sample_factors(const model::Model& m, Conditionals c);

/// Returns why the members of the guide cannot share one MvNormal factor, in words, or nothing if they can. All must be
/// real numbers or vectors. A plate that only some have, or that is in JointGuide::coordinates, numbers coordinates:
/// its elements must not have copies, and must be as many for each element of the factor.
std::optional<std::string> why_not_one_normal(const model::Model& m, const model::JointGuide& guide);

/// Returns the statements that give the prior of the block: those of its variable, mean and members, and further
/// statements of its variable and mean. A statement may be listed twice.
std::vector<model::StatementId> statements_of(const model::Model& m, const Block& b);

/// Returns the family of the variable's marginal under its factor. A member of an MvNormal or SparseNormal has Normal
/// or MvNormal. In a factor of a category with the number that it switches, the category has Categorical (a bit
/// Bernoulli), and the number Normal, with the mean and variance of the true mixture. In a factor of a vector with the
/// precision that scales it, a number or vector has Student's t (math::marginal_family), and the precision Gamma. All
/// other variables have the family of their block. So a mean and its precision in a NormalGamma or NormalWishart have
/// that.
const math::FamilyRow& family_of(const model::Model& m, const Conditionals& c, model::VariableId v);

/// Rewrites products of statistics of a mean and its precision, at one element, as statistics of NormalGamma or
/// NormalWishart: tau * mu^2 becomes weighted_square. Products without such a form stay, and derive() reports them.
void contract_joint(density::Density& d, const model::Model& m, model::VariableId mean, model::VariableId precision);

/// Reports that `v` has no conditional in closed form: the line and the term that prevent it, the statistics that the
/// families on its support have, and what to write instead. `prior` is the family of its prior, `uses` all uses of `v`.
/// Reports nothing if there are none.
void report_not_conjugate(const model::Model& m, const density::Density& d, model::VariableId v,
                          const math::FamilyRow& prior, const std::vector<Use>& uses, Diagnostics& diagnostics);

}  // namespace lehr::conditionals

namespace lehr {

/// Replaces the members of each `guide joint` by one variable that has all their numbers (Auxiliary::joint), in the
/// model and in every term. A mean and its precision are left to contract_joint(). There are three kinds:
///   one vector of Normal variables:             x is comp(x), x * y is comp2(x, y);
///   a category or bit, and a Normal number:     [z = k] x is switched;
///   Normal variables and their precision tau:   tau * x is weighted(x).
/// It returns nothing after it has reported members that cannot share a factor, or a term without such a statistic.
/// Members of no kind are left as they are, for derive() to report.
std::optional<Expanded> join(Expanded expanded, Diagnostics& diagnostics);

/// Finds the blocks of a density and the family of each. It reports every block that is not conjugate, and guides that
/// are impossible (joint factors, points). It returns nothing if `diagnostics` has errors then.
std::optional<conditionals::Conditionals> derive(const model::Model& model, density::Density density,
                                                 Diagnostics& diagnostics);

}  // namespace lehr
