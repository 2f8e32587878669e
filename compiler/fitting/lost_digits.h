// What rounding costs the ELBO: it adds and subtracts log gamma functions and squares of means, and of large numbers
// these are far larger than their differences.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/schedule/schedule.h"
#include "runtime/array.h"

namespace lehr {

struct LostDigits {
  double nats = 0;        // the rounding errors together, about
  double largest = 0;     // number whose log gamma function or square is formed, a mean in its standard deviations
  double of_largest = 0;  // its rounding error
  std::string name;       // what it is: "p.a", "theta.concentration[2, 0]", or an observed variable
};

/// A bound that is off by more, of one number, says nothing.
inline constexpr double kMostLost = 1;

/// "[3, 0]" of a row-major position; empty for a number.
std::string subscripts(const std::vector<std::int64_t>& shape, std::size_t position);

/// Nothing below a thousandth of a nat.
std::optional<LostDigits> lost_digits(const model::Model& m, const schedule::Schedule& s, const BoundData& data,
                                      const std::vector<NamedArray>& posterior);

/// The same of squares: m^2 / sd^2 of a mean m is added and subtracted again. `posterior`: from Origin::reference, as
/// the ELBO has it. All 0 below a thousandth of a nat.
LostDigits lost_squares(const model::Model& m, const schedule::Schedule& s, const std::vector<NamedArray>& posterior);

template <class Archive>
void fields(Archive& a, LostDigits& x) {
  a(x.nats, x.largest, x.of_largest, x.name);
}

}  // namespace lehr
