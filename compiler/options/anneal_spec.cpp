// Parsers of schedules: a kind, a colon, and name=value pairs. Every field that is recognised is removed from the list,
// and what remains at the end is an error.
#include "compiler/options/anneal_spec.h"

#include <fmt/format.h>

#include <map>

#include "compiler/options/option_ranges.h"
#include "runtime/files/atomic_file.h"
#include "runtime/search/random_start.h"

namespace lehr {
namespace {

/// Values by name.
using Fields = std::map<std::string, std::string>;

/// Makes an error about the value of `temper`, with examples.
Error wrong_temper(const std::string& text, const std::string& why) {
  return {ExitCode::usage,
          option("temper"),
          fmt::format("'{}': {}", text, why),
          {"global:max=10,levels=100   one latent temperature, 100 levels from 1 to 10",
           "local:max=1.5,levels=25    one for each item of the data",
           "normaliser=auto|prior|posterior, every=N sweeps between its updates, draws=N of the prior",
           "spacing=geometric|inverse: levels of T, or of 1/T at even distances",
           "global:levels=24           method gibbs: states at 24 temperatures, and the log evidence"}};
}

/// Makes an error about the value of `anneal`, with examples.
Error wrong(const std::string& text, const std::string& why) {
  return {ExitCode::usage,
          option("anneal"),
          fmt::format("'{}': {}", text, why),
          {"linear:from=10,over=100   temperature from 10 to 1 over 100 sweeps; also exp:...",
           "file:temperatures.txt     one temperature a line, one line a sweep",
           "entropy:from=10,over=100  entropies instead of the terms of the data",
           "stochastic:rho=0.25,over=50   random starts mixed in, ever less; or decay=0.9; noise=means",
           "scope=local or scope=global after a comma: only blocks of the items, or only the others",
           "auto, auto:full, auto:sweeps=2000   no schedule: measured and chosen"}};
}

/// Splits text at any of the separators, without empty pieces.
std::vector<std::string> pieces(std::string_view text, std::string_view separators) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(separators);
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return out;
}

/// Parses name=value pairs; nothing if a piece has no `=`, or if a name occurs twice.
std::optional<Fields> fields(const std::string& text) {
  Fields out;
  for (const std::string& piece : pieces(text, ",")) {
    const std::size_t at = piece.find('=');
    if (at == std::string::npos || !out.emplace(piece.substr(0, at), piece.substr(at + 1)).second) return std::nullopt;
  }
  return out;
}

/// A parsed field: its number, or the text of an error.
struct ParsedField {
  std::optional<double> number;  // nothing if the field is absent or wrong
  std::string wrong;             // empty if all is well
};

/// Removes a field from the list and parses it as a number in the range.
ParsedField parse_field(Fields& f, const std::string& name, const OptionRange& range) {
  const auto field = f.extract(name);
  if (field.empty()) return {};
  const std::optional<double> x = number_in(range, field.mapped());
  return {x, x ? "" : fmt::format("{} is {}", name, describe(range))};
}

/// Parses what follows `auto:`.
Result<AnnealSpec> automatic(const std::string& text, const std::string& rest) {
  AutoAnneal out;
  if (rest.empty() || rest == "quick") return AnnealSpec(out);
  out.cycles = true;
  if (rest == "full") return AnnealSpec(out);
  auto f = fields(rest);
  const ParsedField sweeps = f ? parse_field(*f, "sweeps", kScheduleRange) : ParsedField{};
  if (!sweeps.wrong.empty()) return wrong(text, sweeps.wrong);
  if (!sweeps.number || !f->empty()) return wrong(text, "auto takes quick, full or sweeps=N");
  out.sweeps = static_cast<std::int64_t>(*sweeps.number);
  return AnnealSpec(out);
}

/// Reads temperatures from a file.
Result<std::vector<double>> temperatures(const std::string& text, const std::string& path) {
  const Result<std::string> bytes = read_file(path);
  if (!bytes) return wrong(text, fmt::format("cannot read '{}'", path));
  std::vector<double> out;
  for (const std::string& word : pieces(*bytes, " \t\r\n")) {
    const std::optional<double> t = number_in(kTemperatureRange, word);
    if (!t)
      return wrong(text,
                   fmt::format("'{:.40}' in '{}' is no temperature: {}", word, path, describe(kTemperatureRange)));
    out.push_back(*t);
  }
  if (out.empty()) return wrong(text, fmt::format("'{}' is not a list of temperatures", path));
  return out;
}

/// Parses the fields of stochastic annealing: the weight of the random start, and its kind.
std::optional<Error> read_stochastic(const std::string& text, Fields& f, Annealing& a) {
  a.kind = Annealing::Kind::stochastic;
  const ParsedField rho = parse_field(f, "rho", kProportionRange), decay = parse_field(f, "decay", kProportionRange);
  if (!rho.wrong.empty() || !decay.wrong.empty()) return wrong(text, rho.wrong.empty() ? decay.wrong : rho.wrong);
  if (rho.number.has_value() == decay.number.has_value()) return wrong(text, "one of rho=X and decay=X is needed");
  (rho.number ? a.from : a.decay) = rho.number ? *rho.number : *decay.number;
  const auto noise = f.extract("noise");
  const std::string kind = noise.empty() ? "dirichlet" : noise.mapped();
  a.noise_counts = kind == "dirichlet";
  if (a.noise_counts || kind == "start") return std::nullopt;
  a.noise_start = start_kind(kind);
  if (!a.noise_start) return wrong(text, "noise is dirichlet, start, seeds, points, allocations, means or flat");
  return std::nullopt;
}

/// Parses the fields of linear, exp, entropy and stochastic.
std::optional<Error> read_kind(const std::string& text, const std::string& name, Fields& f, Annealing& a) {
  if (name != "linear" && name != "exp" && name != "entropy" && name != "stochastic")
    return wrong(text, fmt::format("'{}' is not a kind of annealing", name));
  const ParsedField over = parse_field(f, "over", kScheduleRange);
  if (!over.number) return wrong(text, over.wrong.empty() ? "over=N says how many sweeps it lasts" : over.wrong);
  a.over = static_cast<std::int64_t>(*over.number);
  if (name == "stochastic") return read_stochastic(text, f, a);
  if (name == "exp") a.shape = Annealing::Shape::exponential;
  if (name == "entropy") {
    a.kind = Annealing::Kind::entropy;
    const auto shape = f.extract("shape");
    if (!shape.empty() && shape.mapped() != "exp" && shape.mapped() != "linear")
      return wrong(text, "shape is linear or exp");
    if (!shape.empty() && shape.mapped() == "exp") a.shape = Annealing::Shape::exponential;
  }
  const ParsedField from = parse_field(f, "from", kTemperatureRange);
  if (!from.number) return wrong(text, from.wrong.empty() ? "from=T is the first temperature, at least 1" : from.wrong);
  a.from = *from.number;
  return std::nullopt;
}

}  // namespace

Result<AnnealSpec> parse_anneal(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon), rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (name == "auto") return automatic(text, rest);
  Annealing a;
  Fields f;
  if (name == "file") {
    const std::size_t comma = rest.find(',');
    Result<std::vector<double>> listed = temperatures(text, rest.substr(0, comma));
    if (!listed) return listed.error();
    a.shape = Annealing::Shape::listed;
    a.listed = std::move(*listed);
    a.over = static_cast<std::int64_t>(a.listed.size());
    if (comma != std::string::npos) {
      const auto more = fields(rest.substr(comma + 1));
      if (!more) return wrong(text, "after the file only name=value");
      f = *more;
    }
  } else {
    const auto all = fields(rest);
    if (!all) return wrong(text, "expected name=value, separated by commas, each name once");
    f = *all;
    if (std::optional<Error> e = read_kind(text, name, f, a)) return *e;
  }
  if (const auto scope = f.find("scope"); scope != f.end()) {
    if (scope->second == "local") a.scope = Annealing::Scope::local;
    else if (scope->second == "global") a.scope = Annealing::Scope::global;
    else if (scope->second != "all") return wrong(text, "scope is local, global or all");
    f.erase(scope);
  }
  if (!f.empty()) return wrong(text, fmt::format("'{}' is unknown here", f.begin()->first));
  return AnnealSpec(std::move(a));
}

Result<TemperSettings> parse_temper(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string scope = text.substr(0, colon);
  if (scope != "global" && scope != "local")
    return wrong_temper(text, "the temperature that can be latent is global, or local: one for each item");
  auto f = fields(colon == std::string::npos ? "" : text.substr(colon + 1));
  if (!f) return wrong_temper(text, "expected name=value, separated by commas, each name once");
  TemperSettings out;
  if (scope == "local") {
    out.local = true;
    out.max_temperature = 1.5;
    out.levels = 25;
  }
  const auto set = [&](const char* name, const OptionRange& range, auto& to) {
    const ParsedField x = parse_field(*f, name, range);
    if (x.number) to = static_cast<std::int64_t>(*x.number);
    return x.wrong;
  };
  const ParsedField max_temperature = parse_field(*f, "max", kHottestRange);
  out.max_temperature = max_temperature.number.value_or(out.max_temperature);
  for (const std::string& why : {max_temperature.wrong, set("levels", kLevelsRange, out.levels),
                                 set("every", kScheduleRange, out.every), set("draws", kDrawsRange, out.draws)}) {
    if (!why.empty()) return wrong_temper(text, why);
  }
  if (const auto kind = f->find("normaliser"); kind != f->end()) {
    if (kind->second == "prior") out.normaliser = NormaliserKind::prior;
    else if (kind->second == "posterior") out.normaliser = NormaliserKind::posterior;
    else if (kind->second != "auto") return wrong_temper(text, "normaliser is auto, prior or posterior");
    f->erase(kind);
  }
  if (const auto spacing = f->extract("spacing")) {
    out.even_inverse = spacing.mapped() == "inverse";
    if (!out.even_inverse && spacing.mapped() != "geometric")
      return wrong_temper(text, "spacing is geometric or inverse");
  }
  if (out.local && out.normaliser == NormaliserKind::prior)
    return wrong_temper(text, "an item's normaliser is that under the factors");
  if (!f->empty()) return wrong_temper(text, fmt::format("'{}' is unknown here", f->begin()->first));
  return out;
}

Result<std::int64_t> parse_gibbs_temperatures(const std::string& text) {
  constexpr std::int64_t kLevels = 24;
  const std::size_t colon = text.find(':');
  auto f = fields(colon == std::string::npos ? "" : text.substr(colon + 1));
  if (text.substr(0, colon) != "global" || !f)
    return wrong_temper(text, "with method gibbs: global, or global:levels=24");
  const ParsedField levels = parse_field(*f, "levels", kGibbsTemperaturesRange);
  if (!levels.wrong.empty()) return wrong_temper(text, levels.wrong);
  if (!f->empty())
    return wrong_temper(text, fmt::format("'{}' is unknown with method gibbs: its temperatures go up to that of the "
                                          "prior, and are placed by the warmup",
                                          f->begin()->first));
  return levels.number ? static_cast<std::int64_t>(*levels.number) : kLevels;
}

}  // namespace lehr
