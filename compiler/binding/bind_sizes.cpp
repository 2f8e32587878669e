// Decides the size of each plate from all claims about it, and reports claims that disagree. For a nested plate the
// result is the offsets of its rows.
//
// Claims come from `= K` in the model, --sizes, labels, shapes, and added plates (one element more than another). Only
// without any of these, the largest value of a category decides.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "compiler/binding/binder.h"
#include "compiler/binding/table_rows.h"
#include "compiler/model/roles.h"
#include "compiler/model/statement_text.h"
#include "compiler/model/walk.h"
#include "runtime/host.h"
#include "runtime/terminal/printable.h"

namespace lehr::model {
namespace {

/// Lists the first names of the data that no slot reads.
std::string names_not_read(const Binder& b) {
  constexpr std::size_t kShown = 12;
  std::vector<std::string> names;
  for (const auto& [name, array] : *b.data)
    if (!b.arrays.contains(name)) names.push_back(printable(name));
  if (names.size() > kShown) names.resize(kShown), names.push_back("...");
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Returns true if an expression mentions the constant with this name, also through other constants.
bool mentions_constant(const Binder& b, ExprId id, const std::string& name) {
  return std::ranges::any_of(nodes_under(b.model, {id}), [&](ExprId node) {
    const auto* ref = std::get_if<ConstantRef>(&b.model[node].node);
    if (!ref) return false;
    const Constant& c = b.model[ref->constant];
    return c.name == name || (c.value && mentions_constant(b, *c.value, name));
  });
}

/// Returns the value of `= K` in the declaration, which must be a whole number from 1 on. Reports another one.
std::optional<std::int64_t> declared_size(Binder& b, PlateId plate) {
  const Plate& p = b.model[plate];
  if (!p.size) return std::nullopt;
  const auto value = evaluate(b, *p.size);
  if (!value) return std::nullopt;
  const double whole = std::round(*value);
  if (!(std::abs(*value - whole) <= 1e-9 * std::max(1.0, std::abs(whole))) || whole < 1 || whole > kMostElements) {
    Error& e =
        problem_of_text(b, *p.size,
                        fmt::format("the size of plate '{}' is {:.6g}: it must be a whole number from 1{}", p.name,
                                    *value, whole > kMostElements ? fmt::format(" to {}", kMostElements) : ""));
    for (const auto& [name, set] : b.settings.constants)
      if (mentions_constant(b, *p.size, name)) e = {ExitCode::usage, option("set " + name), e.text, {}};
    return std::nullopt;
  }
  return static_cast<std::int64_t>(whole);
}

/// Adds a warning if few of the numbers up to the largest occur: they may be names (postcodes), for which text would
/// give fewer elements.
void warn_of_unused_values(Binder& b, PlateId plate, std::int64_t size) {
  constexpr std::int64_t kMany = 100, kPart = 10;
  const std::vector<bool>& seen = b.occurring[plate];
  const std::ptrdiff_t occur = std::ranges::count(seen, true);
  if (b.settings.subset_plate || size <= kMany || occur >= size / kPart) return;
  warn(b, fmt::format(
              "{0} of {1} values of '{2}' occur in {3}: elements are numbered from {4}, and nothing is known of the "
              "others; if the numbers are names, list them in a file, one a line, for {5} {2}=FILE, or write them as "
              "text (r{6} in place of {6}): a text column has an element for each of its words",
              occur, size, b.model[plate].name, b.largest_source[plate], b.model[plate].from, option("labels"),
              b.model[plate].from + size - 1));
}

/// Reports two claims about the size of a plate that differ.
void disagreement(Binder& b, PlateId plate, const Claim& first, const Claim& second) {
  Error& e = problem(b, ExitCode::data, second.source,
                     fmt::format("plate '{}' has {} elements in {}, but {} in {}", b.model[plate].name, first.size,
                                 first.source, second.size, second.source));
  if (b.model[plate].size) e.notes.push_back("a size that the model fixes can be changed by " + option("set"));
}

/// Returns the length that all rows of a nested plate have by --sizes or `= K`, or nothing.
std::optional<std::int64_t> fixed_row_length(Binder& b, PlateId plate) {
  for (const auto& [name, size] : b.settings.sizes) {
    if (b.model[plate].name == name) return size;
  }
  return declared_size(b, plate);
}

/// Returns the offsets of a nested plate: from claims, from the elements that data refer to, or from a fixed length of
/// rows. Reports claims that disagree.
std::optional<std::vector<std::int64_t>> compute_row_offsets(Binder& b, PlateId plate) {
  const auto rows = size_of(b, *b.model[plate].parent);
  const auto& claims = b.offset_claims[plate];
  const auto length = fixed_row_length(b, plate);
  if (claims.empty()) {
    if (!rows) return std::nullopt;
    if (const auto named = b.referenced_rows.find(plate); named != b.referenced_rows.end() && !length) {
      named->second.resize(static_cast<std::size_t>(*rows), 0);
      return offsets_of(named->second);
    }
    if (!length) return std::nullopt;
    const double elements = static_cast<double>(*rows) * static_cast<double>(*length);
    const double needed = 8 * static_cast<double>(*rows), available = static_cast<double>(available_memory());
    if (elements > kMostElements || needed > available) {
      problem(
          b, ExitCode::data, option("sizes"),
          fmt::format("{} rows of {} elements of plate '{}' are more than {}", *rows, *length, b.model[plate].name,
                      needed > available ? "fit into " + format_bytes(available) : fmt::format("{}", kMostElements)));
      return std::vector<std::int64_t>{0, 1};
    }
    std::vector<std::int64_t> out = {0};
    for (std::int64_t i = 0; i < *rows; ++i)
      out.push_back(out.back() + *length);
    return out;
  }
  const OffsetsClaim& first = claims.front();
  const auto row_count = static_cast<std::int64_t>(first.offsets.size()) - 1;
  const std::string& name = b.model[plate].name;
  if (rows && *rows != row_count) {
    Error& e = problem(b, ExitCode::data, first.source,
                       fmt::format("'{}' has {} rows here, but plate '{}' has {} elements", name, row_count,
                                   b.model[*b.model[plate].parent].name, *rows));
    if (first.of_fit)
      e.notes.push_back("rows of nested plates that a fit has not seen are not predicted: fit again with them");
    return std::nullopt;
  }
  for (std::size_t c = 1; c < claims.size(); ++c) {
    if (claims[c].offsets == first.offsets || claims[c].offsets.size() != first.offsets.size()) continue;
    std::size_t row = 0;
    while (claims[c].offsets[row + 1] == first.offsets[row + 1])
      ++row;
    const auto length_in = [&](const OffsetsClaim& o) { return o.offsets[row + 1] - o.offsets[row]; };
    problem(b, ExitCode::data, claims[c].source,
            fmt::format("row {} of plate '{}' has {} elements in {}, but {} in {}", row, name, length_in(first),
                        first.source, length_in(claims[c]), claims[c].source));
  }
  for (std::size_t row = 0; length && row + 1 < first.offsets.size(); ++row) {
    if (first.offsets[row + 1] - first.offsets[row] == *length) continue;
    problem(b, ExitCode::data, first.source,
            fmt::format("row {} of plate '{}' has {} elements here, but its size is {}", row, name,
                        first.offsets[row + 1] - first.offsets[row], *length));
    break;
  }
  return first.offsets;
}

/// Returns true if a plate may have no elements. Items may be none, as in an empty batch, and so may rows of nested
/// plates, as in a document without words. A sequence has a first element.
bool may_be_empty(const Model& m, PlateId set) { return m[set].parent || (is_item_plate(m, set) && !m[set].ordered); }

}  // namespace

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> out = {0};
  for (const std::int64_t length : lengths)
    out.push_back(out.back() + length);
  return out;
}

std::optional<std::int64_t> size_of(Binder& b, PlateId plate) {
  plate = b.model[plate].set;
  const auto cached = b.size_cache.find(plate);
  if (cached != b.size_cache.end()) return cached->second;
  b.size_cache[plate] = std::nullopt;  // resolve() refuses cycles, so that no one reads this before it is set
  const Plate& p = b.model[plate];
  std::optional<std::int64_t> size;
  if (p.parent) {
    const auto offsets = compute_row_offsets(b, plate);
    if (offsets) size = offsets->back();
    if (offsets) b.out.offsets[plate.index()] = *offsets;
  } else {
    std::vector<Claim>& claims = b.claims[plate];
    if (const auto declared = declared_size(b, plate)) claims.insert(claims.begin(), {*declared, "the model"});
    // An added plate may have been unified with this one: it has one element more than the plate that it extends.
    for (std::size_t i = 0; i < b.model.plates.size(); ++i) {
      const Plate& stick = b.model.plates[i];
      if (!stick.stick || stick.set != plate) continue;
      if (const auto base = size_of(b, *stick.stick)) {
        const std::string function = stick.name.substr(0, stick.name.find('('));
        claims.push_back({*base + 1, fmt::format("{} over '{}'", function, b.model[*stick.stick].name)});
      }
    }
    if (!claims.empty()) {
      size = claims.front().size;
      for (const Claim& c : claims) {
        if (c.size == *size) continue;
        disagreement(b, plate, claims.front(), c);
        break;
      }
    } else if (b.largest.contains(plate)) {
      size = b.largest[plate];
      if (b.from_one.contains(plate) && !b.have_zero.contains(plate))
        warn(b, fmt::format(
                    "element 0 of plate '{0}' does not occur in {1}: elements are numbered from 0; if these begin at "
                    "1, declare it: `{2}`",
                    b.model[plate].name, b.largest_source[plate], plate_text_from(b.model, b.model[plate], 1)));
      warn_of_unused_values(b, plate, *size);
      if (*size > kLargestImplied) {
        problem(b, ExitCode::data, b.largest_source[plate],
                fmt::format("element {} would give plate '{}' {} elements", *size - 1, b.model[plate].name, *size))
            .notes = {
            fmt::format("if the numbers are names, write them as text (r{0}), or list them in a file, one a line, "
                        "for {1} {2}=FILE; otherwise number the elements 0, 1, 2, ..., or give the size with {3}",
                        *size - 1, option("labels"), b.model[plate].name, option("sizes"))};
        size = 1;
      }
    }
  }
  b.size_cache[plate] = size;
  return size;
}

void compute_sizes(Binder& b) {
  const Model& m = b.model;
  b.out.sizes.assign(m.plates.size(), -1);
  b.out.sized_by_data.assign(m.plates.size(), true);
  b.out.offsets.resize(m.plates.size());
  b.out.labels.resize(m.plates.size());
  for (std::size_t i = 0; i < m.constants.size(); ++i)
    evaluate_constant(b, ConstantId(i));
  for (std::size_t i = 0; i < m.plates.size(); ++i) {
    const PlateId set = m.plates[i].set;
    const auto size = size_of(b, set);
    if (!size) {
      if (b.data && set == PlateId(i) && b.problems.empty()) {
        Error& e = problem(b, ExitCode::data, option("sizes"),
                           fmt::format("nothing gives the size of plate '{}'", m[set].name));
        e.notes.push_back(fmt::format("give it with {} {}=..., or bind data over it", option("sizes"), m[set].name));
        if (const std::string rest = names_not_read(b); !rest.empty())
          e.notes.push_back("the data have names that the model does not read: " + rest);
      }
      continue;
    }
    b.out.sizes[i] = *size;
    if (*size < 1 && set == PlateId(i) && !may_be_empty(m, set)) {
      const auto claims = b.claims.find(set);
      const bool claimed = claims != b.claims.end() && !claims->second.empty();
      Error& e = problem(b, ExitCode::data, claimed ? claims->second.front().source : option("data"),
                         fmt::format("plate '{}' has no elements", m[set].name));
      const auto too_large = [](const DataArray* a) {
        return std::ranges::any_of(a->values, [](double v) { return v >= kMaxExactInteger; });
      };
      if (!claimed && std::ranges::any_of(arrays_referring_to(b, set, false), too_large))
        e.notes = {
            "numbers from 2^53 on are not told apart: write names of that many digits as text, with a letter before"};
      else if (!claimed)
        e.notes = {fmt::format("no value of the data is one of them: give their number with {} {}=...", option("sizes"),
                               m[set].name)};
    }
  }
  // An added plate is sized by data if the plate that it extends is.
  const std::function<bool(PlateId)> by_data = [&](PlateId p) -> bool {
    const Plate& plate = m[m[p].set];
    if (plate.stick) return by_data(*plate.stick);
    if (!plate.size) {
      /// If the only claim is that of an added plate, the size is as fixed as that of the plate which it extends.
      const auto& claims = b.claims[m[p].set];
      for (std::size_t i = 0; i < m.plates.size() && claims.size() == 1; ++i) {
        if (m.plates[i].stick && m.plates[i].set == m[p].set) return by_data(*m.plates[i].stick);
      }
      return true;
    }
    return plate.parent && by_data(*plate.parent);
  };
  for (std::size_t i = 0; i < m.plates.size(); ++i) {
    const PlateId set = m.plates[i].set;
    b.out.sized_by_data[i] = by_data(set);
    b.out.offsets[i] = b.out.offsets[set.index()];
  }
  b.out.constants.clear();
  for (const auto& value : b.constants)
    b.out.constants.push_back(value.value_or(std::nan("")));
  for (const auto& [name, labels] : b.settings.labels) {
    for (std::size_t i = 0; i < m.plates.size(); ++i) {
      if (m.plates[i].name == name) b.out.labels[m.plates[i].set.index()] = labels;
    }
  }
  // Aliases have the labels of their plate.
  for (std::size_t i = 0; i < m.plates.size(); ++i) {
    if (m.plates[i].set != PlateId(i)) b.out.labels[i] = b.out.labels[m.plates[i].set.index()];
  }
}

/// Returns the value of a size that is a sum of products of sizes and numbers.
static std::int64_t value_of(const Model& m, ExprId id, const std::vector<std::int64_t>& sizes) {
  const auto& node = m[id].node;
  if (const auto* number = std::get_if<Number>(&node)) return static_cast<std::int64_t>(number->value);
  if (const auto* size = std::get_if<SizeOf>(&node)) return sizes[m[size->plate].set.index()];
  const auto& sum = std::get<Binary>(node);
  const std::int64_t left = value_of(m, sum.left, sizes), right = value_of(m, sum.right, sizes);
  return sum.op == BinaryOp::add ? left + right : left * right;
}

}  // namespace lehr::model

namespace lehr {

std::int64_t coordinate_count(const model::Model& model, model::PlateId plate, const std::vector<std::int64_t>& sizes) {
  return model::value_of(model, *model[plate].size, sizes);
}

void add_sizes(const model::Model& model, BoundData& data) {
  for (std::size_t k = data.sizes.size(); k < model.plates.size(); ++k)
    data.sizes.push_back(coordinate_count(model, model::PlateId(k), data.sizes));
  data.sized_by_data.resize(model.plates.size(), true);
  data.offsets.resize(model.plates.size());
  data.labels.resize(model.plates.size());
}

}  // namespace lehr
