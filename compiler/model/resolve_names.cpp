// Manages names: there is one namespace, each name is declared once, and messages about unknown names suggest what was
// meant.
#include <algorithm>
#include <map>

#include "compiler/model/resolver.h"

namespace lehr::model {
namespace {

/// Returns the edit distance with swaps of neighbouring letters (Damerau-Levenshtein, optimal string alignment). Long
/// words are not compared.
std::size_t distance(const std::string& a, const std::string& b) {
  if (a.size() > 64 || b.size() > 64) return a == b ? 0 : 64;
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j)
    d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

/// Returns the word with ASCII letters in lower case.
std::string lower(std::string s) {
  for (char& c : s)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return s;
}

/// Returns the name in this language of a function or distribution that another language calls `name`.
std::optional<std::string> name_in_this_language(const std::string& name) {
  static const std::map<std::string, std::string> kNames = {{"sigmoid", "logistic"},
                                                            {"expit", "logistic"},
                                                            {"inv_logit", "logistic"},
                                                            {"invlogit", "logistic"},
                                                            {"phi", "probit"},
                                                            {"gaussian", "Normal"},
                                                            {"multivariatenormal", "MvNormal"},
                                                            {"discrete", "Categorical"},
                                                            {"multinoulli", "Categorical"},
                                                            {"bern", "Bernoulli"},
                                                            {"student", "StudentT"},
                                                            {"cumsum", "cumulative"},
                                                            {"cumulative_sum", "cumulative"},
                                                            {"negbin", "NegativeBinomial"},
                                                            {"ising", "Spin"},
                                                            {"inner_product", "dot"},
                                                            {"inner", "dot"},
                                                            {"ln", "log"},
                                                            {"length", "size"}};
  const auto found = kNames.find(lower(name));
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

/// Returns how to write a function or distribution of other languages that has no name here.
std::optional<std::string> notation_hint(const std::string& name) {
  constexpr const char* kOrdered = "`observe y[n] ~ Categorical(ordered_logistic(e[n], c))`";
  static const std::map<std::string, const char*> kLines = {
      {"cauchy", "it is `StudentT(df = 1, mean = 0, sd = 1)` here"},
      {"orderedlogistic", kOrdered},
      {"orderedlogit", kOrdered},
      {"orderedprobit", "`u[n] ~ Normal(mean = e[n], precision = tau) above low[y[n]] below high[y[n]]`"},
      {"ordered_probit", "`u[n] ~ Normal(mean = e[n], precision = tau) above low[y[n]] below high[y[n]]`"}};
  const auto found = kLines.find(lower(name));
  return found == kLines.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<std::string> nearest(const std::string& name, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  // A name is near if no more than a third of its letters differ.
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate == name) continue;
    const std::size_t d = std::min(distance(name, candidate), distance(lower(name), lower(candidate)));
    if (d < best_distance && d < std::max(name.size(), candidate.size())) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

void suggest(Diagnostic& diagnostic, const std::string& name, const std::vector<std::string>& candidates) {
  if (const auto translation = name_in_this_language(name);
      translation && std::ranges::find(candidates, *translation) != candidates.end()) {
    diagnostic.note(fmt::format("its name is '{}' here", *translation));
    return;
  }
  if (const auto line = notation_hint(name)) {
    diagnostic.note(*line);
    return;
  }
  if (const auto near = nearest(name, candidates)) diagnostic.note(fmt::format("did you mean '{}'?", *near));
}

void suggest(const Resolver& r, Diagnostic& diagnostic, const std::string& name, std::optional<SymbolKind> kind) {
  constexpr std::size_t kSuggestions = 20;
  if (r.diagnostics.all().size() <= kSuggestions) suggest(diagnostic, name, names_of(r, kind));
}

std::vector<std::string> names_of(const Resolver& r, std::optional<SymbolKind> kind) {
  std::vector<std::string> out;
  for (const auto& [name, symbol] : r.names) {
    if (!kind || symbol.kind == *kind) out.push_back(name);
  }
  return out;
}

Symbol* find(Resolver& r, const std::string& name) {
  const auto it = r.names.find(name);
  if (it == r.names.end()) return nullptr;
  it->second.used = true;
  return &it->second;
}

bool declare(Resolver& r, const ast::Name& name, SymbolKind kind, std::size_t index) {
  const auto [it, fresh] = r.names.try_emplace(name.text, Symbol{kind, index, name.span});
  if (fresh) return true;
  it->second.used = true;
  Diagnostic& d = r.diagnostics.add(DiagnosticKind::duplicate_name, name.span, name.text);
  d.note("the first declaration is here", it->second.span);
  if (kind == SymbolKind::variable && it->second.kind == SymbolKind::given) {
    d.note("`observe` declares its data itself: delete the `data` line");
  }
  return false;
}

std::optional<PlateId> plate_named(Resolver& r, const ast::Name& name) {
  const Symbol* symbol = find(r, name.text);
  if (symbol && symbol->kind == SymbolKind::plate) return PlateId(symbol->index);
  Diagnostic& d = r.diagnostics.add(DiagnosticKind::unknown_plate, name.span, name.text);
  if (symbol) {
    d.note(fmt::format("'{}' is declared here", name.text), symbol->span);
  } else {
    suggest(r, d, name.text, SymbolKind::plate);
  }
  return std::nullopt;
}

std::optional<std::vector<PlateId>> resolve_axes(Resolver& r, const std::vector<ast::Name>& axes,
                                                 const std::string& owner) {
  std::vector<PlateId> out;
  bool ok = true;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto plate = plate_named(r, axes[i]);
    if (!plate) {
      ok = false;
      out.emplace_back();
      continue;
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[j].text != axes[i].text) continue;
      r.diagnostics.add(DiagnosticKind::repeated_axis, axes[i].span, axes[i].text, owner)
          .note(fmt::format(
              "for two indices over one set declare an alias: `plate {0}2 = {0}` and write {0}2 for one of them",
              axes[i].text));
      ok = false;
      break;
    }
    const PlateId set = resolve_alias(r.model, *plate);
    if (const auto parent = r.model[set].parent) {
      const bool preceded = i > 0 && out[i - 1].valid() && out[i - 1] == resolve_alias(r.model, *parent);
      if (!preceded && (i == 0 || out[i - 1].valid())) {
        const std::string& parent_name = r.model[resolve_alias(r.model, *parent)].name;
        r.diagnostics.add(DiagnosticKind::orphan_axis, axes[i].span, axes[i].text, parent_name)
            .note(fmt::format("write {}[{}, {}]", owner, parent_name, axes[i].text));
        ok = false;
      }
    }
    out.push_back(set);
  }
  if (!ok) return std::nullopt;
  return out;
}

}  // namespace lehr::model
