// Extrapolation by SQUAREM. It needs three successive parameter vectors of plain sweeps, so a few plain sweeps lie
// between two extrapolations. The trust length grows when a step of that length is accepted, and shrinks when one is
// refused.
#include "runtime/inference/extrapolation.h"

#include <algorithm>
#include <cmath>

#include "runtime/inference/geometric.h"
#include "runtime/parallel/snapshot_checks.h"

namespace lehr {
namespace {

constexpr std::size_t kBetween = 4;  // plain sweeps between extrapolations, enough for the stopping rule
constexpr double kSlow = 0.8;        // ratio of successive movements above which convergence is slow
constexpr double kLonger = 8;        // factor by which the trust length changes; also its minimum

/// Returns the length of a step: the root of the sum of each array's relative squared change, so that all arrays count
/// alike.
double length_of(const Parameters& from, const Parameters& to) {
  expect_same_lengths(from, to);
  double out = 0;
  for (std::size_t k = 0; k < from.size(); ++k) {
    double moved = 0, size = 0;
    for (std::size_t i = 0; i < from[k].size(); ++i) {
      moved += (to[k][i] - from[k][i]) * (to[k][i] - from[k][i]);
      size += to[k][i] * to[k][i];
    }
    if (size > 0) out += moved / size;
  }
  return std::sqrt(out);
}

}  // namespace

bool Extrapolation::converges_slowly() const {
  return last_.size() > kBetween && moved_.back() > 0 &&
         factor_of(moved_.front(), moved_.back(), moved_.size() - 1) > kSlow;
}

void Extrapolation::note_sweep() {
  if (after_ == 0) return;
  ++sweeps_;
  ++since_;
  if (sweeps_ + static_cast<std::int64_t>(kBetween) < after_) return;
  last_.push_back(e_.snapshot_parameters());
  if (last_.size() > 1)
    moved_.push_back(e_.recorded([&] { return length_of(*last_[last_.size() - 2], *last_.back()); }));
  if (last_.size() > kBetween + 1) last_.erase(last_.begin());
  if (moved_.size() > kBetween) moved_.erase(moved_.begin());
}

double Extrapolation::length() const {
  const Parameters &a = *last_[kBetween - 2], &b = *last_[kBetween - 1], &c = *last_[kBetween];
  expect_same_lengths(a, b);
  expect_same_lengths(b, c);
  Parameters shifted = c;  // c + v, whose distance from c is |v|, the change from one step to the next
  for (std::size_t k = 0; k < c.size(); ++k) {
    for (std::size_t i = 0; i < c[k].size(); ++i)
      shifted[k][i] = c[k][i] + ((c[k][i] - b[k][i]) - (b[k][i] - a[k][i]));
  }
  const double change = length_of(c, shifted), step = length_of(a, b);
  return change > 0 ? step / change : longest_;
}

bool Extrapolation::try_extrapolation(const Elbo& elbo) {
  if (after_ == 0 || sweeps_ < after_ || !converges_slowly()) return false;
  const double wanted = e_.recorded([&] { return length(); });
  if (!(wanted > 1)) return false;
  at_longest_ = wanted >= longest_;
  before_ = e_.snapshot_state();
  elbo_ = elbo;
  const bool moved = e_.recorded([&] { return move(std::min(wanted, longest_)); });
  if (!moved) e_.load(before_);
  return moved;
}

/// Sets the parameters to a + 2 l (b - a) + l^2 ((c - b) - (b - a)). If one of them leaves its range (positive ones
/// must stay positive), it halves l.
bool Extrapolation::move(double length) {
  const Parameters &a = *last_[kBetween - 2], &b = *last_[kBetween - 1], &c = *last_[kBetween];
  const std::vector<std::int64_t> buffers = e_.global_buffers();
  const Parameters now = e_.global_parameters();
  for (const Parameters* x : {&a, &b, &c})
    expect_same_lengths(*x, now);
  for (; length > 1; length /= 2) {
    bool inside = true;
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      const std::span<double> x = e_.reals(buffers[k]);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double r = b[k][i] - a[k][i], v = (c[k][i] - b[k][i]) - r;
        x[i] = a[k][i] + 2 * length * r + length * length * v;
        inside = inside && std::isfinite(x[i]) && !(a[k][i] > 0 && c[k][i] > 0 && x[i] <= 0);
      }
    }
    if (inside) return e_.call(e_.model().global_expectations) == 0;
  }
  return false;
}

void Extrapolation::accept_or_undo(bool succeeded, Elbo& elbo) {
  last_.clear();
  moved_.clear();
  since_ = 0;
  if (succeeded && elbo.value >= elbo_.value) {
    ++count_.accepted;
    if (at_longest_) longest_ *= kLonger;
    return;
  }
  ++count_.refused;
  longest_ = std::max(kLonger, longest_ / kLonger);
  e_.load(before_);
  elbo = elbo_;
}

}  // namespace lehr
