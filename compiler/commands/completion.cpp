// Completion scripts for bash, zsh and fish. They complete names of commands, options, and the values of options with a
// fixed set of values; everything else completes as a file name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/console/interface.h"

namespace lehr::commands {
namespace {

/// Returns the text in single quotes, as all three shells read it.
std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// Returns the names of all options of a command, without positional arguments.
std::vector<std::string> option_names(const CommandText& c) {
  std::vector<std::string> out;
  for (const OptionText& o : c.options)
    if (!o.positional) out.insert(out.end(), o.names.begin(), o.names.end());
  return out;
}

/// Returns the words separated by blanks.
std::string words(const std::vector<std::string>& all) { return fmt::format("{}", fmt::join(all, " ")); }

/// Returns the script for bash: one `case` for values after an option, and one for the options of a command.
std::string bash(const std::vector<CommandText>& commands) {
  std::string values, others;
  for (const CommandText& c : commands) {
    others += fmt::format("    {}) [[ $word == -* ]] && words={} ;;&\n", c.name, in_quotes(words(option_names(c))));
    for (const OptionText& o : c.options) {
      if (o.choices.empty()) continue;
      if (o.positional) others += fmt::format("    {}) words+={} ;;&\n", c.name, in_quotes(" " + words(o.choices)));
      for (const std::string& name : o.names)
        if (!o.positional)
          values += fmt::format("    {}) words={} ;;\n", in_quotes(c.name + " " + name), in_quotes(words(o.choices)));
    }
  }
  return fmt::format(
      "# Completion of lehr for bash, by `lehr completion bash`.\n"
      "_lehr() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then words={}\n"
      "  else\n"
      "    case \"${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}\" in\n{}    esac\n"
      "    [ -n \"$words\" ] || case \"${{COMP_WORDS[1]}}\" in\n{}    esac\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -o default -F _lehr lehr\n",
      in_quotes(words(names_of(commands)) + " --help --version"), values, others);
}

/// Returns the script for zsh, which describes each option to `_arguments`.
std::string zsh(const std::vector<CommandText>& commands) {
  // A description in brackets, in which brackets and colons are escaped.
  const auto described = [](std::string_view text) {
    std::string out;
    for (const char c : text)
      out += c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out;
  };
  std::string list, options;
  for (const CommandText& c : commands) {
    list += fmt::format("    {}\n", in_quotes(c.name + ":" + described(c.description)));
    options += fmt::format("    {})\n      _arguments", c.name);
    for (const OptionText& o : c.options) {
      const std::string completer = o.choices.empty() ? "_files" : "(" + words(o.choices) + ")";
      for (const std::string& name : o.names)
        options += o.positional ? fmt::format(" \\\n        {}", in_quotes("*:" + name + ":" + completer))
                   : o.value.empty()
                       ? fmt::format(" \\\n        {}", in_quotes(name + "[" + described(o.help) + "]"))
                       : fmt::format(" \\\n        {}",
                                     in_quotes("*" + name + "[" + described(o.help) + "]:value:" + completer));
    }
    options += "\n      ;;\n";
  }
  return fmt::format(
      "#compdef lehr\n# Completion of lehr for zsh, by `lehr completion zsh`.\n"
      "local -a commands\n"
      "if (( CURRENT == 2 )); then\n  commands=(\n{}  )\n  _describe command commands\nelse\n"
      "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n{}  esac\nfi\n",
      list, options);
}

/// Returns the script for fish: one `complete` line for each command and option.
std::string fish(const std::vector<CommandText>& commands) {
  std::string out = "# Completion of lehr for fish, by `lehr completion fish`.\n";
  for (const CommandText& c : commands) {
    out += fmt::format("complete -c lehr -n __fish_use_subcommand -f -a {} -d {}\n", c.name, in_quotes(c.description));
    for (const OptionText& o : c.options) {
      out += fmt::format("complete -c lehr -n '__fish_seen_subcommand_from {}'", c.name);
      for (const std::string& name : o.names)
        if (!o.positional)
          out += fmt::format(" -{} {}", name.starts_with("--") ? "l" : "s", name.substr(name.find_first_not_of('-')));
      if (!o.value.empty() && !o.positional) out += " -r";
      if (!o.choices.empty()) out += fmt::format(" -f -a {}", in_quotes(words(o.choices)));
      out += fmt::format(" -d {}\n", in_quotes(o.help));
    }
  }
  return out;
}

/// A shell and the function that writes its script.
struct Shell {
  const char* name;
  std::string (*write)(const std::vector<CommandText>& commands);
};
constexpr Shell kShells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

}  // namespace

std::vector<std::string> completion_shells() {
  std::vector<std::string> out;
  for (const Shell& s : kShells)
    out.emplace_back(s.name);
  return out;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const auto* const found =
      std::find_if(std::begin(kShells), std::end(kShells), [&](const Shell& s) { return s.name == shell; });
  return found->write(commands_of(app));
}

}  // namespace lehr::commands
