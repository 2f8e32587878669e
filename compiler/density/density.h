// Density: the log joint as a sum of terms, each a coefficient times statistics of single elements.
//
// Term = coef * product(mult) * product(atoms), summed over `bounds` where all guards hold. In the normal form
// that expand() returns, every element of a variable stands in at most one atom of a term, so the log joint is
// affine in the statistics of every single element, and two atoms of a term belong to different elements.
// Latent indices are gone: `mu[z[n]]` is sum_k [z[n] = k] mu[k], k a selector bound.
#pragma once
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/density/algebra.h"

namespace lehr::density {

/// What is no statistic of any family: a power or another product of statistics of one element, and functions of them.
struct Opaque {
  std::string text;                 // "mu^4", "lgamma(alpha)"; tells such functions apart; empty: there is none
  int power = 0;                    // of the variable itself, inside the functions
  bool product = false;             // of several statistics that is no power, inside the functions
  std::vector<Function> functions;  // outermost first: log, exp of log(exp(...))

  bool empty() const { return text.empty(); }
  bool operator==(const Opaque&) const = default;
};

/// A statistic of one element: mu[k]'s comp(j), z[n]'s indicator(k). Where it is opaque, the conditional of that
/// variable has no closed form.
struct Atom {
  model::VariableId variable;  // joint blocks: the precision member
  std::vector<IndexId> axes;
  math::Stat stat = math::Stat::value;
  std::vector<IndexId> event;
  Opaque opaque;
  bool operator==(const Atom&) const = default;
};

enum class Relation { equal, not_equal, less, greater_equal };
/// An index relation, or "this observed element is present".
struct Guard {
  Relation relation = Relation::equal;
  IndexId left, right;
  std::optional<model::VariableId> present;
  std::vector<IndexId> element;
  bool operator==(const Guard&) const = default;
};

/// A multiplicity: it counts for every variable except those that have a factor for each copy, which live on the
/// plate (`times`) or are the variable (the source of each count; one with a mask, model::mask_of; a choice that is
/// impossible where the count is 0).
struct Multiplicity {
  std::variant<model::PlateId, model::VariableId> owner;
  CoefId count;
  bool operator==(const Multiplicity&) const = default;
};

/// Where a term came from: the statement (or potential) of the model, for messages and for annealing.
struct Origin {
  std::optional<model::StatementId> statement;
  std::optional<std::size_t> potential;
  Span span;
  bool observed = false;
  bool improper = false;  // a prior without a normaliser: its constant was dropped
};

struct Term {
  CoefId coef;
  std::vector<Multiplicity> multiplicities;
  std::vector<Atom> atoms;
  std::vector<BoundId> bounds;
  std::vector<Guard> guards;
  std::size_t origin = 0;  // index into Density::origins
};

struct Density {
  Algebra algebra;
  std::vector<Origin> origins;
  std::vector<Term> terms;  // normal form, like terms of one origin merged
};

/// What the data decide about the shape of the density.
struct ExpandOptions {
  std::vector<bool> may_be_missing;  // by VariableId: observed with missing values, or latent with a mask
  std::vector<bool> clamped;         // by VariableId: latent where values are missing, see model::Variable::clamped
  std::vector<bool> with_zeros;      // by GivenId: concentrations, some of which are 0

  /// Whether the data ask for another density than that of a model without data.
  bool any() const;
};

/// What the sum of the terms is besides the log joint, in words: a bound of it (logistic links), known up to a
/// constant (improper priors). Empty for most models.
std::vector<std::string> caveats(const model::Model& m, const Density& d);

/// Whether `v` has a factor for each of the copies that `x` counts.
bool owns(const model::Model& m, model::VariableId v, const Multiplicity& x);

/// Bounds that the term's guards make certainly different, offsets and constants included.
bool certainly_different(const Density& d, const Term& t, IndexId a, IndexId b);

}  // namespace lehr::density

namespace lehr {

/// The log joint of the model, and the model with the auxiliary variables that it needed: they do not depend on the
/// options, so that data can be bound to either.
struct Expanded {
  model::Model model;
  density::Density density;
};

/// Model -> Density. What has no expansion (the log of a sum of random things, ...) is reported with the place,
/// the reason and the cure; nothing is returned then.
std::optional<Expanded> expand(const model::Model& model, const density::ExpandOptions& options,
                               Diagnostics& diagnostics);

}  // namespace lehr
