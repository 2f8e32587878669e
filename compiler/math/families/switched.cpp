// The family row of a category z with a number x that is Normal given z: q(z) q(x | z). A pair of variables has this
// factor if every term of the log joint is quadratic in x for each value of z. An example is a spike-and-slab
// coefficient (George & McCulloch 1993).
#include "compiler/math/families/rows.h"

namespace lehr::math {

using namespace rows;

const FamilyRow& switched_normal() {
  static const FamilyRow kRow = [] {
    const auto probs = [](Index i) { return symbol("probs", i); };
    const auto mean = [](Index i) { return symbol("mean", i); };
    const auto precision = [](Index i) { return symbol("precision", i); };
    FamilyRow row{.name = "SwitchedNormal",
                  .summary = "a category, and a number that is Normal given it",
                  .support = Support::switched};
    Factor f;
    // The weight of a value is the log normaliser of its Normal. Of a ratio of weights that overflows, the reciprocal
    // is 0, as it should be.
    f.parameters = {
        parameter("precision", 1, -2.0 * natural_symbol(Stat::switched_square, kFirst), ParameterRole::precision),
        parameter("mean", 1, natural_symbol(Stat::switched, kFirst) / precision(kFirst), ParameterRole::location),
        draw_step("weight", 1,
                  natural_symbol(Stat::indicator, kFirst) + 0.5 * precision(kFirst) * square(mean(kFirst)) -
                      0.5 * log(precision(kFirst))),
        parameter("probs", 1, reciprocal(sum(kA, exp(symbol("weight", kA) - symbol("weight", kFirst)))),
                  ParameterRole::probabilities)};
    f.statistics = {
        {Stat::indicator, probs(kFirst),
         log(probs(kFirst)) + 0.5 * log(precision(kFirst)) - 0.5 * precision(kFirst) * square(mean(kFirst))},
        {Stat::switched, probs(kFirst) * mean(kFirst), precision(kFirst) * mean(kFirst)},
        {Stat::switched_square, probs(kFirst) * (square(mean(kFirst)) + reciprocal(precision(kFirst))),
         -0.5 * precision(kFirst)}};
    f.log_normaliser = 0.5 * kLog2Pi;
    f.entropy = sum(kA, probs(kA) * (0.5 * (1.0 + kLog2Pi) - 0.5 * log(precision(kA))) - xlogx(probs(kA)));
    f.valid = {precision(kFirst)};
    // The drawn value k is the one at which the cumulative probability passes u.
    const auto up_to = [&](double beyond) {
      return sum(kA, step(index_value(kFirst) - index_value(kA) + beyond) * probs(kA));
    };
    const Expr u = symbol("u") * sum(kA, probs(kA));
    f.draw = {noise("u", 0, Noise::uniform), noise("z", 0, Noise::normal),
              draw_result(1, step(up_to(0.5) - u) - step(up_to(-0.5) - u)),
              draw_result(0, sum(kA, symbol("value", kA) * (mean(kA) + symbol("z") * sqrt(reciprocal(precision(kA))))),
                          true)};
    row.factor = std::move(f);
    return row;
  }();
  return kRow;
}

}  // namespace lehr::math
