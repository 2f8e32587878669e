// Variational Bayes for latent Dirichlet allocation, by hand, for the updates and the start of models/topics/lda.lehr:
// INNER passes over each document, the statistics of the last one, then the topics. Rows of exp(E log beta) of a
// document are copied side by side, eight tokens go together, and exp(E log theta) needs no normaliser, because a
// token's probabilities are normalised. Compiled for TOPICS, INNER and REAL (double or float).
#include "../native/bench.h"
#include "../native/vectors.h"

namespace {

using Real = REAL;
using V = Vector<Real>;
using Eight = EightOf<Real>::V;
constexpr int lanes = Lanes<Real>::count, width = (TOPICS + lanes - 1) / lanes, padded = width * lanes;
constexpr double prior = 1.0 / TOPICS;

struct Corpus {
  std::vector<long> begin = bench::integers("begin"), term = bench::integers("term");
  std::vector<double> count = bench::reals("count");
  std::size_t documents = begin.size() - 1, terms = static_cast<std::size_t>(bench::integers("terms")[0]);
};

struct Topics {
  Vectors<Real> concentration, weight, sums;  // [term][topic]; weight: exp(E log beta); sums: of weighted shares
  explicit Topics(std::size_t terms) : concentration(terms * width), weight(terms * width), sums(terms * width) {}
};

struct Document {
  std::size_t room = 0;
  Vectors<Real> rows{1}, counts{1};
  void reserve(std::size_t tokens) {
    if (tokens <= room) return;
    room = 2 * tokens;
    rows = Vectors<Real>(room * width);
    counts = Vectors<Real>(room);
  }
};

// Eight tokens: their shares, and what they add to the document's topics.
inline void group(const V* rows, const V* theta, const Real* counts, Real* share, V* into) {
  V p[8] = {};
#pragma GCC unroll 16
  for (int j = 0; j < width; j++) {
#pragma GCC unroll 8
    for (int r = 0; r < 8; r++)
      p[r] += theta[j] * rows[r * width + j];
  }
  const Eight s = *reinterpret_cast<const Eight*>(counts) / (sums<Real>(p) + Real(1e-30));
  std::memcpy(share, &s, sizeof s);
#pragma GCC unroll 16
  for (int j = 0; j < width; j++) {
    V a = into[j], b = {};
#pragma GCC unroll 8
    for (int r = 0; r < 8; r += 2) {
      a += share[r] * rows[r * width + j];
      b += share[r + 1] * rows[(r + 1) * width + j];
    }
    into[j] = a + b;
  }
}

void document(const Corpus& corpus, std::size_t d, Document& scratch, V* theta, Topics& topics) {
  const std::size_t first = static_cast<std::size_t>(corpus.begin[d]),
                    n = static_cast<std::size_t>(corpus.begin[d + 1]) - first;
  const std::size_t whole = (n + 7) / 8 * 8;
  scratch.reserve(whole);
  V* rows = scratch.rows.data();
  Real* counts = scratch.counts.elements();
  for (std::size_t i = 0; i < n; i++) {
    std::memcpy(static_cast<void*>(rows + i * width),
                &topics.weight[static_cast<std::size_t>(corpus.term[first + i]) * width], sizeof(V) * width);
    counts[i] = static_cast<Real>(corpus.count[first + i]);
  }
  std::memset(static_cast<void*>(rows + n * width), 0, (whole - n) * width * sizeof(V));
  for (std::size_t i = n; i < whole; i++)
    counts[i] = 0;
  alignas(64) Real share[8];
  for (int pass = 0; pass < INNER; pass++) {
    V into[width] = {};
    for (std::size_t i = 0; i < whole; i += 8) {
      group(rows + i * width, theta, counts + i, share, into);
      for (std::size_t r = 0; pass == INNER - 1 && r < 8 && i + r < n; r++) {
        V* sum = &topics.sums[static_cast<std::size_t>(corpus.term[first + i + r]) * width];
        for (int j = 0; j < width; j++)
          sum[j] += share[r] * theta[j];
      }
    }
    for (int j = 0; j < width; j++)
      theta[j] = exp_digamma<Real>(Real(prior) + theta[j] * into[j]);
  }
}

// exp(E log beta); what the padding weighs is 0.
void weigh(Topics& topics, std::size_t terms) {
  Vectors<double> total(padded / 8);
  for (std::size_t w = 0; w < terms; w++)
    for (std::size_t k = 0; k < padded; k++)
      total.elements()[k] += topics.concentration.elements()[w * padded + k];
  V scale[width];
  for (std::size_t k = 0; k < padded; k++) {
    const Real factor = k < TOPICS ? static_cast<Real>(std::exp(-bench::digamma(total.elements()[k]))) : 0;
    reinterpret_cast<Real*>(scale)[k] = factor;
  }
  for (std::size_t w = 0; w < terms; w++)
    for (std::size_t j = 0; j < width; j++)
      topics.weight[w * width + j] = exp_digamma<Real>(topics.concentration[w * width + j]) * scale[j];
}

}  // namespace

int main(int count, char** values) {
  bench::arguments(count, values);
  const Corpus corpus;
  Topics topics(corpus.terms);
  const std::vector<double> start = bench::reals("beta.concentration");
  for (std::size_t w = 0; w < corpus.terms; w++)
    for (std::size_t k = 0; k < padded; k++)
      topics.concentration.elements()[w * padded + k] = k < TOPICS ? static_cast<Real>(start[k * corpus.terms + w]) : 1;
  Vectors<Real> theta(corpus.documents * width);
  for (std::size_t i = 0; i < corpus.documents * width; i++)
    theta[i] = all<Real>(1);
  Document scratch;
  weigh(topics, corpus.terms);
  bench::time_sweeps([&] {
    std::memset(static_cast<void*>(topics.sums.data()), 0, corpus.terms * width * sizeof(V));
    for (std::size_t d = 0; d < corpus.documents; d++)
      document(corpus, d, scratch, &theta[d * width], topics);
    for (std::size_t i = 0; i < corpus.terms * width; i++)
      topics.concentration[i] = Real(prior) + topics.sums[i] * topics.weight[i];
    weigh(topics, corpus.terms);
  });
  std::vector<double> result(TOPICS * corpus.terms);
  for (std::size_t i = 0; i < result.size(); i++)
    result[i] = topics.concentration.elements()[i % corpus.terms * padded + i / corpus.terms];
  bench::write("beta.concentration", result);
}
