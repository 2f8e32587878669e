// Takes the log of the last operation by its own rule: of a softmax the score minus the log of the sum, of a product
// the sum of logs. Only entries that underflow need it.
#include "compiler/evaluate/log_entry.h"

#include <algorithm>
#include <cmath>

#include "compiler/evaluate/log_sum_exp.h"
#include "compiler/math/special.h"
#include "compiler/support/overloaded.h"

namespace lehr {
namespace {

using namespace model;

/// Returns the log of a category's probability under `ordered_logistic`: that of a logistic number between two cuts.
double log_between_cuts(const ModelEvaluator& f, const OrderedLogistic& o, const IndexValues& at, std::size_t i) {
  const double location = f.entry(o.location, at);
  const double a = i == 0 ? -INFINITY : f.entry(o.cuts, at, i - 1);
  const double b = i == f.extent_of(o.cuts, 0) ? INFINITY : f.entry(o.cuts, at, i);
  const double above = i == 0 ? 0.0 : log_logistic(location - a);
  return above + (b == INFINITY ? 0.0 : log_logistic(b - location)) + std::log(-std::expm1(a - b));
}

}  // namespace

double log_entry(const ModelEvaluator& f, ExprId id, const IndexValues& at, std::size_t i) {
  const double x = f.entry(id, at, i);
  if (!underflows(x)) return std::log(x);
  return std::visit(
      Overloaded{
          [&](const Softmax& s) {
            std::vector<double> scores;
            for (std::size_t k = 0; k < f.extent_of(s.scores, 0); ++k)
              scores.push_back(f.entry(s.scores, at, k));
            return scores[i] - log_sum_exp(scores);
          },
          [&](const OrderedLogistic& o) { return log_between_cuts(f, o, at, i); },
          [&](const StickBreaking& s) {
            double log_left = 0;
            for (std::size_t k = 0; k < i; ++k)
              log_left += std::log1p(-f.entry(s.fractions, at, k));
            return log_left + (i < f.extent_of(s.fractions, 0) ? log_entry(f, s.fractions, at, i) : 0.0);
          },
          [&](const Component& c) { return log_entry(f, c.vector, at, static_cast<std::size_t>(at[c.at.index()])); },
          [&](const Binary& b) {
            const double sign = b.op == BinaryOp::multiply ? 1 : -1;
            if (b.op != BinaryOp::multiply && b.op != BinaryOp::divide) return std::log(x);
            const double logs = log_entry(f, b.left, at, i) + sign * log_entry(f, b.right, at, i);
            return std::isnan(logs) ? std::log(x) : logs;  // of two negative factors
          },
          [&](const Apply& a) {
            const double y = f.entry(a.argument, at, i);
            switch (a.function) {
              case Function::exp:
                return y;
              case Function::logistic:
                return log_logistic(y);
              case Function::probit:
                return math::log_tail_value(-y);
              default:
                return std::log(x);
            }
          },
          [&](const auto&) { return std::log(x); }},
      f.model()[id].node);
}

}  // namespace lehr
