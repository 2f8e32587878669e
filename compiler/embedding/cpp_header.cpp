// Writes the C++ header of a built model, from text templates: a class around the functions of the C header, with owned
// memory, spans and exceptions.
#include <fmt/format.h>

#include "compiler/embedding/c_names.h"
#include "compiler/embedding/embedding.h"

namespace lehr {
namespace {

/// Opening, aliases, error class, and constructors of the state.
constexpr const char* kBegin =
    R"(// {name} in C++20: a thin cover of {header}, which says what the functions do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "{header}"

namespace {space} {{

using Sizes = {name}_sizes;
using Data = {name}_data;

/// A status other than 0.
class Error : public std::runtime_error {{
 public:
  explicit Error(std::int32_t status) : std::runtime_error({name}_error(status)), status_(status) {{}}
  std::int32_t status() const {{ return status_; }}

 private:
  std::int32_t status_;
}};

inline void check(std::int32_t status) {{
  if (status != 0) throw Error(status);
}}

/// A state and its memory. Arrays of the data must live until others are given.
class State {{
 public:
  /// `abi` of the sizes is filled in.
  State(Sizes sizes, const Data& data, std::uint64_t seed) {{ make(sizes, &data, seed); }}
  /// Without factors: for a saved state to be loaded.
  explicit State(Sizes sizes) {{ make(sizes, nullptr, 0); }}
)";

/// Members of an object that samples.
constexpr const char* kGibbsMembers =
    R"(
  void gibbs_step(std::uint64_t seed, std::uint64_t chain, std::int64_t sweep, double inverse_temperature = 1) {{
    check({name}_gibbs_step(memory_.get(), nullptr, seed, chain, sweep, inverse_temperature));
  }}
  void gibbs_step(const Data& data, std::uint64_t seed, std::uint64_t chain, std::int64_t sweep,
                  double inverse_temperature = 1) {{
    check({name}_gibbs_step(memory_.get(), &data, seed, chain, sweep, inverse_temperature));
  }}
  /// Every number of the draw that the state holds.
  std::vector<double> draw() const {{
    std::vector<double> out({name}_draw_count(memory_.get()));
    check({name}_draw(memory_.get(), out.data(), out.size()));
    return out;
  }}
  double log_joint() const {{
    double nats = 0;
    check({name}_log_joint(memory_.get(), &nats));
    return nats;
  }}
)";

/// Members for a sweep of variational inference.
constexpr const char* kStepMembers =
    R"(
  void step(double inverse_temperature = 1) {{ check({name}_step(memory_.get(), nullptr, inverse_temperature)); }}
  void step(const Data& data, double inverse_temperature = 1) {{
    check({name}_step(memory_.get(), &data, inverse_temperature));
  }}
  void entropy_step(double inverse_temperature) {{
    check({name}_entropy_step(memory_.get(), nullptr, inverse_temperature));
  }}
  /// A step whose items are cut into `ranges` ranges of as many items: `each(work)` calls work(k) once for every k below
  /// `ranges`, in any threads, and returns when all have. The bits depend on `ranges`, not on the threads.
  template <class Each>
  void step_in_ranges(std::int64_t ranges, Each each, double inverse_temperature = 1) {{
    check({name}_step_begin(memory_.get(), nullptr, inverse_temperature));
    const std::size_t bytes = {name}_range_bytes(memory_.get());
    ranges_.resize(static_cast<std::size_t>(ranges) * bytes);
    std::vector<std::int32_t> statuses(static_cast<std::size_t>(ranges));
    for (std::int64_t items = 0;;) {{
      check({name}_step_next(memory_.get(), &items));
      if (items == 0) return;
      each([&, items](std::int64_t k) {{
        const auto at = static_cast<std::size_t>(k);
        statuses[at] = {name}_step_items(memory_.get(), &ranges_[at * bytes], bytes, items * k / ranges,
                                         items * (k + 1) / ranges);
      }});
      for (std::size_t k = 0; k < statuses.size(); ++k) {{
        check(statuses[k]);
        check({name}_step_add(memory_.get(), &ranges_[k * bytes]));
      }}
    }}
  }}
)";

/// The member for a minibatch.
constexpr const char* kBatchStepMember =
    R"(  void svi_step(const Data& batch, std::int64_t total_items, double rho, double inverse_temperature = 1) {{
    check({name}_svi_step(memory_.get(), &batch, total_items, rho, inverse_temperature));
  }}
)";

/// The member for a temperature for every item.
constexpr const char* kItemEnergiesMember = R"(  void item_energies(const Data& data, std::span<double> nats) {{
    check({name}_item_energies(memory_.get(), &data, nats.data(), nats.size()));
  }}
)";

/// The member that makes the posterior the prior.
constexpr const char* kUpdateMember = R"(  void update(const Data& data, double keep = 1) {{
    check({name}_update(memory_.get(), &data, keep));
  }}
)";

/// Members for new items, the ELBO and scores.
constexpr const char* kInference =
    R"(  void infer(const Data& data) {{ check({name}_infer(memory_.get(), &data)); }}
  void set_accuracy(std::int64_t iterations, double tolerance) {{
    check({name}_set_accuracy(memory_.get(), iterations, tolerance));
  }}

  double elbo() const {{
    double nats = 0;
    check({name}_elbo(memory_.get(), &nats));
    return nats;
  }}
  double score(const Data& data) {{
    double nats = 0;
    check({name}_score(memory_.get(), &data, &nats));
    return nats;
  }}
)";

/// Members for energy, saving and loading.
constexpr const char* kEnd =
    R"(  double data_energy() const {{
    double nats = 0;
    check({name}_data_energy(memory_.get(), &nats));
    return nats;
  }}

  std::vector<std::byte> save() const {{
    std::vector<std::byte> saved({name}_saved_bytes(memory_.get()));
    check({name}_save(memory_.get(), saved.data(), saved.size()));
    return saved;
  }}
  void load(std::span<const std::byte> saved) {{ check({name}_load(memory_.get(), saved.data(), saved.size())); }}

)";

/// Private members.
constexpr const char* kLast = R"(
 private:
  void make(Sizes sizes, const Data* data, std::uint64_t seed) {{
    sizes.abi = {NAME}_ABI;
    const std::size_t bytes = {name}_state_bytes(&sizes);
    if (bytes == 0) throw Error({name}_abi() == {NAME}_ABI ? {NAME}_ERROR_SIZE : {NAME}_ERROR_ABI);
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    check({name}_init(memory_.get(), bytes, &sizes, data, seed));
  }}

  std::unique_ptr<std::byte[]> memory_;{ranges}
}};

}}  // namespace {space}
)";

}  // namespace

std::string cpp_header(const Embedding& e, const std::string& header) {
  const auto filled = [&](const char* text) {
    return fmt::format(fmt::runtime(text), fmt::arg("name", e.name), fmt::arg("space", e.cpp_namespace),
                       fmt::arg("NAME", upper_case(e.name)), fmt::arg("header", header),
                       fmt::arg("ranges", e.draws ? "" : "\n  std::vector<std::byte> ranges_;"));
  };
  std::string out = filled(kBegin) + filled(e.draws ? kGibbsMembers : kStepMembers);
  if (e.minibatches) out += filled(kBatchStepMember);
  if (e.item_temperatures) out += filled(kItemEnergiesMember);
  if (e.updates) out += filled(kUpdateMember);
  if (!e.draws) out += filled(kInference);
  out += filled(kEnd);
  for (const EmbeddedParameter& p : e.parameters) {
    out += fmt::format("  /// {}{}{}.\n", p.title, p.shape.empty() ? "" : ", ", p.shape);
    out += fmt::format(
        "  std::span<const double> {1}() const {{\n    std::size_t count = 0;\n"
        "    const double* const values = {0}_get_{1}(memory_.get(), &count);\n    return {{values, "
        "count}};\n  }}\n"
        "  void set_{1}(std::span<const double> values) {{\n"
        "    check({0}_set_{1}(memory_.get(), values.data(), values.size()));\n  }}\n",
        e.name, p.name);
  }
  return out + filled(kLast);
}

}  // namespace lehr
