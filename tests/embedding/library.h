// A model, built, linked and loaded into this process: its functions by name, and its structures filled from bound
// data.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/embedding/embedding.h"
#include "tests/posterior/every_model.h"

namespace lehr::test {

/// The fields of the header's structures: numbers and pointers, eight bytes each.
using Fields = std::vector<std::int64_t>;

class Library {
 public:
  Library(const Prepared& p, bool save_locals, const native::Options& options = {});
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Embedding& embedding() const { return embedding_; }
  bool has(const std::string& name) const;
  /// A function without the model's name.
  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(symbol(name));
  }

  /// The sizes of the data that the library was built with, room for `copies` of them.
  Fields sizes(std::int64_t copies = 1) const;
  /// The data, `copies` times end to end along the items; they live as long as the library.
  Fields data(std::int64_t copies = 1);

 private:
  void* symbol(const std::string& name) const;

  const Prepared& p_;
  loops::Lowered lowered_;
  Tables tables_;
  Embedding embedding_;
  std::string folder_;
  void* handle_ = nullptr;
  std::vector<std::vector<double>> reals_;
  std::vector<std::vector<std::int64_t>> integers_;
};

}  // namespace lehr::test
