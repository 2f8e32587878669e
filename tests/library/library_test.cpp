// The C++ library: errors in models and data are values with locations, and fits and predictions agree with closed
// forms.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/files/npz.h"
#include "tests/library/models.h"

using namespace lehr;
using namespace lehr::test;

TEST_CASE("what is wrong with a model is a value, with its place") {
  const Compilation c = compile("model m {\n  plate n;\n  observe x[n] ~ Bernoulli(q);\n}\n", {.name = "m.lehr"});
  CHECK_FALSE(c);
  REQUIRE(c.messages.size() == 1);
  const Message& m = c.messages[0];
  CHECK(m.severity == Message::Severity::error);
  CHECK(m.kind == "unknown_name");
  CHECK(m.line == 3);
  CHECK(m.column == 28);
  CHECK(m.end_column == 29);
  CHECK(m.text.find("'q'") != std::string::npos);
  CHECK(c.text.starts_with("m.lehr:3:28: error: "));
}

TEST_CASE("a program says what data it needs and what it infers") {
  const Program p = require_ok(kMixture);
  CHECK(p.name() == "mixture");
  CHECK(p.data_names() == std::vector<std::string>{"x"});
  CHECK(p.latent_names() == std::vector<std::string>{"pi", "mu", "z"});
}

TEST_CASE("the posterior and the evidence of a coin are exact") {
  std::optional<Fit> fit;
  {
    const std::vector<std::int32_t> x{1, 1, 0, 1, 0, 1, 1};
    fit = require_ok(require_ok(kCoin).fit({view("x", x)}));
  }  // a fit remains valid without its data and its program
  CHECK(fit->status() == FitStatus::converged);
  CHECK(fit->find("p.a")->values[0] == 6);
  CHECK(fit->find("p.b")->values[0] == 3);
  CHECK(fit->elbo() == Approx(std::lgamma(6) + std::lgamma(3) - std::lgamma(9)).epsilon(1e-12));
  CHECK(fit->warnings().empty());
  CHECK_FALSE(fit->find("q.a"));

  const std::vector<double> fresh{1, 0};
  const HeldOutScore score = require_ok(require_ok(kCoin).score(*fit, {view("x", fresh)}));
  CHECK(score.observations == 2);
  CHECK(score.total == Approx(std::log(6.0 / 9) + std::log(3.0 / 9)).epsilon(1e-12));
}

TEST_CASE("predictions are those of closed forms") {
  const Program coin = require_ok(kCoin);
  const std::vector<double> x{1, 0, 1, 1, 1};
  const Fit fit = require_ok(coin.fit({view("x", x)}));
  const Predictions next = require_ok(coin.predict(fit, {}, {.sizes = {{"throw", 2}}}));
  CHECK(next.draws == 0);
  REQUIRE(next.find("x.mean"));
  CHECK(next.find("x.mean")->shape == std::vector<std::int64_t>{2});
  CHECK(next.find("x.mean")->values[1] == Approx(5.0 / 7).epsilon(1e-12));
  CHECK(next.find("x.sd")->values[0] == Approx(std::sqrt(10.0) / 7).epsilon(1e-12));
  CHECK_FALSE(next.find("x.median"));
  CHECK_FALSE(coin.predict(fit, {view("x", x)}));  // nothing is missing
  CHECK_FALSE(coin.predict(fit, Program::Views{}, {.draws = 0, .sizes = {{"throw", 2}}}));

  const Program mixture = require_ok(kMixture);
  const std::vector<double> points_of_three = points(300), gap{std::nan(""), 2.9};
  const Fit clusters = require_ok(mixture.fit({view("x", points_of_three)}));
  const Predictions p = require_ok(mixture.predict(clusters, {view("x", gap)}));
  const auto of = [&](const char* name, std::size_t k) { return clusters.find(name)->values[k]; };
  double total = 0, mean = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    total += of("pi.concentration", k);
    mean += of("pi.concentration", k) * of("mu.mean", k);
  }
  CHECK(p.find("x.mean")->values[0] == Approx(mean / total).epsilon(1e-12));
  CHECK(std::isnan(p.find("x.mean")->values[1]));
}

TEST_CASE("arrays of constants are those of the fit, unless they are given anew") {
  const Program p = require_ok(R"(model offsets { plate g; plate n; const off[g]; data of[n] : g;
    a ~ Normal(mean = 0, precision = 1); observe y[n] ~ Normal(mean = a + off[of[n]], precision = 1); })");
  const std::vector<double> off{10, -20}, of{0, 1, 1}, y{11, -19, -21}, missing(3, std::nan("")), others{1, 2};
  const Fit fit = require_ok(p.fit({view("off", off), view("of", of), view("y", y)}));
  const double mean = (1.0 + 1 - 1) / 4;
  CHECK(fit.find("a.mean")->values[0] == Approx(mean));
  const Predictions next = require_ok(p.predict(fit, {view("of", of), view("y", missing)}));
  CHECK(next.find("y.mean")->values[0] == Approx(10 + mean));
  CHECK(next.find("y.mean")->values[2] == Approx(-20 + mean));
  const Predictions changed = require_ok(p.predict(fit, {view("of", of), view("y", missing), view("off", others)}));
  CHECK(changed.find("y.mean")->values[0] == Approx(1 + mean));
  const std::vector<DataView> data{view("of", of), view("y", y)}, whole{view("of", of), view("y", y), view("off", off)};
  CHECK(require_ok(p.score(fit, data)).total == require_ok(p.score(fit, whole)).total);
  const Fit again = require_ok(p.update(fit, data));
  CHECK(again.find("a.mean")->values[0] == Approx(2.0 / 7));
  CHECK(require_ok(p.infer(fit, data)).find("a.mean")->values[0] == Approx(mean));
}

TEST_CASE("scores and most probable paths of sequences are those of all paths") {
  const Program p = require_ok(R"(model chain { plate seq; plate t in seq ordered; plate k = 2;
    pi ~ Dirichlet(concentration = 2) over k; A[k] ~ Dirichlet(concentration = 2) over k; up[k] ~ Beta(1, 1);
    z[seq, t] ~ Categorical(A[z[seq, t-1]]) start Categorical(pi); observe x[seq, t] ~ Bernoulli(up[z[seq, t]]); })");
  const std::vector<double> x{1, 1, 0, 0, 0, 1, 1, 0, 1}, fresh{0, 1, 1, 0, 0};
  const Fit fit = require_ok(p.fit({ragged("x", x, {0, 4, 9})}));
  const auto of = [&](const char* name, std::size_t k) { return fit.find(name)->values[k]; };
  const auto share = [&](const char* name, std::size_t row, std::size_t k) {
    return of(name, row + k) / (of(name, row) + of(name, row + 1));
  };
  const std::vector<std::int64_t> begins{0, 3, 3, 5};
  std::vector<double> sequences, best;
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    const auto begin = static_cast<std::size_t>(begins[s]), n = static_cast<std::size_t>(begins[s + 1]) - begin;
    double total = 0, most = 0;
    std::size_t top = 0;
    for (std::size_t path = 0; path < std::size_t{1} << n; ++path) {
      double density = 1;
      for (std::size_t t = 0; t < n; ++t) {
        const std::size_t z = path >> t & 1, before = t == 0 ? 0 : path >> (t - 1) & 1;
        const double up = of("up.a", z) / (of("up.a", z) + of("up.b", z));
        density *= t == 0 ? share("pi.concentration", 0, z) : share("A.concentration", 2 * before, z);
        density *= fresh[begin + t] == 1 ? up : 1 - up;
      }
      total += density;
      if (density > most) top = path;
      most = std::max(most, density);
    }
    sequences.push_back(std::log(total));
    for (std::size_t t = 0; t < n; ++t)
      best.push_back(static_cast<double>(top >> t & 1));
  }
  const HeldOutScore score = require_ok(p.score(fit, {ragged("x", fresh, begins)}));
  REQUIRE(score.sequences.size() == 3);
  for (std::size_t s = 0; s < 3; ++s)
    CHECK(score.sequences[s] == Approx(sequences[s]).epsilon(1e-12).margin(1e-14));
  CHECK(score.total == Approx(sequences[0] + sequences[2]).epsilon(1e-12));
  CHECK(require_ok(p.predict(fit, {ragged("x", fresh, begins)})).find("z.path")->values == best);
}

TEST_CASE("the components of new points are those of the optimal factors") {
  const Program p = require_ok(kMixture);
  const std::vector<double> x = points(300), fresh{-6.5, 2.9, 3.2, 7};
  const Fit fit = require_ok(p.fit({view("x", x)}));
  const Fit local = require_ok(p.infer(fit, {view("x", fresh)}));
  CHECK(local.find("mu.mean")->values[0] == fit.find("mu.mean")->values[0]);
  const PosteriorArray probs = *local.find("z.probs");
  CHECK(std::vector(probs.shape.begin(), probs.shape.end()) == std::vector<std::int64_t>{4, 3});
  const auto digamma = [](double a) {
    return (std::lgamma(a * (1 + 1e-5)) - std::lgamma(a * (1 - 1e-5))) / (2e-5 * a);
  };
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    std::vector<double> expected;
    double total = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double distance = fresh[i] - fit.find("mu.mean")->values[k];
      const double variance = 1 / fit.find("mu.precision")->values[k];
      expected.push_back(
          std::exp(digamma(fit.find("pi.concentration")->values[k]) - (distance * distance + variance) / 2));
      total += expected.back();
    }
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(probs.values[3 * i + k] == Approx(expected[k] / total).epsilon(1e-6).margin(1e-12));
  }
}

TEST_CASE("matrices are read whatever their storage order, strides and type") {
  const Program p = require_ok(R"(
model rows {
  plate n;
  plate dim;
  mu           ~ MvNormal(mean = 0, precision = 0.1) over dim;
  observe x[n] ~ MvNormal(mean = mu, precision = 1) over dim;
})");
  Eigen::MatrixXd columns(4, 3);
  columns << 1, 2, 3, 4, 5, 6, 7, 8, 10, -1, 0.5, 2;
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = columns;
  const Eigen::MatrixXf floats = columns.cast<float>();
  Eigen::MatrixXd large = Eigen::MatrixXd::Constant(9, 8, 77);
  large.block(2, 3, 4, 3) = columns;
  const Fit fit = require_ok(p.fit({matrix("x", rows)}));
  const std::vector<double> expected = numbers(fit);
  CHECK(fit.find("mu.mean")->values[0] ==
        Approx(11 / 4.1));  // the sum of the first column over the posterior precision
  CHECK(numbers(require_ok(p.fit({matrix("x", columns)}))) == expected);
  CHECK(numbers(require_ok(p.fit({matrix("x", Eigen::Map<const Eigen::MatrixXd>(columns.data(), 4, 3))}))) == expected);
  CHECK(numbers(require_ok(p.fit({matrix("x", floats)}))) == expected);
  CHECK(numbers(require_ok(p.fit({matrix("x", large.block(2, 3, 4, 3))}))) == expected);
  CHECK(numbers(require_ok(p.fit({view("x", std::span(rows.data(), 12), {4, 3})}))) == expected);
}

TEST_CASE("a vector of Eigen is an array of one axis, a row of a matrix as well") {
  Eigen::MatrixXi throws(3, 5);
  throws << 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1;
  const Program p = require_ok(kCoin);
  CHECK(require_ok(p.fit({matrix("x", throws.row(1))})).find("p.a")->values[0] == 5);
  CHECK(require_ok(p.fit({matrix("x", throws.col(1))})).find("p.a")->values[0] == 3);
  const Eigen::VectorXi copy = throws.row(1).transpose();
  CHECK(require_ok(p.fit({matrix("x", copy)})).find("p.b")->values[0] == 2);
}

TEST_CASE("a callback sees every sweep and can end the fit") {
  const Program p = require_ok(kMixture);
  const std::vector<double> x = points(90);
  std::vector<double> seen;
  const Fit fit = require_ok(p.fit({view("x", x)}, {.restarts = 5}, [&](const Sweep& s) {
    seen.push_back(s.elbo);
    CHECK(s.iteration == static_cast<std::int64_t>(seen.size()));
    return seen.size() < 2;
  }));
  CHECK(fit.status() == FitStatus::interrupted);
  CHECK(fit.iterations() == 2);
  REQUIRE(seen.size() == 2);
  CHECK(seen[1] == fit.elbo());
  CHECK(fit.trace().size() == 2);
}

TEST_CASE("a saved fit is read back, and starts another one") {
  const Program p = require_ok(kMixture);
  const std::vector<double> x = points(90);
  const Fit fit = require_ok(p.fit({view("x", x)}));
  const std::string path = "library_test.npz";
  REQUIRE(fit.save(path));
  const Result<std::vector<NamedArray>> arrays = read_npz(path);
  std::remove(path.c_str());
  REQUIRE(arrays);
  std::vector<double> read;
  for (const NamedArray& a : *arrays)
    read.insert(read.end(), a.values.begin(), a.values.end());
  CHECK(read == numbers(fit));
  FitOptions again{.max_iterations = 0};
  for (const PosteriorArray& a : fit.posterior())
    again.init.push_back(view(std::string(a.name), a.values, {a.shape.begin(), a.shape.end()}));
  CHECK(require_ok(p.fit({view("x", x)}, again)).elbo() == Approx(fit.elbo()).epsilon(1e-12));
}

TEST_CASE("what is wrong with data and options is a value") {
  const Program p = require_ok(kMixture);
  const std::vector<double> x = points(6);
  const auto error = [&](std::vector<DataView> data, const FitOptions& o = {}) {
    const Result<Fit> fit = p.fit(data, o);
    REQUIRE_FALSE(fit);
    return fit.error();
  };
  CHECK(error({}).code == ExitCode::data);
  CHECK(error({view("x", x, {7})}).text.find("shape (7)") != std::string::npos);
  CHECK(error({view("x", x, {-6})}).text.find("no shape") != std::string::npos);
  CHECK(error({view("x", x, {std::int64_t{1} << 40, std::int64_t{1} << 40})}).text.find("no shape") !=
        std::string::npos);
  CHECK(error({view("x", x, {2, 3})}).code == ExitCode::data);  // one axis too many for the model
  CHECK(error({view("x", x), view("x", x)}).text.find("two views") != std::string::npos);
  CHECK(error({{"x", std::span(x), {3}, {3}, {}}}).text.find("outside") != std::string::npos);
  CHECK(error({{"x", std::span(x), {3}, {-1}, {}}}).text.find("negative") != std::string::npos);
  CHECK(error({{"x", std::span(x), {3}, {INT64_MAX}, {}}}).text.find("outside") != std::string::npos);
  CHECK(error({{"x", std::span(x), {3}, {1, 1}, {}}}).text.find("each axis") != std::string::npos);
  CHECK(error({ragged("x", x, {0, 5})}).text.find("row offsets") != std::string::npos);
  CHECK(error({ragged("x", x, {0, 5, 2, 6})}).text.find("fall") != std::string::npos);
  CHECK(error({view("x", x)}, {.anneal = "warm"}).where == "anneal");
  CHECK(error({view("x", x)}, {.temper = "warm"}).where == "temper");
  CHECK(error({view("x", x)}, {.method = "nuts"}).text.starts_with("'nuts' is none of cavi, svi, "));
  CHECK(error({view("x", x)}, {.method = "gibbs", .search = "quick"}).where == "search");
  // A number without effect for the method is warned of.
  const auto batches = p.fit({view("x", x)}, {.batch_size = 10});
  REQUIRE(batches);
  CHECK(batches->warnings()[0] == "batch-size has no effect with method cavi; svi uses it");
  CHECK(error({view("x", x)}, {.anneal = "auto", .temper = "global"}).code == ExitCode::usage);
  CHECK(error({view("x", x)}, {.restarts = 0}).where == "restarts");
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  CHECK(error({view("x", x)}, {.max_iterations = -3}).where == "max_iterations");
  CHECK(error({view("x", x)}, {.tolerance = nan}).where == "tolerance");
  CHECK(error({view("x", x)}, {.local_tolerance = infinite}).where == "local_tolerance");
  CHECK(error({view("x", x)}, {.epochs = infinite}).where == "epochs");
  CHECK(error({view("x", x)}, {.tau0 = infinite}).where == "tau0");
  CHECK(error({view("x", x)}, {.kappa = nan}).where == "kappa");
  CHECK(error({view("x", x)}, {.rho = nan}).where == "rho");
  CHECK(error({view("x", x)}, {.anneal = "linear:from=inf,over=10"}).where == "anneal");
  CHECK(error({view("x", x)}, {.temper = "global:levels=1e9"}).where == "temper");
  CHECK(error({view("x", x)}, {.start = "there"}).where == "start");
  CHECK(error({view("x", x)}, {.init = {view("mu.mean", x)}}).where == "init");
}

TEST_CASE("labels name elements, whatever the program passes") {
  const char* text =
      "model m {\n  plate n;\n  plate k;\n  p ~ Dirichlet(concentration = 1) over k;\n  observe x[n] ~ "
      "Categorical(p);\n}";
  const std::vector<double> x{0, 1, 1};
  const auto fitted = [&](std::vector<std::string> labels) {
    const Compilation c = compile(text, {.labels = {{"k", std::move(labels)}}});
    REQUIRE(c);
    return c.program->fit({view("x", x)});
  };
  CHECK(fitted({"red", "green"}));
  const Result<Fit> twice = fitted({"red", "red"}), latin = fitted({"caf\xe9", "tea"});
  REQUIRE_FALSE(twice);
  CHECK(twice.error().text.find("labels 0 and 1 are both 'red'") != std::string::npos);
  REQUIRE_FALSE(latin);
  CHECK(latin.error().text.find("caf\\xe9") != std::string::npos);
}

TEST_CASE("a start that fails does not lose the others") {
  const Program p = require_ok(
      "model m {\n  plate n;\n  plate k = 2;\n  pi ~ Dirichlet(concentration = 1) over k;\n  t[k] ~ "
      "Jeffreys();\n"
      "  z[n] ~ Categorical(pi);\n  observe x[n] ~ Poisson(t[z[n]]);\n}");
  const std::vector<double> x{0, 0, 0, 0, 0, 0, 0, 0, 9, 5, 4, 7, 30, 35, 28, 36};
  bool seen = false;
  for (std::uint64_t seed = 1; seed < 30 && !seen; ++seed) {
    const Result<Fit> fit = p.fit({view("x", x)}, {.seed = seed, .restarts = 3});
    if (!fit || fit->status() != FitStatus::converged) continue;
    seen =
        std::ranges::any_of(fit->warnings(), [](const std::string& w) { return w.find("no start from ") != w.npos; });
  }
  CHECK(seen);
}

TEST_CASE("a fit that fails says so in its status") {
  // Without any throw, Jeffreys' prior gives an improper posterior.
  const Program p = require_ok("model m {\n  plate n;\n  t ~ Jeffreys();\n  observe x[n] ~ Poisson(t);\n}");
  const std::vector<double> zeros{0, 0};
  const Result<Fit> fit = p.fit({view("x", zeros)});
  if (fit) {
    CHECK(fit->status() == FitStatus::numerical_failure);
    CHECK_FALSE(fit->failure().empty());
  } else {
    CHECK(fit.error().code == ExitCode::numerical);
  }
}
