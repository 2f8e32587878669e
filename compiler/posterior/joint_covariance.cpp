// Reads the second moments of a joint factor from its row, and maps numbers of the members to coordinates of the
// factor.
#include "compiler/posterior/joint_covariance.h"

#include "compiler/instance/members.h"

namespace lehr {

std::optional<JointCovariance> JointCovariance::make(const model::Model& m, const conditionals::Block& b,
                                                     const std::map<std::string, SavedVariable>& posterior) {
  const auto saved = posterior.find(m[b.variable].name);
  const math::Support support = m[b.variable].support;
  if (saved == posterior.end() || support == math::Support::switched) return std::nullopt;
  const std::optional<SavedFactor> source = saved_factor(*b.family, saved->second, nullptr);
  const std::optional<FactorLayout> layout = source ? layout_of(*source) : std::nullopt;
  if (!layout) return std::nullopt;
  JointCovariance out;
  out.extent_ = coordinates_of(support, layout->extent);
  out.chain_ = b.chain.has_value();
  if (support == math::Support::sparse) {
    out.sparse_ = SavedSparse::read(saved->second);
    if (!out.sparse_) return std::nullopt;
    out.mean_ = {out.sparse_->mean()};
  }
  for (std::size_t e = 0; e < layout->count && !out.sparse_; ++e) {
    const math::Environment parameters = parameters_of(*source, *layout, e);
    std::vector<double> flat;
    for (const math::FactorParameter& p : source->factor.parameters)
      if (const auto it = parameters.symbols.find(p.name); it != parameters.symbols.end())
        flat.insert(flat.end(), it->second.values.begin(), it->second.values.end());
    math::Spread spread;
    if (&source->factor == &*source->row.factor && source->row.spread && source->factor.moments) {
      spread = source->row.spread(flat, layout->extent);
      out.mean_.push_back(source->factor.moments(flat, layout->extent).mean);
    }
    // Only a Normal factor has a covariance with a root.
    const std::size_t entries = out.extent_ * out.extent_;
    if (spread.covariance.size() != entries || spread.root.size() != entries) return std::nullopt;
    out.covariance_.push_back(std::move(spread.covariance));
    out.root_.push_back(std::move(spread.root));
    if (support == math::Support::scaled) out.tied_.push_back(std::move(spread.scaled_covariance));
  }
  const std::vector<MemberLayout> layouts = members_of(m, b.variable, sizes_of_members(m, b.variable, posterior));
  const std::vector<model::Member>& members = m[b.variable].auxiliary->members;
  for (std::size_t k = 0; k < members.size(); ++k)
    out.members_[members[k].variable] = layouts[k].at;
  if (support != math::Support::scaled) return out;
  out.inverse_.resize(layout->count);
  for (std::size_t i = 0; i < layouts.back().at.size(); ++i)
    out.inverse_[layouts.back().at[i] / out.extent_] = {members.back().variable, i, Atom::Kind::inverse};
  return out;
}

std::optional<Monomial> JointCovariance::covariance_given_precision(model::VariableId a, std::size_t number_of_a,
                                                                    model::VariableId b,
                                                                    std::size_t number_of_b) const {
  const auto [element, j] = position_of(a, number_of_a);
  const auto [other, l] = position_of(b, number_of_b);
  if (tied_.empty() || j + 1 == extent_ || l + 1 == extent_) return std::nullopt;
  if (element != other) return Monomial{0, {}};
  return Monomial{tied_[element][j * (extent_ - 1) + l], {inverse_[element]}};
}

std::optional<double> JointCovariance::between(model::VariableId a, std::size_t number_of_a, model::VariableId b,
                                               std::size_t number_of_b) const {
  const std::size_t x = members_.at(a)[number_of_a], y = members_.at(b)[number_of_b];
  // Different elements are independent, unless they are steps of a chain.
  if (x / extent_ != y / extent_) return chain_ ? std::nullopt : std::optional(0.0);
  if (sparse_) return sparse_->normal().covariance(x, y);
  return covariance_[x / extent_][x % extent_ * extent_ + y % extent_];
}

std::pair<std::size_t, std::size_t> JointCovariance::position_of(model::VariableId v, std::size_t number) const {
  const std::size_t at = members_.at(v)[number];
  return {at / extent_, at % extent_};
}

double JointCovariance::variance(const std::map<std::size_t, double>& weights) const {
  return sparse_->normal().variance(std::vector<std::pair<std::size_t, double>>(weights.begin(), weights.end()));
}

std::pair<const std::vector<double>*, std::size_t> JointCovariance::root_at(model::VariableId a,
                                                                            std::size_t number) const {
  if (sparse_) return {};
  const auto [element, coordinate] = position_of(a, number);
  return {&root_[element], coordinate};
}

}  // namespace lehr
