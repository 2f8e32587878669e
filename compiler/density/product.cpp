// Products of polynomials with a limit on the number of their terms.
//
// The square of a sum of n random variables has about n * n / 2 terms, and a product of m sums has n^m. So parts that
// depend on data alone stay one coefficient, and a product above the limit is reported.
#include "compiler/density/expander.h"
#include "compiler/model/print_model.h"
#include "runtime/terminal/printable.h"

namespace lehr::density {
namespace {

/// Products of at most this many terms are multiplied out without merging like terms first. kPlainTerms is for the
/// formulas of families. kPlainFactors is for expressions of the model, where a product of data sums would otherwise be
/// multiplied out again and again.
constexpr std::size_t kPlainTerms = 100, kPlainFactors = 4;

/// Returns true if the coefficient of some term has a factor that is a sum.
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
  const Poly left = compacted(a_, m_, p), right = compacted(a_, m_, q);
  if (left.size() * right.size() > kMaxTerms) return too_many_terms(of);
  return multiply(a_, left, right);
}

Poly Expander::too_many_terms(std::optional<model::ExprId> of) {
  if (too_large_) return {};
  too_large_ = true;
  if (!of && largest_.value.valid()) of = largest_.value;
  const Span span = of ? m_[*of].span : span_;
  const std::string subject = of ? "`" + printable_message(print(m_, *of), 60) + "`" : std::string("this");
  diagnostics_.add(DiagnosticKind::too_many_terms, span, subject, kMaxTerms)
      .note("products of sums of random variables are multiplied out; a Normal squares its mean", span_)
      .note("many variables that are summed are one variable on a plate: sum(k) w[k] * x[n, k] is one term");
  return {};
}

}  // namespace lehr::density
