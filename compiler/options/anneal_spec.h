// `--anneal` and `--temper`: what was typed as a method.
#pragma once
#include <string>

#include "compiler/fitting/method.h"
#include "runtime/result.h"

namespace lehr {

/// linear:from=10,over=100   exp:from=10,over=100   file:temperatures.txt   entropy:from=10,over=100[,shape=exp]
/// stochastic:rho=0.25,over=50[,noise=means]   stochastic:decay=0.9,over=50   auto; all but `auto` take
/// scope=local|global|all. An Error names what is wrong and the forms there are.
Result<AnnealSpec> parse_anneal(const std::string& text);

/// `--temper`: global[:max=10,levels=100,normaliser=auto|prior|posterior,every=1,draws=100].
Result<TemperSettings> parse_temper(const std::string& text);

/// `anneal` and `temper` as for --anneal and --temper, empty for none. An Error says what is malformed, or does not go
/// together.
Result<Method> read_method(bool svi, const std::string& anneal, const std::string& temper);

}  // namespace lehr
