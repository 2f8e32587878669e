// Readers of the sparse formats Matrix Market and SVMlight: counts must agree with the LDA-C reader, and errors must
// have their location.
#include <catch2/catch.hpp>

#include "runtime/files/readers.h"
#include "tests/results.h"

using namespace lehr;
using Values = std::vector<double>;
using Offsets = std::vector<std::int64_t>;

namespace {

constexpr const char* kMarket =
    "%%MatrixMarket matrix coordinate integer general\n% a comment\n3 8 6\n3 6 2\n1 1 3\n3 2 1\n1 8 1\n3 6 4\n2 2 0\n";

DataArray read(ReadPart parse, std::string_view bytes, const std::string& part = {}) {
  return test::require_ok(parse(bytes, "t", "w", part)).at("w");
}

std::string complaint(ReadPart parse, std::string_view bytes, const std::string& part = {},
                      const std::string& name = "w") {
  return test::complaint(parse(bytes, "t", name, part));
}

void check_same(const DataArray& a, const DataArray& b) {
  CHECK(a.shape == b.shape);
  CHECK(a.row_offsets == b.row_offsets);
  CHECK(a.values == b.values);
  CHECK(a.multiplicity == b.multiplicity);
  CHECK(a.integral == b.integral);
}

}  // namespace

TEST_CASE("one corpus in three formats") {
  const DataArray corpus = *parse_ldac("2 0:3 7:1\n0\n3 5:2 1:1 5:4\n", "t.ldac");
  const DataArray market = read(&parse_matrix_market, kMarket);
  check_same(corpus, market);
  CHECK(market.largest == 7);
  for (const char* bytes :
       {"1 1:3 8:1 # a comment\n-1\n# another\n\n0.5 qid:3 6:2 2:1 6:4\n", "1 0:3 7:1\r\n-1\r\n0.5 5:2 1:1\t5:4 \r\n"})
    check_same(corpus, read(&parse_svmlight, bytes));
}

TEST_CASE("all numbers of a sparse matrix") {
  const DataArray dense = read(&parse_matrix_market, kMarket, "dense");
  CHECK(dense.shape == Offsets{3, 8});
  CHECK(dense.values == Values{3, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 6, 0, 0});
  const DataArray symmetric =
      read(&parse_matrix_market, "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 2.5\n2 1 -1\n", "dense");
  CHECK(symmetric.values == Values{2.5, -1, -1, 0});
  CHECK(read(&parse_matrix_market, "%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n", "dense").values ==
        Values{0, 1});
  CHECK(read(&parse_svmlight, "1 1:0.5\n2 3:-1\n", "dense").values == Values{0.5, 0, 0, 0, 0, -1});
  CHECK(read(&parse_svmlight, "1 1:0.5\n2.5 3:-1\n", "label").values == Values{1, 2.5});
}

TEST_CASE("a dense matrix has its columns one after another") {
  const DataArray array =
      read(&parse_matrix_market, "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
  CHECK(array.shape == Offsets{2, 3});
  CHECK(array.values == Values{1, 3, 5, 2, 4, 6});
  CHECK(read(&parse_matrix_market, "%%MatrixMarket matrix array real general\n2 1\n1\n2\n").shape == Offsets{2});
}

TEST_CASE("what is wrong in a Matrix Market file, and where") {
  const auto about = [](std::string_view rest) {
    return complaint(&parse_matrix_market, "%%MatrixMarket matrix coordinate real general\n" + std::string(rest));
  };
  CHECK_THAT(about("2 2 1\n3 1 1\n"), Catch::StartsWith("t:3:1: error: expected a row, a whole number from 1 to 2"));
  CHECK_THAT(about("2 2 1\n1 0 1\n"), Catch::StartsWith("t:3:3: error: expected a column"));
  CHECK_THAT(about("2 2 1\n1 1 x\n"), Catch::StartsWith("t:3:5: error: expected a number"));
  CHECK_THAT(about("2 2 2\n1 1 1\n"), Catch::Contains("ends after 1 of the 2 entries"));
  CHECK_THAT(about("2 2 0\n1 1 1\n"), Catch::StartsWith("t:3:5: error: the first line announces 0 entries"));
  CHECK_THAT(about("2 2\n"), Catch::Contains("`ROWS COLUMNS ENTRIES`"));
  CHECK_THAT(about("2000000000 2 0\n"), Catch::Contains("that the file accounts for"));
  CHECK_THAT(about("1 2 2\n1 1 2\n1 2 0.5\n"),
             Catch::StartsWith("t:4:5: error: 0.5 is not a count") && Catch::Contains("`:dense`"));
  CHECK_THAT(complaint(&parse_matrix_market, kMarket, "sparse"), Catch::Contains("there is no part 'sparse'"));
  CHECK_THAT(complaint(&parse_matrix_market, kMarket, {}, ""), Catch::Contains("name it: `x=t`"));
  CHECK_THAT(complaint(&parse_matrix_market, "1 2\n"), Catch::StartsWith("t:1:1: error: the first line"));
  CHECK_THAT(complaint(&parse_matrix_market, "%%MatrixMarket matrix coordinate complex general\n1 1 0\n"),
             Catch::Contains("'complex' entries are not read"));
  CHECK_THAT(complaint(&parse_matrix_market, "%%MatrixMarket matrix array real symmetric\n1 1\n1\n"),
             Catch::Contains("'symmetric' matrices are not read here"));
  CHECK_THAT(complaint(&parse_matrix_market, ""), Catch::Contains("the file is empty"));
  CHECK_THAT(complaint(&parse_matrix_market, "\xEF\xBB\xBF"), Catch::Contains("the first line"));
}

TEST_CASE("what is wrong in an SVMlight file, and where") {
  CHECK_THAT(complaint(&parse_svmlight, "1 1:1\nx 1:1\n"), Catch::StartsWith("t:2:1: error: expected the label"));
  CHECK_THAT(complaint(&parse_svmlight, "1 1:1 2\n"), Catch::StartsWith("t:1:7: error: expected `column:value`"));
  CHECK_THAT(complaint(&parse_svmlight, "1 -1:1\n"), Catch::StartsWith("t:1:3: error: expected `column:value`"));
  CHECK_THAT(complaint(&parse_svmlight, "1 1:1\n1 2:1.5\n"), Catch::StartsWith("t:2:3: error: 1.5 is not a count"));
  CHECK_THAT(complaint(&parse_svmlight, "# nothing\n"), Catch::Contains("the file is empty"));
  CHECK_THAT(complaint(&parse_svmlight, "1 1:1\n", "labels"),
             Catch::Contains("there is no part 'labels'") && Catch::Contains("`dense`") && Catch::Contains("`label`"));
}
