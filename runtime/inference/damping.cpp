// The copies of q for runtime/machine/damping.h, and its calls, which the journal records as a whole.
#include "runtime/inference/damping.h"

#include <algorithm>

namespace lehr {

using machine::Copy;

/// The state of the engine, and its copies.
class Damping::Run {
 public:
  explicit Run(Damping& d) : d_(d) {}
  const machine::Machine& machine() const { return d_.e_.machine(); }
  void save(Copy to) { copy(to) = d_.e_.save(); }
  void load(Copy from) { d_.e_.load(copy(from)); }
  const double* saved(Copy of, std::int64_t buffer) {
    const auto at = std::ranges::find(d_.buffers_, buffer) - d_.buffers_.begin();
    return copy(of)[static_cast<std::size_t>(at)].data();
  }
  std::int32_t sweep() const { return lehr::sweep(d_.e_, d_.o_, {}); }
  std::int32_t infer(Elbo& out) const { return infer_items(d_.e_, d_.o_, machine::SweepScope::local, out); }
  bool climb(double least, const PlaneSteps::Objective& objective, Elbo& out) {
    return d_.planes_.climb(copy(Copy::before), least, objective, out);
  }

 private:
  Arrays& copy(Copy c) { return d_.copies_[static_cast<std::size_t>(c)]; }

  Damping& d_;
};

Damping::Damping(const Engine& e, const SweepOptions& o)
    : e_(e), o_(o), active_(machine::may_fall(e.model())), planes_(e, o) {
  if (active_) buffers_ = e.state_buffers();
}

std::int32_t Damping::start() {
  if (!active_) return 0;
  judged_ = e_.recorded([&] {
    machine::Judgement out;
    Run run(*this);
    out.status = machine::start_damped(run, out.elbo);
    copies_ = {};
    return out;
  });
  return judged_.status;
}

void Damping::begin() {
  judged_.shortened = false;
  judged_.undone = 0;
  if (!active_) return;
  if (planes_.active()) before_ = e_.snapshot_state();
  e_.recorded([&] {
    Run(*this).save(Copy::before);
    return 0;
  });
}

std::int32_t Damping::end(std::int32_t status, Elbo& elbo, const PlaneSteps::Objective& objective) {
  if (!active_) return status;
  judged_ = e_.recorded([&] {
    Run run(*this);
    const machine::Judgement out = machine::judge_sweep(run, status, elbo, judged_.elbo, objective);
    copies_ = {};
    return out;
  });
  if (judged_.by_planes) planes_.made_by(e_.snapshot([&] { return planes_.take_planes(); }));
  else if (!judged_.shortened) planes_.made_by(before_);
  e_.drop(before_);
  elbo = judged_.elbo;
  return judged_.status;
}

}  // namespace lehr
