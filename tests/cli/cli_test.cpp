// Runs the command line as a user does. Each file tests/cli/FOLDER/NAME.test is one case:
//
//   $ lehr check MODEL                   arguments; {tmp} is a fresh directory; several lines run in order
//   exit 0                               exit code of the last command
//   == stdout                            exact output; a missing block is not compared
//   == stderr
//
// LEHR_UPDATE_GOLDENS=1 rewrites the exit code and the blocks that a file has.
#include <fmt/format.h>
#include <sys/wait.h>

#include <optional>
#include <sstream>

#include "tests/golden/goldens.h"
#include "tests/runtime/folder.h"

using lehr::test::contents;
namespace fs = std::filesystem;

namespace {

struct Case {
  std::string comment;
  std::vector<std::string> commands;  // the arguments of each command
  int exit_code = 0;
  std::optional<std::string> out, err;
};

Case parse(const fs::path& path) {
  std::istringstream lines(contents(path));
  Case c;
  std::optional<std::string>* block = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line == "== stdout" || line == "== stderr") {
      block = line == "== stdout" ? &c.out : &c.err;
      *block = "";
    } else if (block) {
      **block += line + "\n";
    } else if (line.starts_with("$ lehr ")) {
      c.commands.push_back(line.substr(7));
    } else if (line.starts_with("exit ")) {
      c.exit_code = std::stoi(line.substr(5));
    } else {
      c.comment += line + "\n";
    }
  }
  return c;
}

std::string print(const Case& c) {
  std::string out = c.comment;
  for (const std::string& arguments : c.commands)
    out += "$ lehr " + arguments + "\n";
  out += fmt::format("exit {}\n", c.exit_code);
  if (c.out) out += "== stdout\n" + *c.out;
  if (c.err) out += "== stderr\n" + *c.err;
  return out;
}

std::string replaced(std::string s, const std::string& what, const std::string& by) {
  for (std::size_t at = s.find(what); at != std::string::npos; at = s.find(what, at + by.size()))
    s.replace(at, what.size(), by);
  return s;
}

/// Runs the commands of a case. The result has the same blocks as the case.
Case run(const Case& c) {
  const Folder tmp;
  Case result = c;
  for (const std::string& arguments : c.commands) {
    const std::string command = fmt::format("{} {} >>{}/stdout 2>>{}/stderr </dev/null", LEHR_PROGRAM,
                                            replaced(arguments, "{tmp}", tmp.path()), tmp.path(), tmp.path());
    const int status = std::system(command.c_str());
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  if (c.out) result.out = replaced(contents(tmp / "stdout"), tmp.path(), "{tmp}");
  if (c.err) result.err = replaced(contents(tmp / "stderr"), tmp.path(), "{tmp}");
  return result;
}

}  // namespace

TEST_CASE("commands") {
  const std::vector<fs::path> files = lehr::test::files_in("tests/cli", ".test");
  REQUIRE(!files.empty());
  REQUIRE(fs::exists(LEHR_PROGRAM));
  for (const fs::path& file : files) {
    DYNAMIC_SECTION(file.generic_string()) { lehr::golden::compare(print(run(parse(file))), file); }
  }
}
