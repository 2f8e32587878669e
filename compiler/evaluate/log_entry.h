// Logarithms of probabilities and rates that are too small for a number of their own.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/evaluate/forward.h"

namespace lehr {

/// Returns true if a probability or rate is so small that it has lost digits, or all of them.
inline bool underflows(double x) { return x >= 0 && x < std::numeric_limits<double>::min(); }

/// Returns log(logistic(x)).
inline double log_logistic(double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x))); }

/// Returns the log of entry i of a vector expression, or of a number. It is accurate where the entry itself underflows,
/// if the entry is a link (softmax, ordered_logistic, logistic, probit, exp), a stick, or a product or quotient of
/// these. Missing values are read as by ModelEvaluator::entry().
double log_entry(const ModelEvaluator& forward, model::ExprId e, const IndexValues& at, std::size_t i = 0);

}  // namespace lehr
