// Products of polynomials within bounds. A square of a sum of n random variables has about n * n / 2 terms, a
// product of m sums n^m: what need not be multiplied out is not, and what must be has a limit.
#include "compiler/density/expander.h"
#include "compiler/model/print_model.h"
#include "runtime/terminal/printable.h"

namespace lehr::density {
namespace {

/// Products of no more terms than this are multiplied out as they stand: in the log density of a family, and
/// of two expressions of the model, where factors that are known when the data are would multiply with each
/// other.
constexpr std::size_t kPlainTerms = 100, kPlainFactors = 4;

/// Whether some coefficient is a product with a sum that was kept as one.
bool has_sum(const Algebra& a, const Poly& p) {
  return std::any_of(p.begin(), p.end(), [&](const Term& t) {
    const std::vector<CoefId> factors = a.factors(t.coef);
    return std::any_of(factors.begin(), factors.end(), [&](CoefId f) { return std::holds_alternative<CoefAdd>(a[f]); });
  });
}

}  // namespace

Poly Expander::product(const Poly& p, const Poly& q, std::optional<model::ExprId> of) {
  if (too_large_) return {};
  const bool few = p.size() * q.size() <= (of ? kPlainFactors : kPlainTerms);
  if (few && !(of && (has_sum(a_, p) || has_sum(a_, q)))) return multiply(a_, p, q);
  const Poly left = gathered(a_, m_, p), right = gathered(a_, m_, q);
  if (left.size() * right.size() > kMaxTerms) return too_many_terms(of);
  return multiply(a_, left, right);
}

Poly Expander::too_many_terms(std::optional<model::ExprId> of) {
  if (too_large_) return {};
  too_large_ = true;
  if (!of && largest_.value.valid()) of = largest_.value;
  const Span span = of ? m_[*of].span : span_;
  const std::string what = of ? "`" + printable_message(print(m_, *of), 60) + "`" : std::string("this");
  diagnostics_.add(DiagnosticKind::too_many_terms, span, what, kMaxTerms)
      .note("products of sums of random variables are multiplied out; a Normal squares its mean", span_)
      .note("many variables that are summed are one variable on a plate: sum(k) w[k] * x[n, k] is one term");
  return {};
}

}  // namespace lehr::density
