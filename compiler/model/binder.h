// What the files of the bind pass share: the data on their way to the model, and every claim about a size
// with its source. Only bind*.cpp include this.
//
// Steps, each over all arrays: settings, shapes (which claim sizes), values of categories (which claim what
// is left), sizes, supports. Problems are collected; the first one becomes the Error, the others its notes.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/model/bind.h"

namespace lehr::model {

/// A plate has no more: products of two sizes are then checked as floating-point numbers.
inline constexpr std::int64_t kMostElements = 1'000'000'000'000;

/// From here on double precision does not tell whole numbers apart.
inline constexpr double kToldApart = 0x1p53;

struct Claim {
  std::int64_t size = 0;
  std::string source;  // "x (points.npy)", option("labels term")
};

struct OffsetsClaim {
  std::vector<std::int64_t> offsets;
  std::string source;
  bool of_fit = false;  // rows that a fit had
};

/// One array of the model: a given or an observed variable.
struct Slot {
  std::string name;
  std::vector<PlateId> axes;  // plates and event axes, as stored
  std::size_t event_rank = 0;
  std::optional<PlateId> value_plate;
  std::optional<GivenId> given;
  std::optional<VariableId> variable;
  bool latent = false;  // some of its values are in the data
};

struct Binder {
  const Model& model;
  const Settings& settings;
  Dataset* data = nullptr;      // absent: bind_sizes; arrays of slots are moved out
  bool observed_needed = true;  // false: bind_givens
  BoundData out;
  std::vector<Error> problems;
  std::map<PlateId, std::vector<Claim>> claims;
  std::map<PlateId, std::vector<OffsetsClaim>> offset_claims;
  std::map<PlateId, std::int64_t> largest;  // by value plate: largest value seen plus one
  std::map<PlateId, std::string> largest_source;
  std::map<PlateId, std::vector<bool>> occurring;  // values seen, of plates that the largest one sizes
  std::set<PlateId> named_by_text;                 // whose names are words of the data, in the order of the alphabet
  std::set<PlateId> named_by_rows;                 // whose names are those of the rows of a table, in their order
  std::set<PlateId> have_zero, from_one;  // value plates: 0 is among the values; an array has all of 1, 2, ..., no 0
  /// Lengths of the rows of nested plates, as far as data name elements of them.
  std::map<PlateId, std::vector<std::int64_t>> named_rows;
  std::map<PlateId, std::optional<std::int64_t>> known_sizes;
  std::vector<std::optional<double>> constants;
  std::vector<bool> constants_done;
  std::vector<Slot> slots;
  std::map<std::string, DataArray> arrays;  // by slot name: as bound, tokens expanded, counts made dense
};

/// The number that data have for the first element.
inline std::int64_t from_of(const Binder& b, PlateId plate) { return b.model[b.model[plate].set].from; }

/// Adds a problem; `where` is the data's source or an option.
Error& problem(Binder& b, ExitCode code, std::string where, std::string text);
/// "n, d" of a slot's axes, as messages show them: "x[n, d]".
std::string signature(const Binder& b, const Slot& slot);

// bind_settings.cpp
/// Checks names in --set, --sizes, --labels; labels and sizes become claims.
void read_settings(Binder& b);
/// Value of a constant or of a size expression; nothing when it is not known (reported once unless in
/// bind_sizes).
std::optional<double> evaluate_constant(Binder& b, ConstantId id);
std::optional<double> evaluate(Binder& b, ExprId id);

/// Whether a slot is the multiplicity of a plate.
bool is_multiplicity(const Binder& b, const Slot& slot);

// bind_rows.cpp
/// The rows of nested plates from columns named after the plate they are nested in.
void claim_rows_of_tables(Binder& b);

// bind_lines.cpp
/// Puts lines of tables in the order of the elements that a column of the plate's name says they are.
void claim_lines_of_tables(Binder& b);

// bind_shapes.cpp
/// Finds every slot's array; lengths of nested plates, then shapes, become claims.
void match_arrays(Binder& b);
void claim_shapes(Binder& b);

// bind_sizes.cpp
/// Number of elements of a set; nested plates: of all rows together. Nothing when no source gives it.
std::optional<std::int64_t> size_of(Binder& b, PlateId plate);
/// Where rows of these lengths begin, and where the last one ends.
std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths);
/// Sizes and offsets of all plates, all claims compared.
void settle_sizes(Binder& b);

// bind_clamps.cpp
/// Slots for latent variables of which the data have some values.
void add_clamped_slots(Binder& b);

// bind_names.cpp
/// The names that --labels or a fit gives the elements of a set; empty without.
std::vector<std::string> given_names(const Binder& b, PlateId plate);
/// The names that the file has for rows and columns, and of counts that stayed sparse for the values, become labels.
/// Columns that are named as elements with given names are brought into the order of these; a problem where only some
/// are.
void name_elements(Binder& b, const Slot& slot, DataArray& a);

// bind_values.cpp
/// More elements than this come from `= K`, shapes or --sizes, not from the largest value of an index.
inline constexpr std::int64_t kLargestImplied = 20'000'000;
/// Largest values and names of categories.
void claim_values(Binder& b);
/// Indices that are numbers, against the sizes of their plates.
void check_constant_indices(Binder& b);
/// Moves values into BoundData in the model's order and checks them against their supports.
void store_values(Binder& b);
/// The position along each axis of a slot's packed values; sizes must be settled.
std::vector<std::int64_t> element_indices(const Binder& b, const Slot& slot, std::size_t position);
/// "x[3, 1]": the element of a slot at a position of its packed values; sizes must be settled.
std::string element_name(const Binder& b, const Slot& slot, std::size_t position);

/// Number of values that the sizes of a slot's axes call for: the largest there is where it is beyond that.
std::size_t expected_count(const Binder& b, const Slot& slot);

// bind_elements.cpp
/// Where a statement's bounds stand.
using Bounds = std::vector<std::pair<BoundId, std::int64_t>>;
/// Those of the statement at a position of its variable's packed values.
Bounds bounds_at(const Binder& b, const Slot& slot, const Statement& s, std::size_t position);
/// A number that constants and data give, at one element of a statement; nothing where they do not.
std::optional<double> value_at(Binder& b, ExprId id, const Bounds& at);
/// The element of a data array that the indices name, nothing where it is missing, or its place is not known.
std::optional<double> element(Binder& b, const std::vector<double>& values, const std::vector<Index>& indices,
                              const Bounds& at);
/// The position of that element among the packed values.
std::optional<std::size_t> place_of(Binder& b, const std::vector<Index>& indices, const Bounds& at);
/// What an element of data is under each choice of the latent categories that name it; of other expressions value_at(),
/// if there is one.
std::vector<double> values_at(Binder& b, const GivenRef& given, const Bounds& at);
std::vector<double> values_at(Binder& b, ExprId id, const Bounds& at);
/// The position that an index names.
std::optional<std::int64_t> position(Binder& b, const Index& index, const Bounds& at);

// bind_masses.cpp
/// Whether the values are concentrations of simplexes, a row for each.
bool is_concentration(const Binder& b, const Slot& slot);
/// Observed categories and counts against concentrations of 0, which give them no mass.
void check_masses(Binder& b);

// bind_ends.cpp
/// A remark where the last steps of an observed chain have no value.
void remark_on_ends(Binder& b, const Slot& slot, const DataArray& a);

// bind_named.cpp
/// Rows of nested plates as long as the elements call for that data name in them.
void claim_named_rows(Binder& b);
/// Named elements of nested plates must lie inside their rows.
void check_named_elements(Binder& b);

// bind_impossible.cpp
/// Observed values against parameters that constants and data give: some part of the statement, under some choice of
/// the latent categories in it, can have made each.
void check_impossible(Binder& b);

// bind_products.cpp
/// Parameters that are products of data and latent variables: what the data leave of them is in the domain.
void check_products(Binder& b);

// bind_limits.cpp
/// Limits of values against each other: something must lie between them.
void check_limits(Binder& b);

// bind_parameters.cpp
/// Checks parameters that are constants or data alone against the domains of their family's row.
void check_parameters(Binder& b);

// bind_symmetric.cpp
/// Observed matrices are symmetric, but for rounding, and positive definite.
void check_observed_matrices(Binder& b, const Slot& slot, DataArray& a);
/// Matrices that are parameters are symmetric where only rounding kept them from it.
void symmetrise_parameters(Binder& b);

// bind_totals.cpp
/// Observed counts against totals that constants and data give.
void check_totals(Binder& b);

}  // namespace lehr::model
