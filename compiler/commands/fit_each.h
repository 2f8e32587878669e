// `lehr fit --each COLUMN`: a fit for each value of a column of the data.
#pragma once
#include "compiler/commands/fit_options.h"
#include "compiler/fit/fitting.h"
#include "compiler/support/diagnostic.h"

namespace lehr::commands {

/// Runs `lehr fit --each COLUMN`: fits every group of lines of the data that have one value in that column, several
/// groups at a time, and writes one table of all results, with --save-each also the files of each fit. An error of a
/// group is printed, and the others are fitted all the same; the exit code of the first group with an error, in the
/// order of the table, is returned, and ExitCode::done if there is none. An error of the model, the settings or the
/// files is printed and its exit code returned before any group is fitted. After an interrupt, the table has the groups
/// that were begun.
ExitCode fit_each(const FitArguments& o, const Source& source, FitSettings settings);

}  // namespace lehr::commands
