// Fuzz test of all readers: thousands of damaged files. Each must give a consistent value or an error, and must not
// allocate more memory than the size of its input justifies. The damage is the same in every run.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "runtime/files/npy.h"
#include "runtime/files/readers.h"
#include "runtime/files/zip.h"
#include "runtime/rng.h"

namespace {
std::atomic<std::size_t> largest_allocation{0};
}

void* operator new(std::size_t size) {
  largest_allocation = std::max<std::size_t>(largest_allocation, size);
  if (void* memory = std::malloc(std::max<std::size_t>(size, 1))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  largest_allocation = std::max<std::size_t>(largest_allocation, size);
  return std::malloc(std::max<std::size_t>(size, 1));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace lehr;

namespace {

constexpr std::size_t kSmall = 1 << 20;
/// The most memory that an input may need for each of its bytes: Deflate shrinks by up to 1032, and a byte of an NPY
/// file becomes a double.
constexpr std::size_t kLargestRatio = 1032 * 8;

void damage(Rng& rng, std::string& bytes) {
  static const char* const kPieces[] = {"99999999999999999999",
                                        "1000000000000000000",
                                        "-1",
                                        "\"",
                                        "\n",
                                        ",",
                                        ":",
                                        "[",
                                        "{",
                                        "]",
                                        "}",
                                        "NaN",
                                        "1e999",
                                        "(",
                                        "\xff\xff\xff\xff",
                                        "\r",
                                        "'shape': (1, ",
                                        "null"};
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(draw_below(rng, n)); };
  const auto at = [&] { return below(bytes.size() + 1); };
  for (std::size_t count = 1 + below(4); count > 0; --count) {
    switch (below(6)) {
      case 0:
        if (!bytes.empty()) bytes[below(bytes.size())] = static_cast<char>(below(256));
        break;
      case 1:
        if (!bytes.empty()) bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
        break;
      case 2:
        bytes.insert(at(), kPieces[below(std::size(kPieces))]);
        break;
      case 3: {
        const std::size_t from = at();
        bytes.erase(from, below(8));
        break;
      }
      case 4: {
        const std::size_t from = at();
        const std::string piece = bytes.substr(from, below(20));
        bytes.insert(at(), piece);
        break;
      }
      default:
        if (below(4) == 0) bytes.resize(at());
    }
  }
}

void check_array(const DataArray& array) {
  std::size_t count = 1;
  for (const std::int64_t extent : array.shape)
    count *= static_cast<std::size_t>(extent);
  if (array.ragged()) {
    REQUIRE(array.shape.size() == 2);
    REQUIRE(array.row_offsets.size() == static_cast<std::size_t>(array.shape[0]) + 1);
    REQUIRE(array.row_offsets.back() == static_cast<std::int64_t>(array.values.size()));
  } else {
    REQUIRE(array.values.size() == count);
  }
  if (!array.multiplicity.empty()) REQUIRE(array.multiplicity.size() == array.values.size());
}

void check_dataset(const Result<Dataset>& dataset) {
  if (!dataset) {
    REQUIRE(dataset.error().code == ExitCode::data);
    REQUIRE_FALSE(render(dataset.error()).empty());
    return;
  }
  for (const auto& [name, array] : *dataset)
    check_array(array);
}

void fuzz(std::uint64_t seed, const std::vector<std::string>& files, int rounds,
          const std::function<void(const std::string&)>& read) {
  Rng rng(seed);
  for (int round = 0; round < rounds; ++round) {
    std::string bytes = files[static_cast<std::size_t>(draw_below(rng, files.size()))];
    damage(rng, bytes);
    largest_allocation = 0;
    read(bytes);
    REQUIRE(largest_allocation < kSmall + kLargestRatio * bytes.size());
  }
}

std::string archive() {
  return *write_zip(
      {{"a.npy", format_npy({"a", {2, 2}, {1, 2, 3, 4}, false})}, {"b.npy", format_npy({"b", {}, {1}, true})}});
}

}  // namespace

TEST_CASE("damaged CSV") {
  const std::vector<std::string> files = {"a,b,c\n1,2,x\n3,,\"y, \"\"z\"\"\"\n", "\xEF\xBB\xBFx\r\n1\r\nNA\r\n3\r\n",
                                          "a\n1\n"};
  fuzz(1, files, 100000, [](const std::string& bytes) {
    check_dataset(parse_csv(bytes, "f.csv", "", {}));
    check_dataset(parse_csv(bytes, "f.csv", "x", {}));
    check_dataset(parse_csv(bytes, "f.csv", "x", {"a", "b"}));
    std::string tabs = bytes;
    std::replace(tabs.begin(), tabs.end(), ',', '\t');
    check_dataset(parse_tsv(tabs, "f.tsv", "", {}));
  });
}

TEST_CASE("damaged JSON") {
  const std::vector<std::string> files = {
      R"({"n": 3, "x": [1, 2.5, null], "m": [[1, 2], [3, 4]], "r": [[1], [], [2, 3]]})",
      R"({"s": ["a", "b", "NaN"], "t": [[[1], [2]]], "i": NaN})", "[[1, 2], [3]]"};
  fuzz(2, files, 200000, [](const std::string& bytes) { check_dataset(parse_json(bytes, "f.json")); });
  for (const char* opening : {"[", "{\"a\":", "[{"}) {
    std::string deep;
    for (int i = 0; i < 200000; ++i)
      deep += opening;
    check_dataset(parse_json(deep, "f.json"));
  }
}

TEST_CASE("damaged LDA-C and labels") {
  fuzz(3, {"2 0:3 7:1\n0\n3 5:2 1:1 5:4\n", "1 1:1\r\n1 2:2\r\n"}, 200000, [](const std::string& bytes) {
    const Result<DataArray> corpus = parse_ldac(bytes, "f.ldac");
    if (corpus) check_array(*corpus);
    parse_labels(bytes, "f.txt");
  });
}

TEST_CASE("damaged sparse matrices") {
  fuzz(7,
       {"%%MatrixMarket matrix coordinate integer general\n% a comment\n3 8 3\n3 6 2\n1 1 3\n3 2 1\n",
        "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n3 2 2\n1 1 3\n",
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4.5\n"},
       100000, [](const std::string& bytes) { check_dataset(parse_matrix_market(bytes, "f.mtx", "x", "")); });
  fuzz(8, {"1 1:3 8:1 # a comment\n-1\n0.5 qid:3 6:2 2:1\n"}, 100000, [](const std::string& bytes) {
    check_dataset(parse_svmlight(bytes, "f.svm", "x", ""));
    check_dataset(parse_svmlight(bytes, "f.svm", "y", "label"));
  });
}

TEST_CASE("damaged NPY") {
  std::string fortran = format_npy({"a", {2, 3}, {1, 2, 3, 4, 5, 6}, false});
  fortran.replace(fortran.find("False"), 5, "True ");
  fuzz(4, {fortran, format_npy({"b", {3}, {1, 2, 3}, true}), format_npy({"c", {0, 5}, {}, false})}, 200000,
       [](const std::string& bytes) {
         const Result<NamedArray> array = parse_npy(bytes, "f.npy");
         if (!array) return;
         DataArray data;
         data.shape = array->shape;
         data.values = array->values;
         if (!data.values.empty()) check_array(data);
       });
}

TEST_CASE("damaged text of NPY") {
  const std::string header = "{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }";
  std::string file = std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size()) + '\0' + header;
  file.append({'a', 0, 0, 0, 'b', 0, 0, 0, 'c', 0, 0, 0, 0, 0, 0, 0});
  REQUIRE(npy_data(file, "f.npy"));
  fuzz(9, {file}, 100000, [](const std::string& bytes) {
    const Result<DataArray> array = npy_data(bytes, "f.npy");
    if (array) check_array(*array);
  });
}

TEST_CASE("damaged NPZ") {
  fuzz(5, {archive()}, 200000, [](const std::string& bytes) { parse_npz(bytes, "f.npz"); });
}

TEST_CASE("damaged gzip") {
  // "hello hello hello\n", gzip -n
  const std::string file(
      "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x5c\0\x3b\x7c\x8a\xdf\x12\0\0\0", 29);
  const Result<std::string> twice = gunzip(file + file, "f.gz");
  REQUIRE(twice);
  REQUIRE(*twice == "hello hello hello\nhello hello hello\n");
  fuzz(6, {file, file + file}, 100000, [](const std::string& bytes) { gunzip(bytes, "f.gz"); });
}
