// Options and settings of C, which are objects of JSON. What is malformed is an Error of ExitCode::usage.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/library/lehr.h"
#include "compiler/options/named_options.h"

namespace lehr {

/// Null is an empty object.
Result<nlohmann::json> parse_object(const char* text, const std::string& what);

Result<CompileOptions> compile_options(const nlohmann::json& settings);

/// Members as they are typed on a command line: numbers by their digits; null is not said.
Result<NamedOptions> named_options(const nlohmann::json& options);

Result<PredictOptions> predict_options(const nlohmann::json& options);

struct ScoreOptions {
  std::optional<double> holdout;
  std::uint64_t seed = 1;
};
Result<ScoreOptions> score_options(const nlohmann::json& options);

struct DrawOptions {
  std::int64_t draws = 1000;
  std::uint64_t seed = 1;
  std::map<std::string, std::int64_t> sizes = {};
};
Result<DrawOptions> draw_options(const nlohmann::json& options);

}  // namespace lehr
