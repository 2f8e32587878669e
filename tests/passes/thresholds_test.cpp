// Every threshold (runtime/threshold.h) must be safe on both sides. Models are compiled for small data with each
// threshold moved below and above what they have. They must compute what the interpreter computes from the unoptimised
// program. Every numeric constant of passes, lowering and code generation must be listed here as a threshold or as a
// constant.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "compiler/analysis/verify.h"
#include "compiler/instance/instance.h"
#include "compiler/loops/print_loops.h"
#include "compiler/passes/passes.h"
#include "runtime/inference/cavi.h"
#include "tests/files.h"
#include "tests/posterior/every_model.h"

namespace {

using namespace lehr;
namespace fs = std::filesystem;

/// A threshold with the values to try: one below what small models have, some in between, and one above.
struct ThresholdCase {
  const char* name;
  std::vector<double> values;
  std::string also = "";  // further thresholds NAME=VALUE, without which small data would not reach this one
};

constexpr const char* kInBlocks = "cost_model.in_registers=16";  // small tables then count as larger than the registers

/// Thresholds of the lowering to loops and of the passes.
const std::vector<ThresholdCase> kOfLoops{
    {"cost_model.fills_vector", {1, 2, 3, 4, 1000, 1e9}, kInBlocks},
    {"cost_model.in_registers", {0, 1, 2, 4, 16, 1e6}},
    {"cost_model.short_array", {0, 1, 3, 1e9}},
    {"cost_model.copied_elements", {0, 1, 2, 3, 1e9}},
    {"cost_model.on_stack", {0, 4, 10, 20, 100, 1e6}},
    {"block_registers.in_lanes", {8, 32}, kInBlocks},
    {"jam_data_loops.long", {1, 2, 3, 1e9}},
    {"jam_data_loops.longest", {0, 2, 3, 1e9}},
    {"lower_chain_categories.sums_at_once", {1, 2, 3, 1000}},
    {"lower_chain_categories.steps_at_once", {1, 2, 3, 1000}},
    {"lower_chain_categories.least_sum", {1e-3, 1}},
    {"lower_cached_sums.few_lanes", {1, 2, 1000}},
    {"lower_cached_sums.most_lanes", {1, 2, 1000}},
    {"outlining.most_parts", {1, 2, 1e6}},
    {"lower_program.most_separate_sums", {0, 1, 2, 1e6}},
    {"lower_program.sums_together", {1, 2, 1e6}, "lower_program.most_separate_sums=0"},
    {"lower_fused_vector.least_mean", {0, 1e6}},
    {"lower_hoisted_sums.fewest_parts", {1, 2, 1e6}},
    {"lower_hoisted_sums.most_elements", {0, 1, 4, 1e6}},
    {"lower_terms.worth_a_branch", {0, 1, 1e6}},
    {"lower_update.most_scattered", {0, 1, 4, 1e6}},
    {"rematerialise.most_loads", {0, 1, 100}},
    {"regroup.large_model", {0, 1, 10, 1e9}},
    {"skip_at_fixed_point.most_keys", {0, 1, 3, 1e9}},
    {"skip_at_fixed_point.worth_it", {0, 1, 1e9}},
    {"outline_parallel_loops.few_iterations", {0, 1, 2, 3, 1e9}},
    {"vectorise_short_items.gain", {0, 1e9}},
    {"vectorise_short_items.additions", {0, 1e9}},
    {"vectorise_short_items.near_numbers", {0, 1e9}, "vectorise_short_items.additions=0"},
    {"bucket_by_length.window", {8, 16, 1024}},
    {"jam_steps.deep", {1, 2, 100}},
    {"latency.longest", {0, 1, 3, 1e9}, kInBlocks},
};

/// Thresholds of the code generation, whose effect shows in the text of the LLVM IR.
const std::vector<ThresholdCase> kOfCode{
    {"native.loop_shape.unroll_now_nodes", {0, 1e9}},
    {"cost_model.in_registers", {0, 8, 1e9}},
    {"native.loop_shape.function_nodes", {1, 1e6}},
    {"native.loop_shape.long_body_nodes", {1, 1e6}},
    {"native.loop_shape.little_work", {0, 1e12}},
    {"native.loop_shape.some_work", {0, 1e12}},
    {"native.loop_shape.little_of_statement", {0, 1e12}},
    {"native.loop_shape.much_of_item", {0, 1e12}},
    {"native.loop_shape.short_row", {0, 1e9}},
    {"native.loop_shape.unroll_later_nodes", {0, 2000}},
    {"native.loop_shape.whole_block", {4, 8, 16, 1e6}, "native.outlining.part_statements=4"},
    {"native.outlining.part_statements", {1, 4, 16}, "native.loop_shape.whole_block=16"},  // at most whole_block
    {"native.lower_prefetches.ahead", {64, 1e6}},
    {"native.lower_prefetches.most_iterations", {1, 100}},
    {"native.lower_transposes.fewest", {1, 1e6}},
    {"native.unmasked_fma.fewest", {1, 1e6}},
};

/// Thresholds that no example model reaches with its data; unit tests cover them.
const std::set<std::string> kOfUnitTests{
    "block_registers.unknown_length",     // text/block_registers
    "block_registers.most",               // text/block_registers
    "block_registers.most_with_latency",  // text/block_registers
    "jam_data_loops.short_row",           // text/jam_data_loops
    "lower_full_rows.full",               // native/full_rows_test.cpp
    "lower_full_rows.most_values",        // native/full_rows_test.cpp
    "native.loop_shape.fewest_together",  // native/vectors_test.cpp
    "separate_pairs.fewest_cells",        // posterior/pairs_test.cpp
    "separate_pairs.most_listed",         // posterior/pairs_test.cpp
    "vectorise_short_items.long",         // text/vectorise_short_items
};

/// Thresholds that choose what is computed, with the tests that move them: the factors of the guide, and sigma points
/// in place of the items of a fit.
const std::map<std::string, std::string> kOfResults{
    {"joint_choice.max_coordinates", "tests/posterior/guides/sparse_factors.py"},
    {"joint_choice.most_filled", "tests/posterior/guides/sparse_factors.py"},
    {"joint_choice.most_operations", "tests/posterior/guides/sparse_factors.py"},
    {"sigma_points.least_sweep", "tests/annealing/sigma_points.py"},
    {"sigma_points.least_items", "tests/annealing/sigma_points.py"}};

/// Thresholds of methods and readers, which tests/generator moves (RUNS in checks.py).
const std::set<std::string> kOfRuns{"outline_parallel_loops.operations",
                                    "outline_parallel_loops.of_sum",
                                    "outline_parallel_loops.outside",
                                    "outline_parallel_loops.many_items",
                                    "out_of_core_data.part",
                                    "out_of_core_data.first",
                                    "out_of_core_data.most_items",
                                    "predict_batches.most_items",
                                    "score.items_at_once",
                                    "survey.most_places",
                                    "line_rows.most_places",
                                    "line_rows.chunk",
                                    "search.few_operations",
                                    "search.long_sweep",
                                    "search.long_sweep_of_moves"};

/// Constants that are no thresholds, as file and name.
const std::set<std::string> kConstants{
    // Widths and units for which the code is written.
    "analysis/cost_model.kLanes", "analysis/cost_model.kNarrowLanes", "analysis/cost_model.kVectorRegisters",
    "analysis/cost_model.kShortestVectorBits", "analysis/cost_model.kCacheLine", "passes/jam_steps.kSteps",
    "passes/jam_data_loops.kIterations", "lower/lower_sparse.kNotDetermined", "lower/lower_sparse.kSingular",
    "lower/lower_full_rows.kItems", "lower/lower_full_rows.kTile", "native/lower.kBufferAlignment",
    "native/lower.kDataAlignment", "native/reduction_trees.kFewestSums", "native/reduction_trees.kMostSums",
    "native/object_cache.kDigest", "native/object_cache.kUnfinished", "native/outlining.kLeft",
    "native/loop_shape.kMuchWork",
    // Costs of operations, which are compared with thresholds.
    "analysis/cost_model.kFunctionCost", "analysis/cost_model.kDivisionCost", "analysis/cost_model.kTransposedCost",
    "analysis/cost_model.kGatherCost", "analysis/cost_model.kLeftOver", "analysis/cost_model.kExpNodes",
    "passes/skip_at_fixed_point.kUnknownTripCount", "passes/vectorise_short_items.kUnrolled",
    // Constants of mathematics, formats and the processor.
    "passes/narrow.kSingleLogZero", "passes/narrow.kSingleLeast", "lower/lower_chain_gaussian.kLog2Pi",
    "native/lower.kDenormalsAreZero", "native/special_functions.kLn2High", "native/special_functions.kLn2Low",
    "passes/narrow.kLargest", "loops/special.kShiftTo", "loops/special.kHalfLogTwoPi", "lower/draws.kKinds",
    "loops/loops.kLogZero", "lower/lower_update.kUnitNormalEntropy", "lower/lower_update.kTrusted",
    "lower/lower_terms.kLeast", "loops/interpret.kPoison", "lower/lower.kFailBlock", "lower/lower.kFailData",
    "lower/fused_element.kUnderflow", "native/lower.kFlushToZero", "native/special_functions.kInfinity",
    "native/special_functions.kNaN", "native/special_functions.kRound", "native/special_functions.kSmallest",
    "native/special_functions.kHalfLogTwoPi"};

/// Returns the thresholds with one at another value.
Thresholds moved_to(const ThresholdCase& moved, double value) {
  std::ostringstream text;
  text << moved.name << "=" << value << "," << moved.also;
  return Thresholds(text.str());
}

std::vector<std::vector<double>> swept(const test::Prepared& p, Backend backend,
                                       const loops::PassOptions& passes = {}) {
  Instance instance(p.front, p.data, {.save_locals = true, .batches = true}, backend, 0, passes);
  // Parallel regions are cut into as many chunks as they have iterations, as for large data.
  instance.engine().work_with(2, ChunkSize{1e300, 0, 1});
  REQUIRE(instance.start(3, 0));
  CaviOptions o;
  o.max_iterations = 2;
  o.leap_after = 0;
  o.local_iterations = 4;
  const Outcome out = run_cavi(instance.engine(), o, [](const SweepReport&) { return true; });
  std::vector<std::vector<double>> all;
  for (const machine::ParameterRow& row : machine::parameters_of(instance.engine().model())) {
    const std::span<const double> reals = instance.engine().machine().view().reals(row.buffer);
    all.emplace_back(reals.begin(), reals.end());
  }
  all.push_back({out.elbo});
  return all;
}

/// Models whose loops have few iterations, so that the interpreter is quick enough; they are tried first.
const std::vector<std::string> kModels{"models/hierarchical/crossed_random_effects.lehr",
                                       "models/topics/lda.lehr",
                                       "models/mixtures/gmm_normal_wishart.lehr",
                                       "models/sequences/hmm_gaussian.lehr",
                                       "models/sequences/hmm_discrete.lehr",
                                       "models/factors/poisson_factorisation.lehr",
                                       "models/factors/matrix_factorisation.lehr",
                                       "models/factors/ppca_ard.lehr",
                                       "models/regression/linear_regression_ard.lehr",
                                       "models/networks/stochastic_block_model.lehr",
                                       "models/mixtures/dawid_skene.lehr",
                                       "models/regression/logistic_regression.lehr",
                                       "models/sequences/local_level.lehr",
                                       "models/mixtures/gmm_diagonal.lehr",
                                       "models/factors/factorial_mixture.lehr",
                                       "models/hierarchical/nested_random_effects.lehr"};

/// A model with its data, and the results of the interpreter on its unoptimised program.
struct PreparedModel {
  std::string path;
  std::unique_ptr<test::Prepared> model;
  std::vector<std::vector<double>> expected;  // results of the interpreter
  std::set<std::string> compared;             // codes whose results were compared with them
};

loops::Program program_of(const test::Prepared& p, const Thresholds& thresholds) {
  loops::Lowered l = generate(p.front, p.data, {.save_locals = true, .batches = true}, {.thresholds = thresholds});
  const std::vector<std::string> problems = loops::verify(l.program);
  for (const std::string& problem : problems)
    UNSCOPED_INFO(problem);
  CHECK(problems.empty());
  return std::move(l.program);
}

/// Returns the k-th model, those of kModels first; null after the last. Models are prepared once.
PreparedModel* prepared_model(std::size_t k) {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> out = kModels;
    for (const fs::path& path : test::models())
      if (std::ranges::find(kModels, path.string()) == kModels.end()) out.push_back(path.string());
    return out;
  }();
  static std::vector<std::unique_ptr<PreparedModel>> made;
  if (k == paths.size()) return nullptr;
  if (k == made.size()) {
    auto r = std::make_unique<PreparedModel>(PreparedModel{paths[k], test::prepare(paths[k]), {}, {}});
    r->expected = swept(*r->model, Backend::interpreter, test::without({"all"}));
    made.push_back(std::move(r));
  }
  return made[k].get();
}

/// Returns true if what a threshold changes shows in the code of a model as the tests print it.
bool code_tells_all(const ThresholdCase& moved) {
  const auto of_cost_model = [](const std::string& name) { return name.starts_with("cost_model."); };
  return !of_cost_model(moved.name) && !of_cost_model(moved.also);
}

/// Tries all values of a threshold in one model after the other, until it has changed the code of `enough` models, and
/// compares what all code computes. `text` returns the code of a model with these thresholds. With `all`, further
/// models are tried if the code of the first ones does not change. Equal code is compared once.
template <class Text>
void move(const ThresholdCase& moved, int enough, bool all, const Text& text) {
  int differ = 0;
  std::size_t k = 0;
  for (PreparedModel* r = prepared_model(0); r && (k < kModels.size() ? differ < enough : all && differ == 0);
       r = prepared_model(++k)) {
    std::set<std::string> codes;
    for (const double value : moved.values) {
      INFO(r->path << " with " << moved.name << " = " << value);
      const Thresholds thresholds = moved_to(moved, value);
      // One threshold acts before lowering, when terms are grouped.
      const auto again =
          std::string_view(moved.name).starts_with("regroup.") ? test::prepare(r->path, thresholds) : nullptr;
      const test::Prepared& model = again ? *again : *r->model;
      const std::string code = text(model, thresholds);
      if (!codes.insert(code).second || codes.size() == 1) continue;
      // Thresholds of the cost model are read by code generation, too, so their loops do not tell everything.
      const std::string also = code_tells_all(moved) ? "" : fmt::format("{} = {}\n", moved.name, value);
      if (!r->compared.insert(also + code).second) continue;
      const auto computed = swept(model, Backend::native, {.thresholds = thresholds});
      CHECK(test::difference(computed, r->expected) < 1e-8);
    }
    if (codes.size() > 1) ++differ;
  }
  CHECK(differ > 0);
}

bool is_source(const fs::path& path) { return path.extension() == ".cpp" || path.extension() == ".h"; }

/// Calls f(name) for every threshold that a source text declares.
void each_threshold(const std::string& text, const std::function<void(const std::string&)>& f) {
  static const std::regex threshold(R"x(constexpr Threshold<[\w:]+>\s+k\w+\(\s*"([\w.]+)")x");
  for (std::sregex_iterator it(text.begin(), text.end(), threshold), end; it != end; ++it)
    f((*it)[1].str());
}

/// Calls f(file, name, is_threshold) for every number that the sources declare at the level of files and classes.
/// `file` is folder and file without its ending, `name` that of the threshold or of the constant.
void each_number(const std::function<void(const std::string&, const std::string&, bool)>& f) {
  const std::regex constants(R"x(\n\s*(?:static |inline )*constexpr )x"
                             R"x((?:std::)?(?:u?int\d*_t|size_t|int|unsigned|(?:long )?double) (k[A-Z][^;]*);)x");
  const std::regex name(R"x((?:^|, )(k[A-Z]\w*)(?: = |\{))x");
  for (const char* folder : {"analysis", "passes", "loops", "lower", "native", "schedule"}) {
    for (const auto& entry : fs::recursive_directory_iterator(std::string("compiler/") + folder)) {
      if (!is_source(entry.path())) continue;
      const std::string text = test::contents(entry.path()),
                        file = std::string(folder) + "/" + entry.path().stem().string();
      each_threshold(text, [&](const std::string& n) { f(file, n, true); });
      for (std::sregex_iterator it(text.begin(), text.end(), constants), end; it != end; ++it) {
        const std::string declared = (*it)[1].str();
        for (std::sregex_iterator one(declared.begin(), declared.end(), name), none; one != none; ++one)
          f(file, (*one)[1].str(), false);
      }
    }
  }
}

}  // namespace

TEST_CASE(
    "every number of the passes, the lowering and the code generation is a threshold that is tried or a constant") {
  std::set<std::string> tried = kOfUnitTests;
  for (const auto* all : {&kOfLoops, &kOfCode})
    for (const ThresholdCase& m : *all)
      tried.insert(m.name);
  std::set<std::string> found;
  each_number([&](const std::string& file, const std::string& name, bool threshold) {
    INFO(file << ": " << name);
    if (threshold) CHECK(tried.contains(name));
    else CHECK(kConstants.contains(file + "." + name));
    found.insert(threshold ? name : file + "." + name);
  });
  for (const std::set<std::string>& all : {tried, kConstants}) {
    for (const std::string& name : all) {
      INFO(name);
      CHECK(found.contains(name));
    }
  }
}

TEST_CASE("every threshold is one of the code generation, or one of runs that the generator of models moves") {
  std::set<std::string> of_code, found;
  each_number([&](const std::string&, const std::string& name, bool threshold) {
    if (threshold) of_code.insert(name);
  });
  for (const char* folder : {"compiler", "runtime"}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (is_source(entry.path()))
        each_threshold(test::contents(entry.path()), [&](const std::string& n) { found.insert(n); });
    }
  }
  std::set<std::string> listed = kOfRuns;
  listed.insert(of_code.begin(), of_code.end());
  for (const auto& [name, path] : kOfResults) {
    INFO(name);
    listed.insert(name);
    CHECK(test::contents(path).find(name + "=") != std::string::npos);
  }
  CHECK(found == listed);
  const std::string moved = test::contents("tests/generator/checks.py");
  for (const std::string& name : kOfRuns) {
    INFO(name);
    CHECK(moved.find("\"" + name + "\"") != std::string::npos);
  }
}

TEST_CASE("wherever a threshold of Loops lies, models compute the same") {
  for (const ThresholdCase& moved : kOfLoops) {
    DYNAMIC_SECTION(moved.name) {
      move(moved, 6, true, [](const test::Prepared& p, const Thresholds& t) { return print(program_of(p, t)); });
    }
  }
}

TEST_CASE("wherever a threshold of the code generation lies, models compute the same") {
  for (const ThresholdCase& moved : kOfCode) {
    DYNAMIC_SECTION(moved.name) {
      // Some thresholds matter only for vectors of eight numbers, so code for such a processor is compared too.
      const native::Options eight{.cpu = "x86-64-v4", .triple = "x86_64-linux-gnu"};
      move(moved, 2, false, [&](const test::Prepared& p, const Thresholds& t) {
        return native::llvm_text(program_of(p, t)) + native::llvm_text(program_of(p, t), eight);
      });
    }
  }
}
