// A model, compiled for one data set, with its data in place: what `fit` runs.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/evaluate/reference.h"
#include "compiler/instance/step_times.h"
#include "compiler/machine/tables.h"
#include "compiler/pipeline.h"
#include "runtime/array.h"
#include "runtime/methods/random_start.h"

namespace lehr {

/// What numbers are told from: zero, as the user has them, or the references of Instance::tell_from, as the model has
/// them.
enum class Origin { zero, reference };

/// Items whose data are bound when they are worked on, so many at a time in visits of all.
struct ItemSource {
  std::int64_t items = 0;
  model::PlateId plate = {};
  std::function<BoundData(std::span<const ItemRange>)> read = {};                  // null: the data are all there
  std::function<std::int64_t(model::PlateId nested, std::int64_t item)> row = {};  // the item's first, among all
};

/// Start values and posterior of one compiled model. What was analysed must outlive it.
class Instance {
 public:
  /// `window`: items whose factors are kept at a time, for SviOptions::batch items a step; 0 for all of them, as it is
  /// where the model does not take minibatches (compiler/machine/minibatch.h). An Error says what does not fit into
  /// memory.
  /// With a source `data` have the sizes of all items, and arrays that do not lie on them; an Error says what of the
  /// model needs all items at once.
  static Result<std::unique_ptr<Instance>> make(const Analysed& analysed, const BoundData& data,
                                                const loops::LowerOptions& options, Backend backend,
                                                std::int64_t window, ItemSource source = {});
  /// The same of a program that was lowered before, with LowerOptions::new_items, and has all its sizes.
  static Result<std::unique_ptr<Instance>> make(const Analysed& analysed, const BoundData& data, loops::Lowered lowered,
                                                const CodeSource& code, std::int64_t window, ItemSource source = {});
  /// The first, where NoRoom is thrown.
  Instance(const Analysed& analysed, const BoundData& data, const loops::LowerOptions& options, Backend backend,
           std::int64_t window = 0);
  /// The second.
  Instance(const Analysed& analysed, const BoundData& data, loops::Lowered lowered, const CodeSource& code,
           std::int64_t window, ItemSource source = {});

  ~Instance();

  /// What variables are told from, see about_references: model and data have it left out, and what goes in and out here
  /// by name has it added.
  void tell_from(References references) { references_ = std::move(references); }

  Engine& engine();
  const Engine& engine() const;

  /// As the Loops program calls it.
  const std::string& name_of(std::int64_t buffer) const;

  /// What was done until now, of Backend::timed or interpreter.
  std::vector<StepTime> times() const;

  /// Other data in the place of those that are there: of the same sizes and lengths of rows, nothing missing that was
  /// there. Factors stay as they are, what follows from the data alone is formed again.
  Result<bool> replace(const BoundData& data);

  /// The start that is in place.
  struct Started {
    StartKind kind;
    std::string failure = {};  // why it is not of the kind that was wanted
  };
  /// Start of a run, see StartKind. Where one fails, another kind takes its place; the error is that of the kind that
  /// was wanted. Deterministic in (seed, restart), whatever the method that follows.
  Result<Started> start(std::uint64_t seed, std::uint64_t restart, StartKind kind = StartKind::seeds);

  /// Replaces factors by the arrays of `--init`, named as in posterior.npz; unknown names and wrong shapes are errors.
  /// Arrays of factors that are overwritten before they are read (streamed categories, items in a window) are accepted.
  /// Those of members of a joint variable count where its own are missing: its factor is then without correlations.
  /// Whether factors of the items were among them.
  Result<bool> set(const std::vector<NamedArray>& arrays, const std::string& source);

  /// Global variables whose elements are the same for every value of a latent category: a solution in which the values
  /// cannot be told apart, and from which no sweep leads away.
  std::vector<std::string> equal_components() const;

  /// Puts values in the place of draws, packed as a BoundArray, by VariableId; those without a value stay. Of models
  /// that draw.
  Result<bool> put_draw(const std::vector<std::vector<double>>& values);

  /// Appends the values of the variables, as they were drawn, to arrays over [draw] and the axes of each; local ones
  /// with `locals`, where they are kept (LowerOptions::save_locals). Of models that draw.
  void add_draw(std::vector<NamedArray>& draws, bool locals, Origin origin = Origin::zero) const;

  /// `variable.parameter` arrays; local ones only with `locals`, which a window does not have. Not of sources of
  /// counts, which follow from the rest.
  std::vector<NamedArray> posterior(bool locals, Origin origin = Origin::zero) const;

 private:
  struct Compiled;  // functions and the engine
  static std::unique_ptr<Compiled> compile(const Tables& tables, const loops::Lowered& lowered, const CodeSource& code,
                                           std::int64_t window, Supplied supplied);

  /// What items of the source are brought by.
  Supplied supplied();
  /// By slot, for so many elements of the plates.
  std::vector<std::int64_t> sizes_for(const std::vector<std::int64_t>& plates) const;
  void place_data(const BoundData& data);
  std::optional<Error> asymmetric_matrix() const;
  Error failed(std::int32_t status) const;
  std::vector<std::int64_t> shape(const loops::ParameterSlot& slot) const;
  /// The reference of the numbers of a slot, or null.
  const std::vector<double>* reference(const loops::ParameterSlot& slot) const;
  /// Whether it is the first array of a joint variable.
  bool is_first_of_joint(const loops::ParameterSlot& slot) const;
  /// The parameters of a joint variable's factor, as they are.
  std::vector<NamedArray> factor_of(model::VariableId joint) const;
  /// Arrays with what they have of members of joint variables put into these; arrays of a joint variable itself count
  /// more. An Error for a length that is not the member's.
  Result<std::vector<NamedArray>> with_members_joined(std::vector<NamedArray> arrays, const std::string& source) const;

  References references_;
  const model::Model& model_;
  const schedule::Schedule& schedule_;
  std::vector<std::int64_t> plate_sizes_;
  ItemSource source_;
  std::vector<ItemRange> brought_;
  loops::Lowered lowered_;
  Tables tables_;
  std::unique_ptr<Compiled> compiled_;
};

/// How an instance for some data is come by.
using MakeInstance = std::function<Result<std::unique_ptr<Instance>>(const Analysed& analysed, const BoundData& data,
                                                                     const loops::LowerOptions& options)>;
/// By native code of its own.
Result<std::unique_ptr<Instance>> compiled_instance(const Analysed& analysed, const BoundData& data,
                                                    const loops::LowerOptions& options);

}  // namespace lehr
