// A model, compiled for one data set, with its data in place: what `fit` runs.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/loops/lower.h"
#include "compiler/program/start.h"
#include "compiler/program/tables.h"
#include "runtime/engine/engine.h"
#include "runtime/output/npz.h"

namespace lehr {

enum class Backend { native, interpreter };

/// Start values and posterior of one compiled model. The model and the schedule must outlive it.
class Instance {
 public:
  /// `window`: items whose factors are kept at a time, for SviOptions::batch items a step; 0 for all of them, as it is
  /// where the model does not take minibatches (compiler/program/minibatch.h).
  Instance(const model::Model& model, const schedule::Schedule& schedule, const BoundData& data,
           const loops::LowerOptions& options, Backend backend, std::int64_t window = 0);

  Engine& engine() { return engine_; }
  const Engine& engine() const { return engine_; }

  /// Start of a run, see StartKind. Deterministic in (seed, restart), whatever the method that follows.
  Result<bool> start(std::uint64_t seed, std::uint64_t restart, StartKind kind = StartKind::seeds);

  /// Replaces factors by the arrays of `--init`, named as in posterior.npz; unknown names and wrong shapes are errors.
  /// Arrays of factors that are overwritten before they are read (streamed categories, items in a window) are accepted. Whether
  /// factors of the items were among them.
  Result<bool> set(const std::vector<NpyArray>& arrays, const std::string& source);

  /// Global variables whose elements are the same for every value of a latent category: a solution in which the values
  /// cannot be told apart, and from which no sweep leads away.
  std::vector<std::string> equal_components() const;

  /// `variable.parameter` arrays; local ones only with `locals`, which a window does not have.
  std::vector<NpyArray> posterior(bool locals) const;

 private:
  /// `window` as the constructor has it.
  void take_items(const std::function<Generated(std::size_t)>& function, std::int64_t window);
  void place_data(const BoundData& data);
  /// Of a parameter or expectation of the items, in a window.
  bool is_elsewhere(std::size_t buffer) const;
  std::optional<Error> asymmetric_matrix() const;
  std::vector<std::int64_t> shape(const loops::ParameterSlot& slot) const;
  bool is_category_chain(conditionals::BlockId b) const;

  const model::Model& model_;
  const schedule::Schedule& schedule_;
  std::vector<std::int64_t> plate_sizes_;
  loops::Lowered lowered_;
  std::shared_ptr<const Tables> tables_;
  std::shared_ptr<const void> code_;  // keeps JIT memory alive
  Engine engine_;
};

}  // namespace lehr
