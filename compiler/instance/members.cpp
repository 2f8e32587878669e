// Marginals of the members of a joint variable, and the way back from marginals to the joint factor.
//
// For Normal members the marginal of some coordinates has their part of the mean. Its precision is the inverse of their
// block of the covariance (Bishop 2006, section 2.3.2). The way back sets precisions as diagonal blocks, without
// correlations between members.
#include "compiler/instance/members.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "compiler/evaluate/packed.h"
#include "compiler/math/member_families.h"
#include "compiler/math/sparse_pattern.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

/// A row-major matrix, as arrays are.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Returns the product of the extents.
std::size_t product(const std::vector<std::int64_t>& extents) {
  std::size_t out = 1;
  for (const std::int64_t n : extents)
    out *= static_cast<std::size_t>(n);
  return out;
}

/// Returns true if the joint variable is a category with the number that it switches.
bool is_switched(const model::Model& m, model::VariableId joint) { return m[joint].support == math::Support::switched; }

/// Returns the array `variable.name`, or null if there is none or `name` is empty.
template <class Arrays>
auto* parameter(Arrays& arrays, const std::string& variable, const std::string& name) {
  const auto found = std::ranges::find(arrays, variable + "." + name, &NamedArray::name);
  return name.empty() || found == arrays.end() ? nullptr : &*found;
}

/// The parameters of a factor by their roles, of a joint variable or of a member alone; null where there is none.
template <class Array>
struct JointArrays {
  Array *location, *precision, *probabilities, *value, *number;  // see math::RoleNames

  /// Finds the parameters of `joint`, whose factor is of that family, among the arrays.
  template <class Named, class Arrays>
  JointArrays(const Named& joint, const math::FamilyRow& family, Arrays& from) {
    const math::RoleNames names = math::role_names(family);
    location = parameter(from, joint.name, names.location);
    precision = parameter(from, joint.name, names.precision);
    probabilities = parameter(from, joint.name, names.probabilities);
    value = parameter(from, joint.name, names.value);
    number = parameter(from, joint.name, names.number);
  }
};

/// Returns the family of a member's marginal.
const math::FamilyRow& family_of(const MemberLayout& x) { return math::marginal_family(x.support, x.joint); }
/// Returns the names of that family's parameters.
math::RoleNames names_of(const MemberLayout& x) { return math::role_names(family_of(x)); }

/// Returns the number as an index of Eigen.
Eigen::Index index(std::size_t k) { return static_cast<Eigen::Index>(k); }

/// The position of an element of a member in the joint variable: all its numbers are coordinates of one element.
struct ElementPosition {
  std::size_t element;                   // of the joint variable
  std::vector<std::size_t> coordinates;  // one for each number of the member's element
};

/// Returns the position of the k-th element of a member. `extent` is that of the joint variable's event axis.
ElementPosition element_position(const MemberLayout& x, std::size_t k, std::size_t extent) {
  const std::size_t coordinates = coordinates_of(x.joint, extent);
  ElementPosition out{x.at[k * x.width] / coordinates, {}};
  for (std::size_t j = 0; j < x.width; ++j)
    out.coordinates.push_back(x.at[k * x.width + j] % coordinates);
  return out;
}

/// Returns the precision of some coordinates alone: the inverse of their block of the covariance.
Matrix marginal_precision(const Matrix& covariance, const std::vector<std::size_t>& coordinates) {
  const std::size_t n = coordinates.size();
  Matrix own(index(n), index(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      own(index(i), index(j)) = covariance(index(coordinates[i]), index(coordinates[j]));
  return own.inverse();
}

/// Returns the mean and precision of each member of a Normal vector.
std::vector<NamedArray> normal_marginals(const std::vector<MemberLayout>& members, const NamedArray& mean,
                                         const NamedArray& precision) {
  const auto n = static_cast<std::size_t>(mean.shape.back());
  std::vector<Matrix> covariance;
  for (std::size_t e = 0; e < mean.values.size() / n; ++e)
    covariance.push_back(Eigen::Map<const Matrix>(precision.values.data() + e * n * n, index(n), index(n)).inverse());
  std::vector<NamedArray> out;
  for (const MemberLayout& x : members) {
    const math::RoleNames names = names_of(x);
    NamedArray location{x.name + "." + names.location, x.shape, {}}, own{x.name + "." + names.precision, x.shape, {}};
    if (x.support == math::Support::vector) own.shape.push_back(x.shape.back());
    for (std::size_t k = 0; k < x.at.size() / x.width; ++k) {
      const ElementPosition p = element_position(x, k, n);
      for (const std::size_t c : p.coordinates)
        location.values.push_back(mean.values[p.element * n + c]);
      const Matrix q = marginal_precision(covariance[p.element], p.coordinates);
      own.values.insert(own.values.end(), q.data(), q.data() + q.size());
    }
    out.push_back(std::move(location));
    out.push_back(std::move(own));
  }
  return out;
}

/// Returns the mean and precision of each member of a Normal vector with a sparse precision.
std::vector<NamedArray> sparse_marginals(const std::vector<MemberLayout>& members, const NamedArray& mean,
                                         const NamedArray& precision, const math::SparsePattern& pattern) {
  const math::SparseNormal normal(pattern, precision.values);
  const std::vector<double> covariances =
      normal.is_proper() ? normal.covariances() : std::vector<double>(pattern.entries.size(), std::nan(""));
  const auto covariance = [&](std::size_t a, std::size_t b) {
    return covariances[*pattern.find(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b))];
  };
  std::vector<NamedArray> out;
  for (const MemberLayout& x : members) {
    const math::RoleNames names = names_of(x);
    NamedArray location{x.name + "." + names.location, x.shape, {}}, own{x.name + "." + names.precision, x.shape, {}};
    if (x.support == math::Support::vector) own.shape.push_back(x.shape.back());
    for (std::size_t k = 0; k < x.at.size(); k += x.width) {
      Matrix block(index(x.width), index(x.width));
      for (std::size_t i = 0; i < x.width; ++i) {
        location.values.push_back(mean.values[x.at[k + i]]);
        for (std::size_t j = 0; j < x.width; ++j)
          block(index(i), index(j)) = covariance(x.at[k + i], x.at[k + j]);
      }
      const Matrix q = block.inverse();
      own.values.insert(own.values.end(), q.data(), q.data() + q.size());
    }
    out.push_back(std::move(location));
    out.push_back(std::move(own));
  }
  return out;
}

/// Returns the probabilities of the category, and the mean and precision of the number: those of its mixture of
/// Normals.
std::vector<NamedArray> switched_marginals(const std::vector<MemberLayout>& members, const NamedArray& probs,
                                           const NamedArray& mean, const NamedArray& precision) {
  const auto values = static_cast<std::size_t>(probs.shape.back());
  const MemberLayout &chosen = members[0], &number = members[1];
  const bool bit = chosen.support == math::Support::bit;
  NamedArray q{chosen.name + "." + names_of(chosen).probabilities, chosen.shape, {}};
  if (!bit) q.shape.push_back(probs.shape.back());
  for (const std::size_t at : chosen.at) {
    const auto first = probs.values.begin() + static_cast<std::ptrdiff_t>(at / 2 * values);
    q.values.insert(q.values.end(), bit ? first + 1 : first, first + static_cast<std::ptrdiff_t>(values));
  }
  const math::RoleNames names = names_of(number);
  NamedArray location{number.name + "." + names.location, number.shape, {}},
      own{number.name + "." + names.precision, number.shape, {}};
  for (const std::size_t at : number.at) {
    double first = 0, variance = 0;
    for (std::size_t k = at / 2 * values; k < (at / 2 + 1) * values; ++k)
      first += probs.values[k] * mean.values[k];
    for (std::size_t k = at / 2 * values; k < (at / 2 + 1) * values; ++k) {
      const double off = mean.values[k] - first;
      variance += probs.values[k] * (1 / precision.values[k] + off * off);
    }
    location.values.push_back(first);
    own.values.push_back(1 / variance);
  }
  return {std::move(q), std::move(location), std::move(own)};
}

/// Returns Student's t for the members of a scaled vector, and the Gamma of their precision.
std::vector<NamedArray> scaled_marginals(const std::vector<MemberLayout>& members, const std::string& joint,
                                         const std::vector<NamedArray>& factor, const NamedArray& mean) {
  const NamedArray &scale = *parameter(factor, joint, math::kScaledNames.scale),
                   &shape = *parameter(factor, joint, math::kScaledNames.shape),
                   &rate = *parameter(factor, joint, math::kScaledNames.rate);
  // The Normal marginals, in units of 1 / tau.
  std::vector<NamedArray> out =
      normal_marginals(std::vector<MemberLayout>(members.begin(), members.end() - 1), mean, scale);
  const auto n = static_cast<std::size_t>(mean.shape.back());
  for (const MemberLayout& x : members) {
    if (x.support == math::Support::positive) {
      for (const NamedArray* of : {&shape, &rate}) {
        NamedArray& to =
            out.emplace_back(NamedArray{x.name + "." + of->name.substr(of->name.rfind('.') + 1), x.shape, {}});
        for (const std::size_t at : x.at)
          to.values.push_back(of->values[at / (n + 1)]);
      }
      continue;
    }
    const NamedArray* location = parameter(out, x.name, names_of(x).location);
    NamedArray& own = *parameter(out, x.name, names_of(x).precision);
    const std::size_t elements = x.at.size() / x.width,
                      entries = own.values.size() / std::max<std::size_t>(elements, 1);
    NamedArray freedom{x.name + "." + math::kScaledNames.freedom, location->shape, {}};
    if (x.support == math::Support::vector) freedom.shape.pop_back();
    for (std::size_t k = 0; k < elements; ++k) {
      const std::size_t e = x.at[k * x.width] / (n + 1);
      freedom.values.push_back(2 * shape.values[e]);
      for (std::size_t i = 0; i < entries; ++i)
        own.values[k * entries + i] *= shape.values[e] / rate.values[e];
    }
    out.push_back(std::move(freedom));
  }
  return out;
}

/// The suffix of arrays of draws.
constexpr const char* kValueSuffix = ".value";

/// Returns the values of the members from the arrays of a sample factor.
std::vector<NamedArray> values_at_draw(math::Support joint, const std::vector<MemberLayout>& members,
                                       const NamedArray& value, const NamedArray* number) {
  std::vector<NamedArray> out;
  for (const MemberLayout& x : members) {
    NamedArray& to = out.emplace_back(NamedArray{x.name + kValueSuffix, x.shape, {}});
    for (const std::size_t at : x.at) {
      if (joint == math::Support::scaled) {
        const auto n = static_cast<std::size_t>(number->shape.back());
        to.values.push_back(at % (n + 1) == n ? value.values[at / (n + 1)]
                                              : number->values[at / (n + 1) * n + at % (n + 1)]);
      } else if (joint != math::Support::switched) {
        to.values.push_back(value.values[at]);
      } else if (at % 2 == 1) {
        to.values.push_back(number->values[at / 2]);
      } else {
        const auto n = static_cast<std::ptrdiff_t>(value.shape.back());
        const auto first = value.values.begin() + static_cast<std::ptrdiff_t>(at / 2) * n;
        to.values.push_back(static_cast<double>(std::max_element(first, first + n) - first));
      }
    }
  }
  return out;
}

/// Writes the mean, draw and precision of one member into the joint factor.
void put_normal(const MemberLayout& x, const std::vector<NamedArray>& given, const JointArrays<NamedArray>& to) {
  const JointArrays<const NamedArray> own_arrays(x, family_of(x), given);
  NamedArray& target = to.number ? *to.number : to.value ? *to.value : *to.location;
  const auto extent = static_cast<std::size_t>(target.shape.back());
  for (const NamedArray* from : {own_arrays.location, parameter(given, x.name, kValueSuffix + 1)})
    for (std::size_t i = 0; from && i < x.at.size(); ++i) {
      const ElementPosition p = element_position(x, i / x.width, extent);
      target.values[p.element * extent + p.coordinates[i % x.width]] = from->values[i];
    }
  const NamedArray* own = own_arrays.precision;
  NamedArray* precision = to.precision;
  if (!own || !precision) return;
  const auto n = static_cast<std::size_t>(to.location->shape.back());
  for (std::size_t k = 0; k < x.at.size() / x.width; ++k) {
    const ElementPosition p = element_position(x, k, n);
    for (std::size_t i = 0; i < x.width; ++i) {
      // Correlations with all other coordinates are removed: the rows and columns become 0.
      double* row = precision->values.data() + (p.element * n + p.coordinates[i]) * n;
      for (std::size_t j = 0; j < n; ++j)
        row[j] = precision->values[(p.element * n + j) * n + p.coordinates[i]] = 0;
    }
    for (std::size_t i = 0; i < x.width; ++i)
      for (std::size_t j = 0; j < x.width; ++j)
        precision->values[(p.element * n + p.coordinates[i]) * n + p.coordinates[j]] =
            own->values[(k * x.width + i) * x.width + j];
  }
}

/// Writes the means, draws and precisions of members into a factor with a sparse precision. Correlations between
/// elements are removed.
void put_sparse(const std::vector<MemberLayout>& members, const std::vector<NamedArray>& given,
                const math::SparsePattern& pattern, const JointArrays<NamedArray>& to) {
  NamedArray& target = to.value ? *to.value : *to.location;
  for (const MemberLayout& x : members) {
    const JointArrays<const NamedArray> own(x, family_of(x), given);
    for (const NamedArray* from : {own.location, parameter(given, x.name, kValueSuffix + 1)})
      for (std::size_t i = 0; from && i < x.at.size(); ++i)
        target.values[x.at[i]] = from->values[i];
    if (!own.precision || !to.precision) continue;
    std::vector<bool> is_own(target.values.size());
    for (const std::size_t at : x.at)
      is_own[at] = true;
    for (std::size_t e = 0; e < pattern.entries.size(); ++e) {
      const auto [row, column] = pattern.entries[e];
      if (is_own[static_cast<std::size_t>(row)] || is_own[static_cast<std::size_t>(column)])
        to.precision->values[e] = 0;
    }
    for (std::size_t i = 0; i < x.at.size(); ++i)
      for (std::size_t j = 0; j < x.width; ++j)
        to.precision->values[*pattern.find(static_cast<std::int64_t>(x.at[i]),
                                           static_cast<std::int64_t>(x.at[i / x.width * x.width + j]))] =
            own.precision->values[i * x.width + j];
  }
}

/// Writes arrays of members into the factor of a scaled vector. A draw of the precision becomes its mean, and
/// precisions of the vector's numbers are converted to units of tau.
void put_scaled(const std::vector<MemberLayout>& members, const std::string& joint, std::vector<NamedArray> given,
                JointArrays<NamedArray> to, std::vector<NamedArray>& factor) {
  const MemberLayout& precision = members.back();
  NamedArray& target = to.number ? *to.number : *to.location;
  const std::size_t coordinates = coordinates_of(precision.joint, static_cast<std::size_t>(target.shape.back()));
  NamedArray *shape = parameter(factor, joint, math::kScaledNames.shape),
             *rate = parameter(factor, joint, math::kScaledNames.rate);
  for (std::size_t i = 0; i < precision.at.size(); ++i) {
    const std::size_t e = precision.at[i] / coordinates;
    const NamedArray* value = parameter(given, precision.name, kValueSuffix + 1);
    if (to.value) {
      if (value) to.value->values[e] = value->values[i];
      continue;
    }
    if (const NamedArray* x = parameter(given, precision.name, math::kScaledNames.shape))
      shape->values[e] = x->values[i];
    if (const NamedArray* x = parameter(given, precision.name, math::kScaledNames.rate)) rate->values[e] = x->values[i];
    if (value) rate->values[e] = shape->values[e] / value->values[i];
  }
  to.precision = parameter(factor, joint, math::kScaledNames.scale);
  for (const MemberLayout& x : members) {
    if (&x == &precision) break;
    NamedArray* own = parameter(given, x.name, names_of(x).precision);
    for (std::size_t i = 0; own && to.precision && i < own->values.size(); ++i) {
      const std::size_t e = x.at[i / (own->values.size() / x.at.size())] / coordinates;
      own->values[i] *= rate->values[e] / shape->values[e];
    }
    put_normal(x, given, to);
  }
}

/// Writes arrays of members into the factor of a switched pair. The number gets the same mean and precision for every
/// value of the category.
void put_switched(const std::vector<MemberLayout>& members, const std::vector<NamedArray>& given,
                  const JointArrays<NamedArray>& to) {
  NamedArray& probs = to.value ? *to.value : *to.probabilities;
  NamedArray& mean = to.number ? *to.number : *to.location;
  const auto n = static_cast<std::size_t>(probs.shape.back());
  const MemberLayout &chosen = members[0], &number = members[1];
  const JointArrays<const NamedArray> of_choice(chosen, family_of(chosen), given),
      of_number(number, family_of(number), given);
  const bool bit = chosen.support == math::Support::bit;
  for (std::size_t i = 0; i < chosen.at.size(); ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      double& x = probs.values[chosen.at[i] / 2 * n + k];
      if (const NamedArray* p = of_choice.probabilities)
        x = !bit ? p->values[i * n + k] : k == 1 ? p->values[i] : 1 - p->values[i];
      const NamedArray* value = parameter(given, chosen.name, kValueSuffix + 1);
      if (value) x = value->values[i] == static_cast<double>(k) ? 1 : 0;
    }
  }
  const std::size_t copies = mean.values.size() / number.at.size();
  for (const auto& [from, x] :
       {std::pair(of_number.location, &mean), {of_number.value, &mean}, {of_number.precision, to.precision}}) {
    for (std::size_t i = 0; from && x && i < number.at.size() * copies; ++i)
      x->values[number.at[i / copies] / 2 * copies + i % copies] = from->values[i / copies];
  }
}

}  // namespace

std::size_t coordinates_of(math::Support joint, std::size_t extent) {
  if (joint == math::Support::switched) return 2;
  return joint == math::Support::scaled ? extent + 1 : extent;
}

MemberLayout member_layout(std::string name, math::Support support, const JointShape& joint,
                           const std::vector<PackedAxis>& axes, const std::vector<std::int64_t>& event,
                           std::size_t first) {
  MemberLayout out{std::move(name), support, joint.support, {}, product(event), {}};
  std::vector<std::optional<std::size_t>> shared(axes.size());  // the axis of the joint variable over the same plate
  for (std::size_t k = 0; k < joint.axes.size(); ++k) {
    std::size_t x = 0;
    while (x < axes.size() && (shared[x] || axes[x].plate != joint.axes[k].plate))
      ++x;
    if (x < axes.size()) shared[x] = k;
  }
  for (const PackedAxis& axis : axes)
    out.shape.push_back(axis.extent);
  const std::size_t elements = product(out.shape);
  for (std::size_t e = 0; e < elements; ++e) {
    const std::vector<std::size_t> at = unravel(out.shape, e);
    std::vector<std::size_t> element(joint.axes.size());
    // The shared axes give the element of the joint variable, and the others the coordinate.
    std::size_t own = 0, of_joint = 0;
    for (std::size_t x = 0; x < axes.size(); ++x) {
      if (shared[x]) element[*shared[x]] = at[x];
      else own = own * static_cast<std::size_t>(axes[x].extent) + at[x];
    }
    for (std::size_t k = 0; k < joint.axes.size(); ++k)
      of_joint = of_joint * static_cast<std::size_t>(joint.axes[k].extent) + element[k];
    for (std::size_t j = 0; j < out.width; ++j)
      out.at.push_back(of_joint * joint.coordinates + first + own * out.width + j);
  }
  out.shape.insert(out.shape.end(), event.begin(), event.end());
  return out;
}

std::vector<MemberLayout> members_of(const model::Model& m, model::VariableId joint,
                                     const std::vector<std::int64_t>& sizes) {
  const auto axes_of = [&](const model::Variable& v) {
    std::vector<PackedAxis> out;
    for (const model::PlateId p : stored_axes(m, v.axes, {}))
      out.push_back({m[m[p].set].name, sizes[m[p].set.index()]});
    return out;
  };
  const model::Variable& v = m[joint];
  const std::size_t extent = v.event.empty() ? 1 : static_cast<std::size_t>(sizes[v.event[0].index()]);
  const JointShape shape{v.support, axes_of(v), coordinates_of(v.support, extent)};
  std::vector<MemberLayout> out;
  std::size_t first = 0;
  for (const model::Member& member : v.auxiliary->members) {
    const model::Variable& x = m[member.variable];
    std::vector<std::int64_t> event;
    for (const model::PlateId p : x.event)
      event.push_back(sizes[m[p].set.index()]);
    out.push_back(member_layout(x.name, x.support, shape, axes_of(x), event, first));
    std::size_t own = 1;
    for (const model::PlateId p : model::coordinate_plates(m, member))
      own *= static_cast<std::size_t>(sizes[p.index()]);
    first += own;
  }
  return out;
}

std::vector<double> observed_values(const model::Model& m, model::VariableId joint, const BoundData& data) {
  std::size_t n = 1;
  for (const std::int64_t extent : stored_shape(m, data, m[joint].axes, m[joint].event))
    n *= static_cast<std::size_t>(extent);
  std::vector<double> out(n, std::nan(""));
  const std::vector<MemberLayout> members = members_of(m, joint, data.sizes);
  for (std::size_t k = 0; k < members.size(); ++k) {
    const std::vector<double>& values = data.observed[m[joint].auxiliary->members[k].variable.index()].values;
    for (std::size_t i = 0; i < values.size(); ++i)
      out[members[k].at[i]] = values[i];
  }
  return out;
}

std::vector<NamedArray> marginals(const model::Model& m, model::VariableId joint, const std::vector<NamedArray>& factor,
                                  const std::vector<std::int64_t>& sizes) {
  const std::vector<MemberLayout> members = members_of(m, joint, sizes);
  const JointArrays<const NamedArray> from(m[joint], math::joint_family(m[joint].support), factor);
  if (from.value) return values_at_draw(m[joint].support, members, *from.value, from.number);
  if (m[joint].support == math::Support::scaled)
    return from.location ? scaled_marginals(members, m[joint].name, factor, *from.location) : std::vector<NamedArray>();
  if (!from.location || !from.precision) return {};
  if (m[joint].support == math::Support::sparse)
    return sparse_marginals(members, *from.location, *from.precision, *m[joint].auxiliary->pattern);
  if (!is_switched(m, joint)) return normal_marginals(members, *from.location, *from.precision);
  return switched_marginals(members, *from.probabilities, *from.location, *from.precision);
}

std::vector<double> by_coordinate(bool switched, const std::vector<double>& draw) {
  if (!switched) return draw;
  // The draw has the number first, then an indicator for each value of the category.
  return {static_cast<double>(std::max_element(draw.begin() + 1, draw.end()) - draw.begin() - 1), draw[0]};
}

void set_members(const model::Model& m, model::VariableId joint, const std::vector<NamedArray>& given,
                 const std::vector<std::int64_t>& sizes, std::vector<NamedArray>& factor) {
  const std::vector<MemberLayout> members = members_of(m, joint, sizes);
  const JointArrays<NamedArray> to(m[joint], math::joint_family(m[joint].support), factor);
  if (is_switched(m, joint)) return put_switched(members, given, to);
  if (m[joint].support == math::Support::scaled) return put_scaled(members, m[joint].name, given, to, factor);
  if (m[joint].support == math::Support::sparse) return put_sparse(members, given, *m[joint].auxiliary->pattern, to);
  for (const MemberLayout& x : members)
    put_normal(x, given, to);
}

bool starts_nothing(const model::Model& m, const std::string& name, const std::vector<NamedArray>& given) {
  const auto is_fused = [&](const model::Variable& v) {
    return !v.observed && v.value_plate && name == v.name + ".probs";
  };
  const std::string host = name.substr(0, name.find('.'));
  const auto is_host = [&](const model::Variable& v) { return v.name == host; };
  const bool added = std::ranges::count(name, '.') > 1;  // names in the text of a model have no dots
  if (std::ranges::any_of(m.variables, is_fused) || (added && std::ranges::any_of(m.variables, is_host))) return true;
  constexpr std::string_view kJoint = "joint(";
  const std::size_t end = name.rfind(").");
  if (!name.starts_with(kJoint) || end == std::string::npos) return false;
  for (std::size_t begin = kJoint.size(); begin < end;) {
    const std::size_t comma = std::min(name.find(", ", begin), end);
    const std::string member = name.substr(begin, comma - begin) + ".";
    if (std::ranges::none_of(given, [&](const NamedArray& a) { return a.name.starts_with(member); })) return false;
    begin = comma + 2;
  }
  return true;
}

}  // namespace lehr
