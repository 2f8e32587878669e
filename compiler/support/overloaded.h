// One visitor from several lambdas, for exhaustive std::visit.
#pragma once

namespace lehr {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace lehr
