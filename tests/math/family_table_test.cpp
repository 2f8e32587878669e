// The family table as a whole: how rows are found by name, support and statistics, and that it is well-formed and
// printed with all rows.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/math/family.h"
#include "compiler/math/print_families.h"

using namespace lehr;
using namespace lehr::math;

TEST_CASE("factors are found by support and statistics") {
  const auto names = [](Support support, std::vector<Stat> needed) {
    std::vector<std::string> result;
    for (const FamilyRow* row : factors_for(support, needed))
      result.push_back(row->name);
    return result;
  };
  using Names = std::vector<std::string>;
  CHECK(names(Support::real, {}) == Names{"Normal"});
  CHECK(names(Support::positive, {Stat::log}) == Names{"Gamma", "InverseGamma", "RootInverseGamma"});
  CHECK(names(Support::positive, {Stat::log, Stat::value}) == Names{"Gamma"});
  CHECK(names(Support::positive, {Stat::inverse}) == Names{"InverseGamma"});
  CHECK(names(Support::positive, {Stat::square}).empty());
  CHECK(names(Support::positive, {Stat::inverse_square}) == Names{"RootInverseGamma"});
  CHECK(names(Support::count, {Stat::value}) == Names{"Geometric"});
  CHECK(names(Support::counts, {}).empty());
  CHECK(names(Support::spd_matrix, {Stat::entry, Stat::logdet}) == Names{"Wishart"});
  CHECK(names(Support::spd_matrix, {Stat::inverse_entry}) == Names{"InverseWishart"});
  const auto point = [](std::vector<Stat> needed) {
    const FamilyRow* row = point_family(Support::positive, needed);
    return row ? row->name : "";
  };
  CHECK(point({Stat::value, Stat::inverse}) == "GeneralisedInverseGaussian");
  CHECK(point({Stat::square, Stat::inverse_square, Stat::log}) == "RootInverseGaussian");
  CHECK(point({Stat::log_gamma, Stat::value_log}) == "GammaShape");
  CHECK(point({Stat::log_gap, Stat::square}) == "Gap");
  CHECK(point({Stat::log_gamma, Stat::inverse}).empty());
}

TEST_CASE("the table is well-formed and printed whole") {
  const std::string text = print_families();
  for (const FamilyRow& row : families()) {
    INFO(row.name);
    CHECK(find_family(row.name) == &row);
    CHECK(text.find("\n" + row.name + "(") != std::string::npos);
    CHECK(row.improper == !row.draw);
    for (const Spelling& s : row.spellings) {
      CHECK(s.convert.has_value() == (s.name != s.canonical));
      if (s.convert) CHECK(free_event_rank(*s.convert) == s.event_rank);
      CHECK(std::ranges::find(row.spellings, s.canonical, &Spelling::name) != row.spellings.end());
    }
    if (row.support == Support::count) CHECK(row.mean.has_value() == row.covariance.has_value());
  }
  CHECK(find_family("Cauchy") == nullptr);
}
