// Decides for each plate whether numbers in data are names of its elements or their positions, and makes names text.
#include "compiler/binding/numeric_names.h"

#include <algorithm>
#include <cmath>

#include "compiler/binding/binder.h"
#include "compiler/binding/table_rows.h"
#include "runtime/files/text.h"

namespace lehr::model {
namespace {

/// Returns the number that a label is, without sign; nothing for other text.
std::optional<double> number_in(const std::string& label) {
  const bool digits = !label.empty() && std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? parse_number(label) : std::nullopt;
}

/// Returns true if the values are whole numbers from 0 on that doubles tell apart; some may be missing.
bool are_whole(const DataArray& a) {
  return a.levels.empty() && !a.of_columns && !a.values.empty() && std::ranges::all_of(a.values, [](double v) {
           return std::isnan(v) || (v >= 0 && v == std::floor(v) && v < kMaxExactInteger);
         });
}

/// Converts numbers to text: the label of that number, or its digits.
void to_text(DataArray& a, const std::map<double, std::string>& labels) {
  std::map<double, std::string> texts;
  for (std::size_t k = 0; k < a.values.size(); ++k)
    if (!std::isnan(a.values[k])) texts.try_emplace(a.values[k], entry_text(a, k));
  std::map<std::string, double> codes;
  for (auto& [number, text] : texts) {
    if (const auto label = labels.find(number); label != labels.end()) text = label->second;
    codes.emplace(text, 0);
  }
  for (auto& [text, code] : codes) {
    code = static_cast<double>(a.levels.size());
    a.levels.push_back(text);
  }
  for (double& v : a.values)
    if (!std::isnan(v)) v = codes.at(texts.at(v));
  a.integral = false;
}

/// The arrays of data that name elements of one plate.
class ElementNames {
 public:
  ElementNames(const Model& m, PlateId plate, const std::vector<DataReference>& references, Dataset& data)
      : m_(m), plate_(plate), references_(references), data_(data) {
    for (const DataReference& r : references) {
      const auto found = data.find(r.name);
      if (found == data.end() || !r.values || m[*r.values].set != plate) continue;
      referring_.push_back(&found->second);
      categories_ = categories_ || r.category;
    }
    std::vector<const DataArray*> along;
    for (const DataReference& r : references)
      if (const auto a = data.find(r.name); a != data.end() && leads(r)) along.push_back(&a->second);
    ids_ = id_columns(data, m[plate].name, along);
  }

  /// Returns true if the numbers are names; the arguments are those of name_numbers().
  bool are_names(const std::vector<std::string>& labels, bool sized, bool pieces) const {
    // Numbers along an ordered plate are times; words would have the order of the alphabet.
    if (labels.empty() && m_[plate_].ordered) return false;
    if (std::ranges::none_of(all(), [](const DataArray* a) { return are_whole(*a); })) return false;
    if (!labels.empty()) return are_among(labels);
    if (pieces) return false;
    if (std::ranges::any_of(all(), [](const DataArray* a) { return !a->levels.empty(); })) return true;
    if (sized || categories_) return false;
    const auto most = static_cast<double>(kLargestImplied);
    if (std::ranges::any_of(all(), [&](const DataArray* a) {
          return std::ranges::any_of(a->values, [&](double v) { return v >= most; });
        }))
      return true;
    return !referring_.empty() && !ids_.empty() && !are_sized_by_position() &&
           std::ranges::any_of(ids_, [](const DataArray* a) { return !are_positions(*a); });
  }

  /// Converts the numbers to text.
  void convert(const std::vector<std::string>& labels) const {
    std::map<double, std::string> by_number;
    for (const std::string& label : labels)
      if (const auto number = number_in(label)) by_number.try_emplace(*number, label);
    for (DataArray* a : all())
      if (are_whole(*a)) to_text(*a, by_number);
  }

 private:
  /// Returns all arrays that name elements.
  std::vector<DataArray*> all() const {
    std::vector<DataArray*> out = referring_;
    out.insert(out.end(), ids_.begin(), ids_.end());
    return out;
  }

  /// Returns true if the first axis of an array is the plate.
  bool leads(const DataReference& r) const { return !r.axes.empty() && m_[r.axes[0]].set == plate_; }

  /// Returns true if an array along the plate has no ids: its elements are counted by position.
  bool are_sized_by_position() const {
    return std::ranges::any_of(references_, [&](const DataReference& r) {
      const auto a = data_.find(r.name);
      const bool along = std::ranges::any_of(r.axes, [&](PlateId p) { return m_[p].set == plate_; });
      return a != data_.end() && along && a->second.row_labels.empty() &&
             std::ranges::none_of(ids_, [&](const DataArray* ids) { return stands_beside(a->second, *ids); });
    });
  }

  /// Returns true if the numbers are labels, as far as the labels tell.
  bool are_among(const std::vector<std::string>& labels) const {
    std::map<double, bool> numbers;
    for (const std::string& label : labels)
      if (const auto number = number_in(label)) numbers.emplace(*number, true);
    if (2 * numbers.size() >= labels.size()) return true;
    return std::ranges::all_of(all(), [&](const DataArray* a) {
      return !are_whole(*a) ||
             std::ranges::all_of(a->values, [&](double v) { return std::isnan(v) || numbers.contains(v); });
    });
  }

  const Model& m_;
  PlateId plate_;
  const std::vector<DataReference>& references_;
  const Dataset& data_;
  std::vector<DataArray*> referring_, ids_;
  bool categories_ = false;  // true: some of the arrays are values of variables
};

}  // namespace

void name_numbers(const Model& m, const std::vector<DataReference>& references, const LabelsOfPlates& labels,
                  const std::map<std::string, std::int64_t>& sizes, bool pieces, Dataset& data) {
  for (std::size_t i = 0; i < m.plates.size(); ++i) {
    const Plate& plate = m.plates[i];
    if (plate.set != PlateId(i) || plate.parent || plate.stick || plate.from != 0) continue;
    const auto named = labels.find(plate.name);
    const std::vector<std::string>& of_plate = named != labels.end() ? named->second : std::vector<std::string>();
    const ElementNames names(m, PlateId(i), references, data);
    if (names.are_names(of_plate, plate.size || sizes.contains(plate.name), pieces)) names.convert(of_plate);
  }
}

}  // namespace lehr::model
