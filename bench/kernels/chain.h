// Forward and backward over eight sequences at a time, one in each lane, in scaled products of probabilities. Sequences
// are sorted by length; where one of the eight has ended, its emissions are 0 and `ended` is 1, so that its messages
// stay finite. Compiled for STATES.
#pragma once
#include <algorithm>
#include <numeric>
#include "../native/bench.h"
#include "../native/vectors.h"

namespace chain {

using V = Vector<double>;
constexpr int K = STATES, lanes = 8;

// Eight sequences: frame[t * 8 + lane] of the data, -1 where the sequence has ended.
struct Group {
  int steps = 0;
  std::vector<long> frame;
  Vectors<double> ended{1};
};

inline std::vector<Group> groups(const std::vector<long>& begin) {
  const std::size_t count = begin.size() - 1;
  auto length = [&](std::size_t s) { return begin[s + 1] - begin[s]; };
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
  std::vector<Group> result((count + lanes - 1) / lanes);
  for (std::size_t g = 0; g < result.size(); g++) {
    Group& group = result[g];
    group.steps = static_cast<int>(length(order[g * lanes]));
    const std::size_t steps = static_cast<std::size_t>(group.steps);
    group.frame.assign(steps * lanes, -1);
    group.ended = Vectors<double>(steps);
    for (std::size_t t = 0; t < steps; t++)
      for (std::size_t l = 0; l < lanes; l++) {
        const bool here = g * lanes + l < count && static_cast<long>(t) < length(order[g * lanes + l]);
        if (here) group.frame[t * lanes + l] = begin[order[g * lanes + l]] + static_cast<long>(t);
        group.ended[t][l] = here ? 0 : 1;
      }
  }
  return result;
}

struct Weights {
  double start[K], move[K][K];  // exp(E log) of the two
};

struct Counts {
  V start[K] = {}, move[K][K] = {};  // move: still to be multiplied by the weights
};

struct Messages {
  Vectors<double> emission, forward, backward;  // [t][state]; emission becomes the probabilities of states
  explicit Messages(std::size_t steps) : emission(steps * K), forward(steps * K), backward(steps * K) {}
};

inline void forward_step(const V* before, const Weights& w, const V* emission, V ended, V* a, V* scale) {
  V next[K], sum = ended;
#pragma GCC unroll 16
  for (int j = 0; j < K; j++) {
    V x = {}, y = {};
#pragma GCC unroll 16
    for (int i = 0; i + 1 < K; i += 2) {
      x += before[i] * w.move[i][j];
      y += before[i + 1] * w.move[i + 1][j];
    }
    if (K % 2) x += before[K - 1] * w.move[K - 1][j];
    next[j] = (x + y) * emission[j];
    sum += next[j];
  }
  *scale = 1 / sum;
  for (int j = 0; j < K; j++)
    a[j] = next[j] * *scale;
}

// Sums of neighbours' messages over the steps, in tiles that stay in registers.
inline void pairs(const Messages& m, int steps, Counts& counts) {
  constexpr int tile = K % 5 == 0 ? 5 : K % 4 == 0 ? 4 : 1;
  for (int i0 = 0; i0 < K; i0 += tile)
    for (int j0 = 0; j0 < K; j0 += tile) {
      V sum[tile][tile] = {};
      for (int t = 1; t < steps; t++) {
        const V *p = &m.forward.memory[(t - 1) * K + i0], *q = &m.backward.memory[t * K + j0];
#pragma GCC unroll 8
        for (int i = 0; i < tile; i++)
#pragma GCC unroll 8
          for (int j = 0; j < tile; j++)
            sum[i][j] += p[i] * q[j];
      }
      for (int i = 0; i < tile; i++)
        for (int j = 0; j < tile; j++)
          counts.move[i0 + i][j0 + j] += sum[i][j];
    }
}

// Probabilities of states in place of emissions, and counts of starts and moves; gives the log of the evidence.
inline double smooth(Group& group, const Weights& w, Messages& m, Counts& counts, std::vector<V>& scales) {
  V *e = m.emission.data(), *f = m.forward.data(), *u = m.backward.data();
  V sum = group.ended[0], log_evidence = {};
  for (int k = 0; k < K; k++)
    sum += f[k] = e[k] * w.start[k];
  scales.resize(static_cast<std::size_t>(group.steps));
  scales[0] = 1 / sum;
  for (int k = 0; k < K; k++)
    f[k] *= scales[0];
  for (int t = 1; t < group.steps; t++)
    forward_step(f + (t - 1) * K, w, e + t * K, group.ended[static_cast<std::size_t>(t)], f + t * K,
                 &scales[static_cast<std::size_t>(t)]);
  for (int t = 0; t < group.steps; t++)
    log_evidence -= log<double>(scales[static_cast<std::size_t>(t)]);
  V b[K];
  for (V& v : b)
    v = all(1.0);
  for (int t = group.steps - 1; t >= 1; t--) {
    V *et = e + t * K, *ut = u + t * K;
#pragma GCC unroll 16
    for (int k = 0; k < K; k++) {
      ut[k] = et[k] * b[k] * scales[static_cast<std::size_t>(t)];
      et[k] = f[t * K + k] * b[k];
    }
    const V ended = group.ended[static_cast<std::size_t>(t)];
#pragma GCC unroll 16
    for (int i = 0; i < K; i++) {
      V x = ended, y = {};
#pragma GCC unroll 16
      for (int j = 0; j + 1 < K; j += 2) {
        x += ut[j] * w.move[i][j];
        y += ut[j + 1] * w.move[i][j + 1];
      }
      if (K % 2) x += ut[K - 1] * w.move[i][K - 1];
      b[i] = x + y;
    }
  }
  for (int k = 0; k < K; k++)
    counts.start[k] += e[k] = f[k] * b[k];
  pairs(m, group.steps, counts);
  double total = 0;
  for (int l = 0; l < lanes; l++)
    total += log_evidence[l];
  return total;
}

// Concentrations of the start and of the rows of moves, with the weights they give.
struct Moves {
  std::vector<double> start = bench::reals("pi.concentration"), move = bench::reals("A.concentration");

  static void weigh(const double* c, double* w) {
    const double total = bench::digamma(std::accumulate(c, c + K, 0.0));
    for (int k = 0; k < K; k++)
      w[k] = std::exp(bench::digamma(c[k]) - total);
  }
  Weights weights() const {
    Weights w;
    weigh(start.data(), w.start);
    for (int i = 0; i < K; i++)
      weigh(&move[static_cast<std::size_t>(i * K)], w.move[i]);
    return w;
  }
  void update(const Counts& counts, const Weights& w) {
    for (int i = 0; i < K; i++) {
      start[static_cast<std::size_t>(i)] = 1;
      for (int l = 0; l < lanes; l++)
        start[static_cast<std::size_t>(i)] += counts.start[i][l];
      for (int j = 0; j < K; j++) {
        double sum = 0;
        for (int l = 0; l < lanes; l++)
          sum += counts.move[i][j][l];
        move[static_cast<std::size_t>(i * K + j)] = 1 + w.move[i][j] * sum;
      }
    }
  }
  void write() const {
    bench::write("pi.concentration", start);
    bench::write("A.concentration", move);
  }
};

inline std::size_t longest(const std::vector<Group>& groups) { return static_cast<std::size_t>(groups[0].steps); }

}  // namespace chain
