// A move puts the parameters of all factors in place, infers what has no coordinates, and updates each global block
// from that state. Differences are central.
#include "compiler/fit/movable_fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "compiler/fit/item_visits.h"
#include "compiler/instance/members.h"
#include "compiler/model/walk.h"
#include "compiler/posterior/moments.h"
#include "compiler/posterior/saved_factor.h"
#include "runtime/inference/sweep.h"

namespace lehr {
namespace {

using conditionals::Block;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// The accuracy of the local variables, whose errors are divided by kSmallMove; and the most rounds over them.
constexpr double kLocalTolerance = 1e-12;
constexpr std::int64_t kRounds = 1000;
/// The most coordinates of a block whose elements are updated one after another: its equations are dense.
constexpr Eigen::Index kMostOrdered = 2000;

}  // namespace

std::string why_no_coordinates(const Block& b) {
  if (b.drawn) return "it is drawn";
  if (b.point) return "its factor is a point";
  if (b.chain) return "its factor is a chain's";
  if (b.family->support == math::Support::sparse) return "its factor has too many numbers";
  if (is_discrete(b.family->support) || b.family->support == math::Support::switched) return "its values are discrete";
  return "";
}

bool is_led(const Instance& instance, const Analysed& analysed, std::size_t k) {
  constexpr std::size_t kMostDense = 48;  // numbers, of which a precision matrix has so many more
  const model::Model& m = analysed.model;
  const Block& b = analysed.schedule.conditionals.blocks[k];
  if (!is_joint(m[b.variable]) || !why_no_coordinates(b).empty()) return false;
  const auto is_number = [&](const model::Member& x) { return m[x.variable].support == math::Support::real; };
  if (!std::ranges::all_of(m[b.variable].auxiliary->members, is_number)) return false;
  const std::optional<FactorPlace> place = place_of(instance, analysed, k);
  return place && place->extent > kMostDense;
}

std::optional<FactorPlace> place_of(const Instance& instance, const Analysed& analysed, std::size_t k) {
  const Engine& engine = instance.engine();
  const Block& b = analysed.schedule.conditionals.blocks[k];
  const model::Model& m = analysed.model;
  FactorPlace out{k, 0, {}};
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

/// Returns the block with its coordinates; nullopt if some element has none.
std::optional<MovablePart> MovableFit::part_of(std::size_t k) const {
  std::optional<FactorPlace> place = place_of(instance_, analysed_, k);
  if (!place) return std::nullopt;
  MovablePart out{std::move(*place), {}, {}, {}, {}};
  const Values values = values_of(out);
  for (std::size_t e = 0; e < out.count; ++e) {
    std::optional<FactorCoordinates> c =
        FactorCoordinates::make(*analysed_.schedule.conditionals.blocks[k].factor, element_of(out, values, e));
    if (!c) return std::nullopt;
    out.elements.push_back(std::move(*c));
  }
  std::optional<std::vector<double>> copies = copies_of(out);
  if (!copies) return std::nullopt;
  out.copies = std::move(*copies);
  out.barren = barren_of(out);
  if (out.copies.empty() && !out.barren.empty()) out.copies.assign(out.count, 1);
  for (std::size_t e = 0; e < out.barren.size(); ++e)
    if (out.barren[e]) out.copies[e] = 0;
  return out;
}

bool MovablePart::has_copies() const {
  for (std::size_t e = 0; e < copies.size(); ++e)
    if (copies[e] != 1 && !is_barren(e)) return true;
  return false;
}

Vector MovableFit::roots_of_copies() const {
  Vector out = Vector::Ones(size_);
  for (const MovablePart& part : parts_)
    for (std::size_t e = 0; e < part.copies.size(); ++e)
      out.segment(part.first[e], part.elements[e].size()).setConstant(std::sqrt(part.copies[e]));
  return out;
}

std::span<const double> MovableFit::given(model::GivenId id) const {
  const machine::Model& model = engine().model();
  for (std::int64_t b = 0; b < model.buffer_count; ++b)
    if (!model.buffers[b].integers && instance_.name_of(b) == analysed_.model[id].name) return engine().reals(b);
  return {};
}

std::vector<bool> MovableFit::barren_of(const MovablePart& part) const {
  const model::Variable& v = analysed_.model[analysed_.schedule.conditionals.blocks[part.block].variable];
  const std::optional<model::GivenId> id = model::mask_of(analysed_.model, v);
  const std::span<const double> mask = id ? given(*id) : std::span<const double>();
  if (mask.empty() || mask.size() % part.count != 0) return {};
  // A vector whose entries have masks of their own is barren if all of them are.
  const std::size_t width = mask.size() / part.count;
  std::vector<bool> out;
  for (std::size_t e = 0; e < part.count; ++e)
    out.push_back(std::ranges::all_of(mask.subspan(e * width, width), [](double x) { return x == 0; }));
  return std::ranges::find(out, true) == out.end() ? std::vector<bool>() : out;
}

std::optional<std::vector<double>> MovableFit::copies_of(const MovablePart& part) const {
  const model::Model& m = analysed_.model;
  const std::vector<model::PlateId>& axes = m[analysed_.schedule.conditionals.blocks[part.block].variable].axes;
  const std::vector<NamedArray> posterior = instance_.posterior(false);
  const NamedArray* a = find_array(posterior, instance_.name_of(part.parameters[0].buffer));
  std::vector<double> out;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const std::optional<model::GivenId> times = m[m[axes[k]].set].times;
    if (!times) continue;
    const std::span<const double> counts = given(*times);
    const bool on_axis = a && a->shape.size() >= axes.size() && std::ssize(counts) == a->shape[k];
    if (!on_axis && counts.size() != part.count) return std::nullopt;
    out.resize(part.count, 1);
    std::size_t inner = 1;
    for (std::size_t j = k + 1; on_axis && j < axes.size(); ++j)
      inner *= static_cast<std::size_t>(a->shape[j]);
    for (std::size_t e = 0; e < part.count; ++e)
      out[e] *= counts[on_axis ? e / inner % counts.size() : e];
  }
  return out;
}

void MovableFit::find_parts() {
  const schedule::Schedule& schedule = analysed_.schedule;
  const model::Model& m = analysed_.model;
  LeftOut of_items;
  has_coordinates_.assign(schedule.conditionals.blocks.size(), false);
  for (std::size_t k = 0; k < schedule.conditionals.blocks.size(); ++k) {
    const Block& b = schedule.conditionals.blocks[k];
    const model::Variable& v = m[b.variable];
    const bool of_user = !v.auxiliary || is_joint(v);
    std::vector<std::string> names;
    if (b.mean) names.push_back(m[*b.mean].name);
    if (!is_joint(v)) names.push_back(v.name);
    else
      for (const model::Member& member : v.auxiliary->members)
        names.push_back(m[member.variable].name);
    if (schedule.stage_of[k]) {
      if (of_user && why_no_coordinates(b).empty()) std::ranges::move(names, std::back_inserter(of_items.names));
      continue;
    }
    std::string why = is_led(instance_, analysed_, k) ? "its factor has many numbers" : why_no_coordinates(b);
    std::optional<MovablePart> part = why.empty() ? part_of(k) : std::nullopt;
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
      left_out_.push_back({std::move(names), why});
    }
  }
  of_items.why = of_items.names.size() == 1 ? "a variable of items" : "variables of items";
  left_out_.push_back(std::move(of_items));
}

std::vector<std::string> MovableFit::left_out() const {
  std::vector<std::string> out;
  for (const LeftOut& x : left_out_)
    if (!x.names.empty()) out.push_back(fmt::format("'{}': {}", fmt::join(x.names, "', '"), x.why));
  return out;
}

std::vector<FactorNumbers> MovableFit::numbers() const {
  const model::Model& m = analysed_.model;
  const std::vector<NamedArray> posterior = instance_.posterior(false);
  std::vector<FactorNumbers> out;
  const auto add = [&](model::VariableId v, std::size_t part, const std::vector<std::int64_t>& axes, int rank,
                       Eigen::Index first) {
    const auto extent = static_cast<std::int64_t>(parts_[part].extent);
    FactorNumbers n{m[v].name, axes, part, m[v].support == math::Support::vector ? parts_[part].extent : 0, {}};
    n.shape.insert(n.shape.end(), static_cast<std::size_t>(rank), extent);
    const auto width = static_cast<Eigen::Index>(scalars_per_element(rank, parts_[part].extent));
    for (std::size_t e = 0; e < parts_[part].elements.size(); ++e)
      for (Eigen::Index k = 0; k < width; ++k)
        n.where.emplace_back(e, first + k);
    out.push_back(std::move(n));
    return first + width;
  };
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const MovablePart& p = parts_[k];
    const Block& b = analysed_.schedule.conditionals.blocks[p.block];
    const NamedArray* a = find_array(posterior, instance_.name_of(p.parameters[0].buffer));
    if (!a) continue;
    const std::vector<std::int64_t> axes(a->shape.begin(), a->shape.end() - p.parameters[0].row->event_rank);
    if (is_joint(m[b.variable])) {
      const std::size_t coordinates = coordinates_of(m[b.variable].support, p.extent);
      for (const MemberLayout& x : members_of(m, b.variable, sizes_of_members(m, b.variable, by_variable(posterior)))) {
        FactorNumbers n{x.name, x.shape, k, x.support == math::Support::vector ? x.width : 0, {}};
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

MovableFit::Values MovableFit::values_of(const MovablePart& part) const {
  Values out;
  for (const StoredParameter& p : part.parameters) {
    const std::span<const double> x = engine().reals(p.buffer);
    out.emplace_back(x.begin(), x.end());
  }
  return out;
}

math::Environment MovableFit::element_of(const MovablePart& part, const Values& values, std::size_t e) const {
  math::Environment out;
  out.extent = part.extent;
  for (std::size_t k = 0; k < part.parameters.size(); ++k) {
    const StoredParameter& p = part.parameters[k];
    const auto from = values[k].begin() + static_cast<std::ptrdiff_t>(e * p.width);
    out.symbols[p.row->name] = {p.row->event_rank, {from, from + static_cast<std::ptrdiff_t>(p.width)}};
  }
  return out;
}

/// Infers local variables, and all other blocks without coordinates, until they no longer move.
std::string MovableFit::infer_rest() {
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
    // A single stage that iterates infers its items until they no longer move.
    if (rest == 1 && others == 0 && converges_in_one_visit(analysed_.schedule)) return "";
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

std::string MovableFit::converge() {
  // An instance that has other factors in place has no statistics of them yet.
  if (const std::int32_t status = prepare_statistics(engine())) return engine().describe(status);
  std::string why = infer_rest();
  converged_ = engine().save();
  find_followers();
  return why;
}

void MovableFit::find_followers() {
  const model::Model& m = analysed_.model;
  const std::vector<Block>& blocks = analysed_.schedule.conditionals.blocks;
  const std::map<std::string, SavedVariable> variables = by_variable(instance_.posterior(false));
  const auto add = [&](const std::string& name, const NamedArray& mean, std::vector<double> sd) {
    if (sd.size() != mean.values.size()) return;
    followers_.push_back({name, mean.shape, mean.values, std::move(sd)});
    for (LeftOut& x : left_out_)
      std::erase(x.names, name);
  };
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const Block& b = blocks[k];
    const model::Variable& v = m[b.variable];
    const auto *location = math::find_role(*b.factor, math::ParameterRole::location),
               *precision = math::find_role(*b.factor, math::ParameterRole::precision);
    if (analysed_.schedule.stage_of[k] || has_coordinates_[k] || b.point || b.drawn || !location) continue;
    if (b.chain && !is_joint(v)) {
      const auto saved = variables.find(v.name);
      const NamedArray* mean = saved == variables.end() ? nullptr : saved->second.find(location->name);
      const std::optional<Moments> found = mean ? moments(*b.family, saved->second, nullptr) : std::nullopt;
      if (found) add(v.name, *mean, found->sd);
    } else if (!b.chain && is_joint(v) && precision) {
      for (const model::Member& x : v.auxiliary->members) {
        const auto saved = variables.find(m[x.variable].name);
        if (saved == variables.end() || m[x.variable].support != math::Support::real) continue;
        const NamedArray *mean = saved->second.find(location->name), *of_each = saved->second.find(precision->name);
        if (!mean || !of_each) continue;
        std::vector<double> sd;
        for (const double t : of_each->values)
          sd.push_back(1 / std::sqrt(t));
        add(m[x.variable].name, *mean, std::move(sd));
      }
    }
  }
}

/// Returns the means of all followers, one variable after another, in the present state.
Vector MovableFit::means_of_followers() const {
  std::vector<double> out;
  if (followers_.empty()) return {};
  const std::vector<NamedArray> posterior = instance_.posterior(false);
  for (const Follower& f : followers_) {
    const NamedArray* mean = find_array(posterior, f.name + ".mean");
    out.insert(out.end(), mean->values.begin(), mean->values.end());
  }
  return Eigen::Map<const Vector>(out.data(), std::ssize(out));
}

bool MovableFit::is_ordered(const MovablePart& part) const {
  return analysed_.schedule.conditionals.blocks[part.block].coupled();
}

/// Puts the factors in place, moved by this.
std::string MovableFit::displace(const Vector& by) {
  engine().load(converged_);
  for (const MovablePart& part : parts_) {
    for (std::size_t e = 0; e < part.elements.size(); ++e) {
      const FactorCoordinates& c = part.elements[e];
      const Vector own = by.segment(part.first[e], c.size());
      if (own.isZero(0)) continue;
      const math::Environment moved = c.at(own);
      for (const StoredParameter& p : part.parameters)
        std::ranges::copy(moved.symbols.at(p.row->name).values,
                          engine().reals(p.buffer).begin() + static_cast<std::ptrdiff_t>(e * p.width));
    }
  }
  engine().invalidate_sums();
  const std::int32_t status = machine::call_on_stored(engine().machine(), engine().model().global_expectations);
  return status ? engine().describe(status) : "";
}

std::string MovableFit::update(const MovablePart& part) const {
  const std::int32_t status = machine::call(engine().machine(), engine().steps()[part.step].update);
  return status ? engine().describe(status) : "";
}

/// Returns the change of the coordinates of a part between two states of it, in units of the move.
Vector MovableFit::difference(const MovablePart& part, const Values& up, const Values& down, double step) const {
  Vector out = Vector::Zero(part.first.back() - part.first.front());
  for (std::size_t e = 0; e < part.elements.size(); ++e) {
    bool same = true;
    for (std::size_t k = 0; k < part.parameters.size() && same; ++k) {
      const auto at = static_cast<std::ptrdiff_t>(e * part.parameters[k].width);
      same = std::equal(up[k].begin() + at, up[k].begin() + at + static_cast<std::ptrdiff_t>(part.parameters[k].width),
                        down[k].begin() + at);
    }
    if (same) continue;
    const FactorCoordinates& c = part.elements[e];
    out.segment(part.first[e] - part.first.front(), c.size()) =
        (c.coordinates(element_of(part, up, e)) - c.coordinates(element_of(part, down, e))) / (2 * step);
  }
  return out;
}

std::string MovableFit::respond(const Vector& direction, Vector& out, Vector& followed, double step) {
  std::vector<Values> up(parts_.size());
  out = Vector::Zero(size_);
  for (const double sign : {1.0, -1.0}) {
    std::string why = displace(sign * step * direction);
    if (why.empty()) why = infer_rest();
    if (sign > 0) followed = means_of_followers();
    else followed = (followed - means_of_followers()) / (2 * step);
    const Arrays state = engine().save();
    for (std::size_t k = 0; k < parts_.size() && why.empty(); ++k) {
      const MovablePart& part = parts_[k];
      if (k > 0) engine().load(state);
      why = update(part);
      if (sign > 0) {
        up[k] = values_of(part);
        continue;
      }
      auto rows = out.segment(part.first.front(), part.first.back() - part.first.front());
      rows = difference(part, up[k], values_of(part), step);
      // With D_l how later elements react to earlier ones, the rows are (J - D_l) direction + D_l rows.
      if (below_[k].size() > 0) rows += below_[k] * (direction.segment(part.first.front(), rows.size()) - Vector(rows));
    }
    if (!why.empty()) return why;
  }
  return "";
}

/// Computes the response of one part to a move of its own, without the reaction of anything else.
std::string MovableFit::respond_alone(const MovablePart& part, const Vector& direction, Vector& out) {
  Values up;
  for (const double sign : {1.0, -1.0}) {
    std::string why = displace(sign * kSmallMove * direction);
    if (why.empty()) why = update(part);
    if (!why.empty()) return why;
    if (sign > 0) up = values_of(part);
    else out = difference(part, up, values_of(part), kSmallMove);
  }
  return "";
}

/// Finds, for each part whose elements are updated one after another, the part D_l below the diagonal of the matrix D
/// by which its elements read each other directly. Moved alone, the part responds with G = (I - D_l)^-1 (D - D_l). As D
/// is symmetric, its rows follow from each other.
std::string MovableFit::find_orders() {
  below_.assign(parts_.size(), {});
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const MovablePart& part = parts_[k];
    if (!is_ordered(part)) continue;
    const Eigen::Index begin = part.first.front(), size = part.first.back() - begin;
    if (size > kMostOrdered) return "too many factors are updated one after another";
    Matrix alone(size, size);
    for (Eigen::Index i = 0; i < size; ++i) {
      Vector column;
      std::string why = respond_alone(part, Vector::Unit(size_, begin + i), column);
      if (!why.empty()) return why;
      alone.col(i) = column;
    }
    Matrix direct = Matrix::Zero(size, size), below = direct;
    for (std::size_t e = 0; e < part.elements.size(); ++e) {
      const Eigen::Index at = part.first[e] - begin, n = part.elements[e].size(), after = at + n;
      below.block(at, 0, n, at) = direct.block(at, 0, n, at);
      const Matrix row = alone.middleRows(at, n) - direct.block(at, 0, n, at) * alone.topRows(at);
      direct.block(at, after, n, size - after) = row.rightCols(size - after);
      direct.block(after, at, size - after, n) = row.rightCols(size - after).transpose();
    }
    below_[k] = std::move(below);
  }
  return "";
}

}  // namespace lehr
