// The data decide if rows of counts are processed in groups of four items or by a list of their nonzero counts.
// tests/posterior/items/full_rows.py checks the results.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/posterior/every_model.h"

using namespace lehr;

namespace {

/// Returns true if the lowered program has a table stored by columns, which only the first form needs.
bool has_columns(const Analysed& a, const BoundData& data) {
  const loops::Lowered lowered = generate(a, data, {});
  return std::ranges::any_of(lowered.program.buffers,
                             [](const loops::Buffer& b) { return b.name.starts_with("columns."); });
}

}  // namespace

TEST_CASE("rows are full where two fifths of the counts are above zero") {
  const auto made = test::prepare("models/factors/poisson_factorisation.lehr");
  BoundData data = made->data;
  std::vector<double>* counts = nullptr;
  for (BoundArray& x : data.observed)
    if (!x.values.empty()) counts = &x.values;
  REQUIRE(counts);
  const auto above_zero = [&](double share) {
    for (std::size_t k = 0; k < counts->size(); ++k)
      (*counts)[k] = static_cast<double>(k % 20) < 20 * share ? 2 : 0;
    return has_columns(made->front, data);
  };
  CHECK(has_columns(made->front, made->data));
  CHECK(above_zero(1));
  CHECK(above_zero(0.4));
  CHECK_FALSE(above_zero(0.35));
  CHECK_FALSE(above_zero(0));
  counts->clear();  // out-of-core data: the counts are not in memory
  CHECK_FALSE(has_columns(made->front, data));
}
