// Formatting of help pages: one entry for each option, names at the left and the wrapped text in a column of its own.
#include "compiler/console/help_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "compiler/console/interface.h"

namespace lehr::commands {
namespace {

// Columns of a page, and of the names at its left.
constexpr std::size_t kWidth = 100, kNames = 28;
// The groups in the order in which pages show them; that for developers is the last.
constexpr const char* kGroups[] = {kDataOptions,     kMethodOptions,   kStartOptions,  kTemperatureOptions,
                                   kStoppingOptions, kResourceOptions, kOutputOptions, kDeveloperOptions};

/// An option as it is typed: "--method {cavi,svi}", "-o,--out TEXT".
std::string option_spelling_of(const CLI::Option& o) {
  std::string out = o.get_positional() ? o.get_name(true) : o.get_name(false, true);
  if (o.get_positional() || o.get_items_expected_max() == 0) return out;
  std::string value = o.get_type_name();
  // CLI11 spells a set of values as "TEXT:{a,b}".
  if (const std::size_t colon = value.find(":{"); colon != std::string::npos) value = value.substr(colon + 1);
  return fmt::format("{} {}", out, value);
}

/// Returns true if the text has this word.
bool has_word(std::string_view text, const std::string& word) {
  const auto is_of_word = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '-');
  };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
    if (!(at > 0 && is_of_word(at - 1)) && !is_of_word(at + word.size())) return true;
  return false;
}

/// Appends the words of a text to `page`, whose last line has `at` characters; lines begin at column kNames.
void wrap(std::string& page, std::size_t at, std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::string_view word = text.substr(begin, text.find(' ', begin) - begin);
    if (begin > 0 && at + 1 + word.size() > kWidth) {
      page += "\n" + std::string(kNames, ' ');
      at = kNames;
    } else if (begin > 0) {
      page += ' ';
      ++at;
    }
    page += word;
    at += word.size();
    begin += word.size() + 1;
  }
  page += '\n';
}

/// Appends the entry of one option to the page.
void add_entry(std::string& page, const CLI::Option& o) {
  std::string name = "  " + option_spelling_of(o);
  std::string text = full_help(o);
  // Values beside a name that would take a line of its own are left to the text. A long list is appended to it.
  if (const std::size_t brace = name.find(" {"); brace != std::string::npos && name.size() + 2 > kNames) {
    const std::vector<std::string> values = CLI::detail::split(name.substr(brace + 2, name.size() - brace - 3), ',');
    const bool has_all_names = std::ranges::all_of(values, [&](const std::string& v) { return has_word(text, v); });
    const bool is_long = name.size() > 2 * kNames;
    if (is_long && !has_all_names) text += fmt::format("; one of {}", fmt::join(values, ", "));
    if (is_long || has_all_names) name = name.substr(0, brace) + " NAME";
  }
  page += name;
  if (name.size() + 2 > kNames) page += "\n" + std::string(kNames, ' ');
  else page += std::string(kNames - name.size(), ' ');
  wrap(page, kNames, text);
}

/// Returns the groups of a command in the order of kGroups, with all others before that for developers.
std::vector<std::string> groups_of(const CLI::App& app) {
  std::vector<std::string> out(std::begin(kGroups), std::end(kGroups));
  for (const std::string& g : app.get_groups())
    if (std::ranges::find(out, g) == out.end()) out.insert(out.end() - 1, g);
  return out;
}

}  // namespace

std::string HelpPage::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  if (!app->get_subcommands([](const CLI::App*) { return true; }).empty())
    return CLI::Formatter::make_help(app, std::move(name), mode);
  const bool all = mode == CLI::AppFormatMode::All || common_.empty();
  const auto is_shown = [&](const CLI::Option* o) {
    const auto named = [&](const std::string& n) { return o->check_name(n); };
    return !o->get_group().empty() && (all || o->get_positional() || std::ranges::any_of(common_, named));
  };
  std::string page = app->get_description() + "\n\n" + make_usage(app, name);
  // CLI11 puts empty lines around the usage.
  while (page.ends_with("\n\n"))
    page.pop_back();
  std::string arguments;
  for (const CLI::Option* o : app->get_options(is_shown))
    if (o->get_positional()) add_entry(arguments, *o);
  if (!arguments.empty()) page += "\nArguments:\n" + arguments;
  for (const std::string& group : groups_of(*app)) {
    std::string entries;
    for (const CLI::Option* o : app->get_options(is_shown))
      if (o->nonpositional() && o->get_group() == group) add_entry(entries, *o);
    if (!entries.empty()) page += fmt::format("\n{}:\n{}", group, entries);
  }
  if (all) return app->get_footer().empty() ? page : page + "\n" + app->get_footer() + "\n";
  const std::size_t count = app->get_options([](const CLI::Option* o) { return o->nonpositional(); }).size();
  return page + fmt::format("\n{} --help lists all {} options, with examples.\n", name, count);
}

void put_in_group(CLI::App& command, const char* group, const std::vector<std::string>& options) {
  for (const std::string& name : options)
    if (CLI::Option* const o = command.get_option_no_throw(name)) o->group(group);
}

void add_short_help(CLI::App& command, std::vector<std::string> common) {
  command.set_help_flag("-h", "Show the options that are used most");
  command.set_help_all_flag("--help", "Show all options");
  command.formatter(std::make_shared<HelpPage>(std::move(common)));
}

}  // namespace lehr::commands
