// Converts JSON objects to options. Each option has an OptionReader, which checks and stores its value; unknown names
// are errors.
#include "compiler/library/c_options.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>

namespace lehr {
namespace {

using nlohmann::json;

/// Returns a JSON value as it would be typed on a command line; nothing for lists and objects.
std::optional<std::string> typed(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

/// Makes the error that a value has the wrong type.
Error untyped(const std::string& name) {
  return usage_error(name, "the value is neither a number, nor text, nor a truth");
}

using Sizes = std::map<std::string, std::int64_t>;

/// Reads whole numbers by plate. If `more` is not null, the text "+5" goes there as 5.
std::optional<Error> read_plate_sizes(const std::string& where, const json& value, Sizes& to, Sizes* more) {
  if (!value.is_object()) return usage_error(where, "sizes are numbers by the names of plates");
  for (const auto& [plate, size] : value.items()) {
    const std::string text = size.is_string() ? size.get<std::string>() : size.dump();
    const bool further = more && size.is_string() && text.starts_with('+');
    const bool whole = size.is_number_integer() || further;
    const auto* const end = text.data() + text.size();
    std::int64_t n = -1;
    const auto read = std::from_chars(text.data() + (further ? 1 : 0), end, n);
    if (!whole || read.ec != std::errc() || read.ptr != end || n < 0)
      return usage_error(where, fmt::format("'{}' is not a size", size.dump()));
    (further ? *more : to)[plate] = n;
  }
  return std::nullopt;
}

/// An option's name, and the function that reads its value.
struct OptionReader {
  std::string name;
  std::function<std::optional<Error>(const json&)> take;
};

/// Returns the reader of a number in a range.
template <class T>
OptionReader number(std::string name, T& to, const OptionRange& range) {
  const auto take = [name, &to, range](const json& value) -> std::optional<Error> {
    const std::optional<std::string> text = typed(value);
    if (!text) return untyped(name);
    if (range.whole) {
      const Result<std::uint64_t> x = whole_option(name, *text, range);
      if (!x) return x.error();
      to = static_cast<T>(*x);
    } else {
      const Result<double> x = number_option(name, *text, range);
      if (!x) return x.error();
      to = static_cast<T>(*x);
    }
    return std::nullopt;
  };
  return {std::move(name), take};
}

/// Returns the reader of sizes of plates.
OptionReader sizes(std::string name, Sizes& to, Sizes* more = nullptr) {
  const auto take = [name, &to, more](const json& value) { return read_plate_sizes(name, value, to, more); };
  return {std::move(name), take};
}

/// Reads all options of an object.
std::optional<Error> read_options(const json& options, const std::vector<OptionReader>& takers) {
  std::vector<std::string> names;
  for (const OptionReader& t : takers)
    names.push_back(t.name);
  for (const auto& [name, value] : options.items()) {
    if (value.is_null()) continue;
    const auto taker = std::ranges::find(takers, name, &OptionReader::name);
    if (taker == takers.end()) return unknown_option(name, names);
    if (std::optional<Error> e = taker->take(value)) return e;
  }
  return std::nullopt;
}

}  // namespace

Result<json> parse_object(const char* text, const std::string& name) {
  json out = text ? json::parse(text, nullptr, false) : json::object();
  if (!out.is_object()) return usage_error(name, "not an object of JSON");
  return out;
}

Result<CompileOptions> compile_options(const json& settings) {
  CompileOptions out;
  const auto text = [&](const json& value) -> std::optional<Error> {
    if (!value.is_string()) return usage_error("name", "not text");
    out.name = value.get<std::string>();
    return std::nullopt;
  };
  const auto constants = [&](const json& value) -> std::optional<Error> {
    if (!value.is_object()) return usage_error("constants", "constants are numbers by their names");
    for (const auto& [name, x] : value.items()) {
      if (!x.is_number()) return usage_error("constants", fmt::format("'{}' is not a number", x.dump()));
      out.constants[name] = x.get<double>();
    }
    return std::nullopt;
  };
  const auto labels = [&](const json& value) -> std::optional<Error> {
    if (!value.is_object()) return usage_error("labels", "labels are lists of text by the names of plates");
    for (const auto& [plate, names] : value.items()) {
      const auto is_text = [](const json& label) { return label.is_string(); };
      if (!names.is_array() || !std::ranges::all_of(names, is_text))
        return usage_error("labels", fmt::format("those of '{}' are not a list of text", plate));
      out.labels[plate] = names.get<std::vector<std::string>>();
    }
    return std::nullopt;
  };
  if (auto e = read_options(settings,
                            {{"name", text}, {"constants", constants}, sizes("sizes", out.sizes), {"labels", labels}}))
    return *e;
  return out;
}

Result<NamedOptions> named_options(const json& options) {
  NamedOptions out;
  for (const auto& [name, value] : options.items()) {
    if (value.is_null()) continue;
    const std::optional<std::string> text = typed(value);
    if (!text) return untyped(name);
    out[name] = *text;
  }
  return out;
}

Result<PredictOptions> predict_options(const json& options) {
  PredictOptions out;
  if (auto e = read_options(options, {number("draws", out.draws, kDrawsRange), number("seed", out.seed, kSeedRange),
                                      number("local_iters", out.local_iterations, kLocalIterationsRange),
                                      number("local_tol", out.local_tolerance, kToleranceRange),
                                      sizes("sizes", out.sizes, &out.more), sizes("more", out.more)}))
    return *e;
  return out;
}

Result<ScoreOptions> score_options(const json& options) {
  ScoreOptions out;
  double holdout = 0;
  const auto per = [&](const json& value) -> std::optional<Error> {
    out.per_item = value == "item";
    return out.per_item ? std::nullopt : std::optional(usage_error("per", "the one value is item"));
  };
  if (auto e = read_options(
          options, {number("holdout", holdout, kProportionRange), number("seed", out.seed, kSeedRange), {"per", per}}))
    return *e;
  if (holdout > 0) out.holdout = holdout;
  return out;
}

Result<DrawOptions> draw_options(const json& options) {
  DrawOptions out;
  if (auto e = read_options(options, {number("draws", out.draws, kScheduleRange), number("seed", out.seed, kSeedRange),
                                      sizes("sizes", out.sizes)}))
    return *e;
  return out;
}

}  // namespace lehr
