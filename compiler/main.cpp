// The program `lehr`: declares the subcommands (compiler/commands), parses the command line, runs one command and
// returns its exit code. Exceptions become messages and exit codes here, also where memory is exhausted. Under the name
// `lehr-mpi` it joins the group of processes that an MPI launcher started.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>

#include "compiler/commands/commands.h"
#include "compiler/console/help_page.h"
#include "compiler/console/interface.h"
#include "compiler/console/pass_options.h"
#include "compiler/console/settings.h"
#include "runtime/cluster/cluster.h"
#include "runtime/plugin.h"
#include "runtime/terminal/printable.h"

namespace {

/// Joins the processes of an MPI launcher if the program was called as `lehr-mpi`, and returns their group; else null.
std::unique_ptr<lehr::Group> group_of(std::string_view name) {
  return name.ends_with("-mpi") ? lehr::join_cluster() : nullptr;
}

/// Parses the command line and runs the command that it names. `group` is null for a single process.
lehr::ExitCode run(int argc, char** argv, lehr::Group* group) {
  using namespace lehr::commands;
  CLI::App app{"Lehr: from a conjugate exponential-family model to native variational inference.", "lehr"};
  app.set_version_flag("--version", std::string("lehr ") + LEHR_VERSION);
  app.formatter(std::make_shared<HelpPage>());
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 1 internal, or the output cannot be written; 2 usage; 3 model; 4 data; 5 numerical\n"
      "failure.\n"
      "Words: a plate is an index set of a model (documents, terms); an item is an element of the outermost\n"
      "plate of the data (a document, a row); latent variables of single items are local, all others global;\n"
      "a sweep updates every variable once. docs/glossary.md has more.\n"
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
  add_fit(app, action, command_line(argc, argv), group);
  add_new(app, action);
  add_opt(app, action);
  add_plan(app, action);
  add_predict(app, action);
  add_report(app, action);
  add_score(app, action);
  add_show(app, action);
  add_simulate(app, action);
  add_stats(app, action);
  add_update(app, action, command_line(argc, argv));
  add_update_globals(app, action, command_line(argc, argv));
  add_help(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (app.exit(e) == 0) return lehr::ExitCode::done;
    lehr::print_to_stderr(suggest_corrections(app));
    return lehr::ExitCode::usage;
  }
  if (const char* const thresholds = std::getenv("LEHR_THRESHOLDS")) {
    if (const std::string wrong = wrong_threshold(thresholds); !wrong.empty())
      return complain(lehr::usage_error("LEHR_THRESHOLDS", wrong));
  }
  if (group && !app.got_subcommand("fit"))
    return complain({lehr::ExitCode::usage, "lehr-mpi", "only fits are distributed among processes: use lehr", {}});
  return action();
}

/// Opens /dev/null for standard streams that the caller closed. Otherwise the next file that is opened would get their
/// descriptor, and messages would be written into the results of a fit. The mode is chosen so that using such a stream
/// fails.
void open_missing_streams() {
  for (const int stream : {0, 1, 2}) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

/// Flushes stdout and returns the exit code as a number. A result that could not be printed counts as an internal
/// error.
int finish(lehr::ExitCode code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(code);
  lehr::print_to_stderr("lehr: cannot write to the standard output: {}\n", std::strerror(errno != 0 ? errno : EIO));
  return static_cast<int>(code == lehr::ExitCode::done ? lehr::ExitCode::internal : code);
}

/// Reports that memory is exhausted, without allocating any, and returns the exit code.
int report_out_of_memory() {
  constexpr std::string_view kText = "lehr: error: there is not enough memory\n";
  [[maybe_unused]] const ssize_t heard = ::write(STDERR_FILENO, kText.data(), kText.size());
  return static_cast<int>(lehr::ExitCode::data);
}

/// Ends the program where no exception can pass (std::terminate), with the usual message if memory was exhausted.
[[noreturn]] void terminate_handler() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    ::_exit(report_out_of_memory());
  } catch (...) {
  }
  std::abort();
}

/// Runs a command and turns every exception but std::bad_alloc into a message and an exit code.
int run_catching(int argc, char** argv, lehr::Group* group) {
  try {
    return finish(run(argc, argv, group));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    if (std::ferror(stdout) != 0) return finish(lehr::ExitCode::internal);
    // Failures of the system or a missing plug-in are not defects of the program, so they are not called internal.
    const bool refused = dynamic_cast<const std::system_error*>(&e) || dynamic_cast<const lehr::PluginError*>(&e);
    lehr::print_to_stderr("lehr: {}error: {}\n", refused ? "" : "internal ", e.what());
    return static_cast<int>(lehr::ExitCode::internal);
  }
}

/// Runs a command and turns every exception into a message and an exit code.
int run_catching_all(int argc, char** argv, lehr::Group* group) {
  try {
    return run_catching(argc, argv, group);
  } catch (const std::bad_alloc&) {
    return report_out_of_memory();
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(&terminate_handler);
  open_missing_streams();
  std::unique_ptr<lehr::Group> group;
  try {
    group = group_of(argv[0]);
  } catch (const std::exception& e) {
    lehr::print_to_stderr("lehr-mpi: {}\n", e.what());
    return static_cast<int>(lehr::ExitCode::usage);
  }
  if (!group) return run_catching_all(argc, argv, nullptr);
  const lehr::OutputSilencer quiet(*group);
  const int code = run_catching_all(argc, argv, group.get());
  if (code == 0) return code;
  // Process 0 prints the message and ends all others; they wait so that its message comes first.
  constexpr std::chrono::seconds kPatience(2);
  if (group->rank() > 0) std::this_thread::sleep_for(kPatience);
  quiet.print_collected();
  group->abandon(code);
}
