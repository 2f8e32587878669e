// Hidden Markov models with Gaussian emissions, by hand, for the updates and the start of
// bench/models/hmm_vectors.lehr. Log emissions are features times natural parameters, and statistics features times
// probabilities of states (Eigen). Compiled for STATES and DIMENSION.
#include "chain.h"
#include "normal_wishart.h"

namespace {

using namespace chain;
constexpr int D = DIMENSION;
struct Prior {
  static constexpr double beta0 = 1e-2, nu0 = DIMENSION, w0 = 0.1;
};
using Components = NormalWishart<K, D, Prior>;
using Matrix = Components::Matrix;

// Coordinates of eight sequences: a column a coordinate, a row a step and lane.
Matrix coordinates(const Group& group, const std::vector<double>& x) {
  Matrix result = Matrix::Zero(static_cast<Eigen::Index>(group.frame.size()), D);
  for (std::size_t i = 0; i < group.frame.size(); i++)
    for (int d = 0; d < D && group.frame[i] >= 0; d++)
      result(static_cast<Eigen::Index>(i), d) = x[static_cast<std::size_t>(group.frame[i] * D + d)];
  return result;
}

void write_features(const Matrix& x, Matrix& f) {
  const Eigen::Index n = x.rows();
  f.col(0).head(n).setOnes();
  for (int a = 0, p = 1 + D; a < D; a++) {
    f.col(1 + a).head(n) = x.col(a);
    for (int b = a; b < D; b++, p++)
      f.col(p).head(n) = x.col(a).cwiseProduct(x.col(b));
  }
}

// Emissions from their logs, the largest of a step taken from each; gives the sum of those.
double emit(Group& group, Matrix& odds, V* emission) {
  V taken = {};
  for (int t = 0; t < group.steps; t++) {
    V g[K], top;
    for (int k = 0; k < K; k++)
      std::memcpy(static_cast<void*>(&g[k]), &odds(t * lanes, k), sizeof(V));
    top = g[0];
    for (int k = 1; k < K; k++)
      top = g[k] > top ? g[k] : top;
    const V here = 1 - group.ended[static_cast<std::size_t>(t)];
    for (int k = 0; k < K; k++)
      emission[t * K + k] = exp<double>(g[k] - top) * here;
    taken += top * here;
  }
  double total = 0;
  for (int l = 0; l < lanes; l++)
    total += taken[l];
  return total;
}

}  // namespace

int main(int count, char** values) {
  bench::arguments(count, values);
  const std::vector<double> x = bench::reals("x");
  std::vector<Group> all_groups = groups(bench::integers("begin"));
  std::vector<Matrix> points;
  for (const Group& group : all_groups)
    points.push_back(coordinates(group, x));
  Moves moves;
  Components components;
  Messages messages(longest(all_groups));
  std::vector<V> scales;
  const Eigen::Index rows = static_cast<Eigen::Index>(longest(all_groups)) * lanes;
  Matrix features(rows, Components::features), table(rows, K);
  double evidence = 0;
  bench::time_sweeps([&] {
    const Weights weights = moves.weights();
    const Matrix naturals = components.natural_parameters();
    Matrix sums = Matrix::Zero(Components::features, K);
    Counts counts;
    evidence = 0;
    for (std::size_t g = 0; g < all_groups.size(); g++) {
      const Eigen::Index n = points[g].rows();
      write_features(points[g], features);
      table.topRows(n).noalias() = features.topRows(n) * naturals;
      evidence += emit(all_groups[g], table, messages.emission.data());
      evidence += smooth(all_groups[g], weights, messages, counts, scales);
      for (int t = 0; t < all_groups[g].steps; t++)
        for (int k = 0; k < K; k++)
          std::memcpy(&table(t * lanes, k), static_cast<void*>(&messages.emission[static_cast<std::size_t>(t * K + k)]),
                      sizeof(V));
      sums.noalias() += features.topRows(n).transpose() * table.topRows(n);
    }
    moves.update(counts, weights);
    components.update(sums);
  });
  moves.write();
  components.write();
  std::fprintf(stderr, "log evidence %.10g\n", evidence);
}
