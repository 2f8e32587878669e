// Makes the Embedding of a lowered model: names for C, descriptions of arrays and sizes, and the image of the tables.
//
// Names of the model are chosen before names that are derived from them (`x_longest`, `w_offsets`), so that they stay
// unchanged if both would be equal.
#include "compiler/embedding/embedding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/embedding/c_names.h"
#include "compiler/machine/identity.h"
#include "compiler/model/expectations.h"
#include "compiler/model/roles.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using machine::Domain;
using machine::SizeRule;

/// Copies a table of rows into 64-bit words.
template <class Row>
native::Image::Words words(const std::vector<Row>& rows) {
  static_assert(sizeof(Row) % 8 == 0);
  native::Image::Words out(rows.size() * sizeof(Row) / 8);
  if (!rows.empty()) std::memcpy(out.data(), rows.data(), out.size() * 8);
  return out;
}

/// Describes the allowed values of a data array, for the header.
std::string meaning_of(const machine::ArrayRow& row, const std::string& plate) {
  switch (row.domain) {
    case Domain::real:
      return "finite numbers";
    case Domain::positive:
      return "positive numbers";
    case Domain::unit:
      return "numbers between 0 and 1";
    case Domain::count:
      return "counts 0, 1, 2, ...";
    case Domain::bit:
      return "0 or 1";
    case Domain::spin:
      return "-1 or +1";
    case Domain::category:
      return row.offsets < 0 ? fmt::format("elements of {}: 0, 1, ... below its size", plate)
                             : fmt::format("elements of {}: 0, 1, ... within their row", plate);
    case Domain::simplex:
      return "rows of at least 0 that sum to 1";
    case Domain::open_simplex:
      return "rows above 0 that sum to 1";
    case Domain::symmetric:
    case Domain::positive_definite:
      return "symmetric positive definite matrices";
    case Domain::offsets:
      return "";
  }
  return "";
}

/// Builds one Embedding.
class EmbeddingBuilder {
 public:
  EmbeddingBuilder(const model::Model& m, const schedule::Schedule& s, const BoundData& data, const loops::Lowered& l,
                   native::Image::Strings origin, const std::optional<Priors>& priors)
      : m_(m),
        s_(s),
        data_(data),
        l_(l),
        priors_(priors),
        t_(tables_of(m, s, l, l.size_values)),
        origin_(std::move(origin)) {
    if (priors) move_priors_to_state(*priors, l, t_);
  }

  /// Fills in and returns the Embedding.
  Embedding run() {
    e_.name = ascii_identifier(m_.name);
    e_.cpp_namespace = NameScope(c_library()).add(m_.name);
    const std::string macros = upper_case(e_.name);
    members_ = {e_.name + "_sizes", e_.name + "_data", macros + "_ABI", macros + "_LEHR_H"};
    e_.abi = identity(t_, data_.constants, l_.program, m_);
    e_.elbo_notes = density::elbo_notes(m_, s_.conditionals.density);
    write_sizes();
    write_arrays();
    write_parameters();
    e_.draws = l_.interface.random_key.valid();
    if (t_.model.batch_slot >= 0 && !e_.draws) {
      const model::PlateId items = t_.size_plates[static_cast<std::size_t>(t_.model.batch_slot)];
      e_.minibatches = !look_back(items) && std::ranges::none_of(m_.variables, model::has_expectation);
      if (e_.minibatches) e_.batch = m_[items].name;
    }
    e_.item_temperatures = l_.interface.item_energies.has_value();
    e_.updates = priors_.has_value();
    write_image();
    return std::move(e_);
  }

 private:
  /// Returns the name of a plate.
  const std::string& plate(model::PlateId p) const { return m_[m_[p].set].name; }

  /// Returns true if an observation of an item depends on earlier items. A minibatch of other items lacks those.
  bool look_back(model::PlateId items) const {
    return std::ranges::any_of(m_.statements, [&](const model::Statement& s) {
      return s.lagged && m_[m_[*s.lagged].plate].set == m_[items].set;
    });
  }

  /// Formats axes as extents, such as "[doc][topic]". A nested plate stands for all rows end to end.
  std::string shape(const std::vector<model::PlateId>& axes) const {
    std::string out;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const bool packed = k + 1 < axes.size() && m_[m_[axes[k + 1]].set].parent;
      if (!packed) out += fmt::format("[{}]", plate(axes[k]));
    }
    return out;
  }

  /// Concatenates two lists of plates.
  static std::vector<model::PlateId> joined(std::vector<model::PlateId> a, const std::vector<model::PlateId>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  /// Writes the members for sizes, and macros for sizes that are constants of the code.
  void write_sizes() {
    NameScope macros({upper_case(e_.name) + "_ABI"});
    for (std::size_t k = 0; k < m_.plates.size(); ++k) {
      const loops::Size& size = l_.program[l_.plate_sizes[k]];
      const std::string& name = m_.plates[k].name;
      const bool plain = std::all_of(name.begin(), name.end(), [](char c) { return c != '(' && c != ')'; });
      if (size.constant < 0 || !plain) continue;
      e_.constants.emplace_back(macros.add(upper_case(e_.name) + "_SIZE_" + name), size.constant);
      members_.insert(e_.constants.back().first);
    }
    // Names of the model come first; derived names avoid them.
    NameScope sizes(members_);
    std::vector<std::string> names(t_.sizes.size());
    for (const bool made : {false, true}) {
      for (std::size_t k = 0; k < t_.sizes.size(); ++k) {
        const SizeRule rule = t_.sizes[k].rule;
        if (rule == SizeRule::one_more || made != (rule == SizeRule::longest)) continue;
        names[k] = sizes.add(m_[t_.size_plates[k]].name + (made ? "_longest" : ""));
      }
    }
    NameScope data(members_);
    for (std::size_t k = 0; k < t_.sizes.size(); ++k) {
      const std::string& name = m_[t_.size_plates[k]].name;
      const SizeRule rule = t_.sizes[k].rule;
      if (rule == SizeRule::one_more) continue;
      e_.sizes.push_back({names[k], "int64_t", "",
                          rule == SizeRule::longest ? fmt::format("most elements of {} in one row", name)
                          : rule == SizeRule::fixed ? fmt::format("elements of {}", name)
                          : rule == SizeRule::nested
                              ? fmt::format("most elements of {} in one data set, all rows together", name)
                              : fmt::format("most elements of {} in one data set", name)});
      if (rule == SizeRule::items)
        e_.data.push_back({data.add(name), "int64_t", "", fmt::format("elements of {} in this data set", name)});
    }
    std::set<std::string> declared;
    for (const model::Given& g : m_.givens)
      declared.insert(g.name);
    for (const model::Variable& v : m_.variables)
      declared.insert(v.name);
    array_fields_.resize(t_.array_names.size());
    for (const bool made : {false, true}) {
      for (std::size_t k = 0; k < array_fields_.size(); ++k) {
        const bool offsets = t_.arrays[k].domain == Domain::offsets;
        if (made == (offsets || !declared.contains(t_.array_names[k]))) array_fields_[k] = data.add(t_.array_names[k]);
      }
    }
  }

  /// Writes the members for data arrays: row offsets, inputs, observed variables.
  void write_arrays() {
    std::size_t at = 0;
    const auto add = [&](const std::string& shape, const std::string& plate) {
      const machine::ArrayRow& row = t_.arrays[at];
      std::string meaning = meaning_of(row, plate);
      const bool category = row.domain == Domain::category;
      if (row.may_be_missing) meaning += category ? "; -1 where missing" : "; NaN where missing";
      const bool integers = t_.buffers[static_cast<std::size_t>(row.buffer)].integers != 0;
      e_.data.push_back({array_fields_[at++], integers ? "const int64_t*" : "const double*", shape, meaning});
    };
    for (std::size_t k = 0; k < m_.plates.size(); ++k) {
      if (!l_.data.offsets[k].valid() || m_.plates[k].set != model::PlateId(k)) continue;
      const std::string parent = plate(*m_.plates[k].parent);
      add(fmt::format("[{} + 1]", parent), "");
      e_.data.back().meaning =
          fmt::format("row {0} of {1} is elements {2}[{0}] to {2}[{0} + 1] - 1; from 0, never falling", parent,
                      m_.plates[k].name, e_.data.back().name);
    }
    for (std::size_t k = 0; k < m_.givens.size(); ++k) {
      if (priors_ && priors_->has(model::GivenId(k))) continue;
      const model::Given& g = m_.givens[k];
      add(shape(joined(g.axes, g.event)), g.value_plate ? plate(*g.value_plate) : "");
      for (const model::Plate& p : m_.plates) {
        if (p.times == model::GivenId(k))
          e_.data.back().meaning += fmt::format("; how many copies each element of {} stands for", p.name);
      }
    }
    for (const model::Variable& v : m_.variables) {
      if (has_data(v)) add(shape(joined(v.axes, v.event)), v.value_plate ? plate(*v.value_plate) : "");
    }
  }

  /// Describes which coordinates of a joint variable's vector belong to which member.
  std::string numbered(const model::Variable& v) const {
    if (!model::is_joint(v) || v.event.empty()) return "";
    std::vector<std::string> members;
    for (const model::Member& x : v.auxiliary->members)
      if (m_[x.variable].support != math::Support::positive)
        members.push_back(m_[x.variable].name + shape(model::coordinate_plates(m_, x)));
    return fmt::format(", whose coordinates are {}", fmt::join(members, ", "));
  }

  /// Writes the names and titles of posterior parameters.
  void write_parameters() {
    NameScope names({"model", "step",         "entropy_step",   "svi_step",    "item_energies",
                     "infer", "set_accuracy", "elbo",           "data_energy", "score",
                     "save",  "load",         "make",           "check",       "State",
                     "Sizes", "Data",         "Error",          "accuracy",    "gibbs_step",
                     "draw",  "log_joint",    "step_in_ranges", "ranges",      "update"});
    for (const loops::ParameterSlot& slot : l_.interface.parameters) {
      const conditionals::Block& block = s_.conditionals[slot.block];
      std::string name = slot.name;
      if (model::is_joint(m_[slot.variable])) std::erase_if(name, [](char c) { return c == ' ' || c == ')'; });
      std::ranges::replace_if(
          name, [](char c) { return c == '.' || c == '(' || c == ','; }, '_');
      std::string title =
          fmt::format("`{}` of the {} factor of {}", slot.parameter, block.family->name, m_[slot.variable].name);
      if (block.drawn) title = fmt::format("the draw of {}", m_[slot.variable].name);
      if (block.point) title = fmt::format("the value of {}, a point", m_[slot.variable].name);
      title += numbered(m_[slot.variable]);
      if (slot.local) title += ", of the items of the last data set";
      e_.parameters.push_back({names.add(name), title, shape(slot.axes)});
    }
  }

  /// Writes the tables and the list of exported functions. The order of fields is that of machine::Model.
  void write_image() {
    machine::Model model = model_of(t_);
    model.hash = e_.abi;
    native::Image& image = e_.image;
    constexpr std::size_t kScalars = offsetof(machine::Model, sizes) / 8;
    static_assert(sizeof(machine::Model) == 8 * (kScalars + 30), "a member for every field below");
    native::Image::Words scalars(kScalars);
    std::memcpy(scalars.data(), &model, 8 * kScalars);
    image.model.assign(scalars.begin(), scalars.end());
    for (native::Image::Words& w :
         std::vector{words(t_.sizes), words(t_.axes), words(t_.buffers), words(t_.arrays), words(t_.steps),
                     words(t_.picks), words(t_.statistics), words(t_.parameters), words(t_.summed)})
      image.model.emplace_back(std::move(w));
    image.model.emplace_back(native::Image::Functions{});
    image.model.emplace_back(t_.failures);
    for (native::Image::Words& w : std::vector{words(t_.columns), words(t_.subjects), words(t_.component_arrays),
                                               words(t_.stick_sums), words(t_.allocations), words(t_.components)})
      image.model.emplace_back(std::move(w));
    image.model.emplace_back(t_.component_names);
    for (native::Image::Words& w :
         std::vector{words(t_.phases), words(t_.priors), words(t_.transformed), words(t_.rescaled), words(t_.forms),
                     words(t_.followers), words(t_.invariances), words(t_.shifts)})
      image.model.emplace_back(std::move(w));
    native::Image::Strings plates, parameters;
    for (const model::PlateId p : t_.size_plates)
      plates.push_back(m_[p].name);
    for (const loops::ParameterSlot& slot : l_.interface.parameters)
      parameters.push_back(slot.name);
    for (const native::Image::Strings& texts : {origin_, plates, t_.array_names, parameters})
      image.model.emplace_back(texts);

    const auto entry = [&](const std::string& name, const std::string& function,
                           std::optional<std::int64_t> argument = {}) {
      image.entries.push_back({e_.name + "_" + name, "lehr_" + function, argument});
    };
    for (const char* name : {"abi", "state_bytes", "init", "data_energy", "saved_bytes", "save", "load", "error"})
      entry(name, name);
    if (!e_.draws) entry("model", "model");
    if (e_.draws) {
      for (const char* name : {"gibbs_step", "draw_count", "draw"})
        entry(name, name);
      entry("log_joint", "elbo");
    } else {
      for (const char* name : {"set_accuracy", "step", "entropy_step", "step_begin", "step_next", "range_bytes",
                               "step_items", "step_add", "infer", "elbo", "score", "temper"})
        entry(name, name);
    }
    if (e_.minibatches) entry("svi_step", "svi_step");
    if (e_.item_temperatures) entry("item_energies", "item_energies");
    if (e_.updates) entry("update", "update");
    for (std::size_t k = 0; k < e_.parameters.size(); ++k) {
      entry("get_" + e_.parameters[k].name, "get", static_cast<std::int64_t>(k));
      entry("set_" + e_.parameters[k].name, "set", static_cast<std::int64_t>(k));
    }
  }

  const model::Model& m_;
  const schedule::Schedule& s_;
  const BoundData& data_;
  const loops::Lowered& l_;
  const std::optional<Priors>& priors_;
  Tables t_;
  native::Image::Strings origin_;
  Embedding e_;
  std::set<std::string> members_;  // identifiers that no member of a struct may have, since they are types or macros
  std::vector<std::string> array_fields_;  // member names of the data arrays, by array
};

/// Returns an error if the number of coordinates of a joint factor is not constant: it is compiled into the code.
std::optional<Error> unknown_coordinates(const model::Model& m, const BoundData& sizes) {
  for (const model::Variable& v : m.variables) {
    for (std::size_t k = 0; model::is_joint(v) && k < v.auxiliary->members.size(); ++k) {
      for (const model::PlateId p : model::coordinate_plates(m, v.auxiliary->members[k])) {
        const std::string& plate = m[p].name;
        if (model::is_item_plate(m, p) || m[p].parent)
          return Error{ExitCode::model,
                       "",
                       fmt::format("{} has a coordinate for each '{}', of which every data set has its own number",
                                   v.name, plate),
                       {"a built object takes data sets of any size: fit this model by `lehr fit`"}};
        if (sizes.sizes[p.index()] < 0)
          return Error{ExitCode::usage,
                       option("sizes"),
                       fmt::format("{} has a coordinate for each '{}', and its size is not known", v.name, plate),
                       {fmt::format("give it with {} {}=...", option("sizes"), plate)}};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Error> missing_build_values(const model::Model& m, const BoundData& sizes) {
  if (std::optional<Error> e = unknown_coordinates(m, sizes)) return e;
  for (std::size_t k = 0; k < m.constants.size(); ++k) {
    const model::Constant& c = m.constants[k];
    if (!std::isnan(sizes.constants[k])) continue;
    if (c.value) {
      for (model::ExprId id : model::nodes_under(m, {*c.value})) {
        const auto* of = std::get_if<model::SizeOf>(&m[id].node);
        if (!of || sizes.sizes[m[of->plate].set.index()] >= 0) continue;
        const std::string& plate = m[m[of->plate].set].name;
        return Error{ExitCode::usage,
                     option("sizes"),
                     fmt::format("constant '{}' depends on the size of plate '{}'", c.name, plate),
                     {fmt::format("give it with {} {}=...", option("sizes"), plate)}};
      }
      continue;  // the constant that has no value is reported by itself
    }
    return Error{ExitCode::usage,
                 option("set"),
                 fmt::format("constant '{}' has no value", c.name),
                 {fmt::format("give it with {} {}=...", option("set"), c.name)}};
  }
  return std::nullopt;
}

Embedding embed(const model::Model& m, const schedule::Schedule& s, const BoundData& sizes,
                const loops::Lowered& lowered, const Source& source, const Settings& settings,
                const std::optional<Priors>& priors) {
  const nlohmann::json given = {{"name", std::filesystem::path(source.name).filename().string()},
                                {"constants", settings.constants},
                                {"sizes", settings.sizes}};
  return EmbeddingBuilder(m, s, sizes, lowered, {source.text, given.dump()}, priors).run();
}

}  // namespace lehr
