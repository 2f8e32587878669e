// Splits the data into groups, fits them on all threads, and writes one table. Its columns are the numbers of all
// groups: a group that lacks one has an empty field.
#include "compiler/commands/fit_each.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "compiler/binding/drop_missing.h"
#include "compiler/commands/fit_inputs.h"
#include "compiler/commands/fit_run.h"
#include "compiler/console/console.h"
#include "compiler/fit/many_fits.h"
#include "compiler/fit/write_fit.h"
#include "runtime/files/atomic_file.h"
#include "runtime/files/csv_field.h"
#include "runtime/files/groups.h"
#include "runtime/output/fit_files.h"
#include "runtime/terminal/printable.h"

namespace lehr::commands {
namespace {

/// What the table has of a group.
struct GroupRow {
  bool begun = false;  // false: the fits were interrupted before it
  std::string status;  // as in fit.json; "error" without a fit
  double elbo = std::nan(""), sweeps = std::nan("");
  std::vector<PosteriorNumber> numbers = {};
  std::vector<std::string> warnings = {};  // texts
  std::optional<Error> error = {};         // why there is no fit, or no proper one
};

/// Returns a number as a field; empty for NaN.
std::string number_field(double x) { return std::isnan(x) ? "" : fmt::format("{}", x); }

/// Returns text as a field, with control characters escaped so that a terminal is safe.
std::string text_field(const std::string& text) { return csv_field(printable(text, text.size())); }

/// Returns the text of an error or of warnings, in one line.
std::string message_of(const GroupRow& row) {
  if (!row.error) return with_option_prefix(fmt::format("{}", fmt::join(row.warnings, "; ")), "--");
  const Error e = with_option_prefix(*row.error, "--");
  return e.where.empty() ? e.text : e.where + ": " + e.text;
}

/// Formats the table of all groups that were begun.
std::string table_of(const std::vector<std::string>& groups, const std::vector<GroupRow>& rows) {
  std::vector<std::string> names;             // of the numbers, as they first occur
  std::map<std::string, std::size_t> column;  // by name
  for (const GroupRow& row : rows)
    for (const PosteriorNumber& x : row.numbers)
      if (column.try_emplace(x.name, names.size()).second) names.push_back(x.name);
  std::string out = "group,status,sweeps,elbo";
  for (const std::string& name : names)
    out += fmt::format(",{},{}", text_field(name + ".mean"), text_field(name + ".sd"));
  out += ",message\n";
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const GroupRow& row = rows[k];
    if (!row.begun) continue;
    std::vector<std::string> fields(2 * names.size());
    for (const PosteriorNumber& x : row.numbers) {
      fields[2 * column.at(x.name)] = number_field(x.mean);
      fields[2 * column.at(x.name) + 1] = number_field(x.sd);
    }
    out +=
        fmt::format("{},{},{},{}", text_field(groups[k]), row.status, number_field(row.sweeps), number_field(row.elbo));
    for (const std::string& field : fields)
      out += "," + field;
    out += "," + text_field(message_of(row)) + "\n";
  }
  return out;
}

/// Returns the name of the folder of a group: its letters, digits, '-', '_' and inner dots, and '%' with two digits for
/// any other byte.
std::string folder_name(const std::string& group) {
  std::string out;
  for (const char c : group) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || (c == '.' && !out.empty());
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// Writes the files of one group's fit to its folder. The value is always true.
Result<bool> write_group(const FitArguments& o, const std::string& group, const WholeFit& fit) {
  FitArguments own = o;
  own.out = fmt::format("{}/{}/{}", o.out, kGroupsFolder, folder_name(group));
  if (Result<bool> r = prepare_directory(own.out); !r) return r;
  if (Result<bool> r = rewrite_trace(own, fit.run); !r) return r;
  nlohmann::json summary = fit.summary;
  summary["warnings"] = to_json(fit.warnings);
  return write_fit(own.out, {std::move(summary), fit.run});
}

/// Returns the row of a fit, after writing its files if they are wanted.
GroupRow row_of(const FitArguments& o, const std::string& group, Result<WholeFit> fit) {
  GroupRow out{true, "error"};
  if (!fit) {
    out.error = fit.error();
    return out;
  }
  const Outcome& outcome = fit->run.outcome;
  out.status = name_of(outcome.status);
  out.elbo = outcome.elbo;
  out.sweeps = static_cast<double>(outcome.iterations);
  out.warnings = texts_of(fit->warnings);
  SavedFit saved = saved_fit(fit->summary, fit->run.posterior);
  saved.sds = fit->run.sds;
  out.numbers = tabled_numbers(saved);
  if (outcome.status == Status::numerical_failure) out.error = Error{ExitCode::numerical, "", outcome.failure, {}};
  if (!o.save_each) return out;
  if (Result<bool> r = write_group(o, group, *fit); !r) out.error = r.error();
  return out;
}

/// Prints errors of the first groups that have some, and how many have warnings. Returns the exit code of the first
/// group with an error.
ExitCode print_problems(const FitArguments& o, const std::vector<std::string>& groups,
                        const std::vector<GroupRow>& rows) {
  constexpr std::size_t kMost = 10;
  ExitCode out = ExitCode::done;
  std::size_t errors = 0, warned = 0;
  const std::string table = fmt::format("{}/{}", o.out, kGroupsFile);
  std::string first;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!rows[k].error && !rows[k].warnings.empty() && ++warned == 1)
      first = fmt::format("'{}': {}", printable(groups[k]), rows[k].warnings.front());
    if (!rows[k].error) continue;
    if (errors == 0) out = rows[k].error->code;
    if (++errors > kMost) continue;
    Error e = *rows[k].error;
    e.text = fmt::format("group '{}': {}", printable(groups[k]), e.text);
    complain_of(std::move(e), o.model);
  }
  if (errors > kMost)
    print_to_stderr("{}: error: {} more groups; their messages are in {}\n", o.model, errors - kMost, table);
  if (warned > 0)
    print_diagnostics({make_warning(fmt::format("{} group{} {} warnings, the first is of {}", warned,
                                                warned == 1 ? "" : "s", warned == 1 ? "has" : "have", first),
                                    {"all are in the column 'message' of " + table})},
                      o.model);
  return out;
}

/// Returns how many groups ended how: "998 converged, 2 max_iter".
std::string counts_of(const std::vector<GroupRow>& rows) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  for (const GroupRow& row : rows) {
    if (!row.begun) continue;
    const auto same = [&](const auto& c) { return c.first == row.status; };
    const auto found = std::ranges::find_if(counts, same);
    if (found == counts.end()) counts.emplace_back(row.status, 1);
    else ++found->second;
  }
  std::vector<std::string> out;
  for (const auto& [status, count] : counts)
    out.push_back(fmt::format("{} {}", count, status));
  return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace

ExitCode fit_each(const FitArguments& o, const Source& source, FitSettings settings) {
  Diagnostics diagnostics;
  const std::optional<model::Model> resolved = read_model_for(source, o.fit, diagnostics);
  const std::optional<Analysed> complete = resolved ? analyse(*resolved, {}, diagnostics) : std::nullopt;
  const ExitCode code = report(diagnostics, source);
  if (!complete) return code;
  if (Result<bool> r = prepare_directory(o.out); !r) return complain(r.error());
  const Result<Settings> given = read_settings(o.settings);
  if (!given) return complain(given.error());
  const Result<GroupedBindings> data = GroupedBindings::open(o.data.bindings, o.each);
  if (!data) return complain(data.error());
  const std::vector<std::string>& groups = data->groups();
  const ManyData many{groups.size(), [&](std::size_t k) {
                        Result<Dataset> out = data->read(k);
                        if (!out || !o.data.drop_missing) return out;
                        const Result<std::vector<std::string>> dropped = model::drop_missing(*resolved, *out);
                        return dropped ? std::move(out) : Result<Dataset>(dropped.error());
                      }};
  settings.predictive = 0;
  const std::size_t threads = settings.threads;
  const FitTask task{source, *resolved, *complete, *given, std::move(settings), request_of(o, source), o.fit.restarts};
  std::vector<GroupRow> rows(groups.size());
  catch_interrupts();
  fit_many(task, many, threads,
           {[&](std::size_t k, Result<WholeFit> fit) { rows[k] = row_of(o, groups[k], std::move(fit)); },
            {},
            [] { return !is_interrupted(); }});
  if (Result<bool> r = write_file(fmt::format("{}/{}", o.out, kGroupsFile), table_of(groups, rows)); !r)
    return complain(r.error());
  const ExitCode worst = print_problems(o, groups, rows);
  const auto begun = std::ranges::count(rows, true, &GroupRow::begun);
  if (is_interrupted())
    print_to_stderr("{}: interrupted after {} of {} groups, which are in {}/{}\n", o.model, begun, groups.size(), o.out,
                    kGroupsFile);
  else if (!o.quiet)
    fmt::print("{}: {} group{}: {}; table in {}/{}\n", resolved->name, groups.size(), groups.size() == 1 ? "" : "s",
               counts_of(rows), o.out, kGroupsFile);
  return worst;
}

}  // namespace lehr::commands
