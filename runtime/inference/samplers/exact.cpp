// Coupling from the past. The random numbers of time t < 0 are a function of t and of the sample. So a run that begins
// further in the past uses the same numbers at the same times. The distance doubles until all runs have met.
#include "runtime/inference/samplers/exact.h"

namespace lehr {

Couplings couplings(const Engine& e) {
  Couplings out;
  out.status = e.call(e.model().couplings);
  const std::span<const double> values = e.reals(e.model().elbo_buffer);
  out.least = values[0];
  out.of_pairs = values[1] == 0;
  return out;
}

std::int32_t run_envelope(const Engine& e, const ExactOptions& o, std::int64_t draw, std::int64_t back,
                          double& undecided) {
  const machine::Model& m = e.model();
  if (const std::int32_t status = e.call(m.open_envelope)) return status;
  const auto chain = static_cast<std::uint64_t>(draw) + (o.chain << 32);
  // The key of a step depends on its distance from time 0 alone, so its random numbers are the same for every `back`.
  for (std::int64_t step = -back * m.step_count; step < 0; ++step) {
    machine::set_key(e.machine(), o.seed, chain, step + 1);
    const std::int64_t position = (step + back * m.step_count) % m.step_count;
    if (const std::int32_t status = e.call(m.first_envelope + position)) return status;
  }
  if (const std::int32_t status = e.call(m.undecided)) return status;
  undecided = e.recorded([&] { return e.reals(m.elbo_buffer)[0]; });
  return 0;
}

Outcome coupled_draws(const Engine& e, const ExactOptions& o, const std::string& what, const RunFromThePast& run,
                      const OnSweep& on_sweep, const std::function<void(double)>& on_draw) {
  Outcome out;
  const WeightsGuard plain{e};
  e.set({});
  std::int64_t usual = 1;  // sweeps before time 0 at which the last sample began
  for (std::int64_t draw = 0; draw < o.draws; ++draw) {
    double undecided = 1;
    for (std::int64_t back = std::max<std::int64_t>(1, usual / 2); undecided > 0; back *= 2) {
      if (back > o.furthest) {
        out.status = Status::numerical_failure;
        out.failure = "no exact sample: " + std::to_string(static_cast<std::int64_t>(undecided)) + " " + what +
                      " are not decided after " + std::to_string(back / 2) + " sweeps";
        return out;
      }
      if (const std::int32_t status = run(draw, back, undecided)) return failure(e, status, out);
      usual = back;
      out.iterations += 2 * back;
    }
    const std::int32_t summed = e.recorded([&] { return machine::sum_statistics(e.machine()); });
    if (summed != 0) return failure(e, summed, out);
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

Outcome run_exact(const Engine& e, const ExactOptions& o, const OnSweep& on_sweep,
                  const std::function<void(double)>& on_draw) {
  const auto run = [&](std::int64_t draw, std::int64_t back, double& undecided) {
    return run_envelope(e, o, draw, back, undecided);
  };
  return coupled_draws(e, o, "elements", run, on_sweep, on_draw);
}

}  // namespace lehr
