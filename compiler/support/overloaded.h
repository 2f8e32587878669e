// Makes one visitor of several lambdas for std::visit: one lambda for each alternative of a std::variant. A missing one
// is an error of compilation. The idiom is the `overloaded` of cppreference.com's page on std::visit.
#pragma once

namespace lehr {

/// A visitor for std::visit made of several lambdas, one for each alternative of a std::variant: `Overloaded{[](A) {},
/// [](B) {}}` accepts an A and a B.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;  // calls find the lambda of their argument's type
};
/// Deduces the template arguments from the lambdas, so that `Overloaded{...}` needs none.
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace lehr
