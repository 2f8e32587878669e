// The CSV reader: quoting, separators, missing values, text columns, and errors with line and column.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "runtime/files/readers.h"
#include "tests/results.h"

using namespace lehr;
using Values = std::vector<double>;
using Strings = std::vector<std::string>;

namespace {

Dataset read(std::string_view bytes, const std::string& name = "", const Strings& columns = {}) {
  return test::require_ok(parse_csv(bytes, "t.csv", name, columns));
}

std::string complaint(std::string_view bytes, const std::string& name = "", const Strings& columns = {}) {
  return test::complaint(parse_csv(bytes, "t.csv", name, columns));
}

}  // namespace

TEST_CASE("a header without rows is a table of no rows") {
  for (const char* bytes : {"a,b\n", "a,b", "a;b\r\n\r\n"}) {
    Dataset table = read(bytes);
    CHECK(table.size() == 2);
    CHECK(table["b"].shape == std::vector<std::int64_t>{0});
    CHECK(table["b"].levels.empty());
    CHECK(read(bytes, "x")["x"].shape == std::vector<std::int64_t>{0, 2});
    CHECK(read(bytes, "x", {"b", "a"})["x"].axis_labels == Strings{"b", "a"});
    CHECK(read(bytes, "x", {"b"})["x"].shape == std::vector<std::int64_t>{0});
  }
}

TEST_CASE("columns by name") {
  Dataset table = read("a,b\n1,2.5\n-3e2,+4\n");
  CHECK(table.size() == 2);
  CHECK(table["a"].values == Values{1, -300});
  CHECK(table["a"].integral);
  CHECK(table["b"].values == Values{2.5, 4});
  CHECK_FALSE(table["b"].integral);
  CHECK(table["b"].shape == std::vector<std::int64_t>{2});
  CHECK(table["b"].source == "t.csv, column 'b'");
}

TEST_CASE("byte order mark, CRLF, no newline at the end, spaces, blank lines") {
  for (const char* bytes : {"\xEF\xBB\xBF"
                            "a,b\r\n1,2\r\n3,4\r\n",
                            "a,b\n1,2\n3,4", " a , b\n 1 ,2\n\n3,\t4\n\n\n", "\n\na,b\r1,2\r3,4\r"}) {
    Dataset table = read(bytes);
    CHECK(table["a"].values == Values{1, 3});
    CHECK(table["b"].values == Values{2, 4});
  }
}

TEST_CASE("quotes") {
  Dataset table = read("\"a,1\",b\n\"say \"\"hi\"\"\",\"two\nlines\"\n\"\"\"\",x\n");
  CHECK(table["a,1"].levels == Strings{"\"", "say \"hi\""});
  CHECK(table["a,1"].values == Values{1, 0});
  CHECK(table["b"].levels == Strings{"two\nlines", "x"});
  CHECK(read("a\n\"12\"\n")["a"].values == Values{12});
}

TEST_CASE("missing values are NaN") {
  Dataset table = read("a,s\n1,x\n,\nNA,NA\nNaN,nan\n5,y\n");
  const DataArray& a = table["a"];
  REQUIRE(a.values.size() == 5);
  CHECK(a.has_missing);
  CHECK(a.integral);
  CHECK(std::isnan(a.values[1]));
  CHECK(std::isnan(a.values[3]));
  CHECK(a.values[4] == 5);
  CHECK(table["s"].levels == Strings{"x", "y"});
  CHECK(std::isnan(table["s"].values[2]));
  // In a table of one column, a blank line between others is a missing value.
  CHECK(read("a\n1\n\n3\n\n")["a"].values.size() == 3);
  CHECK(std::isnan(read("a,b\n1,2\n3,")["b"].values[1]));
}

TEST_CASE("levels are sorted, and say where the first text is") {
  Dataset table = read("a,b\nz,1\nb,2\nz,o\n");
  CHECK(table["a"].levels == Strings{"b", "z"});
  CHECK(table["a"].values == Values{1, 0, 1});
  CHECK(table["b"].levels == Strings{"1", "2", "o"});
  CHECK(table["b"].source == "t.csv, column 'b' (numbers, but 'o' at t.csv:4:3)");
}

TEST_CASE("columns as the last axis") {
  DataArray x = read("a,s,b\n1,u,2\n3,v,\n", "x").at("x");
  CHECK(x.shape == std::vector<std::int64_t>{2, 2});
  CHECK(x.axis_labels == Strings{"a", "b"});
  CHECK(x.values[2] == 3);
  CHECK(std::isnan(x.values[3]));
  x = read("a,s,b\n1,u,2\n3,v,4\n", "x", {"b", "a"}).at("x");
  CHECK(x.values == Values{2, 1, 4, 3});
  x = read("a,s\n1,u\n3,v\n", "x", {"s"}).at("x");
  CHECK(x.shape == std::vector<std::int64_t>{2});
  CHECK(x.levels == Strings{"u", "v"});
  CHECK(read("a\n7\n8\n", "x").at("x").shape == std::vector<std::int64_t>{2});
  // R writes row names as a column without a name.
  CHECK(read("\"\",a\n1,7\n2,8\n", "x").at("x").values == Values{7, 8});
}

TEST_CASE("numbers at the edge") {
  DataArray x = read("a\n1e400\n-1e400\n1e-400\nInf\n-inf\n9007199254740992\n").at("a");
  CHECK(std::isinf(x.values[0]));
  CHECK(x.values[1] < 0);
  CHECK(x.values[2] == 0);
  CHECK(x.values[4] < 0);
  CHECK(x.values[5] == 9007199254740992.0);
  CHECK(read("a\n0x10\n").at("a").levels == Strings{"0x10"});
}

TEST_CASE("what is wrong, and where") {
  CHECK(complaint("a,b\n1,2\n1,äö x,3\n") ==
        "t.csv:3:1: error: the row has 3 fields and the header 2\n  note: a field that contains a comma must "
        "be quoted");
  CHECK_THAT(complaint("a,b\n1,ä\n1,2\n", "x", {"a", "b"}),
             Catch::StartsWith("t.csv:2:3: error: 'ä' is not a number, in column 'b'"));
  CHECK_THAT(complaint("a,b\nä,\"x\n"), Catch::StartsWith("t.csv:2:3: error: this quote is never closed"));
  CHECK_THAT(complaint("a,b\n\"x\"y,2\n"), Catch::StartsWith("t.csv:2:4: error: text after the closing quote"));
  CHECK_THAT(complaint("weight,height\n1,2\n", "x", {"wieght"}), Catch::Contains("did you mean 'weight'?"));
  CHECK_THAT(complaint("a,b\n1,2\n", "x", {"length"}), Catch::Contains("there are: a, b"));
  CHECK_THAT(complaint("a,b,a\n1,2,3\n"), Catch::StartsWith("t.csv:1:5: error: two columns are named 'a'"));
  CHECK_THAT(complaint("1,2\n3,4\n", "x"), Catch::Contains("the first line holds numbers"));
  CHECK_THAT(complaint("s\nu\n", "x", {"t"}), Catch::Contains("there is no column 't'"));
  CHECK_THAT(complaint("s,t\nu,v\n", "x"), Catch::Contains("no column holds numbers"));
  CHECK_THAT(complaint(""), Catch::Contains("the file is empty"));
  CHECK_THAT(complaint(" \n\r\n"), Catch::Contains("the file is empty"));
  CHECK_THAT(complaint("\xFF\xFE"
                       "a"),
             Catch::Contains("UTF-16"));
}

TEST_CASE("numbers beyond double are the nearest infinity or zero") {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  CHECK(read("a\n1.5e400\n-2e999999999999999999999\n0.0012e500\n").at("a").values ==
        Values{kInfinite, -kInfinite, kInfinite});
  const std::string tiny = "a\n1.5e-400\n123456e-500\n2e-999999999999999999999\n0." + std::string(400, '0') + "1\n";
  CHECK(read(tiny).at("a").values == Values{0, 0, 0, 0});
  CHECK(read("a\n" + std::string(400, '9') + "\n").at("a").values == Values{kInfinite});
}

TEST_CASE("text that is not UTF-8") {
  CHECK(complaint("a,b\n1,caf\xe9\n").find("t.csv:2:6: error: byte 0xe9 (number 9 of the file) is not UTF-8") !=
        std::string::npos);
  CHECK(complaint("caf\xe9\n1\n").find("t.csv:1:4: error:") != std::string::npos);
  CHECK(read("a,b\n1,caf\xe9\n", "x", {"a"}).at("x").values ==
        Values{1});  // the byte that is not UTF-8 is in a column that was not asked for
}

TEST_CASE("tabs for commas") {
  const auto read_tabs = [](std::string_view bytes, const Strings& columns = {}) {
    return parse_tsv(bytes, "t.tsv", columns.empty() ? "" : "x", columns);
  };
  Dataset table = *read_tabs("a\t b \t\"s\tt\"\r\n1\t 2.5\tu,v\r\n\t\t\"\t\"\r\n\r\n3\tNA\tu,v\r\n");
  CHECK(table["a"].values[2] == 3);
  CHECK(std::isnan(table["a"].values[1]));
  CHECK(table["b"].values[0] == 2.5);
  CHECK(table["s\tt"].levels == Strings{"\t", "u,v"});
  CHECK(read_tabs("\ta\tb\n1\t2\t3\n", {"b", "a"})->at("x").values == Values{3, 2});
  CHECK_THAT(render(read_tabs("a,b\n1,2\n").error()),
             Catch::StartsWith("t.tsv:1:1: error: the columns are separated by commas"));
  CHECK_THAT(render(read_tabs("a\tb\n1\n").error()), Catch::Contains("a field that contains a tab must be quoted"));
}

TEST_CASE("the first line tells what separates the fields") {
  for (const char* bytes : {"a,\"b;b\"\n1,2.5\n3,4\n", "a;\"b;b\"\n1;2.5\n3;4\n"})
    CHECK(read(bytes).at("b;b").values == Values{2.5, 4});
  CHECK(read("a\tb\n1\t2.5\n3\t4\n", "x").at("x").values == Values{1, 2.5, 3, 4});
  CHECK(read("\xEF\xBB\xBF\r\n\"a, b\";c\r\n1;2\r\n").at("a, b").values == Values{1});
  CHECK_THAT(complaint("a;b\n1;2;3\n"), Catch::Contains("a field that contains a semicolon must be quoted"));
}

TEST_CASE("decimal commas beside semicolons") {
  CHECK(read("a;b;s\n1,5;-2;x\n3;1,25e2;1,2,3\n", "x").at("x").values == Values{1.5, -2, 3, 125});
  CHECK_THAT(complaint("a;b\n1,5;2\n3;4.5\n"),
             Catch::StartsWith("t.csv:2:1: error: '1,5' has a decimal comma, and '4.5' "
                               "at t.csv:3:3 a point"));
}

TEST_CASE("a message is no longer than a screen") {
  CHECK(complaint("a,b\n1,2\n1," + std::string(100000, 'z') + "\n", "x", {"a", "b"}).size() < 1000);
}
