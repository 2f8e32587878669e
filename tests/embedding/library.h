// Builds a model like `lehr build --shared`, loads the library into this process, and fills the structures that its
// functions take from bound data.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/embedding/embedding.h"
#include "tests/posterior/every_model.h"

namespace lehr::test {

/// The memory of a structure of the generated header: each field is a number or a pointer of eight bytes.
using Fields = std::vector<std::int64_t>;

/// A built and loaded model. It owns the library's file and the data that are passed to it.
class Library {
 public:
  /// Builds and loads the model. `p`, the model with its data, must outlive the object. `save_locals`: with the
  /// parameters of all items; `options`: target of code generation.
  Library(const Prepared& p, bool save_locals, const native::Options& options = {});
  /// Unloads the library and removes its file.
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// The description of the built object.
  const Embedding& embedding() const { return embedding_; }
  /// Returns true if the library has the function `name`, given without the model's name.
  bool has(const std::string& name) const;
  /// Returns the function `name`, given without the model's name, as a function of type F.
  template <class F>
  F* function(const std::string& name) const {
    return reinterpret_cast<F*>(symbol(name));
  }

  /// Returns the structure of sizes for the data that the library was built with, repeated `copies` times along the
  /// items.
  Fields sizes(std::int64_t copies = 1) const;
  /// Returns the structure of data, repeated `copies` times along the items. The arrays live as long as the library.
  Fields data(std::int64_t copies = 1);

 private:
  /// Returns the address of a function of the library. The test fails if there is none.
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
