// Conditionals: per block of the guide, the family of its factor and the terms its natural parameters come from.
//
// Every use (term, atom) adds to the natural parameter of the atom's statistic, at the element the atom names:
//   coef * product(mult not owned by the block) * product over the other atoms of E[atom].
// That is all there is to a complete conditional here: conjugacy means that the statistics found in the log joint
// are among the sufficient statistics of one family on the block's support. There is no table of pairs.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "compiler/density/density.h"

namespace lehr::conditionals {

using BlockId = Id<struct BlockTag>;

/// density.terms[term].atoms[atom]
struct Use {
  std::size_t term = 0;
  std::size_t atom = 0;
};

/// The exact algorithm for one factor over a whole sequence.
enum class ChainFactor {
  categories,  // forward-backward
  gaussian     // Normal or MvNormal elements, pairs linear in both: the Kalman smoother
};

/// Of elements that stand together, by how many steps those before the last of them are before it: ascending.
using Lags = std::vector<std::int64_t>;

/// One factor over a whole sequence.
struct Chain {
  ChainFactor factor;
  std::set<Lags> together;  // elements that stand in one term
  std::int64_t reach = 0;   // the largest lag
};

struct Block {
  model::VariableId variable;             // the one atoms name; of a joint block, the precision
  std::optional<model::VariableId> mean;  // the other member of a joint block
  const math::FamilyRow* family = nullptr;
  const math::Factor* factor = nullptr;  // the family's, or its point factor
  bool point = false;                    // `factor` is all mass at the mode
  bool drawn = false;                    // `factor` is all mass at a draw
  std::optional<Chain> chain;            // along an ordered last axis
  std::vector<Use> uses;
  std::vector<bool> sequential;  // by axis: elements that differ there must be updated one after another
  bool coupled() const;          // some term holds two elements of the block
  bool has_entropy() const { return !point && !drawn; }
};

struct Conditionals {
  density::Density density;       // joint blocks contracted
  std::vector<Block> blocks;      // latent variables in order of declaration
  std::vector<BlockId> block_of;  // by VariableId; invalid for observed variables; of a member its joint variable's

  const Block& operator[](BlockId id) const { return blocks[id.index()]; }
};

/// Axes that must be sequential so that no two elements of `v` that share a term are updated together: a smallest
/// set that hits, for every pair of atoms of `v` in one term, the axes on which they certainly differ.
std::vector<bool> sequential_axes(const density::Density& d, const model::Variable& var, model::VariableId v);

/// How the factor of a chain is found: all pairs of elements of `v` in one term have a constant distance on its last
/// axis, an ordered plate, agree on the other axes, and stand there with the statistic that `family` has an algorithm
/// for. None: no pairs, or others than these.
std::optional<Chain> chain_of(const density::Density& d, const model::Model& m, model::VariableId v,
                              const math::FamilyRow& family);

/// Every block at a draw from its factor: complete conditionals that are sampled, not averaged over. The text says
/// which variable cannot be drawn, and why.
std::variant<Conditionals, std::string> with_draws(const model::Model& m, Conditionals c);

/// Why Normal and MvNormal variables (improper ones too) cannot be one MvNormal, in words; nothing where they can: they
/// lie on the same plates but for those whose sizes are constants of the code, which number coordinates.
std::optional<std::string> why_not_one_normal(const model::Model& m, const std::vector<model::VariableId>& members);

/// The statements that an element of the block is drawn by: those of all its members, and others of the same variable.
std::vector<model::StatementId> statements_of(const model::Model& m, const Block& b);

/// The family of the variable's own marginal under its factor: a member of an MvNormal is Normal or MvNormal. (A number
/// that is switched is a mixture of Normals; the Normal has its mean and variance.)
const math::FamilyRow& family_of(const model::Model& m, const Conditionals& c, model::VariableId v);

/// The terms of a joint block (mean, precision) rewritten in the statistics of NormalGamma or NormalWishart.
void contract_joint(density::Density& d, const model::Model& m, model::VariableId mean, model::VariableId precision);

/// Reports why `v` has no conditional in closed form: the term, its line, the statistics found and needed, the
/// family that would be conjugate.
void explain(const model::Model& m, const density::Density& d, model::VariableId v, const math::FamilyRow& prior,
             const std::vector<Use>& uses, Diagnostics& diagnostics);

}  // namespace lehr::conditionals

namespace lehr {

/// The members of each `guide joint`, but a mean and its precision, in the place of one variable of all their numbers
/// (Auxiliary::joint), in every term: Normal variables are one vector, in which x is comp(x) and x * y comp2(x, y); a
/// category or bit and a Normal variable are a `switched` pair; Normal variables and their precision tau are `scaled`,
/// in which tau * x is weighted(x). What has no such statistic is reported.
std::optional<Expanded> join(Expanded expanded, Diagnostics& diagnostics);

/// Density -> Conditionals; a block that is not conjugate is explained in `diagnostics`, and nothing returned.
std::optional<conditionals::Conditionals> derive(const model::Model& model, density::Density density,
                                                 Diagnostics& diagnostics);

}  // namespace lehr
