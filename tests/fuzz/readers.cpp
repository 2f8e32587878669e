// Fuzzing harness: every reader of data on the bytes of a file, whole and in pieces, followed by binding the result to
// a model. The first byte chooses the reader, the second the model. Whatever the file contains, values that were read
// must be consistent.
//
// HDF5, AnnData and NetCDF are left out: their libraries crash on damaged files, so Lehr runs them in a child process.
// Their results reach `bind` as the same kind of arrays.
#include <algorithm>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/pipeline.h"
#include "runtime/files/npy.h"
#include "runtime/files/npz.h"
#include "runtime/files/readers.h"
#include "runtime/files/rows.h"
#include "runtime/files/zip.h"
#include "tests/fuzz/input.h"

using namespace lehr;

namespace {

constexpr const char* kModels[] = {
    "model m { plate n; mu ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu, precision = 1); }",
    "model m { plate n; p ~ Beta(1, 1); observe x[n] ~ Bernoulli(p); }",
    "model m { plate doc; plate token in doc times count; plate k = 2; plate term; b[k] ~ Dirichlet(1) over term;"
    " t[doc] ~ Dirichlet(1) over k; z[doc, token] ~ Categorical(t[doc]);"
    " observe x[doc, token] ~ Categorical(b[z[doc, token]]); }",
    "model m { plate n; plate d; mu ~ MvNormal(mean = 0, precision = 1) over d;"
    " observe x[n] ~ MvNormal(mean = mu, precision = 1) over d; }",
    "model m { plate n; rate ~ Gamma(shape = 1, rate = 1); observe x[n] ~ Poisson(rate); }",
    "model m { plate n; plate k; pi ~ Dirichlet(1) over k; observe x[n] ~ Categorical(pi); }",
};

void check_array(const DataArray& a) {
  std::int64_t count = 1;
  for (const std::int64_t extent : a.shape)
    fuzz::require(extent >= 0 && !__builtin_mul_overflow(count, extent, &count), "a shape that is none");
  const auto values = static_cast<std::int64_t>(a.values.size());
  if (!a.ragged()) return fuzz::require(values == count, "not as many values as the shape has");
  fuzz::require(a.shape.size() == 2 && std::ssize(a.row_offsets) == a.shape[0] + 1, "rows without offsets");
  fuzz::require(a.row_offsets.front() == 0 && a.row_offsets.back() == values, "offsets of other values");
  fuzz::require(std::ranges::is_sorted(a.row_offsets), "a row that ends before it begins");
  fuzz::require(a.multiplicity.empty() || a.multiplicity.size() == a.values.size(), "counts of other values");
}

void check_error(const Error& e) {
  fuzz::require(e.code == ExitCode::data || e.code == ExitCode::usage, "an error of another kind");
  fuzz::require(!render(e).empty(), "an error without words");
}

const model::Model& model_of(std::size_t k) {
  static const std::vector<model::Model> models = [] {
    std::vector<model::Model> out;
    for (const char* const text : kModels) {
      Diagnostics none;
      std::optional<model::Model> one = read({"m.lehr", text}, none);
      fuzz::require(one.has_value(), text);
      out.push_back(std::move(*one));
    }
    return out;
  }();
  return models[k % models.size()];
}

/// Binds one of the arrays to a model as its data.
void check_dataset(const Result<Dataset>& read, std::size_t model) {
  if (!read) return check_error(read.error());
  for (const auto& [name, array] : *read) {
    check_array(array);
    Dataset one;
    one["x"] = array;
    one["x"].name = "x";
    const Result<BoundData> bound = lehr::bind(model_of(model), std::move(one), {});
    if (!bound) check_error(bound.error());
    if (!bound) continue;
    for (const std::vector<std::int64_t>& offsets : bound->offsets)
      fuzz::require(std::ranges::is_sorted(offsets), "bound rows that end before they begin");
  }
}

/// Reads a file with these bytes by a binding, as a whole and row by row.
void check_file(std::string_view bytes, const std::string& file, const std::string& before, const std::string& after,
                std::size_t model) {
  const std::string path = (fuzz::own_folder() / file).string();
  fuzz::write(path, bytes);
  const std::string binding = before + path + after;
  check_dataset(read_binding(binding), model);
  const Result<std::vector<RowBinding>> rows = RowBinding::open(binding);
  if (!rows) return check_error(rows.error());
  for (const RowBinding& r : *rows) {
    const std::int64_t all = r.rows(), middle = all / 2;
    fuzz::require(all >= 0, "a negative number of rows");
    const RowRange ranges[] = {{0, middle}, {middle, all}};
    for (const RowRange& range : ranges)
      if (range.begin < range.end) check_dataset(r.read({&range, 1}), model);
  }
}

using Read = void (*)(std::string_view bytes, std::size_t model);
const Read kReaders[] = {
    [](std::string_view b, std::size_t m) { check_dataset(parse_csv(b, "f.csv", "", {}), m); },
    [](std::string_view b, std::size_t m) { check_dataset(parse_csv(b, "f.csv", "x", {}), m); },
    [](std::string_view b, std::size_t m) {
      check_dataset(parse_csv(b, "f.csv", "x", {"a", "b"}), m);
    },
    [](std::string_view b, std::size_t m) { check_dataset(parse_tsv(b, "f.tsv", "", {}), m); },
    [](std::string_view b, std::size_t m) { check_dataset(parse_json(b, "f.json"), m); },
    [](std::string_view b, std::size_t m) { check_file(b, "f.ldac", "x=", "", m); },
    [](std::string_view b, std::size_t m) { check_dataset(parse_matrix_market(b, "f.mtx", "x", ""), m); },
    [](std::string_view b, std::size_t m) { check_dataset(parse_matrix_market(b, "f.mtx", "x", "dense"), m); },
    [](std::string_view b, std::size_t m) { check_dataset(parse_svmlight(b, "f.svm", "x", ""), m); },
    [](std::string_view b, std::size_t m) { check_dataset(parse_svmlight(b, "f.svm", "x", "label"), m); },
    [](std::string_view b, std::size_t m) { check_file(b, "f.npy", "x=", "", m); },
    [](std::string_view b, std::size_t m) { check_file(b, "f.npz", "", "", m); },
    [](std::string_view b, std::size_t m) { check_file(b, "f.csv", "", "", m); },
    [](std::string_view b, std::size_t m) { check_file(b, "f.csv.gz", "", "", m); },
    [](std::string_view b, std::size_t) { parse_npz(b, "f.npz"); },
    [](std::string_view b, std::size_t) { parse_labels(b, "f.txt"); },
    [](std::string_view b, std::size_t) { gunzip(b, "f.gz"); },
    [](std::string_view b, std::size_t) { split_fields(b); },
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  const Read read = input.one_of(kReaders);
  const std::size_t model = input.byte();
  read(input.rest(), model);
  return 0;
}
