// Parsers for the values of the options `anneal` and `temper`: schedules of temperatures as text.
#pragma once
#include <string>
#include <variant>

#include "compiler/fit/methods/method.h"
#include "runtime/result.h"

namespace lehr {

/// An annealing schedule whose temperatures the method chooses while it runs: `auto`, `auto:quick` (the same),
/// `auto:full` or `auto:sweeps=2000`.
struct AutoAnneal {
  /// True (`full` or `sweeps=N`): after the first annealing, a run from a higher temperature and repeated annealing
  /// from the best state follow. False (`auto`, `auto:quick`): they do not.
  bool cycles = false;
  std::int64_t sweeps = 0;  // total number of sweeps after which nothing new begins; 0: as many as the cycles need
};

/// The parsed value of the option `anneal`: a schedule with given temperatures, or one that the method chooses.
using AnnealSpec = std::variant<Annealing, AutoAnneal>;

/// Parses the value of the option `anneal`. With `file:` it also reads the file, which has one temperature for each
/// sweep. Returns an error of ExitCode::usage that says what is wrong and lists the forms, also if the file cannot be
/// read:
///
///   linear:from=10,over=100   exp:from=10,over=100   file:temperatures.txt
///   entropy:from=10,over=100[,shape=exp|linear]
///   stochastic:rho=0.25,over=50[,noise=dirichlet|start|KIND]   stochastic:decay=0.9,over=50[,noise=...]
///   auto[:quick|full|sweeps=N]
///
/// KIND is a kind of start (start_kind()). All but `auto` accept scope=local|global|all.
Result<AnnealSpec> parse_anneal(const std::string& text);

/// Parses the value of the option `temper` for variational tempering, where the temperature of the likelihood is
/// latent: global[:max=10,levels=100,normaliser=auto|prior|posterior,every=1,draws=100,spacing=geometric|inverse], one
/// for all data, or local[:...], one for each item. The latter has the same fields but no normaliser=prior, and the
/// defaults max=1.5 and levels=25. Returns an error of ExitCode::usage otherwise.
Result<TemperSettings> parse_temper(const std::string& text);

/// Parses the value of the option `temper` for method gibbs (parallel tempering), global[:levels=24], and returns the
/// number of temperatures of its chains. Returns an error of ExitCode::usage otherwise.
Result<std::int64_t> parse_gibbs_temperatures(const std::string& text);

}  // namespace lehr
