// Fuzzing harness: the directory of a fit with damaged files is read, shown, drawn from, loaded into a program and
// used. The first byte chooses what is damaged: the bytes of one file, or arrays of the posterior in an intact archive.
#include <cmath>
#include <limits>
#include <vector>

#include "compiler/console/describe.h"
#include "compiler/library/lehr_c.h"
#include "compiler/posterior/saved_draws.h"
#include "runtime/files/atomic_file.h"
#include "runtime/files/npz.h"
#include "runtime/output/saved_fit.h"
#include "tests/fuzz/input.h"

using namespace lehr;

namespace {

constexpr const char* kModel =
    "model mixture { plate n; plate k = 2; plate d = 2; pi ~ Dirichlet(concentration = 1) over k;"
    " mu[k] ~ MvNormal(mean = 0, precision = 0.01) over d; tau ~ Gamma(shape = 1, rate = 1); z[n] ~ Categorical(pi);"
    " y[n] ~ Normal(mean = 0, precision = tau); observe x[n] ~ MvNormal(mean = mu[z[n]], precision = 1) over d;"
    " observe v[n] ~ Normal(mean = y[n], precision = 2); }";
constexpr double kX[] = {0, 1, 5, 6, 0.5, 0.5, 5.5, 6.5}, kV[] = {1, 2, 3, 2};
constexpr std::int64_t kShapeX[] = {4, 2}, kShapeV[] = {4};
const lehr_data kData[] = {{"x", kX, LEHR_DOUBLE, 2, kShapeX, nullptr, 0, nullptr},
                           {"v", kV, LEHR_DOUBLE, 1, kShapeV, nullptr, 0, nullptr}};
constexpr const char* kFiles[] = {"fit.json", "posterior.npz", "items.npz", "trace.csv"};

lehr_program* program = nullptr;
std::string whole[std::size(kFiles)];  // content of the files of an intact fit
std::vector<NamedArray> posterior;     // posterior of that fit
std::filesystem::path directory;

/// Requires that a call ended without an internal error, and frees its message. By reference: the call may be made
/// after the second argument is taken.
bool well(int32_t status, char*& message) {
  if (status == LEHR_INTERNAL) std::fprintf(stderr, "%s\n", message ? message : "");
  fuzz::require(status != LEHR_INTERNAL, "an internal error");
  fuzz::require(status == LEHR_OK || message, "a refusal without words");
  lehr_text_free(message);
  return status == LEHR_OK;
}

double changed(double x, fuzz::Input& input) {
  constexpr double kValues[] = {0,
                                -1,
                                1,
                                0.5,
                                1e308,
                                -1e308,
                                1e-308,
                                std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN(),
                                1e9,
                                3};
  const std::size_t k = input.below(std::size(kValues) + 1);
  return k < std::size(kValues) ? kValues[k] : -x;
}

void damage(std::vector<NamedArray>& arrays, fuzz::Input& input) {
  if (arrays.empty()) return;
  const std::size_t at = input.below(arrays.size());
  NamedArray& a = arrays[at];
  switch (input.below(6)) {
    case 0:
      arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      std::swap(a.name, arrays[input.below(arrays.size())].name);  // an archive has no name twice
      return;
    case 2:
      if (a.shape.empty()) a.shape.push_back(1);
      else a.shape.pop_back();
      break;
    case 3:
      if (!a.shape.empty()) a.shape[input.below(a.shape.size())] = input.byte() % 7;
      break;
    case 4:
      std::swap(a.shape, arrays[input.below(arrays.size())].shape);
      break;
    default:
      if (!a.values.empty()) {
        double& x = a.values[input.below(a.values.size())];
        x = changed(x, input);
      }
      return;
  }
  for (NamedArray& b : arrays) {  // an archive has as many values as its shapes say
    std::size_t count = 1;
    for (const std::int64_t n : b.shape)
      count *= static_cast<std::size_t>(n);
    b.values.resize(count, 1.0);
  }
}

/// Returns fit.json without the digests of the files, which damaged files would not match.
std::string without_seals(std::string text) {
  const std::size_t at = text.find("\"posterior.npz\"");
  if (at != std::string::npos) text.replace(at, 15, "\"an old one.np\"");
  return text;
}

void write_files(fuzz::Input& input) {
  const std::size_t kind = input.below(std::size(kFiles) + 1);
  for (std::size_t k = 0; k < std::size(kFiles); ++k)
    fuzz::write(directory / kFiles[k], whole[k]);
  if (kind < std::size(kFiles)) {
    if (kind != 0) fuzz::write(directory / kFiles[0], without_seals(whole[0]));
    fuzz::write(directory / kFiles[kind], input.rest());
    return;
  }
  std::vector<NamedArray> arrays = posterior;
  for (int k = 0; k < 8 && !input.empty(); ++k)
    damage(arrays, input);
  fuzz::write(directory / kFiles[0], without_seals(whole[0]));
  const Result<bool> done = write_npz((directory / "posterior.npz").string(), arrays);
  fuzz::require(static_cast<bool>(done), done ? "" : done.error().text.c_str());
}

void use(const lehr_fit* fit) {
  char* message = nullptr;
  lehr_arrays* arrays = nullptr;
  for (const char* const what : {"posterior", "numbers", "trace", "draws"}) {
    if (well(lehr_fit_arrays(fit, what, "{\"draws\": 3}", &arrays, &message), message)) lehr_arrays_free(arrays);
  }
  if (well(lehr_program_predict(program, fit, kData, 2, "{\"draws\": 3, \"local_iters\": 3}", &arrays, &message),
           message))
    lehr_arrays_free(arrays);
  if (well(lehr_program_score(program, fit, kData, 2, nullptr, &arrays, &message), message)) lehr_arrays_free(arrays);
  lehr_fit* next = nullptr;
  const std::int32_t status = lehr_program_update(program, fit, 0.5, kData, 2, "{\"max_iter\": 3, \"threads\": 1}",
                                                  nullptr, nullptr, &next, &message);
  if (well(status, message)) lehr_fit_free(next);
  if (well(lehr_fit_write(fit, (fuzz::own_folder() / "again").c_str(), &message), message)) return;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ::setenv("LEHR_CACHE", (fuzz::own_folder() / "cache").c_str(), 1);
  directory = fuzz::own_folder() / "fit";
  char* message = nullptr;
  lehr_fit* fit = nullptr;
  const char* const options = "{\"max_iter\": 20, \"threads\": 1, \"save_locals\": true}";
  fuzz::require(well(lehr_compile(kModel, nullptr, &program, &message), message), "the model is refused");
  fuzz::require(
      well(lehr_program_fit(program, kData, 2, options, nullptr, nullptr, nullptr, &fit, &message), message) &&
          well(lehr_fit_write(fit, directory.c_str(), &message), message),
      "no fit");
  lehr_fit_free(fit);
  for (std::size_t k = 0; k < std::size(kFiles); ++k)
    if (const Result<std::string> bytes = read_file((directory / kFiles[k]).string())) whole[k] = *bytes;
  posterior = *read_npz((directory / "posterior.npz").string());
  if (const char* const seeds = std::getenv("LEHR_FUZZ_SEEDS")) {
    for (std::size_t k = 0; k < std::size(kFiles); ++k)
      fuzz::write(std::filesystem::path(seeds) / kFiles[k], std::string(1, static_cast<char>(k)) + whole[k]);
    fuzz::write(std::filesystem::path(seeds) / "arrays", "\x04\x01\x05\x01\x02");
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  write_files(input);
  if (const Result<SavedFit> fit = read_fit(directory.string())) {
    describe(*fit);
    for (const SavedVariable& v : fit->variables)
      describe(*fit, v, {3, 10});
    draw_factors(*fit, 3, 1);
  } else {
    fuzz::require(fit.error().code == ExitCode::data, "an error of another kind");
  }
  char* message = nullptr;
  lehr_fit* fit = nullptr;
  if (well(lehr_program_load(program, directory.c_str(), &fit, &message), message)) {
    use(fit);
    lehr_fit_free(fit);
  }
  return 0;
}
