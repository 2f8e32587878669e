#include "compiler/fitting/carried.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/math/evaluate.h"
#include "compiler/model/walk.h"

namespace lehr {
namespace {

using namespace model;
using math::FactorParameter;

constexpr std::string_view kCarried = "posterior ";  // not in a name of the language

Error refused(const Variable& v, const std::string& why) {
  return {ExitCode::model, "", fmt::format("the posterior of '{}' is no prior: {}", v.name, why), {}};
}

/// One factor outside the items, whose parameters become givens.
class Carrier {
 public:
  Carrier(Carried& out, const Analysed& complete, const SavedFit& fit, double forget, conditionals::BlockId block)
      : out_(out),
        block_(complete.schedule.conditionals[block]),
        fit_(fit),
        forget_(forget),
        variable_(complete.model[block_.variable]) {}

  std::optional<Error> run() {
    if (const char* why = why_not()) return refused(variable_, why);
    if (std::optional<Error> e = read_parameters()) return e;
    if (forget_ < 1) {
      if (std::optional<Error> e = forget()) return e;
    }
    if (block_.mean) {
      if (std::optional<Error> e = give_mean()) return e;
    }
    return give_itself();
  }

 private:
  struct Numbers {
    const FactorParameter* parameter;
    VariableId variable;
    NamedArray array;
  };

  const char* why_not() const {
    const Statement& s = out_.model[variable_.statement];
    if (variable_.auxiliary) return "several variables share its factor, and no statement draws them together";
    if (block_.point) return "it is a point";
    if (block_.chain || s.lagged) return "it is a chain, whose elements depend on each other";
    return nullptr;
  }

  std::optional<Error> read_parameters() {
    for (const FactorParameter& p : block_.factor->parameters) {
      if (!p.exported) continue;
      const VariableId owner = p.of_mean ? *block_.mean : block_.variable;
      const std::string name = out_.model[owner].name + "." + p.name;
      const auto found = std::ranges::find(fit_.posterior, name, &NamedArray::name);
      if (found == fit_.posterior.end()) return refused(variable_, fmt::format("the fit has no {}", name));
      numbers_.push_back({&p, owner, *found});
    }
    return std::nullopt;
  }

  using Named = std::pair<std::string, ExprId>;

  /// Numbers of one element of the variable in the array of a parameter.
  std::size_t width_of(const Numbers& n) const {
    std::size_t out = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(n.parameter->event_rank); ++k)
      out *= static_cast<std::size_t>(n.array.shape[n.array.shape.size() - 1 - k]);
    return out;
  }

  /// Natural parameters times the power.
  std::optional<Error> forget() {
    std::size_t extent = 1;
    for (const Numbers& n : numbers_) {
      if (n.parameter->event_rank > 0) extent = static_cast<std::size_t>(n.array.shape.back());
    }
    const std::size_t elements = numbers_[0].array.values.size() / width_of(numbers_[0]);
    for (std::size_t i = 0; i < elements; ++i) {
      math::Environment now{extent, {}};
      for (const Numbers& n : numbers_) {
        const auto first = n.array.values.begin() + static_cast<std::ptrdiff_t>(i * width_of(n));
        now.symbols[n.parameter->name] = {n.parameter->event_rank,
                                          {first, first + static_cast<std::ptrdiff_t>(width_of(n))}};
      }
      math::Environment natural{extent, math::natural_from_parameters(*block_.factor, now)};
      for (auto& [name, q] : natural.symbols) {
        for (double& x : q.values)
          x *= forget_;
      }
      const math::Environment then{extent, math::parameters_from_natural(*block_.factor, natural)};
      if (!math::is_proper(*block_.factor, then))
        return refused(variable_, fmt::format("so little of it is kept that nothing is left of element {}", i));
      for (Numbers& n : numbers_)
        std::ranges::copy(then.symbols.at(n.parameter->name).values,
                          n.array.values.begin() + static_cast<std::ptrdiff_t>(i * width_of(n)));
    }
    return std::nullopt;
  }

  /// The numbers of a parameter, at the element that the statement draws.
  ExprId given(const Numbers& n) {
    Model& m = out_.model;
    const Variable& v = m[n.variable];
    std::vector<PlateId> event;
    if (n.parameter->event_rank > 0)
      event.assign(static_cast<std::size_t>(n.parameter->event_rank), v.value_plate ? *v.value_plate : v.event.at(0));
    constexpr GivenType kTypes[] = {GivenType::real, GivenType::vector, GivenType::matrix};
    const std::string name = std::string(kCarried) + n.array.name;
    std::vector<Index> indices;
    for (const BoundId b : m[v.statement].bounds)
      indices.push_back({Index::Shifted{b, 0}, m[m[b].plate].set, v.span});
    m.exprs.push_back({GivenRef{GivenId(m.givens.size()), std::move(indices)}, event, std::nullopt, v.span});
    m.givens.push_back({name, v.span, v.axes, event, kTypes[n.parameter->event_rank], std::nullopt, true});
    DataArray& data = out_.parameters[name];
    data.name = name;
    data.shape = n.array.shape;
    data.values = n.array.values;
    data.source = fmt::format("the fit in {}", fit_.directory);
    return ExprId(m.exprs.size() - 1);
  }

  /// The statement of a variable draws it from `family`; values by the spelling of parameters.
  std::optional<Error> draw(VariableId v, const math::FamilyRow& family, const std::vector<Named>& values) {
    Statement& s = out_.model.statements[out_.model[v].statement.index()];
    Distribution now{&family, {}, s.main.span};
    for (const math::DensityParameter& p : math::density_parameters(family)) {
      const auto spelled = std::ranges::find_if(family.spellings, [&](const math::Spelling& x) {
        return x.canonical == p.name && std::ranges::find(values, x.name, &Named::first) != values.end();
      });
      if (spelled == family.spellings.end())
        return refused(out_.model[v], fmt::format("{} has other parameters than its factor", family.name));
      now.parameters.push_back({&*spelled, std::ranges::find(values, spelled->name, &Named::first)->second});
    }
    s.main = std::move(now);
    s.start.reset();
    return std::nullopt;
  }

  std::optional<Error> give_itself() {
    std::vector<Named> values;
    for (const Numbers& n : numbers_) {
      if (!n.parameter->of_mean) values.emplace_back(n.parameter->name, given(n));
    }
    const Distribution& prior = out_.model[variable_.statement].main;
    return draw(block_.variable, block_.mean ? *prior.family : *block_.family, values);
  }

  /// The mean of a mean and precision: its precision is a multiple of the other, as it was.
  std::optional<Error> give_mean() {
    Model& m = out_.model;
    const Statement& s = m[m[*block_.mean].statement];
    std::optional<ExprId> precision;
    for (const ExprId e : nodes_under(m, roots_of(s))) {
      const auto* ref = std::get_if<VariableRef>(&m[e].node);
      if (ref && ref->variable == block_.variable) precision = e;
    }
    if (!precision) return refused(m[*block_.mean], "its precision does not stand in its statement");
    const math::FamilyRow& family = *s.main.family;
    std::vector<Named> values;
    for (const Numbers& n : numbers_) {
      if (!n.parameter->of_mean) continue;
      const ExprId number = given(n);
      if (n.parameter->role == math::ParameterRole::location) {
        values.emplace_back("mean", number);
        continue;
      }
      const Expr& scaled = m[*precision];
      m.exprs.push_back({Binary{BinaryOp::multiply, number, *precision}, scaled.shape, std::nullopt, scaled.span});
      values.emplace_back("precision", ExprId(m.exprs.size() - 1));
    }
    return draw(*block_.mean, family, values);
  }

  Carried& out_;
  const conditionals::Block& block_;
  const SavedFit& fit_;
  double forget_;
  const Variable variable_;
  std::vector<Numbers> numbers_;
};

/// Shape by the sizes of the fit; where it has numbers of another count, what is bound says so.
DataArray constant_array(const Model& m, const Given& g, const SavedFit& fit) {
  DataArray out;
  out.name = g.name;
  out.values = fit.constants.at(g.name);
  out.source = fmt::format("the fit in {}", fit.directory);
  for (const std::vector<PlateId>* plates : {&g.axes, &g.event}) {
    for (const PlateId p : *plates) {
      const auto size = fit.sizes.find(m[m[p].set].name);
      out.shape.push_back(size == fit.sizes.end() ? -1 : size->second);
    }
  }
  return out;
}

}  // namespace

bool is_carried(const Given& given) { return given.name.starts_with(kCarried); }

void add_constants(const Model& resolved, const SavedFit& fit, Dataset& data) {
  for (const Given& g : resolved.givens) {
    if (!g.constant || !fit.constants.contains(g.name) || data.contains(g.name)) continue;
    data.emplace(g.name, constant_array(resolved, g, fit));
  }
}

Result<Carried> carry(const Model& resolved, const Analysed& complete, const SavedFit& fit, double forget) {
  Carried out{resolved, {}};
  if (!resolved.potentials.empty())
    return Error{ExitCode::model, "", "potentials are of no variable: they would count again with every batch", {}};
  const schedule::Schedule& s = complete.schedule;
  bool any = false;
  for (std::size_t k = 0; k < s.conditionals.blocks.size(); ++k) {
    const conditionals::BlockId block(k);
    const Variable& v = complete.model[s.conditionals[block].variable];
    if (s.stage_of[k] || s.local[k] || (v.auxiliary && v.auxiliary->kind != Auxiliary::Kind::joint)) continue;
    if (std::optional<Error> e = Carrier(out, complete, fit, forget, block).run()) return *e;
    any = true;
  }
  if (!any) return Error{ExitCode::model, "", "all that is inferred belongs to the items: nothing is carried on", {}};
  return out;
}

}  // namespace lehr
