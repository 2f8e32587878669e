// Out-of-core data: items stay in their files, and are read and bound when they are worked on. A part is bound as if
// there were no other items, by the same code as data in memory. So names, shapes, multiplicities and checks are the
// same. One pass at the beginning surveys all data (survey.h); later reads are compared with it.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/binding/bind.h"
#include "compiler/fit/survey.h"
#include "compiler/instance/barren.h"
#include "compiler/pipeline.h"
#include "runtime/files/rows.h"
#include "runtime/machine/machine.h"
#include "runtime/parallel/group.h"

namespace lehr {

/// Thrown when items cannot be read although they could when the data were opened: the files have changed.
struct DataChanged : std::runtime_error {
  /// Makes the exception for an error.
  explicit DataChanged(Error e) : std::runtime_error(e.text), error(std::move(e)) {}
  Error error;  // the reason, for the user
};

/// Out-of-core data: files whose items are read and bound a few at a time, for fits and predictions that need not have
/// all in memory. Objects do not change after open(), apart from a cache of row(), which only one thread may call at a
/// time.
class OutOfCoreData {
 public:
  /// What an observed variable without data means: `refused`, an error, as for a fit; `predicted`, missing values that
  /// are to be predicted.
  enum class Gaps { refused, predicted };

  /// Opens the files of `bindings` and reads everything once, in parts: sizes, labels, largest values and checks.
  /// `analysed` is the model for data without missing values. `other_arrays` are further arrays that do not lie on the
  /// items. The processes of a `group` read a part each. Fails with the reason if the data cannot be read in parts.
  static Result<std::shared_ptr<const OutOfCoreData>> open(const Analysed& analysed,
                                                           const std::vector<std::string>& bindings,
                                                           const Settings& settings, Group* group = nullptr,
                                                           const Dataset& other_arrays = {}, Gaps gaps = Gaps::refused);

  /// Returns the plate of the items.
  model::PlateId plate() const { return plate_; }
  /// Returns the number of items.
  std::int64_t items() const { return items_; }
  /// Returns how many numbers the data of an item have on average, over all arrays; it decides how many items make a
  /// batch.
  double values_per_item() const { return values_per_item_; }
  /// Returns the position of the first element that item `item` has on a nested plate, among the elements of all items.
  /// For `item` = items() it is the number of all elements. Throws DataChanged.
  std::int64_t row(model::PlateId nested, std::int64_t item) const;
  /// Returns the sizes of all plates, and the data that do not lie on the items. Arrays on the items are empty and only
  /// say whether values are missing. A nested plate on the items has the offsets of one row, as long as the longest.
  const BoundData& whole() const { return whole_; }
  /// Reads and binds the data of some ranges of items (at least one), as if there were no others. Throws DataChanged.
  BoundData read(std::span<const machine::ItemRange> runs) const;
  /// Returns the masks of elements on which no data depend (barren.h), for data that read() returned. Masks of
  /// variables outside the items are those of barren_outside().
  Masks barren(const BoundData& part) const;
  /// Returns the variables on the items of which some element, in any item, is barren: no data depend on it (barren.h).
  /// The density needs masks for those that have factors of their own.
  std::vector<model::VariableId> with_barren_items() const;
  /// Returns the masks of variables outside the items: 0 for an element on which the data of no item depend, else 1.
  /// Layout as by find_barren: empty for a variable without such elements.
  Masks barren_outside() const;
  /// Reads a range of items without binding them, for predictions that bind them with more arrays. Returns the arrays,
  /// including those outside the items, and the settings to bind them with.
  Result<std::pair<Dataset, Settings>> part(machine::ItemRange items) const;

 private:
  /// Stores the model; open() does the rest.
  explicit OutOfCoreData(model::Model model) : model_(std::move(model)) {}

  /// Binds arrays to the model. An observed variable without data is an error, or missing as a whole, as `gaps_` says.
  Result<BoundData> bind(Dataset arrays, const Settings& settings) const;
  /// Opens all bindings, and sorts their arrays into those on the items and others.
  std::optional<Error> open_bindings(const std::vector<std::string>& bindings);
  /// Adds one file of data. If some of its arrays lie on the items, it must have a row for each item, and is only
  /// opened; otherwise its arrays are read whole. A file without arrays of the model is ignored. Returns an error if an
  /// array is given twice, or if the number of rows is not that of earlier files.
  std::optional<Error> add_file(const RowBinding& file, const std::string& binding);
  /// Returns true if the array of this name is on the items or on plates nested in them, or has the lengths of rows of
  /// such a plate.
  bool lies_on_items(const std::string& array) const;
  /// Returns true if the model has a plate, an input or an observed variable of this name.
  bool is_in_model(const std::string& array) const;
  /// Reads a range of items in parts, binds and checks each part, and fills in `survey_`.
  std::optional<Error> survey(machine::ItemRange items);
  /// Returns true if an array names elements or values, which may be text: one of a plate or of categories.
  bool names_elements(const std::string& array) const;
  /// Surveys this process's range of items, and merges the surveys of all processes of the group.
  std::optional<Error> survey_with(Group* group);
  /// Adds the arrays to `as_text_` that name elements and of which the survey so far has both numbers and text. Returns
  /// true if there are some: the survey then has to begin again, in all processes.
  bool find_text();
  /// Returns an error about `where` if the survey so far has found both numbers and text in an array.
  std::optional<Error> mixed_text(const std::string& array, const std::string& where) const;
  /// Adds to the survey the largest number and the texts of each array, as it was read and before it is bound. Returns
  /// an error if an array has both numbers and text, unless it names elements: it then is in `as_text_` afterwards, and
  /// the survey begins again.
  std::optional<Error> note(const Dataset& arrays);
  /// Adds to the survey what the bound data of a part show: checksum, moments of columns, missing values, elements on
  /// which no data depend, and lengths of rows. Returns an error if a variable on which others depend has some missing
  /// values, and so is latent there: such data are not read in parts.
  std::optional<Error> check(const BoundData& part);
  /// Adds to the survey on which elements outside the items the data of a part depend, and which variables on the items
  /// have elements on which none depend.
  void note_d_connected(const BoundData& part);
  /// Returns true if the outermost plate of the variable is that of the items.
  bool is_on_items(model::VariableId v) const;
  /// Adds the items of a part to the survey's sparse index of where items begin on nested plates. Call it before
  /// check(), which counts the elements of the part.
  void note_item_offsets(const BoundData& part, machine::ItemRange items);
  /// Returns the position of an item's first element on a nested plate, within a part.
  std::int64_t row_in(const BoundData& part, model::PlateId nested, std::int64_t item) const;
  /// Returns an error if a column of the data is far from zero, since only data in memory can be centred.
  std::optional<Error> far_column() const;
  /// Fills in `whole_`, the sizes of all plates and the data outside the items, from the first items and the survey.
  std::optional<Error> make_whole();
  /// Reads the arrays of some ranges of items from all files.
  Result<Dataset> arrays_of(std::span<const machine::ItemRange> runs) const;
  /// Completes the arrays of a part, so that they are bound as those of all items would be: texts are numbered among
  /// the texts of all items, each array gets the largest value of all items, and the arrays outside the items are
  /// added. Returns an error if there is text that the survey did not see.
  std::optional<Error> complete(Dataset& arrays) const;
  /// Returns true if a part does not contradict the survey. Plates outside the items have the same sizes, no row is
  /// longer than the longest, and no other arrays have missing values. No observed variable is latent in the part.
  bool is_as_before(const BoundData& part) const;
  /// Binds the arrays of a part of the items, after complete() has added what the part alone does not show: labels and
  /// largest values of all items, and the arrays outside the items. `first` is the number of the part's first item
  /// among all items; only messages use it, to number elements as the user does.
  Result<BoundData> bind_part(Dataset arrays, std::int64_t first) const;

  model::Model model_;             // the model that the data are for
  model::PlateId plate_;           // the plate of the items
  Settings settings_;              // settings with which a part is bound
  std::vector<RowBinding> files_;  // the files with a row for each item
  Dataset other_arrays_;           // arrays that do not lie on the items
  DataSurvey survey_;              // the survey of all items
  std::set<std::string> as_text_;  // arrays of text, which are so in a part that has nothing but numbers, too
  std::map<std::string, std::vector<std::string>> levels_;  // sorted texts of all items, by name of the array
  /// A cache: the part that row() read last, and the number of its first item.
  mutable std::optional<std::pair<std::int64_t, BoundData>> row_cache_;
  Gaps gaps_ = Gaps::refused;   // what an observed variable without data means; see Gaps
  std::int64_t items_ = 0;      // number of all items
  double values_per_item_ = 0;  // how many numbers an item has on average
  BoundData whole_;             // sizes of all plates, and the data outside the items
};

}  // namespace lehr
