// Opens, surveys and reads out-of-core data. Parts are bound like data in memory. Then they get the labels and largest
// values of all items, so that every part agrees on codes and sizes.
#include "compiler/fit/out_of_core_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/binding/table_rows.h"
#include "compiler/evaluate/packed.h"
#include "compiler/fit/bind_missing.h"
#include "compiler/fit/item_independence.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"
#include "runtime/files/text.h"
#include "runtime/files/zip.h"
#include "runtime/terminal/printable.h"
#include "runtime/threshold.h"

namespace lehr {
namespace {

using namespace model;
using machine::ItemRange;

/// How many numbers the survey reads at a time.
constexpr Threshold<double> kValuesPerPart("out_of_core_data.part", 1 << 16);
/// How many items the survey reads first, before it has an estimate of their size.
constexpr Threshold<std::int64_t> kFirstItems("out_of_core_data.first", 64);
/// The maximum number of items that the survey reads at a time.
constexpr Threshold<std::int64_t> kMaxItems("out_of_core_data.most_items", 4096);

/// Returns the error for data that cannot be read in parts.
Error refused(std::string why, std::vector<std::string> notes = {}) {
  return {ExitCode::data, option("stream"), std::move(why), std::move(notes)};
}

/// Returns the error for data of a variable that is latent where they have no values.
Error latent_here(const std::string& variable) {
  return refused(fmt::format("some values of '{}' are missing, and it is latent there", variable),
                 {"items with gaps in variables that others depend on are not read in pieces yet"});
}

/// Returns the error for files that have changed since the survey.
Error changed(const std::string& where) {
  return data_error(where, "the data have changed while they were read",
                    {"begin again, with files that stay as they are"});
}

/// An array that the model reads.
struct ArrayOfModel {
  const std::string& name;             // of the array
  const std::vector<PlateId>& axes;    // its plates
  std::optional<GivenId> given;        // set for a given
  std::optional<VariableId> variable;  // set for an observed variable, or a latent one that data may have values of
};

/// Returns all givens and variables that data may have values of.
std::vector<ArrayOfModel> arrays_of_model(const Model& m) {
  std::vector<ArrayOfModel> out;
  for (std::size_t k = 0; k < m.givens.size(); ++k)
    out.push_back({m.givens[k].name, m.givens[k].axes, GivenId(k), std::nullopt});
  for (std::size_t k = 0; k < m.variables.size(); ++k)
    if (m.variables[k].observed || is_latent(m.variables[k]))
      out.push_back({m.variables[k].name, m.variables[k].axes, std::nullopt, VariableId(k)});
  return out;
}

/// Returns the checksum of what was before, followed by these values.
std::string digest_after(const std::string& before, const std::vector<double>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return fmt::format("{:08x}", checksum(fmt::format("{}{:08x}", before, checksum(bytes))));
}

}  // namespace

bool OutOfCoreData::is_in_model(const std::string& array) const {
  return std::ranges::any_of(model_.plates, [&](const Plate& p) { return p.name == array; }) ||
         std::ranges::any_of(arrays_of_model(model_), [&](const ArrayOfModel& a) { return a.name == array; });
}

bool OutOfCoreData::lies_on_items(const std::string& array) const {
  bool out = false;
  for (const Plate& p : model_.plates)  // an array named after a nested plate has the lengths of its rows
    out = out || (p.name == array && p.parent && lies_on_plate(model_, {*p.parent}, plate_));
  for (const ArrayOfModel& a : arrays_of_model(model_))
    out = out || (a.name == array && lies_on_plate(model_, a.axes, plate_));
  return out;
}

std::optional<Error> OutOfCoreData::add_file(const RowBinding& file, const std::string& binding) {
  const RowRange first{0, std::min<std::int64_t>(1, file.rows())}, all{0, file.rows()};
  Result<Dataset> part = file.read({&first, 1});
  if (!part) return part.error();
  const auto on_items = [&](const auto& a) { return lies_on_items(a.first); };
  if (std::ranges::none_of(*part, [&](const auto& a) { return is_in_model(a.first); })) return std::nullopt;
  // A file without arrays on the items is read whole.
  const bool streamed = std::ranges::any_of(*part, on_items);
  if (!streamed) part = file.read({&all, 1});
  if (!part) return part.error();
  for (auto& [name, array] : *part) {
    const auto v = std::ranges::find(model_.variables, name, &Variable::name);
    if (streamed && v != model_.variables.end() && is_latent(*v) && (array.named_by_binding || is_column(array)))
      return refused(
          fmt::format("the data have '{0}', and '{0}' is latent in the model", printable(name)),
          {"values of latent variables are not read in pieces: leave the array out, rename it, or do without " +
           option("stream")});
    if (survey_.arrays.contains(name) || other_arrays_.contains(name))
      return data_error(option("data") + " " + binding, fmt::format("'{}' is given twice", printable(name)));
    if (streamed) survey_.arrays[name];
    else other_arrays_.emplace(name, std::move(array));
  }
  if (!streamed) return std::nullopt;
  if (items_ > 0 && file.rows() != items_)
    return refused(fmt::format("{} has {} rows, and {} has {}: what is read in pieces has a row for every '{}'",
                               files_[0].path(), items_, file.path(), file.rows(), model_[plate_].name));
  items_ = file.rows();
  files_.push_back(file);
  return std::nullopt;
}

std::optional<Error> OutOfCoreData::open_bindings(const std::vector<std::string>& bindings) {
  for (const std::string& text : bindings) {
    Result<std::vector<RowBinding>> files = RowBinding::open(text);
    if (!files) return files.error();
    for (const RowBinding& r : *files)
      if (std::optional<Error> e = add_file(r, text)) return e;
    if (!files->empty()) continue;
    Result<Dataset> whole = read_binding(text);
    if (!whole) return whole.error();
    for (auto& [name, array] : *whole) {
      if (lies_on_items(name))
        return refused(
            fmt::format("{} cannot be read in pieces", array.source),
            {"LDA-C, CSV, TSV, NPY and NPZ can, if they are not compressed, and named arrays of numbers in HDF5"});
      if (!other_arrays_.emplace(name, std::move(array)).second)
        return data_error(option("data") + " " + text, fmt::format("'{}' is given twice", printable(name)));
    }
  }
  if (files_.empty())
    return refused(fmt::format("no data lie on '{}', whose elements would be read in pieces", model_[plate_].name));
  if (items_ == 0)
    return refused(fmt::format("{} has no elements of plate '{}'", files_[0].path(), model_[plate_].name),
                   {"without " + option("stream") + " data of no items are a batch like others"});
  return std::nullopt;
}

Result<Dataset> OutOfCoreData::arrays_of(std::span<const ItemRange> runs) const {
  std::vector<RowRange> rows;
  for (const ItemRange& run : runs)
    rows.push_back({run.begin, run.end});
  Dataset out;
  for (const RowBinding& file : files_) {
    Result<Dataset> part = file.read(rows, as_text_);
    if (!part) return part.error();
    out.merge(*part);
  }
  return out;
}

std::optional<Error> OutOfCoreData::complete(Dataset& arrays) const {
  const std::vector<std::string> none;
  for (auto& [name, array] : arrays) {
    const auto seen = survey_.arrays.find(name);
    if (seen != survey_.arrays.end()) array.largest = seen->second.largest;
    const auto found = levels_.find(name);
    const std::vector<std::string>& levels = found == levels_.end() ? none : found->second;
    if (!std::ranges::includes(levels, array.levels)) return changed(array.source);
    for (double& x : array.values) {
      if (std::isnan(x) || levels.empty()) continue;
      if (array.levels.empty()) return changed(array.source);
      const std::string& text = array.levels[static_cast<std::size_t>(x)];
      // A part numbers its own texts; the numbers become those of the texts of all items.
      x = static_cast<double>(std::ranges::lower_bound(levels, text) - levels.begin());
    }
    array.levels = levels;
  }
  for (const auto& [name, array] : other_arrays_)
    arrays.emplace(name, array);
  return std::nullopt;
}

bool OutOfCoreData::is_as_before(const BoundData& part) const {
  for (std::size_t k = 0; k < model_.plates.size(); ++k) {
    const PlateId set = model_.plates[k].set;
    if (!lies_on_plate(model_, {set}, plate_)) {
      if (part.sizes[k] != whole_.sizes[k]) return false;
      continue;
    }
    const std::vector<std::int64_t>& offsets = part.offsets[k];
    for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
      if (offsets[r + 1] - offsets[r] > survey_.longest[set.index()]) return false;
  }
  const auto misses_more = [&](const BoundArray& a, const BoundArray& whole) {
    return a.has_missing && !whole.has_missing;
  };
  for (std::size_t k = 0; k < model_.givens.size(); ++k)
    if (misses_more(part.givens[k], whole_.givens[k])) return false;
  for (std::size_t k = 0; k < model_.variables.size(); ++k)
    if (model_.variables[k].observed && misses_more(part.observed[k], whole_.observed[k])) return false;
  return std::ranges::find(part.clamped, true) == part.clamped.end();
}

Result<BoundData> OutOfCoreData::bind(Dataset arrays, const Settings& settings) const {
  return gaps_ == Gaps::predicted ? bind_with_missing(model_, arrays, settings)
                                  : lehr::bind(model_, std::move(arrays), settings);
}

Result<BoundData> OutOfCoreData::bind_part(Dataset arrays, std::int64_t first) const {
  if (std::optional<Error> e = complete(arrays)) return *e;
  Settings settings = settings_;
  settings.first = first;
  return bind(std::move(arrays), settings);
}

std::optional<Error> OutOfCoreData::mixed_text(const std::string& array, const std::string& where) const {
  const SurveyedArray& seen = survey_.arrays.at(array);
  if (!seen.has_numeric || seen.levels.empty()) return std::nullopt;
  return data_error(where,
                    fmt::format("there are numbers in it, and text ('{}', ...)", printable(*seen.levels.begin())));
}

bool OutOfCoreData::find_text() {
  bool found = false;
  for (const auto& [name, seen] : survey_.arrays) {
    if (!seen.has_numeric || seen.levels.empty() || !names_elements(name)) continue;
    as_text_.insert(name);
    found = true;
  }
  return found;
}

std::optional<Error> OutOfCoreData::note(const Dataset& arrays) {
  for (const auto& [name, array] : arrays) {
    SurveyedArray& seen = survey_.arrays[name];
    seen.levels.insert(array.levels.begin(), array.levels.end());
    const auto is_number = [](double x) { return !std::isnan(x); };
    if (array.levels.empty()) seen.has_numeric = seen.has_numeric || std::ranges::any_of(array.values, is_number);
    if (std::optional<Error> e = names_elements(name) ? std::nullopt : mixed_text(name, array.source)) return e;
    if (array.levels.empty())
      for (const double x : array.values)
        if (x > seen.largest) seen.largest = x;
  }
  return std::nullopt;
}

std::optional<Error> OutOfCoreData::check(const BoundData& part) {
  if (const auto k = std::ranges::find(part.clamped, true); k != part.clamped.end())
    return latent_here(model_.variables[static_cast<std::size_t>(k - part.clamped.begin())].name);
  const auto add = [&](CheckedArray& to, const BoundArray& a, const std::vector<PlateId>& axes,
                       const std::vector<PlateId>& event, bool real) {
    survey_.digest = digest_after(survey_.digest, a.values);
    to.has_missing = to.has_missing || a.has_missing;
    const std::size_t columns = real ? data_columns(model_, part, axes, event) : 1;
    if (to.moments.columns() != columns) to.moments = RunningMoments(columns);
    if (real) to.moments.add(a.values);
  };
  for (std::size_t k = 0; k < model_.givens.size(); ++k) {
    const Given& g = model_.givens[k];
    const bool real = (g.type == GivenType::real || g.type == GivenType::vector) && !g.constant;
    if (lies_on_plate(model_, g.axes, plate_)) add(survey_.givens[k], part.givens[k], g.axes, g.event, real);
  }
  for (std::size_t k = 0; k < model_.variables.size(); ++k) {
    const Variable& v = model_.variables[k];
    const bool real = v.support == math::Support::real || v.support == math::Support::vector;
    if (v.observed && lies_on_plate(model_, v.axes, plate_))
      add(survey_.observed[k], part.observed[k], v.axes, v.event, real);
  }
  note_d_connected(part);
  for (std::size_t k = 0; k < model_.plates.size(); ++k) {
    const std::vector<std::int64_t>& offsets = part.offsets[k];
    if (!model_.plates[k].parent || !lies_on_plate(model_, {PlateId(k)}, plate_)) continue;
    survey_.elements[k] += part.sizes[k];
    for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
      survey_.longest[k] = std::max(survey_.longest[k], offsets[r + 1] - offsets[r]);
  }
  return std::nullopt;
}

namespace {

/// Returns how many entries a mask has that find_barren makes for the variable.
std::size_t count_entries(const Model& m, const BoundData& data, VariableId v) {
  std::size_t out = 1;
  const std::vector<PlateId> entries = has_independent_entries(m, m[v]) ? m[v].event : std::vector<PlateId>();
  for (const std::int64_t extent : stored_shape(m, data, m[v].axes, entries))
    out *= static_cast<std::size_t>(extent);
  return out;
}

}  // namespace

bool OutOfCoreData::is_on_items(VariableId v) const {
  return !model_[v].axes.empty() && model_[model_[v].axes[0]].set == plate_;
}

/// Elements outside the items are examined until data depend on each of them. Elements named by text all occur in the
/// data. Variables with several axes count as d-connected, because their elements have other positions in parts with
/// smaller plates.
void OutOfCoreData::note_d_connected(const BoundData& part) {
  const bool text = std::ranges::any_of(survey_.arrays, [](const auto& a) { return !a.second.levels.empty(); });
  bool open = false;
  for (std::size_t k = 0; k < model_.variables.size(); ++k) {
    const Variable& v = model_.variables[k];
    CheckedArray& seen = survey_.observed[k];
    if (is_on_items(VariableId(k))) continue;
    seen.is_d_connected = seen.is_d_connected || v.axes.size() != 1 || text;
    if (seen.is_d_connected) continue;
    open = open || seen.d_connected.size() < count_entries(model_, part, VariableId(k)) ||
           std::ranges::find(seen.d_connected, 0.0) != seen.d_connected.end();
  }
  const Masks masks = find_barren(model_, part, open ? std::optional<PlateId>() : plate_);
  for (std::size_t k = 0; k < masks.size(); ++k) {
    CheckedArray& seen = survey_.observed[k];
    if (is_on_items(VariableId(k))) seen.has_barren = seen.has_barren || !masks[k].empty();
    else if (open && !seen.is_d_connected)
      seen.add_d_connected(masks[k].empty() ? std::vector<double>(count_entries(model_, part, VariableId(k)), 1.0)
                                            : masks[k]);
  }
}

Masks OutOfCoreData::barren_outside() const {
  Masks out(model_.variables.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const CheckedArray& seen = survey_.observed[k];
    if (seen.is_d_connected || seen.d_connected.empty() || is_on_items(VariableId(k))) continue;
    out[k] = seen.d_connected;
    out[k].resize(count_entries(model_, whole_, VariableId(k)), 0.0);
    if (std::ranges::find(out[k], 0.0) == out[k].end()) out[k].clear();
  }
  return out;
}

std::int64_t OutOfCoreData::row_in(const BoundData& part, PlateId nested, std::int64_t item) const {
  const PlateId above = model_[*model_[nested].parent].set;
  const std::int64_t at = above == plate_ ? item : row_in(part, above, item);
  return part.offsets[nested.index()][static_cast<std::size_t>(at)];
}

/// Must be called before check(), which adds the elements of the part to the counts.
void OutOfCoreData::note_item_offsets(const BoundData& part, ItemRange items) {
  for (std::size_t k = 0; k < model_.plates.size(); ++k) {
    const PlateId p(k);
    if (!model_[p].parent || model_[p].set != p || !lies_on_plate(model_, {p}, plate_)) continue;
    for (std::int64_t i = (items.begin + survey_.stride - 1) / survey_.stride * survey_.stride; i < items.end;
         i += survey_.stride)
      survey_.item_offsets[k].push_back(survey_.elements[k] + row_in(part, p, i - items.begin));
  }
  survey_.thin();
}

std::int64_t OutOfCoreData::row(PlateId nested, std::int64_t item) const {
  if (item == items_) return survey_.elements[nested.index()];
  // Starts from the last indexed item, and reads the items from there.
  const std::int64_t begin = item / survey_.stride * survey_.stride,
                     before = survey_.item_offsets[nested.index()][static_cast<std::size_t>(item / survey_.stride)];
  if (item == begin) return before;
  if (!row_cache_ || row_cache_->first != begin) {
    const ItemRange run{begin, std::min(items_, begin + survey_.stride)};
    row_cache_.emplace(begin, read({&run, 1}));
  }
  return before + row_in(row_cache_->second, nested, item - begin);
}

bool OutOfCoreData::names_elements(const std::string& array) const {
  const auto is_it = [&](const auto& x) { return x.name == array; };
  const auto given = std::ranges::find_if(model_.givens, is_it);
  const auto variable = std::ranges::find_if(model_.variables, is_it);
  return std::ranges::any_of(model_.plates, is_it) ||
         (given != model_.givens.end() && given->type == GivenType::category) ||
         (variable != model_.variables.end() && variable->support == math::Support::category);
}

std::optional<Error> OutOfCoreData::survey(ItemRange items) {
  std::int64_t most = thresholds_of_environment()[kFirstItems];
  survey_.begin = items.begin;
  const DataSurvey empty = survey_;
  for (std::int64_t begin = items.begin; begin < items.end;) {
    const ItemRange run{begin, std::min(items.end, begin + most)};
    Result<Dataset> arrays = arrays_of({&run, 1});
    if (!arrays) return arrays.error();
    if (std::optional<Error> e = note(*arrays)) return e;
    if (find_text()) {  // what was read as numbers is text
      survey_ = empty;
      return survey(items);
    }
    for (const auto& [name, array] : *arrays)
      survey_.value_count += static_cast<double>(array.values.size() + array.multiplicity.size());
    Settings settings = settings_;
    for (const auto& [name, array] : other_arrays_)
      arrays->emplace(name, array);
    settings.first = begin;
    Result<BoundData> part = bind(std::move(*arrays), settings);
    if (!part) return part.error();
    note_item_offsets(*part, run);
    if (std::optional<Error> e = check(*part)) return e;
    begin = run.end;
    // The next part has about kValuesPerPart numbers.
    const double an_item = std::max(1.0, survey_.value_count / static_cast<double>(begin - items.begin));
    most = std::clamp<std::int64_t>(static_cast<std::int64_t>(thresholds_of_environment()[kValuesPerPart] / an_item), 1,
                                    thresholds_of_environment()[kMaxItems]);
  }
  return std::nullopt;
}

std::optional<Error> OutOfCoreData::survey_with(Group* group) {
  const auto rank = static_cast<std::int64_t>(group ? group->rank() : 0),
             size = static_cast<std::int64_t>(group ? group->size() : 1);
  const DataSurvey empty = survey_;
  if (std::optional<Error> e = survey({items_ * rank / size, items_ * (rank + 1) / size})) return e;
  if (group) {
    // All processes exchange their surveys, and each merges them in the same order.
    std::string own;
    Writer{own}(items_, survey_);
    const std::vector<std::string> all = texts_of(*group, own);
    for (std::size_t k = 0; k < all.size(); ++k) {
      Reader from(all[k]);
      if (from.take<std::int64_t>() != items_)
        return refused(fmt::format("process {} has another number of '{}'", k, model_[plate_].name));
      DataSurvey part = from.take<DataSurvey>();
      if (k == 0) survey_ = std::move(part);
      else survey_.add(part);
    }
  }
  // Other processes have text where this one has numbers.
  if (find_text()) {
    survey_ = empty;
    return survey_with(group);
  }
  values_per_item_ = survey_.value_count / static_cast<double>(items_);
  for (const auto& [name, seen] : survey_.arrays) {
    if (std::optional<Error> e = mixed_text(name, option("data"))) return e;
    if (seen.levels.empty()) continue;
    levels_[name].assign(seen.levels.begin(), seen.levels.end());
    as_text_.insert(name);
  }
  return far_column();
}

std::optional<Error> OutOfCoreData::far_column() const {
  const auto far = [&](const std::string& name, const RunningMoments& found) -> std::optional<Error> {
    const ColumnMoments m = found.moments();
    for (std::size_t k = 0; k < m.mean.size(); ++k) {
      if (!(std::abs(m.mean[k]) > kIllScaledRatio * m.sd[k]) || !(m.sd[k] > 0)) continue;
      const std::string column = m.mean.size() == 1 ? name : fmt::format("{}[{}]", name, k);
      return refused(describe({column, m.mean[k], m.sd[k]}), {"only data in memory are centred"});
    }
    return std::nullopt;
  };
  for (std::size_t k = 0; k < model_.givens.size(); ++k)
    if (auto e = far(model_.givens[k].name, survey_.givens[k].moments)) return e;
  for (std::size_t k = 0; k < model_.variables.size(); ++k)
    if (auto e = far(model_.variables[k].name, survey_.observed[k].moments)) return e;
  return std::nullopt;
}

std::optional<Error> OutOfCoreData::make_whole() {
  const ItemRange first{0, std::min<std::int64_t>(items_, thresholds_of_environment()[kFirstItems])};
  Result<Dataset> arrays = arrays_of({&first, 1});
  if (!arrays) return arrays.error();
  Result<BoundData> part = bind_part(std::move(*arrays), 0);
  if (!part) return part.error();
  whole_ = std::move(*part);
  for (std::size_t k = 0; k < model_.plates.size(); ++k) {
    const PlateId set = model_.plates[k].set;
    // Sizes are those of all items; arrays on the items are emptied.
    if (set == plate_) whole_.sizes[k] = items_;
    else if (lies_on_plate(model_, {set}, plate_)) whole_.sizes[k] = survey_.elements[set.index()];
    if (!whole_.offsets[k].empty() && lies_on_plate(model_, {set}, plate_))
      whole_.offsets[k] = {0, survey_.longest[set.index()]};
  }
  for (const ArrayOfModel& a : arrays_of_model(model_)) {
    if (!lies_on_plate(model_, a.axes, plate_)) continue;
    if (a.given) whole_.givens[a.given->index()] = {{}, survey_.givens[a.given->index()].has_missing};
    else whole_.observed[a.variable->index()] = {{}, survey_.observed[a.variable->index()].has_missing};
  }
  whole_.external_digest = survey_.digest;
  return std::nullopt;
}

Result<std::shared_ptr<const OutOfCoreData>> OutOfCoreData::open(const Analysed& analysed,
                                                                 const std::vector<std::string>& bindings,
                                                                 const Settings& settings, Group* group,
                                                                 const Dataset& other_arrays, Gaps gaps) {
  const Model& m = analysed.model;
  const std::optional<PlateId> plate = gaps == Gaps::predicted ? plate_of_items(analysed) : plate_of_stage(analysed);
  if (!plate) return refused("the model has no variables of single items: there is nothing to be read in pieces");
  const std::string& name = m[*plate].name;
  for (const Expr& e : m.exprs)
    if (const auto* size = std::get_if<SizeOf>(&e.node); size && m[size->plate].set == *plate)
      return refused(fmt::format("size({}) is in the way: items are read as if there were no others", name));
  std::shared_ptr<OutOfCoreData> out(new OutOfCoreData(m));
  out->plate_ = *plate;
  out->gaps_ = gaps;
  out->settings_ = settings;
  out->settings_.subset_plate = plate;
  out->settings_.sizes.erase(name);
  out->settings_.labels.erase(name);
  out->survey_.givens.resize(m.givens.size());
  out->survey_.observed.resize(m.variables.size());
  out->survey_.elements.resize(m.plates.size());
  out->survey_.longest.resize(m.plates.size());
  out->survey_.item_offsets.resize(m.plates.size());
  if (std::optional<Error> e = out->open_bindings(bindings)) return *e;
  out->other_arrays_.insert(other_arrays.begin(), other_arrays.end());
  if (const auto given = settings.sizes.find(name); given != settings.sizes.end() && given->second != out->items_)
    return refused(fmt::format("plate '{}' has {} elements in {}, but {} in {}", name, out->items_,
                               out->files_[0].path(), given->second, option("sizes")));
  if (std::optional<Error> e = out->survey_with(group)) return *e;
  if (std::optional<Error> e = out->make_whole()) return *e;
  return std::shared_ptr<const OutOfCoreData>(std::move(out));
}

Masks OutOfCoreData::barren(const BoundData& part) const {
  Masks out = find_barren(model_, part, plate_);
  Masks outside = barren_outside();
  for (std::size_t k = 0; k < out.size(); ++k)
    if (!outside[k].empty()) out[k] = std::move(outside[k]);
  return out;
}

std::vector<VariableId> OutOfCoreData::with_barren_items() const {
  std::vector<VariableId> out;
  for (std::size_t k = 0; k < survey_.observed.size(); ++k)
    if (survey_.observed[k].has_barren) out.push_back(VariableId(k));
  return out;
}

BoundData OutOfCoreData::read(std::span<const ItemRange> runs) const {
  Result<Dataset> arrays = arrays_of(runs);
  if (!arrays) throw DataChanged(arrays.error());
  Result<BoundData> part = bind_part(std::move(*arrays), runs[0].begin);
  // The data were valid when they were surveyed, so an error means that they have changed.
  if (!part) {
    Error now = changed(part.error().where);
    if (part.error().text != now.text) now.notes.push_back("now: " + part.error().text);
    throw DataChanged(std::move(now));
  }
  if (!is_as_before(*part)) throw DataChanged(changed(files_[0].path()));
  return std::move(*part);
}

Result<std::pair<Dataset, Settings>> OutOfCoreData::part(ItemRange items) const {
  Result<Dataset> arrays = arrays_of({&items, 1});
  if (!arrays) return arrays.error();
  if (std::optional<Error> e = complete(*arrays)) return *e;
  Settings settings = settings_;
  settings.first = items.begin;
  return std::pair(std::move(*arrays), std::move(settings));
}

}  // namespace lehr
