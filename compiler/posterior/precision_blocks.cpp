// Expands -1/2 (x - m)' P (x - m) of every element that concerns the chain. The coefficients of products of two
// different steps are collected.
#include "compiler/posterior/precision_blocks.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/model/roles.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;
/// Steps of the chain, by position.
using Steps = std::set<std::size_t>;

/// The expansion for one chain.
class Links {
 public:
  Links(const ChainLayout& chain, const Symbolic& symbolic, const std::vector<std::vector<bool>>& d_connected,
        const std::function<std::optional<double>(const Polynomial&)>& mean)
      : chain_(chain),
        symbolic_(symbolic),
        forward_(symbolic.forward()),
        model_(forward_.model()),
        d_connected_(d_connected),
        mean_(mean) {}

  /// Returns the blocks between steps; nullopt if they cannot be determined.
  std::optional<PrecisionBlocks> run() {
    for (const Potential& p : model_.potentials)
      if (!references({p.value}).empty()) return std::nullopt;
    for (const Statement& s : model_.statements) {
      const std::vector<ExprId> read = references(roots_of(s));
      if (model_[s.variable].auxiliary || (read.empty() && !is_member(s.variable))) continue;
      for (std::size_t e = 0; e < forward_.elements(s.variable); ++e)
        if (!add(s, {s.variable, e}, read)) return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  /// Returns true if the variable belongs to the chain.
  bool is_member(VariableId v) const { return std::ranges::find(chain_.members, v) != chain_.members.end(); }

  /// Returns the references to the chain below these expressions.
  std::vector<ExprId> references(const std::vector<ExprId>& roots) const {
    std::vector<ExprId> out;
    for (const ExprId id : nodes_under(model_, roots)) {
      const auto* ref = std::get_if<VariableRef>(&model_[id].node);
      if (ref && is_member(ref->variable)) out.push_back(id);
    }
    return out;
  }

  /// How much of an element is observed or d-connected to data.
  enum class Coverage { none, part, all };
  /// Returns how much of the element is in the posterior: observed values, or a d-connected latent element.
  Coverage coverage(Element e) const {
    const Variable& v = model_[e.variable];
    if (v.clamped) return Coverage::part;
    if (!v.observed) return d_connected_[e.variable.index()][e.position] ? Coverage::all : Coverage::none;
    const auto missing = std::ranges::count_if(forward_.values(e), [](double x) { return std::isnan(x); });
    return missing == 0 ? Coverage::all : missing == std::ssize(forward_.values(e)) ? Coverage::none : Coverage::part;
  }

  /// Returns the steps that an element and its distribution refer to, with inner sums at their first index.
  Steps named(Element e, const std::vector<ExprId>& read) const {
    Steps out;
    const IndexValues at = forward_.at(e);
    if (is_member(e.variable)) out.insert(chain_.at(e.variable, e.position * forward_.width(e.variable)).step);
    for (const ExprId id : read) {
      const auto& r = std::get<VariableRef>(model_[id].node);
      const auto [first, last] = forward_.read_by(r, at);
      for (std::size_t k = first; k < last; ++k)
        out.insert(chain_.at(r.variable, k * forward_.width(r.variable)).step);
    }
    return out;
  }

  /// Returns x - m by number; nullopt if the element is not Normal.
  std::optional<std::vector<Polynomial>> differences(const Statement& s, Element e) const {
    const IndexValues at = forward_.at(e);
    forward_.clear();
    if (!forward_.distribution(s, at).family->gaussian || s.limits.any()) return std::nullopt;
    std::vector<Polynomial> out;
    const std::size_t width = forward_.width(e.variable);
    for (std::size_t j = 0; j < width; ++j) {
      const MaybePolynomial mean = symbolic_.mean(s, at, j);
      if (!mean || forward_.unknown()) return std::nullopt;
      const Polynomial own = model_[e.variable].observed
                                 ? constant(forward_.values(e)[j])
                                 : Polynomial{{1.0, {Atom{e.variable, e.position * width + j, Atom::Kind::value}}}};
      out.push_back(merged(own + scaled(*mean, -1)));
    }
    return out;
  }

  /// Returns the numbers of the chain in a monomial.
  std::vector<StepCoordinate> of_chain(const Monomial& m) const {
    std::vector<StepCoordinate> out;
    for (const Atom& a : m.atoms)
      if (is_member(a.variable)) out.push_back(chain_.at(a.variable, a.number));
    return out;
  }

  /// Adds the products of one element. Returns false if they cannot be determined.
  bool add(const Statement& s, Element e, const std::vector<ExprId>& read) {
    const Coverage covered = coverage(e);
    if (covered == Coverage::none) return true;
    const auto x = differences(s, e);
    Steps steps;
    for (std::size_t j = 0; x && j < x->size(); ++j)
      for (const Monomial& m : (*x)[j])
        for (const StepCoordinate& n : of_chain(m))
          steps.insert(n.step);
    if (!x) steps = named(e, read);
    if (steps.size() < 2) return true;
    if (!x || covered == Coverage::part || times_plate(model_, model_[e.variable])) return false;
    const IndexValues at = forward_.at(e);
    for (std::size_t j = 0; j < x->size(); ++j) {
      for (std::size_t l = 0; l < x->size(); ++l) {
        const auto precision = symbolic_.parameter(s, at, "precision", j, l);
        if (!precision || forward_.unknown() || !add(merged(*precision * (*x)[j] * (*x)[l]))) return false;
      }
    }
    return true;
  }

  /// Adds the products in P_jl (x - m)_j (x - m)_l. Each product of two steps occurs twice in the full sum, hence the
  /// factor 1/2 below.
  bool add(const Polynomial& product) {
    std::map<std::pair<std::size_t, std::size_t>, std::map<std::pair<std::size_t, std::size_t>, Polynomial>> found;
    for (const Monomial& m : product) {
      std::vector<StepCoordinate> n = of_chain(m);
      if (n.size() < 2) continue;
      Monomial rest{m.coefficient, {}};
      for (const Atom& a : m.atoms)
        if (!is_member(a.variable)) rest.atoms.push_back(a);
        else if (a.kind != Atom::Kind::value) return false;
      if (n.size() > 2) return false;
      if (n[0].step == n[1].step) continue;
      if (n[0].step > n[1].step) std::swap(n[0], n[1]);
      found[{n[0].step, n[1].step}][{n[1].coordinate, n[0].coordinate}].push_back(rest);
    }
    const auto size = static_cast<Eigen::Index>(chain_.extent);
    for (const auto& [steps, entries] : found) {
      Eigen::MatrixXd& to = out_.try_emplace(steps, Eigen::MatrixXd::Zero(size, size)).first->second;
      for (const auto& [entry, coefficient] : entries) {
        const std::optional<double> c = mean_(coefficient);
        if (!c) return false;
        to(static_cast<Eigen::Index>(entry.first), static_cast<Eigen::Index>(entry.second)) += 0.5 * *c;
      }
    }
    return true;
  }

  const ChainLayout& chain_;
  const Symbolic& symbolic_;
  const ModelEvaluator& forward_;
  const Model& model_;
  const std::vector<std::vector<bool>>& d_connected_;
  const std::function<std::optional<double>(const Polynomial&)>& mean_;
  PrecisionBlocks out_;
};

}  // namespace

std::optional<PrecisionBlocks> precision_blocks(const ChainLayout& chain, const Symbolic& symbolic,
                                                const std::vector<std::vector<bool>>& d_connected,
                                                const std::function<std::optional<double>(const Polynomial&)>& mean) {
  return Links(chain, symbolic, d_connected, mean).run();
}

}  // namespace lehr
