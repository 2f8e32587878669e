// One run of a fit, from one start: the sweeps, their trace on disk, held-out scores on the way.
#pragma once
#include <chrono>
#include <vector>

#include "compiler/commands/fit_options.h"
#include "compiler/commands/fit_summary.h"
#include "compiler/commands/infer.h"
#include "compiler/program/held_out.h"
#include "compiler/program/instance.h"

namespace lehr::commands {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point t);

/// What all runs of a fit share.
struct Fitting {
  const FitOptions& options;
  const Method& method;
  const model::Model& model;
  const schedule::Schedule& schedule;
  const BoundData& data;
  const std::vector<NpyArray>& init;     // of --init FILE
  HeldOut* test = nullptr;               // of --test
  Clock::time_point begin;
};

/// Its trace replaces that of an earlier run.
Result<FitRun> run_once(Instance& instance, const Fitting& fitting, std::uint64_t restart);

/// The trace on disk is that of the last run: the best one's takes its place.
Result<bool> rewrite_trace(const FitOptions& options, const FitRun& run);

Error numerical_error(const FitOptions& options, std::string text);

/// SIGINT and SIGTERM end the run after its sweep, and everything is written; a second signal ends the program at once.
void catch_interrupts();
bool interrupted();

}  // namespace lehr::commands
