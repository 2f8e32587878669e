// Checks data matrices that must be symmetric positive definite. Inverses and products from numerical libraries are
// symmetric only up to rounding. Such a matrix is replaced by its symmetric part, with a warning.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/binding/binder.h"
#include "compiler/model/print_model.h"
#include "compiler/model/walk.h"

namespace lehr::model {
namespace {

/// Relative to an entry, or to the geometric mean of the diagonal entries in its row and column.
constexpr double kRounding = 1e-6;

/// A square matrix of n rows within the values of an array.
struct Square {
  std::vector<double>& values;
  std::size_t first, n;

  // Returns the entry in row i and column j.
  double& operator()(std::size_t i, std::size_t j) const { return values[first + i * n + j]; }
};

/// Returns true if no entry differs from its mirror image by more than `allowed(i, j)`.
template <class Allowed>
bool mirrored(const Square& x, const Allowed& allowed) {
  for (std::size_t i = 0; i < x.n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!(std::abs(x(i, j) - x(j, i)) <= allowed(i, j))) return false;
    }
  }
  return true;
}

/// Replaces a matrix by its symmetric part if it differs from it by rounding only. Returns false if it differs by more.
bool symmetrise(const Square& x) {
  const auto rounding = [&](std::size_t i, std::size_t j) {
    return kRounding *
           std::max(std::abs(x(i, j)) + std::abs(x(j, i)), std::sqrt(std::abs(x(i, i))) * std::sqrt(std::abs(x(j, j))));
  };
  if (!mirrored(x, rounding)) return false;
  for (std::size_t i = 0; i < x.n; ++i) {
    for (std::size_t j = 0; j < i; ++j)
      x(i, j) = x(j, i) = x(i, j) / 2 + x(j, i) / 2;
  }
  return true;
}

/// Adds the warning that a symmetric part is used.
void say_so(Binder& b, const std::string& name, const std::string& source) {
  warn(b, fmt::format("{}: '{}' is symmetric but for rounding; its symmetric part is used", source, name));
}

/// Returns true if the matrix has a Cholesky factorisation: all pivots are positive.
bool positive_definite(const Square& x) {
  std::vector<double> copy(x.values.begin() + static_cast<std::ptrdiff_t>(x.first),
                           x.values.begin() + static_cast<std::ptrdiff_t>(x.first + x.n * x.n));
  const Square l{copy, 0, x.n};
  for (std::size_t j = 0; j < x.n; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      l(j, j) -= l(j, k) * l(j, k);
    if (!(l(j, j) > 0)) return false;
    l(j, j) = std::sqrt(l(j, j));
    for (std::size_t i = j + 1; i < x.n; ++i) {
      for (std::size_t k = 0; k < j; ++k)
        l(i, j) -= l(i, k) * l(j, k);
      l(i, j) /= l(j, j);
    }
  }
  return true;
}

}  // namespace

void check_observed_matrices(Binder& b, const Slot& slot, DataArray& a) {
  if (!slot.variable || b.model[*slot.variable].support != math::Support::spd_matrix) return;
  const auto n = static_cast<std::size_t>(b.out.sizes[slot.axes.back().index()]);
  bool rounded = false;
  for (std::size_t m = 0; m + n * n <= a.values.size(); m += n * n) {
    const Square x{a.values, m, n};
    bool good = mirrored(x, [&](std::size_t i, std::size_t j) { return 1e-8 * (std::abs(x(i, j)) + 1); });
    if (!good && symmetrise(x)) good = rounded = true;
    if (good && positive_definite(x)) continue;
    problem(b, ExitCode::data, a.source,
            fmt::format("the matrix at {} is not symmetric and positive definite", element_name(b, slot, m)));
    return;
  }
  if (rounded) say_so(b, slot.name, a.source);
}

namespace {

/// Replaces each matrix of a data array by its symmetric part, where it is symmetric up to rounding. A matrix that is a
/// parameter itself (`of`) must also be positive definite. Matrices that are not symmetric are refused by the fit,
/// which names the entries.
void symmetrise_array(Binder& b, const GivenRef& ref, std::size_t n, const WrittenParameter* of) {
  const Given& g = b.model[ref.given];
  std::vector<double>& values = b.out.givens[ref.given.index()].values;
  const auto array = b.arrays.find(g.name);
  const std::string source = array == b.arrays.end() ? option("data") : array->second.source;
  const auto slot = std::ranges::find_if(b.slots, [&](const Slot& s) { return s.given == ref.given; });
  bool rounded = false;
  for (std::size_t m = 0; m + n * n <= values.size(); m += n * n) {
    const Square x{values, m, n};
    const auto equal = [&](std::size_t i, std::size_t j) { return 1e-9 * (std::abs(x(i, j)) + std::abs(x(j, i))); };
    const bool exact = mirrored(x, equal), close = exact || symmetrise(x);
    rounded = rounded || (!exact && close);
    if (!of || !close || slot == b.slots.end() || positive_definite(x)) continue;
    problem(b, ExitCode::data, source,
            fmt::format("the matrix at {} is not positive definite, but the {} of {} must be",
                        element_name(b, *slot, m), of->parameter.spelling->name, of->distribution.family->name))
        .notes = {fmt::format("{}: {} is drawn from {}", place_of(b.model, b.model[of->parameter.value].span),
                              of->variable.name, of->distribution.family->name),
                  "a small number on the diagonal mends a matrix that lacks it by rounding"};
    return;
  }
  if (rounded) say_so(b, g.name, source);
}

}  // namespace

void symmetrise_parameters(Binder& b) {
  std::set<GivenId> done;
  for (const WrittenParameter& of : written_parameters(b.model)) {
    if (of.parameter.spelling->domain != math::Support::spd_matrix) continue;
    for (const ExprId id : nodes_under(b.model, {of.parameter.value})) {
      const auto* ref = std::get_if<GivenRef>(&b.model[id].node);
      if (!ref || b.model[id].shape.size() != 2 || !done.insert(ref->given).second) continue;
      symmetrise_array(b, *ref, static_cast<std::size_t>(b.out.sizes[b.model[id].shape[0].index()]),
                       id == of.parameter.value ? &of : nullptr);
    }
  }
}

}  // namespace lehr::model
