"""Twenty models in the words of docs/language.md, each with data simulated from it, for bench/sds.py: regressions, random effects,
known and partly known labels, chains, counts and links. A model is a text and a function that makes its data from a generator.
"""
import numpy as np

MODELS = {}


def model(text):
    """Registers the function that makes the data of a model under its own name."""
    def register(make):
        MODELS[make.__name__] = (text, make)
        return make
    return register


@model("""model line { plate n; data x[n] : real; data z[n] : real;
  a ~ Normal(mean = 0, sd = 100); b ~ Normal(mean = 0, sd = 10); c ~ Normal(mean = 0, sd = 10); tau ~ Gamma(shape = 1, rate = 1);
  observe y[n] ~ Normal(mean = a + b * x[n] + c * z[n], precision = tau); }""")
def line(rng):
    x, z = rng.normal(20, 3, 60), rng.normal(5, 2, 60)
    return {"x": x, "z": z, "y": 3 + 0.5 * x - z + rng.normal(0, 2, 60)}


@model("""model treatments { plate n; plate arm; data given[n] : arm;
  mu ~ Normal(mean = 0, sd = 10); effect[arm] ~ Normal(mean = 0, sd = 5); tau ~ Gamma(shape = 1, rate = 1);
  observe y[n] ~ Normal(mean = mu + effect[given[n]], precision = tau); }""")
def treatments(rng):
    given = np.repeat(np.arange(4), 8)
    return {"given": given, "y": 2 + np.array([0, 1, -1, 2])[given] + rng.normal(0, 1, 32)}


@model("""model intercepts { plate n; plate g; data of[n] : g; data x[n] : real;
  mu ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10); between ~ Gamma(shape = 1, rate = 1); tau ~ Gamma(shape = 1, rate = 1);
  a[g] ~ Normal(mean = mu, precision = between); observe y[n] ~ Normal(mean = a[of[n]] + b * x[n], precision = tau); }""")
def intercepts(rng):
    of, x = np.repeat(np.arange(10), 6), rng.normal(1, 1, 60)
    return {"of": of, "x": x, "y": rng.normal(1, 1.5, 10)[of] + 0.7 * x + rng.normal(0, 1, 60)}


@model("""model slopes { plate n; plate g; data of[n] : g; data x[n] : real;
  mu ~ Normal(mean = 0, sd = 10); nu ~ Normal(mean = 0, sd = 10); ta ~ Gamma(shape = 1, rate = 1); tb ~ Gamma(shape = 1, rate = 1);
  tau ~ Gamma(shape = 1, rate = 1); a[g] ~ Normal(mean = mu, precision = ta); b[g] ~ Normal(mean = nu, precision = tb);
  observe y[n] ~ Normal(mean = a[of[n]] + b[of[n]] * x[n], precision = tau); }""")
def slopes(rng):
    of, x = np.repeat(np.arange(12), 8), rng.normal(2, 1, 96)
    return {"of": of, "x": x, "y": rng.normal(1, 1, 12)[of] + rng.normal(0.5, 1, 12)[of] * x + rng.normal(0, 1, 96)}


@model("""model crossed { plate n; plate row; plate column; data r[n] : row; data c[n] : column;
  mu ~ Normal(mean = 0, sd = 10); tr ~ HalfCauchy(scale = 2); tc ~ HalfCauchy(scale = 2); tau ~ Gamma(shape = 1, rate = 1);
  u[row] ~ Normal(mean = 0, sd = tr); v[column] ~ Normal(mean = 0, sd = tc);
  observe y[n] ~ Normal(mean = mu + u[r[n]] + v[c[n]], precision = tau); }""")
def crossed(rng):
    r, c = (a.ravel() for a in np.mgrid[:10, :8])
    return {"r": r, "c": c, "y": 3 + rng.normal(0, 1, 10)[r] + rng.normal(0, 2, 8)[c] + rng.normal(0, 1, 80)}


@model("""model variances { plate n; plate g; data of[n] : g;
  mu[g] ~ Normal(mean = 0, sd = 10); v[g] ~ InverseGamma(shape = 2, scale = 2);
  observe y[n] ~ Normal(mean = mu[of[n]], variance = v[of[n]]); }""")
def variances(rng):
    of = np.repeat(np.arange(5), 10)
    return {"of": of, "y": rng.normal(0, 2, 5)[of] + np.array([0.5, 1, 2, 1, 3])[of] * rng.normal(0, 1, 50)}


@model("""model several { plate n; plate d; plate e; data x[n] : vector over d;
  B[e] ~ MvNormal(mean = 0, precision = 0.01) over d; Lambda ~ Wishart(df = 4, scale = 1) over e;
  observe y[n] ~ MvNormal(mean = B * x[n], precision = Lambda) over e; }""")
def several(rng):
    x = np.column_stack([np.ones(50), rng.normal(0, 1, (50, 2))])
    noise = rng.multivariate_normal(np.zeros(3), [[1, 0.6, 0], [0.6, 1, 0.3], [0, 0.3, 1]], 50)
    return {"x": x, "y": x @ rng.normal(0, 1, (3, 3)).T + noise}


@model("""model robust { plate n; data x[n] : real;
  a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10); tau ~ Gamma(shape = 1, rate = 1);
  observe y[n] ~ StudentT(df = 4, mean = a + b * x[n], precision = tau); }""")
def robust(rng):
    x = rng.normal(0, 1, 60)
    return {"x": x, "y": 1 + 2 * x + rng.standard_t(4, 60)}


@model("""model logits { plate n; plate d; data x[n] : vector over d;
  a ~ Normal(mean = 0, sd = 3); w ~ MvNormal(mean = 0, precision = 0.1) over d; observe y[n] ~ Bernoulli(logistic(a + dot(w, x[n]))); }""")
def logits(rng):
    x = rng.normal(0, 1, (100, 3))
    return {"x": x, "y": rng.random(100) < 1 / (1 + np.exp(-0.5 - x @ [1, -1, 0.5]))}


@model("""model trials { plate n; data x[n] : real; data m[n] : count;
  a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3); observe y[n] ~ Binomial(m[n], logistic(a + b * x[n])); }""")
def trials(rng):
    x = np.linspace(-2, 2, 12)
    return {"x": x, "m": np.full(12, 20), "y": rng.binomial(20, 1 / (1 + np.exp(0.3 - x)))}


@model("""model probits { plate n; data x[n] : real; data z[n] : real; a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3);
  c ~ Normal(mean = 0, sd = 3); observe y[n] ~ Bernoulli(probit(a + b * x[n] + c * z[n])); }""")
def probits(rng):
    x, z = rng.normal(0, 1, 100), rng.normal(1, 1, 100)
    return {"x": x, "z": z, "y": rng.normal(0, 1, 100) < -0.5 + x + 0.5 * z}


@model("""model rasch { plate n; plate person; plate item; data who[n] : person; data what[n] : item;
  spread ~ Gamma(shape = 2, rate = 2); theta[person] ~ Normal(mean = 0, precision = spread); b[item] ~ Normal(mean = 0, sd = 3);
  observe y[n] ~ Bernoulli(logistic(theta[who[n]] - b[what[n]])); }""")
def rasch(rng):
    who, what = (a.ravel() for a in np.mgrid[:40, :6])
    return {"who": who, "what": what, "y": rng.random(240) < 1 / (1 + np.exp(np.linspace(-1.5, 1.5, 6)[what] - rng.normal(0, 1, 40)[who]))}


@model("""model rates { plate n; plate g; data of[n] : g; data time[n] : real;
  beta ~ Gamma(shape = 2, rate = 1); rate[g] ~ Gamma(shape = 3, rate = beta); observe y[n] ~ Poisson(time[n] * rate[of[n]]); }""")
def rates(rng):
    of, time = np.repeat(np.arange(8), 3), rng.uniform(0.5, 2, 24)
    return {"of": of, "time": time, "y": rng.poisson(time * rng.gamma(3, 1, 8)[of])}


@model("""model overdispersed { plate n; plate g; data of[n] : g;
  m[g] ~ Gamma(shape = 1, rate = 0.1); observe y[n] ~ GammaPoisson(mean = m[of[n]], r = 3); }""")
def overdispersed(rng):
    of = np.repeat(np.arange(3), 15)
    return {"of": of, "y": rng.poisson(np.array([2, 5, 12])[of] * rng.gamma(3, 1 / 3, 45))}


@model("""model counts { plate n; data x[n] : real; a ~ Normal(mean = 0, sd = 3); b ~ Normal(mean = 0, sd = 3);
  observe y[n] ~ NegativeBinomial(4, logistic(a + b * x[n])); }""")
def counts(rng):
    x = rng.normal(0, 1, 60)
    return {"x": x, "y": rng.negative_binomial(4, 1 / (1 + np.exp(-0.2 - 0.8 * x)))}


@model("""model labelled { plate n; plate d; plate k = 3;
  pi ~ Dirichlet(concentration = 1) over k; mu[k, d] ~ Normal(mean = 0, sd = 5); tau[k, d] ~ Gamma(shape = 1, rate = 1);
  z[n] ~ Categorical(pi); observe x[n, d] ~ Normal(mean = mu[z[n], d], precision = tau[z[n], d]); }""")
def labelled(rng):
    z = rng.choice(3, 90, p=[0.5, 0.3, 0.2])
    x = np.array([[-2, 0], [2, 1], [0, 4]])[z] + rng.normal(0, 1, (90, 2))
    return {"x": x, "z": [int(k) if i < 45 else None for i, k in enumerate(z)]}


@model("""model known { plate n; plate d = 2; plate k = 3;
  pi ~ Dirichlet(concentration = 1) over k; mu[k] ~ MvNormal(mean = 0, precision = 0.01) over d; L[k] ~ Wishart(df = 3, scale = 1) over d;
  observe z[n] ~ Categorical(pi); observe x[n] ~ MvNormal(mean = mu[z[n]], precision = L[z[n]]) over d; }""")
def known(rng):
    z = np.concatenate([np.arange(3), rng.choice(3, 57)])
    return {"x": np.array([[-2, 0], [2, 1], [0, 4]])[z] + rng.normal(0, 1, (60, 2)), "z": z}


@model("""model outliers { plate n; data x[n] : real; p ~ Beta(9, 1); a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10);
  tau ~ Gamma(shape = 1, rate = 1);
  observe y[n] ~ mixture(p, Normal(mean = a + b * x[n], precision = tau), Normal(mean = 0, sd = 30)); }""")
def outliers(rng):
    x = rng.normal(0, 1, 80)
    return {"x": x, "y": np.where(rng.random(80) < 0.9, 1 + 2 * x + rng.normal(0, 1, 80), rng.normal(0, 30, 80))}


@model("""model returns { plate t ordered; c ~ Normal(mean = 0, sd = 5); phi ~ Normal(mean = 0, sd = 1); tau ~ Gamma(shape = 1, rate = 1);
  observe x[t] ~ Normal(mean = c + phi * x[t-1], precision = tau) start Normal(mean = 0, sd = 10); }""")
def returns(rng):
    x = [5.0]
    for _ in range(79):
        x.append(2 + 0.6 * x[-1] + rng.normal())
    return {"x": x}


@model("""model states { plate t ordered; plate k = 2; A[k] ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 5);
  tau ~ Gamma(shape = 1, rate = 1); s[t] ~ Categorical(A[s[t-1]]) start Uniform() over k;
  observe y[t] ~ Normal(mean = mu[s[t]], precision = tau); }""")
def states(rng):
    s = [0]
    for _ in range(199):
        s.append(s[-1] if rng.random() < 0.9 else 1 - s[-1])
    return {"y": np.where(np.array(s) == 0, -1.5, 1.5) + rng.normal(0, 1, 200)}
