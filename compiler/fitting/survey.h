// What is known of items after their data were read once, part by part: by one process, or by each process of a group
// of a part of its own.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/evaluate/far_columns.h"
#include "runtime/bytes.h"

namespace lehr {

/// What is known of an array of a file by its parts.
struct SurveyedArray {
  double largest = -1;
  std::set<std::string> levels;  // of text
  bool numbers = false;
};

/// The same of an array of the model.
struct CheckedArray {
  RunningMoments moments;
  bool has_missing = false;
  bool has_barren = false;   // elements of items on which no data depend
  bool is_informed = false;  // of a variable outside the items: taken to have no element without data
  std::vector<double>
      informed;  // else 1 for those on which the data of some items depend; the last ones may be missing

  /// Of some more items: a mask as find_barren has it.
  void add_informed(const std::vector<double>& mask);
};

struct Survey {
  std::int64_t begin = 0;  // the first item
  std::map<std::string, SurveyedArray> arrays;
  std::vector<CheckedArray> givens, observed;
  std::vector<std::int64_t> elements, longest;  // by PlateId: of all rows of a nested plate, of the longest one
  std::vector<std::vector<std::int64_t>> rows;  // by PlateId: before every item whose number is a multiple of `apart`,
  std::int64_t apart = 1;                       // a power of two, which keeps them few
  std::string digest;
  double numbers = 0;  // in all arrays

  /// Until there are few enough.
  void thin();
  /// What is known of the items after these.
  void add(const Survey& next);

 private:
  void keep_each(std::int64_t apart_now);
};

template <class Archive>
void fields(Archive& a, SurveyedArray& x) {
  std::vector<std::string> levels(x.levels.begin(), x.levels.end());
  a(x.largest, levels, x.numbers);
  x.levels = {levels.begin(), levels.end()};
}

template <class Archive>
void fields(Archive& a, CheckedArray& x) {
  a(x.moments, x.has_missing, x.has_barren, x.is_informed, x.informed);
}

template <class Archive>
void fields(Archive& a, Survey& x) {
  a(x.begin, x.arrays, x.givens, x.observed, x.elements, x.longest, x.rows, x.apart, x.digest, x.numbers);
}

}  // namespace lehr
