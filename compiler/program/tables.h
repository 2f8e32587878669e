// The constant tables of a compiled model (runtime/embedded/model.h): what a start needs in this process, and a built
// object for everything.
#pragma once
#include <string>
#include <vector>

#include "compiler/loops/lower.h"
#include "runtime/embedded/model.h"

namespace lehr {

struct Tables {
  std::vector<embedded::SizeRow> sizes;          // by slot
  std::vector<model::PlateId> size_plates;       // by slot; of a `one_more`, the plate it belongs to
  std::vector<embedded::Extent> axes;
  std::vector<embedded::BufferRow> buffers;      // as in the program
  std::vector<embedded::ArrayRow> arrays;        // row offsets, givens, observed variables
  std::vector<std::string> array_names;
  std::vector<embedded::StepRow> steps;          // turns of a sweep
  std::vector<embedded::PickRow> picks;
  std::vector<std::int64_t> statistics;
  std::vector<embedded::ParameterRow> parameters;  // as in the interface
  std::vector<std::int64_t> summed;
  std::vector<std::string> failures;             // by block, then by given
  embedded::Model model = {};                    // numbers only: `view_of` adds the tables

  embedded::Extent extent(const loops::Program& p, loops::SizeId size) const;
};

Tables tables_of(const model::Model& m, const schedule::Schedule& s, const loops::Lowered& lowered);

/// The model with pointers into `t`, without functions.
embedded::Model model_of(const Tables& t);

/// What a status of the generated code means, in the words of the model.
std::string describe_status(const model::Model& m, const schedule::Schedule& s, std::int32_t status);

}  // namespace lehr
