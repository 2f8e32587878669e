// `lehr opt`: runs passes of the compiler on a program in Loops, and runs the program before and after in the
// interpreter. docs/loops.md has the language, and the file that --run reads.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "compiler/analysis/execute.h"
#include "compiler/analysis/verify.h"
#include "compiler/commands/commands.h"
#include "compiler/console/pass_options.h"
#include "compiler/loops/parse_loops.h"
#include "compiler/loops/print_loops.h"
#include "compiler/pipeline.h"
#include "runtime/files/atomic_file.h"

namespace lehr::commands {
namespace {

using nlohmann::json;

struct Options {
  std::string path, arguments;
  std::vector<std::string> passes;
  std::optional<std::size_t> stop_after;  // none: all passes run
  double tolerance = 1e-9;
  PassTexts texts;
};

/// A call of a function, and the arrays before it.
struct Run {
  loops::Call call;
  loops::Arrays arrays;
};

/// Returns the values of an array of the file.
std::vector<double> values_of(const json& values, loops::Type type) {
  std::vector<double> out;
  for (const json& value : values) {
    if (type == loops::Type::i64) out.push_back(std::bit_cast<double>(value.get<std::int64_t>()));
    else out.push_back(value.is_null() ? NAN : value.get<double>());
  }
  return out;
}

/// Returns an entry of one of the objects of the file: `objects` is its key there. Throws std::invalid_argument if
/// there is none.
const json& entry(const json& file, const char* objects, const std::string& name) {
  const auto object = file.find(objects);
  if (object == file.end() || !object->is_object() || !object->contains(name))
    throw std::invalid_argument(fmt::format("\"{}\" has no entry \"{}\"", objects, name));
  return object->at(name);
}

/// Returns the call that the file describes. Throws std::exception with a reason if it does not fit the program. Arrays
/// whose shapes the passes have changed begin with zeros: `original` is the program before them, or the same.
Run read_run(const json& file, const loops::Program& p, const loops::Program& original) {
  Run out;
  const std::string function = file.value("function", p.functions.empty() ? "" : p.functions[0].name);
  const auto it = std::ranges::find(p.functions, function, &loops::Function::name);
  if (it == p.functions.end()) throw std::invalid_argument(fmt::format("there is no function '{}'", function));
  out.call.function = static_cast<std::size_t>(it - p.functions.begin());
  for (const loops::Size& size : p.sizes) {
    if (size.constant >= 0) continue;
    out.call.sizes.resize(std::max(out.call.sizes.size(), static_cast<std::size_t>(size.slot) + 1));
    out.call.sizes[static_cast<std::size_t>(size.slot)] = entry(file, "sizes", size.name);
  }
  for (const loops::ScalarId parameter : it->parameters) {
    const json& value = entry(file, "parameters", p[parameter].name);
    if (p[parameter].type == loops::Type::i64) out.call.integers.push_back(value);
    else out.call.reals.push_back(value);
  }
  out.arrays.resize(p.buffers.size());
  const json arrays = file.value("arrays", json::object());
  for (const auto& [name, values] : arrays.items())
    if (std::ranges::find(original.buffers, name, &loops::Buffer::name) == original.buffers.end())
      throw std::invalid_argument(fmt::format("there is no array '{}'", name));
  for (std::size_t k = 0; k < p.buffers.size(); ++k) {
    const loops::BufferId b(k);
    const std::size_t count = loops::values_in(p, b, out.call.sizes);
    std::vector<double> values(count, 0.0);
    const bool has_its_shape = k < original.buffers.size() && original[b].axes.size() == p[b].axes.size();
    if (arrays.contains(p[b].name) && has_its_shape) values = values_of(arrays[p[b].name], p[b].element);
    if (values.size() != count)
      throw std::invalid_argument(fmt::format("'{}' has {} elements, not {}", p[b].name, count, values.size()));
    out.arrays[k] = loops::memory_of(p, b, out.call.sizes, values);
  }
  return out;
}

/// Prints the arrays that outlive a call.
void print_arrays(const loops::Program& p, const loops::Arrays& arrays) {
  for (std::size_t k = 0; k < p.buffers.size(); ++k) {
    const loops::Buffer& b = p.buffers[k];
    if (b.role == loops::Role::scratch || b.role == loops::Role::data) continue;
    std::string text;
    for (const double x : loops::values_of(p, loops::BufferId(k), arrays[k]))
      text += b.element == loops::Type::i64 ? fmt::format(" {}", std::bit_cast<std::int64_t>(x))
                                            : fmt::format(" {:.12g}", x);
    fmt::print("{} ={}\n", loops::quoted(b.name), text);
  }
}

/// Runs both programs, prints what the second computes, and compares.
ExitCode run_both(const Options& o, const loops::Program& before, const loops::Program& after) {
  const Result<std::string> text = read_file(o.arguments);
  if (!text) return complain(text.error());
  try {
    const json call = json::parse(*text);
    Run first = read_run(call, before, before), second = read_run(call, after, before);
    const std::int32_t a = loops::execute(before, first.call, first.arrays);
    const std::int32_t b = loops::execute(after, second.call, second.arrays);
    fmt::print("status {}\n", b);
    if (b == 0) print_arrays(after, second.arrays);
    std::vector<std::string> problems;
    if (a != b) problems.push_back(fmt::format("status {} before the passes, {} after them", a, b));
    else if (a == 0) problems = loops::differences(before, first.arrays, after, second.arrays, o.tolerance);
    if (problems.empty()) return ExitCode::done;
    if (std::ranges::any_of(before.demand_flags, [](const auto& flag) { return flag.buffer.valid(); }))
      problems.push_back("arrays that the call does not ask for (`demand` in the loops) may keep what they had");
    return complain({ExitCode::internal, o.path, "the passes change what is computed", problems});
  } catch (const std::exception& problem) {
    return complain({ExitCode::data, o.arguments, problem.what(), {}});
  }
}

/// Returns the passes that the user chose, in that order; `all`, and no choice, stand for the pipeline.
std::vector<loops::Pass> chosen(const Options& o) {
  std::vector<loops::Pass> out;
  for (const std::string& name : o.passes.empty() ? std::vector<std::string>{"all"} : o.passes) {
    if (name == "all") std::ranges::copy(loops::passes(), std::back_inserter(out));
    else out.push_back(*std::ranges::find(loops::passes(), name, &loops::Pass::name));
  }
  if (o.stop_after && *o.stop_after < out.size())
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(*o.stop_after), out.end());
  return out;
}

ExitCode opt(const Options& o) {
  const std::optional<Source> source = read_model(o.path);
  if (!source) return ExitCode::usage;
  const Result<loops::Program> before = loops::parse(*source);
  if (!before) return complain(before.error());
  if (const std::vector<std::string> problems = loops::verify(*before); !problems.empty())
    return complain({ExitCode::model, o.path, problems[0], {problems.begin() + 1, problems.end()}});
  loops::PassOptions options = pass_options(o.texts);
  options.passes = chosen(o);
  const loops::Program after = optimised(*before, options);
  if (!o.arguments.empty()) return run_both(o, *before, after);
  if (o.texts.before.empty() && o.texts.after.empty()) fmt::print("{}", loops::print(after));
  return ExitCode::done;
}

}  // namespace

void add_opt(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("opt", "Run optimisation passes of the compiler on a file of loops");
  auto o = std::make_shared<Options>();
  command->add_option("FILE", o->path, "Program, as `lehr emit --as loops` prints it")->required();
  command
      ->add_option(
          "--passes", o->passes,
          "Passes of docs/passes.md to run, in this order, separated by commas (default: all, in the compiler's order)")
      ->take_all()
      ->delimiter(',')
      ->check(is_pass())
      ->type_name("PASS");
  command->add_option("--stop-after", o->stop_after, "Number of passes that run, the first of the list (default: all)");
  add_pass_options(*command, o->texts);
  command
      ->add_option(
          "--run", o->arguments,
          "JSON file {\"function\": NAME, \"sizes\": {SIZE: N}, \"parameters\": {ARGUMENT: VALUE}, \"arrays\": "
          "{NAME: [NUMBER, ...]}}: interprets the function before and after the passes, prints its arrays, and "
          "fails if they differ. docs/loops.md has an example")
      ->type_name("FILE");
  command
      ->add_option("--tolerance", o->tolerance, "Difference that --run ignores, relative to the array's largest number")
      ->capture_default_str();
  command->footer(
      "Examples:\n  lehr emit models/topics/lda.lehr --as loops --set K=10 --no-opt all > lda.loops\n"
      "  lehr opt lda.loops --passes contract-arrays,eliminate-dead-code --verify-each");
  command->callback([&action, o] { action = [o] { return opt(*o); }; });
}

}  // namespace lehr::commands
