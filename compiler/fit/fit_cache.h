// What fits of one model to many data sets share: analyses, programs and their machine code. Sizes of items are data,
// so data of different sizes use one program; what decides that data need another one is in the keys.
#pragma once
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/instance/compiled_program.h"
#include "compiler/instance/memo.h"
#include "compiler/pipeline.h"

namespace lehr {

/// What in the data decides about the analysis of a model: data sets with equal keys have the same analysis.
struct AnalysisKey {
  /// As in density::ExpandOptions: the variables that may miss values or elements with data, the partly observed
  /// variables that become latent, and the concentrations with entries of 0.
  std::vector<bool> may_be_missing = {}, clamped = {}, with_zeros = {};
  /// The printed model if it is not the user's: it is centred (centre_model), or the data have chosen joint factors
  /// (with_joint_factors). Otherwise empty.
  std::string centred = {};
  /// Orders keys, field by field, for the map in Memo. The user's model, the method and the options are not in a key:
  /// all fits that use one FitCache have them in common.
  auto operator<=>(const AnalysisKey&) const = default;
};

/// What in the data decides about the program for a method, by what lower() and with_options() read of them: data sets
/// with equal keys have the same program.
struct ProgramKey {
  AnalysisKey analysis = {};                  // the analysis that is lowered
  std::vector<std::int64_t> sizes = {};       // by PlateId: the size if it is a constant of the code, otherwise -1
  std::vector<std::uint64_t> constants = {};  // values of the model's constants as bits, by ConstantId
  /// By observed variable of counts, two numbers: how many values are above zero, and how many there are.
  std::vector<std::int64_t> counts = {};
  /// Orders keys, field by field, for the map in Memo, as AnalysisKey does.
  auto operator<=>(const ProgramKey&) const = default;
};

/// Returns the key under which a FitCache has the program for data that are bound to an analysed model. `analysis` is
/// the key of its analysis.
ProgramKey program_key(AnalysisKey analysis, const Analysed& analysed, const BoundData& data);

/// The result of the analysis of a model for some data, as FitCache stores it.
struct AnalysisResult {
  std::optional<Analysed> analysed = {};  // the analysis; nothing if it fails
  Diagnostics diagnostics = {};           // why it fails, and warnings
};

/// What fits share that have the model, the method and all options in common, and differ in their data alone: analyses
/// and compiled programs are made once. Any number of threads may use it.
struct FitCache {
  Memo<AnalysisKey, AnalysisResult> analyses;   // analyses of the model
  Memo<ProgramKey, Result<Analysed>> prepared;  // analyses as the method needs them (Fitting::analyse_for_method)
  /// Compiled programs with their machine code.
  Memo<ProgramKey, Result<std::shared_ptr<const CompiledProgram>>> programs;
};

}  // namespace lehr
