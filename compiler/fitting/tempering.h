// Variational tempering of a compiled model: which normaliser it takes, bound to an instance whose factors it reads.
#pragma once
#include <memory>

#include "compiler/evaluate/normaliser.h"
#include "compiler/fitting/method.h"

namespace lehr {

class Tempering {
 public:
  /// An Error says why the model cannot be tempered.
  static Result<Tempering> make(const TemperSettings& settings, const Ground& ground);

  Grid grid() const;
  /// One temperature for each item.
  ItemGrid items() const;
  /// Of the start.
  const TemperingReport& report() const { return report_; }

 private:
  /// The factors as they are: exact moments of simplexes that are parameters of categories, means of the rest.
  struct Factors {
    Forward values;
    TemperedNormaliser::Concentrations concentrations;
  };
  explicit Tempering(const Ground& ground) : ground_(ground) {}
  Factors factors() const;
  /// The normaliser depends on nothing that is inferred: draws from the prior agree with the factors at some
  /// temperatures.
  bool is_constant(Factors& q) const;

  Ground ground_;
  std::shared_ptr<const TemperedNormaliser> compute_;
  TemperingReport report_;
  std::int64_t every_ = 1;
};

}  // namespace lehr
