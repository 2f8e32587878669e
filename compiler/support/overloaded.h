// Makes one visitor of several lambdas, so that std::visit over a std::variant has one lambda for each alternative and
// fails to compile if one is missing. The idiom is the `overloaded` of cppreference.com's page on std::visit.
#pragma once

namespace lehr {

/// A function object that has the call operators of all its bases: `Overloaded{[](A) {}, [](B) {}}` accepts an A and a
/// B.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
/// Deduces the bases from the lambdas that the constructor is given.
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace lehr
