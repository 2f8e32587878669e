// Fuzzing harness: calls of lehr_c.h in any order with arbitrary arguments that C can express. Each call must succeed
// or be refused with a message. The bytes choose the calls, and their arguments among those below; the callback ends
// loops of a fit.
#include <limits>
#include <vector>

#include "compiler/library/lehr_c.h"
#include "tests/fuzz/input.h"

using namespace lehr;

namespace {

constexpr std::size_t kMostCalls = 24;
constexpr const char* kModels[] = {
    "model coin { plate n; p ~ Beta(1, 1); observe x[n] ~ Bernoulli(p); }",
    "model mixture { const K = 2; plate n; plate k = K; pi ~ Dirichlet(concentration = 1) over k;"
    " mu[k] ~ Normal(mean = 0, precision = 0.01); z[n] ~ Categorical(pi);"
    " observe x[n] ~ Normal(mean = mu[z[n]], precision = 1); }",
    "model topics { plate doc; plate token in doc; plate k = 2; plate term; b[k] ~ Dirichlet(1) over term;"
    " t[doc] ~ Dirichlet(1) over k; z[doc, token] ~ Categorical(t[doc]);"
    " observe x[doc, token] ~ Categorical(b[z[doc, token]]); }",
    "model regression { plate n; plate d; data w[n] : vector over d; b ~ MvNormal(mean = 0, precision = 1) over d;"
    " tau ~ Gamma(shape = 1, rate = 1); observe x[n] ~ Normal(mean = dot(b, w[n]), precision = tau); }",
    "model broken { p ~ Beta(1, q); }",
};
constexpr const char* kNames[] = {"x", "w", "n", "z", "mu.mean", "p.a", "", "\xff"};
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kDoubles[] = {0, 1, 1, 0, 2, kNaN, -1, 0.5, 1e308, 3, 1, 0};
constexpr float kFloats[] = {0, 1, 1, 0, 2, 0.5F, -1, 7, 1e30F, 3, 1, 0};
constexpr std::int64_t kLongs[] = {0, 1, 1, 0, 2, 0, std::numeric_limits<std::int64_t>::max(), -1, 4, 1, 1, 0};
constexpr std::int32_t kInts[] = {0, 1, 1, 0, 2, 0, std::numeric_limits<std::int32_t>::max(), -1, 4, 1, 1, 0};
constexpr const char* kTexts[] = {"a", "b", "a", nullptr, "", "\xff", "0", "1", "a", "b", "heads", "1e9"};
constexpr std::int64_t kNumbers = 12;
constexpr const char* kOptions[] = {"method",  "max_iter",    "seed",        "restarts",  "anneal",     "temper",
                                    "threads", "precision",   "save_locals", "search",    "batch_size", "epochs",
                                    "draws",   "chains",      "warmup",      "tol",       "holdout",    "sizes",
                                    "more",    "local_iters", "local_tol",   "constants", "labels",     "name",
                                    "parts",   "adaptive",    "elbo_every",  "unknown"};
constexpr const char* kValues[] = {"0",
                                   "1",
                                   "2",
                                   "-1",
                                   "0.5",
                                   "null",
                                   "true",
                                   "\"\"",
                                   "\"cavi\"",
                                   "\"svi\"",
                                   "\"gibbs\"",
                                   "\"exact\"",
                                   "\"float\"",
                                   "\"single\"",
                                   "\"linear:from=4,over=3\"",
                                   "\"auto\"",
                                   "\"global:levels=3\"",
                                   "\"local:max=3\"",
                                   "\"none\"",
                                   "\"full\"",
                                   "[]",
                                   "{\"n\": 3}",
                                   "{\"n\": \"+2\"}",
                                   "{\"k\": 0}",
                                   "{\"K\": 3}",
                                   "{\"n\": [\"a\", \"b\"]}",
                                   "1e300",
                                   "{\"term\": -1}"};

struct State {
  lehr_program* programs[2] = {};
  lehr_fit* fits[2] = {};
  lehr_arrays* arrays = nullptr;

  ~State() {
    for (lehr_program* const p : programs)
      lehr_program_free(p);
    for (lehr_fit* const f : fits)
      lehr_fit_free(f);
    lehr_arrays_free(arrays);
  }
};

/// Makes a description of an array of `kNumbers` values, right or wrong; shapes and strides never reach beyond the
/// values.
struct Data {
  std::vector<lehr_data> arrays;
  std::int64_t shapes[3][2] = {}, strides[3][2] = {}, offsets[3][4] = {};
  std::int64_t count = 0;
};

bool reaches_too_far(const lehr_data& d) {
  std::int64_t reach = 1, all = 1;
  for (std::int32_t k = 0; k < d.rank; ++k) {
    if (d.shape[k] <= 0) return false;
    reach += (d.shape[k] - 1) * (d.strides ? d.strides[k] : 0);
    all *= d.shape[k];
  }
  return (d.strides ? reach : all) > kNumbers;
}

void describe(fuzz::Input& input, Data& to, std::size_t at) {
  const void* const values[] = {kDoubles, kFloats, kLongs, kInts, kTexts};
  lehr_data d = {};
  d.type = static_cast<std::int32_t>(input.below(6)) - (input.byte() == 255 ? 2 : 0);
  d.values = d.type >= 0 && d.type < 5 && input.byte() != 255 ? values[d.type] : nullptr;
  d.name = input.byte() == 255 ? nullptr : kNames[input.byte() % 4 != 0 ? 0 : input.below(std::size(kNames))];
  const std::uint8_t form = input.byte();
  if (form % 4 == 3) {
    d.rows = static_cast<std::int64_t>(input.below(4));
    for (std::int64_t& o : to.offsets[at])
      o = static_cast<std::int64_t>(input.below(kNumbers + 1));
    d.row_offsets = to.offsets[at];
  } else {
    d.rank = form % 3;
    for (std::int64_t& n : to.shapes[at])
      n = static_cast<std::int64_t>(input.below(9)) - (input.byte() == 255 ? 2 : 0);
    for (std::int64_t& n : to.strides[at])
      n = static_cast<std::int64_t>(input.below(5)) - (input.byte() == 255 ? 1 : 0);
    d.shape = to.shapes[at];
    if (form & 16) d.strides = to.strides[at];
    if (reaches_too_far(d)) d.rank = 0;
  }
  to.arrays.push_back(d);
}

void describe(fuzz::Input& input, Data& to) {
  const std::size_t n = input.below(4);
  for (std::size_t k = 0; k < n; ++k)
    describe(input, to, k);
  to.count = input.byte() == 255 ? -1 : static_cast<std::int64_t>(n);
}

/// Returns a JSON object with options, or sometimes another text.
std::string options(fuzz::Input& input) {
  std::string out = "{\"threads\": 1, \"max_iter\": 5";
  for (std::size_t k = input.below(5); k > 0; --k) {
    const std::string name = input.one_of(kOptions), value = input.one_of(kValues);
    if (name != "threads") out += ", \"" + name + "\": " + value;
  }
  return input.byte() == 255 ? out : out + "}";
}
/// Returns options of a fit or of a compilation, as JSON that may be cut short.
std::string few_options(fuzz::Input& input) {
  std::string out = "{\"seed\": 1";
  for (std::size_t k = input.below(4); k > 0; --k)
    out += std::string(", \"") + input.one_of(kOptions) + "\": " + input.one_of(kValues);
  return input.byte() == 255 ? out : out + "}";
}

/// Requires that a call ended without an internal error. By reference: the call may come after its second argument.
void said(std::int32_t status, char*& message) {
  if (status == LEHR_INTERNAL) std::fprintf(stderr, "%s\n", message ? message : "");
  fuzz::require(status != LEHR_INTERNAL, "an internal error");
  fuzz::require(status >= LEHR_OK && status <= LEHR_NUMERICAL, "a status that is none");
  fuzz::require(status == LEHR_OK || message, "a refusal without words");
  lehr_text_free(message);
}

std::int32_t on_sweep(void* left, std::int64_t, std::int64_t, double, double) { return --*static_cast<int*>(left) > 0; }

template <class Handle>
void put(Handle*& place, Handle* made, void (*release)(Handle*)) {
  if (!made) return;
  release(place);
  place = made;
}

void call_about_programs(fuzz::Input& input, State& s) {
  char* message = nullptr;
  lehr_program* made = nullptr;
  const std::size_t which = input.below(2);
  const std::string settings = few_options(input);
  said(lehr_compile(input.byte() == 255 ? nullptr : input.one_of(kModels),
                    input.byte() % 2 ? settings.c_str() : nullptr, &made, &message),
       message);
  put(s.programs[which], made, lehr_program_free);
  fuzz::require(lehr_program_describe(s.programs[which]) != nullptr, "no description");
}

void call_to_fit(fuzz::Input& input, State& s) {
  char* message = nullptr;
  lehr_fit* made = nullptr;
  int sweeps = 8;
  Data data;
  const std::uint8_t kind = input.byte();
  const std::size_t which = input.below(2), to = input.below(2);
  const std::string how = options(input);
  describe(input, data);
  lehr_program* const program = s.programs[which];
  const lehr_fit* const other = s.fits[input.below(2)];
  switch (kind % 4) {
    case 0:
    case 1:
      said(lehr_program_fit(program, data.arrays.data(), data.count, how.c_str(), kind & 16 ? other : nullptr, on_sweep,
                            &sweeps, &made, &message),
           message);
      break;
    case 2:
      said(lehr_program_update(program, other, input.one_of(kDoubles), data.arrays.data(), data.count, how.c_str(),
                               on_sweep, &sweeps, &made, &message),
           message);
      break;
    default:
      said(lehr_program_infer(program, other, data.arrays.data(), data.count, &made, &message), message);
  }
  put(s.fits[to], made, lehr_fit_free);
}

void call_for_arrays(fuzz::Input& input, State& s) {
  char* message = nullptr;
  lehr_arrays* made = nullptr;
  Data data;
  const std::uint8_t kind = input.byte();
  lehr_program* const program = s.programs[input.below(2)];
  const lehr_fit* const fit = s.fits[input.below(2)];
  const std::string how = few_options(input);
  describe(input, data);
  constexpr const char* kWhat[] = {"posterior", "numbers", "trace", "draws", "", nullptr};
  switch (kind % 4) {
    case 0:
      said(lehr_program_predict(program, fit, data.arrays.data(), data.count, how.c_str(), &made, &message), message);
      break;
    case 1:
      said(lehr_program_score(program, fit, data.arrays.data(), data.count, how.c_str(), &made, &message), message);
      break;
    case 2:
      said(lehr_program_simulate(program, data.arrays.data(), data.count, how.c_str(), &made, &message), message);
      break;
    default:
      said(lehr_fit_arrays(fit, input.one_of(kWhat), how.c_str(), &made, &message), message);
  }
  put(s.arrays, made, lehr_arrays_free);
}

void call_about_files(fuzz::Input& input, State& s) {
  char* message = nullptr;
  const std::string folder = (fuzz::own_folder() / (input.byte() % 2 ? "fit" : "none/of/these")).string();
  const std::size_t which = input.below(2);
  if (input.byte() % 2) {
    said(lehr_fit_write(s.fits[which], folder.c_str(), &message), message);
    return;
  }
  lehr_fit* made = nullptr;
  said(lehr_program_load(s.programs[which], folder.c_str(), &made, &message), message);
  put(s.fits[which], made, lehr_fit_free);
}

void look(fuzz::Input& input, const State& s) {
  const lehr_array found = lehr_arrays_find(s.arrays, input.one_of(kNames));
  const lehr_array a = found.name ? found : lehr_arrays_at(s.arrays, static_cast<std::int64_t>(input.byte()) - 1);
  if (!a.name) return;
  std::int64_t count = 1;
  for (std::int32_t k = 0; k < a.rank; ++k)
    count *= a.shape[k];
  double sum = 0;  // every value must be readable
  for (std::int64_t k = 0; k < count; ++k)
    sum += a.values[k];
  [[maybe_unused]] const volatile double read = sum;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  ::setenv("LEHR_CACHE", (fuzz::own_folder() / "cache").c_str(), 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  State state;
  std::filesystem::remove_all(fuzz::own_folder() / "fit");
  for (std::size_t k = 0; k < kMostCalls && !input.empty(); ++k) {
    switch (input.below(8)) {
      case 0:
        call_about_programs(input, state);
        break;
      case 1:
      case 2:
      case 3:
        call_to_fit(input, state);
        break;
      case 4:
      case 5:
        call_for_arrays(input, state);
        break;
      case 6:
        call_about_files(input, state);
        break;
      default:
        look(input, state);
    }
  }
  return 0;
}
