// Random draws from a variational factor, given its parameters. Draws from a stored posterior use these functions;
// Gibbs sampling draws in generated code.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "compiler/math/evaluate.h"

namespace lehr::math {

/// A function that makes one draw: a number, a vector or a row-major matrix. A draw of a category is its value counted
/// from 0. Draws of joint families and of ScaledNormal have the mean first, then the precision. Those of SwitchedNormal
/// have the number first, then 1 for the value of the category and 0 for the others. It may be called any number of
/// times.
using Draw = std::function<std::vector<double>(Rng& rng)>;

/// Returns a function that draws from a variational factor with these exported parameters. Of a point factor it returns
/// the point. `parameters.extent` is the size of the event axis, or the number of values of a category. `row` and
/// `factor` must outlive the function. It is empty if the family has no draws or draws that need the data.
///
/// FamilyRow::draw is used if every exported parameter of the factor is also a spelling of the density; otherwise the
/// steps in Factor::draw are evaluated.
Draw factor_draw(const FamilyRow& row, const Factor& factor, const Environment& parameters);

/// Makes a factor wider about its mean, for a proposal of importance sampling with heavier tails. `at` has its exported
/// parameters, which change in place. `width` has one number for each component of the value, by which the standard
/// deviation of that component is multiplied. Normal and MvNormal follow it exactly. Gamma, InverseGamma, Beta,
/// Dirichlet and Wishart follow the mean of `width`, as far as they can. Other families stay as they are.
void widen(const FamilyRow& row, std::span<const double> width, Environment& at);

}  // namespace lehr::math
