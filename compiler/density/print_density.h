// The log joint in index notation: `lehr emit --as density`, and the phrases of messages and of `lehr derive`.
#pragma once
#include <map>
#include <string>

#include "compiler/density/poly.h"

namespace lehr::density {

/// What is printed from, and the names of the bounds in scope: unique, the plate's name with primes where several range
/// over one plate.
class Names {
 public:
  Names(const model::Model& m, const Algebra& a) : model(m), algebra(a) {}
  std::string operator()(BoundId b);

  const model::Model& model;
  const Algebra& algebra;

 private:
  std::map<BoundId, std::string> given_;
  std::map<std::string, int> used_;
};

std::string print(Names& names, IndexId i);
std::string print(Names& names, CoefId c);
std::string print(Names& names, const Atom& atom);
std::string print(Names& names, const Guard& g);
/// The statistic in the words of its variable, without indices: "log theta[k]", "mu^2", "lgamma(shape)".
std::string print_statistic(const model::Model& m, const Atom& atom);
/// `sum(doc, token) count[doc,token] * [z[doc,token] = topic] * log theta[doc][topic]`
std::string print(const model::Model& m, const Algebra& a, const Term& t);
std::string print_poly(const model::Model& m, const Density& d, const Poly& p);

}  // namespace lehr::density

namespace lehr {

/// All terms, one a line, under the statement they came from.
std::string print(const model::Model& model, const density::Density& density, const Source& source);

}  // namespace lehr
