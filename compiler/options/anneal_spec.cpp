#include "compiler/options/anneal_spec.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <sstream>

#include "compiler/instance/start.h"

namespace lehr {
namespace {

using Fields = std::map<std::string, std::string>;

Error wrong_temper(const std::string& text, const std::string& why) {
  return {ExitCode::usage,
          "--temper",
          fmt::format("'{}': {}", text, why),
          {"global:max=10,levels=100   one latent temperature, 100 levels from 1 to 10",
           "local:max=1.5,levels=25    one for each item of the data",
           "normaliser=auto|prior|posterior, every=N sweeps between its updates, draws=N of the prior"}};
}

Error wrong(const std::string& text, const std::string& why) {
  return {ExitCode::usage,
          "--anneal",
          fmt::format("'{}': {}", text, why),
          {"linear:from=10,over=100   temperature from 10 to 1 over 100 sweeps; also exp:...",
           "file:temperatures.txt     one temperature a line, one line a sweep",
           "entropy:from=10,over=100  entropies instead of the terms of the data",
           "stochastic:rho=0.25,over=50   random starts mixed in, ever less; or decay=0.9; noise=means",
           "scope=local or scope=global after a comma: only blocks of the items, or only the others",
           "auto, auto:full, auto:sweeps=2000   no schedule: measured and chosen"}};
}

/// name=value pairs; nothing when a piece has no `=`.
std::optional<Fields> fields(const std::string& text) {
  Fields out;
  std::stringstream in(text);
  for (std::string piece; std::getline(in, piece, ',');) {
    const std::size_t at = piece.find('=');
    if (at == std::string::npos) return std::nullopt;
    out[piece.substr(0, at)] = piece.substr(at + 1);
  }
  return out;
}

std::optional<double> number(const Fields& f, const std::string& name) {
  const auto it = f.find(name);
  if (it == f.end()) return std::nullopt;
  try {
    std::size_t used = 0;
    const double x = std::stod(it->second, &used);
    if (used == it->second.size()) return x;
  } catch (const std::exception&) {
  }
  return std::nan("");
}

Result<AnnealSpec> automatic(const std::string& text, const std::string& rest) {
  AutoAnneal out;
  if (rest.empty() || rest == "quick") return AnnealSpec(out);
  out.cycles = true;
  if (rest == "full") return AnnealSpec(out);
  const auto f = fields(rest);
  const auto sweeps = f ? number(*f, "sweeps") : std::nullopt;
  if (!sweeps || f->size() != 1 || !(*sweeps >= 1)) return wrong(text, "auto takes quick, full or sweeps=N");
  out.sweeps = static_cast<std::int64_t>(*sweeps);
  return AnnealSpec(out);
}

Result<std::vector<double>> temperatures(const std::string& text, const std::string& path) {
  std::ifstream in(path);
  if (!in) return wrong(text, fmt::format("cannot read '{}'", path));
  std::vector<double> out;
  for (double t = 0; in >> t;) {
    if (!(t >= 1)) return wrong(text, fmt::format("temperature {} is below 1", t));
    out.push_back(t);
  }
  if (!in.eof() || out.empty()) return wrong(text, fmt::format("'{}' is not a list of temperatures", path));
  return out;
}

}  // namespace

Result<AnnealSpec> parse_anneal(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon),
                    rest = colon == std::string::npos ? "" : text.substr(colon + 1);
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
    if (!all) return wrong(text, "expected name=value, separated by commas");
    f = *all;
    if (name == "linear" || name == "exp" || name == "entropy" || name == "stochastic") {
      const auto over = number(f, "over");
      if (!over || !(*over >= 1)) return wrong(text, "over=N says how many sweeps it lasts");
      a.over = static_cast<std::int64_t>(*over);
    } else {
      return wrong(text, fmt::format("'{}' is not a kind of annealing", name));
    }
    if (name == "exp") a.shape = Annealing::Shape::exponential;
    if (name == "entropy") {
      a.kind = Annealing::Kind::entropy;
      if (f.contains("shape")) {
        if (f["shape"] != "exp" && f["shape"] != "linear") return wrong(text, "shape is linear or exp");
        if (f["shape"] == "exp") a.shape = Annealing::Shape::exponential;
        f.erase("shape");
      }
    }
    if (name == "stochastic") {
      a.kind = Annealing::Kind::stochastic;
      const auto rho = number(f, "rho"), decay = number(f, "decay");
      if (rho.has_value() == decay.has_value()) return wrong(text, "one of rho=X and decay=X is needed");
      const double x = rho ? *rho : *decay;
      if (!(x > 0 && x < 1)) return wrong(text, "the share of the random start is between 0 and 1");
      (rho ? a.from : a.decay) = x;
      if (const auto noise = f.find("noise"); noise != f.end()) {
        a.noise_start = start_kind(noise->second);
        if (!a.noise_start) return wrong(text, "noise is seeds, points, allocations, means or flat");
        f.erase(noise);
      }
    } else {
      const auto from = number(f, "from");
      if (!from || !(*from >= 1)) return wrong(text, "from=T is the first temperature, at least 1");
      a.from = *from;
    }
    for (const char* known : {"from", "over", "rho", "decay"})
      f.erase(known);
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
  if (!f) return wrong_temper(text, "expected name=value, separated by commas");
  TemperSettings out;
  if (scope == "local") {
    out.local = true;
    out.hottest = 1.5;
    out.levels = 25;
  }
  const auto take = [&](const char* name, double least, auto& into) {
    const auto x = number(*f, name);
    if (x && !(*x >= least)) return false;
    if (x) into = static_cast<std::decay_t<decltype(into)>>(*x);
    f->erase(name);
    return true;
  };
  if (!take("max", 1.0001, out.hottest)) return wrong_temper(text, "max is a temperature above 1");
  if (!take("levels", 2, out.levels))
    return wrong_temper(text, "levels is a number of temperatures, at least 2");
  if (!take("every", 1, out.every)) return wrong_temper(text, "every is a number of sweeps");
  if (!take("draws", 2, out.draws)) return wrong_temper(text, "draws is at least 2");
  if (const auto kind = f->find("normaliser"); kind != f->end()) {
    if (kind->second == "prior") out.normaliser = NormaliserKind::prior;
    else if (kind->second == "posterior") out.normaliser = NormaliserKind::posterior;
    else if (kind->second != "auto") return wrong_temper(text, "normaliser is auto, prior or posterior");
    f->erase(kind);
  }
  if (out.local && out.normaliser == NormaliserKind::prior)
    return wrong_temper(text, "an item's normaliser is that under the factors");
  if (!f->empty()) return wrong_temper(text, fmt::format("'{}' is unknown here", f->begin()->first));
  return out;
}

namespace {

Error misused(const std::string& option, const std::string& text, std::vector<std::string> notes = {}) {
  return {ExitCode::usage, option, text, std::move(notes)};
}

}  // namespace

Result<Method> read_method(bool svi, const std::string& anneal, const std::string& temper) {
  Method out;
  out.svi = svi;
  if (!temper.empty()) {
    const Result<TemperSettings> settings = parse_temper(temper);
    if (!settings) return settings.error();
    if (!anneal.empty())
      return misused("--temper", "the temperature is either latent or annealed: leave out --anneal");
    out.temper = *settings;
  }
  if (anneal.empty()) return out;
  Result<AnnealSpec> spec = parse_anneal(anneal);
  if (!spec) return spec.error();
  out.anneal = std::move(*spec);
  if (!svi) return out;
  if (const auto* automatic = std::get_if<AutoAnneal>(&*out.anneal)) {
    if (!automatic->cycles) return out;
    return misused("--anneal", "with --method svi there is one automatic schedule: auto",
                   {"--epochs says how many steps it has, those that look for the temperature included"});
  }
  if (std::get<Annealing>(*out.anneal).kind == Annealing::Kind::stochastic)
    return misused("--anneal",
                   "stochastic annealing goes with --method cavi: steps of svi are noisy by themselves");
  return out;
}

}  // namespace lehr
