// Divisions of a component's elements, by features or at random. Features are standardised over the members, so that
// directions in which the component itself is wide do not dominate.
#include "runtime/search/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lehr {
namespace {

constexpr std::size_t kFew = 3;     // elements of a small part: as many as a start from seeds gives each value
constexpr int kMaxIterations = 20;  // most iterations of k-means

/// Returns the size of a small part of so many members.
std::size_t few_of(std::size_t members) { return std::min(kFew, members / 2); }

/// The features of the members of a component, standardised over them.
class Cloud {
 public:
  Cloud(const std::vector<std::int64_t>& members, const Features& f) : columns_(f.columns), n_(members.size()) {
    for (const std::int64_t i : members) {
      const auto row = f.values.begin() + i * static_cast<std::int64_t>(columns_);
      x_.insert(x_.end(), row, row + static_cast<std::int64_t>(columns_));
    }
    const double n = static_cast<double>(n_);
    for (std::size_t c = 0; c < columns_; ++c) {
      double mean = 0, square = 0;
      for (std::size_t i = 0; i < n_; ++i)
        mean += at(i, c) / n;
      for (std::size_t i = 0; i < n_; ++i) {
        at(i, c) -= mean;
        square += at(i, c) * at(i, c) / n;
      }
      for (std::size_t i = 0; i < n_ && square > 0; ++i)
        at(i, c) /= std::sqrt(square);
    }
  }

  std::size_t size() const { return n_; }
  /// Returns the features of a member.
  std::vector<double> point(std::size_t i) const {
    const auto row = x_.begin() + static_cast<std::ptrdiff_t>(i * columns_);
    return {row, row + static_cast<std::ptrdiff_t>(columns_)};
  }
  /// Returns the mean of all members, which is 0 after standardisation.
  std::vector<double> mean() const { return std::vector<double>(columns_, 0.0); }
  /// Returns the mean of the members on one side.
  std::vector<double> mean_of(const std::vector<bool>& in, bool side) const {
    std::vector<double> out(columns_, 0.0);
    double n = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (in[i] != side) continue;
      ++n;
      for (std::size_t c = 0; c < columns_; ++c)
        out[c] += x_[i * columns_ + c];
    }
    for (double& x : out)
      x /= std::max(n, 1.0);
    return out;
  }
  /// Returns the squared distance of each member from a centre.
  std::vector<double> from(const std::vector<double>& centre) const {
    std::vector<double> out(n_, 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t c = 0; c < columns_; ++c) {
        const double d = x_[i * columns_ + c] - centre[c];
        out[i] += d * d;
      }
    }
    return out;
  }

 private:
  double& at(std::size_t i, std::size_t c) { return x_[i * columns_ + c]; }

  std::size_t columns_, n_;
  std::vector<double> x_;
};

/// Draws a member with probability proportional to its squared distance.
std::size_t far_one(const std::vector<double>& distances, Rng& rng) {
  if (std::accumulate(distances.begin(), distances.end(), 0.0) <= 0) return draw_below(rng, distances.size());
  return static_cast<std::size_t>(draw_categorical(rng, distances));
}

/// Divides by k-means with two centres, from k-means++ seeds (Arthur & Vassilvitskii 2007). Returns the side of each
/// member.
std::vector<bool> two_means(const Cloud& x, Rng& rng) {
  std::vector<double> first = x.point(draw_below(rng, x.size()));
  std::vector<double> second = x.point(far_one(x.from(first), rng));
  std::vector<bool> out(x.size());
  for (int round = 0; round < kMaxIterations; ++round) {
    const std::vector<double> a = x.from(first), b = x.from(second);
    std::vector<bool> now(x.size());
    for (std::size_t i = 0; i < now.size(); ++i)
      now[i] = b[i] < a[i];
    if (round > 0 && now == out) break;
    out = std::move(now);
    first = x.mean_of(out, false);
    second = x.mean_of(out, true);
  }
  return out;
}

/// Selects a member far from the mean and those nearest to it, a quarter of all.
std::vector<bool> ball(const Cloud& x, Rng& rng) {
  const std::vector<double> near = x.from(x.point(far_one(x.from(x.mean()), rng)));
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return near[i]; });
  std::vector<bool> out(x.size());
  for (std::size_t i = 0; i < std::max(few_of(x.size()), x.size() / 4); ++i)
    out[order[i]] = true;
  return out;
}

/// Selects `size` of n members at random.
std::vector<bool> random_part(std::size_t n, std::size_t size, Rng& rng) {
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  shuffle(rng, order);
  std::vector<bool> out(n);
  for (std::size_t i = 0; i < size; ++i)
    out[static_cast<std::size_t>(order[i])] = true;
  return out;
}

/// Selects the first half of every run of consecutive elements.
std::vector<bool> early(const std::vector<std::int64_t>& members) {
  std::vector<bool> out(members.size());
  for (std::size_t first = 0, end = 0; first < members.size(); first = end) {
    for (end = first + 1; end < members.size() && members[end] == members[end - 1] + 1;)
      ++end;
    for (std::size_t i = first; i < first + (end - first) / 2; ++i)
      out[i] = true;
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> smaller_part(const std::vector<std::int64_t>& members, const Features& features,
                                       SplitRule division, Rng& rng) {
  const std::size_t n = members.size();
  if (n < 2) return {};
  const bool blind = features.columns == 0;
  std::vector<bool> in;
  if (division == SplitRule::early) in = early(members);
  else if (division == SplitRule::half || (blind && division == SplitRule::two_means)) in = random_part(n, n / 2, rng);
  else if (division == SplitRule::few || blind) in = random_part(n, few_of(n), rng);
  else if (division == SplitRule::ball) in = ball(Cloud(members, features), rng);
  else in = two_means(Cloud(members, features), rng);
  // The smaller part is the one that is moved.
  if (2 * static_cast<std::size_t>(std::ranges::count(in, true)) > n) in.flip();
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < n; ++i) {
    if (in[i]) out.push_back(members[i]);
  }
  return out;
}

}  // namespace lehr
