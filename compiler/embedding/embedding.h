// Built objects: what an object file contains beside generated code (tables, names, entry points), and the C and C++
// headers through which programs call it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/embedding/priors.h"
#include "compiler/machine/tables.h"
#include "compiler/native/native.h"
#include "runtime/result.h"

namespace lehr {

/// One parameter array of the posterior (a parameter of a variational factor), as the C header of a built object names
/// and describes it. Programs read and write it by functions such as NAME_get_mu_mean.
struct EmbeddedParameter {
  std::string name;   // C identifier, "mu_mean"
  std::string title;  // what it is, for a comment of the header: "`mean` of the MvNormal factor of mu"
  std::string shape;  // its extents, for that comment: "[k][dim]"
};

/// One member of the C struct of sizes or of the C struct of data, which the header of a built object declares.
struct EmbeddedField {
  std::string name, type, shape, meaning;  // C name and type, extents such as "[n][dim]", and the text of its comment
};

/// The description of a built model (`lehr build`), from which its object file and its C and C++ headers are written.
/// It has names, sizes, arrays, constant tables and exported functions. embed() makes it; c_header(), cpp_header() and
/// native::emit_embeddable() use it.
struct Embedding {
  std::string name;                  // name of the model in ASCII, the prefix of every exported symbol
  std::string cpp_namespace;         // namespace of the C++ header
  std::uint64_t abi = 0;             // hash of program and layout, by which a header of another object is refused
  std::vector<EmbeddedField> sizes;  // members of the struct of sizes, after `abi`
  std::vector<EmbeddedField> data;   // members of the struct of data: numbers of items, then arrays
  /// Macros for the sizes that are constants of the code, with their values.
  std::vector<std::pair<std::string, std::int64_t>> constants;
  std::vector<EmbeddedParameter> parameters;  // arrays of the posterior, in the order of loops::Interface::parameters
  bool minibatches = false;                   // true if the object has a step on minibatches (NAME_svi_step)
  bool item_temperatures = false;             // true if it has temperatures of single items (NAME_item_energies)
  bool updates = false;                       // true if the posterior can become the prior (NAME_update)
  bool draws = false;                  // true if it is a Gibbs sampler, whose sweeps draw, and no variational fit
  std::string batch;                   // the plate from which minibatches are drawn; empty without svi_step
  std::vector<Diagnostic> elbo_notes;  // what the ELBO leaves out or replaces by a bound, for the header
  native::Image image;                 // tables and exported functions, for the code generator
};

/// Checks that `lehr build` has all numbers that the code needs as constants, and returns an error if not:
/// ExitCode::usage if a constant has no value or nothing gives a size that counts the coordinates of a joint factor;
/// ExitCode::model if that size belongs to a plate of items or a nested plate, which differs between data sets. Returns
/// nothing if the model can be built.
std::optional<Error> missing_build_values(const model::Model& m, const BoundData& sizes);

/// Describes a lowered model for an object file and its C and C++ headers. The result has the C names, sizes and shapes
/// of data and parameters, the constant tables, and the exported functions. The object file also stores `source` and
/// `settings`, from which a library can compile the model again. `priors` are the inputs that hold an updatable prior,
/// if the model has them.
Embedding embed(const model::Model& m, const schedule::Schedule& s, const BoundData& sizes,
                const loops::Lowered& lowered, const Source& source = {}, const Settings& settings = {},
                const std::optional<Priors>& priors = {});

/// Returns the text of the C header by which programs call a built object, with its documentation as comments. `built`
/// is one line that says how the object was made.
std::string c_header(const Embedding& e, const std::string& built);
/// Returns the text of the C++ header of a built object, a class around its C functions. It includes the C header,
/// whose file name is `c_header_name`.
std::string cpp_header(const Embedding& e, const std::string& c_header_name);

}  // namespace lehr
