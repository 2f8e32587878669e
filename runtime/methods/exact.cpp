#include "runtime/methods/exact.h"

#include <fmt/format.h>

namespace lehr {
namespace {

bool is_value(const machine::ParameterRow& row) { return row.parameter == machine::Parameter::value; }

/// Every spin and bit at its largest or smallest value.
std::int32_t put_extreme(const Engine& e, bool largest) {
  for (const machine::ParameterRow& row : machine::parameters_of(e.model())) {
    const double least = row.support == machine::Support::spin ? -1 : 0;
    if (is_value(row)) std::ranges::fill(e.reals(row.buffer), largest ? 1 : least);
  }
  if (const std::int32_t status = e.call(e.model().expectations)) return status;
  return prepare_statistics(e);
}

Parameters values(const Engine& e) {
  Parameters out;
  for (const machine::ParameterRow& row : machine::parameters_of(e.model())) {
    if (is_value(row)) out.emplace_back(e.reals(row.buffer).begin(), e.reals(row.buffer).end());
  }
  return out;
}

/// The sweeps of times -back + 1 .. 0 from an extreme state. The random numbers of a time are the same whatever `back`
/// is.
std::int32_t run_from(const Engine& e, const ExactOptions& o, std::int64_t draw, std::int64_t back, bool largest) {
  if (const std::int32_t status = put_extreme(e, largest)) return status;
  const auto chain = static_cast<std::uint64_t>(draw) + (o.chain << 32);
  machine::set_key(e.machine(), o.seed, chain, -back * e.model().step_count);
  for (std::int64_t t = 0; t < back; ++t) {
    if (const std::int32_t status = sweep(e, {.local_iterations = 1})) return status;
  }
  return 0;
}

}  // namespace

std::string not_exact(const Engine& e) {
  for (const machine::ParameterRow& row : machine::parameters_of(e.model())) {
    if (!is_value(row) || row.chain || (row.support != machine::Support::spin && row.support != machine::Support::bit))
      return "its latent variables are not spins and bits alone";
  }
  Elbo couplings;
  if (e.model().couplings < 0) return "its code has no couplings";
  if (const std::int32_t status = e.call(e.model().couplings)) return e.describe(status);
  const std::span<const double> found = e.reals(e.model().elbo_buffer);
  if (found[1] > 0) return "some of its terms hold more than two of its latent variables";
  if (found[0] < 0) return fmt::format("it is not attractive: a coupling is {:.4g}, below 0", found[0]);
  return "";
}

Outcome run_exact(const Engine& e, const ExactOptions& o, const OnSweep& on_sweep,
                  const std::function<void(double)>& on_draw) {
  Outcome out;
  const PlainAtEnd plain{e};
  e.set({});
  std::int64_t usual = 1;  // how far back the last sample began
  for (std::int64_t draw = 0; draw < o.draws; ++draw) {
    bool met = false;
    for (std::int64_t back = std::max<std::int64_t>(1, usual / 2); !met; back *= 2) {
      if (back > o.furthest) {
        out.status = Status::numerical_failure;
        out.failure = fmt::format("no exact sample: the chains had not met after {} sweeps", back / 2);
        return out;
      }
      if (const std::int32_t status = run_from(e, o, draw, back, false)) return failure(e, status, out);
      const Parameters low = values(e);
      if (const std::int32_t status = run_from(e, o, draw, back, true)) return failure(e, status, out);
      met = values(e) == low;
      usual = back;
      out.iterations += 2 * back;
    }
    Elbo elbo;
    if (const std::int32_t status = e.elbo(elbo)) return failure(e, status, out);
    out.elbo = elbo.value;
    on_draw(out.elbo);
    if (!on_sweep({draw + 1, out.elbo, 1, out.elbo})) {
      out.status = Status::interrupted;
      return out;
    }
  }
  out.status = Status::max_iter;
  return out;
}

}  // namespace lehr
