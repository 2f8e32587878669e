// The list of passes (passes.def), and the loop that runs them.
#include "compiler/passes/passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "compiler/analysis/verify.h"

namespace lehr::loops {
namespace {

constexpr Pass kPasses[] = {
#define LEHR_PASS(function, name, text) {name, text, function},
#include "compiler/passes/passes.def"
#undef LEHR_PASS
};

/// Throws std::logic_error with the problems of a malformed program, and when it was so.
void require_well_formed(const Program& program, std::string_view when) {
  if (const std::vector<std::string> problems = verify(program); !problems.empty())
    throw std::logic_error(fmt::format("{}: {}", when, fmt::join(problems, "; ")));
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

std::vector<Pass> passes_without(const std::vector<std::string>& names) {
  const auto runs = [&](const Pass& p) {
    return std::ranges::none_of(names, [&](const std::string& name) { return name == p.name || name == "all"; });
  };
  std::vector<Pass> out;
  std::ranges::copy_if(kPasses, std::back_inserter(out), runs);
  return out;
}

std::vector<Pass> default_passes() {
  const char* const list = std::getenv("LEHR_NO_OPT");
  std::vector<std::string> names{""};
  for (const char* c = list ? list : ""; *c; ++c) {
    if (*c == ',') names.emplace_back();
    else names.back() += *c;
  }
  return passes_without(names);
}

Program optimise(Program program, const PassOptions& options) {
  program.thresholds = options.thresholds;
  if (options.verify_each) require_well_formed(program, "before the first pass");
  for (const Pass& p : options.passes) {
    if (!options.on_pass && !options.verify_each) {
      program = p.run(std::move(program));
      continue;
    }
    const auto begin = std::chrono::steady_clock::now();
    Program after = p.run(program);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    if (options.on_pass) options.on_pass({p, program, after, elapsed.count()});
    if (options.verify_each) require_well_formed(after, fmt::format("after {}", p.name));
    program = std::move(after);
  }
  return program;
}

}  // namespace lehr::loops
