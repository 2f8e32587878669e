// The family row of the point at which the quadratic bound of log sum exp touches it. The curvature of the bound is at
// least that of the function everywhere, so the bound holds: Boehning (1992).
#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

const FamilyRow& softmax_bound() {
  static const FamilyRow kRow = [] {
    const auto psi = [](Index i) { return symbol("value", i); };
    const auto probability = [&](Index i, Index other) { return reciprocal(sum(other, exp(psi(other) - psi(i)))); };
    const Expr total = sum(kA, psi(kA)), mean = total * reciprocal(extent());
    FamilyRow row{
        .name = "SoftmaxBound", .summary = "where the bound of a softmax touches it", .support = Support::vector};
    row.improper = true;
    Factor f;
    // The ELBO has n_offset offset(psi) + sum_k n_slope_k slope_k(psi) with n_offset < 0, which is largest at the
    // expected scores.
    f.parameters = {parameter("value", 1,
                              weighted_mean(-natural_symbol(Stat::slope, kFirst), -natural_symbol(Stat::offset)),
                              ParameterRole::value)};
    f.parameters[0].written = -natural_symbol(Stat::slope, kFirst) / -natural_symbol(Stat::offset);
    f.moments = mean_alone;
    const Expr largest_score = largest(kA, psi(kA));
    const Expr log_sum = largest_score + log(sum(kA, exp(psi(kA) - largest_score)));
    const Expr squares = sum(kA, square(psi(kA))) - total * mean;
    f.statistics = {{Stat::slope, probability(kFirst, kA) - 0.5 * (psi(kFirst) - mean), 0.0},
                    {Stat::offset, log_sum - sum(kA, psi(kA) * probability(kA, kB)) + 0.25 * squares, 0.0}};
    row.factor = std::move(f);
    return row;
  }();
  return kRow;
}

}  // namespace lehr::math
