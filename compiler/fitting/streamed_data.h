// Data that stay in their files: items are read and bound when they are worked on. What is read of some items is bound
// as if there were no others, so that names, shapes, multiplicities and checks are those of data in memory.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/fitting/barren.h"
#include "compiler/fitting/survey.h"
#include "compiler/model/bind.h"
#include "compiler/pipeline.h"
#include "runtime/files/rows.h"
#include "runtime/machine/machine.h"
#include "runtime/methods/group.h"

namespace lehr {

/// Items that could not be read, though they were there when the data were opened.
struct Unreadable : std::runtime_error {
  explicit Unreadable(Error e) : std::runtime_error(e.text), error(std::move(e)) {}
  Error error;
};

class StreamedData {
 public:
  /// Observed variables that the data do not have.
  enum class Gaps { refused, predicted };

  /// Reads everything once, a part at a time: sizes, largest values and labels are then known, and every value has
  /// been checked. `analysed` is of a model of which nothing is missing. An error says what keeps the data from being
  /// read in pieces.
  /// `known`: arrays that do not lie on the items, besides those of the files. With a group, each process reads a part.
  static Result<std::shared_ptr<const StreamedData>> open(const Analysed& analysed,
                                                          const std::vector<std::string>& bindings,
                                                          const Settings& settings, Group* group = nullptr,
                                                          const Dataset& known = {}, Gaps gaps = Gaps::refused);

  /// The plate whose elements are read a few at a time.
  model::PlateId plate() const { return plate_; }
  std::int64_t items() const { return items_; }
  /// Numbers that the data of an item are on average, all arrays together.
  double numbers_per_item() const { return numbers_per_item_; }
  /// The first element of a nested plate that belongs to an item, among those of all items; throws Unreadable.
  std::int64_t row(model::PlateId nested, std::int64_t item) const;
  /// Sizes of all, and what does not lie on the items. Arrays over the items are empty; a nested plate has the offsets
  /// of its longest row alone.
  const BoundData& whole() const { return whole_; }
  /// The data of these items, as if there were no others. Throws Unreadable.
  BoundData read(std::span<const machine::ItemRange> runs) const;
  /// Of such data, which elements are barren; the variables of which some are anywhere.
  Masks barren(const BoundData& part) const;
  std::vector<model::VariableId> with_barren_items() const;
  /// Elements outside the items on which the data of none depend, as find_barren has them.
  Masks barren_outside() const;
  /// The same as it is before it is bound, with what does not lie on the items, and how it is bound.
  Result<std::pair<Dataset, Settings>> part(machine::ItemRange items) const;

 private:
  explicit StreamedData(model::Model model) : model_(std::move(model)) {}

  Result<BoundData> bind(Dataset arrays, const Settings& settings) const;
  std::optional<Error> open_bindings(const std::vector<std::string>& bindings);
  std::optional<Error> add_rows(const RowBinding& rows, const std::string& binding);
  bool lies_on_items(const std::string& array) const;
  bool is_known(const std::string& array) const;
  std::optional<Error> survey(machine::ItemRange items);
  std::optional<Error> survey_with(Group* group);
  std::optional<Error> mixed_text(const std::string& array, const std::string& where) const;
  std::optional<Error> note(const Dataset& arrays);
  std::optional<Error> check(const BoundData& part);
  /// Which elements the items of a part inform.
  void note_informed(const BoundData& part);
  bool is_on_items(model::VariableId v) const;
  void note_rows(const BoundData& part, machine::ItemRange items);
  std::int64_t row_in(const BoundData& part, model::PlateId nested, std::int64_t item) const;
  std::optional<Error> far_column() const;
  std::optional<Error> make_whole();
  Result<Dataset> arrays_of(std::span<const machine::ItemRange> runs) const;
  /// With labels and largest values of all, and with what does not lie on the items. An error where there is text that
  /// there was not when all was read.
  std::optional<Error> complete(Dataset& arrays) const;
  /// Whether items are as they were then, in all that memory was measured by.
  bool is_as_before(const BoundData& part) const;
  Result<BoundData> bind_part(Dataset arrays, std::int64_t first) const;

  model::Model model_;
  model::PlateId plate_;
  Settings settings_;  // of a part
  std::vector<RowBinding> files_;
  Dataset rest_;  // what does not lie on the items
  Survey known_;
  std::map<std::string, std::vector<std::string>> levels_;               // of text, by array
  mutable std::optional<std::pair<std::int64_t, BoundData>> looked_up_;  // where `row` has looked the last time
  Gaps gaps_ = Gaps::refused;
  std::int64_t items_ = 0;
  double numbers_per_item_ = 0;
  BoundData whole_;
};

}  // namespace lehr
