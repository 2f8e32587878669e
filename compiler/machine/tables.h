// The constant tables that describe a compiled model to the machine (runtime/machine/model.h). A fit and a built object
// use the same tables.
#pragma once
#include <string>
#include <vector>

#include "compiler/lower/lower.h"
#include "runtime/machine/model.h"

namespace lehr {

/// The tables of one compiled model; each vector becomes an array of machine::Model. Text is for messages and names.
struct Tables {
  std::vector<machine::SizeRow> sizes;  // run-time sizes, by slot
  /// The plate of each size; of a size that is one more than another's, the plate it belongs to.
  std::vector<model::PlateId> size_plates;
  std::vector<machine::Extent> axes;        // extents of buffers, end to end; rows refer to ranges of them
  std::vector<machine::BufferRow> buffers;  // in the order of loops::Program::buffers
  std::vector<machine::ArrayRow> arrays;    // data: row offsets, inputs, observed variables
  std::vector<std::string> array_names;     // by array
  std::vector<machine::StepRow> steps;      // the steps of a sweep, in order
  std::vector<machine::PickRow> picks;      // buffers of categories that a start assigns to items
  /// Lists of buffers, end to end; steps and parallel regions refer to ranges of them.
  std::vector<std::int64_t> statistics;
  std::vector<machine::ParameterRow> parameters;             // in the order of loops::Interface::parameters
  std::vector<std::int64_t> summed;                          // buffers with sums over the items of a minibatch
  std::vector<std::string> failures;                         // meanings of failure statuses: by block, then by input
  std::vector<machine::FeatureArrayRow> columns;             // data of the elements of a subject
  std::vector<machine::ElementSetRow> subjects;              // see SubjectTables
  std::vector<machine::ComponentArrayRow> component_arrays;  // buffers with axes over exchangeable components
  std::vector<machine::StickSumsRow> stick_sums;    // sums over all components but the last, beside sums over all
  std::vector<machine::AllocationRow> allocations;  // the categories that choose components
  std::vector<machine::ComponentsRow> components;   // exchangeable plates
  std::vector<std::string> component_names;         // their names
  std::vector<machine::PrerequisiteRow> phases;     // cached reductions and parallel regions that run before a function
  std::vector<machine::PriorRow> priors;            // parameters of an updatable prior
  std::vector<machine::TransformedRow> transformed;  // variables of invariances
  std::vector<machine::RescaledRow> rescaled;        // scales of their priors
  std::vector<machine::FormRow> forms;               // quadratic forms in them
  std::vector<machine::FollowerRow> followers;       // matrices in these forms
  std::vector<machine::InvarianceRow> invariances;   // changes of basis that leave the likelihood alone
  std::vector<machine::ShiftRow> shifts;             // shifts of constants and changes of scale that leave it alone
  machine::Model model = {};                         // scalar members only; model_of() adds the pointers

  /// Returns a size as an extent: the number itself if it is constant, otherwise -(slot + 1).
  machine::Extent extent(const loops::Program& p, loops::SizeId size) const;
};

/// Makes the constant tables for the machine from a model that was lowered to Loops. `sizes` has the run-time sizes of
/// the program by slot: those of its lowering (Lowered::size_values), or of other data (sizes_for).
Tables tables_of(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& lowered,
                 const std::vector<std::int64_t>& sizes);

/// Returns the run-time sizes of a program by slot, for data whose constant sizes are those of the program; -1 where
/// the data give no size. For the data of its lowering they are Lowered::size_values.
std::vector<std::int64_t> sizes_for(const model::Model& m, const BoundData& data, const loops::Lowered& lowered);

/// Returns the model with pointers into `t`, which must outlive it. The pointers to functions and to text stay null.
machine::Model model_of(const Tables& t);

/// Returns the meaning of a failure status of generated code, in the words of the model; null for any other number.
const std::string* describe_status(const Tables& t, std::int32_t status);

}  // namespace lehr
