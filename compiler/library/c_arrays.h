// Arrays with names as C sees them. Only compiler/library/*.cpp include this.
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "compiler/library/impl.h"
#include "compiler/library/lehr_c.h"

struct lehr_arrays {
  struct Entry {
    std::string name;
    std::vector<std::int64_t> shape;
    const double* values;
    bool integer;
    std::vector<std::string> plates;     // of the axes; empty: not told
    std::vector<const char*> axes = {};  // the same as C reads it
  };
  std::vector<Entry> entries = {};
  std::deque<std::vector<double>> owned = {};       // what entries show and nothing else has
  std::shared_ptr<const lehr::Fit::Impl> fit = {};  // or this

  /// The numbers are moved here.
  void add(std::string name, std::vector<std::int64_t> shape, std::vector<double> values, bool integer = false,
           std::vector<std::string> plates = {});
  void add(lehr::NamedArray a) { add(std::move(a.name), std::move(a.shape), std::move(a.values), a.integer); }
};

namespace lehr {

/// What lehr_program_predict() and lehr_program_score() have.
lehr_arrays to_arrays(Predictions made);
lehr_arrays to_arrays(HeldOutScore made);

/// What lehr_fit_arrays() has.
Result<lehr_arrays> posterior_arrays(const Fit& fit);
Result<lehr_arrays> number_arrays(const Fit& fit);
Result<lehr_arrays> trace_arrays(const Fit& fit);
Result<lehr_arrays> drawn_arrays(const Fit& fit, std::int64_t draws, std::uint64_t seed);

}  // namespace lehr
