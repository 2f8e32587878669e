// Compiles a mixture of Gaussians, fits it to points in Eigen matrices by plain coordinate ascent, annealed
// and with a latent temperature, and predicts points that it has not seen.
//
//   mixture FILE.lehr points.csv
//
// The CSV file has one line of column names, then a point a line.
#include <lehr/lehr.h>

#include <Eigen/Dense>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(1);
}

template <class T>
T must(lehr::Result<T> result) {
  if (!result) fail(lehr::render(result.error()));
  return std::move(*result);
}

std::string contents(const char* path) {
  std::ifstream file(path);
  if (!file) fail(std::string("cannot read ") + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Eigen::MatrixXd read_csv(const char* path) {
  std::istringstream file(contents(path));
  std::string line;
  std::getline(file, line);
  std::vector<double> values;
  Eigen::Index rows = 0;
  for (; std::getline(file, line); ++rows) {
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');)
      values.push_back(std::stod(cell));
  }
  if (rows == 0) fail(std::string("no points in ") + path);
  return Eigen::Map<const Rows>(values.data(), rows, static_cast<Eigen::Index>(values.size()) / rows);
}

/// An array of the posterior as a matrix, without a copy: its first axis are the rows.
Eigen::Map<const Rows> as_matrix(const lehr::Fit& fit, std::string_view name) {
  const std::optional<lehr::PosteriorArray> a = fit.find(name);
  if (!a) fail("no " + std::string(name));
  const auto rows = static_cast<Eigen::Index>(a->shape[0]);
  return {a->values.data(), rows, static_cast<Eigen::Index>(a->values.size()) / rows};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("usage: mixture FILE.lehr points.csv");
  const lehr::Compilation compiled = lehr::compile(contents(argv[1]), {.name = argv[1], .constants = {{"K", 4}}});
  if (!compiled) fail(compiled.text);
  const lehr::Program& program = *compiled.program;

  Eigen::MatrixXd points = read_csv(argv[2]);
  points.rowwise() -= points.colwise().mean().eval();
  points.array().rowwise() /= (points.array().square().colwise().mean().sqrt()).eval();
  const Eigen::Index held_out = points.rows() / 5;
  const auto train = points.bottomRows(points.rows() - held_out);  // a view into `points`, and so is `test`
  const auto test = points.topRows(held_out);

  struct Way {
    const char* name;
    std::string anneal, temper;
  };
  std::optional<lehr::Fit> best;
  for (const Way& way :
       {Way{"plain", "", ""}, Way{"annealed", "auto", ""}, Way{"tempered", "", "global:max=5,levels=40"}}) {
    const lehr::FitOptions options{.anneal = way.anneal, .temper = way.temper, .seed = 1, .restarts = 3};
    const lehr::Fit fit = must(program.fit({lehr::matrix("x", train)}, options));
    std::printf("%-9s ELBO %.3f after %d sweeps\n", way.name, fit.elbo(), static_cast<int>(fit.iterations()));
    for (const std::string& warning : fit.warnings())
      std::printf("  %s\n", warning.c_str());
    if (!best || fit.elbo() > best->elbo()) best = fit;
  }

  const lehr::HeldOutScore score = must(program.score(*best, {lehr::matrix("x", test)}));
  std::printf("held out: %.4f nats a point\n", score.total / static_cast<double>(score.observations));
  const lehr::Fit local = must(program.infer(*best, {lehr::matrix("x", test)}));
  const auto probabilities = as_matrix(local, "z.probs");
  const auto means = as_matrix(*best, "mu.mean");
  Eigen::VectorXi count = Eigen::VectorXi::Zero(means.rows());
  for (Eigen::Index i = 0; i < probabilities.rows(); ++i) {
    Eigen::Index component = 0;
    probabilities.row(i).maxCoeff(&component);
    ++count[component];
  }
  for (Eigen::Index k = 0; k < means.rows(); ++k) {
    if (count[k] == 0) continue;
    std::printf("%d new points at", count[k]);
    for (Eigen::Index d = 0; d < means.cols(); ++d)
      std::printf(" %.3f", means(k, d));
    std::printf("\n");
  }
  return 0;
}
