// Constant folding during lowering: numbers that are constant when a model is lowered must not be computed by the
// generated code.
#include <catch2/catch.hpp>

#include <string>

#include "compiler/pipeline.h"

using namespace lehr;

namespace {

/// The function that computes the ELBO of categories with this prior.
std::string elbo_with(const std::string& prior) {
  const Source source{"test", "model m { plate n; plate k = 3;\n p ~ Dirichlet(concentration = " + prior +
                                  ") over k;\n observe x[n] ~ Categorical(p); }"};
  Diagnostics diagnostics;
  const auto text = emit(source, "loops", {}, diagnostics);
  REQUIRE(text);
  REQUIRE(*text);
  const std::size_t begin = (*text)->find("function elbo()");
  REQUIRE(begin != std::string::npos);
  return (*text)->substr(begin);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("numbers: sums of one number over a plate, and terms that are 0, are not computed") {
  const std::string flat = elbo_with("1");
  INFO(flat);
  CHECK(has(flat, "0.693147"));  // log Gamma(3)
  CHECK(!has(flat, "0 * "));
  const std::string peaked = elbo_with("2.5");
  INFO(peaked);
  CHECK(has(peaked, "1.5 * E.p.log_comp"));
}

TEST_CASE("numbers: an entropy is formed of the expectations that are there") {
  const std::string flat = elbo_with("1");
  INFO(flat);
  CHECK(has(flat, "lgamma(p.concentration"));
  CHECK(!has(flat, "digamma"));
}
