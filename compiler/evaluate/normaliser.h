// The tempered normaliser of a model's data: log C(T) = sum over items i of log integral p(x_i, z_i | globals)^(1/T),
// at several temperatures T. Tempering divides by it, so that tempered densities stay normalised.
//
// It is found recursively through the local variables. Observed values are integrated by the tempered integral of their
// family. Discrete local variables are summed out by variable elimination. Continuous local variables are integrated
// like data if their prior is tempered (schedule/tempered.h); otherwise they are fixed at given values. All constants
// and base measures are included, as in the energy of the data.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/schedule/schedule.h"

namespace lehr {

/// Computes the log of the tempered normaliser C(T) of one model and data set, at several temperatures T.
class TemperedNormaliser {
 public:
  /// The schedule says which statements are tempered and which variables are local. All references must outlive the
  /// object.
  TemperedNormaliser(const model::Model& model, const schedule::Schedule& schedule, const BoundData& data,
                     std::vector<double> temperatures);

  /// Returns the reason why the model's normaliser cannot be computed this way; empty if it can.
  std::string unsupported_reason() const;

  /// Returns the reason if the sums prove too large: a term depends on too many joint states of discrete variables.
  /// Empty if they do not. With `every_item` all items are tried, otherwise the representatives. `values` are as for
  /// at().
  std::string unsupported_reason(ModelEvaluator& values, bool every_item) const;

  /// Concentrations of Dirichlet factors, by VariableId, in the order of values; empty for other variables. If such a
  /// simplex is the parameter of categories, the exact moments E[x_k^(1/T)] replace its value.
  using Concentrations = std::vector<std::vector<double>>;
  /// Returns log C(T) at each temperature, for the values in `values` of all variables that are not integrated out.
  /// Discrete local variables must be unknown (NaN). With `items`, the sum over these represents all items; at most 200
  /// are evaluated.
  std::vector<double> at(ModelEvaluator& values, std::span<const std::int64_t> items = {},
                         const Concentrations& concentrations = {}) const;
  /// Returns log C(T) at each temperature like at(), but interpolated from fewer temperatures
  /// (interpolate_over_temperatures()).
  std::vector<double> interpolated_at(ModelEvaluator& values, std::span<const std::int64_t> items,
                                      const Concentrations& concentrations) const;

  /// Returns log C(T) of each of these items, interpolated as in interpolated_at(). For an item with copies (`times`)
  /// it is that of one copy.
  std::vector<std::vector<double>> by_item(ModelEvaluator& values, std::span<const std::int64_t> items,
                                           const Concentrations& concentrations = {}) const;

  /// Returns the multiplicity of every item, that is, how many copies each stands for (`times`).
  std::vector<double> copies() const;

  /// A Monte Carlo estimate at each temperature, in nats: the log of the mean of C(T) over draws, and its standard
  /// error.
  struct Estimate {
    std::vector<double> log_c, error;  // by temperature
  };
  /// Estimates the log of the mean of C(T) over `draws` draws of the global variables from their priors.
  Estimate under_prior(std::size_t draws, std::uint64_t seed) const;

 private:
  /// The log of a tempered factor for every joint value of the discrete elements that it depends on, at every
  /// temperature. of_item() multiplies such tables and sums the discrete elements out of them by variable elimination.
  struct Table;
  /// A cache for one computation of log C(T). It has tempered integrals by family and parameters, and moments of
  /// Dirichlet elements, which several items share.
  struct SharedResults;
  /// Returns the total multiplicity of elements first .. past - 1 of a plate.
  double copies(model::PlateId plate, std::int64_t first, std::int64_t past) const;
  /// Returns the lengths of the item's rows in nested plates, and the copies in them. Items that agree in these are
  /// equal where `equal_items_` holds.
  std::vector<double> row_sizes(std::int64_t item) const;
  /// Returns log C(T) of each of these items, by temperature.
  std::vector<std::vector<double>> of_items(ModelEvaluator& f, std::span<const std::int64_t> items,
                                            SharedResults& cache) const;
  /// Returns the indices of all items, 0, 1, 2, ...
  std::vector<std::int64_t> all_items() const;
  /// Returns log C(T) of all items together, estimated from a sample of them if they are many.
  std::vector<double> of_all(ModelEvaluator& f, std::span<const std::int64_t> sample, SharedResults& cache) const;
  /// Returns log C(T) of one item, by temperature.
  std::vector<double> of_item(ModelEvaluator& f, std::int64_t item, SharedResults& cache) const;
  /// Returns the tempered log factor of one element, by temperature; empty if a discrete value that it needs is
  /// unknown.
  std::vector<double> tempered(ModelEvaluator& f, const model::Statement& s, const IndexValues& at,
                               SharedResults& cache) const;
  /// Returns the table of the tempered log density of one element, over the values of the discrete elements that the
  /// density depends on.
  Table factor(ModelEvaluator& f, const model::Statement& s, const IndexValues& at, SharedResults& cache) const;
  /// Returns log E[x_k^(1/T)] of entry k of a Dirichlet element, or of the sum over all entries if there is no k.
  const std::vector<double>& moments(Element e, std::optional<std::size_t> k, std::size_t width,
                                     SharedResults& cache) const;
  /// Returns true if the statement defines a discrete local variable.
  bool is_summed(const model::Statement& s) const;
  /// Returns true if the density of the statement depends on the position in this plate.
  bool mentions(const model::Statement& s, model::PlateId plate) const;

  const model::Model& model_;
  const schedule::Schedule& schedule_;
  const BoundData& data_;
  std::vector<double> temperatures_;            // T, ascending
  std::vector<model::StatementId> statements_;  // the tempered statements
  std::vector<bool> local_;                     // true for local variables, by VariableId
  bool equal_items_ = true;                     // true if items differ at most in the sizes of their rows
};

}  // namespace lehr
