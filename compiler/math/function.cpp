// The table of functions, and look-ups in it. Rows without a value belong to statistics that occur in printed formulas
// only. The order of rows is that of the enumeration, which a static_assert checks.
#include "compiler/math/function.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "compiler/math/special.h"
#include "compiler/support/table.h"

namespace lehr::math {

namespace {

namespace table {

using enum Function;

constexpr std::array kRows{
    FunctionRow{log, "log", "log{4}", "\\log{4}", [](double x) { return std::log(x); }, true},
    FunctionRow{log1m, "log1m", "log(1 - {2})", "\\log\\left(1 - {2}\\right)", [](double x) { return std::log1p(-x); }},
    FunctionRow{exp, "exp", "exp({0})", "\\exp {1}", [](double x) { return std::exp(x); }, true},
    FunctionRow{sqrt, "sqrt", "sqrt({0})", "\\sqrt{{{0}}}", [](double x) { return std::sqrt(x); }, true},
    FunctionRow{reciprocal, "reciprocal", "1 / {3}", "\\frac{{1}}{{{0}}}", [](double x) { return 1.0 / x; }},
    FunctionRow{lgamma, "lgamma", "lgamma({0})", "\\log\\Gamma {1}", log_gamma_value},
    FunctionRow{digamma, "digamma", "digamma({0})", "\\psi {1}", digamma_value},
    FunctionRow{trigamma, "trigamma", "trigamma({0})", "\\psi_1 {1}", trigamma_value},
    FunctionRow{tanh, "tanh", "tanh({0})", "\\tanh {1}", [](double x) { return std::tanh(x); }},
    FunctionRow{logit_curvature, "logit_curvature", "lambda({0})", "\\lambda {1}",
                [](double x) { return x == 0.0 ? 0.125 : std::tanh(0.5 * x) / (4.0 * x); }},
    FunctionRow{log_cosh, "log_cosh", "log_cosh({0})", "\\log\\cosh {1}",
                [](double x) { return std::abs(x) + std::log1p(std::exp(-2.0 * std::abs(x))) - std::numbers::ln2; }},
    FunctionRow{xlogx, "xlogx", "xlogx({0})", "{1}\\log {1}",
                [](double x) { return x == 0.0 ? 0.0 : x * std::log(x); }},
    FunctionRow{step, "step", "step({0})", "\\mathbb{{1}}_{{>0}}{1}", [](double x) { return x > 0.0 ? 1.0 : 0.0; }},
    FunctionRow{abs, "abs", "abs({0})", "\\left|{0}\\right|", [](double x) { return std::abs(x); }, true},
    FunctionRow{logistic, "logistic", "logistic({0})", "\\mathrm{{logistic}} {1}",
                [](double x) { return 1.0 / (1.0 + std::exp(-x)); }, true},
    FunctionRow{probit, "probit", "probit({0})", "\\Phi {1}",
                [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }, true},
    FunctionRow{log_tail, "log_tail", "log_tail({0})", "\\log\\Phi\\left(-{0}\\right)", log_tail_value},
    FunctionRow{curvature, "lambda", "lambda({0})", "\\lambda {1}"},
    FunctionRow{offset, "offset", "offset({0})", "c{1}"},
    FunctionRow{logdet, "logdet", "logdet{4}", "\\log\\left|{0}\\right|"},
    FunctionRow{above, "above", "above({0})", "\\mathrm{{above}} {1}"},
    FunctionRow{below, "below", "below({0})", "\\mathrm{{below}} {1}"},
    FunctionRow{lower, "lower", "lower({0})", "\\mathrm{{lower}} {1}"},
    FunctionRow{upper, "upper", "upper({0})", "\\mathrm{{upper}} {1}"},
    FunctionRow{slope, "slope", "slope({0})", "\\mathrm{{slope}} {1}"},
};

static_assert(rows_match_enum(kRows, &FunctionRow::function));

}  // namespace table

using table::kRows;

}  // namespace

const FunctionRow& row_of(Function f) { return kRows[static_cast<std::size_t>(f)]; }

const std::vector<const FunctionRow*>& language_functions() {
  static const std::vector<const FunctionRow*> kCallable = [] {
    std::vector<const FunctionRow*> out;
    for (const FunctionRow& row : kRows) {
      if (row.in_language) out.push_back(&row);
    }
    return out;
  }();
  return kCallable;
}

double value_of(Function f, double x) {
  const FunctionRow& row = row_of(f);
  return row.value ? row.value(x) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace lehr::math
