// Numbers the words of categories, and checks every value of every array against its support. Checked values are moved
// to the result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

#include "compiler/binding/binder.h"
#include "compiler/model/print_model.h"
#include "compiler/model/roles.h"
#include "compiler/model/statement_text.h"
#include "compiler/model/walk.h"
#include "runtime/files/text.h"
#include "runtime/terminal/printable.h"

namespace lehr::model {
namespace {

constexpr double kSimplexTolerance = 1e-4;  // of a sum of probabilities; rows in single precision are within it

constexpr std::int64_t kMostNames = 20'000'000;  // labels of plates with more elements are not completed

bool whole(double v) { return v == std::floor(v); }

/// What one number of an array must be: a test, and its wording for messages.
struct Rule {
  bool (*holds)(double);
  const char* wanted;
};

/// Returns the rule for the numbers in a value of this support.
Rule rule_for(math::Support support) {
  switch (support) {
    case math::Support::positive:
      return {[](double v) { return v > 0 && std::isfinite(v); }, "positive"};
    case math::Support::unit:
      return {[](double v) { return v > 0 && v < 1; }, "between 0 and 1"};
    case math::Support::count:
    case math::Support::counts:
      return {[](double v) { return v >= 0 && whole(v) && v < kMaxExactInteger; }, "a count (0, 1, 2, ...)"};
    case math::Support::bit:
      return {[](double v) { return v == 0 || v == 1; }, "0 or 1"};
    case math::Support::spin:
      return {[](double v) { return v == -1 || v == 1; }, "-1 or +1"};
    case math::Support::category:
      return {[](double v) { return v >= 0 && whole(v) && v < 1e15; }, "the position of an element (0, 1, 2, ...)"};
    case math::Support::simplex:
      return {[](double v) { return v > 0 && v <= 1 + kSimplexTolerance; }, "positive, as an entry of a simplex"};
    case math::Support::real:
    case math::Support::vector:
    case math::Support::spd_matrix:
    case math::Support::switched:
    case math::Support::scaled:
    case math::Support::sparse:
      break;
  }
  return {[](double v) { return std::isfinite(v); }, "a finite number"};
}

/// Returns the rule for the numbers of a slot's array.
Rule rule_for(const Binder& b, const Slot& slot) {
  if (slot.variable) return rule_for(b.model[*slot.variable].support);
  switch (b.model[*slot.given].type) {
    case GivenType::count:
      return rule_for(math::Support::count);
    case GivenType::category:
      return rule_for(math::Support::category);
    case GivenType::simplex:
      return {[](double v) { return v >= 0 && v <= 1 + kSimplexTolerance; },
              "between 0 and 1, as an entry of a simplex"};
    case GivenType::real:
      if (is_multiplicity(b, slot)) return {[](double v) { return v >= 0 && std::isfinite(v); }, "a weight, 0 or more"};
      break;
    case GivenType::vector:
    case GivenType::matrix:
      break;
  }
  return rule_for(math::Support::real);
}

/// Returns true if rows of the slot's array are probability vectors.
bool is_simplex(const Binder& b, const Slot& slot) {
  if (slot.variable) return b.model[*slot.variable].support == math::Support::simplex;
  return b.model[*slot.given].type == GivenType::simplex;
}

/// Returns true if some vector has missing entries and others that are not.
bool has_parts(const Binder& b, const Slot& slot, const DataArray& a) {
  std::size_t width = 1;
  for (std::size_t i = slot.axes.size() - slot.event_rank; i < slot.axes.size(); ++i)
    width *= static_cast<std::size_t>(b.out.sizes[slot.axes[i].index()]);
  for (std::size_t row = 0; row + width <= a.values.size(); row += width) {
    const auto begin = a.values.begin() + static_cast<std::ptrdiff_t>(row);
    const auto missing =
        std::count_if(begin, begin + static_cast<std::ptrdiff_t>(width), [](double v) { return std::isnan(v); });
    if (missing != 0 && missing != static_cast<std::ptrdiff_t>(width)) return true;
  }
  return false;
}

/// Decides what a missing value means. A given may have none. An observed number is left out of the likelihood if
/// nothing depends on it. Otherwise the variable is clamped: it is latent where it is missing. If that is impossible, a
/// problem is reported.
void check_missing(Binder& b, const Slot& slot, const DataArray& a, std::size_t first) {
  const std::string name = element_name(b, slot, first);
  if (slot.given) {
    problem(b, ExitCode::data, a.source,
            fmt::format("{} is missing, but {} is data that nothing generates", name, slot.name))
        .notes = {"only variables may have missing values: `observe " + signature(b, slot) +
                  " ~ ...` gives it a distribution"};
    return;
  }
  const bool parent = has_children(b.model, *slot.variable), parts = slot.event_rank > 0 && has_parts(b, slot, a);
  if (!slot.latent && !parent && !parts) return;
  const std::string why = why_not_clamped(b.model, *slot.variable);
  if (why.empty()) {
    b.out.clamped[slot.variable->index()] = true;
    if (slot.latent) return;
    warn(b, fmt::format("{} is missing and {}: '{}' is latent where it is missing", name,
                        parent ? fmt::format("other variables depend on {}", slot.name)
                               : "other entries of the same vector are not",
                        slot.name));
    if (parent) warn_of_missing_tail(b, slot, a);
    return;
  }
  std::string text = slot.latent ? fmt::format("the data have values for some elements of the latent '{}'", slot.name)
                     : parent    ? fmt::format("{} is missing, but other variables depend on {}", name, slot.name)
                                 : fmt::format("{} is missing, but other entries of the same vector are not", name);
  Error& e = problem(b, ExitCode::data, a.source, std::move(text));
  e.notes = {why};
  if (!slot.latent) e.notes.push_back("leave these elements out, or give them a value");
}

/// Reports a row that does not sum to 1.
void check_simplex(Binder& b, const Slot& slot, const DataArray& a) {
  const auto width = static_cast<std::size_t>(b.out.sizes[slot.axes.back().index()]);
  for (std::size_t row = 0; row + width <= a.values.size(); row += width) {
    double total = 0;
    for (std::size_t i = 0; i < width; ++i)
      total += a.values[row + i];
    if (std::isnan(total) || std::abs(total - 1) <= kSimplexTolerance) continue;
    problem(
        b, ExitCode::data, a.source,
        fmt::format("the entries from {} on sum to {:.6g}: a simplex sums to 1", element_name(b, slot, row), total));
    return;
  }
}

/// Returns true if the values are all of 1, 2, ... up to the largest, and there is no 0: they probably count from 1.
bool numbered_from_one(const DataArray& a) {
  auto present = a.values | std::views::filter([](double v) { return !std::isnan(v); });
  if (present.empty() || std::ranges::min(present) != 1) return false;
  const double largest = std::ranges::max(present);
  if (largest > static_cast<double>(a.values.size())) return false;
  std::vector<bool> occurs(static_cast<std::size_t>(largest));
  for (const double v : present)
    occurs[static_cast<std::size_t>(v) - 1] = true;
  return std::ranges::find(occurs, false) == occurs.end();
}

/// Reports a category outside its plate, whose size has another source. Returns true if there is none.
bool check_inside(Binder& b, const Slot& slot, const DataArray& a) {
  const auto size = static_cast<double>(b.out.sizes[slot.value_plate->index()]);
  const auto it = std::find_if(a.values.begin(), a.values.end(), [&](double v) { return v >= size; });
  if (it == a.values.end()) return true;
  const Plate& plate = b.model[b.model[*slot.value_plate].set];
  Error& e =
      problem(b, ExitCode::data, a.source,
              fmt::format("{} is element {:.10g}, outside plate '{}', which has {} elements",
                          element_name(b, slot, static_cast<std::size_t>(it - a.values.begin())),
                          *it + static_cast<double>(plate.from), plate.name, b.out.sizes[slot.value_plate->index()]));
  if (plate.from > 0) {
    e.notes.push_back(fmt::format("they are numbered from {}", plate.from));
    return false;
  }
  if (std::ranges::max(a.values) == size && numbered_from_one(a))
    e.notes.push_back(fmt::format("{} begins at 1: declare it, `{}`", slot.name, plate_text_from(b.model, plate, 1)));
  e.notes.push_back("indices are 0-based: the last one is the size minus one");
  return false;
}

/// Replaces two words by 0 and 1: as in an earlier fit, else in alphabetical order. Returns false and reports a problem
/// if a word is not one of the fit's.
bool number_bits(Binder& b, const Slot& slot, DataArray& a) {
  const auto fitted_words = b.settings.words.find(slot.name);
  std::vector<std::string> words = a.levels;
  std::ranges::sort(words);
  if (fitted_words != b.settings.words.end()) words = fitted_words->second;
  if (words.size() != 2) return true;
  std::vector<double> codes;
  for (const std::string& level : a.levels) {
    const auto word = std::ranges::find(words, level);
    if (word == words.end()) {
      problem(b, ExitCode::data, a.source,
              fmt::format("'{}' is neither '{}' nor '{}', the words that {} had in the fit", printable(level),
                          printable(words[0]), printable(words[1]), slot.name));
      return false;
    }
    codes.push_back(static_cast<double>(word - words.begin()));
  }
  for (double& v : a.values) {
    if (!std::isnan(v)) v = codes[static_cast<std::size_t>(v)];
  }
  if (fitted_words == b.settings.words.end())
    warn(b, fmt::format("'{}' is 0 and '{}' is 1 in {}", printable(words[0]), printable(words[1]), slot.name));
  b.out.words[slot.name] = std::move(words);
  a.levels.clear();
  return true;
}

/// Checks an array without row names over a plate whose elements have words as names. It must have a value for each,
/// and a warning says that they are read in alphabetical order.
void check_order(Binder& b, const Slot& slot, const DataArray& a) {
  if (slot.axes.empty() || !a.row_labels.empty()) return;
  const PlateId plate = b.model[slot.axes[0]].set;
  if (!b.named_by_text.contains(plate)) return;
  const std::vector<std::string>& names = b.out.labels[plate.index()];
  if (slot.axes.size() == 1 && a.values.size() != names.size()) {
    problem(b, ExitCode::data, a.source,
            fmt::format("{} has {} values, but the data name {} elements of plate '{}': '{}', ...", slot.name,
                        a.values.size(), names.size(), b.model[plate].name, printable(names.front())))
        .notes = {
        fmt::format("they are taken in the order of the names; {} {}=FILE gives all names, in an order of yours",
                    option("labels"), b.model[plate].name)};
    return;
  }
  warn(b, fmt::format("the values of {} are taken in the order of the names of plate '{}': '{}', ...", slot.name,
                      b.model[plate].name, printable(names.front())));
}

/// Checks the array of one slot and moves it to the result. Stops at the first problem.
void store(Binder& b, const Slot& slot, DataArray& a) {
  check_order(b, slot, a);
  const bool bits = slot.variable && b.model[*slot.variable].support == math::Support::bit;
  if (bits && !a.levels.empty() && !number_bits(b, slot, a)) return;
  if (!a.levels.empty() && !slot.value_plate) {
    Error& e = problem(
        b, ExitCode::data, a.source,
        fmt::format("'{}' is text here ('{}', ...), but it must be a number", slot.name, printable(a.levels.front())));
    if (const auto word = std::ranges::find_if(a.levels, looks_missing); word != a.levels.end())
      e.notes.push_back(
          fmt::format("if '{}' stands for a missing value: that is an empty field, NA or NaN", printable(*word)));
    if (bits)
      e.notes.push_back(
          fmt::format("two words would be 0 and 1; here {}",
                      a.levels.size() == 1 ? "is one: write 1 or 0" : fmt::format("are {}", a.levels.size())));
    return;
  }
  if (bits && !b.out.words.contains(slot.name)) {
    const auto fitted_words = b.settings.words.find(slot.name);
    b.out.words[slot.name] =
        fitted_words == b.settings.words.end() ? std::vector<std::string>{"0", "1"} : fitted_words->second;
  }
  if (a.values.size() != expected_count(b, slot)) {
    problem(b, ExitCode::data, a.source,
            fmt::format("{} has {} values, but {} are needed", signature(b, slot), a.values.size(),
                        expected_count(b, slot)));
    return;
  }
  const Rule rule = rule_for(b, slot);
  std::optional<std::size_t> bad, missing;
  for (std::size_t i = 0; i < a.values.size() && !bad; ++i) {
    if (std::isnan(a.values[i])) {
      if (!missing) missing = i;
    } else if (!rule.holds(a.values[i])) {
      bad = i;
    }
  }
  if (bad) {
    Error& e = problem(
        b, ExitCode::data, a.source,
        fmt::format("{} is {:.10g}, but it must be {}", element_name(b, slot, *bad), a.values[*bad], rule.wanted));
    if (is_multiplicity(b, slot) && a.values[*bad] > 0)
      e.notes.push_back(
          fmt::format("weights that are no whole numbers are declared: `data {} : real;`", signature(b, slot)));
    if (a.values[*bad] >= kMaxExactInteger && std::isfinite(a.values[*bad]))
      e.notes.push_back("numbers from 2^53 = 9007199254740992 on are not told apart from their neighbours");
    if (slot.variable) {
      const StatementId s = b.model[*slot.variable].statement;
      e.notes.push_back(fmt::format("{} is drawn from {}", slot.name, as_written(b.model[s].main).family->name));
    }
    return;
  }
  if (slot.value_plate && !b.model[*slot.value_plate].parent && !check_inside(b, slot, a)) return;
  if (slot.latent && std::ranges::all_of(a.values, [](double v) { return std::isnan(v); })) return;
  if (missing) check_missing(b, slot, a, *missing);
  if (is_simplex(b, slot)) check_simplex(b, slot, a);
  check_observed_matrices(b, slot, a);
  BoundArray& out = slot.given ? b.out.givens[slot.given->index()] : b.out.observed[slot.variable->index()];
  out.has_missing = missing.has_value();
  out.values = std::move(a.values);
}

/// Marks in `occurring` which of the values occur.
void mark_occurring(const std::vector<double>& values, std::vector<bool>& occurring) {
  for (const double x : values) {
    if (!(x >= 0) || x >= static_cast<double>(kLargestImplied)) continue;
    const auto k = static_cast<std::size_t>(x);
    if (k >= occurring.size()) occurring.resize(k + 1);
    occurring[k] = true;
  }
}

/// Returns true if the order of a plate's elements matters: it is a chain, or the scale of an ordered category.
bool has_order(const Model& m, PlateId plate) {
  if (m[plate].ordered) return true;
  return std::ranges::any_of(m.statements, [&](const Statement& s) {
    const std::optional<PlateId> values = m[s.variable].value_plate;
    if (!values || m[*values].set != plate) return false;
    return std::ranges::any_of(nodes_under(m, roots_of(s)),
                               [&](ExprId id) { return std::holds_alternative<OrderedLogistic>(m[id].node); });
  });
}

/// Makes the words of all text columns that refer to a plate its labels, in alphabetical order, unless it has labels
/// already. Replaces the words by the numbers of the elements.
void number_levels(Binder& b, PlateId plate, const std::vector<DataArray*>& columns) {
  std::vector<std::string> names = user_labels(b, plate);
  // Names of rows or columns count if the words are among them.
  const std::vector<std::string>& of_files = b.out.labels[plate.index()];
  const auto is_name = [&](const std::string& word) { return std::ranges::find(of_files, word) != of_files.end(); };
  const auto has_name = [&](const DataArray* a) { return std::ranges::any_of(a->levels, is_name); };
  if (names.empty() && (b.named_by_rows.contains(plate) || std::ranges::any_of(columns, has_name))) names = of_files;
  const bool given = !names.empty();
  if (!given && b.settings.unnamed.contains(b.model[plate].name)) {
    const DataArray& a = *columns.front();
    problem(b, ExitCode::data, a.source,
            fmt::format("'{}' is text ('{}', ...), but the elements of plate '{}' are numbers in the fit", a.name,
                        printable(a.levels.front()), b.model[plate].name));
    return;
  }
  if (!given) {
    std::set<std::string> all;
    for (const DataArray* a : columns)
      all.insert(a->levels.begin(), a->levels.end());
    names.assign(all.begin(), all.end());
    b.out.labels[plate.index()] = names;
    b.named_by_text.insert(plate);
    if (names.size() > 1 && has_order(b.model, plate))
      warn(b, fmt::format("the elements of plate '{0}' are in the order of the alphabet: '{1}', '{2}'{3}; {4} {0}=FILE "
                          "gives their order",
                          b.model[plate].name, printable(names[0]), printable(names[1]),
                          names.size() > 2 ? ", ..." : "", option("labels")));
  }
  std::map<std::string, double> position;
  for (std::size_t i = 0; i < names.size(); ++i)
    position.emplace(names[i], static_cast<double>(i));
  for (DataArray* a : columns) {
    std::vector<double> codes;
    for (const std::string& level : a->levels) {
      const auto it = position.find(level);
      if (it == position.end()) {
        problem(b, ExitCode::data, a->source,
                fmt::format("'{}' is not among the labels of plate '{}'", printable(level), b.model[plate].name));
        return;
      }
      codes.push_back(it->second);
    }
    for (double& v : a->values) {
      if (!std::isnan(v)) v = codes[static_cast<std::size_t>(v)];
    }
    mark_occurring(a->values, b.occurring[plate]);
  }
  if (const auto word = std::ranges::find_if(names, looks_missing); !given && word != names.end())
    warn(b, fmt::format(
                "'{}' is an element of plate '{}' as other words are: a missing value is an empty field, NA or NaN",
                printable(*word), b.model[plate].name));
  auto& largest = b.largest[plate];
  if (static_cast<std::int64_t>(names.size()) > largest && !given) {
    largest = static_cast<std::int64_t>(names.size());
    b.largest_source[plate] = columns.front()->source;
  }
}

}  // namespace

std::size_t expected_count(const Binder& b, const Slot& slot) {
  std::size_t out = 1;
  for (std::size_t i = 0; i < slot.axes.size(); ++i) {
    // A nested plate counts the elements of all rows, so its parents add no factor.
    const bool has_child = i + 1 < slot.axes.size() && b.model[slot.axes[i + 1]].parent;
    if (!has_child && __builtin_mul_overflow(out, static_cast<std::size_t>(b.out.sizes[slot.axes[i].index()]), &out))
      return std::numeric_limits<std::size_t>::max();
  }
  return out;
}

std::vector<std::int64_t> element_indices(const Binder& b, const Slot& slot, std::size_t position) {
  std::vector<std::int64_t> index(slot.axes.size());
  auto rest = static_cast<std::int64_t>(position);
  for (std::size_t i = slot.axes.size(); i-- > 0;) {
    const PlateId leaf = slot.axes[i];
    std::int64_t at = rest % std::max<std::int64_t>(1, b.out.sizes[leaf.index()]);
    rest /= std::max<std::int64_t>(1, b.out.sizes[leaf.index()]);
    // Find the row of a nested plate by bisection; its number is the position along the parent.
    while (i > 0 && b.model[slot.axes[i]].parent) {
      const auto& offsets = b.out.offsets[slot.axes[i].index()];
      const auto row = std::upper_bound(offsets.begin(), offsets.end(), at) - offsets.begin() - 1;
      index[i--] = at - offsets[static_cast<std::size_t>(row)];
      at = row;
    }
    index[i] = at;
  }
  return index;
}

std::string element_name(const Binder& b, const Slot& slot, std::size_t position) {
  std::vector<std::int64_t> index = element_indices(b, slot, position);
  if (index.empty()) return slot.name;
  if (b.settings.subset_plate && b.model[slot.axes[0]].set == *b.settings.subset_plate) index[0] += b.settings.first;
  for (std::size_t k = 0; k < index.size(); ++k)
    index[k] += b.model[b.model[slot.axes[k]].set].from;
  return fmt::format("{}[{}]", slot.name, fmt::join(index, ", "));
}

void claim_values(Binder& b) {
  b.out.labels.resize(b.model.plates.size());
  std::map<PlateId, std::vector<DataArray*>> text;
  for (const Slot& slot : b.slots) {
    const auto it = b.arrays.find(slot.name);
    if (it == b.arrays.end()) continue;
    DataArray& a = it->second;
    name_elements(b, slot, a);
    if (!slot.value_plate || b.model[*slot.value_plate].parent) continue;
    if (!a.levels.empty()) {
      text[*slot.value_plate].push_back(&a);
      continue;
    }
    double largest = a.largest;
    for (const double v : a.values) {
      if (v > largest && v < 1e15) largest = v;
    }
    if (std::ranges::find(a.values, 0.0) != a.values.end()) b.have_zero.insert(*slot.value_plate);
    else if (numbered_from_one(a)) b.from_one.insert(*slot.value_plate);
    mark_occurring(a.values, b.occurring[*slot.value_plate]);
    auto& seen = b.largest[*slot.value_plate];
    if (static_cast<std::int64_t>(largest) + 1 > seen) {
      seen = static_cast<std::int64_t>(largest) + 1;
      b.largest_source[*slot.value_plate] = fmt::format("{} ({})", slot.name, a.source);
    }
  }
  for (auto& [plate, columns] : text)
    number_levels(b, plate, columns);
  claim_referenced_rows(b);
}

void check_constant_indices(Binder& b) {
  for (const Expr& e : b.model.exprs) {
    const auto* given = std::get_if<GivenRef>(&e.node);
    const auto* variable = std::get_if<VariableRef>(&e.node);
    if (!given && !variable) continue;
    for (const Index& index : given ? given->indices : variable->indices) {
      const auto* constant = std::get_if<Index::Constant>(&index.form);
      if (!constant) continue;
      const std::int64_t size = shortest_row(b.out, index.set);
      if (size < 0 || constant->value < size) continue;
      problem(b, b.data ? ExitCode::data : ExitCode::model, b.data ? option("data") : "",
              fmt::format("{} is indexed by {}, but plate '{}' has {} elements",
                          given ? b.model[given->given].name : b.model[variable->variable].name, print(b.model, index),
                          b.model[index.set].name, size));
      return;
    }
  }
}

void store_values(Binder& b) {
  check_constant_indices(b);
  for (const Slot& slot : b.slots) {
    const auto it = b.arrays.find(slot.name);
    if (it != b.arrays.end()) {
      store(b, slot, it->second);
    } else if (is_multiplicity(b, slot)) {
      const std::size_t count = expected_count(b, slot);
      if (count > kMostElements)
        problem(b, ExitCode::usage, option("sizes"),
                fmt::format("{} would have {} elements", signature(b, slot), count));
      else b.out.givens[slot.given->index()].values.assign(count, 1.0);
    }
  }
  for (std::size_t i = 0; i < b.model.plates.size(); ++i) {
    auto& labels = b.out.labels[i];
    /// If there are fewer names than elements, the numbers of the others become their names.
    const Plate& plate = b.model[b.model[PlateId(i)].set];
    const bool named = !labels.empty() || (plate.from > 0 && !plate.parent);
    while (named && std::ssize(labels) < std::min(b.out.sizes[i], kMostNames))
      labels.push_back(fmt::format("{}", plate.from + std::ssize(labels)));
  }
}

}  // namespace lehr::model
