// Infers the local variables of items. An item is recognised by the checksum of its data. If the fit stored the
// solution of an item with the same checksum, that is the item's only start; all others are searched from several
// starts.
#include "compiler/fit/item_solution.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "compiler/evaluate/packed.h"
#include "compiler/fit/item_independence.h"
#include "compiler/fit/item_visits.h"
#include "runtime/output/fit_files.h"

namespace lehr {
namespace {

using namespace model;

/// Names of the arrays in items.npz. `items.digest` has the checksums.
constexpr const char* kDigests = "items.digest";
/// 1 if the local factors are in items.npz or posterior.npz, 0 if they follow from the priors.
constexpr const char* kFactors = "items.factors";
/// The prefix of arrays with row offsets; the name of the nested plate follows.
constexpr const char* kRowOffsets = "rows.";

/// Mixes a word into a hash.
std::uint64_t mixed(std::uint64_t h, std::uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15ULL;
  return h ^ (h >> 29);
}

/// Mixes numbers into a hash. All NaN are equal, and so are 0 and -0.
std::uint64_t mixed(std::uint64_t h, std::span<const double> values) {
  h = mixed(h, values.size());
  for (const double x : values)
    h = mixed(h, std::isnan(x) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(x + 0.0));
  return h;
}

/// Where the data of an item are in arrays over the items' plate, or over plates nested in it.
class ItemSlices {
 public:
  using Offsets = std::function<const std::vector<std::int64_t>*(PlateId)>;
  ItemSlices(const Model& m, PlateId items, Offsets offsets)
      : m_(m), items_(m[items].set), offsets_(std::move(offsets)) {}

  /// Returns the position on a plate at which the item's elements begin; nullopt for plates outside the items.
  std::optional<std::int64_t> row(PlateId plate, std::int64_t item) const {
    const PlateId set = m_[plate].set;
    if (set == items_) return item;
    if (!m_[set].parent) return std::nullopt;
    const std::optional<std::int64_t> parent = row(*m_[set].parent, item);
    const std::vector<std::int64_t>* offsets = parent ? offsets_(set) : nullptr;
    if (!offsets || *parent < 0 || *parent >= std::ssize(*offsets)) return std::nullopt;
    return (*offsets)[static_cast<std::size_t>(*parent)];
  }

  /// Returns the numbers of an item in an array over these axes, whose first axis has `rows` positions; nullopt unless
  /// that axis is the items' plate or nested in it.
  template <class Values>
  std::optional<std::span<Values>> of(const std::vector<PlateId>& axes, std::span<Values> all, std::int64_t extent,
                                      std::int64_t item) const {
    if (axes.empty() || extent <= 0) return std::nullopt;
    const auto begin = row(axes[0], item), end = row(axes[0], item + 1);
    if (!begin || !end || *begin < 0 || *begin > *end || *end > extent ||
        all.size() % static_cast<std::size_t>(extent) != 0)
      return std::nullopt;
    const std::size_t width = all.size() / static_cast<std::size_t>(extent);
    return all.subspan(static_cast<std::size_t>(*begin) * width, static_cast<std::size_t>(*end - *begin) * width);
  }

 private:
  const Model& m_;
  PlateId items_;
  Offsets offsets_;
};

/// Returns the rows of these data.
ItemSlices slices_in(const Model& m, PlateId items, const BoundData& data) {
  return {m, items, [&data](PlateId p) {
            const auto& offsets = data.offsets[p.index()];
            return offsets.empty() ? nullptr : &offsets;
          }};
}

/// Returns the plates nested in the items, at any depth.
std::vector<PlateId> nested_plates(const Model& m, PlateId items) {
  std::vector<PlateId> out;
  for (std::size_t k = 0; k < m.plates.size(); ++k)
    if (m.plates[k].set == PlateId(k) && m.plates[k].parent && lies_on_plate(m, {PlateId(k)}, items))
      out.emplace_back(k);
  return out;
}

/// Returns true if the variable has a factor for each item.
bool has_factor_per_item(const Analysed& a, VariableId v) {
  const conditionals::BlockId b = a.schedule.conditionals.block_of[v.index()];
  return b.valid() && (a.schedule.stage_of[b.index()] || a.schedule.local[b.index()]);
}

/// Returns the local variable that an array is a parameter of, or null.
const Variable* local_of(const Analysed& a, const NamedArray& array) {
  const std::string name = array.name.substr(0, array.name.rfind('.'));
  for (std::size_t k = 0; k < a.model.variables.size(); ++k)
    if (a.model.variables[k].name == name)
      return has_factor_per_item(a, VariableId(k)) ? &a.model.variables[k] : nullptr;
  return nullptr;
}

/// The items of these data that the fit was made from, and their stored factors.
class RecognisedItems {
 public:
  RecognisedItems(const Analysed& analysed, const BoundData& data, const SavedFit& fit, const ItemInference& options)
      : a_(analysed), data_(data), fit_(fit), o_(options) {
    const std::optional<PlateId> items = plate_of_stage(analysed);
    const NamedArray* digests = find_array(fit.items, kDigests);
    if (!items || !digests || options.digests.empty()) return;
    items_ = *items;
    match(digests->values);
  }

  /// Returns by item the number of the matching item of the fit, or -1.
  const std::vector<std::int64_t>& matches() const { return matches_; }
  /// Returns true if the fit was made from some item of the data.
  bool any() const {
    return std::ranges::any_of(matches_, [](std::int64_t k) { return k >= 0; });
  }
  /// Returns true if the items are exactly those of the fit, in the same order.
  bool all_of_fit() const { return all_; }

  /// Copies stored factors of matching items into these arrays, and returns the arrays that changed.
  std::vector<NamedArray> put_into(std::vector<NamedArray> arrays) const {
    std::vector<NamedArray> out;
    const ItemSlices in_data = slices_in(a_.model, items_, data_);
    const ItemSlices in_fit{a_.model, items_, [this](PlateId p) { return offsets_of_fit(p); }};
    const NamedArray* stored = find_array(fit_.items, kFactors);
    for (NamedArray& a : arrays) {
      const Variable* v = local_of(a_, a);
      if (!v || !stored || stored->values.empty() || stored->values[0] == 0) continue;
      const NamedArray* saved = find_array(fit_.items, a.name);
      if (!saved) saved = find_array(fit_.posterior, a.name);
      if (!saved) continue;
      if (all_ && saved->values.size() == a.values.size()) a.values = saved->values;
      else if (all_ || !copy_slices(*v, in_data, in_fit, *saved, a)) continue;
      out.push_back(std::move(a));
    }
    return out;
  }

 private:
  /// Looks up each item in the fit.
  void match(const std::vector<double>& of_fit) {
    // If several items of the fit have the same data, an item matches the one with its own number, else the first. This
    // does not depend on the other items here, so data in parts give the same result.
    std::map<double, std::int64_t> first_with;
    for (std::size_t k = 0; k < of_fit.size(); ++k)
      first_with.emplace(of_fit[k], static_cast<std::int64_t>(k));
    for (std::size_t k = 0; k < o_.digests.size(); ++k) {
      const std::int64_t same = o_.first + static_cast<std::int64_t>(k);
      const double digest = o_.digests[k];
      const auto it = first_with.find(digest);
      if (same < std::ssize(of_fit) && of_fit[static_cast<std::size_t>(same)] == digest) matches_.push_back(same);
      else matches_.push_back(it == first_with.end() ? -1 : it->second);
    }
    all_ = o_.digests == of_fit;
    // Items of several stages are inferred together. They match only as a whole.
    if (!only_stage(a_.schedule) && !all_) std::ranges::fill(matches_, -1);
  }

  /// Returns the row offsets that the fit stored for a nested plate, or null.
  const std::vector<std::int64_t>* offsets_of_fit(PlateId p) const {
    const std::string name = kRowOffsets + a_.model[p].name;
    auto it = offsets_.find(name);
    if (it == offsets_.end()) {
      const NamedArray* a = find_array(fit_.items, name);
      if (!a) return nullptr;
      std::vector<std::int64_t> offsets;
      for (const double x : a->values) {
        // A damaged file may have any number here.
        const bool is_offset = x >= 0 && x < 0x1p53;
        offsets.push_back(is_offset ? static_cast<std::int64_t>(x) : -1);
      }
      it = offsets_.emplace(name, std::move(offsets)).first;
    }
    return &it->second;
  }

  /// Copies the stored rows of matching items. Returns false if their sizes do not agree.
  bool copy_slices(const Variable& v, const ItemSlices& in_data, const ItemSlices& in_fit, const NamedArray& from,
                   NamedArray& to) const {
    const std::vector<PlateId> axes = stored_axes(a_.model, v.axes, v.event);
    if (from.shape.empty() || to.shape.empty()) return false;
    for (std::size_t k = 0; k < matches_.size(); ++k) {
      if (matches_[k] < 0) continue;
      const auto own = in_data.of(axes, std::span(to.values), to.shape[0], static_cast<std::int64_t>(k));
      const auto saved = in_fit.of(axes, std::span(from.values), from.shape[0], matches_[k]);
      if (!own || !saved || own->size() != saved->size()) return false;
      std::ranges::copy(*saved, own->begin());
    }
    return true;
  }

  const Analysed& a_;
  const BoundData& data_;
  const SavedFit& fit_;
  const ItemInference& o_;
  PlateId items_;
  std::vector<std::int64_t> matches_;
  bool all_ = false;
  mutable std::map<std::string, std::vector<std::int64_t>> offsets_;
};

}  // namespace

std::vector<double> item_digests(const Analysed& analysed, const Model& m, const BoundData& data) {
  const std::optional<PlateId> items = plate_of_stage(analysed);
  if (!items) return {};
  const std::int64_t n = data.sizes[m[*items].set.index()];
  if (n <= 0) return {};
  const ItemSlices slices = slices_in(m, *items, data);
  std::vector<std::uint64_t> out(static_cast<std::size_t>(n), 1);
  const auto add = [&](const std::vector<PlateId>& all_axes, const std::vector<double>& values) {
    if (values.empty() || !lies_on_plate(m, all_axes, *items)) return;
    const std::vector<PlateId> axes = stored_axes(m, all_axes, {});
    const auto first = axes.empty() ? std::nullopt : slices.row(axes[0], n);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto own = first ? slices.of(axes, std::span(values), *first, i) : std::nullopt;
      std::uint64_t& h = out[static_cast<std::size_t>(i)];
      h = mixed(h, own ? *own : std::span(values));
    }
  };
  for (std::size_t k = 0; k < m.variables.size() && k < data.observed.size(); ++k)
    if (has_data(m.variables[k]) || !data.observed[k].values.empty()) add(m.variables[k].axes, data.observed[k].values);
  for (std::size_t k = 0; k < m.givens.size() && k < data.givens.size(); ++k)
    add(m.givens[k].axes, data.givens[k].values);
  std::vector<double> digests;
  for (const std::uint64_t h : out)
    // A double holds 53 bits exactly.
    digests.push_back(static_cast<double>(h >> 11));  // 53 bits
  return digests;
}

std::vector<NamedArray> items_to_save(const Analysed& analysed, const BoundData& data,
                                      const std::vector<double>& digests, const Instance& instance,
                                      const std::vector<NamedArray>& posterior) {
  if (digests.empty() || has_unique_items(analysed.schedule)) return {};
  const Engine& engine = instance.engine();
  std::vector<NamedArray> out;
  std::size_t count = 0;
  for (const machine::ParameterRow& row : machine::parameters_of(engine.model())) {
    const bool here = row.local && !row.streamed && !engine.is_partial(row.buffer);
    if (here && !find_array(posterior, instance.name_of(row.buffer))) count += engine.reals(row.buffer).size();
  }
  if (count > kMaxSavedValues) return {};
  if (count > 0) {
    for (NamedArray& a : instance.posterior(true))
      if (local_of(analysed, a) && !find_array(posterior, a.name)) out.push_back(std::move(a));
  }
  const auto is_of_items = [&](const NamedArray& a) { return local_of(analysed, a) != nullptr; };
  const bool stored = !out.empty() || std::ranges::any_of(posterior, is_of_items);
  out.push_back({kDigests, {std::ssize(digests)}, digests});
  out.push_back({kFactors, {1}, {stored ? 1.0 : 0.0}});
  for (const PlateId p : nested_plates(analysed.model, *plate_of_stage(analysed))) {
    const std::vector<std::int64_t>& offsets = data.offsets[p.index()];
    if (!offsets.empty())
      out.push_back({kRowOffsets + analysed.model[p].name, {std::ssize(offsets)}, {offsets.begin(), offsets.end()}});
  }
  return out;
}

Result<ItemSolution> solve_items(Instance& instance, const Analysed& analysed, const BoundData& data,
                                 const SavedFit& fit, const ItemInference& options) {
  const RecognisedItems recognised(analysed, data, fit, options);
  ItemStarts starts;
  starts.starts = options.starts;
  starts.seed = options.seed;
  starts.first = options.first;
  starts.converges_in_one_visit = converges_in_one_visit(analysed.schedule);
  starts.unique = has_unique_items(analysed.schedule);
  starts.accuracy = {options.local.local_iterations, options.local.local_tolerance};
  starts.scope = options.scope;
  starts.on_start = options.on_start;
  if (recognised.any()) {
    for (const std::int64_t k : recognised.matches())
      starts.given.push_back(k >= 0);
    const std::vector<NamedArray> arrays = recognised.put_into(instance.posterior(true));
    if (Result<bool> r = arrays.empty() ? true : instance.set(arrays, kItemsFile); !r) return r.error();
  }
  Engine& engine = instance.engine();
  ItemSolution out;
  std::int32_t status = infer_from_starts(engine, starts, out);
  out.unique = starts.unique;
  Elbo elbo;
  if (status == 0) status = engine.elbo(elbo);
  if (status != 0) return Error{ExitCode::numerical, "", engine.describe(status), {}};
  if (!std::isfinite(elbo.value)) return Error{ExitCode::numerical, "", "the ELBO of the items is not finite", {}};
  out.elbo = elbo.value;
  return out;
}

std::string description(const ItemSolution& s) {
  if (s.unique || s.items == 0) return "";
  if (s.given == s.items) return "items as the fit found them";
  std::string out = s.starts > 1 ? fmt::format("items by the best of up to {} starts", s.starts)
                                 : std::string("items from one start");
  if (s.differing > 0 && !s.together)
    out += fmt::format(" ({} of {} have starts that end up to {:.3g} nats lower)", s.differing, s.items - s.given,
                       s.largest);
  if (s.differing > 0 && s.together) out += fmt::format(" (others end up to {:.3g} nats lower)", s.largest);
  if (s.given > 0) out += fmt::format("; {} of {} as the fit found them", s.given, s.items);
  return out;
}

nlohmann::json to_json(const ItemSolution& s) {
  return {{"items", s.items},
          {"as_the_fit_found_them", s.given},
          {"starts", s.unique ? 1 : s.starts},
          {"with_lower_starts", s.differing},
          {"largest_difference", s.largest}};
}

ItemSolution combined(const ItemSolution& a, const ItemSolution& b) {
  ItemSolution out = a;
  out.items += b.items;
  out.given += b.given;
  out.starts = std::max(a.starts, b.starts);
  out.differing += b.differing;
  out.largest = std::max(a.largest, b.largest);
  out.together = a.together || b.together;
  out.unique = a.unique && b.unique;
  out.elbo += b.elbo;
  return out;
}

}  // namespace lehr
