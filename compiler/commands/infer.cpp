#include "compiler/commands/infer.h"

#include <fmt/format.h>

namespace lehr::commands {
namespace {

Error usage(const std::string& option, const std::string& text, std::vector<std::string> notes = {}) {
  return {lehr::ExitCode::usage, option, text, std::move(notes)};
}

}  // namespace

Result<Method> read_method(const FitOptions& o) {
  Method out;
  if (!o.temper.empty()) {
    const Result<TemperSettings> temper = parse_temper(o.temper);
    if (!temper) return temper.error();
    if (!o.anneal.empty())
      return usage("--temper", "the temperature is either latent or annealed: leave out --anneal");
    out.temper = *temper;
  }
  if (o.anneal.empty()) return out;
  Result<AnnealSpec> anneal = parse_anneal(o.anneal);
  if (!anneal) return anneal.error();
  out.anneal = std::move(*anneal);
  if (o.method != "svi") return out;
  if (std::holds_alternative<AutoAnneal>(*out.anneal))
    return usage("--anneal", "auto measures with full sweeps: it goes with --method cavi",
                 {"for svi give a schedule, such as linear:from=1.5,over=N with N steps"});
  if (std::get<Annealing>(*out.anneal).kind == Annealing::Kind::stochastic)
    return usage("--anneal",
                 "stochastic annealing goes with --method cavi: steps of svi are noisy by themselves");
  return out;
}

Outcome infer(const Engine& engine, const FitOptions& o, const Method& method, std::uint64_t restart,
              const OnSweep& on_sweep, FitRun& run) {
  SviOptions options = o.inference;
  options.seed = o.seed + 1000003 * restart;
  if (run.tempering && o.method == "svi") {
    if (run.tempering->local) options.items = run.tempering->items();
    else options.grid = run.tempering->grid();
    return run_svi(engine, options, on_sweep, &run.temper_report);
  }
  if (run.tempering && run.tempering->local)
    return run_items_tempered(engine, options, run.tempering->items(), on_sweep, run.temper_report);
  if (run.tempering)
    return run_tempered(engine, run.tempering->options(options), on_sweep, run.temper_report);
  if (method.anneal) {
    if (const auto* automatic = std::get_if<AutoAnneal>(&*method.anneal)) {
      AutoOptions a;
      static_cast<CaviOptions&>(a) = options;
      a.cycles = automatic->cycles;
      a.budget = automatic->sweeps;
      run.automatic.emplace();
      return run_auto(engine, a, on_sweep, *run.automatic);
    }
    options.annealing = std::get<Annealing>(*method.anneal);
  }
  return o.method == "svi" ? run_svi(engine, options, on_sweep) : run_cavi(engine, options, on_sweep);
}

std::string describe(const AutoReport& r, const Outcome& outcome) {
  std::string out = fmt::format("plain ascent: ELBO {:.6f} after {} sweeps\n", r.plain_elbo, r.plain_sweeps);
  if (r.melting == 0)
    return out +
           "nothing melted: the model has no discrete local variables whose entropy could rise; not "
           "annealed\n";
  out += fmt::format("melting temperature {:.2f} (local entropy risen by 70 % of its way)\n", r.melting);
  if (r.plateau) out += "the entropy rose in two steps: one arm more, from the first\n";
  for (const AutoReport::Arm& a : r.arms)
    out += fmt::format("arm from T = {:.2f}: ELBO {:.6f}{}\n", a.from, a.elbo, a.kept ? ", kept" : "");
  return out + fmt::format("gain over plain ascent {:.6f}, {} sweeps in all\n", outcome.elbo - r.plain_elbo,
                           outcome.iterations);
}

}  // namespace lehr::commands
