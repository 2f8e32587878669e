// Converts a built object in the caller's process to a Program and a Fit of this library, so that predictions and
// scores work on it. Only compiler/library/*.cpp include this.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "compiler/library/impl.h"
#include "runtime/embedded/state.h"

namespace lehr {

/// Compiles the model text that the object contains to a Program whose items are inferred by the object's own code.
/// Elements of all plates count from 0 in it, as in the object. An error if this library cannot read the text. The
/// object must outlive the program.
Result<Program> program_of(const machine::Model& object);

/// Converts the state of a built object to a fit, for predictions and scores: it has the factors of the state except
/// those of items. The numbers are copied.
Fit fit_of(const Program& program, const machine::Model& object, const embedded::State& state);

/// A data set in the C struct of a built object's header, converted to DataViews as a Program takes data, for
/// predictions and scores.
class ObjectData {
 public:
  /// Reads the struct and makes the views. Arrays in it must outlive them. Returns kOk, or the failure: kNull (missing
  /// row offsets), kSize (a number of items that is too small or too large), kOffsets (row offsets that are wrong),
  /// kData (an array that is not aligned to 8 bytes).
  embedded::Status read(const machine::Model& object, const embedded::State& state, const embedded::DataSet* data);

  /// Returns views of the arrays that the data set has, in the caller's memory or in this object's.
  const std::vector<DataView>& views() const { return views_; }
  /// Returns, by name of the plate, the numbers of items that no array of the data set shows.
  const std::map<std::string, std::int64_t>& sizes() const { return sizes_; }

 private:
  /// Reads the sizes and the pointers to arrays, and derives the sizes of nested plates.
  embedded::Status read_sizes(const embedded::State& state, const embedded::DataSet* data);
  /// Appends a view of the array at this position in the object's table of arrays.
  void add(std::int64_t array);
  /// Appends a view with the row lengths of each nested plate that no ragged array shows.
  void add_lengths();
  /// Returns true if the extent is that of a nested plate.
  bool is_nested(machine::Extent e) const;
  /// Returns the built object with this data set as its memory, to read sizes and arrays from.
  machine::View view() const { return {*object_, table_.data(), slots_.data()}; }

  const machine::Model* object_ = nullptr;  // the built object whose struct it is
  /// Run-time sizes of this data set, by their position in the object's table of sizes.
  std::vector<std::int64_t> slots_;
  std::vector<lehr_buffer> table_;  // addresses of the arrays, by buffer of the object; null where absent
  /// By position in the table of sizes: true if some view has an axis of this size; of nested plates, with its rows.
  std::vector<bool> shown_;
  std::deque<std::vector<double>> converted_;  // memory of converted arrays; a deque, so that they stay where they are
  std::vector<DataView> views_;                // views of the arrays that the data set has
  std::map<std::string, std::int64_t> sizes_;  // by name of the plate: numbers of items that no view shows
};

}  // namespace lehr
