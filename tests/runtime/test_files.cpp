// Atomic writing of files, errors as text, and trace.csv, which must be readable on disk while a fit runs.
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <limits>

#include "runtime/files/atomic_file.h"
#include "runtime/files/dataset.h"
#include "runtime/output/trace.h"
#include "tests/results.h"
#include "tests/runtime/folder.h"

using namespace lehr;

TEST_CASE("an error as text") {
  CHECK(render({ExitCode::data, "a.csv:1:2", "bad", {"one", "two"}}) ==
        "a.csv:1:2: error: bad\n  note: one\n  note: two");
  CHECK(render({ExitCode::usage, "", "bad", {}}) == "error: bad");
}

TEST_CASE("a file is replaced as a whole") {
  const Folder folder;
  const std::string path = folder / "out.txt";
  REQUIRE(write_file(path, "first"));
  REQUIRE(write_file(path, std::string("sec\0nd", 6)));
  CHECK(*read_file(path) == std::string("sec\0nd", 6));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++files;
  CHECK(files == 1);
  // The permissions are those that any new file gets.
  const mode_t mask = umask(022);
  umask(mask);
  struct stat about = {};
  REQUIRE(stat(path.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == (0666 & ~mask));
  // A link stays a link to the new content; a device is written to and not replaced.
  std::filesystem::create_symlink(path, folder / "link");
  REQUIRE(write_file(folder / "link", "third"));
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(*read_file(path) == "third");
  CHECK(write_file("/dev/null", "x"));
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("files that cannot be read or written") {
  const Folder folder;
  const auto missing = read_file(folder / "none");
  REQUIRE_FALSE(missing);
  CHECK_THAT(render(missing.error()), Catch::Contains("none: error: cannot read: No such file or directory"));
  CHECK_THAT(render(read_file(folder.path()).error()), Catch::Contains("it is a directory"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(render(read_file(folder / "pipe").error()), Catch::Contains("pipe: error: cannot read: it is a pipe"));
  const auto refused = write_file(folder / "none/out", "x");
  REQUIRE_FALSE(refused);
  CHECK_THAT(render(refused.error()), Catch::Contains("cannot write"));
}

TEST_CASE("the trace") {
  const Folder folder;
  const std::string out = folder / "fit/deep";
  {
    Trace trace = test::require_ok(Trace::open(out, {"rho"}));
    REQUIRE(trace.append(1, 0.5, -1.0 / 3, 10, std::vector<double>{0.25}));
    const std::string first = "iteration,seconds,elbo,temperature,rho\n1,0.5,-0.3333333333333333,10,0.25\n";
    CHECK(*read_file(out + "/trace.csv") == first);  // written at once; only rows within a millisecond of the last wait
    REQUIRE(trace.append(2, 1, std::numeric_limits<double>::quiet_NaN(), 1, std::vector<double>{0.125}));
    REQUIRE(trace.append(3, 2, -5, 1, std::vector<double>{0.125}));
    CHECK_FALSE(trace.append(4, 2, -5, 1));
    const std::string third = *read_file(out + "/trace.csv");
    CHECK(third == first + "2,1,nan,1,0.125\n3,2,-5,1,0.125\n");
    REQUIRE(trace.append(4, 2.00048828125, 1e23, 1, std::vector<double>{std::numeric_limits<double>::quiet_NaN()}));
    CHECK(*read_file(out + "/trace.csv") == third);
    REQUIRE(trace.write());
    CHECK(*read_file(out + "/trace.csv") == third + "4,2.00048828125,1e+23,1,\n");
  }
  auto resumed = Trace::open(out, {"rho"}, 2);
  REQUIRE(resumed);
  REQUIRE(resumed->append(3, 4, -2, 1, std::vector<double>{1}));
  const Dataset table = test::require_ok(read_binding(out + "/trace.csv"));
  CHECK(table.at("iteration").values == std::vector<double>{1, 2, 3});
  CHECK(table.at("seconds").values == std::vector<double>{0.5, 1, 4});
  CHECK(table.at("elbo").has_missing);
  REQUIRE(Trace::open(out, {"rho"}));
  const std::string header = "iteration,seconds,elbo,temperature,rho\n";
  CHECK(*read_file(out + "/trace.csv") == header);
  // Two runs into one directory: the file is of the one that opened it last.
  Trace one = test::require_ok(Trace::open(out, {"rho"})), other = test::require_ok(Trace::open(out, {"rho"}));
  REQUIRE(other.append(1, 0.5, -1, 1, std::vector<double>{1}));
  REQUIRE(one.append(1, 0.5, -2, 1, std::vector<double>{2}));
  CHECK(*read_file(out + "/trace.csv") == header + "1,0.5,-1,1,1\n");
}
