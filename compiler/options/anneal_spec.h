// The texts of the options `anneal` and `temper`: what was typed as a schedule.
#pragma once
#include <string>
#include <variant>

#include "compiler/fitting/method.h"
#include "runtime/result.h"

namespace lehr {

/// `auto`, `auto:quick`, `auto:full`, `auto:sweeps=2000`.
struct AutoAnneal {
  bool cycles = false;
  std::int64_t sweeps = 0;
};

using AnnealSpec = std::variant<Annealing, AutoAnneal>;

/// linear:from=10,over=100   exp:from=10,over=100   file:temperatures.txt   entropy:from=10,over=100[,shape=exp]
/// stochastic:rho=0.25,over=50[,noise=means]   stochastic:decay=0.9,over=50   auto; all but `auto` take
/// scope=local|global|all. An Error names what is wrong and the forms there are.
Result<AnnealSpec> parse_anneal(const std::string& text);

/// global[:max=10,levels=100,normaliser=auto|prior|posterior,every=1,draws=100], local[:...].
Result<TemperSettings> parse_temper(const std::string& text);

/// global[:levels=24], with method gibbs: the number of temperatures.
Result<std::int64_t> parse_ladder(const std::string& text);

}  // namespace lehr
