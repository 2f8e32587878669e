// Readers of LDA-C corpora and of label files, and their errors.
#include <catch2/catch.hpp>

#include "runtime/files/readers.h"
#include "tests/results.h"

using namespace lehr;
using Values = std::vector<double>;

namespace {

std::string complaint(std::string_view bytes) { return test::complaint(parse_ldac(bytes, "t.ldac")); }

}  // namespace

TEST_CASE("a corpus") {
  for (const char* bytes : {"2 0:3 7:1\n0\n3 5:2 1:1 5:4\n", "2 0:3\t7:1 \r\n 0\r\n3 5:2 1:1 5:4"}) {
    const Result<DataArray> corpus = parse_ldac(bytes, "t.ldac");
    REQUIRE(corpus);
    CHECK(corpus->shape == std::vector<std::int64_t>{3, 3});
    CHECK(corpus->row_offsets == std::vector<std::int64_t>{0, 2, 2, 5});
    CHECK(corpus->values == Values{0, 7, 5, 1, 5});
    CHECK(corpus->multiplicity == Values{3, 1, 2, 1, 4});
    CHECK(corpus->integral);
  }
}

TEST_CASE("what is wrong in a corpus, and where") {
  CHECK_THAT(complaint("1 0:1\n2 0:3\n"), Catch::StartsWith("t.ldac:2:1: error: the line announces 2 terms and has 1"));
  CHECK_THAT(complaint("1 0:1 2:1\n"), Catch::StartsWith("t.ldac:1:1: error: the line announces 1 terms and has 2"));
  CHECK_THAT(complaint("1 -1:1\n"), Catch::StartsWith("t.ldac:1:3: error: expected a term id"));
  CHECK_THAT(complaint("1 1:0\n"), Catch::StartsWith("t.ldac:1:5: error: expected a count"));
  CHECK_THAT(complaint("1 1:1.5\n"), Catch::StartsWith("t.ldac:1:6: error: expected a space"));
  CHECK_THAT(complaint("1 1 2\n"), Catch::StartsWith("t.ldac:1:4: error: expected `:`"));
  CHECK_THAT(complaint("1 99999999999:1\n"), Catch::StartsWith("t.ldac:1:3: error: expected a term id"));
  CHECK_THAT(complaint("1 1:1\n\n1 1:1\n"), Catch::StartsWith("t.ldac:2:1: error: blank line"));
  CHECK_THAT(complaint("the text\n"), Catch::StartsWith("t.ldac:1:1: error: expected the number"));
  CHECK_THAT(complaint("\n"), Catch::Contains("the file is empty"));
}

TEST_CASE("labels") {
  const auto labels = parse_labels("\xEF\xBB\xBFone\r\ntwo words\n\nlast\n\n \n", "v.txt");
  REQUIRE(labels);
  CHECK(*labels == std::vector<std::string>{"one", "two words", "", "last"});
  CHECK_FALSE(parse_labels("\n\n", "v.txt"));
}
