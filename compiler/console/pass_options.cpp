// Options that print and verify programs around passes.
#include "compiler/console/pass_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/loops/print_loops.h"
#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

bool names(const std::vector<std::string>& list, std::string_view pass) {
  return std::ranges::any_of(list, [&](const std::string& name) { return name == pass || name == "all"; });
}

}  // namespace

std::string wrong_threshold(std::string_view list) {
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
    const std::size_t equals = entry.find('=');
    const bool has_value = equals != entry.npos && parse_number(entry.substr(equals + 1)).has_value();
    if (!has_value && !entry.empty()) return fmt::format("'{}' is not NAME=VALUE with a number", printable(entry));
  }
  return {};
}

CLI::IsMember is_pass() {
  std::vector<std::string> out{"all"};
  for (const loops::Pass& p : loops::passes())
    out.emplace_back(p.name);
  CLI::IsMember check(out);
  check.description("");  // a long list in every help
  return check;
}

void add_no_opt(CLI::App& c, PassTexts& t) {
  c.add_option("--no-opt", t.without,
               "Optimisations of the compiler to leave out, separated by commas, to see whether one causes an error; "
               "all: every one. docs/passes.md says what each does. Default: none")
      ->take_all()
      ->delimiter(',')
      ->check(is_pass())
      ->type_name("PASS");
}

void add_pass_options(CLI::App& c, PassTexts& t) {
  c.add_option("--thresholds", t.thresholds,
               "Numbers at which the compiler changes the way in which it generates code, to test both; separated by "
               "commas. Their names are those of Threshold in its sources. Default: those built in")
      ->take_all()
      ->delimiter(',')
      ->check([](const std::string& entry) { return wrong_threshold(entry); })
      ->type_name("NAME=VALUE");
  c.add_option("--print-before", t.before,
               "Print the generated program (as loops) before these compiler passes of docs/passes.md, separated by "
               "commas, or all; default: none")
      ->take_all()
      ->delimiter(',')
      ->check(is_pass())
      ->type_name("PASS");
  c.add_option("--print-after", t.after,
               "Print the generated program (as loops) after these compiler passes of docs/passes.md, separated by "
               "commas, or all; default: none")
      ->take_all()
      ->delimiter(',')
      ->check(is_pass())
      ->type_name("PASS");
  c.add_flag("--verify-each", t.verify_each,
             "Check after each compiler pass that the generated program is well formed");
  c.add_flag("--time-passes", t.time, "Print the time that each compiler pass (optimisation) takes");
}

loops::PassOptions pass_options(const PassTexts& t) {
  loops::PassOptions out;
  if (!t.without.empty()) out.passes = loops::passes_without(t.without);
  if (!t.thresholds.empty()) out.thresholds = Thresholds(fmt::format("{}", fmt::join(t.thresholds, ",")));
  out.verify_each = t.verify_each;
  if (t.before.empty() && t.after.empty() && !t.time) return out;
  out.on_pass = [t](const loops::PassReport& r) {
    if (names(t.before, r.pass.name)) fmt::print("// before {}\n{}", r.pass.name, loops::print(r.before));
    if (names(t.after, r.pass.name)) fmt::print("// after {}\n{}", r.pass.name, loops::print(r.after));
    if (t.time) print_to_stderr(fmt::format("{:9.3f} ms  {}\n", 1e3 * r.seconds, r.pass.name));
  };
  return out;
}

}  // namespace lehr::commands
