"""Single mistakes in the mathematics of compiler/ and runtime/, for run.py.

A mutation is a snippet that occurs once in all their sources (white space aside), in which the part between « and »
becomes an alternative, and the tests (a pattern for ctest -R) that must notice. By default the part is an expression, and
`(lehr_mutation(N) ? (alternative) : (part))` stands in its place; an alternative that holds the word SWITCH is the text
itself, SWITCH standing for `lehr_mutation(N)`. Numbers are positions: new entries go to the end.
A survivor that no test can notice says why in `equivalent`.
"""
from dataclasses import dataclass


@dataclass
class Mutation:
    area: str
    snippet: str
    by: str
    tests: str
    equivalent: str = ""


MUTATIONS = []


def area(name, tests):
    def add(snippet, by, also="", equivalent=""):
        MUTATIONS.append(Mutation(name, snippet, by, tests if not also else also, equivalent))
    return add


FAMILIES = "math_test|oracles"

m = area("densities", FAMILIES)
m("row.log_density = -0.5 * kLog2Pi + «0.5 * log(precision)» - 0.5 * precision * square(x - mean);", "log(precision)")
m("row.log_density = «-0.5 * kLog2Pi» + 0.5 * log(precision) - 0.5 * precision * square(x - mean);", "-0.5 * kLog2")
m("row.log_density = shape * log(rate) - lgamma(shape) + «(shape - 1.0)» * log(x) - rate * x;", "shape")
m("row.log_density = shape * log(scale) - lgamma(shape) - «(shape + 1.0)» * log(x) - scale * reciprocal(x);", "(shape - 1.0)")
m("row.log_density = «log(rate) - rate * x»;", "-(rate * x)")
m("row.log_density = lgamma(a + b) - lgamma(a) - lgamma(b) + (a - 1.0) * log(x) + «(b - 1.0)» * log1m(x);", "b")
m("row.log_density = lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(«n - x + 1.0») + x * log(p) + (n - x) * log1m(p);", "n - x")
m("row.log_density = «x * log1m(p) + log(p)»;", "x * log1m(p)", "math_test|posterior_evidence|posterior_logistic_numbers")
m("row.log_density = x * log(rate) - rate - «lgamma(x + 1.0)»;", "lgamma(x)")
m("row.log_density = lgamma(sum(kA, x) + 1.0) - «sum(kA, lgamma(x + 1.0))» + sum(kA, x * log(p));", "0.0 * sum(kA, x)",
  "math_test|posterior_evidence")
m("0.25 * std::log(std::numbers::pi) * extent() * «(extent() - 1.0)» +", "(extent() + 1.0)")
m("return 0.5 * df * logdet(\"rate\") - «0.5 * kLog2 * df * extent()» - multigamma(df) +", "0.5 * kLog2 * df")
m("«0.5 * (df - extent() - 1.0)» * logdet(x) -", "0.5 * (df - extent())")
m("row.log_density = lgamma(total) - sum(kA, lgamma(c_a)) + sum(kA, «(c_a - 1.0)» * log(symbol(\"x\", kA)));", "c_a")
m("row.log_density = -0.5 * kLog2Pi * extent() + 0.5 * logdet(\"precision\") - «0.5» * sum(kA, sum(kB, symbol(\"precision\", kA, kB) * centred(kA) * centred(kB)));",
  "1.0")
m("-0.5 * kLog2Pi + «0.5 * log(k)» + 0.5 * log(tau) - 0.5 * k * tau * square(mu - mean) +", "log(k)", "math_test|posterior_evidence")

m = area("expected statistics", FAMILIES)
m("{Stat::square, «square(mean) + reciprocal(precision)», -0.5 * precision}};", "square(mean)")
m("{Stat::log, «digamma(shape) - log(rate)», shape - 1.0}};", "log(shape) - log(rate)")
m("{Stat::log, «log(scale) - digamma(shape)», -(shape + 1.0)}};", "log(scale) + digamma(shape)", "math_test")
m("{{Stat::log, digamma(a) - «digamma(a + b)», a - 1.0},", "digamma(a + b + 1.0)")
m("f.statistics = {{Stat::log_comp, digamma(c_j) - «digamma(total)», c_j - 1.0}};", "log(total)")
m("{Stat::comp2, mean_j * symbol(\"mean\", kSecond) + «inverse(\"precision\", kFirst, kSecond)», -0.5 * precision_jl}};",
  "2.0 * inverse(\"precision\", kFirst, kSecond)")
m("return sum(kA, digamma(0.5 * («df - index_value(kA)»))) + kLog2 * extent() + logdet(\"scale\");", "df - index_value(kA) + 1.0")
m("return sum(kA, digamma(0.5 * (df - index_value(kA)))) + «kLog2 * extent()» + logdet(\"scale\");", "0.0 * extent()")
m("{Stat::weighted_square, «reciprocal(k)» + square(mean) * shape / rate, -0.5 * k}};", "0.5 * reciprocal(k)", "math_test|posterior_evidence")
m("{Stat::weighted_square, «extent()» / k + df * sum(kA,", "Expr(1.0)", "math_test|posterior_evidence")
m("f.statistics = {{Stat::value, «(1.0 - p) / p», log1m(p)}};", "1.0 / p", "math_test")

m = area("entropies and normalisers", FAMILIES)
m("f.entropy = «0.5 * (1.0 + kLog2Pi) - 0.5 * log(precision)»;", "0.5 * kLog2Pi - 0.5 * log(precision)")
m("f.entropy = shape - log(rate) + lgamma(shape) + «(1.0 - shape)» * digamma(shape); f.valid = {shape, rate};", "(2.0 - shape)")
m("f.entropy = shape + log(scale) + lgamma(shape) - «(shape + 1.0)» * digamma(shape);", "shape", "math_test")
m("«(a + b - 2.0)» * digamma(a + b);", "(a + b - 1.0)")
m("f.entropy = «-xlogx(p) - xlogx(1.0 - p)»;", "-xlogx(p)")
m("f.entropy = -sum(kA, «xlogx(symbol(\"probs\", kA))»);", "0.5 * xlogx(symbol(\"probs\", kA))", "annealing_one_sweep|oracles")
m("f.entropy = -xlogx(0.5 * (1.0 + mean)) - «xlogx(0.5 * (1.0 - mean))»;", "xlogx(0.5 * (1.0 + mean))")
m("f.entropy = sum(kA, lgamma(c_a)) - lgamma(total) + «(total - extent())» * digamma(total) -", "total")
m("f.entropy = 0.5 * (1.0 + kLog2Pi) * extent() - «0.5» * logdet(\"precision\");", "1.0")
m("return wishart_normaliser(df) - «0.5 * (df - extent() - 1.0)» * expected_logdet(df) + 0.5 * df * extent();", "0.5 * (df - extent())")
m("return «0.5 * df * logdet(\"scale\")» + 0.5 * kLog2 * df * extent() + multigamma(df);", "df * logdet(\"scale\")")
m("f.log_normaliser = «-log(p)»;", "log(p)", "math_test")
m("f.log_normaliser = lgamma(shape) - «shape * log(scale)»;", "log(scale)", "math_test")

m = area("natural maps", FAMILIES)
m("f.parameters = {parameter(\"precision\", 0, «-2.0» * natural_symbol(Stat::square), ParameterRole::precision),", "Expr(-1.0)")
m("parameter(\"shape\", 0, «natural_symbol(Stat::log) + 1.0»),", "natural_symbol(Stat::log)", "math_test|annealing_one_sweep")
m("f.parameters = {parameter(\"shape\", 0, «-natural_symbol(Stat::log) - 1.0»),", "-natural_symbol(Stat::log) + 1.0", "math_test")
m("parameter(\"df\", 0, «2.0 * natural_symbol(Stat::logdet) + extent() + 1.0», ParameterRole::freedom),", "2.0 * natural_symbol(Stat::logdet) + extent()")
m("f.parameters = {parameter(\"concentration\", 1, «natural_symbol(Stat::log_comp, kFirst) + 1.0», ParameterRole::pseudo_count)};", "natural_symbol(Stat::log_comp, kFirst)")
m("parameter(\"rate\", 0, -natural_symbol(Stat::value) - «0.5» * k * square(mean), ParameterRole::spread)};", "1.0", "math_test|posterior_evidence")
m("f.parameters = {parameter(\"mean\", 0, «tanh(natural_symbol(Stat::value))», ParameterRole::location)};", "tanh(0.5 * natural_symbol(Stat::value))")
m("f.parameters = {parameter(\"p\", 0, «reciprocal(1.0 + exp(-n_value))», ParameterRole::probability)};",
  "reciprocal(1.0 + exp(n_value))")
m("f.mode = «(shape - 1.0) / rate»;", "shape / rate", "annealing_stochastic_steps|posterior_soft_kmeans|posterior_evidence")
m("f.mode = (c_j - 1.0 + (1.0 - peaked) / extent()) / («total - extent()» + (1.0 - peaked));", "total", "annealing_stochastic_steps")
m("f.mode = (a - 1.0 + 0.5 * (1.0 - peaked)) / («a + b - 2.0» + (1.0 - peaked));", "a + b", "posterior_evidence|math_test")
m("f.mode = «scale / (shape + 1.0)»;", "scale / (shape - 1.0)", "math_test|posterior_evidence")
m("alternative(\"sd\", \"precision\", reciprocal(«square(symbol(\"sd\"))»))};", "symbol(\"sd\")")

m = area("augmentations", "posterior_logistic_numbers")
m("const Expr large = step(xi - 0.01), safe = xi + (1.0 - large), x2 = square(xi); const Expr lambda = large * («0.25» * tanh(0.5 * safe) / safe) +", "0.5")
m("(1.0 - large) * («0.125» - x2 * (1.0 / 96.0) + square(x2) * (1.0 / 960.0));", "0.12500001")
m("(1.0 - large) * (0.125 - x2 * («1.0 / 96.0») + square(x2) * (1.0 / 960.0));", "1.0 / 48.0")
m("(1.0 - large) * (0.125 - x2 * (1.0 / 96.0) + «square(x2) * (1.0 / 960.0)»);", "square(x2) * (1.0 / 480.0)")
m("{Stat::offset, lambda * x2 - «0.5 * xi» - log(1.0 + exp(-xi)), 0.0}};", "0.0 * xi")
m("Poly out = add(scale(a_, a_.number(«0.5 * sign»), eta), statistic(Stat::offset));", "0.5")
m("const CoefId e = a_.apply(Function::exp, a_.multiply(a_.number(«-sign»), *c));", "sign")
m("parameter(\"value\", 0, «sqrt(symbol(\"square\"))», ParameterRole::value)};", "symbol(\"square\")")
m("if (spread) append(*spread, a_.index(over, «static_cast<std::int64_t>(fixed.size())»));", "std::int64_t(0)",
  "posterior_sources")
m("const ExprId count = b_.load(at_.data.observed[v.auxiliary->host.index()], terms_.address(v.axes, element)); return b_.mul(out, «b_.select(b_.is_nan(count), b_.f(0), count)»);",
  "b_.f(1)", "oracles|posterior_unseen")

m = area("density algebra", "oracles|posterior_evidence|posterior_random_models")
m("return log_logistic(*eta, «of_p ? 1 : -1»);", "1", "posterior_logistic_numbers")
m("return add(component(b.left, at), scale(a_, a_.number(«-1»), component(b.right, at)));", "1")
m("if (support == math::Support::bit) «return;»", "{ if (SWITCH) out.stat = Stat::square; return; }")
m("} else if (x.stat == Stat::inverse) { x.stat = Stat::log; s.coef = a_.number(«-1»);", "1", "posterior_evidence|posterior_unseen|posterior_elementwise|posterior_random_models")
m("{Relation::greater_equal, bound_.at(*s.lagged), a_.index(IndexConstant{«1»}), std::nullopt, {}});", "2", "oracles|posterior_gaussian_chains|annealing_one_sweep")
m("if (var.observed && s.variable.index() < options_.may_be_missing.size() && «options_.may_be_missing[s.variable.index()]») {",
  "false", "posterior_evidence|posterior_elementwise|posterior_unseen")

m = area("sums over items", "annealing_one_sweep|oracles")
m("if (owner && «density::owns(m_, *owner, x)») continue;", "false")
m("«out = b_.mul(out, b_.load(at_.data.givens[times->index()], terms_.address(g.axes, at)));»",
  "if (!SWITCH) out = b_.mul(out, b_.load(at_.data.givens[times->index()], terms_.address(g.axes, at)));")
m("return b_.mul(«owned_multiplicity(m_[s_.conditionals[b].variable], element)», out);", "b_.f(1)",
  "posterior_copies")
m("return b_.type(x) == Type::f64 ? «b_.logical_not(b_.is_nan(x))» : b_.greater_equal(x, b_.i(0));", "b_.is_nan(x)", "posterior_evidence|posterior_elementwise|posterior_unseen")
m("return b_.type(x) == Type::f64 ? b_.logical_not(b_.is_nan(x)) : «b_.greater_equal(x, b_.i(0))»;", "b_.greater_equal(x, b_.i(1))",
  "posterior_evidence|posterior_elementwise|posterior_unseen|posterior_score")
m("b_.add_to(s_.tempered[t.origin] ? sums.energy : sums.prior, {b_.i(0)}, «value»);", "b_.mul(b_.f(2), value)", "annealing_one_sweep|posterior_unseen|posterior_evidence|oracles")
m("b_.accumulate(«s_.tempered[t.term.origin] ? energy : prior», value);", "prior", "annealing_one_sweep|annealing_tempering_numbers|annealing_built_steps")
m("b_.accumulate(«tempered ? data : prior», value);", "prior", "annealing_one_sweep|annealing_tempering_numbers|annealing_built_steps")
m("b_.accumulate(energy, b_.mul(b_.mul(«unweighted», natural),", "b_.f(1)", "annealing_one_sweep|annealing_built_steps")
m("const ExprId h = b_.sub(b_.add(b_.log(b_.get(e.total)), «b_.get(e.shift)»), b_.mul(scale, b_.get(mean)));", "b_.f(0)")
m("b_.add_to(e.visit.arrays.sums.discrete, {b_.i(0)}, b_.mul(«updates_.owned_multiplicity(var, e.element)», h));", "b_.f(1)")
m("energies_.add_item_energy(e.element[0], b_.mul(«updates_.owned_multiplicity(var, e.element)», b_.mul(scale, b_.get(mean))));", "b_.f(1)", "annealing_tempering_numbers|annealing_local_tempering")
m("if (!s_.tempered[t.term.origin] «|| has_streamed_atom(t.term)») continue;", "|| (!SWITCH && has_streamed_atom(t.term))", "annealing_local_tempering|annealing_built_steps|annealing_tempering_numbers")
m("b_.accumulate(squares, «b_.mul(a, a)»);", "a", "posterior_multilinear|posterior_elementwise|residual_test|oracles")
m("b_.add_to(at_.array.at(r.sums), terms_.array_indices(r.sums, r.at, env), «back ? a : b_.neg(a)»);", "a", "residual_test|posterior_multilinear|oracles")
m("return b_.mul(b_.f(0.5), «b_.add(x, b_.load(buffer, natural_address(b, element, n, {event[1], event[0]})))»);", "b_.add(x, x)",
  "oracles|posterior_evidence|posterior_random_models|posterior_unseen")
m("return b.select(positive, «b.mul(x, b.log(b.select(positive, x, b.f(1))))», b.f(0));", "b.log(b.select(positive, x, b.f(1)))")
m("b_.accumulate(logdet, «b_.log(b_.get(d))»);", "b_.mul(b_.f(2), b_.log(b_.get(d)))")

m = area("exp factoring", "annealing_one_sweep|oracles|posterior_unseen|posterior_random_models")
m("b_.store(shift, row, b_.mul(local, «b_.get(top)»));", "b_.f(0)")
m("b_.store(to, at(k), b_.exp(b_.mul(«local», b_.sub(b_.load(from, at(k)), b_.get(top)))));", "b_.f(1)")
m("if (s_.tempered[u.term->term.origin]) scale = b_.mul(scale, «weight(Weight::local_data)»);", "b_.f(1)")
m("b_.if_then(b_.less(b_.get(sum), b_.f(kUnderflow)), [&] { «from_odds(e)»; });", "if (!SWITCH) from_odds(e)", "annealing_one_sweep")
m("b_.mul(«weight(Weight::local)», table_entry(e, j, at_.array.at(table_of(s.uses[j])), k)));", "b_.f(1)")

m = area("chains", "annealing_one_sweep|oracles|posterior_gaussian_chains|posterior_nile")
m("b_.store(m.message, {k}, b_.add(in, «b_.load(m.unary, {t, k})»));", "b_.f(0)")
m("b_.store(m.forward, {t, k}, «b_.sub(b_.load(m.message, {k}), z)»);", "b_.load(m.message, {k})")
m("b_.accumulate(m.entropy, b_.neg(b_.mul(p, «b_.load(m.unary, {t, k})»)));", "b_.f(0)")
m("b_.accumulate(m.entropy, b_.neg(b_.mul(p, «b_.load(m.pair, {t, j, k})»)));", "b_.f(0)")
m("b_.add(b_.add(b_.load(m.pair, {t, j, k}), b_.load(m.unary, {t, k})), «b_.load(m.backward, {k})»), z);", "b_.f(0)")
m("const ExprId constant = b_.mul(b_.f(«1 + kLog2Pi»), b_.mul(components, steps));", "kLog2Pi")
m("const ExprId entropy = b_.mul(b_.f(0.5), b_.sub(constant, «b_.get(logdet)»));", "b_.f(0)")
m("const ExprId sum = b_.add(b_.load(s.square, s.at(t, {j, l})), b_.load(s.square, s.at(t, {l, j}))); b_.store(s.pivot, {j, l}, «b_.neg(sum)»);", "b_.mul(b_.f(-0.5), sum)")
m("b_.add_to(s.pivot, {j, l}, «b_.neg(sum)»);", "sum")
m("b_.add(filtered_covariance(j, l), component_sum(s, [&](ExprId k) { return «b_.mul(b_.load(s.product, {j, k}), b_.load(pairs, gain_at(l, k)))»;", "b_.mul(b_.load(s.product, {j, k}), b_.load(pairs, gain_at(k, l)))")
m("b_.add(b_.load(s.product, {j, l}), «b_.mul(b_.load(s.information, {j}), b_.load(s.mean, {l}))»));", "b_.f(0)")
m("b_.add_to(s.information, {j}, component_sum(s, [&](ExprId k) { return «b_.mul(b_.load(w, w_at(k, j)), b_.load(s.linear, s.at(before, {k})))»;", "b_.mul(b_.load(w, w_at(j, k)), b_.load(s.linear, s.at(before, {k})))")
m("b_.store(at_.chains.at(b).pairs, pair_address(b, now, j, k), b_.mul(«b_.load(mean, updates_.parameter_address(b, before, j))»,", "b_.load(mean, updates_.parameter_address(b, now, j))",
  "annealing_one_sweep|oracles|posterior_gaussian_chains|posterior_unseen|posterior_evidence|posterior_random_models")
m("b_.store(at_.chains.at(b).entropy, entropy_address(b, sequence), b_.mul(«updates_.owned_multiplicity(whole, sequence)», value));", "b_.f(1)",
  "posterior_unseen|posterior_random_models|posterior_evidence|posterior_copies")

HEATED = "annealing_one_sweep|annealing_built_steps"

m = area("weights of a temperature", HEATED)
m("std::vector<Weight> out{«local ? Weight::local : Weight::global»};", "Weight::local")
m("if (!from_table) out.push_back(«local ? Weight::local_data : Weight::global_data»);", "Weight::local_data")
m("terms_.emit(t.term, terms_.factors({&t.term, std::nullopt, nullptr, {«Weight::local_data»}}, {}), {}, {}, innermost,", "Weight::global_data")
m("if (of_data && «!s_.tempered[t.term->origin]») continue;", "false")
m("const bool local = o.statement && on_item[m[*o.statement].variable.index()] && «!is_prior(o)»;", "true",
  "annealing_local_priors|annealing_one_sweep")
m("out.push_back(o.observed || «o.potential» || local);", "false", "annealing_one_sweep|annealing_ends")
m("const bool local = «a.scope != Annealing::Scope::global», global = a.scope != Annealing::Scope::local;", "true")
m("const bool local = a.scope != Annealing::Scope::global, global = «a.scope != Annealing::Scope::local»;", "true")
m("if (local) w.local_data = «b»;", "t")
m("if (global) w.global_data = «b»;", "1.0")
m("if (local) w.local = «b»;", "1.0")
m("if (global) w.global = «b»;", "b * b")
m("if (a.kind == Annealing::Kind::data) return e.value - «(1 - 1 / t)» * e.data_energy;", "(1 - t)")
m("if (a.kind == Annealing::Kind::entropy) return e.value + «(t - 1)» * e.entropy;", "(1 - 1 / t)")

m = area("schedules", "annealing_one_sweep|annealing_mixture")
m("const double left = «1 - static_cast<double>(sweep) / static_cast<double>(over)»; return std::max(1.0,", "1 - static_cast<double>(sweep + 1) / static_cast<double>(over)")
m("return std::max(1.0, shape == Shape::linear ? «1 + (from - 1) * left» : std::pow(from, left));", "from * left")
m("return std::max(1.0, shape == Shape::linear ? 1 + (from - 1) * left : «std::pow(from, left)»);", "std::pow(from, left * left)")
m("if (decay > 0) return std::min(0.999, std::pow(decay, static_cast<double>(«sweep + 1»)));", "sweep")
m("return from * (1 - «static_cast<double>(sweep)» / static_cast<double>(over));", "static_cast<double>(sweep + 1)")
m("weights.step = «1 - noise»;", "noise", "annealing_one_sweep")
m("e.restart(options.seed + «static_cast<std::uint64_t>(iteration)», options.annealing.noise_start))", "std::uint64_t(0)", "annealing_one_sweep")
m("b_.store(n.buffers.at(row.stat), at, b_.add(b_.mul(rho, now), b_.mul(«b_.sub(b_.f(1), rho)», old)));", "b_.f(1)", "annealing_one_sweep|annealing_stochastic_steps")

m = area("automatic schedules", "annealing_ends|annealing_mixture")
m("fraction = «(elbo_.discrete_entropy - cold) / (hot - cold)»;", "elbo_.discrete_entropy / hot")
m("for (const double share : {o_.hasty ? 1.0 : «0.7», o_.hasty ? 0.7 : 1.0}) {", "0.8")
m("const double t = from + «(1 - from) * static_cast<double>(k)» / static_cast<double>(sweeps);", "(1 - from) * static_cast<double>(k + 1)")
m("«converge(kFinishing, o_.hasty ? target : -INFINITY)»;", "if (!SWITCH) converge(kFinishing)")
m("const double target = best_elbo_ + «kBetter * std::abs(best_elbo_)»;", "-1.0")
m("if (best_share == 1.0) arm(best_, t, «2 * o_.arm», 1e-3);", "o_.arm")
m("if (report_.plateau) arm(plain(), «0.75 * early_», o_.arm, 1e-3);", "early_")
m("arm(best_, share * «best_share» * t, sweeps, 1e-3);", "1.0")
m("while (fraction < «kMelted» && t < kHottest) {", "0.5")
m("shake(«noise * (t - 1) / (from - 1)»);", "0.0", "annealing_ends|annealing_gains_gaussian_mixture|annealing_gains_factorial")
m("if (fraction > lowest + kRisen && rise < «kPast» * steepest) break;", "0.01", "annealing_svi")
m("report.melting = «t / std::sqrt(kHotter)»;", "t", "annealing_svi")
m("report.over = «left / 3»;", "left / 2", "annealing_svi")

m = area("tempering", "annealing_tempering_numbers|annealing_local_tempering|annealing_built_steps")
m("const auto log_r = [&](std::size_t m) { return «energy / temperatures[m] - log_c[m]»; };", "energy / temperatures[m] + log_c[m]")
m("out += «r[m] / temperatures[m]»;", "r[m] * temperatures[m]")
m("w.local_data = «w.global_data = b»;", "(w.global_data = 1.0, b)")
m("if (out.iterations % «o.every» == 0) { if (!o.constant) log_c = o.log_normaliser({});", "(o.every + 1)")
m("double objective = elbo.value - «(1 - mean_inverse(r, o.temperatures))» * elbo.data_energy;", "(1 - b)")
m("objective += (r[m] > 0 ? «-r[m] * std::log(r[m] * levels)» : 0) - r[m] * log_c[m];", "-r[m] * std::log(r[m])")
m("added_[i] += copies * ((r_[i][j] > 0 ? -r_[i][j] * std::log(r_[i][j] * levels) : 0) - «r_[i][j] * log_c[k][j]»);", "0.0")
m("energy = copies > 0 ? «energies[i] / (b[i] * copies)» : 0;", "energies[i]")
m("«e.set({});» return finish(e, o, out, on_sweep);", "if (!SWITCH) e.set({});", equivalent="every sweep sets the weights before it begins, and a run puts them back when it ends")
m("std::pow(s.hottest, static_cast<double>(m) / «static_cast<double>(s.levels - 1)»));", "static_cast<double>(s.levels)")
m("double temperature = o.grid ? «1 / mean_inverse(r, o.grid->temperatures)» : o.annealing.temperature(t);", "mean_inverse(r, o.grid->temperatures)")
m("if (o.grid && out.iterations % «o.grid->every» == 0) {", "(o.grid->every + 1)")
m("return all_copies() / «std::inner_product(b.begin(), b.end(), grid_.copies.begin(), 0.0)»;", "(1.0 + std::accumulate(b.begin(), b.end(), 0.0))")
m("double top = «log_r(0)», total = 0, inverse = 0;", "0.0", "annealing_built_steps")
m("total += std::exp(«log_r(m) - top»);", "energy / temperatures[m] - top", "annealing_built_steps")
m("inverse += «share / temperatures[m]»;", "share", "annealing_built_steps")
m("nats[i] = «energies[i] / inverse[i]»;", "energies[i]", "annealing_built_steps|embedding_item_temperatures")
m("const double share = «std::exp(log_r(m) - top) / total»;", "std::exp(log_r(m) - top) / 2.0", "annealing_built_steps")
m("const double needed = «(t.log_c[1] - t.log_c[0])» / (1 / t.temperatures[1] - 1 / t.temperatures[0]);", "(t.log_c[1] + t.log_c[0])", "annealing_tempering_numbers|annealing_normaliser",
  "log C(1) is 0 to rounding")
m("const double needed = (t.log_c[1] - t.log_c[0]) / «(1 / t.temperatures[1] - 1 / t.temperatures[0])»;", "(t.temperatures[1] - t.temperatures[0])", "annealing_tempering_numbers|annealing_normaliser")
m("for (std::int64_t k = 0; k < «kSteps»; ++k) { if (const std::int32_t status = step(e, o, items)) return status; } Elbo elbo; if (const std::int32_t status = e.elbo(elbo)) return status; nats",
  "1", "annealing_normaliser|annealing_tempering_numbers")

m = area("normalisers", "annealing_normaliser|annealing_tempering_numbers")
m("const double shared = «-std::log(of_sum(1 / t)[0])»;", "0.0")
m("const std::vector<double> x = ratios(«1 / t»);", "t")
m("for (double t : known.temperatures) out.push_back(«log_p / t»);", "log_p")
m("return «std::accumulate(counts.begin() + first, counts.begin() + past, 0.0)»;", "static_cast<double>(past - first)")
m("counts.assign(n, «static_cast<double>(items) / static_cast<double>(n)»);", "1.0")
m("used.push_back(sample[«k * sample.size() / n»]);", "k")
m("counts[kind->second] += «all_copies[static_cast<std::size_t>(i)]»;", "2")
m("product[m] += «logs[m]»;", "0.5 * logs[m]")
m("out.log_c.push_back(top + «std::log(mean)»);", "0.0")
m("out.error.push_back(std::sqrt(«std::max(0.0, square / (mean * mean) - 1)» / static_cast<double>(draws)));", "square / (mean * mean)")
m("return std::log(p[0]) / temperature - «std::log(p[0] / temperature)»;", "std::log(p[0])", "math_test|annealing_normaliser")
m("return std::log((q.log() / «temperature»).exp().sum());", "1.0", "math_test|annealing_normaliser")
m("double out = «inverse_temperature * log_factorial[count]» - tilt * n;", "log_factorial[count]", "math_test")
m("out[j] *= («j == 0 || j == n ? 1.0 : 2.0») / static_cast<double>(n);", "2.0", "over_temperatures_test")
m("const double now = c[j] + «2 * x * next» - after;", "x * next", "over_temperatures_test")
m("(z - 0.5) * log_ratio + b * (values(log_z_) + log_ratio) - «b» + stirling_tail(z + b) - values(tail_);", "0.5 * b", "math_test")
m("return stored(log_gammas.exp() * values(product_) / «skipped(values(x_) + b, values(x_))»);", "skipped(values(x_), values(x_))", "math_test")

m = area("stochastic steps", "annealing_stochastic_steps|annealing_built_steps")
m("return o.rho > 0 ? o.rho : std::min(1.0, std::pow(o.tau0 + «static_cast<double>(t)», -o.kappa));", "static_cast<double>(t + 1)")
m("return o.rho > 0 ? o.rho : std::min(«1.0», std::pow(o.tau0 + static_cast<double>(t), -o.kappa));", "2.0")
m("double tau0 = 1, kappa = «0.7»; // rho_t =", "0.75")
m("return static_cast<double>(e.items()) / «static_cast<double>(batch.size())»;", "static_cast<double>(e.items())")
m("if (stage.batched) scale_up(m, statistics_of(*m.model, stage), «plan.scale»);", "1.0")
m("scale_up(m, data_sums_of(*m.model, *stage), «scale»);", "1.0", "annealing_svi|minibatches_test|annealing_stochastic_steps")
m("const std::int32_t status = sweep(machine, {.scale = «r.s.scale»});", "1.0", "annealing_built_steps")
m("s.scale = static_cast<double>(total) / «static_cast<double>(s.sizes[r.m.batch_slot])»;", "static_cast<double>(s.sizes[r.m.batch_slot] + 1)", "annealing_built_steps")
m("r.scale(r.m.summed[k], «s.scale»);", "1.0", "embedding_steps_test|annealing_built_steps")
m("const Weights w{.local_data = b, .global_data = b, .step = «rho»};", "1.0", "annealing_built_steps")
m("return weighted_sweep({*m, *s}, {.local_data = b, .global_data = «b»});", "1.0", "annealing_built_steps")
m("return weighted_sweep({*m, *s}, {.local = b, .global = «b»});", "1.0", "annealing_built_steps")
m("value = b_.add(b_.mul(rho, value), b_.mul(«b_.sub(b_.f(1), rho)», old));", "b_.sub(b_.f(2), rho)", "annealing_stochastic_steps")
m("*nats = «parts.data_energy + parts.local_prior + parts.local_entropy»;", "parts.data_energy", "annealing_built_steps")
m("return static_cast<std::int64_t>(std::ceil(«o.epochs * static_cast<double>(a_pass)»));", "o.epochs", "annealing_stochastic_steps")
m("const std::size_t end = std::min(order_.size(), next_ + «size_»);", "1", "annealing_stochastic_steps")
m("rate.square += «(norms[1] - rate.square)» / rate.tau;", "norms[1]", "adaptive_test")
m("weights.step = rate.square > 0 ? «norms[0] / rate.square» : 1;", "norms[0]", "adaptive_test")
m("rate.tau = rate.tau * «(1 - weights.step)» + 1;", "1", "adaptive_test")
m("b_.add(old, b_.mul(«share», b_.sub(g, old)))", "b_.f(1)", "adaptive_test")

m = area("convergence", "posterior_evidence|posterior_mackay_spins|oracles|annealing_ends")
m("return moved * «ratio / (1 - ratio)»;", "0.0", "annealing_ends|oracles|posterior_faithful|posterior_soft_kmeans|annealing_stops")
m("return still && moved <= root && «left <= root»;", "true", "annealing_ends|oracles|annealing_stops")
m("const bool still = !first_ && std::abs(elbo - previous_) <= «tolerance_» * (1 + std::abs(elbo));", "1e3 * tolerance_", "annealing_stops")
m("«comparable» && objective < previous - 1e-9 * (1 + std::abs(objective))) ++out.decreases;", "true", "annealing_mixture|annealing_stops|annealing_ends")

m = area("what show prints", "posterior_shown")
m("m.sd.push_back(std::sqrt(mean * (1 - mean) / («sum_of_p + 1»)));", "sum_of_p")
m("return std::pair(p[1], «1 / std::sqrt(p[0])»); });", "1 / p[0]")
m("const double freedom = «p[2] - 1»;", "p[2]")
m("const double degrees = p[1 + size], freedom = «degrees - static_cast<double>(size) - 1»;", "degrees - static_cast<double>(size)")
m("to.sd.push_back(std::sqrt(df * («v(i, j) * v(i, j)» + v(i, i) * v(j, j))));", "v(i, j)")
m("gamma_moments(double shape, double rate) { return {shape / rate, «std::sqrt(shape) / rate»}; }", "std::sqrt(shape / rate)")
m("return std::pair(mean, p[0] > 2 ? mean / «std::sqrt(p[0] - 2)» : kInfinite);", "std::sqrt(p[0] - 1)")
m("return std::pair(mean, std::sqrt(mean * (1 - mean) / («p[0] + p[1] + 1»)));", "p[0] + p[1]")
m("const double mean = «p[0] > 1 ? p[1] / (p[0] - 1) : kInfinite»;", "p[1] / (p[0] - 1)")

m = area("special functions", "native_special_functions|math_test")
m("z * polynomial(z, {1.0 / 12, «-1.0 / 120», 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12});", "-1.0 / 124")
m("z, {1.0 / 6, «-1.0 / 30», 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510});", "-1.0 / 31")
m("const Real series = iy * polynomial(z, {1.0 / 12, «-1.0 / 360», 1.0 / 1260, -1.0 / 1680, 1.0 / 1188,", "-1.0 / 350")
m("series + («kHalfLogTwoPi - 0.5»)", "kHalfLogTwoPi")
m("const Real p = r + fma(r2 * r, q, «0.5» * r2);", "0.5000000001")
m("return select(regular, «log_u + lost», log_u);", "log_u")
m("b.sub(b.f(1), b.div(b.f(2), b.add(b.exp(«b.mul(b.f(2), x)»), b.f(1))));", "x", "oracles|posterior_mackay_spins|posterior_logistic_numbers")

m = area("draws", "posterior_simulate|math_test|test_runtime_rng")
m("const double d = shape - «1.0 / 3», c = 1 / (3 * std::sqrt(d));", "0.25")
m("const double boost = shape < 1 ? log_of(draw_uniform(rng)) / «shape» : 0;", "1.0")
m("if (square < 1 && square > 0) return x * std::sqrt(«-2» * log_of(square) / square);", "-1")
m("b(j, j) = std::sqrt(2.0 * draw_gamma(rng, 0.5 * (df - «static_cast<double>(j)»)));", "0.0")
m("return p[0] + draw_normal(rng) / «std::sqrt(p[1])»;", "p[1]")
m("return draw_gamma(rng, p[0]) / «p[1]»;", "1.0")
m("return «p[1] / draw_gamma(rng, p[0])»;", "draw_gamma(rng, p[0]) / p[1]")
m("return draw_exponential(rng) / «p[0]»;", "1.0")
m("left -= count; mass_left -= «q[1 + j]»;", "0.0")
m("return std::vector<double>{std::floor(draw_exponential(rng) / «-std::log1p(-q[0])»)};", "q[0]")
m("return at[s.lagged->index()] == first ? «*s.start» : s.main;", "s.main", "posterior_simulate")
m("left *= «1 - entry(s.fractions, at, k)»;", "entry(s.fractions, at, k)", "posterior_simulate|posterior_score|annealing_normaliser")
m("for (const double weight : weights) total += «weight»;", "1.0")

m = area("held-out scores", "posterior_score")
m("const double one = v.support == math::Support::spin ? «0.5 * (1 + x)» : x;", "0.5 * x")
m("if (const auto* o = std::get_if<Observation>(&f)) return «o->copies» * log_sum({{o->statement, o->element}});", "1.0")
m("const double weight = rule.by == Summation::belief ? «std::log(rule.belief[u.position * n + k])» : 0;", "-0.5")
m("kept_.givens[p->times->index()].values[e.position] -= «out[k]»;", "0.0")
m("static_cast<std::size_t>(std::floor(«fraction_» * static_cast<double>(copies.size()) + 1e-9));", "0.5 * fraction_")
m("return «top + std::log(sum)»;", "std::log(sum)")
m("out.observations += «static_cast<std::int64_t>(o.copies)»;", "1")

m = area("starts", "posterior_starts")
m("for (double& value : v.reals(row.buffer)) value *= «100»;", "1.0")
m("const bool in = s.kind != StartKind::seeds || stage.chains || i < «kSeedsPerValue» * first;", "1")
m("pick = !in ? -1 : static_cast<std::int64_t>(dealt ? «i % n» : draw_below(rng, n));", "0")
m("value = flat ? «draw_gamma(rng, 100) / 100» : value + draw_exponential(rng);", "draw_gamma(rng, 1)")
m("value = flat ? draw_gamma(rng, 100) / 100 : «value + draw_exponential(rng)»;", "value")
m("x[i] += size * («sd < 1 ? sd : 1.0») * draw_normal(rng);", "1.0")
m("out.col(c).array() -= «out.col(c).mean()»;", "0.0", "posterior_starts", )
m("distance = c == 0 ? to : «distance.cwiseMin(to).eval()»;", "to")

# Of the sampler alone: `lehr simulate` and `lehr fit` with other methods do the same with them.
m = area("draws from conditionals", "posterior_joint|posterior_calibration")
m('f.draw = {noise("z", 0, Noise::normal), drawn_value(0, mean + symbol("z") * «sqrt(reciprocal(precision))»)};',
  "reciprocal(precision)")
m('f.draw = {noise("g", 0, Noise::log_gamma, «shape»), drawn_value(0, exp(symbol("g")) / rate)};', "shape + 0.5")
m('f.drawn_statistics = {{Stat::log, symbol("g") - «log(rate)»}};', "0.5 * log(rate)")
m('drawn_value(0, «scale * exp(-symbol("g"))»)};', 'exp(-symbol("g")) / scale')
m('noise("g_b", 0, Noise::log_gamma, «b»),', "b + 1.0")
m("{Stat::log1m, -softplus(«odds»)}};", "-odds")
m('drawn_value(1, mean_j + sum(kA, «inverse_root("precision", kA, kFirst)» * symbol("z", kA)))};',
  'inverse_root("precision", kFirst, kA)')
m('return {noise("g", 1, Noise::log_gamma, 0.5 * (df - «index_value(kFirst)»)), noise("z", 2, Noise::normal),',
  "0.0 * index_value(kFirst)")
m('f.draw = {noise("g", 1, Noise::log_gamma, «c_j»), step_of_draw("top"', "c_j + 0.5")
m('drawn_value(0, mean + symbol("z") * sqrt(reciprocal(«k * symbol("value")»)), true)};', 'symbol("value")')
m('mean(kFirst) + «sqrt(reciprocal(k))» * sum(kA, inverse_root("value", kA, kFirst)', "reciprocal(k)")
m('f.draw = {noise("u", 0, Noise::uniform), drawn_value(0, step(«p» - symbol("u")))};', "square(p)")
m('drawn_value(0, 2.0 * step(«0.5 * (1.0 + mean)» - symbol("u")) - 1.0)};', "0.5 + 0.25 * mean")
m("b_.store(m.message, {k}, b_.mul(b_.load(m.filtered, {t, k}), «b_.load(m.backward, {k})»));", "b_.f(1)")
m("b_.accumulate(sum, b_.mul(probability(m, t, k), «b_.load(potential, {t, j, k})»));", "b_.load(potential, {t, k, j})")
m("b_.add_to(s.information, {j}, component_sum(s, [&](ExprId k) { return «b_.mul(b_.load(pairs, gain_at(j, k)), "
  "b_.load(s.mean, {k}))»; }));", "b_.f(0)")
m("b_.accumulate(x, b_.mul(b_.load(covariance.factor, {j, k}), «b_.load(s.pivot, {first, k})»));",
  "b_.mul(b_.f(0.8), b_.load(s.pivot, {first, k}))")
m("const double z = std::fabs(tilt) / «2», rate", "3")
m('FactorParameter w = noise("w", 0, Noise::polya_gamma, «sqrt(symbol("square"))»);', 'symbol("square")')
m("const auto site = «static_cast<std::int64_t>(b.index() * kKinds + which)»;", "static_cast<std::int64_t>(which)")
m("b_.assign(left, b_.sub(b_.get(left), «x»));", "b_.f(0)")
m('f.parameters = {parameter("precision", 0, -2.0 * natural_symbol(Stat::square), ParameterRole::precision), '
  'parameter("mean", 0, «natural_symbol(Stat::value) / precision», ParameterRole::location)};',
  "2.0 * natural_symbol(Stat::value) / precision")
m('parameter("b", 0, «natural_symbol(Stat::log1m) + 1.0», ParameterRole::pseudo_count)};', "natural_symbol(Stat::log1m) + 2.0")
m('parameter("rate", 0, «-natural_symbol(Stat::value)», ParameterRole::spread)};', "-0.5 * natural_symbol(Stat::value)")

m = area("draws of links and chains", "posterior_gibbs|test_runtime_random")
m("w.noise_second = «natural_symbol(Stat::offset)»;", "Expr(1.0)")
m("out += draw_gamma(rng, «copies * end.sum * end.sum / end.squares») * end.squares / end.sum;", "copies")
m("out += draw_gamma(rng, copies) / («(n + 0.5) * (n + 0.5)» + c * c);", "(n + 1.0) * (n + 1.0)")
m("b_.select(b_.equal(b_.load(m.pair, at), b_.load(m.pair, before)), b_.i(0), «b_.i(1)»)", "b_.i(0)")

m = area("predictive distributions", "posterior_predictive|posterior_forecasts|posterior_predict$")
m("const double log_choose = -std::log(n + 1) - «log_beta(n - x + 1, x + 1)»;", "log_beta(n - x + 2, x + 1)")
m("const double step = std::min(«0.2», 0.65 / std::sqrt(shape));", "3.0")
m("s.inverse = {shape > 1 ? rate / («shape - 1») : kInfinite};", "shape")
m("s.inverse_shape = «0.5 * (df - d + 1)»;", "0.5 * (df - d)")
m("out = out * v + «before» * *apart;", "a.coefficient * b.coefficient")
m("place = place && «at[k] < n» ? std::optional(*place * n + at[k]) : std::nullopt;", "at[k] <= n")
m("out.noise = std::move(out.noise) + *apart * Polynomial{«rest_a * rest_b»};", "rest_a * rest_a")
m = area("trust", "posterior_diagnose|posterior_far_from_zero")
m("mean += «w * b[j]»;", "b[j] / static_cast<double>(grid)")
m("return {(n * k + «10 * 0.5») / (n + 10), -k / mean};", "0.0")
m("return difference / («2 * t»);", "t")
m("if (!d.point) density += «log_q(d, e, joint.forward(), x)»;", "0.0")
m("out.p += x > a.observed ? 1 : x == a.observed ? «0.5» : 0;", "1.0")
m("sum[k] += «x.sign * part[part.size() == 1 ? 0 : k]»;", "0.0")
m("add_reference(out.data.observed[k].values, out.references[k], «-1»);", "1")
m("if (const auto* from = origin == Origin::zero ? reference(slot) : nullptr) add_reference(out.back().values, *from, «1»);",
  "0")
m = area("moves of components", "annealing_components")
m("if («value > elbo_ + margin()») return true;", "value > elbo_ - 1e4")
m("if («c.ordered») {", "false")
m("if (is_plate(a_[b].plate)) return «false»;", "true")
m("if (masses_[k] < «kEmpty» && k != split) return Room{k};", "1e9")
m = area("joint variables", "posterior_joint_blocks|posterior_spike_and_slab")
m("natural_symbol(Stat::indicator, kFirst) + «0.5 * precision(kFirst) * square(mean(kFirst))» - 0.5 * log(precision(kFirst))",
  "precision(kFirst) * square(mean(kFirst))")
m("«0.5 * (1.0 + kLog2Pi)» - 0.5 * log(precision(kA))", "0.5 * kLog2Pi")
m("probs(kFirst) * («square(mean(kFirst))» + reciprocal(precision(kFirst)))", "mean(kFirst)")
m("return «own.inverse()»;", "own")
m("variance += probs.values[k] * (1 / precision.values[k] + «off * off»);", "0 * off")
m("if (k == c.member) inner = b_.add(inner, «index(c.indices[x], env)»);", "b_.i(0)")
