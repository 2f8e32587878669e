// The constant tables of a compiled model (runtime/machine/model.h): of a fit and of a built object.
#pragma once
#include <string>
#include <vector>

#include "compiler/loops/lower.h"
#include "runtime/machine/model.h"

namespace lehr {

struct Tables {
  std::vector<machine::SizeRow> sizes;      // by slot
  std::vector<model::PlateId> size_plates;  // by slot; of a `one_more`, the plate it belongs to
  std::vector<machine::Extent> axes;
  std::vector<machine::BufferRow> buffers;  // as in the program
  std::vector<machine::ArrayRow> arrays;    // row offsets, givens, observed variables
  std::vector<std::string> array_names;
  std::vector<machine::StepRow> steps;  // turns of a sweep
  std::vector<machine::PickRow> picks;
  std::vector<std::int64_t> statistics;
  std::vector<machine::ParameterRow> parameters;  // as in the interface
  std::vector<std::int64_t> summed;
  std::vector<std::string> failures;  // by block, then by given
  std::vector<machine::ColumnsRow> columns;
  std::vector<machine::SubjectRow> subjects;
  std::vector<machine::ComponentArrayRow> component_arrays;
  std::vector<machine::HeadRow> heads;
  std::vector<machine::AllocationRow> allocations;
  std::vector<machine::ComponentsRow> components;
  std::vector<std::string> component_names;
  std::vector<machine::PhaseRow> phases;
  std::vector<machine::PriorRow> priors;
  machine::Model model = {};  // numbers only: `view_of` adds the tables

  machine::Extent extent(const loops::Program& p, loops::SizeId size) const;
};

Tables tables_of(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& lowered);

/// The model with pointers into `t`, without functions.
machine::Model model_of(const Tables& t);

/// What a status of the generated code means, in the words of the model; null for a number that is no such status.
const std::string* describe_status(const Tables& t, std::int32_t status);

}  // namespace lehr
