// A fit is a fixed point eta = f(eta) of updates of its global factors, after the items have been inferred. A change c
// of the naturals moves it by (I - J)^-1 c, with J = df / d eta = H V. In the coordinates u = L' eta of the factors,
// where V = L L', J becomes the symmetric matrix L' H L: a check of the differences.
//
// A column of J: move one coordinate of one element, infer the items and all else that has no coordinates, update each
// global block from that state, and read its coordinates. Blocks whose elements are updated one after another need a
// second visit, since a later element reads what an earlier one has just become (without_order).
#include "compiler/fit/linear_response.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "compiler/fit/checks/cancellation.h"
#include "compiler/fit/factor_coordinates.h"
#include "compiler/instance/members.h"
#include "compiler/posterior/saved_factor.h"
#include "runtime/inference/sweep.h"

namespace lehr {
namespace {

using conditionals::Block;
using Matrix = Eigen::MatrixXd;

/// How far a factor is moved, in standard deviations of a statistic.
constexpr double kMove = 1e-4;
/// The accuracy of the local variables, whose errors are divided by kMove; and the most rounds over them.
constexpr double kLocalTolerance = 1e-12;
constexpr std::int64_t kRounds = 1000;
/// The differences are not those of a maximum if entries of the symmetric matrix differ by more than this.
constexpr double kAsymmetric = 1e-3;
/// Factors with less than this fraction of the standard deviation by linear response are too narrow.
constexpr double kNarrow = 0.8;
/// What takes little work: a tenth of the sweeps of the fit, or so many operations, in both cases with few coordinates,
/// as formulas are evaluated for each.
constexpr std::int64_t kFewCoordinates = 40, kSweepsToOne = 10;
constexpr double kFewOperations = 2e7;
/// The least reciprocal condition number of equations that have a solution.
constexpr double kSingular = 1e-7;

/// A parameter of the factors of a block in the memory of the engine.
struct Parameter {
  const math::FactorParameter* row;
  std::int64_t buffer;
  std::size_t width;  // numbers of one element
};

/// Where the factors of a global block are.
struct Place {
  std::size_t block;                  // index of the block in the conditionals
  std::size_t step;                   // index of the step that updates it
  std::vector<Parameter> parameters;  // exported parameters
  std::size_t extent = 1;             // of the event axis
  std::size_t count = 0;              // number of elements
};

/// A global block whose factors have coordinates.
struct Part : Place {
  std::vector<FactorCoordinates> elements;  // of the factor of each element
  std::vector<Eigen::Index> first;          // the first coordinate of each element among all, and the end of the last
};

/// The numbers of one variable: where each is among the numbers of the factors of its part.
struct Numbers {
  std::string name;
  std::vector<std::int64_t> shape;
  std::size_t part, vector_width;                           // numbers of a vector; 0: the variable is none
  std::vector<std::pair<std::size_t, Eigen::Index>> where;  // element and number of its value
};

/// Returns why a block has no coordinates; empty if it may have.
std::string why_not(const Block& b) {
  if (b.drawn) return "it is drawn";
  if (b.point) return "its factor is a point";
  if (b.chain) return "its factor is a chain's";
  if (is_discrete(b.family->support) || b.family->support == math::Support::switched) return "its values are discrete";
  return "";
}

/// Returns where the factors of a global block are; nullopt if they are not in memory as a whole.
std::optional<Place> place_of(const Instance& instance, const Analysed& analysed, std::size_t k) {
  const Engine& engine = instance.engine();
  const Block& b = analysed.schedule.conditionals.blocks[k];
  const model::Model& m = analysed.model;
  Place out{k, 0, {}};
  const auto steps = engine.steps();
  const auto step = std::ranges::find_if(
      steps, [&](const StepRow& s) { return !s.stage && !s.local && s.block == static_cast<std::int64_t>(k); });
  if (step == steps.end()) return std::nullopt;
  out.step = static_cast<std::size_t>(step - steps.begin());
  for (const math::FactorParameter& p : b.factor->parameters) {
    if (!p.exported) continue;
    const std::string name = m[b.mean && p.of_mean ? *b.mean : b.variable].name + "." + p.name;
    const auto rows = machine::parameters_of(engine.model());
    const auto row =
        std::ranges::find_if(rows, [&](const machine::ParameterRow& r) { return instance.name_of(r.buffer) == name; });
    if (row == rows.end() || row->by_stage || engine.is_partial(row->buffer)) return std::nullopt;
    out.extent = static_cast<std::size_t>(engine.extent(row->event));
    out.parameters.push_back({&p, row->buffer, scalars_per_element(p.event_rank, out.extent)});
  }
  if (out.parameters.empty() || out.extent == 0) return std::nullopt;
  out.count = engine.reals(out.parameters[0].buffer).size() / out.parameters[0].width;
  return out;
}

/// The factors of a fit as a point that can be moved.
class Solution {
 public:
  Solution(Instance& instance, const Analysed& analysed)
      : instance_(instance), analysed_(analysed), saved_(engine().save()) {
    find_parts();
  }
  ~Solution() { engine().load(saved_); }
  Solution(const Solution&) = delete;
  Solution& operator=(const Solution&) = delete;

  /// Returns the blocks that have coordinates.
  const std::vector<Part>& parts() const { return parts_; }
  /// Returns the number of all coordinates.
  Eigen::Index size() const { return size_; }
  /// Returns, for messages, which variables have no coordinates, and why.
  const std::vector<std::string>& left_out() const { return left_out_; }
  /// Returns the variables that have numbers in parts().
  std::vector<Numbers> numbers() const;

  /// Infers all that has no coordinates. Returns why that fails; empty: it does not.
  std::string converge();
  /// Returns the symmetric matrix L' H L, or nullopt with a reason.
  std::optional<Matrix> response_matrix(std::string& failure);

 private:
  using Values = std::vector<std::vector<double>>;  // of the parameters of one part

  Engine& engine() const { return instance_.engine(); }
  void find_parts();
  std::optional<Part> part_of(std::size_t block) const;
  std::string infer_rest();
  std::string displace(const Part& part, std::size_t element, Eigen::Index coordinate, double by);
  std::string update(const Part& part) const;
  Values values_of(const Part& part) const;
  math::Environment element_of(const Part& part, const Values& values, std::size_t element) const;
  void add_difference(const Part& part, const Values& up, const Values& down, Eigen::Index column, Matrix& to) const;
  std::string differences(const Part& moved, std::size_t element, Eigen::Index coordinate, Matrix& all, Matrix& alone);
  void without_order(const Part& part, const Matrix& alone, Matrix& all) const;

  Instance& instance_;
  const Analysed& analysed_;
  Arrays saved_, converged_;
  std::vector<Part> parts_;
  std::vector<bool> has_coordinates_;  // by block
  std::vector<std::string> left_out_;
  Eigen::Index size_ = 0;
};

/// Returns the block with its coordinates; nullopt if some element has none.
std::optional<Part> Solution::part_of(std::size_t k) const {
  std::optional<Place> place = place_of(instance_, analysed_, k);
  if (!place) return std::nullopt;
  Part out{std::move(*place), {}, {}};
  const Values values = values_of(out);
  for (std::size_t e = 0; e < out.count; ++e) {
    std::optional<FactorCoordinates> c =
        FactorCoordinates::make(*analysed_.schedule.conditionals.blocks[k].factor, element_of(out, values, e));
    if (!c) return std::nullopt;
    out.elements.push_back(std::move(*c));
  }
  return out;
}

void Solution::find_parts() {
  const schedule::Schedule& schedule = analysed_.schedule;
  const model::Model& m = analysed_.model;
  std::vector<std::string> of_items;
  has_coordinates_.assign(schedule.conditionals.blocks.size(), false);
  for (std::size_t k = 0; k < schedule.conditionals.blocks.size(); ++k) {
    const Block& b = schedule.conditionals.blocks[k];
    const model::Variable& v = m[b.variable];
    const bool of_user = !v.auxiliary || is_joint(v);
    std::vector<std::string> names;
    if (b.mean) names.push_back("'" + m[*b.mean].name + "'");
    if (!is_joint(v)) names.push_back("'" + v.name + "'");
    else
      for (const model::Member& member : v.auxiliary->members)
        names.push_back("'" + m[member.variable].name + "'");
    if (schedule.stage_of[k]) {
      if (of_user && why_not(b).empty()) std::ranges::move(names, std::back_inserter(of_items));
      continue;
    }
    std::string why = why_not(b);
    std::optional<Part> part = why.empty() ? part_of(k) : std::nullopt;
    if (part) {
      for (const FactorCoordinates& c : part->elements) {
        part->first.push_back(size_);
        size_ += c.size();
      }
      part->first.push_back(size_);
      parts_.push_back(std::move(*part));
      has_coordinates_[k] = true;
    } else if (of_user) {
      if (why.empty()) why = "its factor has no standard deviations, or no finite ones";
      left_out_.push_back(fmt::format("{}: {}", fmt::join(names, ", "), why));
    }
  }
  if (!of_items.empty())
    left_out_.push_back(
        fmt::format("{}: {} of items", fmt::join(of_items, ", "), of_items.size() == 1 ? "a variable" : "variables"));
}

std::vector<Numbers> Solution::numbers() const {
  const model::Model& m = analysed_.model;
  const std::vector<NamedArray> posterior = instance_.posterior(false);
  std::vector<Numbers> out;
  const auto add = [&](model::VariableId v, std::size_t part, const std::vector<std::int64_t>& axes, int rank,
                       Eigen::Index first) {
    const auto extent = static_cast<std::int64_t>(parts_[part].extent);
    Numbers n{m[v].name, axes, part, m[v].support == math::Support::vector ? parts_[part].extent : 0, {}};
    n.shape.insert(n.shape.end(), static_cast<std::size_t>(rank), extent);
    const auto width = static_cast<Eigen::Index>(scalars_per_element(rank, parts_[part].extent));
    for (std::size_t e = 0; e < parts_[part].elements.size(); ++e)
      for (Eigen::Index k = 0; k < width; ++k)
        n.where.emplace_back(e, first + k);
    out.push_back(std::move(n));
    return first + width;
  };
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Part& p = parts_[k];
    const Block& b = analysed_.schedule.conditionals.blocks[p.block];
    const NamedArray* a = find_array(posterior, instance_.name_of(p.parameters[0].buffer));
    if (!a) continue;
    const std::vector<std::int64_t> axes(a->shape.begin(), a->shape.end() - p.parameters[0].row->event_rank);
    if (is_joint(m[b.variable])) {
      const std::size_t coordinates = coordinates_of(m[b.variable].support, p.extent);
      for (const MemberLayout& x : members_of(m, b.variable, sizes_of_members(m, b.variable, by_variable(posterior)))) {
        Numbers n{x.name, x.shape, k, x.support == math::Support::vector ? x.width : 0, {}};
        for (const std::size_t at : x.at)
          n.where.emplace_back(at / coordinates, static_cast<Eigen::Index>(at % coordinates));
        out.push_back(std::move(n));
      }
    } else if (b.mean) {
      const Eigen::Index first = add(*b.mean, k, axes, event_rank(m[*b.mean].support), 0);
      add(b.variable, k, axes, event_rank(m[b.variable].support), first);
    } else if (!m[b.variable].auxiliary) {
      add(b.variable, k, axes, event_rank(m[b.variable].support), 0);
    }
  }
  return out;
}

Solution::Values Solution::values_of(const Part& part) const {
  Values out;
  for (const Parameter& p : part.parameters) {
    const std::span<const double> x = engine().reals(p.buffer);
    out.emplace_back(x.begin(), x.end());
  }
  return out;
}

math::Environment Solution::element_of(const Part& part, const Values& values, std::size_t e) const {
  math::Environment out;
  out.extent = part.extent;
  for (std::size_t k = 0; k < part.parameters.size(); ++k) {
    const Parameter& p = part.parameters[k];
    const auto from = values[k].begin() + static_cast<std::ptrdiff_t>(e * p.width);
    out.symbols[p.row->name] = {p.row->event_rank, {from, from + static_cast<std::ptrdiff_t>(p.width)}};
  }
  return out;
}

/// Infers local variables, and all other blocks without coordinates, until they no longer move.
std::string Solution::infer_rest() {
  const auto is_rest = [&](const StepRow& s) {
    return s.stage || s.block < 0 || !has_coordinates_[static_cast<std::size_t>(s.block)];
  };
  const auto rest = std::ranges::count_if(engine().steps(), [&](const StepRow& s) { return is_rest(s) && !s.refresh; });
  const auto others = std::ranges::count_if(engine().steps(), [&](const StepRow& s) { return is_rest(s) && !s.stage; });
  const std::function<std::int32_t(const StepRow&)> skip = [&](const StepRow& s) {
    return is_rest(s) ? machine::call(engine().machine(), s.update) : 0;
  };
  Arrays before;
  for (std::int64_t round = 0; round < (rest == 0 ? 0 : kRounds); ++round) {
    if (const std::int32_t status =
            sweep(engine(), {.local_iterations = kRounds, .local_tolerance = kLocalTolerance}, {.update = skip}))
      return engine().describe(status);
    // A single stage infers its items until they no longer move.
    if (rest == 1 && others == 0) return "";
    Arrays now = engine().save();
    double moved = round == 0 ? 1 : 0;
    for (std::size_t k = 0; k < before.size(); ++k) {
      double by = 0, of = 0;
      for (std::size_t i = 0; i < now[k].size(); ++i) {
        by += std::abs(now[k][i] - before[k][i]);
        of += std::abs(now[k][i]);
      }
      if (of > 0) moved = std::max(moved, by / of);
    }
    if (moved <= kLocalTolerance) return "";
    before = std::move(now);
  }
  return rest == 0 ? "" : "variables without a standard deviation do not converge";
}

std::string Solution::converge() {
  // An instance that has other factors in place has no statistics of them yet.
  if (const std::int32_t status = prepare_statistics(engine())) return engine().describe(status);
  std::string why = infer_rest();
  converged_ = engine().save();
  return why;
}

/// Puts the factors in place, with one coordinate of one element moved.
std::string Solution::displace(const Part& part, std::size_t element, Eigen::Index coordinate, double by) {
  engine().load(converged_);
  const math::Environment moved = part.elements[element].along(coordinate, by);
  for (const Parameter& p : part.parameters)
    std::ranges::copy(moved.symbols.at(p.row->name).values,
                      engine().reals(p.buffer).begin() + static_cast<std::ptrdiff_t>(element * p.width));
  engine().invalidate_sums();
  const std::int32_t status = machine::call_on_stored(engine().machine(), engine().model().global_expectations);
  return status ? engine().describe(status) : "";
}

std::string Solution::update(const Part& part) const {
  const std::int32_t status = machine::call(engine().machine(), engine().steps()[part.step].update);
  return status ? engine().describe(status) : "";
}

/// Adds the change of the coordinates of a part, between two states of it, to a column.
void Solution::add_difference(const Part& part, const Values& up, const Values& down, Eigen::Index column,
                              Matrix& to) const {
  for (std::size_t e = 0; e < part.elements.size(); ++e) {
    bool same = true;
    for (std::size_t k = 0; k < part.parameters.size() && same; ++k) {
      const auto at = static_cast<std::ptrdiff_t>(e * part.parameters[k].width);
      same = std::equal(up[k].begin() + at, up[k].begin() + at + static_cast<std::ptrdiff_t>(part.parameters[k].width),
                        down[k].begin() + at);
    }
    if (same) continue;
    const FactorCoordinates& c = part.elements[e];
    to.col(column).segment(part.first[e], c.size()) =
        (c.coordinates(element_of(part, up, e)) - c.coordinates(element_of(part, down, e))) / (2 * kMove);
  }
}

/// Fills in one column of J, and of what the moved block does by itself, if its elements follow each other.
std::string Solution::differences(const Part& moved, std::size_t element, Eigen::Index coordinate, Matrix& all,
                                  Matrix& alone) {
  const Eigen::Index column = moved.first[element] + coordinate;
  const bool ordered = analysed_.schedule.conditionals.blocks[moved.block].coupled();
  std::vector<Values> up(parts_.size());
  Values up_alone;
  for (const double sign : {1.0, -1.0}) {
    if (ordered) {
      std::string why = displace(moved, element, coordinate, sign * kMove);
      if (why.empty()) why = update(moved);
      if (!why.empty()) return why;
      if (sign > 0) up_alone = values_of(moved);
      else add_difference(moved, up_alone, values_of(moved), column, alone);
    }
    std::string why = displace(moved, element, coordinate, sign * kMove);
    if (why.empty()) why = infer_rest();
    const Arrays state = engine().save();
    for (std::size_t k = 0; k < parts_.size() && why.empty(); ++k) {
      if (k > 0) engine().load(state);
      why = update(parts_[k]);
      if (sign > 0) up[k] = values_of(parts_[k]);
      else add_difference(parts_[k], up[k], values_of(parts_[k]), column, all);
    }
    if (!why.empty()) return why;
  }
  return "";
}

/// Corrects the rows of a block whose elements are updated one after another. With D the part of J by which its
/// elements read each other directly, and D_l what is below its diagonal, the rows have (I - D_l)^-1 (J - D_l). The
/// same holds for `alone`, with D in place of J; as D is symmetric, its rows follow from each other.
void Solution::without_order(const Part& part, const Matrix& alone, Matrix& all) const {
  const Eigen::Index begin = part.first.front(), size = part.first.back() - begin;
  const Matrix g = alone.block(begin, begin, size, size);
  Matrix direct = Matrix::Zero(size, size), below = direct;
  for (std::size_t e = 0; e < part.elements.size(); ++e) {
    const Eigen::Index at = part.first[e] - begin, n = part.elements[e].size(), after = at + n;
    below.block(at, 0, n, at) = direct.block(at, 0, n, at);
    const Matrix row = g.middleRows(at, n) - direct.block(at, 0, n, at) * g.topRows(at);
    direct.block(at, after, n, size - after) = row.rightCols(size - after);
    direct.block(after, at, size - after, n) = row.rightCols(size - after).transpose();
  }
  const Matrix rows = all.middleRows(begin, size);
  all.middleRows(begin, size) -= below * rows;
  all.block(begin, begin, size, size) += below;
}

std::optional<Matrix> Solution::response_matrix(std::string& failure) {
  Matrix all = Matrix::Zero(size_, size_), alone;
  const auto ordered = [&](const Part& p) { return analysed_.schedule.conditionals.blocks[p.block].coupled(); };
  if (std::ranges::any_of(parts_, ordered)) alone = all;
  for (const Part& p : parts_) {
    for (std::size_t e = 0; e < p.elements.size(); ++e)
      for (Eigen::Index i = 0; i < p.elements[e].size() && failure.empty(); ++i)
        failure = differences(p, e, i, all, alone);
  }
  if (!failure.empty()) return std::nullopt;
  for (const Part& p : parts_)
    if (ordered(p)) without_order(p, alone, all);
  const double largest = std::max(1.0, all.cwiseAbs().maxCoeff());
  if (!all.allFinite() || (all - all.transpose()).cwiseAbs().maxCoeff() > kAsymmetric * largest) {
    failure = "the factors are not at a maximum of the ELBO";
    return std::nullopt;
  }
  return (all + all.transpose()) / 2;
}

/// Returns the derivatives of the mean of a number in all coordinates.
Eigen::VectorXd slope_of(const Part& part, std::size_t element, Eigen::Index number, Eigen::Index size) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(size);
  const FactorCoordinates& c = part.elements[element];
  out.segment(part.first[element], c.size()) = c.slopes().row(number).transpose();
  return out;
}

/// Returns the result for one variable. `solver` has I - L' H L.
Response respond(const Part& part, const Numbers& n, const Eigen::LLT<Matrix>& solver, Eigen::Index size) {
  Response out{n.name, n.shape, {}, {}, {}, {}};
  Matrix slopes;
  for (std::size_t k = 0; k < n.where.size(); ++k) {
    const auto [element, number] = n.where[k];
    const FactorCoordinates& c = part.elements[element];
    const double own = c.moments().sd[static_cast<std::size_t>(number)];
    const Eigen::VectorXd slope = slope_of(part, element, number, size);
    const Eigen::VectorXd moved = solver.solve(slope);
    out.mean.push_back(c.moments().mean[static_cast<std::size_t>(number)]);
    out.sd.push_back(own);
    // What the statistics do not explain is left to the factor.
    const double variance = slope.dot(moved) + std::max(0.0, own * own - slope.squaredNorm());
    out.response.push_back(std::isfinite(own) && variance > 0 ? std::sqrt(variance) : std::nan(""));
    if (n.vector_width == 0) continue;
    const std::size_t first = k - k % n.vector_width;
    for (std::size_t j = first; j < first + n.vector_width; ++j)
      out.covariance.push_back(j == k ? variance
                                      : slope_of(part, n.where[j].first, n.where[j].second, size).dot(moved));
  }
  return out;
}

}  // namespace

std::int64_t response_coordinates(Instance& instance, const Analysed& analysed) {
  std::int64_t out = 0;
  const std::vector<Block>& blocks = analysed.schedule.conditionals.blocks;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (analysed.schedule.stage_of[k] || !why_not(blocks[k]).empty()) continue;
    if (const std::optional<Place> place = place_of(instance, analysed, k))
      out += static_cast<std::int64_t>(place->count * FactorCoordinates::count(*blocks[k].factor, place->extent));
  }
  return out;
}

bool is_response_cheap(Instance& instance, const Analysed& analysed, std::int64_t sweeps) {
  if (analysed.schedule.conditionals.blocks.size() < 2) return false;  // a factor alone is the posterior
  const std::int64_t coordinates = response_coordinates(instance, analysed);
  const Engine& engine = instance.engine();
  double operations = 0;    // of a sweep
  std::int64_t others = 0;  // steps that infer what has no coordinates: several need rounds
  for (const StepRow& s : engine.steps()) {
    const auto& blocks = analysed.schedule.conditionals.blocks;
    const bool moved = !s.stage && s.block >= 0 && !analysed.schedule.stage_of[static_cast<std::size_t>(s.block)] &&
                       why_not(blocks[static_cast<std::size_t>(s.block)]).empty();
    others += moved || s.refresh ? 0 : 1;
    operations += static_cast<double>(s.outside) +
                  (s.stage ? static_cast<double>(s.operations) * static_cast<double>(engine.extent(s.items)) : 0);
  }
  return others <= 1 && coordinates > 0 && coordinates <= kFewCoordinates &&
         (2 * coordinates * kSweepsToOne <= sweeps ||
          2 * static_cast<double>(coordinates) * operations <= kFewOperations);
}

std::string narrowed(const LinearResponse& response) {
  double least = kNarrow;
  std::string narrowest, of;
  std::vector<std::string> names;
  for (const Response& r : response.variables) {
    bool narrow = false;
    for (std::size_t k = 0; k < r.sd.size(); ++k) {
      const double ratio = r.sd[k] / r.response[k];
      narrow = narrow || ratio < kNarrow;
      if (!(ratio < least)) continue;
      least = ratio;
      of = r.name;
      narrowest = r.name + subscripts(r.shape, k);
    }
    if (narrow) names.push_back(r.name);
  }
  std::erase(names, of);
  if (narrowest.empty()) return "";
  return fmt::format("the standard deviation of {} is too small, {:.2f} of that by linear response{}", narrowest, least,
                     names.empty() ? "" : fmt::format("; so are some of {}", fmt::join(names, ", ")));
}

std::vector<NamedArray> arrays_of(const LinearResponse& response) {
  std::vector<NamedArray> out;
  for (const Response& r : response.variables) {
    out.push_back({r.name + ".sd", r.shape, r.response});
    if (r.covariance.empty()) continue;
    std::vector<std::int64_t> shape = r.shape;
    shape.push_back(shape.back());
    out.push_back({r.name + ".covariance", std::move(shape), r.covariance});
  }
  return out;
}

LinearResponse linear_response(Instance& instance, const Analysed& analysed, std::int64_t most) {
  LinearResponse out;
  Solution solution(instance, analysed);
  out.left_out = solution.left_out();
  if (solution.size() > most) {
    out.failure =
        fmt::format("the factors of global variables have {} parameters, of {} at most", solution.size(), most);
    return out;
  }
  if (solution.parts().empty()) return out;
  out.failure = solution.converge();
  if (!out.failure.empty()) return out;
  const std::optional<Matrix> matrix = solution.response_matrix(out.failure);
  if (!matrix) return out;
  const Eigen::LLT<Matrix> solver(Matrix::Identity(matrix->rows(), matrix->cols()) - *matrix);
  if (solver.info() != Eigen::Success || solver.rcond() < kSingular) {
    out.failure = "some direction of the factors leaves the ELBO as it is, or the fit is no maximum of it";
    return out;
  }
  for (const Numbers& n : solution.numbers())
    out.variables.push_back(respond(solution.parts()[n.part], n, solver, solution.size()));
  return out;
}

}  // namespace lehr
