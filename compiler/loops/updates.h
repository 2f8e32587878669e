// Of one element of a block: natural parameters gathered from the terms, then parameters, then expected statistics.
#pragma once
#include "compiler/loops/clamps.h"
#include "compiler/loops/draws.h"
#include "compiler/loops/residuals.h"

namespace lehr::loops {

/// Natural parameters under construction.
struct NaturalTarget {
  std::map<math::Stat, BufferId> buffers;
  std::vector<std::size_t> free_axes;  // axes of the variable that the buffers keep
};

/// What the caller of an update does at every element: with its naturals, which it may add to, and around its new
/// parameters.
struct UpdateHooks {
  std::function<void(const std::vector<ExprId>& element, const NaturalTarget&)> gathered = {};
  std::function<void(const std::vector<ExprId>&element)> before = {}, after = {};
  /// Whether the expected statistics of the new factor are formed; without, they are.
  std::function<ExprId(const std::vector<ExprId>& element)> forms_expectations = {};
  bool add_rows = false;  // sums of a chain whose tables have rows as its potentials are added up with the update
  bool tolerant = false;  // improper factors give NaN instead of a failure, and steps are full ones (initial values)
};

class Updates : Part {
 public:
  Updates(Shared& shared, Terms& terms, FormulaLoops& formulas, Lookups& lookups, Draws& draws, Clamps& clamps)
      : Part(shared), terms_(terms), formulas_(formulas), lookups_(lookups), draws_(draws), clamps_(clamps) {}

  /// The expected statistic under the factors.
  ExprId expectation(const Atom& a, const Env& env);

  std::vector<bool> gather_axes(BlockId b, const Uses& uses) const;
  /// Arrays for all statistics, or `only` for some.
  NaturalTarget natural_buffers(BlockId b, const std::vector<bool>& fixed, const std::string& prefix,
                                const std::set<math::Stat>& only = {});
  void clear(const NaturalTarget& n);
  /// A use of a block in a term, and the atoms that its coefficient is without.
  struct Gathered {
    BlockId block;
    const ArrayTerm& term;
    std::size_t use;
    std::vector<std::size_t> without;
  };
  /// Calls `leaf` with every coefficient of the use, and where it adds to the naturals (an address in buffers over
  /// `free_axes`), for the elements whose fixed axes have the given values.
  void gather(const Gathered& g, const std::vector<bool>& fixed, const std::vector<ExprId>& element,
              const std::vector<std::size_t>& free_axes,
              const std::function<void(const std::vector<ExprId>& at, ExprId value, const Env& env)>& leaf);
  /// Adds the contribution of one use to the naturals of the elements whose fixed axes have the given values.
  void contribute(BlockId b, const ArrayTerm& t, std::size_t atom, const std::vector<bool>& fixed,
                  const std::vector<ExprId>& element, const NaturalTarget& n);
  void from_naturals(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n, const UpdateHooks& hooks);
  std::vector<ExprId> natural_address(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n,
                                      const std::vector<ExprId>& event);
  /// All weights of the naturals of the block: gathered from a table, those of the data are in it.
  std::vector<Weight> natural_weights(BlockId b, bool from_table) const;

  Formulas parameter_formulas(BlockId b, const std::vector<ExprId>& element);
  std::vector<ExprId> parameter_address(BlockId b, const std::vector<ExprId>& element,
                                        const std::vector<ExprId>& event);
  void expectations_from_parameters(BlockId b, const std::vector<ExprId>& element, Formulas& f);
  ExprId entropy(BlockId b, const std::vector<ExprId>& element);
  /// Of an element with known values: parameters and expectations of all mass there.
  void clamp(BlockId b, const std::vector<ExprId>& element) { clamps_.put(b, element); }
  /// One value in place of the probabilities of an element.
  void draw_category(BlockId b, const std::vector<ExprId>& element);
  ExprId owned_multiplicity(const model::Variable& v, const std::vector<ExprId>& element);

 private:
  /// 1 where data depend on the element, else 0.
  ExprId informed(const model::Variable& v, model::GivenId mask, const std::vector<ExprId>& element);
  /// Whether all expected statistics are known: not where they are formed beside the items, or clamped.
  bool know_entropy(BlockId b, const std::vector<ExprId>& element, Formulas& f);
  /// In a formula, a function that is the one summand of a sum with this value, where all functions of the other are
  /// called for in any case.
  void know_summand(const math::Expr& e, const math::Expr& sum, ExprId value, Formulas& f);
  /// A term in two: what the data multiply the values of an element with, by `parts`, and the values themselves.
  struct ByParts {
    Solved solved;
    std::set<BoundId> parts;
    Term data, values;
    std::vector<Factor> of_data, of_values;
  };
  /// Where what the values are multiplied by does not depend on the data.
  std::optional<ByParts> by_parts(const Gathered& g, const std::vector<bool>& fixed,
                                  const std::vector<ExprId>& element) const;
  /// sum over g of table[k, g] * (sum over data of part[data, g]), for the sum over both of table[k, g] * part[data,
  /// g].
  void contribute(const ByParts& p, const Atom& atom, BufferId naturals);
  /// Sums over elements whose number only the data tell.
  bool goes_over_data(const ArrayTerm& t, std::size_t atom) const;
  void softmax(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  void argmax(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  void measure_gradient(BlockId b, math::Stat stat, const std::vector<ExprId>& at, ExprId gradient);
  void blend_naturals(BlockId b, const std::vector<ExprId>& element, const NaturalTarget& n);
  /// The formula at every component into `buffer`, as parameters of factors are formed.
  void store_parameter(BlockId b, std::size_t parameter, BufferId buffer, const std::vector<ExprId>& element,
                       Formulas& f, bool tolerant);
  /// Where a parameter is the inverse of an earlier one, the log determinant is known.
  void know_inverse(BlockId b, const math::FactorParameter& p, Formulas& f);
  ExprId position_of(const std::vector<ExprId>& event, SizeId extent);
  /// Fails where the factor is not proper, or a point not inside its support.
  void check_proper(BlockId b, Formulas& f);

  Terms& terms_;
  FormulaLoops& formulas_;
  Lookups& lookups_;
  Draws& draws_;
  Clamps& clamps_;
};

}  // namespace lehr::loops
