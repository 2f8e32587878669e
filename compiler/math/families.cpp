// The table: the rows of the three groups in one vector, and questions about it.
#include "compiler/math/family.h"

#include <algorithm>

#include "compiler/math/rows.h"

namespace lehr::math {

bool is_discrete(Support s) { return s == Support::category || s == Support::bit || s == Support::spin; }

int event_rank(Support s) {
  switch (s) {
    case Support::real:
    case Support::positive:
    case Support::unit:
    case Support::count:
    case Support::bit:
    case Support::spin:
    case Support::category:
      return 0;
    case Support::simplex:
    case Support::vector:
    case Support::counts:
      return 1;
    case Support::spd_matrix:
      return 2;
  }
  return 0;
}

std::string_view name_of(Support s) {
  switch (s) {
    case Support::real:
      return "real";
    case Support::positive:
      return "positive real";
    case Support::unit:
      return "real in (0, 1)";
    case Support::count:
      return "count";
    case Support::bit:
      return "0 or 1";
    case Support::spin:
      return "-1 or +1";
    case Support::category:
      return "element of a plate";
    case Support::simplex:
      return "simplex";
    case Support::vector:
      return "vector";
    case Support::counts:
      return "vector of counts";
    case Support::spd_matrix:
      return "positive definite matrix";
  }
  return "";
}

int event_rank(Stat s) {
  switch (s) {
    case Stat::value:
    case Stat::square:
    case Stat::log:
    case Stat::inverse:
    case Stat::log1m:
    case Stat::logdet:
    case Stat::weighted_square:
    case Stat::curvature:
    case Stat::offset:
      return 0;
    case Stat::weighted:  // of NormalGamma: 0
    case Stat::indicator:
    case Stat::log_comp:
    case Stat::comp:
      return 1;
    case Stat::comp2:
    case Stat::entry:
      return 2;
  }
  return 0;
}

std::string_view name_of(Stat s) {
  switch (s) {
    case Stat::value:
      return "x";
    case Stat::square:
      return "x^2";
    case Stat::log:
      return "log x";
    case Stat::inverse:
      return "1/x";
    case Stat::log1m:
      return "log(1 - x)";
    case Stat::indicator:
      return "[x = k]";
    case Stat::log_comp:
      return "log x[k]";
    case Stat::comp:
      return "x[j]";
    case Stat::comp2:
      return "x[j] x[l]";
    case Stat::entry:
      return "X[j,l]";
    case Stat::logdet:
      return "log det X";
    case Stat::weighted:
      return "precision * mean";
    case Stat::weighted_square:
      return "mean' * precision * mean";
    case Stat::curvature:
      return "lambda(x)";
    case Stat::offset:
      return "log logistic(x) - x/2 + lambda(x) x^2";
  }
  return "";
}

std::string natural_name(Stat s) {
  switch (s) {
    case Stat::value:
      return "n_value";
    case Stat::square:
      return "n_square";
    case Stat::log:
      return "n_log";
    case Stat::inverse:
      return "n_inverse";
    case Stat::log1m:
      return "n_log1m";
    case Stat::indicator:
      return "n_indicator";
    case Stat::log_comp:
      return "n_log_comp";
    case Stat::comp:
      return "n_comp";
    case Stat::comp2:
      return "n_comp2";
    case Stat::entry:
      return "n_entry";
    case Stat::logdet:
      return "n_logdet";
    case Stat::weighted:
      return "n_weighted";
    case Stat::weighted_square:
      return "n_weighted_square";
    case Stat::curvature:
      return "n_curvature";
    case Stat::offset:
      return "n_offset";
  }
  return "";
}

Expr natural_symbol(Stat s) { return symbol(natural_name(s)); }
Expr natural_symbol(Stat s, Index i) { return symbol(natural_name(s), i); }
Expr natural_symbol(Stat s, Index i, Index j) { return symbol(natural_name(s), i, j); }

const std::vector<FamilyRow>& families() {
  static const std::vector<FamilyRow> kRows = [] {
    std::vector<FamilyRow> all = scalar_families();
    for (auto& row : discrete_families())
      all.push_back(std::move(row));
    for (auto& row : vector_families())
      all.push_back(std::move(row));
    return all;
  }();
  return kRows;
}

const FamilyRow* find_family(std::string_view name) {
  const auto& rows = families();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const FamilyRow& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

const FamilyRow* find_factor_family(std::string_view name) {
  return name == logistic_bound().name ? &logistic_bound() : find_family(name);
}

const FamilyRow* find_joint_family(Support mean, Support precision) {
  const auto& rows = families();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const FamilyRow& row) {
    return row.support == mean && row.joint_precision == precision;
  });
  return found == rows.end() ? nullptr : &*found;
}

const FactorParameter* find_role(const Factor& factor, ParameterRole role) {
  const auto found = std::find_if(factor.parameters.begin(), factor.parameters.end(),
                                  [&](const FactorParameter& p) { return p.exported && p.role == role; });
  return found == factor.parameters.end() ? nullptr : &*found;
}

std::vector<const FamilyRow*> factors_for(Support support, std::span<const Stat> needed) {
  std::vector<const FamilyRow*> fitting;
  for (const FamilyRow& row : families()) {
    if (!row.factor || row.joint_precision || row.support != support) continue;
    const auto& statistics = row.factor->statistics;
    const bool all = std::all_of(needed.begin(), needed.end(), [&](Stat s) {
      return std::any_of(statistics.begin(), statistics.end(), [&](const StatisticRow& r) { return r.stat == s; });
    });
    if (all) fitting.push_back(&row);
  }
  return fitting;
}

std::vector<DensityParameter> density_parameters(const FamilyRow& row) {
  std::vector<DensityParameter> parameters;
  for (const Spelling& s : row.spellings) {
    if (!s.convert) parameters.push_back({s.canonical, s.event_rank});
  }
  return parameters;
}

}  // namespace lehr::math
