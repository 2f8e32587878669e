// Products of formulas, and the minus sign in front of one (formula.h).
#include "compiler/conditionals/formula.h"

#include <utility>

namespace lehr::conditionals {

namespace {

/// Returns true for 1 / 1.
bool is_one(const Formula& f) {
  const auto* a = std::get_if<FormulaApply>(&f.form);
  if (!a || a->function != math::Function::reciprocal) return false;
  const auto* n = std::get_if<FormulaNumber>(&a->argument[0].form);
  return n && n->value == 1;
}

}  // namespace

Formula product(Formulas factors) {
  double scale = 1;
  Formulas rest;
  for (Formula& f : factors) {
    if (is_one(f)) continue;
    if (const auto* n = std::get_if<FormulaNumber>(&f.form)) {
      scale *= n->value;
    } else if (auto* inner = std::get_if<FormulaMultiply>(&f.form)) {
      for (Formula& g : inner->factors) {
        if (const auto* k = std::get_if<FormulaNumber>(&g.form)) scale *= k->value;
        else rest.push_back(std::move(g));
      }
    } else {
      rest.push_back(std::move(f));
    }
  }
  if (rest.empty() || scale == 0) return {FormulaNumber{scale}};
  if (scale != 1) rest.insert(rest.begin(), Formula{FormulaNumber{scale}});
  if (rest.size() == 1) return rest[0];
  return {FormulaMultiply{std::move(rest)}};
}

bool take_minus(Formula& f) {
  if (auto* n = std::get_if<FormulaNumber>(&f.form); n && n->value < 0) {
    n->value = -n->value;
    return true;
  }
  auto* p = std::get_if<FormulaMultiply>(&f.form);
  // product() puts the number of a product first.
  const auto* n = p ? std::get_if<FormulaNumber>(&p->factors[0].form) : nullptr;
  if (!n || n->value >= 0) return false;
  Formulas factors = p->factors;
  factors[0] = {FormulaNumber{-n->value}};
  f = product(std::move(factors));
  return true;
}

}  // namespace lehr::conditionals
