#!/usr/bin/env python3
"""Exact numbers through the real command line.

For every case of oracles.json that cases.py states as a model: `lehr fit --init START --max-iter 1`, then to
convergence. Parameters after one sweep agree to 1e-9 relative and the ELBO to 1e-9 (1 + |L|); converged ones to
1e-6 and 1e-8; exactly conjugate models reach the log evidence to 1e-10 (1 + |L|) after one sweep.

usage: run_oracles.py LEHR [CASE ...] [--interpret]
"""
import os
import sys

import numpy as np

from cases import CASES

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import arrays, lehr, read_json, temporary, write, write_json  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def fit(directory, name, case, arguments, start):
    model, data = os.path.join(directory, name + ".lehr"), os.path.join(directory, name + ".json")
    init, out = os.path.join(directory, name + ".npz"), os.path.join(directory, name)
    write(model, case["model"])
    write_json(data, case["data"])
    np.savez(init, **{k: np.asarray(v, dtype=float) for k, v in start.items()})
    lehr("fit", model, "--data", data, "--out", out, "--init", init, "--save-locals", "--quiet", "--guide", "factorised", "--local-iters", "1", *arguments)
    return arrays(os.path.join(out, "posterior.npz")), read_json(os.path.join(out, "fit.json"))


def compare(posterior, expected, tolerance):
    worst, where = 0.0, ""
    for key, value in expected.items():
        want = np.asarray(value, dtype=float)
        got = posterior[key].reshape(want.shape)
        scale = np.maximum(np.abs(want), 1e-3 * np.max(np.abs(want)) + 1e-300)
        error = float(np.max(np.abs(got - want) / scale))
        if not error <= worst:
            worst, where = error, key
    return worst <= tolerance, worst, where


def check(name, extra):
    oracle = read_json(os.path.join(HERE, "oracles.json"))["cases"]
    oracle = next(c for c in oracle if c["name"] == name) if isinstance(oracle, list) else oracle[name]
    case = CASES[name](oracle)
    problems = []

    def want(ok, text):
        if not ok:
            problems.append(text)

    with temporary() as directory:
        one, report = fit(directory, name, case, ["--max-iter", "1"] + extra, case["init"])
        ok, worst, where = compare(one, case["after_1"], 1e-9)
        want(ok, f"after one sweep: {where} off by {worst:.2e}")
        if case.get("elbo_1") is not None:
            error = abs(report["elbo"] - case["elbo_1"]) / (1 + abs(case["elbo_1"]))
            want(error <= 1e-9, f"ELBO after one sweep: {report['elbo']!r}, not {case['elbo_1']!r}")
        if oracle.get("exact"):
            error = abs(report["elbo"] - oracle["log_evidence"]) / (1 + abs(oracle["log_evidence"]))
            want(error <= 1e-10, f"log evidence: {report['elbo']!r}, not {oracle['log_evidence']!r}")
        for key, value in case.get("first_probs", {}).items():
            ok, worst, where = compare({key: one[key][: len(value)]}, {key: value}, 1e-9)
            want(ok, f"local factors of the first sweep: {where} off by {worst:.2e}")
        if "elbo_refreshed" in case:
            after = {k: v for k, v in one.items() if not k.endswith(".probs")}
            _, again = fit(directory, name, case, ["--max-iter", "0"] + extra, after)
            error = abs(again["elbo"] - case["elbo_refreshed"]) / (1 + abs(case["elbo_refreshed"]))
            want(error <= 1e-9, f"ELBO with the local factors refreshed: {again['elbo']!r}, not {case['elbo_refreshed']!r}")
        last, report = fit(directory, name, case, ["--max-iter", "20000", "--tol", "1e-20"] + extra, case["init"])
        ok, worst, where = compare(last, case["converged"], 1e-6)
        want(ok, f"converged: {where} off by {worst:.2e}")
        if case.get("elbo_converged") is not None:
            error = abs(report["elbo"] - case["elbo_converged"]) / (1 + abs(case["elbo_converged"]))
            want(error <= 1e-8, f"converged ELBO: {report['elbo']!r}, not {case['elbo_converged']!r}")
        want(report["elbo_decreases"] == 0, f"the ELBO fell {report['elbo_decreases']} times")
    return problems


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    extra = [a for a in sys.argv[1:] if a.startswith("--")]
    names = arguments[1:] or list(CASES)
    failed = 0
    for name in names:
        try:
            problems = check(name, extra)
        except Exception as e:  # a case that cannot run has failed
            problems = [f"{type(e).__name__}: {e}"]
        print(f"{'FAILED' if problems else 'ok    '} {name}" + "".join(f"\n    {p}" for p in problems), flush=True)
        failed += bool(problems)
    print(f"{len(names) - failed} of {len(names)} oracles hold")
    return 1 if failed or not names else 0


sys.exit(main())
