// The family table: joins the rows of all groups to one vector and looks rows up. Names of supports and statistics are
// tables here, in the order of their enumerations.
#include "compiler/math/family.h"

#include <algorithm>
#include <array>

#include "compiler/math/families/bounds.h"
#include "compiler/math/families/rows.h"
#include "compiler/math/member_families.h"
#include "compiler/support/table.h"

namespace lehr::math {

namespace {

/// What is fixed for a support: its event rank and its name in messages.
struct SupportRow {
  Support support;
  int event_rank;
  std::string_view name;
};
constexpr std::array kSupports{
    SupportRow{Support::real, 0, "real"},
    SupportRow{Support::positive, 0, "positive real"},
    SupportRow{Support::unit, 0, "real in (0, 1)"},
    SupportRow{Support::count, 0, "count"},
    SupportRow{Support::bit, 0, "0 or 1"},
    SupportRow{Support::spin, 0, "-1 or +1"},
    SupportRow{Support::category, 0, "element of a plate"},
    SupportRow{Support::simplex, 1, "simplex"},
    SupportRow{Support::vector, 1, "vector"},
    SupportRow{Support::counts, 1, "vector of counts"},
    SupportRow{Support::spd_matrix, 2, "positive definite matrix"},
    SupportRow{Support::switched, 0, "category and real"},
    SupportRow{Support::scaled, 1, "vector and its precision"},
    SupportRow{Support::sparse, 1, "sparse vector"},
};

/// What is fixed for a statistic: event rank, name in messages, symbol of its natural parameter.
struct StatNames {
  Stat stat;
  int event_rank;
  std::string_view name, natural;
};
constexpr std::array kStats{
    StatNames{Stat::value, 0, "x", "n_value"},
    StatNames{Stat::square, 0, "x^2", "n_square"},
    StatNames{Stat::log, 0, "log x", "n_log"},
    StatNames{Stat::inverse, 0, "1/x", "n_inverse"},
    StatNames{Stat::log1m, 0, "log(1 - x)", "n_log1m"},
    StatNames{Stat::inverse_square, 0, "1/x^2", "n_inverse_square"},
    StatNames{Stat::log_gamma, 0, "lgamma(x)", "n_log_gamma"},
    StatNames{Stat::value_log, 0, "x log x", "n_value_log"},
    StatNames{Stat::log_gap, 0, "log(1 - exp(-x))", "n_log_gap"},
    StatNames{Stat::indicator, 1, "[x = k]", "n_indicator"},
    StatNames{Stat::log_comp, 1, "log x[k]", "n_log_comp"},
    StatNames{Stat::comp, 1, "x[j]", "n_comp"},
    StatNames{Stat::comp2, 2, "x[j] x[l]", "n_comp2"},
    StatNames{Stat::entry, 2, "X[j,l]", "n_entry"},
    StatNames{Stat::logdet, 0, "log det X", "n_logdet"},
    StatNames{Stat::inverse_entry, 2, "X^-1[j,l]", "n_inverse_entry"},
    StatNames{Stat::tangent, 0, "digamma(x)", "n_tangent"},
    StatNames{Stat::weighted, 1, "precision * mean", "n_weighted"},  // rank of NormalGamma: 0
    StatNames{Stat::weighted_square, 0, "mean' * precision * mean", "n_weighted_square"},
    StatNames{Stat::weighted2, 2, "precision * mean[j] mean[l]", "n_weighted2"},
    StatNames{Stat::curvature, 0, "lambda(x)", "n_curvature"},
    StatNames{Stat::offset, 0, "log logistic(x) - x/2 + lambda(x) x^2", "n_offset"},
    StatNames{Stat::switched, 1, "[z = k] x", "n_switched"},
    StatNames{Stat::switched_square, 1, "[z = k] x^2", "n_switched_square"},
    StatNames{Stat::above, 0, "log[x > lower]", "n_above"},
    StatNames{Stat::below, 0, "log[x < upper]", "n_below"},
    StatNames{Stat::lower, 0, "lower limit of x", "n_lower"},
    StatNames{Stat::upper, 0, "upper limit of x", "n_upper"},
    StatNames{Stat::slope, 1, "slope of log sum exp at x", "n_slope"},
    StatNames{Stat::complement, 0, "1 - x", "n_complement"},
};

static_assert(rows_match_enum(kSupports, &SupportRow::support) && rows_match_enum(kStats, &StatNames::stat));

const SupportRow& row_of(Support s) { return kSupports[static_cast<std::size_t>(s)]; }
const StatNames& row_of(Stat s) { return kStats[static_cast<std::size_t>(s)]; }

}  // namespace

bool is_discrete(Support s) { return s == Support::category || s == Support::bit || s == Support::spin; }

int event_rank(Support s) { return row_of(s).event_rank; }
std::string_view name_of(Support s) { return row_of(s).name; }
int event_rank(Stat s) { return row_of(s).event_rank; }
std::string_view name_of(Stat s) { return row_of(s).name; }
std::string natural_name(Stat s) { return std::string(row_of(s).natural); }

std::string expected_name(Stat s) { return "E" + natural_name(s).substr(1); }
Expr expected_symbol(Stat s, Index i) { return symbol(expected_name(s), i); }
Expr natural_symbol(Stat s) { return symbol(natural_name(s)); }
Expr natural_symbol(Stat s, Index i) { return symbol(natural_name(s), i); }
Expr natural_symbol(Stat s, Index i, Index j) { return symbol(natural_name(s), i, j); }

const std::vector<FamilyRow>& families() {
  static const std::vector<FamilyRow> kRows = [] {
    std::vector<FamilyRow> all = scalar_families();
    for (auto& row : scale_families())
      all.push_back(std::move(row));
    for (auto& row : discrete_families())
      all.push_back(std::move(row));
    for (auto& row : vector_families())
      all.push_back(std::move(row));
    for (auto& row : compound_families())
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
  for (const FamilyRow* row :
       {&logistic_bound(), &softmax_bound(), &absolute_bound(), &log_gamma_bound(), &probit_bound(),
        &logistic_expectation(), &probit_expectation(), &exp_expectation(), &switched_normal(), &scaled_normal(),
        &sparse_normal(), &student_marginal(), &mv_student_marginal(), &truncated_normal()}) {
    if (name == row->name) return row;
  }
  for (const FamilyRow& row : point_families()) {
    if (name == row.name) return &row;
  }
  return find_family(name);
}

const FamilyRow& mixture_selector_family(bool category) { return *find_family(category ? "Categorical" : "Bernoulli"); }

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

const FamilyRow* point_family(Support support, std::span<const Stat> needed) {
  const auto found = std::ranges::find_if(point_families(), [&](const FamilyRow& row) {
    return row.support == support && std::ranges::all_of(needed, [&](Stat s) {
             return std::ranges::find(row.factor->statistics, s, &StatisticRow::stat) != row.factor->statistics.end();
           });
  });
  return found == point_families().end() ? nullptr : &*found;
}

std::vector<DensityParameter> density_parameters(const FamilyRow& row) {
  std::vector<DensityParameter> parameters;
  for (const Spelling& s : row.spellings) {
    if (!s.convert) parameters.push_back({s.canonical, s.event_rank});
  }
  return parameters;
}

}  // namespace lehr::math
