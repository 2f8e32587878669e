// The NPY and NPZ formats: files are exchanged with NumPy in both directions if Python has it, and damaged headers and
// archives must be errors.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "runtime/files/atomic_file.h"
#include "runtime/files/npy.h"
#include "runtime/files/npz.h"
#include "runtime/files/readers.h"
#include "runtime/files/zip.h"
#include "tests/results.h"
#include "tests/runtime/folder.h"

using namespace lehr;
using Values = std::vector<double>;

namespace {

/// Runs a Python script with the folder as its argument. Returns true if there is no NumPy, so that the test is
/// skipped.
bool python(const Folder& folder, std::string_view script, bool& skipped) {
  skipped = std::system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") != 0;
  if (skipped) {
    WARN("no NumPy: not compared");
    return true;
  }
  const std::string path = folder.put("script.py", script);
  return std::system(fmt::format("/usr/bin/python3 {} {}", path, folder.path()).c_str()) == 0;
}

std::string npy(std::string_view header, std::string_view body = {}, int version = 1) {
  std::string bytes("\x93NUMPY");
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(header.size() >> (8 * i));
  return bytes.append(header).append(body);
}

std::string complaint(std::string_view bytes) { return test::complaint(parse_npy(bytes, "t.npy")); }

}  // namespace

TEST_CASE("what NumPy writes is read") {
  const Folder folder;
  bool skipped = false;
  REQUIRE(python(folder, R"(
import sys, numpy as np
base = np.arange(24).reshape(2, 3, 4)
arrays = {}
for kind in '?bBhHiIlLqQefd':
    for order in '<>':
        arrays[f'{"little" if order == "<" else "big"}_{ord(kind)}'] = base.astype(np.dtype(kind).newbyteorder(order))
arrays['fortran'] = np.asfortranarray(base.astype(float))
arrays['scalar'] = np.array(3.5)
arrays['empty'] = np.zeros((0, 5))
arrays['half'] = np.array([1.5, -2, 6e-8, 65504, np.inf, 2**-14], dtype=np.float16)
np.savez(sys.argv[1] + '/stored.npz', **arrays)
np.savez_compressed(sys.argv[1] + '/deflated.npz', **arrays)
for version in ((1, 0), (2, 0), (3, 0)):
    with open(f'{sys.argv[1]}/v{version[0]}.npy', 'wb') as file:
        np.lib.format.write_array(file, base * -1.25, version=version)
np.save(sys.argv[1] + '/text.npy', np.array(['a']))
)",
                 skipped));
  if (skipped) return;
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const auto members = read_npz(folder / name);
    REQUIRE(members);
    CHECK(members->size() == 32);
    for (const NamedArray& member : *members) {
      INFO(member.name);
      if (member.name == "scalar") {
        CHECK(member.shape.empty());
        CHECK(member.values == Values{3.5});
      } else if (member.name == "empty") {
        CHECK(member.shape == std::vector<std::int64_t>{0, 5});
      } else if (member.name == "half") {
        CHECK(member.values[0] == 1.5);
        CHECK(member.values[2] == 0x1p-24);
        CHECK(member.values[3] == 65504);
        CHECK(member.values[5] == 0x1p-14);
      } else {
        REQUIRE(member.shape == std::vector<std::int64_t>{2, 3, 4});
        const bool boolean = member.name.ends_with("_63");
        for (std::size_t i = 0; i < 24; ++i)
          CHECK(member.values[i] == (boolean ? i > 0 : static_cast<double>(i)));
      }
    }
  }
  for (const char* name : {"v1.npy", "v2.npy", "v3.npy"}) {
    const auto array = parse_npy(*read_file(folder / name), name);
    REQUIRE(array);
    CHECK(array->values[23] == -28.75);
  }
  const auto text = parse_npy(*read_file(folder / "text.npy"), "text.npy");
  REQUIRE_FALSE(text);
  CHECK_THAT(render(text.error()), Catch::Contains("the array is text, and must be numbers"));
}

TEST_CASE("what is written is read back, by NumPy too") {
  const Folder folder;
  Values many(100000);
  for (std::size_t i = 0; i < many.size(); ++i)
    many[i] = 1.0 / static_cast<double>(i + 1);
  const std::vector<NamedArray> members = {{"beta.concentration", {2, 3}, {1, 2.5, -3, 4e300, 5e-320, 6}, false},
                                           {"K", {}, {-7}, true},
                                           {"many", {100000}, many, false},
                                           {"none", {0, 4}, {}, false}};
  REQUIRE(write_npz(folder / "out.npz", members));
  const auto back = read_npz(folder / "out.npz");
  REQUIRE(back);
  REQUIRE(back->size() == members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    CHECK((*back)[i].name == members[i].name);
    CHECK((*back)[i].shape == members[i].shape);
    CHECK((*back)[i].values == members[i].values);
    CHECK((*back)[i].integer == members[i].integer);
  }
  bool skipped = false;
  CHECK(python(folder, R"(
import sys, zipfile, numpy as np
path = sys.argv[1] + '/out.npz'
assert zipfile.ZipFile(path).testzip() is None
with np.load(path) as f:
    assert f['beta.concentration'].tolist() == [[1, 2.5, -3], [4e300, 5e-320, 6]]
    assert f['K'].dtype == np.int64 and f['K'].shape == () and f['K'] == -7
    assert (f['many'] == 1 / np.arange(1, 100001)).all()
    assert f['none'].shape == (0, 4)
)",
               skipped));
  CHECK_FALSE(write_npz(folder / "bad.npz", {{"x", {3}, {1}, false}}));
  CHECK_FALSE(std::filesystem::exists(folder / "bad.npz"));
}

TEST_CASE("members that cannot be made smaller are stored") {
  std::string digits(300000, ' ');
  std::uint64_t x = 1;
  for (char& c : digits)
    c = static_cast<char>((x = x * 6364136223846793005U + 1442695040888963407U) >> 56);
  const std::string same(300000, '7');
  const std::string bytes = *write_zip({{"digits", digits}, {"same", same}});
  CHECK(bytes.size() > 300000);
  CHECK(bytes.size() < 310000);
  CHECK(bytes.find(digits) != std::string::npos);
  const auto back = read_zip(bytes, "t.zip");
  REQUIRE(back);
  REQUIRE(back->size() == 2);
  CHECK((*back)[0].bytes == digits);
  CHECK((*back)[1].bytes == same);
}

TEST_CASE("an archive too large for the old directory") {
  std::vector<ZipMember> members;
  for (int i = 0; i < 70000; ++i)
    members.push_back({std::to_string(i), std::to_string(-i)});
  const std::string bytes = *write_zip(members);
  const auto back = read_zip(bytes, "t.zip");
  REQUIRE(back);
  REQUIRE(back->size() == members.size());
  CHECK(back->back().name == "69999");
  CHECK(back->back().bytes == "-69999");
  const Folder folder;
  folder.put("many.zip", bytes);
  bool skipped = false;
  CHECK(python(folder, R"(
import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1] + '/many.zip')
assert len(archive.namelist()) == 70000 and archive.read('69999') == b'-69999'
)",
               skipped));
}

TEST_CASE("headers that lie are errors") {
  const std::string good = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }";
  REQUIRE(parse_npy(npy(good, "abcdefgh"), "t.npy"));
  REQUIRE(parse_npy(npy(good, "abcdefgh", 2), "t.npy"));
  CHECK_THAT(complaint(npy(good, "abc")), Catch::Contains("needs more than the 3 bytes there are"));
  CHECK_THAT(complaint(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }", "abc")),
             Catch::Contains("needs more"));
  CHECK_THAT(complaint(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 8), }", "abc")),
             Catch::Contains("needs more"));
  CHECK_THAT(complaint(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "abc")),
             Catch::Contains("dtype '|O'"));
  CHECK_THAT(complaint(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }")),
             Catch::Contains("dtype"));
  CHECK_THAT(complaint(npy("{'descr': '<f8', 'shape': (1,), }")), Catch::Contains("the header is damaged"));
  CHECK_THAT(complaint(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }")), Catch::Contains("damaged"));
  CHECK_THAT(complaint(npy(good, "", 9)), Catch::Contains("NPY version 9"));
  CHECK_THAT(complaint(npy(good).substr(0, 30)), Catch::Contains("cut off"));
  CHECK_THAT(complaint("PK"), Catch::Contains("not an NPY file"));
  CHECK_THAT(complaint(""), Catch::Contains("the file is empty"));
}

TEST_CASE("damaged archives are errors") {
  const Folder folder;
  REQUIRE(write_npz(folder / "out.npz", {{"x", {3}, {1, 2, 3}, false}}));
  std::string bytes = *read_file(folder / "out.npz");
  REQUIRE(parse_npz(bytes, "t.npz"));
  CHECK_FALSE(parse_npz(bytes.substr(0, bytes.size() - 1), "t.npz"));
  CHECK_FALSE(parse_npz(bytes.substr(40), "t.npz"));
  bytes[50] = static_cast<char>(bytes[50] ^ 0x10);
  const auto damaged = parse_npz(bytes, "t.npz");
  REQUIRE_FALSE(damaged);
  CHECK_THAT(render(damaged.error()), Catch::Contains("member 'x.npy' is damaged"));
}

TEST_CASE("text") {
  const Folder folder;
  bool skipped = false;
  REQUIRE(python(folder, R"(
import sys, numpy as np
text = np.array([["b", "\u00e4\u6c34\U0001f600"], ["", "b"]])
np.save(sys.argv[1] + "/wide.npy", text)
np.save(sys.argv[1] + "/swapped.npy", text.astype(text.dtype.newbyteorder(">")))
np.save(sys.argv[1] + "/fortran.npy", np.asfortranarray(text))
np.save(sys.argv[1] + "/bytes.npy", np.char.encode(text, "utf-8"))
np.save(sys.argv[1] + "/latin.npy", np.array([b"a", b"\xe4"]))
np.savez(sys.argv[1] + "/both.npz", x=np.array([1.5, 2]), kind=np.array(["u", "v"]))
)",
                 skipped));
  if (skipped) return;
  const auto data = [&](const char* name) { return npy_data(*read_file(folder / name), name); };
  for (const char* name : {"wide.npy", "swapped.npy", "fortran.npy", "bytes.npy"}) {
    const Result<DataArray> array = data(name);
    REQUIRE(array);
    CHECK(array->shape == std::vector<std::int64_t>{2, 2});
    CHECK(array->levels == std::vector<std::string>{"b", "\u00e4\u6c34\U0001f600"});
    CHECK(array->values[0] == 0);
    CHECK(array->values[1] == 1);
    CHECK(std::isnan(array->values[2]));
    CHECK(array->values[3] == 0);
    CHECK(array->has_missing);
  }
  CHECK_THAT(render(data("latin.npy").error()), Catch::StartsWith("latin.npy: error: element 1 is not UTF-8"));
  const Result<Dataset> both = npz_data(*read_file(folder / "both.npz"), "both.npz");
  REQUIRE(both);
  CHECK(both->at("x").values == Values{1.5, 2});
  CHECK(both->at("kind").levels == std::vector<std::string>{"u", "v"});
  CHECK_THAT(render(parse_npz(*read_file(folder / "both.npz"), "both.npz").error()),
             Catch::Contains("the array is text, and must be numbers"));
}
