// Reads commands and options from their CLI11 definitions, and suggests names for mistyped words.
#include "compiler/console/interface.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/files/readers.h"
#include "runtime/files/text.h"

namespace lehr::commands {
namespace {

/// Returns the description of an option.
OptionText text_of(const CLI::Option& option) {
  OptionText out;
  for (const std::string& name : option.get_snames())
    out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    out.names.push_back("--" + name);
  out.positional = out.names.empty();
  if (out.positional) out.names.push_back(option.get_name(true));
  out.help = full_help(option);
  if (option.get_items_expected_max() == 0) return out;
  // CLI11 spells the type of an option with a set of values as "TEXT:{a,b}".
  out.value = option.get_type_name();
  const std::size_t open = out.value.find('{');
  if (open == std::string::npos || out.value.back() != '}') return out;
  out.choices = split_fields(std::string_view(out.value).substr(open + 1, out.value.size() - open - 2));
  out.value = fmt::format("{}", fmt::join(out.choices, "|"));
  return out;
}

/// Returns the description of a command with its options, but those that its help does not show either.
CommandText text_of(const CLI::App& command) {
  CommandText out{command.get_name(), command.get_description(), command.get_footer(), {}};
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty()) out.options.push_back(text_of(*option));
  return out;
}

}  // namespace

std::string full_help(const CLI::Option& o) {
  std::vector<std::string> extra;
  if (!o.get_default_str().empty() && !o.get_positional()) extra.push_back("default: " + o.get_default_str());
  if (o.get_required() && !o.get_positional()) extra.push_back("required");
  for (const CLI::Option* other : o.get_needs())
    extra.push_back("needs " + other->get_name());
  for (const CLI::Option* other : o.get_excludes())
    extra.push_back("not with " + other->get_name());
  const std::string& text = o.get_description();
  return extra.empty() ? text : fmt::format("{} ({})", text, fmt::join(extra, "; "));
}

std::vector<CommandText> commands_of(const CLI::App& app) {
  std::vector<CommandText> out;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(text_of(*command));
  return out;
}

std::vector<std::string> names_of(const std::vector<CommandText>& commands) {
  std::vector<std::string> out;
  for (const CommandText& c : commands)
    out.push_back(c.name);
  return out;
}

CLI::Validator one_of(std::vector<std::string> values) {
  const std::string text = fmt::format("{{{}}}", fmt::join(values, ","));
  const auto check = [values = std::move(values)](const std::string& value) {
    const bool found = std::find(values.begin(), values.end(), value) != values.end();
    return found ? std::string() : fmt::format("there is no '{}'; {}", value, suggest(value, values));
  };
  return CLI::Validator(check, text);
}

std::string suggest_corrections(const CLI::App& app) {
  if (app.get_subcommands().empty()) {
    for (const std::string& word : app.remaining())
      if (!word.starts_with('-'))
        return fmt::format("    note: there is no command '{}'; {}\n", word, suggest(word, names_of(commands_of(app))));
    return "";
  }
  const CLI::App& command = *app.get_subcommands().front();
  std::vector<std::string> names;
  for (const OptionText& option : text_of(command).options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  std::string out;
  for (const std::string& word : command.remaining()) {
    const std::string text = suggest(word.substr(0, word.find('=')), names);
    if (word.starts_with('-') && text.starts_with("did you"))
      out += fmt::format("    note: there is no option '{}'; {}\n", word, text);
  }
  return out;
}

}  // namespace lehr::commands
