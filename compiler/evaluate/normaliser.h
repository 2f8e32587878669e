// The tempered normaliser of a model's data: log C(T) = sum over items i of log integral p(x_i, z_i | globals)^(1/T),
// at several temperatures T. Tempering divides by it, so that tempered densities stay normalised.
//
// It is found recursively through the local variables. Every observed value is integrated by the tempered integral of
// its family; an element with a missing value has no factor. Discrete local variables are summed out by variable
// elimination, together with potentials. Continuous local variables are integrated like data if their prior is tempered
// (schedule/tempered.h); otherwise they are fixed at given values, as are data on which other data depend. All
// constants and base measures are included, as in the energy of the data.
//
// An auxiliary variable is integrated too if the log joint with it is exact: the sources of counts, and the number
// behind a probit link, a censored value or an interval. The possible observations of such a number are intervals that
// partition the real line, so the integral is over the whole line. A local bound makes the energy of the data smaller;
// C(T) is that of the density and not of its bound, so the tempered ELBO is still a lower bound.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/evaluate/tempered_tables.h"
#include "compiler/schedule/schedule.h"

namespace lehr {

/// Computes, at several temperatures T, the log of the tempered normaliser of one model and data set: log C(T) = sum
/// over items i of log integral p(x_i, z_i | globals)^(1/T), over the data x and the local variables z of an item.
/// Tempering subtracts it, so that tempered densities stay normalised.
class TemperedNormaliser {
 public:
  /// The schedule says which statements are tempered and which variables are local. `temperatures` ascend. All
  /// references must outlive the object.
  TemperedNormaliser(const model::Model& model, const schedule::Schedule& schedule, const BoundData& data,
                     std::vector<double> temperatures);

  /// Returns the reason why log C(T) cannot be computed for this model, whatever the values; empty if the model alone
  /// gives none. Reasons are: a joint prior, a potential over a continuous variable that is integrated, a tempered
  /// latent variable that is truncated, an observed variable with limits that is not Normal, and copies of discrete
  /// elements that are not alike.
  std::string unsupported_reason() const;

  /// Returns the reason why log C(T) cannot be computed at these values; empty if it can. Reasons are: a sum is over
  /// too many joint states of discrete variables, it needs a discrete variable whose prior is not tempered, only some
  /// entries of an element have data, or the summands of a rate of counts are not found. With `every_item` each item is
  /// tried alone, and items that are not independent are a reason too; otherwise those that at() evaluates are tried.
  /// `values` are as for at().
  std::string unsupported_reason(ModelEvaluator& values, bool every_item) const;

  /// Concentrations of Dirichlet factors, by VariableId, in the order of values; empty for other variables. If such a
  /// simplex is the parameter of categories, the exact moments E[x_k^(1/T)] replace its value.
  using Concentrations = std::vector<std::vector<double>>;
  /// Returns log C(T) at each temperature, for the values in `values` of all variables that are not integrated out.
  /// Discrete local variables must be unknown (NaN). If items are independent and differ in more than the sizes of
  /// their rows, at most 2000 of `items` (empty: of all items) are evaluated, evenly spaced. Their sum is scaled to the
  /// copies of all items.
  std::vector<double> at(ModelEvaluator& values, std::span<const std::int64_t> items = {},
                         const Concentrations& concentrations = {}) const;
  /// Returns log C(T) of each of these items, [item][temperature], interpolated as in interpolated_at(). For an item
  /// with copies (`times`) it is that of one copy. Items must be independent: unsupported_reason() with `every_item`.
  std::vector<std::vector<double>> by_item(ModelEvaluator& values, std::span<const std::int64_t> items,
                                           const Concentrations& concentrations = {}) const;

  /// Returns the multiplicity (`times`) of every item: how many copies it stands for, 1 without `times`. It is empty if
  /// no statement is tempered, and if C(T) is no product over items.
  std::vector<double> copies() const;

  /// An estimate of log C(T), or of the log of its mean under the prior, at each temperature, and its standard error,
  /// in nats.
  struct Estimate {
    std::vector<double> log_c, error;  // by temperature; `error` is empty if `log_c` is exact
  };
  /// Returns log C(T) at each temperature, for the values in `values` of all variables that are not integrated out.
  /// Unlike at(), it evaluates at fewer temperatures and interpolates between them (interpolate_over_temperatures()),
  /// as runs of tempering need it often. The error is that of a sum over a sample of the items; empty without a sample.
  Estimate interpolated_at(ModelEvaluator& values, std::span<const std::int64_t> items,
                           const Concentrations& concentrations) const;

  /// Estimates the log of the mean of C(T) over `draws` draws from the prior, of all latent variables that are not
  /// discrete and local. A fit whose normaliser is to come from the prior uses it. The error is the standard error of
  /// that log. The estimate is NaN if log C(T) depends on a variable with an improper prior.
  Estimate under_prior(std::size_t draws, std::uint64_t seed) const;

 private:
  /// Results that one computation of log C(T) uses several times, and the reason if it is refused.
  struct SharedResults {
    /// log E[x_k^(1/T)] of a Dirichlet element: of the sum over entries, and of each entry.
    struct Moments {
      Logs all;                   // log E of the sum over all entries, by temperature
      std::vector<Logs> entries;  // log E of each entry, by temperature
    };
    const Concentrations& concentrations;     // of Dirichlet factors, as the caller gave them
    const std::vector<double>& temperatures;  // the temperatures T at which log C(T) is computed
    /// Logs of the tempered integrals of densities, by family and parameters, since many elements have the same.
    std::map<std::pair<const math::FamilyRow*, std::vector<double>>, Logs> integrals = {};
    std::map<Element, Moments> moments = {};  // by Dirichlet element: its moments, which several items use
    std::string refused = {};  // why log C(T) cannot be computed; if it is not empty, no other result is valid
    /// Sets `refused`: a table over discrete elements is too large; `v` is the variable of an element in it.
    void too_wide(const model::Variable& v);
  };
  /// The last sum over all connected items together, to be reused for as long as the tables are equal: the tables of
  /// discrete elements, and the log of their summed product.
  struct CachedSum {
    std::vector<TemperedTable> tables;  // the tables before the sum
    Logs log_c;                         // log of the summed product, by temperature
  };
  /// Returns the total multiplicity (`times`) of elements first .. past - 1 of a plate; past - first without `times`.
  double copies(model::PlateId plate, std::int64_t first, std::int64_t past) const;
  /// Returns the lengths of the item's rows in nested plates, and the copies in them. Items that agree in these are
  /// equal where `equal_items_` holds.
  std::vector<double> row_sizes(std::int64_t item) const;
  /// Returns log C(T) of each of these items, [item][temperature], at the temperatures of `cache`.
  std::vector<Logs> of_items(ModelEvaluator& f, std::span<const std::int64_t> items, SharedResults& cache) const;
  /// Returns the indices of all items: 0, 1, 2, ...; none where copies() is empty.
  std::vector<std::int64_t> all_items() const;
  /// Sums over the items of a sample, by temperature, for the standard error of an estimate.
  struct SampleSums {
    /// Sums of log C(T) of an item, and of its square, both times the square of the item's copies; by temperature.
    Logs first, second;
    double squares = 0;   // sum of the squares of the items' copies
    double variance = 0;  // the factor from the sum of squared residuals to the estimate's variance; 0: it is exact
  };
  /// Returns log C(T) of all items and their copies together. If they are not connected and differ in more than the
  /// sizes of their rows, it is estimated from at most 2000 of the items `sample` (empty: of all items). Then `sums`,
  /// unless null, gets the sums over these, or variance 0 if they are all items.
  Logs of_all(ModelEvaluator& f, std::span<const std::int64_t> sample, SharedResults& cache,
              SampleSums* sums = nullptr) const;
  /// Returns log C(T) of one copy of one item, by temperature.
  Logs of_item(ModelEvaluator& f, std::int64_t item, SharedResults& cache) const;
  /// Returns log C(T) of all items together, by temperature: one sum over all their discrete elements.
  Logs of_connected(ModelEvaluator& f, SharedResults& cache) const;
  /// Sums the elements for which `wanted` holds out of the product of the tables, and replaces the tables by what is
  /// left (lehr::sum_out). Returns false if the computation is refused, because a table is too large or for an earlier
  /// reason.
  bool sum_tables(std::vector<TemperedTable>& tables, const std::function<bool(Element)>& wanted,
                  SharedResults& cache) const;
  /// Returns why C(T) is no product over items: a potential or a discrete variable connects them, or data and local
  /// variables are on several plates or on none. Empty if it is a product.
  std::string why_connected() const;
  /// Returns true if elements of a nested plate are alike: no density depends on their position, and all variables on
  /// it have terms for every element (may_lack_terms).
  bool are_alike(model::PlateId inner) const;
  /// Returns true if some elements of the variable may have no terms in the log joint: some of its values are missing,
  /// or it has a mask of the elements on which data depend.
  bool may_lack_terms(model::VariableId v) const;
  /// Returns true if the log joint has terms of the element: an observed one has all its values, a latent one has data
  /// that depend on it. Refuses the computation if data depend on only some of its entries.
  bool has_terms(const ModelEvaluator& f, Element e, SharedResults& cache) const;
  /// Returns the auxiliary variable of this kind that the compiler added for the terms of `host`, if there is one.
  std::optional<model::VariableId> added_for(model::VariableId host, model::Auxiliary::Kind kind) const;
  /// Returns the canonical parameters of the element's density, with 0 for those that only shift it.
  math::Environment shape_parameters(const ModelEvaluator& f, const model::Statement& s, const IndexValues& at) const;
  /// Returns the log of the tempered integral of counts together with their sources, by temperature. `source` is the
  /// auxiliary variable that divides each count among the summands of its rate.
  Logs with_sources(ModelEvaluator& f, const model::Statement& s, const IndexValues& at, model::VariableId source,
                    const math::Environment& parameters, SharedResults& cache) const;
  /// Returns the tempered log factor of one element, by temperature: log p / T of a discrete local one, otherwise the
  /// log of the tempered integral of its density. Empty if a discrete value that it needs is unknown.
  Logs tempered(ModelEvaluator& f, const model::Statement& s, const IndexValues& at, SharedResults& cache) const;
  /// Returns the table of a factor, by temperature, over `own` and the discrete elements that `evaluate` finds without
  /// a value.
  TemperedTable tabulate(ModelEvaluator& f, std::optional<Element> own, const std::function<Logs()>& evaluate,
                         SharedResults& cache) const;
  /// Returns the table of the tempered log density of one element, over the values of the discrete elements that the
  /// density depends on.
  TemperedTable factor(ModelEvaluator& f, model::StatementId id, const IndexValues& at, SharedResults& cache) const;
  /// Appends the tables of all elements of a statement, or with `item` (the statement's index variable over the items,
  /// and the number of an item) of the elements of that item alone.
  void append_factors(ModelEvaluator& f, model::StatementId id,
                      std::optional<std::pair<model::IndexVarId, std::int64_t>> item,
                      std::vector<TemperedTable>& tables, SharedResults& cache) const;
  /// Appends to `tables` the tempered log values of all elements of a potential: a table for each, over the values of
  /// the discrete elements that it depends on.
  void append_potential(ModelEvaluator& f, const model::Potential& p, std::vector<TemperedTable>& tables,
                        SharedResults& cache) const;
  /// Returns log E[x_k^(1/T)] of entry k of a Dirichlet element, or of the sum over all entries if there is no k.
  const Logs& moments(Element e, std::optional<std::size_t> k, std::size_t width, SharedResults& cache) const;
  /// Returns true for discrete local variables, which are summed over.
  bool is_summed(model::VariableId v) const;
  /// Returns true if the density of the statement depends on the position in this plate, other than through discrete
  /// local variables at the same position. True also for every statement that reads with a lag.
  bool mentions(const model::Statement& s, model::PlateId plate) const;

  const model::Model& model_;
  const BoundData& data_;
  std::vector<double> temperatures_;            // the temperatures T of the results, ascending
  std::vector<model::StatementId> statements_;  // the tempered statements
  std::vector<bool> local_;                     // true for local variables, by VariableId
  /// By VariableId: true for variables of tempered statements, over whose values C(T) sums or integrates.
  std::vector<bool> integrated_;
  bool connected_ = false;   // true if C(T) is no product over items
  bool equal_items_ = true;  // true if items differ at most in the sizes of their rows
  /// The last sum over connected items, for each list of temperatures.
  mutable std::map<std::vector<double>, CachedSum> cached_sums_;
};

}  // namespace lehr
