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

#include "compiler/binding/bind.h"
#include "runtime/files/whole_numbers.h"

namespace lehr::model {

/// The most elements that a plate may have. Larger sizes are errors. Products of two sizes then still fit a double, in
/// which they are compared.
inline constexpr std::int64_t kMostElements = 1'000'000'000'000;

/// The number of elements of a plate according to one source (a data file, an option, the model). All claims about a
/// plate must agree.
struct Claim {
  std::int64_t size = 0;  // number of elements
  std::string source;     // the source for messages: "x (points.npy)", option("labels term")
};

/// How a nested plate is divided into rows, one for each element of its parent, according to one source (a data file,
/// an earlier fit). All claims about a plate must agree.
struct OffsetsClaim {
  std::vector<std::int64_t> offsets;  // starts of the rows, and the end of the last one
  std::string source;                 // the source, for messages
  bool of_fit = false;                // the source is an earlier fit (Settings::rows)
};

/// A name of the model for which the user's data have, or must have, an array. It is a given (an array that a `data`
/// declaration names, such as a covariate), an observed variable, or a latent variable of which the data have some
/// values.
struct Slot {
  std::string name;                    // the name in the model
  std::vector<PlateId> axes;           // the declared plates, then the event axes
  std::size_t event_rank = 0;          // how many of the axes are event axes, the last ones
  std::optional<PlateId> value_plate;  // for categories, the plate whose elements the values number
  std::optional<GivenId> given;        // the given that the array is for; empty for a variable
  std::optional<VariableId> variable;  // the variable that the array is for; empty for a given
  bool latent = false;                 // the variable is latent, and the data have some of its values
};

/// The state of one call of lehr::bind, which matches a model with the user's data: what is read, what was found so
/// far, and the result. Every step of binding gets it and changes it.
struct Binder {
  const Model& model;        // the model to which data are matched
  const Settings& settings;  // options of the user, and what an earlier fit recorded
  /// All arrays that were read from the user's files. Null in bind_sizes(), which has no data.
  Dataset* data = nullptr;
  bool observed_needed = true;                   // false for simulation (bind_givens): observed variables need no data
  BoundData out;                                 // the result so far
  std::vector<Error> problems;                   // errors so far; the last step merges them into one
  std::map<PlateId, std::vector<Claim>> claims;  // what each source says about the size of a plate
  std::map<PlateId, std::vector<OffsetsClaim>> offset_claims;  // what each source says about rows, by nested plate
  /// By plate that categories refer to: the largest value in the data plus one. It is the plate's size if no source
  /// claims another.
  std::map<PlateId, std::int64_t> largest;
  std::map<PlateId, std::string> largest_source;  // the array with the largest value in `largest`, for messages
  /// By plate that categories refer to: for each element number, true if it occurs in the data. A warning says if few
  /// do.
  std::map<PlateId, std::vector<bool>> occurring;
  /// Plates whose elements are named by the words of text columns, in alphabetical order.
  std::set<PlateId> named_by_text;
  /// Plates whose elements are named by the id column of a table, in the order of its lines.
  std::set<PlateId> named_by_rows;
  /// Plates to whose elements categories in the data refer, for the warning that the data probably count from 1.
  /// `have_zero`: 0 is among the values. `from_one`: some array has all of 1, 2, ... up to its largest value, and no 0.
  std::set<PlateId> have_zero, from_one;
  /// By nested plate to whose elements the data refer by number: the length that each row must have at least. They
  /// become the lengths of the rows if no source gives any.
  std::map<PlateId, std::vector<std::int64_t>> referenced_rows;
  std::map<PlateId, std::optional<std::int64_t>> size_cache;  // results of size_of(), by plate
  std::vector<std::optional<double>> constants;               // values of constants, by ConstantId
  std::vector<bool> constants_done;                           // by ConstantId: `constants` has its final value
  std::vector<Slot> slots;                                    // all names of the model that data may be bound to
  /// The user's arrays for the slots, by name, with the copies of sparse counts expanded or counts made dense. Steps
  /// sort and renumber their values until store_values() moves them to the result.
  std::map<std::string, DataArray> arrays;
};

/// Returns the number by which the user's data name the first element of a plate: `from` in its declaration, 0 without
/// that. Messages add it to positions, which count from 0.
inline std::int64_t first_number_of(const Binder& b, PlateId plate) { return b.model[b.model[plate].set].from; }

/// Adds an error to Binder::problems and returns it, so that the caller can add notes. Binding continues. `where` is
/// the file or option at fault, `text` the message.
Error& problem(Binder& b, ExitCode code, std::string where, std::string text);
/// Adds an error about a value that the model's text gives. It names the file, line and column of the expression, and
/// its notes say where each constant in it gets its value.
Error& problem_of_text(Binder& b, ExprId at, std::string text);
/// Adds a warning for the user to BoundData::warnings.
inline void warn(Binder& b, std::string text, std::vector<std::string> notes = {}) {
  b.out.warnings.push_back(make_warning(std::move(text), std::move(notes)));
}
/// Returns the name of an array with its axes, for messages: "x[n, d]", "x[n] over d".
std::string signature(const Binder& b, const Slot& slot);

/// Checks the user's options --set, --sizes and --labels against the model: their names must exist in it. Stores
/// constants, and records sizes of plates and the row lengths of an earlier fit as claims. (bind_settings.cpp)
void read_settings(Binder& b);
/// Returns the numeric value of a constant of the model: from --set, from its declaration, or from a single number of
/// that name in the data. Returns nothing if it has none; that is reported once, except in bind_sizes().
/// (bind_settings.cpp)
std::optional<double> evaluate_constant(Binder& b, ConstantId id);
/// Returns the numeric value of an expression of constants and sizes of plates, such as `2 * K + 1`. Returns nothing if
/// a constant or size in it has no value. (bind_elements.cpp)
std::optional<double> evaluate(Binder& b, ExprId id);

/// Returns true if the slot is an array that counts the copies of each element of a plate, as `count` in
/// `plate token times count`.
bool is_multiplicity(const Binder& b, const Slot& slot);

/// Finds out how the lines of tables form the rows of nested plates. A column that is named like the outer plate says
/// which row each line belongs to. Reorders the arrays of such tables, and records the lengths of rows as claims.
/// (bind_table_rows.cpp)
void match_table_rows(Binder& b);

/// Sorts the lines of tables that have one line for each element of a plate, an index set that is not nested. A column
/// named like the plate says which element each line is: by its number, its label, or a word that names it. The column
/// is ignored where the elements have no labels, are counted from 0, and no other data refer to them, or refer to them
/// in a way that does not fit the column (words against numbers).
///
/// Elements without a line get missing values. Records the number of elements as a claim, and words as labels. Reports
/// a missing id, an id that occurs twice, and data without a line for some element. (bind_table_lines.cpp)
void match_table_lines(Binder& b);

/// Moves the user's array for every name of the model that needs data to Binder::arrays, and reports names without an
/// array. Makes categories count from 0 and expands sparse counts. (bind_shapes.cpp)
void match_arrays(Binder& b);
/// Derives the sizes of plates, and the lengths of rows of nested ones, from the shapes of all arrays and the id
/// columns of tables, and records them as claims. Sizes are decided later, by compute_sizes(). (bind_shapes.cpp)
void claim_shapes(Binder& b);

/// Decides the number of elements of a plate from all claims and returns it; of a nested plate, that of all its rows
/// together. Reports sources that disagree, and returns nothing if no source gives the size. The result is cached, so
/// claims must be complete. (bind_sizes.cpp)
std::optional<std::int64_t> size_of(Binder& b, PlateId plate);
/// Returns where each row starts if rows of these lengths are packed one after another, and the end of the last row:
/// {0, 2, 5} for lengths {2, 3}. (bind_sizes.cpp)
std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths);
/// Computes the sizes of all plates, the starts of the rows of nested plates, and the values of all constants. Reports
/// sources that disagree, and plates without a size. (bind_sizes.cpp)
void compute_sizes(Binder& b);

/// Adds a slot for each latent variable of which the data have some, but not all, values, so that these values are
/// bound and the others inferred. Where that is impossible (why_not_clamped()), a warning says that the data are not
/// used, unless the user bound them by name. Reports a variable of which the data have all values, if the user bound it
/// by name or as a column; otherwise such data are ignored. (bind_clamps.cpp)
void add_clamped_slots(Binder& b);

/// Returns the names of a plate's elements that the option --labels or an earlier fit gives (Settings::labels), in the
/// order of the elements; empty if there are none. (bind_names.cpp)
std::vector<std::string> user_labels(const Binder& b, PlateId plate);
/// Returns the names of the columns of the first array whose columns are elements of the plate; empty without one.
/// (bind_names.cpp)
std::vector<std::string> names_of_columns(const Binder& b, PlateId plate);
/// Names the elements of plates by the row and column names of the file that an array came from. If the elements have
/// names already, by user_labels() or an earlier array, sorts rows and columns into their order; of sparse counts,
/// renumbers the values. Both sides of a square matrix are sorted. Names of which none is an element's are ignored, and
/// a problem is reported if only some are. (bind_names.cpp)
void name_elements(Binder& b, const Slot& slot, DataArray& a);

/// The most elements that a plate may have if its size follows only from the largest category in the data, which may be
/// a mistake. A larger plate needs `= K`, the shape of an array, or --sizes.
inline constexpr std::int64_t kLargestImplied = 20'000'000;
/// Reads what values of categories say about plates, before sizes are computed: replaces words in text columns by
/// element numbers, and records for each plate the largest element that the data refer to, for nested plates how long
/// the rows must be. Also names elements by row and column names. (bind_values.cpp)
void claim_values(Binder& b);
/// Reports the first constant index in the model, such as the 3 in `mu[3]`, that is not below the number of elements of
/// its plate; of a nested plate, of the shortest row. (bind_values.cpp)
void check_constant_indices(Binder& b);
/// Checks all data values against the supports of their variables (counts, positive numbers, ...) and moves them to the
/// result. Decides what missing values mean. Multiplicities without data become 1. Elements of a plate without names
/// get their numbers as names if others have names, or if the plate is numbered from 1 or more. (bind_values.cpp)
void store_values(Binder& b);
/// Converts a position in an array's packed values to one index for each axis of the slot, counted from 0: position 7
/// of an array of 2 rows and 4 columns is {1, 3}. The index of a nested plate counts within its row. The sizes of
/// plates must have been computed. (bind_values.cpp)
std::vector<std::int64_t> element_indices(const Binder& b, const Slot& slot, std::size_t position);
/// Returns the name of the value at a position of an array's packed values, for messages: "x[3, 1]". Elements are
/// numbered as the user's data number them (first_number_of(), Settings::first). The sizes of plates must have been
/// computed. (bind_values.cpp)
std::string element_name(const Binder& b, const Slot& slot, std::size_t position);

/// Returns the number of values that an array must have by the sizes of its axes. Returns the largest std::size_t if
/// the product overflows. (bind_values.cpp)
std::size_t expected_count(const Binder& b, const Slot& slot);

/// An assignment of element numbers to index variables, such as n = 3, d = 1. It selects one element of a statement
/// `x[n, d] ~ ...`. (The functions that use it are in bind_elements.cpp.)
using IndexValues = std::vector<std::pair<IndexVarId, std::int64_t>>;
/// Returns the values of a statement's index variables (n = 3, d = 1) for the value at a position of its variable's
/// packed values.
IndexValues index_values_at(const Binder& b, const Slot& slot, const Statement& s, std::size_t position);
/// Returns the numeric value of a scalar expression at one element of a statement: `at` has the values of its index
/// variables. Checks of data use it. Returns nothing if constants and data do not determine the value.
std::optional<double> value_at(Binder& b, ExprId id, const IndexValues& at);
/// Returns the entry of a data array that the indices of a reference such as `x[w[n], 2]` select, for given values of
/// the index variables; checks of data use it. `values` are the packed values of the array. Returns nothing if the
/// entry is missing, if it lies outside the array, or if constants and data do not determine an index.
std::optional<double> element(Binder& b, const std::vector<double>& values, const std::vector<Index>& indices,
                              const IndexValues& at);
/// Returns the position in a packed array that the indices of a reference such as `x[w[n], 2]` select, for given values
/// of the index variables. Returns nothing if constants and data do not determine an index, if an index is negative, or
/// if there is no such row of a nested plate. The position may lie behind the end of the array.
std::optional<std::size_t> packed_position(Binder& b, const std::vector<Index>& indices, const IndexValues& at);
/// Returns the possible values of a data entry whose indices contain latent categories, for checks of data: one for
/// each combination of the categories. For `rate[z[n]]` with latent z these are all entries of `rate`. `at` has the
/// values of the index variables. Entries that are missing or not determined are left out. The result is empty if a
/// latent category is an element of a nested plate.
std::vector<double> values_at(Binder& b, const GivenRef& given, const IndexValues& at);
/// Returns the values that an expression can have, for given values of its index variables, for checks of data. A data
/// entry that latent categories select, such as `rate[z[n]]`, has one for each category; another expression has one, or
/// none if constants and data do not determine it.
std::vector<double> values_at(Binder& b, ExprId id, const IndexValues& at);
/// Returns the element number, counted from 0, that one index such as `3`, `t - 1` or `w[n]` denotes, for given values
/// of the index variables. Returns nothing if constants and data do not determine it. It may lie outside the plate.
std::optional<std::int64_t> position(Binder& b, const Index& index, const IndexValues& at);

/// Returns true if the slot's array holds the concentrations of a random probability vector (Dirichlet). Binding fills
/// rows of such an array that are shorter than others with zeros: elements that never occur.
/// (bind_zero_concentrations.cpp)
bool is_concentration(const Binder& b, const Slot& slot);
/// Reports observed categories and counts that have probability 0 because the concentration of their Dirichlet prior is
/// 0. (bind_zero_concentrations.cpp)
void check_zero_concentrations(Binder& b);

/// Adds a warning if an observed time series ends with missing values: left out of the data, they would be predicted
/// exactly by `lehr predict`, while in the fit their factors make the posterior less exact. (bind_missing_tails.cpp)
void warn_of_missing_tail(Binder& b, const Slot& slot, const DataArray& a);

/// Computes how long the rows of nested plates must be so that every element exists to which the data refer, and stores
/// the lengths in Binder::referenced_rows. They are used only where nothing else gives lengths. Reports data that refer
/// to such elements by words. (bind_references.cpp)
void claim_referenced_rows(Binder& b);
/// Reports data that refer to an element of a nested plate by a number behind the end of its row. (bind_references.cpp)
void check_references(Binder& b);

/// Reports observed values of probability 0, such as a 1 drawn with p = 0, where constants and data give the
/// parameters. (bind_zero_probability.cpp)
void check_zero_probability(Binder& b);

/// A parameter of a distribution as the user typed it, with the statement and the variable that it belongs to, for
/// checks and their messages.
struct WrittenParameter {
  const Statement& statement;        // the statement with the distribution
  const Variable& variable;          // the variable on the left of `~`
  const Distribution& distribution;  // the distribution as typed; of a mixture, one of its parts
  const Parameter& parameter;        // one of its parameters
};
/// Returns the parameters of all distributions as the user typed them, before compound distributions were expanded
/// (as_written), in the order of the statements. (bind_parameters.cpp)
std::vector<WrittenParameter> written_parameters(const Model& model);

/// Returns what a number must be, in words for a message such as "positive", if it is outside a parameter's domain;
/// null if it is inside. Probabilities up to 1.0001 are accepted. (bind_parameters.cpp)
const char* wanted(math::Support domain, double value);

/// Checks parameters of distributions that are expressions of data, at each element. Where data alone give one, as
/// `1 - p[n]`, it must be in its domain; where random factors remain, as in the precision `w[n] * tau`, the product of
/// the data must be positive. Quotients and functions of data must be finite. (bind_expressions.cpp)
void check_expressions(Binder& b);

/// Reports limits of a variable that contradict each other: above 3 and below 2 for a latent one, above 2 and below 3
/// for one that is censored there. Also reports limits of counts that are not whole numbers. (bind_limits.cpp)
void check_limits(Binder& b);

/// Checks parameters of distributions that are constants or data arrays against their domains: a standard deviation
/// must be positive, probabilities must sum to 1, cut points must increase. A literal 0 in a prior is allowed and makes
/// it improper. Replaces concentrations of 0 by kZeroConcentration in rows that also have positive ones.
/// (bind_parameters.cpp)
void check_parameters(Binder& b);

/// Reports an observed matrix that is not symmetric positive definite, if the slot's variable is a matrix of that kind.
/// One that is symmetric up to rounding is replaced by its symmetric part, with a warning. (bind_symmetric.cpp)
void check_observed_matrices(Binder& b, const Slot& slot, DataArray& a);
/// Replaces data matrices from which parameters of distributions (covariances, say) are computed by their symmetric
/// parts, if they are symmetric up to rounding. Reports one that is a parameter itself and not positive definite.
/// (bind_symmetric.cpp)
void symmetrise_parameters(Binder& b);

/// Reports observed counts that contradict their totals: a Binomial count above n, or Multinomial counts that do not
/// sum to n. (bind_totals.cpp)
void check_totals(Binder& b);

}  // namespace lehr::model
