// The tempered normaliser of a model's data: log C(T) = sum over items of log integral p(x_i, z_i | globals)^(1/T).
//
// It is found from the statements, recursively through the local variables: what is observed is integrated by its
// family's tempered integral, discrete local variables are summed out, and continuous local ones are integrated like
// what is observed where their prior is tempered (schedule/tempered.h), and stand at their values otherwise. Energy and
// normaliser belong to one density, all constants and base measures included.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/evaluate/forward.h"
#include "compiler/schedule/schedule.h"

namespace lehr {

class TemperedNormaliser {
 public:
  /// The schedule says which statements are tempered and which variables local. All outlive the object.
  TemperedNormaliser(const model::Model& model, const schedule::Schedule& schedule, const BoundData& data,
                     std::vector<double> temperatures);

  /// Why the model has no normaliser that is found this way; empty when it has.
  std::string refusal() const;

  /// The same where it shows when the sums are formed, of all items or of those that stand for them: a term may depend
  /// on more states of discrete variables than there is time and memory for. `values` as for `at`.
  std::string refusal(Forward& values, bool every_item) const;

  /// At the values that `values` has of the variables that are not integrated out; discrete local ones must be unknown.
  /// With `items`, those stand for all; many items are always represented by some of them.
  /// Concentrations of Dirichlet factors by VariableId, in the order of values (none: empty): where such a simplex is
  /// the parameter of categories, the exact moments E[x_k^(1/T)] stand for its value.
  using Concentrations = std::vector<std::vector<double>>;
  std::vector<double> at(Forward& values, std::span<const std::int64_t> items = {},
                         const Concentrations& concentrations = {}) const;
  /// The same from fewer temperatures, see over_temperatures.
  std::vector<double> near(Forward& values, std::span<const std::int64_t> items,
                           const Concentrations& concentrations) const;

  /// The same as `near`, of these items alone, one array each; of an item that stands for copies (`times`), of one
  /// copy.
  std::vector<std::vector<double>> by_item(Forward& values, std::span<const std::int64_t> items,
                                           const Concentrations& concentrations = {}) const;

  /// How many copies each item stands for.
  std::vector<double> copies() const;

  /// log of the mean over draws of the global variables from their priors, and its standard error, in nats.
  struct Estimate {
    std::vector<double> log_c, error;
  };
  Estimate under_prior(std::size_t draws, std::uint64_t seed) const;

 private:
  struct Table;
  struct Known;
  double copies(model::PlateId plate, std::int64_t first, std::int64_t past) const;
  std::vector<double> rows(std::int64_t item) const;
  std::vector<std::vector<double>> of_items(Forward& f, std::span<const std::int64_t> items, Known& known) const;
  std::vector<std::int64_t> all_items() const;
  std::vector<double> of_all(Forward& f, std::span<const std::int64_t> sample, Known& known) const;
  std::vector<double> of_item(Forward& f, std::int64_t item, Known& known) const;
  std::vector<double> tempered(Forward& f, const model::Statement& s, const At& at, Known& known) const;
  Table factor(Forward& f, const model::Statement& s, const At& at, Known& known) const;
  /// log E[x_k^(1/T)] of the element's k-th entry, or of the sum over all entries.
  const std::vector<double>& moments(Element e, std::optional<std::size_t> k, std::size_t width, Known& known) const;
  bool is_summed(const model::Statement& s) const;
  bool mentions(const model::Statement& s, model::PlateId plate) const;

  const model::Model& model_;
  const schedule::Schedule& schedule_;
  const BoundData& data_;
  std::vector<double> temperatures_;
  std::vector<model::StatementId> statements_;  // tempered ones
  std::vector<bool> local_;                     // by VariableId
  bool equal_items_ = true;                     // no statement depends on the item but by the size of its rows
};

}  // namespace lehr
