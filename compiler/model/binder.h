// The state that the parts of the bind pass (bind_*.cpp, table_rows.cpp) share, and their functions. Besides them only
// users of table_rows.h include this header.
//
// Steps, each over all arrays: settings; shapes of arrays; values of categories; sizes; supports. Each source of a size
// adds a Claim, a number with the name of its source. Once all claims are there, they are compared, and a size is the
// number that all of them agree on. Problems are collected: one run reports all of them.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/model/bind.h"

namespace lehr::model {

/// The most elements of a plate. The product of two sizes then fits a double, in which it is compared.
inline constexpr std::int64_t kMostElements = 1'000'000'000'000;

/// 2^53: from here on a double does not distinguish neighbouring whole numbers.
inline constexpr double kToldApart = 0x1p53;

/// A statement by one source about the size of a plate.
struct Claim {
  std::int64_t size = 0;  // number of elements
  std::string source;     // the source for messages: "x (points.npy)", option("labels term")
};

/// A statement by one source about the rows of a nested plate.
struct OffsetsClaim {
  std::vector<std::int64_t> offsets;  // starts of the rows, and the end of the last one
  std::string source;                 // the source, for messages
  bool of_fit = false;                // the source is an earlier fit (Settings::rows)
};

/// A name of the model that data are bound to: a given, an observed variable, or a latent variable with some values.
struct Slot {
  std::string name;                    // the name in the model
  std::vector<PlateId> axes;           // the declared plates, then the event axes
  std::size_t event_rank = 0;          // how many of the axes are event axes, the last ones
  std::optional<PlateId> value_plate;  // the plate whose elements the values are, for categories
  std::optional<GivenId> given;        // set for a given
  std::optional<VariableId> variable;  // set for a variable
  bool latent = false;                 // the variable is latent, and the data have some of its values
};

/// The state of one run of the bind pass.
struct Binder {
  const Model& model;        // what is bound
  const Settings& settings;  // options of the user
  /// The arrays that were read; those of slots are moved to `arrays`. Null in bind_sizes().
  Dataset* data = nullptr;
  bool observed_needed = true;                   // false in bind_givens(): observed variables need no data
  BoundData out;                                 // the result so far
  std::vector<Error> problems;                   // errors so far
  std::map<PlateId, std::vector<Claim>> claims;  // about sizes, by plate
  std::map<PlateId, std::vector<OffsetsClaim>> offset_claims;  // about rows, by nested plate
  /// By plate that categories refer to: the largest value in the data plus one. It is the size if there is no claim.
  std::map<PlateId, std::int64_t> largest;
  std::map<PlateId, std::string> largest_source;  // which array has that value, for messages
  /// By plate that categories refer to: for each value, true if it occurs in the data.
  std::map<PlateId, std::vector<bool>> occurring;
  /// Plates whose elements are named by the words of text columns, in alphabetical order.
  std::set<PlateId> named_by_text;
  /// Plates whose elements are named by the rows of a table, in their order.
  std::set<PlateId> named_by_rows;
  /// Plates that categories refer to. `have_zero`: 0 is among the values. `from_one`: an array has all of 1, 2, ...,
  /// and no 0.
  std::set<PlateId> have_zero, from_one;
  /// By nested plate whose elements the data refer to: the length that each row needs to have at least.
  std::map<PlateId, std::vector<std::int64_t>> named_rows;
  std::map<PlateId, std::optional<std::int64_t>> known_sizes;  // results of size_of(), by plate
  std::vector<std::optional<double>> constants;                // values of constants, by ConstantId
  std::vector<bool> constants_done;                            // by ConstantId: it has been evaluated
  std::vector<Slot> slots;                                     // all names that data may be bound to
  /// The arrays of slots, by name, with the copies of sparse counts expanded or counts made dense.
  std::map<std::string, DataArray> arrays;
};

/// Returns the number that the data give to the first element of a plate (`from` in its declaration; 0 without).
inline std::int64_t from_of(const Binder& b, PlateId plate) { return b.model[b.model[plate].set].from; }

/// Adds a problem and returns it, so that notes can be added. `where` is the source of the data or an option.
Error& problem(Binder& b, ExitCode code, std::string where, std::string text);
/// Returns a slot with its axes for messages: "x[n, d]", "x[n] over d".
std::string signature(const Binder& b, const Slot& slot);

/// Checks the names in --set, --sizes and --labels, stores constants, and adds claims for sizes and labels.
/// (bind_settings.cpp)
void read_settings(Binder& b);
/// Returns the value of a constant, or nothing if it has none. Reports a missing value once, except in bind_sizes().
/// (bind_settings.cpp)
std::optional<double> evaluate_constant(Binder& b, ConstantId id);
/// Returns the value of an expression of constants and sizes, such as the size of a plate, or nothing if it is not
/// known. (bind_settings.cpp)
std::optional<double> evaluate(Binder& b, ExprId id);

/// Returns true if the slot is the multiplicity of a plate (`times`).
bool is_multiplicity(const Binder& b, const Slot& slot);

/// Adds claims about the rows of nested plates, for tables with one line for each element of the nested plate. A column
/// named like the outer plate says which row a line belongs to. Reorders the arrays of such tables. (bind_rows.cpp)
void claim_rows_of_tables(Binder& b);

/// Sorts the lines of tables that have one line per element of a plate. A column named like the plate says which
/// element each line is. Adds claims about the size. (bind_lines.cpp)
void claim_lines_of_tables(Binder& b);

/// Moves the array of each slot from `data` to `arrays`. Makes categories count from 0, expands sparse counts, and
/// reports slots without data. (bind_shapes.cpp)
void match_arrays(Binder& b);
/// Adds claims from the rows of tables, from lengths of nested plates, and from the shapes of all arrays.
/// (bind_shapes.cpp)
void claim_shapes(Binder& b);

/// Returns the number of elements of a plate; of a nested plate, that of all its rows together. Returns nothing if no
/// source gives it. Compares all claims about it, and reports a disagreement. (bind_sizes.cpp)
std::optional<std::int64_t> size_of(Binder& b, PlateId plate);
/// Returns the starts of rows of these lengths, and the end of the last one. (bind_sizes.cpp)
std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths);
/// Computes the sizes and offsets of all plates and the values of all constants. Reports claims that disagree and
/// plates without a size. (bind_sizes.cpp)
void settle_sizes(Binder& b);

/// Adds slots for latent variables of which the data have some values. (bind_clamps.cpp)
void add_clamped_slots(Binder& b);

/// Returns the names that --labels, or an earlier fit, gives to the elements of a plate; empty if there are none.
/// (bind_names.cpp)
std::vector<std::string> given_names(const Binder& b, PlateId plate);
/// Makes labels of the names that a file has for its rows and columns, and for the values of sparse counts. Columns
/// named after elements that already have names are sorted into the order of the elements. Reports a problem if only
/// some of the columns are elements. (bind_names.cpp)
void name_elements(Binder& b, const Slot& slot, DataArray& a);

/// The most elements that the largest value of a category may imply. A larger plate needs `= K`, a shape or --sizes.
inline constexpr std::int64_t kLargestImplied = 20'000'000;
/// Takes names of elements from files and replaces words of text columns by numbers of elements. Records for each plate
/// the largest value that refers to it. (bind_values.cpp)
void claim_values(Binder& b);
/// Reports numbers in index lists of the model, such as `mu[3]`, that are not below the size of their plate.
/// (bind_values.cpp)
void check_constant_indices(Binder& b);
/// Checks all values against their supports and moves them to the result. (bind_values.cpp)
void store_values(Binder& b);
/// Returns the index along each axis of the slot's value at this position of the packed array. Sizes must be known.
/// (bind_values.cpp)
std::vector<std::int64_t> element_indices(const Binder& b, const Slot& slot, std::size_t position);
/// Returns the name of that value in messages, as in the data: "x[3, 1]". Sizes must be known. (bind_values.cpp)
std::string element_name(const Binder& b, const Slot& slot, std::size_t position);

/// Returns the number of values that the slot must have by the sizes of its axes. Returns the largest std::size_t if
/// the product overflows. (bind_values.cpp)
std::size_t expected_count(const Binder& b, const Slot& slot);

/// Values of index variables: pairs of an index variable and the number of an element. They select one element of a
/// statement. (The functions that use them are in bind_elements.cpp.)
using Bounds = std::vector<std::pair<BoundId, std::int64_t>>;
/// Returns the values of the statement's index variables for the value at this position of its variable's packed array.
Bounds bounds_at(const Binder& b, const Slot& slot, const Statement& s, std::size_t position);
/// Returns the value of a scalar expression at one element, if constants and data determine it; otherwise nothing.
std::optional<double> value_at(Binder& b, ExprId id, const Bounds& at);
/// Returns the value of a data array at these indices, or nothing if it is missing or an index is not known.
std::optional<double> element(Binder& b, const std::vector<double>& values, const std::vector<Index>& indices,
                              const Bounds& at);
/// Returns the position of the value at these indices in a packed array, or nothing if an index is not known.
std::optional<std::size_t> place_of(Binder& b, const std::vector<Index>& indices, const Bounds& at);
/// Returns the values that an entry of a data array can have at one element. There is one for each combination of the
/// latent categories among its indices. For `rate[z[n]]` with latent z these are all entries of `rate`.
std::vector<double> values_at(Binder& b, const GivenRef& given, const Bounds& at);
/// Returns the values that an expression can have at one element: those of a data array, as above, or the one of
/// value_at(). Empty if they are not known.
std::vector<double> values_at(Binder& b, ExprId id, const Bounds& at);
/// Returns the value of an index at one element, counted from 0, or nothing if it is not known.
std::optional<std::int64_t> position(Binder& b, const Index& index, const Bounds& at);

/// Returns true if the slot's values are the concentrations of a random simplex. (bind_masses.cpp)
bool is_concentration(const Binder& b, const Slot& slot);
/// Reports observed categories and counts whose probability has a concentration of 0, and is therefore 0.
/// (bind_masses.cpp)
void check_masses(Binder& b);

/// Adds a remark if the last steps of an observed chain have no value. (bind_ends.cpp)
void remark_on_ends(Binder& b, const Slot& slot, const DataArray& a);

/// Computes the lengths that the rows of nested plates must have for the elements that data refer to, where nothing
/// else gives the lengths. (bind_named.cpp)
void claim_named_rows(Binder& b);
/// Reports values that refer to an element behind the end of its row of a nested plate. (bind_named.cpp)
void check_named_elements(Binder& b);

/// Reports observed values of probability 0, as far as constants and data give the parameters. No part of their
/// statement, and no choice of the latent categories in it, can produce them. (bind_impossible.cpp)
void check_impossible(Binder& b);

/// Checks parameters that are products of data and latent variables: the factor that the data give must be in the
/// domain. (bind_products.cpp)
void check_products(Binder& b);

/// Reports limits of a variable that contradict each other, such as above 3 and below 2, and limits of counts that are
/// not whole. (bind_limits.cpp)
void check_limits(Binder& b);

/// Checks parameters that constants or data alone give against the domains in their family's row. (bind_parameters.cpp)
void check_parameters(Binder& b);

/// Reports observed matrices that are not positive definite, or not symmetric up to rounding. Replaces the latter by
/// their symmetric parts. (bind_symmetric.cpp)
void check_observed_matrices(Binder& b, const Slot& slot, DataArray& a);
/// Replaces data matrices that are parameters, and symmetric up to rounding, by their symmetric parts.
/// (bind_symmetric.cpp)
void symmetrise_parameters(Binder& b);

/// Reports observed counts that contradict the totals which constants and data give. (bind_totals.cpp)
void check_totals(Binder& b);

}  // namespace lehr::model
