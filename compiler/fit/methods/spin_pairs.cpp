// Every term is evaluated at all values of the one or two elements that it reads, which the evaluator names.
#include "compiler/fit/methods/spin_pairs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "compiler/evaluate/forward.h"
#include "compiler/evaluate/observation.h"

namespace lehr {
namespace {

using namespace model;

/// Collects the terms of a model.
class Terms {
 public:
  Terms(const Model& m, const BoundData& data) : m_(m), data_(data), forward_(m, data) {
    for (std::size_t k = 0; k < m.variables.size(); ++k) {
      first_.push_back(out_.spins);
      if (is_latent(m.variables[k])) out_.spins += static_cast<std::int64_t>(forward_.elements(VariableId(k)));
    }
    out_.fields.assign(static_cast<std::size_t>(out_.spins), 0);
  }

  /// Adds all terms. Returns false if one has no such form.
  bool add_all() {
    bool all = true;
    for (const Statement& s : m_.statements) {
      IndexValues at = forward_.origin();
      forward_.each(s.index_vars, at, [&] {
        if (!all) return;
        const double copies = multiplicity_of(m_, data_, s, at);
        std::vector<Element> own;
        if (is_latent(m_[s.variable])) own.push_back(forward_.element(s, at));
        else if (std::isnan(forward_.values(forward_.element(s, at))[0])) return;
        all = add(own, [&] { return copies * forward_.log_density(s, at); });
      });
    }
    for (const Potential& p : m_.potentials) {
      IndexValues at = forward_.origin();
      forward_.each(p.index_vars, at, [&] { all = all && add({}, [&] { return forward_.entry(p.value, at); }); });
    }
    return all;
  }

  /// Returns the sum of the terms.
  SpinPairs result() {
    for (const auto& [ends, coupling] : couplings_)
      out_.bonds.push_back({ends.first, ends.second, coupling});
    return std::move(out_);
  }

 private:
  /// Adds a term that reads the elements `read`, and others that the evaluator names. They stay unknown.
  template <class Value>
  bool add(std::vector<Element> read, const Value& value) {
    const auto set = [&](std::size_t k, std::size_t state) {
      forward_.values(read[k])[0] = forward_.state(read[k].variable, state);
    };
    for (std::size_t k = 0; k < read.size(); ++k)
      set(k, 0);
    for (forward_.clear(), value(); forward_.unknown() && read.size() < 3; forward_.clear(), value()) {
      read.push_back(*forward_.unknown());
      set(read.size() - 1, 0);
    }
    bool fits = read.size() < 3;
    double f[2][2] = {};  // by the state of the first element and of the second
    for (std::size_t i = 0; i < 2 && fits; ++i) {
      for (std::size_t j = 0; j < 2; ++j) {
        if (!read.empty()) set(0, i);
        if (read.size() > 1) set(1, j);
        forward_.clear();
        f[i][j] = value();
        fits = fits && std::isfinite(f[i][j]) && !forward_.unknown();
      }
    }
    for (const Element& e : read)
      forward_.values(e)[0] = std::numeric_limits<double>::quiet_NaN();
    if (!fits || read.empty()) return fits;
    const auto number = [&](std::size_t k) {
      return first_[read[k].variable.index()] + static_cast<std::int64_t>(read[k].position);
    };
    out_.fields[static_cast<std::size_t>(number(0))] += (f[1][0] + f[1][1] - f[0][0] - f[0][1]) / 4;
    if (read.size() == 1) return true;
    out_.fields[static_cast<std::size_t>(number(1))] += (f[0][1] + f[1][1] - f[0][0] - f[1][0]) / 4;
    couplings_[std::minmax(number(0), number(1))] += (f[1][1] + f[0][0] - f[0][1] - f[1][0]) / 4;
    return true;
  }

  const Model& m_;
  const BoundData& data_;
  ModelEvaluator forward_;
  std::vector<std::int64_t> first_;  // number of the first element of each variable
  std::map<std::pair<std::int64_t, std::int64_t>, double> couplings_;
  SpinPairs out_;
};

}  // namespace

std::optional<SpinPairs> spin_pairs(const Model& m, const BoundData& data) {
  const auto has_form = [](const Variable& v) {
    const bool binary = v.support == math::Support::spin || v.support == math::Support::bit;
    return !v.auxiliary && (v.observed || (binary && !v.clamped));
  };
  const auto counts = [&](const Potential& p) {
    return std::ranges::any_of(p.index_vars, [&](IndexVarId b) { return m[m[m[b].plate].set].times.has_value(); });
  };
  if (!std::ranges::all_of(m.variables, has_form) || std::ranges::any_of(m.potentials, counts)) return std::nullopt;
  Terms terms(m, data);
  if (!terms.add_all()) return std::nullopt;
  return terms.result();
}

std::vector<std::vector<double>> values_of_spins(const Model& m, const BoundData& data,
                                                 const std::vector<double>& spins) {
  const ModelEvaluator forward(m, data);
  std::vector<std::vector<double>> out(m.variables.size());
  auto from = spins.begin();
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (!is_latent(m.variables[k])) continue;
    for (std::size_t n = forward.elements(VariableId(k)); n > 0; --n)
      out[k].push_back(m.variables[k].support == math::Support::spin ? *from++ : (1 + *from++) / 2);
  }
  return out;
}

}  // namespace lehr
