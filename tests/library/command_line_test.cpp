// The library against `lehr fit`: equal options, and the defaults of both, must give equal bits. Saved fits and
// predictions must agree as well.
#include <cstdlib>

#include "runtime/files/dataset.h"
#include "runtime/files/npz.h"
#include "tests/files.h"
#include "tests/library/models.h"
#include "tests/runtime/folder.h"

using namespace lehr;
using namespace lehr::test;

namespace {

std::vector<double> by_command(const std::string& arguments) {
  const Folder out;
  REQUIRE(std::system((LEHR_PROGRAM " fit " + arguments + " --quiet --out " + out.path()).c_str()) == 0);
  std::vector<double> values;
  for (const NamedArray& a : require_ok(read_npz(out / "posterior.npz")))
    values.insert(values.end(), a.values.begin(), a.values.end());
  return values;
}

struct Case {
  std::string arguments;
  FitOptions options;
};

}  // namespace

TEST_CASE("a mixture: every method gives the posterior of the command line") {
  const std::string model = "models/mixtures/gmm.lehr", data = "x=models/data/mixtures/faithful.csv:eruptions,waiting";
  const DataArray x = require_ok(read_binding(data)).at("x");
  const Program p = require_ok(contents(model).c_str(), {.constants = {{"K", 4}}});
  const std::vector<Case> cases{
      {"", {}},
      {"--seed 5 --restarts 2 --init points --save-locals --max-iter 30 --tol 1e-6",
       {.seed = 5, .restarts = 2, .start = "points", .save_locals = true, .max_iterations = 30, .tolerance = 1e-6}},
      {"--anneal exp:from=8,over=20", {.anneal = "exp:from=8,over=20"}},
      {"--anneal auto --max-iter 200", {.anneal = "auto", .max_iterations = 200}},
      {"--temper global:max=5,levels=20", {.temper = "global:max=5,levels=20"}},
      {"--method svi", {.method = "svi"}},
      {"--method svi --batch-size 30 --epochs 3 --tau0 4 --kappa 0.9 --replacement",
       {.method = "svi", .batch_size = 30, .epochs = 3, .tau0 = 4, .kappa = 0.9, .replacement = true}},
      {"--method svi --batch-size 30 --adaptive", {.method = "svi", .batch_size = 30, .adaptive = true}},
      {"--method svi --batch-size 30 --rho 0.1 --local-iters 3 --local-tol 0.1",
       {.method = "svi", .local_iterations = 3, .local_tolerance = 0.1, .batch_size = 30, .rho = 0.1}},
  };
  for (const Case& c : cases) {
    INFO(c.arguments);
    const Fit fit = require_ok(p.fit({view("x", x.values, x.shape)}, c.options));
    CHECK(numbers(fit) == by_command(model + " --data " + data + " --set K=4 " + c.arguments));
  }
}

TEST_CASE("a fit is written as the command line writes it, and read by both") {
  const std::string model = "models/mixtures/gmm.lehr", data = "x=models/data/mixtures/faithful.csv:eruptions,waiting";
  const DataArray x = require_ok(read_binding(data)).at("x");
  const Program p = require_ok(contents(model).c_str(), {.name = model, .constants = {{"K", 3}}});
  const Folder folder;
  const DataView view_of_x = view("x", x.values, x.shape);
  const Fit fit = require_ok(p.fit({view_of_x}, {.anneal = "exp:from=8,over=20"}));
  CHECK(require_ok(fit.write(folder / "library")));
  const std::string run = std::string(LEHR_PROGRAM) + " ";
  REQUIRE(std::system((run + "fit " + model + " --data " + data +
                       " --set K=3 --anneal exp:from=8,over=20 --quiet --out " + (folder / "command"))
                          .c_str()) == 0);
  CHECK(contents(folder / "library/posterior.npz") == contents(folder / "command/posterior.npz"));
  for (const char* directory : {"library", "command"}) {
    INFO(directory);
    CHECK(std::system((run + "score " + (folder / directory) + " --data " + data + " > /dev/null").c_str()) == 0);
    const Fit read = require_ok(p.load(folder / directory));
    CHECK(numbers(read) == numbers(fit));
    CHECK(read.status() == fit.status());
    CHECK(read.elbo() == fit.elbo());
    REQUIRE(read.trace().size() == fit.trace().size());
    CHECK(read.trace().back().elbo == fit.trace().back().elbo);
    CHECK(require_ok(p.score(read, {view_of_x})).total == require_ok(p.score(fit, {view_of_x})).total);
  }
  CHECK(contents(folder / "library/score.json").find("per_observation") != std::string::npos);
}

TEST_CASE("a fit that is read back has its warnings and its temperature") {
  const Program p = require_ok(kMixture);
  const std::vector<double> x = points(30);
  const Fit fit = require_ok(p.fit({view("x", x)}, {.temper = "global:max=10", .max_iterations = 1}));
  REQUIRE(fit.temperature() > 1.05);
  REQUIRE_FALSE(fit.warnings().empty());
  const Folder folder;
  CHECK(require_ok(fit.write(folder / "fit")));
  const Fit read = require_ok(p.load(folder / "fit"));
  CHECK(read.temperature() == fit.temperature());
  CHECK(read.warnings() == fit.warnings());
}

TEST_CASE("topics: ragged rows with counts are those of an LDA-C file") {
  const Folder folder;
  const std::vector<double> expected = by_command("models/topics/lda.lehr --set K=2 --data w=" +
                                                  folder.put("w.ldac", "2 0:3 2:1\n1 1:4\n3 0:1 1:1 3:2\n"));
  const std::vector<std::int32_t> w{0, 2, 1, 0, 1, 3};
  const std::vector<float> count{3, 1, 4, 1, 1, 2};
  const std::vector<std::int64_t> rows{0, 2, 3, 6};
  const Program p = require_ok(contents("models/topics/lda.lehr").c_str(), {.constants = {{"K", 2}}});
  CHECK(numbers(require_ok(p.fit({ragged("w", w, rows), ragged("count", count, rows)}))) == expected);
}

TEST_CASE("predictions are those of lehr predict, drawn ones too") {
  const std::string data = "x=models/data/mixtures/faithful.csv:eruptions,waiting";
  const DataArray x = require_ok(read_binding(data)).at("x");
  const std::string text =
      R"(model m { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 1) over d;
    observe y[n] ~ Bernoulli(logistic(dot(w, x[n]) - 40)); let far[n] = dot(w, x[n]); })";
  const Folder folder;
  std::vector<double> y;
  std::string table = "y\n";
  for (std::int64_t i = 0; i < x.shape[0]; ++i) {
    y.push_back(i % 3 == 0 ? 1 : 0);
    table += i % 3 == 0 ? "1\n" : "0\n";
  }
  REQUIRE(std::system((LEHR_PROGRAM " fit " + folder.put("m.lehr", text) + " --data " + data +
                       " --data y=" + folder.put("y.csv", table) + ":y --quiet --out " + (folder / "fit"))
                          .c_str()) == 0);
  REQUIRE(std::system((LEHR_PROGRAM " predict " + (folder / "fit") + " --data " + data + " --draws 50 --out " +
                       (folder / "p.npz") + " > /dev/null")
                          .c_str()) == 0);
  const std::vector<NamedArray> expected = require_ok(read_npz(folder / "p.npz"));
  const Program p = require_ok(text.c_str());
  const Fit fit = require_ok(p.fit({view("x", x.values, x.shape), view("y", y)}));
  const Predictions got = require_ok(p.predict(fit, {view("x", x.values, x.shape)}, {.draws = 50}));
  REQUIRE(got.arrays.size() == expected.size());
  for (const NamedArray& a : expected) {
    INFO(a.name);
    REQUIRE(got.find(a.name));
    CHECK(got.find(a.name)->shape == a.shape);
    CHECK(got.find(a.name)->values == a.values);
  }
}
