// The command line: `lehr COMMAND ...`. Each command stands in compiler/commands.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "compiler/commands/commands.h"
#include "compiler/commands/interface.h"
#include "runtime/terminal/printable.h"

namespace {

lehr::ExitCode run(int argc, char** argv) {
  using namespace lehr::commands;
  CLI::App app{"Lehr: from a conjugate exponential-family model to native variational inference.", "lehr"};
  app.set_version_flag("--version", std::string("lehr ") + LEHR_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 1 internal, or the output cannot be written; 2 usage; 3 model; 4 data; 5 "
      "numerical failure.\n"
      "lehr help COMMAND shows the options of a command and examples.");
  Action action;
  add_build(app, action);
  add_calibrate(app, action);
  add_check(app, action);
  add_compare(app, action);
  add_completion(app, action);
  add_derive(app, action);
  add_diagnose(app, action);
  add_draws(app, action);
  add_emit(app, action);
  add_format(app, action);
  add_families(app, action);
  add_fit(app, action, command_line(argc, argv));
  add_new(app, action);
  add_predict(app, action);
  add_report(app, action);
  add_score(app, action);
  add_show(app, action);
  add_simulate(app, action);
  add_help(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (app.exit(e) == 0) return lehr::ExitCode::done;
    lehr::tell(notes_on_unknown_words(app));
    return lehr::ExitCode::usage;
  }
  return action();
}

/// Standard streams that the caller closed must not become the files of a fit: what is written to them fails
/// instead.
void occupy_standard_streams() {
  for (const int stream : {0, 1, 2}) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

/// What was printed is part of what was asked for.
int finish(lehr::ExitCode code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(code);
  lehr::tell("lehr: cannot write to the standard output: {}\n", std::strerror(errno != 0 ? errno : EIO));
  return static_cast<int>(code == lehr::ExitCode::done ? lehr::ExitCode::internal : code);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  try {
    return finish(run(argc, argv));
  } catch (const std::bad_alloc&) {
    lehr::tell("lehr: error: there is not enough memory\n");
    return static_cast<int>(lehr::ExitCode::data);
  } catch (const std::exception& e) {
    if (std::ferror(stdout) != 0) return finish(lehr::ExitCode::internal);
    lehr::tell("lehr: internal error: {}\n", e.what());
    return static_cast<int>(lehr::ExitCode::internal);
  }
}
