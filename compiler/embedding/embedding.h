// A compiled model for other programs: what goes into the object file beside its code, and the headers that say how to
// call it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/embedding/priors.h"
#include "compiler/machine/tables.h"
#include "compiler/native/native.h"
#include "runtime/result.h"

namespace lehr {

/// An array of the posterior: how the header names and describes it.
struct EmbeddedParameter {
  std::string name;   // "mu_mean"
  std::string title;  // "mean of the MvNormal factor of mu"
  std::string shape;  // "[k][dim]"
};

/// A member of the header's structures.
struct EmbeddedField {
  std::string name, type, shape, meaning;
};

struct Embedding {
  std::string name;   // of the model in ASCII: what every symbol begins with
  std::string space;  // namespace of the C++ header
  std::uint64_t abi = 0;
  std::vector<EmbeddedField> sizes;                             // after `abi`
  std::vector<EmbeddedField> data;                              // numbers of items, then arrays
  std::vector<std::pair<std::string, std::int64_t>> constants;  // macros of sizes that are constants of the code
  std::vector<EmbeddedParameter> parameters;                    // as in the interface
  bool minibatches = false;
  bool item_temperatures = false;
  bool updates = false;              // the posterior can become the prior
  bool draws = false;                // a sweep draws: Gibbs sampling
  std::string batch;                 // the plate that minibatches are drawn from
  std::vector<std::string> caveats;  // of the bound
  native::Image image;
};

/// What must be known of a model before it is built: every constant, and the sizes that constants are made of.
std::optional<Error> unknown_values(const model::Model& m, const BoundData& sizes);

/// `source` and `settings` are what all of it was made from; the object keeps them. `priors`: of a model that has some.
Embedding embed(const model::Model& m, const schedule::Schedule& s, const BoundData& sizes,
                const loops::Lowered& lowered, const Source& source = {}, const Settings& settings = {},
                const std::optional<Priors>& priors = {});

/// `built`: one line on how the object was made.
std::string c_header(const Embedding& e, const std::string& built);
std::string cpp_header(const Embedding& e, const std::string& c_header_name);

}  // namespace lehr
