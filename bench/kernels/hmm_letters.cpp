// Hidden Markov models that emit letters, by hand, for the updates and the start of bench/models/hmm_letters.lehr.
#include "chain.h"

namespace {

using namespace chain;
constexpr int width = (K + lanes - 1) / lanes, padded = width * lanes;

// Rows of letters, padded to whole vectors; the last row is that of a sequence that has ended.
struct Letters {
  std::size_t count = static_cast<std::size_t>(bench::integers("letters")[0]);
  std::vector<double> concentration = bench::reals("B.concentration");  // [state][letter]
  Vectors<double> weight{(count + 1) * width}, sum{(count + 1) * width};

  void weigh() {
    double factor[padded] = {};
    for (std::size_t k = 0; k < K; k++)
      factor[k] =
          std::exp(-bench::digamma(std::accumulate(&concentration[k * count], &concentration[k * count] + count, 0.0)));
    for (std::size_t w = 0; w < count; w++)
      for (std::size_t j = 0; j < width; j++) {
        V c = all(1.0), f;
        for (std::size_t l = 0; l < lanes; l++)
          if (j * lanes + l < K) c[l] = concentration[(j * lanes + l) * count + w];
        std::memcpy(static_cast<void*>(&f), factor + j * lanes, sizeof f);
        weight[w * width + j] = exp_digamma<double>(c) * f;
      }
  }
  void update() {
    for (std::size_t k = 0; k < K; k++)
      for (std::size_t w = 0; w < count; w++)
        concentration[k * count + w] = 0.5 + sum.elements()[w * padded + k];
  }
};

// Eight rows of a table, one a lane, become columns.
void gather(const V* table, const std::size_t* row, V* column) {
#pragma GCC unroll 4
  for (int j = 0; j < width; j++) {
    V r[8];
#pragma GCC unroll 8
    for (int l = 0; l < lanes; l++)
      r[l] = table[row[l] * width + static_cast<std::size_t>(j)];
    transpose(r);
    for (int l = 0; l < lanes && j * lanes + l < K; l++)
      column[j * lanes + l] = r[l];
  }
}

void scatter(const V* column, const std::size_t* row, V* table) {
#pragma GCC unroll 4
  for (int j = 0; j < width; j++) {
    V r[8] = {};
    for (int l = 0; l < lanes && j * lanes + l < K; l++)
      r[l] = column[j * lanes + l];
    transpose(r);
#pragma GCC unroll 8
    for (int l = 0; l < lanes; l++)
      table[row[l] * width + static_cast<std::size_t>(j)] += r[l];
  }
}

}  // namespace

int main(int count, char** values) {
  bench::arguments(count, values);
  const std::vector<long> x = bench::integers("x");
  std::vector<Group> all_groups = groups(bench::integers("begin"));
  Moves moves;
  Letters letters;
  std::vector<std::vector<std::size_t>> rows;
  for (const Group& group : all_groups) {
    rows.emplace_back();
    for (long frame : group.frame)
      rows.back().push_back(frame < 0 ? letters.count : static_cast<std::size_t>(x[static_cast<std::size_t>(frame)]));
  }
  Messages messages(longest(all_groups));
  std::vector<V> scales;
  double evidence = 0;
  bench::time_sweeps([&] {
    const Weights weights = moves.weights();
    Counts counts;
    letters.weigh();
    std::memset(static_cast<void*>(letters.sum.data()), 0, (letters.count + 1) * width * sizeof(V));
    evidence = 0;
    for (std::size_t g = 0; g < all_groups.size(); g++) {
      const std::size_t steps = static_cast<std::size_t>(all_groups[g].steps);
      for (std::size_t t = 0; t < steps; t++)
        gather(letters.weight.data(), &rows[g][t * lanes], &messages.emission[t * K]);
      evidence += smooth(all_groups[g], weights, messages, counts, scales);
      for (std::size_t t = 0; t < steps; t++)
        scatter(&messages.emission[t * K], &rows[g][t * lanes], letters.sum.data());
    }
    moves.update(counts, weights);
    letters.update();
  });
  moves.write();
  bench::write("B.concentration", letters.concentration);
  std::fprintf(stderr, "log evidence %.10g\n", evidence);
}
