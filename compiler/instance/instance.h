// An instance: a model that is compiled for one data set, with the data in its memory. `fit` runs it.
//
// It makes an Engine of a lowered program and bound data, on which the methods of runtime/inference work. It
// translates between the engine's buffers and arrays with names: start values, posteriors and draws.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/evaluate/reference.h"
#include "compiler/instance/compiled_program.h"
#include "compiler/instance/step_times.h"
#include "compiler/pipeline.h"
#include "runtime/array.h"
#include "runtime/search/random_start.h"

namespace lehr {

/// What the locations (means and values) in arrays of a posterior or of draws are measured from.
enum class LocationOrigin {
  zero,      // zero, as the user's data are
  reference  // the reference values of Instance::set_offsets, as in the centred model that inference runs on
};

/// How an instance gets out-of-core data, whose items are read from files each time they are worked on: callbacks, and
/// how many items are in memory at a time.
struct ItemSource {
  /// How many items are in memory at a time when a sweep visits all of them.
  std::int64_t items = 0;
  /// The plate whose elements are the items.
  model::PlateId plate = {};
  /// Reads and binds the data of some ranges of items; null if all data are in memory.
  std::function<BoundData(std::span<const ItemRange>)> read = {};
  /// Returns the position of the first element of the nested plate that belongs to the item, among the elements of all
  /// items.
  std::function<std::int64_t(model::PlateId nested, std::int64_t item)> row = {};
};

/// A compiled model with data: its engine, start values and posterior. The Analysed that it was made from must outlive
/// it.
class Instance {
 public:
  /// Lowers and compiles the model for the data. It returns an Error if the arrays do not fit into memory, if the
  /// source reads some items at a time and the model needs all at once, if code for the processor that LEHR_CPU names
  /// cannot run here, or if the data couple coordinates that a sparse precision has no entry for.
  ///
  /// `window` limits memory for stochastic inference with minibatches of SviOptions::batch items: factors of that many
  /// items are in memory at a time. 0 means all, and so does any number if the model does not take minibatches
  /// (compiler/machine/minibatch.h). With a source that reads, `data` has the sizes of all items and the arrays that do
  /// not lie on them. `passes` are the options of the optimisation.
  static Result<std::unique_ptr<Instance>> make(const Analysed& analysed, const BoundData& data,
                                                const loops::LowerOptions& options, Backend backend,
                                                std::int64_t window, ItemSource source = {},
                                                const loops::PassOptions& passes = {});
  /// Makes an instance of a program that was lowered before with LowerOptions::new_items and has all its sizes, such as
  /// that of a built object. `code` says where its functions come from. `window` and `source` are as for the make()
  /// that lowers the model, and so are the Errors; but it does not check that the model can do with some items at a
  /// time.
  static Result<std::unique_ptr<Instance>> make(const Analysed& analysed, const BoundData& data, loops::Lowered lowered,
                                                const CodeSource& code, std::int64_t window, ItemSource source = {});
  /// Makes an instance of a program that was compiled before for data with the same constant sizes, so that fits of
  /// many data sets share it. `window` and `source` are as for the make() that lowers the model. It returns an Error if
  /// the arrays do not fit into memory, or if the data couple coordinates that a sparse precision has no entry for.
  static Result<std::unique_ptr<Instance>> make(const Analysed& analysed, const BoundData& data,
                                                std::shared_ptr<const CompiledProgram> program, std::int64_t window,
                                                ItemSource source = {});
  /// Lowers and compiles a program for the data without making an instance; make() can then use it for these data and
  /// for others with the same constant sizes. Fails if code for the processor that LEHR_CPU names cannot run here.
  static Result<std::shared_ptr<const CompiledProgram>> compile(const Analysed& analysed, const BoundData& data,
                                                                const loops::LowerOptions& options, Backend backend,
                                                                const loops::PassOptions& passes);
  /// Lowers and compiles the model, and makes the engine with the data, all items in memory unless `window` limits
  /// them. Throws OutOfMemory if the arrays do not fit into memory.
  Instance(const Analysed& analysed, const BoundData& data, const loops::LowerOptions& options, Backend backend,
           std::int64_t window = 0, const loops::PassOptions& passes = {});
  /// Makes the engine of a compiled program with the data. Throws OutOfMemory if the arrays do not fit into memory.
  Instance(const Analysed& analysed, const BoundData& data, std::shared_ptr<const CompiledProgram> program,
           std::int64_t window, ItemSource source = {});

  /// Frees the engine and its memory, and the machine code unless another instance shares it.
  ~Instance();

  /// Sets the reference values that were subtracted from model and data (centre_model), so that users see locations as
  /// they are. From then on, named arrays that come in have them subtracted, and those that go out have them added. A
  /// joint factor of Normal variables has those of its members.
  void set_offsets(CentringOffsets references);

  /// Returns the engine, which owns the memory and runs the functions.
  Engine& engine();
  /// Returns the engine, which owns the memory and runs the functions, read-only.
  const Engine& engine() const;

  /// Returns the name that the Loops program gives to a buffer of the engine, by which arrays are found in a posterior
  /// or a file: "theta.concentration" for a parameter of the posterior.
  const std::string& name_of(std::int64_t buffer) const;

  /// Returns the cost of each step of the schedule so far, for profiles. Only for Backend::timed and interpreter.
  std::vector<StepTime> times() const;

  /// Replaces the data by others with the same plate sizes and row lengths, and values wherever there were some,
  /// without compiling again. Factors stay; sums of data are computed again. Throws std::logic_error if plate sizes
  /// differ. Returns an Error if a matrix that must be symmetric is not, if a sparse precision lacks entries for the
  /// data, or if code that reads the data fails. The value is always true.
  Result<bool> replace(const BoundData& data);

  /// A start of a run that succeeded: the factors are initialised.
  struct Started {
    /// The kind of random start that was used.
    StartKind kind;
    /// Why the start is not of the requested kind; empty if it is.
    std::string failure = {};
  };
  /// Initialises all factors for a run. If a start of the kind `kind` fails, the first other kind that succeeds takes
  /// its place; if all fail, the Error is that of `kind`. A data matrix that must be symmetric and is not is an Error,
  /// too. The random numbers depend on seed and restart alone, so all methods begin at the same start.
  Result<Started> start(std::uint64_t seed, std::uint64_t restart, StartKind kind = StartKind::seeds);

  /// Overwrites factors with arrays that are named as in posterior.npz: those of an earlier fit, or of the option
  /// `--init`. `source` is the file, for messages. Unknown names and wrong lengths are Errors. Returns true if factors
  /// of the items were among the arrays.
  ///
  /// Arrays of factors that are written before they are read (fused categories, items in a window) are accepted and
  /// ignored. Arrays of the members of a joint variable are used if its own are missing; its factor then has no
  /// correlations between members.
  Result<bool> set(const std::vector<NamedArray>& arrays, const std::string& source);

  /// Returns the names of the symmetric variables, for a warning: in a symmetric solution no sweep can separate the
  /// values of a latent category. They are the global variables whose only axis is over the values of a latent
  /// category, if the factors of all of them are equal for all values (up to a relative difference of 1e-3). Returns
  /// none if one of them is not.
  std::vector<std::string> symmetric_components() const;

  /// Overwrites the current draws of a sampler, so that it goes on from this state. `values` has the packed values of
  /// each variable, by VariableId; a variable with none keeps its draw. Only for models with sample factors. The value
  /// is always true.
  Result<bool> set_draw(const std::vector<std::vector<double>>& values);

  /// Appends the current draw of each variable to `draws`. Its arrays have the name of the variable and the axes
  /// [draw], then the axes and event axes of the variable; a category has the position of its value. An empty `draws`
  /// gets these arrays. A joint variable is written as its members, other auxiliary variables are left out. `locals`
  /// includes local variables, if they are stored (LowerOptions::save_locals). Only for models with sample factors.
  /// Throws ReplayMismatch if `draws` are of another model.
  void append_draw(std::vector<NamedArray>& draws, bool locals, LocationOrigin origin = LocationOrigin::zero) const;

  /// Returns the parameters of all factors as arrays `variable.parameter`, the marginals of members of joint variables,
  /// and the coordinates of the entries of sparse precisions. `locals` includes the parameters of local variables,
  /// unless a window or file holds them. Auxiliary sources of counts are left out, since they follow from the rest.
  std::vector<NamedArray> posterior(bool locals, LocationOrigin origin = LocationOrigin::zero) const;

 private:
  /// The constant tables of the machine, with the addresses of the functions, and the engine that runs them.
  struct Running;
  /// Makes the engine that executes the program with these tables and run-time sizes, and allocates its memory; nothing
  /// is executed yet. Throws OutOfMemory, with the names of the buffers.
  static std::unique_ptr<Running> run(const Tables& tables, const CompiledProgram& program,
                                      const std::vector<std::int64_t>& sizes, std::int64_t window,
                                      LoaderFunctions supplied);

  /// Returns the callbacks by which the engine loads out-of-core items; empty ones if all data are in memory.
  LoaderFunctions supplied();
  /// Returns the value of each size slot of the program, for the given number of elements of each plate: those of the
  /// out-of-core items that are being loaded.
  std::vector<std::int64_t> sizes_at(const std::vector<std::int64_t>& plates) const;
  /// Copies the data into the engine's buffers. Missing integers become -1.
  void copy_data(const BoundData& data);
  /// Copies the positions of the entries of sparse precisions (math::SparsePattern) into the engine's buffers, where
  /// the generated code reads them.
  void copy_patterns();
  /// Returns an Error for the first data matrix that must be symmetric and is not.
  std::optional<Error> asymmetric_matrix() const;
  /// Returns the Error for a status of the generated code other than 0.
  Error failed(std::int32_t status) const;
  /// Returns the extents of the array that has a parameter of the posterior.
  std::vector<std::int64_t> shape(const loops::ParameterSlot& slot) const;
  /// Returns the reference values that are subtracted from the array of a parameter. Null if there are none, or if the
  /// parameter is no location.
  const std::vector<double>* reference(const loops::ParameterSlot& slot) const;
  /// Returns true if the slot is the first parameter array of a joint variable (`guide joint`), so that posterior()
  /// writes the marginals of all its members once.
  bool is_first_of_joint(const loops::ParameterSlot& slot) const;
  /// Returns the current parameters of a joint variable's factor as arrays with names.
  std::vector<NamedArray> factor_of(model::VariableId joint, LocationOrigin origin = LocationOrigin::zero) const;
  /// Returns `arrays` with the arrays of joint variables in place of those of their members. The arrays of a joint
  /// variable are its current factor, with the parameters or values of the members written into it. Parameters that no
  /// given array sets keep their current values; a member's precision is entered without correlations to other members.
  /// If `arrays` has the joint variable itself, its members' arrays are dropped.
  ///
  /// Returns an Error of ExitCode::data about `source` if a member's array is no parameter of the posterior, or has the
  /// wrong length. Draws may stand for parameters and parameters for draws; their length may then be a multiple.
  Result<std::vector<NamedArray>> with_members_joined(std::vector<NamedArray> arrays, const std::string& source) const;
  /// Returns the coordinates of the entries of a sparse precision, as arrays `joint.row` and `joint.column`. Empty for
  /// other variables, and for draws.
  std::vector<NamedArray> coordinates_of_entries(model::VariableId joint) const;
  /// Returns `arrays` with the entries of sparse precisions in the order of this instance, without the arrays of their
  /// coordinates. Returns an Error of ExitCode::data about `source` if there is an entry other than 0 that this
  /// instance has not.
  Result<std::vector<NamedArray>> with_own_entries(std::vector<NamedArray> arrays, const std::string& source) const;
  /// Returns an Error if the data couple coordinates that a sparse precision has no entry for.
  std::optional<Error> uncovered_pair(const BoundData& data) const;

  /// The reference values that are subtracted from locations, by VariableId; see set_offsets().
  CentringOffsets references_;
  /// The model that was compiled; it belongs to the Analysed.
  const model::Model& model_;
  /// The schedule of the model; it belongs to the Analysed.
  const schedule::Schedule& schedule_;
  /// The number of elements of each plate, by PlateId.
  std::vector<std::int64_t> plate_sizes_;
  /// Where the data of out-of-core items are read from.
  ItemSource source_;
  /// The ranges of out-of-core items whose data are in memory now.
  std::vector<ItemRange> loaded_;
  /// The program of the model with its functions; other instances may use it too.
  std::shared_ptr<const CompiledProgram> program_;
  /// The run-time sizes of the program, by slot.
  std::vector<std::int64_t> sizes_;
  /// The tables that describe the program to the machine (runtime/machine).
  std::shared_ptr<const Tables> tables_;
  /// The program and its interface, which belong to `program_`.
  const loops::Lowered& lowered_;
  /// The engine; destroyed before the tables that it refers to.
  std::unique_ptr<Running> running_;
};

/// A function that makes an instance of an analysed model for some data. Predictions and scores take one, so that they
/// can run newly compiled code or that of a built object.
using MakeInstance = std::function<Result<std::unique_ptr<Instance>>(const Analysed& analysed, const BoundData& data,
                                                                     const loops::LowerOptions& options)>;
/// Makes an instance with newly compiled machine code and all items in memory. Can be used as a MakeInstance.
Result<std::unique_ptr<Instance>> compiled_instance(const Analysed& analysed, const BoundData& data,
                                                    const loops::LowerOptions& options);
/// Returns a function that makes instances with newly compiled machine code and all items in memory, with these options
/// of the passes.
MakeInstance compiled_instances(loops::PassOptions passes);

}  // namespace lehr
