// The JSON reader: arrays in Stan's form, ragged arrays, text columns, and errors with their line.
#include <catch2/catch.hpp>

#include <cmath>

#include "runtime/files/readers.h"
#include "runtime/output/writers.h"
#include "tests/results.h"

using namespace lehr;
using Values = std::vector<double>;
using Shape = std::vector<std::int64_t>;

namespace {

Dataset read(std::string_view bytes) { return test::require_ok(parse_json(bytes, "t.json")); }

std::string complaint(std::string_view bytes) { return test::complaint(parse_json(bytes, "t.json")); }

}  // namespace

TEST_CASE("scalars and rectangular arrays") {
  Dataset data = read(
      R"({"n": 3, "x": [1, 2.5, -3e1], "m": [[1, 2, 3], [4, 5, 6]], "t": [[[1], [2]]], "e": [], "ee": [[], []],
                          "b": true})");
  CHECK(data["n"].shape == Shape{});
  CHECK(data["n"].values == Values{3});
  CHECK(data["x"].shape == Shape{3});
  CHECK_FALSE(data["x"].integral);
  CHECK(data["m"].shape == Shape{2, 3});
  CHECK(data["m"].values == Values{1, 2, 3, 4, 5, 6});
  CHECK(data["t"].shape == Shape{1, 2, 1});
  CHECK(data["e"].shape == Shape{0});
  CHECK(data["ee"].shape == Shape{2, 0});
  CHECK(data["b"].values == Values{1});
  CHECK(data["m"].source == "t.json, 'm'");
}

TEST_CASE("rows of different lengths are ragged") {
  const DataArray r = read(R"({"r": [[1], [], [2, 3, null]]})")["r"];
  CHECK(r.shape == Shape{3, 3});
  CHECK(r.row_offsets == std::vector<std::int64_t>{0, 1, 1, 4});
  CHECK(r.values.size() == 4);
  CHECK(r.has_missing);
}

TEST_CASE("missing and infinite") {
  for (const char* bytes :
       {R"({"x": [1, null, "NaN", "Inf", "-Inf"]})", R"({"x": [1, NaN, null, Infinity, -Infinity]})"}) {
    const DataArray x = read(bytes)["x"];
    CHECK(std::isnan(x.values[1]));
    CHECK(std::isnan(x.values[2]));
    CHECK(x.values[3] == std::numeric_limits<double>::infinity());
    CHECK(x.values[4] == -std::numeric_limits<double>::infinity());
  }
  CHECK(read(R"({"NaN \" NaN": [NaN]})").count("NaN \" NaN") == 1);
}

TEST_CASE("text becomes levels, and one array needs no name") {
  Dataset data = read(R"({"s": ["b", null, "a", "b"]})");
  CHECK(data["s"].levels == std::vector<std::string>{"a", "b"});
  CHECK(data["s"].values[3] == 1);
  CHECK(std::isnan(data["s"].values[1]));
  CHECK(read("[[1, 2]]")[""].shape == Shape{1, 2});
  CHECK(read("\xEF\xBB\xBF 5 ")[""].values == Values{5});
}

TEST_CASE("what is wrong in JSON, and where") {
  CHECK_THAT(complaint("{\"a\": 1,\n \"b\": {\"c\": 1}}"),
             Catch::StartsWith("t.json:2:7: error: in 'b': objects inside"));
  CHECK_THAT(complaint("{\"b\": [[1, 2],\n 3]}"),
             Catch::StartsWith("t.json:2:3: error: in 'b': a number beside an array"));
  CHECK_THAT(complaint("{\"b\": [1,\n[2]]}"), Catch::StartsWith("t.json:2:1: error: in 'b': a number beside an array"));
  CHECK_THAT(complaint("{\"b\": [[[1, 2]],\n [[3]]]}"),
             Catch::StartsWith("t.json:2:5: error: in 'b': this array is not"));
  CHECK_THAT(complaint("{\"b\": [1,\n 2 3]}"), Catch::StartsWith("t.json:2:4: error: syntax error"));
  CHECK_THAT(complaint("{\"b\": 1, \"b\": 2}"), Catch::Contains("'b' occurs twice"));
  CHECK_THAT(complaint("{\"b\": [1, \"x\"]}"), Catch::Contains("text beside numbers"));
  CHECK_THAT(complaint("[[[[[[[[[1]]]]]]]]]"), Catch::Contains("more than 8 axes"));
  CHECK_THAT(complaint("{\"b\": [1,"), Catch::Contains("unexpected end of input"));
  CHECK_THAT(complaint("{\"b\": 1e999}"), Catch::Contains("overflow"));
  CHECK_THAT(complaint(" \n"), Catch::Contains("the file is empty"));
}

TEST_CASE("arrays are written as they are read") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<NamedArray> arrays = {{"a \"b\"", {2, 1, 3}, {1, 2.5, 1.0 / 3, -4e300, 5e-320, -0.0}, false},
                                          {"K", {}, {7}, true},
                                          {"edge", {3}, {inf, -inf, nan}, false},
                                          {"none", {0}, {}, false}};
  const Dataset back = read(test::require_ok(format_json(arrays)));
  REQUIRE(back.size() == arrays.size());
  for (const NamedArray& array : arrays) {
    CHECK(back.at(array.name).shape == array.shape);
    if (array.name != "edge") CHECK(back.at(array.name).values == array.values);
  }
  CHECK(back.at("edge").values[1] == -inf);
  CHECK(std::isnan(back.at("edge").values[2]));
  CHECK(*array_format("--out", "x.json")->format({{"n", {2}, {1, 2}, true}}) == "{\"n\": [1, 2]}\n");
  CHECK_THAT(render(array_format("--out", "x.txt").error()), Catch::Contains("does not end in .npz or .json"));
}
