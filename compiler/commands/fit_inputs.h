// What a fit begins with: the model, and its data in place.
#pragma once
#include <variant>

#include "compiler/commands/fit_options.h"
#include "compiler/fitting/fitting.h"

namespace lehr::commands {

/// The model without and with its data.
struct Inputs {
  model::Model resolved;
  Analysed complete;  // as if nothing were missing
  BoundModel bound;
};

/// All of them, or the exit code after a complaint. Warnings are shown once. Before data are read it is known whether
/// the directory of the fit can be written, if there is one. With the fit of FitArguments::prior the model is the one
/// that begins where it ended. Data that are read in pieces are read once by the processes of a group together.
std::variant<Inputs, ExitCode> read_inputs(const FitArguments& o, const Source& source, const SavedFit* prior = nullptr,
                                           Group* group = nullptr);

}  // namespace lehr::commands
