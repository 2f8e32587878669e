// The sentence that a search prints about its result.
#include <catch2/catch.hpp>

#include "compiler/fit/methods/method.h"

using namespace lehr;

TEST_CASE("a search says that it annealed where an annealed arm was kept") {
  SearchReport report;
  report.starts = {{StartKind::flat, 1, 40, -10.0, false, true, true}};
  Outcome outcome;
  outcome.elbo = -5;  // the best start went on
  CHECK_THAT(describe(report, outcome),
             Catch::Contains("1 starts") && Catch::Contains("0 annealed: best from flat, ELBO -5"));
  AutoReport::Candidate candidate;
  candidate.elbo = -5;
  report.candidates = {candidate};
  CHECK_THAT(describe(report, outcome), Catch::Contains("1 annealed: best from flat, ELBO -5"));
  report.candidates[0].accepted = true;
  CHECK_THAT(describe(report, outcome), Catch::Contains("1 annealed: best from flat, then annealed, ELBO -5"));
}
