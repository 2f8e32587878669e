"""The oracle cases as models of the language: text, data, start values and expected numbers under posterior names.

Every function takes its case of oracles.json and returns model, data, init, after_1, elbo_1, converged, elbo_converged.
"""
import numpy as np


def case(o, model, data, names, init=None, skip_after=()):
    """`names`: posterior name -> (key of the oracle, or a function of the oracle's dictionary)."""

    def pick(d, skip=()):
        out = {}
        for posterior, key in names.items():
            if posterior in skip:
                continue
            value = key(d) if callable(key) else d.get(key)
            if value is not None:
                out[posterior] = value
        return out

    return {
        "model": model,
        "data": data,
        "init": pick(o["init"]) if init is None else init,
        "after_1": pick(o["after_1_sweep"], skip_after),
        "elbo_1": o["elbo_after_1"],
        "converged": pick(o["converged"]),
        "elbo_converged": o["elbo_converged"],
    }


def inverse(key):
    return lambda d: np.linalg.inv(np.asarray(d[key], dtype=float)).tolist() if key in d else None


CASES = {}


def oracle(f):
    CASES[f.__name__] = f
    return f


@oracle
def normal_normal(o):
    return case(o, """model m { plate n;
      mu ~ Normal(mean = 0.5, precision = 0.25);
      observe x[n] ~ Normal(mean = mu, precision = 2); }""",
                {"x": o["data"]["x"]}, {"mu.mean": "mu_mean", "mu.precision": "mu_prec"})


@oracle
def gamma_precision_known_mean(o):
    return case(o, """model m { plate n;
      tau ~ Gamma(shape = 2, rate = 1);
      observe x[n] ~ Normal(mean = 1, precision = tau); }""",
                {"x": o["data"]["x"]}, {"tau.shape": "tau_a", "tau.rate": "tau_b"})


@oracle
def beta_bernoulli(o):
    return case(o, "model m { plate n; p ~ Beta(2, 3); observe x[n] ~ Bernoulli(p); }",
                {"x": o["data"]["x"]}, {"p.a": "a", "p.b": "b"})


@oracle
def gamma_poisson(o):
    return case(o, "model m { plate n; l ~ Gamma(shape = 1.5, rate = 0.5); observe x[n] ~ Poisson(l); }",
                {"x": o["data"]["x"]}, {"l.shape": "a", "l.rate": "b"})


@oracle
def dirichlet_categorical(o):
    return case(o, """model m { plate n; plate k = 3; data a0[k] : real;
      pi ~ Dirichlet(concentration = a0) over k;
      observe z[n] ~ Categorical(pi); }""",
                {"z": o["data"]["z"], "a0": o["priors"]["alpha0"]}, {"pi.concentration": "alpha"})


@oracle
def mvn_mean_known_cov(o):
    p = o["priors"]
    return case(o, """model m { plate n; plate d = 2;
      data m0 : vector over d; data P0 : matrix over d, d; data L : matrix over d, d;
      mu ~ MvNormal(mean = m0, precision = P0) over d;
      observe x[n] ~ MvNormal(mean = mu, precision = L) over d; }""",
                {"x": o["data"]["X"], "m0": p["m0"], "P0": p["P0"], "L": p["L"]},
                {"mu.mean": "mean", "mu.precision": "prec"})


@oracle
def wishart_known_mean(o):
    p = o["priors"]
    return case(o, """model m { plate n; plate d = 2;
      data mu : vector over d; data V0 : matrix over d, d;
      Lam ~ Wishart(df = 4, rate = V0) over d;
      observe x[n] ~ MvNormal(mean = mu, precision = Lam) over d; }""",
                {"x": o["data"]["X"], "mu": p["mu"], "V0": p["V0"]}, {"Lam.df": "nu", "Lam.scale": inverse("V")})


@oracle
def normal_gamma_independent(o):
    return case(o, """model m { plate n;
      mu ~ Normal(mean = 0, precision = 0.1);
      tau ~ Gamma(shape = 1, rate = 1);
      observe x[n] ~ Normal(mean = mu, precision = tau); guide order(mu, tau); }""",
                {"x": o["data"]["x"]},
                {"mu.mean": "mu_mean", "mu.precision": "mu_prec", "tau.shape": "tau_a", "tau.rate": "tau_b"})


@oracle
def mvn_wishart_independent(o):
    return case(o, """model m { plate n; plate d = 2; data V0 : matrix over d, d;
      mu ~ MvNormal(mean = 0, precision = 0.2) over d;
      Lam ~ Wishart(df = 4, rate = V0) over d;
      observe x[n] ~ MvNormal(mean = mu, precision = Lam) over d; guide order(mu, Lam); }""",
                {"x": o["data"]["X"], "V0": o["priors"]["V0"]},
                {"mu.mean": "mean", "mu.precision": "prec", "Lam.df": "nu", "Lam.scale": inverse("V")})


@oracle
def linreg_gamma_noise(o):
    return case(o, """model m { plate n; plate d = 2; data x[n] : vector over d;
      w ~ MvNormal(mean = 0, precision = 0.5) over d;
      tau ~ Gamma(shape = 1, rate = 1);
      observe y[n] ~ Normal(mean = dot(w, x[n]), precision = tau); guide order(w, tau); }""",
                {"x": o["data"]["X"], "y": o["data"]["y"]},
                {"w.mean": "w_mean", "w.precision": "w_prec", "tau.shape": "tau_a", "tau.rate": "tau_b"})


@oracle
def mixture_poisson(o):
    return case(o, """model m { plate n; plate k = 2;
      pi ~ Dirichlet(concentration = 1) over k;
      l[k] ~ Gamma(shape = 1.5, rate = 0.5);
      z[n] ~ Categorical(pi);
      observe x[n] ~ Poisson(l[z[n]]); guide order(z, pi, l); }""",
                {"x": o["data"]["x"]},
                {"pi.concentration": "alpha", "l.shape": "l_a", "l.rate": "l_b", "z.probs": "r"})


@oracle
def gmm_known_variance(o):
    return case(o, """model m { plate n; plate k = 2;
      pi ~ Dirichlet(concentration = 1) over k;
      mu[k] ~ Normal(mean = 0, variance = 3);
      z[n] ~ Categorical(pi);
      observe x[n] ~ Normal(mean = mu[z[n]], variance = 1); guide order(z, mu, pi); }""",
                {"x": o["data"]["x"]},
                {"pi.concentration": "alpha", "mu.mean": "mean", "mu.precision": "prec", "z.probs": "r"})


@oracle
def gmm_independent_normal_wishart(o):
    return case(o, """model m { plate n; plate k = 2; plate d = 2; data V0 : matrix over d, d;
      pi ~ Dirichlet(concentration = 1) over k;
      mu[k] ~ MvNormal(mean = 0, precision = 0.5) over d;
      Lam[k] ~ Wishart(df = 3, rate = V0) over d;
      z[n] ~ Categorical(pi);
      observe x[n] ~ MvNormal(mean = mu[z[n]], precision = Lam[z[n]]) over d; guide order(z, pi, mu, Lam); }""",
                {"x": o["data"]["X"], "V0": o["priors"]["V0"]},
                {"pi.concentration": "alpha", "mu.mean": "mean", "mu.precision": "prec", "Lam.df": "nu",
                 "Lam.scale": inverse("V"), "z.probs": "r"})


@oracle
def lda_tiny(o):
    return case(o, """model m { plate doc; plate token in doc; plate topic = 2; plate term = 3;
      beta[topic] ~ Dirichlet(concentration = 0.4) over term;
      theta[doc] ~ Dirichlet(concentration = 0.5) over topic;
      z[doc, token] ~ Categorical(theta[doc]);
      observe w[doc, token] ~ Categorical(beta[z[doc, token]]); guide order(z, theta, beta); }""",
                {"w": o["data"]["docs"]},
                {"theta.concentration": "th", "beta.concentration": "be", "z.probs": "phi"})


@oracle
def ppca_ard(o):
    precision = np.asarray(o["init"]["Z_prec"])
    c = case(o, """model m { plate n; plate d = 3; plate k = 2;
      alpha[k] ~ Gamma(shape = 1, rate = 1);
      W[d] ~ MvNormal(mean = 0, precision = diag(alpha)) over k;
      Z[n] ~ MvNormal(mean = 0, precision = 1) over k;
      tau ~ Gamma(shape = 1, rate = 1);
      observe x[n, d] ~ Normal(mean = dot(W[d], Z[n]), precision = tau); guide order(Z, W, tau, alpha); }""",
             {"x": o["data"]["X"]},
             {"W.mean": "W_mean", "W.precision": "W_prec", "Z.mean": "Z_mean", "tau.shape": "tau_a", "tau.rate": "tau_b",
              "alpha.shape": "ard_a", "alpha.rate": "ard_b"})
    c["init"]["Z.precision"] = np.broadcast_to(precision, (4, 2, 2)).tolist()
    # all loadings are shrunk to zero: what is left of them at convergence is below every tolerance
    c["converged"] = {k: v for k, v in c["converged"].items() if not k.endswith(".mean")}
    return c


@oracle
def factorial_mixture(o):
    return case(o, """model m { plate n; plate k = 2; plate l = 2;
      pi1 ~ Dirichlet(concentration = 1) over k;
      pi2 ~ Dirichlet(concentration = 1) over l;
      mu1[k] ~ Normal(mean = 0, precision = 0.5);
      mu2[l] ~ Normal(mean = 0, precision = 0.5);
      z1[n] ~ Categorical(pi1);
      z2[n] ~ Categorical(pi2);
      observe x[n] ~ Normal(mean = mu1[z1[n]] + mu2[z2[n]], precision = 2);
      guide order(z1, z2, mu1, mu2, pi1, pi2); }""",
                {"x": o["data"]["x"]},
                {"pi1.concentration": "al1", "pi2.concentration": "al2", "mu1.mean": "m1", "mu1.precision": "p1",
                 "mu2.mean": "m2", "mu2.precision": "p2", "z1.probs": "r1", "z2.probs": "r2"})


@oracle
def unknown_gaussian_improper(o):
    v = o["values"]
    return {
        "model": """model m { plate n; mu ~ Flat(); beta ~ Jeffreys();
      observe x[n] ~ Normal(mean = mu, precision = beta); guide order(mu, beta); }""",
        "data": {"x": v["x"]},
        "init": {"beta.shape": 2.5, "beta.rate": 2.5 / v["beta0"]},
        "after_1": {"mu.mean": v["xbar"], "beta.shape": 2.5, "beta.rate": 2.5 / v["beta_after_1"]},
        "converged": {"mu.mean": v["xbar"], "mu.precision": v["q_mu_sd"] ** -2, "beta.shape": v["q_beta_shape"],
                      "beta.rate": v["q_beta_rate"]},
    }


@oracle
def mean_field_spins_3x3(o):
    v = o["values"]
    base = 9 * np.log(2)  # Spin() is uniform: the ELBO is -beta F - 9 log 2
    return {
        "model": """model m { plate i; plate j = i; data J[i, j] : real; data h[i] : real;
      s[i] ~ Spin();
      potential[i, j] 0.5 * J[i, j] * s[i] * s[j];
      potential[i] h[i] * s[i]; }""",
        "data": {"J": v["J"], "h": v["h"]},
        "init": {"s.mean": np.tanh(v["a_init"]).tolist()},
        "after_1": {"s.mean": np.tanh(v["a_after_1_sweep"]).tolist()},
        "elbo_1": -v["bF_after_1"] - base,
        "converged": {"s.mean": np.tanh(v["a_conv"]).tolist()},
        "elbo_converged": -v["bF_conv"] - base,
    }


@oracle
def hmm_discrete(o):
    c = case(o, """model m { plate seq; plate t in seq ordered; plate k = 2; plate v = 2;
      pi ~ Dirichlet(concentration = 0.5) over k;
      A[k] ~ Dirichlet(concentration = 0.5) over k;
      B[k] ~ Dirichlet(concentration = 1) over v;
      s[seq, t] ~ Categorical(A[s[seq, t-1]]) start Categorical(pi);
      observe y[seq, t] ~ Categorical(B[s[seq, t]]); guide order(s, pi, A, B); }""",
             {"y": o["data"]["seqs"]}, {"pi.concentration": "pi", "A.concentration": "A", "B.concentration": "B"})
    # the oracle's ELBO after one sweep has the chain refreshed, ours is that of the chain used in the sweep
    c["elbo_1"], c["elbo_refreshed"] = None, o["elbo_after_1"]
    gamma = o["chain_posterior_initial"]["gamma_seq0_state0"]
    c["first_probs"] = {"s.probs": [[g, 1 - g] for g in gamma]}
    return c


@oracle
def poisson_factorisation(o):
    return case(o, """model m { plate u; plate i; plate k = 2;
      th[u, k] ~ Gamma(shape = 0.5, rate = 1);
      be[k, i] ~ Gamma(shape = 0.5, rate = 1);
      observe Y[u, i] ~ Poisson(sum(k) th[u, k] * be[k, i]); }""",
                {"Y": o["data"]["Y"]},
                {"th.shape": "th_a", "th.rate": "th_b", "be.shape": "be_a", "be.rate": "be_b"})


@oracle
def logistic_jaakkola_jordan(o):
    v = o["values"]
    x, y = np.array(v["X"]), np.array(v["y"])
    m, s = np.array(v["after_1"]["m"]), np.array(v["after_1"]["S"])

    def bound(xi):
        """The bound of the oracle's q(w), MacKay (2003), section 33.8."""
        lam = np.tanh(xi / 2) / (4 * xi)
        square = np.einsum("ni,ij,nj->n", x, s + np.outer(m, m), x)
        energy = np.sum((y - 0.5) * (x @ m) - lam * (square - xi**2) - xi / 2 - np.log1p(np.exp(-xi)))
        prior = -np.log(2 * np.pi * v["prior_var"]) - np.trace(s + np.outer(m, m)) / (2 * v["prior_var"])
        return energy + prior + np.log(2 * np.pi * np.e) + 0.5 * np.linalg.slogdet(s)[1], np.sqrt(square)

    before, xi = bound(np.full(len(y), v["xi_init"]))
    assert abs(before - v["after_1"]["bound"]) < 1e-9  # the oracle's is that before xi follows
    return {
        "model": """model m { plate n; plate d = 2; data x[n] : vector over d;
      w ~ MvNormal(mean = 0, precision = 0.25) over d;
      observe y[n] ~ Bernoulli(logistic(dot(w, x[n]))); }""",
        "data": {"x": v["X"], "y": [int(t) for t in v["y"]]},
        "init": {"y.bound.value": np.full(len(y), v["xi_init"])},
        "after_1": {"w.mean": m, "w.precision": np.linalg.inv(s), "y.bound.value": xi},
        "elbo_1": bound(xi)[0],
        "converged": {"w.mean": v["conv"]["m"], "w.precision": np.linalg.inv(v["conv"]["S"]),
                      "y.bound.value": v["conv"]["xi"]},
        "elbo_converged": v["conv"]["bound"],
    }


@oracle
def lds_known_parameters(o):
    prior, done = o["priors"], o["converged"]
    posterior = {"x.mean": done["smoothed_mean"],
                 "x.precision": np.linalg.inv(np.asarray(done["smoothed_cov"])).tolist()}
    return {
        "model": """model m { plate t ordered; plate d; plate e;
      data A[d] : vector over d;
      data C[e] : vector over d;
      data Q : matrix over d, d;
      data R : matrix over e, e;
      data P1 : matrix over d, d;
      data m1 : vector over d;
      x[t] ~ MvNormal(mean = A * x[t-1], covariance = Q) start MvNormal(mean = m1, covariance = P1) over d;
      observe y[t] ~ MvNormal(mean = C * x[t], covariance = R) over e; }""",
        "data": {"y": [[v] for v in o["data"]["y"]], **{k: prior[k] for k in ("A", "C", "Q", "R", "P1", "m1")}},
        "init": {"x.mean": [[0.0, 0.0]] * 4},
        "after_1": posterior,
        "elbo_1": o["elbo_converged"],
        "converged": posterior,
        "elbo_converged": o["elbo_converged"],
    }
