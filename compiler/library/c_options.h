// Options and settings of the C interface, which are JSON objects. Malformed ones are errors of ExitCode::usage. In all
// of them a member that is null counts as absent.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/library/lehr.h"
#include "compiler/options/named_options.h"

namespace lehr {

/// Parses the options or settings of a C call as a JSON object; a null pointer gives an empty one. `name` is the
/// subject of the error.
Result<nlohmann::json> parse_object(const char* text, const std::string& name);

/// Converts a JSON object with the settings of lehr_compile() to CompileOptions.
Result<CompileOptions> compile_options(const nlohmann::json& settings);

/// Converts a JSON object with options of a fit to names and texts, as they would be typed on a command line. Names are
/// not checked here; values that are lists or objects are errors, and null members are left out.
Result<NamedOptions> named_options(const nlohmann::json& options);

/// Converts a JSON object with options of a prediction to PredictOptions.
Result<PredictOptions> predict_options(const nlohmann::json& options);

/// Options of lehr_program_score().
struct ScoreOptions {
  std::optional<double> holdout;  // proportion of each item's observations that is scored; nothing: the default
  std::uint64_t seed = 1;         // seed of the choice of observations to score
  bool per_item = false;          // true with "per": "item", for the density of each item too
};
/// Converts a JSON object with options of a score to ScoreOptions.
Result<ScoreOptions> score_options(const nlohmann::json& options);

/// Options of lehr_program_simulate(), which reads `seed` and `sizes`, and of draws from the factors of a fit
/// (lehr_fit_arrays), which read `draws` and `seed`. Either function accepts the option that only the other one reads,
/// and ignores it.
struct DrawOptions {
  std::int64_t draws = 1000;                       // number of draws
  std::uint64_t seed = 1;                          // seed of the random numbers
  std::map<std::string, std::int64_t> sizes = {};  // numbers of elements of plates that the data do not size
};
/// Converts a JSON object with options of a simulation, or of draws from a posterior, to DrawOptions.
Result<DrawOptions> draw_options(const nlohmann::json& options);

}  // namespace lehr
