// A built object in memory, and a state of it, as what this library works on. Only compiler/library/*.cpp include this.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "compiler/library/impl.h"
#include "runtime/embedded/state.h"

namespace lehr {

/// What the object was built from; its code infers the factors of items. An Error where this library cannot read that.
Result<Program> program_of(const machine::Model& object);

/// The factors of everything but items. The numbers are copied.
Fit fit_of(const Program& program, const machine::Model& object, const embedded::State& state);

/// A data set of the object's header as views of the caller's arrays, which must outlive it.
class ObjectData {
 public:
  /// kOk, kNull (row offsets), kSize, kOffsets.
  embedded::Status read(const machine::Model& object, const embedded::State& state, const embedded::DataSet* data);

  const std::vector<DataView>& views() const { return views_; }
  /// Of the plates of the items that no array shows.
  const std::map<std::string, std::int64_t>& sizes() const { return sizes_; }

 private:
  embedded::Status read_sizes(const embedded::State& state, const embedded::DataSet* data);
  void add(std::int64_t array);
  void add_lengths();
  bool is_nested(machine::Extent e) const;
  machine::View view() const { return {*object_, table_.data(), slots_.data()}; }

  const machine::Model* object_ = nullptr;
  std::vector<std::int64_t> slots_;  // sizes
  std::vector<lehr_buffer> table_;
  std::vector<bool> shown_;  // by slot: some array has this axis; of nested ones: with its rows
  std::deque<std::vector<double>> numbers_;
  std::vector<DataView> views_;
  std::map<std::string, std::int64_t> sizes_;
};

}  // namespace lehr
