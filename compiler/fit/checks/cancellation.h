// The rounding error of the ELBO. The ELBO adds and subtracts log gamma functions and squares of means. If these are
// large, their differences have few correct digits.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/schedule/schedule.h"
#include "runtime/array.h"

namespace lehr {

/// An estimate of how many nats of the ELBO are lost to rounding, and where most of it comes from; for a warning.
struct CancellationError {
  /// The estimated rounding error of the ELBO, in nats: the sum over all terms.
  double nats = 0;
  /// The largest number whose log gamma function or square is formed; for squares, a mean in units of its standard
  /// deviation.
  double largest = 0;
  /// The part of the rounding error that comes from the largest number alone, in nats.
  double of_largest = 0;
  /// The name of the largest number, for messages: "p.a", "theta.concentration[2, 0]", or an observed variable.
  std::string name;
};

/// If the log gamma function of a single number has a larger rounding error, in nats, the ELBO is useless and the run
/// is a numerical failure.
inline constexpr double kMaxRoundingError = 1;

/// Formats a row-major position in an array as indices, "[3, 0]", to name a number in messages. Returns an empty string
/// for an array without axes.
std::string subscripts(const std::vector<std::int64_t>& shape, std::size_t position);

/// Estimates the rounding error of the ELBO from log gamma functions, of parameters of the factors and of observed
/// values (counts). Returns nullopt if the sum of all errors is below a thousandth of a nat.
std::optional<CancellationError> log_gamma_cancellation(const model::Model& m, const schedule::Schedule& s,
                                                        const BoundData& data,
                                                        const std::vector<NamedArray>& posterior);

/// Estimates the rounding error of the ELBO from squares of means: it adds and subtracts m^2 / sd^2 of each mean m of a
/// real variable. `posterior` must be centred (LocationOrigin::reference), as the ELBO reads it. All fields are 0 if
/// the sum of all errors is below a thousandth of a nat.
CancellationError square_cancellation(const model::Model& m, const schedule::Schedule& s,
                                      const std::vector<NamedArray>& posterior);

/// Passes the members of a CancellationError to an archive, in a fixed order. A Writer appends them to the bytes of a
/// checkpoint, a Reader sets them from these bytes (runtime/bytes.h). A Reader throws std::out_of_range if bytes are
/// missing.
template <class Archive>
void fields(Archive& a, CancellationError& x) {
  a(x.nats, x.largest, x.of_largest, x.name);
}

}  // namespace lehr
