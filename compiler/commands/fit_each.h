// `lehr fit --each COLUMN`: a fit for each value of a column of the data.
#pragma once
#include "compiler/commands/fit_options.h"
#include "compiler/fit/fitting.h"
#include "compiler/support/diagnostic.h"

namespace lehr::commands {

/// Fits every group of the data, several at a time, writes the table of all results, and with --save-each the files of
/// each fit. Errors of groups are printed and leave the other groups as they are. Returns the exit code of the first
/// group with an error, in the order of the table; ExitCode::done if there is none. An error of the model, the settings
/// or the files is printed and its exit code returned before any group is fitted. After an interrupt, the table has the
/// groups that were begun.
ExitCode fit_each(const FitArguments& o, const Source& source, FitSettings settings);

}  // namespace lehr::commands
