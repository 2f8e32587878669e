// What rounding costs the ELBO: it adds and subtracts log gamma functions, and of large numbers these are far
// larger than their differences.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/bind.h"
#include "compiler/schedule/schedule.h"
#include "runtime/array.h"

namespace lehr {

struct LostDigits {
  double nats = 0;     // the rounding errors together, about
  double largest = 0;  // number whose log gamma function is formed
  std::string name;    // of what it is in: "p.a", or an observed variable
};

/// Nothing below a thousandth of a nat.
std::optional<LostDigits> lost_digits(const model::Model& m, const schedule::Schedule& s, const BoundData& data,
                                      const std::vector<NamedArray>& posterior);

}  // namespace lehr
