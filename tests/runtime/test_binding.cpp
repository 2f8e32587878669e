// Values of --data: every form of a binding, and the usage errors of malformed ones.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "runtime/files/dataset.h"
#include "runtime/files/npz.h"
#include "tests/results.h"
#include "tests/runtime/folder.h"

using namespace lehr;
using Strings = std::vector<std::string>;

namespace {

Strings names(const Result<Dataset>& dataset) {
  Strings names;
  for (const auto& [name, array] : test::require_ok(dataset)) {
    CHECK(array.name == name);
    names.push_back(name);
  }
  return names;
}

std::string complaint(const Strings& bindings, ExitCode code) {
  return test::complaint(read_bindings(bindings), code, "--");
}

}  // namespace

TEST_CASE("the forms of a binding") {
  const Folder folder;
  const std::string csv = folder.put("points.csv", "a,b,s\n1,2,u\n3,4,v\n");
  const std::string json = folder.put("d.JSON", R"({"y": [1, 2], "n": 2})");
  const std::string one = folder.put("one.json", R"({"y": [1, 2]})");
  const std::string bare = folder.put("bare.json", "[1, 2]");
  const std::string ldac = folder.put("c.ldac", "1 3:2\n");
  const std::string npz = folder / "p.npz";
  REQUIRE(write_npz(npz, {{"u", {2}, {1, 2}, false}, {"v", {}, {3}, true}}));

  CHECK(names(read_binding(csv)) == Strings{"a", "b", "s"});
  CHECK(names(read_binding(csv + ":b,a")) == Strings{"a", "b"});
  CHECK(names(read_binding("x=" + csv + ":b,a")) == Strings{"x"});
  CHECK(read_binding("x=" + csv + ":b,\"a\"")->at("x").axis_labels == Strings{"b", "a"});
  CHECK(read_binding("x=" + csv)->at("x").shape == std::vector<std::int64_t>{2, 2});
  CHECK(read_binding("x=" + folder.put("t.tsv", "a\tb\n1\t2\n") + ":b")->at("x").values == std::vector<double>{2});
  CHECK(names(read_binding(json)) == Strings{"n", "y"});
  CHECK(names(read_binding("z=" + json + ":y")) == Strings{"z"});
  CHECK(names(read_binding("z=" + one)) == Strings{"z"});
  CHECK(names(read_binding("z=" + bare)) == Strings{"z"});
  CHECK(names(read_binding(npz)) == Strings{"u", "v"});
  CHECK(names(read_binding("φ=" + npz + ":u")) == Strings{"φ"});
  CHECK(names(read_binding(npz + ":v")) == Strings{"v"});
  CHECK(read_binding("w=" + ldac)->at("w").multiplicity == std::vector<double>{2});
  REQUIRE(std::system(("gzip -k " + ldac + " " + csv).c_str()) == 0);
  CHECK(read_binding("w=" + ldac + ".gz")->at("w").multiplicity == std::vector<double>{2});
  CHECK(names(read_binding("x=" + csv + ".gz:a")) == Strings{"x"});
  CHECK(names(read_bindings({"x=" + csv, "w=" + ldac, json})) == Strings{"n", "w", "x", "y"});
}

TEST_CASE("malformed bindings are usage errors") {
  const Folder folder;
  const std::string ldac = folder.put("c.ldac", "1 3:2\n");
  const std::string json = folder.put("d.json", R"({"y": [1, 2], "n": 2})");
  CHECK_THAT(complaint({"foo"}, ExitCode::usage),
             Catch::Contains("--data foo: error: the type of the file is unknown"));
  CHECK_THAT(complaint({"x=foo.xls"}, ExitCode::usage),
             Catch::Contains(
                 "must end in .csv, .tsv, .npy, .npz, .json, .ldac, .mtx, .svm, .svmlight, .h5, .hdf5 or .h5ad (each"));
  CHECK_THAT(complaint({"x="}, ExitCode::usage), Catch::Contains("there is no file"));
  CHECK_THAT(complaint({"2x=a.csv"}, ExitCode::usage), Catch::Contains("'2x' is not a name"));
  CHECK_THAT(complaint({"x=a.csv:"}, ExitCode::usage), Catch::Contains("nothing after"));
  CHECK_THAT(complaint({ldac}, ExitCode::usage), Catch::Contains("name it: `x=" + ldac + "`"));
  CHECK_THAT(complaint({"w=" + ldac + ":3"}, ExitCode::usage), Catch::Contains("has no parts"));
  CHECK_THAT(complaint({"x=" + json}, ExitCode::usage), Catch::Contains("there are: n, y"));
}

TEST_CASE("files that are missing, empty or clash") {
  const Folder folder;
  const std::string csv = folder.put("points.csv", "a\n1\n");
  const std::string empty = folder.put("empty.npy", "");
  CHECK_THAT(complaint({folder / "pionts.csv"}, ExitCode::data), Catch::Contains("did you mean 'points.csv'?"));
  CHECK_THAT(complaint({folder / "sub/points.csv"}, ExitCode::data), Catch::Contains("there is no directory"));
  CHECK_THAT(complaint({"x=" + empty}, ExitCode::data), Catch::Contains("the file is empty"));
  CHECK_THAT(complaint({"w=" + folder.put("x.ldac.gz", "plain")}, ExitCode::data), Catch::Contains("not a gzip file"));
  CHECK_THAT(complaint({csv, "a=" + csv}, ExitCode::data), Catch::Contains("'a' is given twice"));
  CHECK_FALSE(read_labels(folder / "vocab.txt"));
  CHECK(read_labels(folder.put("vocab.txt", "a\nb\n"))->size() == 2);
}
