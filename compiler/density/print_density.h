// Prints terms of the log joint in index notation. `lehr emit --as density`, error messages and `lehr derive` use it:
//     sum(doc, token) count[doc, token] * [z[doc, token] = topic] * log theta[doc][topic]
#pragma once
#include <map>
#include <string>

#include "compiler/density/poly.h"

namespace lehr::density {

/// Gives index variables unique printed names, and holds the model and algebra that is printed from. A name is
/// IndexVar::name, with a prime for each earlier index variable of the same name: n, n', n''.
class Names {
 public:
  /// Starts with no names given. `m` and `a` must outlive this object.
  Names(const model::Model& m, const Algebra& a) : model(m), algebra(a) {}
  /// Returns the name of an index variable, and chooses one at the first call for it.
  std::string operator()(IndexVarId b);

  /// The model that names of variables, data and plates are read from.
  const model::Model& model;
  /// The algebra that stores the expressions to be printed.
  const Algebra& algebra;

 private:
  /// The names of index variables that were chosen so far.
  std::map<IndexVarId, std::string> given_;
  /// How many index variables have each name, its primes left out.
  std::map<std::string, int> used_;
};

/// Returns the text of an index expression, such as `t-1` or `user[e]`.
std::string print(Names& names, IndexId i);
/// Returns the text of a coefficient (a number that depends on data and sizes), such as `alpha + count[d]`.
std::string print(Names& names, CoefId c);
/// Returns the text of a statistic of one element: `log theta[doc][topic]`. Of an opaque function it is Opaque::text.
std::string print(Names& names, const Atom& atom);
/// Returns the text of a condition on a sum, such as `t >= 1` or `present(x[n])`.
std::string print(Names& names, const Guard& g);
/// Returns the text of a statistic for error messages: "mu^2", or "log theta[k]", where k is any component. It has the
/// variable's name without plate indices. Of an opaque function it is Opaque::text, which can have them:
/// "lgamma(a[n])".
std::string print_statistic(const model::Model& m, const Atom& atom);
/// Returns the text of a term, its sum and guards included. Names of index variables start anew.
std::string print(const model::Model& m, const Algebra& a, const Term& t);
/// Returns the text of a sum of terms, "0" for none. It is for messages, while the statement is being expanded.
std::string print_poly(const model::Model& m, const Density& d, const Poly& p);

}  // namespace lehr::density

namespace lehr {

/// Returns the text of a whole density, as `lehr emit --as density` prints it: each statement or potential with its
/// line in `source`, then its terms, one a line.
std::string print(const model::Model& model, const density::Density& density, const Source& source);

}  // namespace lehr
