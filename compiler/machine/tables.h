// The constant tables that describe a compiled model to the machine (runtime/machine/model.h). A fit and a built object
// use the same tables.
#pragma once
#include <string>
#include <vector>

#include "compiler/lower/lower.h"
#include "runtime/machine/model.h"

namespace lehr {

/// The tables of one compiled model, filled by tables_of(); each vector becomes an array of machine::Model. Text is for
/// messages and names.
struct Tables {
  std::vector<machine::SizeRow> sizes;  // how each run-time size follows from data, by slot
  /// By slot: the plate whose elements the size counts. For the length of row offsets and of the longest row, it is the
  /// nested plate whose rows they describe.
  std::vector<model::PlateId> size_plates;
  std::vector<machine::Extent> axes;        // extents of buffers and elements, end to end; other tables have ranges
  std::vector<machine::BufferRow> buffers;  // all arrays, as in loops::Program::buffers
  std::vector<machine::ArrayRow> arrays;    // arrays of data: row offsets, inputs, observed variables
  std::vector<std::string> array_names;     // names of the data, in the order of `arrays`
  std::vector<machine::StepRow> steps;      // the steps of a sweep, in order
  std::vector<machine::PickRow> picks;      // buffers through which a start assigns categories to items
  /// Lists of buffers, end to end: sums, data sums and scratch. Steps and parallel regions refer to ranges of them.
  std::vector<std::int64_t> statistics;
  std::vector<machine::ParameterRow> parameters;  // parameter arrays of factors, as in loops::Interface
  std::vector<std::int64_t> summed;               // buffers with sums of data over the items, scaled for minibatches
  std::vector<std::string> failures;              // messages for failure statuses: one a block, then one an input
  /// Data arrays that describe elements, by which random starts and split moves cluster these; `subjects` has ranges.
  std::vector<machine::FeatureArrayRow> columns;
  std::vector<machine::ElementSetRow> subjects;  // the sets of elements that `columns` describe (SubjectTables)
  std::vector<machine::ComponentArrayRow> component_arrays;  // buffers with axes over exchangeable components
  /// Pairs of buffers for stick-breaking weights: sums over all components but the last, and over all of them.
  std::vector<machine::StickSumsRow> stick_sums;
  std::vector<machine::AllocationRow> allocations;  // latent categories whose values are components
  std::vector<machine::ComponentsRow> components;   // plates of exchangeable components, such as clusters
  std::vector<std::string> component_names;         // names of the plates in `components`
  std::vector<machine::PrerequisiteRow> phases;     // cached reductions and parallel regions that run before a function
  std::vector<machine::PriorRow> priors;            // parameters of a prior from earlier data; built objects alone
  std::vector<machine::TransformedRow> transformed;  // variables that changes of basis transform
  /// Gamma variables that scale the priors of transformed variables. A change of the basis of these variables replaces
  /// the factor of each scale by the one that is best afterwards.
  std::vector<machine::RescaledRow> rescaled;
  std::vector<machine::FormRow> forms;  // quadratic forms in the transformed variables
  /// Matrices with Normal rows in the forms of transformed variables. A change of the basis of these variables replaces
  /// the factors of the rows by those that are best afterwards.
  std::vector<machine::FollowerRow> followers;
  std::vector<machine::InvarianceRow> invariances;  // changes of basis that leave the likelihood alone
  /// Shifts of constants, or of logarithms of scales, that leave the likelihood alone.
  std::vector<machine::ShiftRow> shifts;
  machine::Model model = {};  // the members that are numbers; model_of() adds the pointers

  /// Returns a size of the program as the tables encode it: the number itself if it is constant, otherwise -(slot + 1).
  machine::Extent extent(const loops::Program& p, loops::SizeId size) const;
};

/// Makes the constant tables for the machine from a model that was lowered to Loops. `sizes` has the run-time sizes of
/// the program by slot: those of its lowering (Lowered::size_values), or of other data (sizes_for).
Tables tables_of(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& lowered,
                 const std::vector<std::int64_t>& sizes);

/// Returns the run-time sizes of a program by slot, for data whose constant sizes are those of the program; -1 where
/// the data give no size. For the data of its lowering they are Lowered::size_values.
std::vector<std::int64_t> sizes_for(const model::Model& m, const BoundData& data, const loops::Lowered& lowered);

/// Returns the model that the machine reads: the numbers in `t`, the lengths of its vectors and pointers into them, so
/// `t` must outlive it. The pointers to functions and to text stay null. A fit fills them in (Instance); a built object
/// takes only the numbers and lengths from the result, and writes the vectors by itself.
machine::Model model_of(const Tables& t);

/// Returns the error message for a failure status of generated code, which names the variable or input of the model;
/// null for any other number.
const std::string* describe_status(const Tables& t, std::int32_t status);

}  // namespace lehr
