#!/usr/bin/env python3
"""Fits with --stream, which read items from their files when they work on them: the bytes of fits with all data in memory, from
every format that is read in pieces; memory that does not grow with the data; what is refused, and how.

usage: stream_test.py LEHR [bits]

`bits` leaves out what has nothing to do with the processor: memory, files that change, what is left behind, what is refused.
"""
import os
import re
import shutil
import signal
import sys

import netCDF4
import numpy as np

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, lehr, peak_memory, read, read_csv, read_json, started, temporary, write  # noqa: E402

R = np.random.default_rng(11)
N = 1500
ROBUST = """model robust {
  plate n;
  plate d;
  data middle : vector over d;
  data x[n] : vector over d;
  tau          ~ Gamma(shape = 1, rate = 1);
  w            ~ MvNormal(mean = middle, precision = 1) over d;
  scale[n]     ~ Gamma(shape = 2, rate = 2);
  observe y[n] ~ Normal(mean = dot(w, x[n]), precision = tau * scale[n]);
}
"""
SEQUENCES = """model sequences {
  plate seq;
  plate t in seq ordered;
  plate state = 3;
  plate symbol;
  start          ~ Dirichlet(concentration = 1) over state;
  move[state]    ~ Dirichlet(concentration = 1) over state;
  emit[state]    ~ Dirichlet(concentration = 1) over symbol;
  z[seq, t]      ~ Categorical(move[z[seq, t-1]]) start Categorical(start);
  observe x[seq, t] ~ Categorical(emit[z[seq, t]]);
}
"""
KINDS = """model kinds {
  plate n;
  plate k = 2;
  plate kind;
  pi            ~ Dirichlet(concentration = 1) over k;
  p[k]          ~ Dirichlet(concentration = 1) over kind;
  mu[k]         ~ Normal(mean = 0, precision = 1);
  z[n]          ~ Categorical(pi);
  observe c[n]  ~ Categorical(p[z[n]]);
  observe y[n]  ~ Normal(mean = mu[z[n]], precision = 1);
}
"""
LINKED = """model effects {
  plate group = 30;
  plate n;
  data g[n] : group;
  data x[n] : real;
  a            ~ Normal(mean = 0, sd = 5);
  b            ~ Normal(mean = 0, sd = 5);
  tau          ~ Gamma(shape = 1, rate = 0.5);
  u[group]     ~ Normal(mean = 0, precision = tau);
  observe y[n] ~ LINK(a + b * x[n] + u[g[n]]));
}
"""


def run(folder, model, data, *options, stream=True, expect=0, method="svi", spill=False, batch=64):
    out = os.path.join(folder, "streamed" if stream else "whole")
    words = ["fit", model, "--out", out, "--quiet", "--method", method, *options]
    words += ["--batch-size", str(batch)] * (stream or method == "svi")
    for d in data:
        words += ["--data", d]
    if stream:
        words += ["--stream"] + ["--spill", f"{folder}/spill"] * spill
    done = lehr(*words, code=expect)
    if expect != 0:
        return done.stderr
    return read(f"{out}/posterior.npz", "rb"), [row["elbo"] for row in read_csv(f"{out}/trace.csv")]


def compare(name, whole, streamed, bits=True):
    assert not bits or whole[0] == streamed[0], (name, "posterior.npz")
    far = max(abs(float(a) - float(b)) / (1 + abs(float(a))) for a, b in zip(whole[1], streamed[1]))
    assert len(whole[1]) == len(streamed[1]) and far < 1e-12, (name, far)


def same(folder, name, model, data, *options):
    compare(name, run(folder, model, data, *options, stream=False), run(folder, model, data, *options))
    print("ok", name, flush=True)


def ascent(folder, name, model, data, *options, spill=False, bits=True, batch=64):
    options += ("--max-iter", "5", "--tol", "0")
    whole = run(folder, model, data, "--search", "none", *options, stream=False, method="cavi")
    for threads in "1", "3":
        compare(name, whole, run(folder, model, data, *options, "--threads", threads, method="cavi", spill=spill, batch=batch), bits)
    assert not spill or not os.listdir(f"{folder}/spill"), name
    print("ok ascent:", name, flush=True)


def documents(count):
    lines = []
    for _ in range(count):
        words, copies = np.unique(R.integers(40, size=R.integers(0, 30)) + 60 * R.integers(2), return_counts=True)
        lines.append(" ".join([str(len(words))] + [f"{w}:{c}" for w, c in zip(words, copies)]))
    return lines


def points(folder):
    x = R.normal(size=(N, 2)) + 4 * R.normal(size=(3, 2))[R.integers(3, size=N)]
    np.save(f"{folder}/x.npy", x)
    np.save(f"{folder}/x32.npy", x.astype(">f4"))
    np.savez(f"{folder}/x.npz", x=x)
    with netCDF4.Dataset(f"{folder}/x.h5", "w") as file:  # NetCDF's files are HDF5
        group = file.createGroup("a")
        group.createDimension("n", N)
        group.createDimension("d", 2)
        group.createVariable("x", "f8", ("n", "d"))[:] = x
    np.savez_compressed(f"{folder}/small.npz", x=x)
    gaps = [["NA" if R.random() < 0.05 else repr(v) for v in row] for row in x.tolist()]
    write(f"{folder}/x.csv", "a,b\n" + "\n".join(",".join(row) for row in gaps) + "\n")
    return x


def formats(folder):
    points(folder)
    gmm, rest = "models/mixtures/gmm_diagonal.lehr", ["--epochs", "2", "--elbo-every", "20"]
    for data in ("x=x.h5:a/x", "x=x.npy", "x=x32.npy", "x=x.npz:x", "x.npz", "x=x.csv:a,b"):
        name, _, file = data.rpartition("=")
        same(folder, "points of " + data, gmm, [f"{name}={folder}/{file}" if name else f"{folder}/{file}"], *rest)
    corpus = write(f"{folder}/w.ldac", "\n".join(documents(700)) + "\n\n")
    for start in ("seeds", "flat"):
        same(folder, f"documents, {start}", "models/topics/lda.lehr", [f"w={corpus}"], "--set", "K=4", "--epochs", "2", "--init", start)
    same(folder, "items drawn with replacement", "models/topics/lda.lehr", [f"w={corpus}"], "--set", "K=4", "--epochs", "1",
         "--replacement", "--adaptive", "--threads", "3")


def ascents(folder):
    few = write(f"{folder}/few.ldac", "\n".join(["3 0:1 2:4 3:1"] * 9 + ["0"] * 20 + ["2 1:1 3:1"]) + "\n")
    ascent(folder, "pieces without words", "models/topics/lda.lehr", [f"w={few}"], "--set", "K=2", "--init", "flat", spill=True, batch=8)
    corpus = write(f"{folder}/many.ldac", "\n".join(documents(3000)) + "\n")
    lda = "models/topics/lda.lehr", [f"w={corpus}"], "--set", "K=4"
    ascent(folder, "documents", *lda, spill=True)
    ascent(folder, "documents, annealed", *lda, "--anneal", "linear:from=2,over=3", "--parts", "1", spill=True)
    # What runs in lanes adds up their sums when a piece ends.
    ascent(folder, "points", "models/mixtures/gmm.lehr", [f"x={folder}/x.npy"], "--set", "K=3", "--no-opt", "vectorise-short-items")
    ascent(folder, "points in lanes", "models/mixtures/gmm.lehr", [f"x={folder}/x.npy"], "--set", "K=3", bits=False)
    ascent(folder, "points with gaps", "models/mixtures/gmm_diagonal.lehr", [f"x={folder}/x.csv:a,b"], "--set", "K=3", "--no-opt", "vectorise-short-items")
    ascent(folder, "a scale for every item", f"{folder}/robust.lehr",
           [f"x={folder}/regressors.npy", f"y={folder}/y.npy", f"{folder}/middle.json"], "--no-opt", "vectorise-short-items", spill=True)
    ascent(folder, "sequences", f"{folder}/sequences.lehr", [f"x={folder}/s.npy"], "--no-opt", "vectorise-recurrences", spill=True)
    ascent(folder, "text", f"{folder}/kinds.lehr", [f"{folder}/kinds.csv"])
    links(folder)
    said = run(folder, *lda, method="cavi", expect=3)
    assert "the factors of 'theta' go on from sweep to sweep" in said and "--spill DIR" in said, said
    assert "by this method" in run(folder, *lda, "--search", "quick", method="cavi", expect=2)
    assert "not part of a checkpoint" in run(folder, *lda, "--checkpoint-every", "1", method="cavi", spill=True, expect=2)


def links(folder):
    """Expectations of links, whose sweeps are shortened where they would lower the ELBO. Sums of the data alone have no rounding."""
    x, g = R.integers(-9, 10, size=N) / 4, R.integers(30, size=N)
    e = 0.5 + 0.8 * x + R.normal(size=30)[g]
    np.savez(f"{folder}/bits.npz", x=x, g=g, y=(R.logistic(size=N) < e).astype(int))
    np.savez(f"{folder}/counts.npz", x=x, g=g, y=R.poisson(np.exp(2 + e)))
    for link, data in ("Bernoulli(logistic", "bits"), ("Bernoulli(probit", "bits"), ("Poisson(exp", "counts"):
        model = write(f"{folder}/effects.lehr", LINKED.replace("LINK", link))
        ascent(folder, f"{link}(...))", model, [f"{folder}/{data}.npz"], "--links", "gaussian", "--no-opt", "vectorise-short-items",
               "--leap-after", "0", "--no-invariances", spill=True)


def heavy_items(folder):
    """An item that is the work of several chunks leaves fewer chunks than were planned, wherever it stands."""
    os.environ["LEHR_THRESHOLDS"] = "outline_parallel_loops.operations=1,outline_parallel_loops.of_sum=0,outline_parallel_loops.many_items=1"
    heavy = f"90 {' '.join(f'{w}:2' for w in range(90))}"
    for place in 0, 20, 44:
        lines = [heavy if d == place else f"1 {d}:1" for d in range(45)]
        corpus = write(f"{folder}/heavy.ldac", "\n".join(lines) + "\n")
        ascent(folder, f"document {place} is long", "models/topics/lda.lehr", [f"w={corpus}"], "--set", "K=3", spill=True, batch=9)
    del os.environ["LEHR_THRESHOLDS"]


def models(folder):
    x = R.normal(size=(N, 3))
    np.save(f"{folder}/regressors.npy", x)
    np.save(f"{folder}/y.npy", x @ [1, -2, 0.5] + R.standard_t(3, size=N))
    middle = write(f"{folder}/middle.json", '{"middle": [0, 0, 0]}')
    same(folder, "a scale for every item", write(f"{folder}/robust.lehr", ROBUST),
         [f"x={folder}/regressors.npy", f"y={folder}/y.npy", middle], "--epochs", "2")
    np.save(f"{folder}/s.npy", R.integers(5, size=(300, 12)))
    same(folder, "sequences", write(f"{folder}/sequences.lehr", SEQUENCES), [f"x={folder}/s.npy"], "--epochs", "3")
    rows = [f'"{c} ""x"", y",{v}' for c, v in zip(np.array(["oak", "ash", "elm"])[R.integers(3, size=N)], R.normal(size=N))]
    table = write(f"{folder}/kinds.csv", "c,y\n" + "\n".join(rows) + "\n")
    same(folder, "text", write(f"{folder}/kinds.lehr", KINDS), [table], "--epochs", "2")


def names_like_numbers(folder):
    """Names of which whole pieces look like numbers, at the end of a table and at its beginning."""
    regions = KINDS.replace("observe c[n]  ~ Categorical(p[z[n]]);", "data c[n] : kind; a[kind] ~ Normal(mean = 0, sd = 1);")
    model = write(f"{folder}/regions.lehr", regions.replace("mean = mu[z[n]],", "mean = mu[z[n]] + a[c[n]],").replace("p[k] ", "q[k] "))
    for order in 1, -1:
        names = ["west"] * 150 + ["007"] * 150 + ["east", "7"] * 100 + ["12"] * (N - 500)
        rows = [f"{c},{v}" for c, v in zip(names[::order], np.random.default_rng(9).normal(size=N))]
        table = write(f"{folder}/regions.csv", "c,y\n" + "\n".join(rows) + "\n")
        same(folder, "names like numbers", f"{folder}/kinds.lehr", [table], "--epochs", "2")
        same(folder, "names like numbers, bound", model, [f"c={table}:c", f"y={table}:y"], "--epochs", "2")
    bad = write(f"{folder}/mixed.csv", "c,y\n" + "".join(f"oak,{'none' if n == 400 else n}\n" for n in range(N)))
    assert "there are numbers in it, and text" in run(folder, f"{folder}/kinds.lehr", [bad], expect=4)


def scores(folder):
    """Under a fit of the same data: the sums of the parts."""
    for model, data, rest in (("models/topics/lda.lehr", f"w={folder}/many.ldac", ["--holdout", "0.3"]),
                              ("models/mixtures/gmm_diagonal.lehr", f"x={folder}/x.csv:a,b", []),
                              (f"{folder}/sequences.lehr", f"x={folder}/s.npy", [])):
        settings = [] if model.startswith(folder) else ["--set", "K=3"]
        run(folder, model, [data], "--max-iter", "2", *settings, "--search", "none", stream=False, method="cavi")
        found = []
        for stream in [], ["--stream"]:
            lehr("score", f"{folder}/whole", "--data", data, *rest, *stream)
            found.append(read_json(f"{folder}/whole/score.json"))
        whole, parts = found
        far = abs(whole.pop("total") - parts.pop("total")) + abs(whole.pop("per_observation") - parts.pop("per_observation"))
        assert whole == parts and far < 1e-6, (model, far, whole, parts)
    print("ok scores", flush=True)


EFFECTS = """model effects {
  plate n;
  plate region;
  const far = 1;
  data region_of[n] : region;
  data x[n] : real;
  tau          ~ Gamma(shape = 2, rate = 1);
  slope        ~ Normal(mean = 0, precision = far);
  a[region]    ~ Normal(mean = 0, precision = 1);
  observe y[n] ~ Normal(mean = a[region_of[n]] + slope * x[n], precision = tau);
  let steep = exp(slope);
  let twice[n] = 2 * exp(slope * x[n]);
}
"""
# An observed pair of which parts are missing, and a latent number of each item.
COUNTS = """model counts {
  plate n;
  plate k = 3;
  pi             ~ Dirichlet(concentration = 1) over k;
  rate[k]        ~ Gamma(shape = 1, rate = 0.1);
  z[n]           ~ Categorical(pi);
  observe c[n]   ~ Poisson(rate[z[n]]);
  observe y[n]   ~ Normal(mean = 0, precision = rate[z[n]]);
}
"""


def predicted(folder, fit, data, *options, stream, expect=0, out=None):
    out = os.path.join(folder, out or ("streamed.csv" if stream else "whole.csv"))
    done = lehr("predict", fit, "--data", *data, "--out", out, "--draws", "20", *options, *["--stream"] * stream, code=expect)
    if expect != 0:
        return done.stderr
    return read(out, "rb"), done.stdout.replace("streamed.csv", "whole.csv"), done.stderr


def fitted(folder, model, data, *options):
    out = os.path.join(folder, "of_" + os.path.basename(model).removesuffix(".lehr"))
    lehr("fit", model, "--data", *data, "--out", out, "--quiet", "--max-iter", "3", "--search", "none", *options)
    return out


def with_gaps(texts):
    return ["" if R.random() < 0.3 else text for text in texts]


def predictions(folder):
    """More items than are worked on at a time; whatever is drawn is drawn for each by itself."""
    n = 5000

    def both(name, fit, data, *options):
        whole, streamed = (predicted(folder, fit, data, *options, stream=s) for s in (False, True))
        assert whole == streamed, (name, whole[1:], streamed[1:])
        print("ok predictions:", name, len(whole[0]), "bytes", flush=True)

    regions = np.array(["north, east", "south", "west"])[R.integers(3, size=n)]
    x, y = R.normal(size=n), R.normal(size=n)
    known = ['"%s",%r,%r' % row for row in zip(regions, x.tolist(), y.tolist())]
    table = write(f"{folder}/effects.csv", "region_of,x,y\n" + "\n".join(known) + "\n")
    effects = fitted(folder, write(f"{folder}/effects.lehr", EFFECTS), [table], "--set", "far=0.25")
    both("no observation", effects, [write(f"{folder}/new.csv", "region_of,x\n" + "\n".join(row.rsplit(",", 1)[0] for row in known) + "\n")])
    gaps = [",".join([row.rsplit(",", 1)[0], y]) for row, y in zip(known, with_gaps(map(repr, y.tolist())))]
    both("some observations, drawn", effects, [write(f"{folder}/gaps.csv", "region_of,x,y\n" + "\n".join(gaps[:4000] + known[4000:]) + "\n")])
    counts = [",".join(pair) for pair in zip(with_gaps(map(str, R.poisson(3, size=n))), with_gaps(map(repr, y.tolist())))]
    table = write(f"{folder}/counts.csv", "c,y\n" + "\n".join(counts) + "\n")
    both("latent and missing", fitted(folder, write(f"{folder}/counts.lehr", COUNTS), [table]), [table])
    both("documents", fitted(folder, "models/topics/lda.lehr", [f"w={folder}/many.ldac"], "--set", "K=3"), [f"w={folder}/many.ldac"])
    symbols = np.where(R.random((300, 12)) < 0.2, np.nan, R.integers(5, size=(300, 12)))
    np.save(f"{folder}/gaps.npy", np.tile(symbols, (10, 1)))
    both("sequences", fitted(folder, f"{folder}/sequences.lehr", [f"x={folder}/s.npy"]), [f"x={folder}/gaps.npy"])
    both("text", fitted(folder, f"{folder}/kinds.lehr", [f"{folder}/kinds.csv"]), [f"{folder}/kinds.csv"])
    robust = fitted(folder, f"{folder}/robust.lehr", [f"x={folder}/regressors.npy", f"y={folder}/y.npy", f"{folder}/middle.json"])
    both("a regression", robust, [f"x={folder}/regressors.npy", f"{folder}/middle.json"])
    chain = fitted(folder, "models/sequences/local_level.lehr", ["y=models/data/sequences/nile.csv:flow"])
    before = set(os.listdir(folder))
    said = predicted(folder, robust, [f"x={folder}/regressors.npy", f"{folder}/middle.json"], out="p.npz", stream=True, expect=2)
    assert ".csv" in said, said
    said = predicted(folder, chain, ["y=models/data/sequences/nile.csv:flow"], stream=True, expect=3)
    assert "local_level.lehr:" in said and "'level'" in said, said
    for value, said in ("inf", "x[4500] is inf"), ("zero", "'zero' at {}:4502:7"):
        bad = write(f"{folder}/bad.csv", "region_of,x\n" + "south,0\n" * 4500 + f"south,{value}\n")
        assert said.format(bad) in predicted(folder, effects, [bad], stream=True, expect=4)
    assert set(os.listdir(folder)) - before == {"bad.csv"}, set(os.listdir(folder)) - before


def peak(*command):
    """Peak memory in MiB, and what was said."""
    taken, said = peak_memory(LEHR, *command)
    return taken / 2**20, said


def peak_of_fit(folder, corpus, *options):
    """With what it said that would be."""
    found, said = peak("fit", "models/topics/lda.lehr", "--data", f"w={corpus}", "--set", "K=4", "--batch-size", "64", "--threads", "2",
                       "--out", f"{folder}/peak", *options)
    planned = re.search(r"at most ([0-9.]+) MB", said)
    return found, float(planned[1]) * 1e6 / 2**20 if planned else None


def memory(folder):
    """Of fits of a corpus and of sixty of it."""
    lines = "\n".join(documents(1000)) + "\n"
    found = {}
    for times in (1, 60):
        corpus = write(f"{folder}/{times}.ldac", lines * times)
        steps, sweeps = ["--method", "svi", "--epochs", "0.1"], ["--max-iter", "1"]
        for k, options in enumerate([steps, [*steps, "--stream"], [*sweeps, "--stream", "--spill", f"{folder}/spill"]]):
            peak_of_fit(folder, corpus, *options)  # the code is compiled then
            found[times, k], planned = peak_of_fit(folder, corpus, *options)
            assert not planned or found[times, k] < planned, (found, planned)
    whole, *streamed = (found[60, k] - found[1, k] for k in range(3))
    assert whole > 20 and max(streamed) < 0.15 * whole, found
    print(f"ok memory: {streamed} MiB more for sixty times the data, which take {whole:.0f}", flush=True)

    found = {}
    for times in (1, 20):
        table = write(f"{folder}/times.csv", "region_of,x\n" + "south,0\nwest,1\n" * 5000 * times)
        for stream in [], ["--stream"]:
            command = ["predict", f"{folder}/of_effects", "--data", table, "--out", f"{folder}/p.csv", "--draws", "20", *stream]
            found[times, len(stream)], _ = peak(*command)
    whole, streamed = (found[20, k] - found[1, k] for k in range(2))
    assert whole > 20 and streamed < 0.15 * whole, found
    print(f"ok memory of predictions: {streamed} MiB more for twenty times the items, which take {whole:.0f}", flush=True)


def changed_meanwhile(folder, path, change, model, data, *options, quietly):
    """A fit without end whose file is written over while it runs; quietly: with the time that it was written at before. What it
    says."""
    out = f"{folder}/changed"
    shutil.rmtree(out, ignore_errors=True)
    command = [LEHR, "fit", model, "--data", data, "--stream", "--out", out, "--quiet", *options]
    running = started(*command, path=f"{out}/trace.csv", lines=6)
    before = os.stat(path)
    change()
    if quietly:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    try:
        said = running.communicate(timeout=60)[1]
    finally:
        running.kill()
    assert running.returncode == 4 and re.search("changed while|shorter while it was read", said), (path, quietly, running.returncode, said)


def changes(folder):
    """What a file says is looked at whenever it is read; a fit of one that has changed ends with an error."""
    def over(path, text):
        def change():
            with open(path, "r+b") as f:
                f.write(text)
        return change

    svi = ["--method", "svi", "--epochs", "1000000", "--batch-size", "20"]
    lines = [f"2 {w:07d}:1 {w + 1:08d}:1" for w in range(40)] * 50
    corpus, longer = f"{folder}/changing.ldac", "5 0:1 1:1 2:1 3:1 04:1"
    assert len(longer) == len(lines[0])
    worse = {"larger": "\n".join(line.replace(" 0", " 9") for line in lines), "longer": "\n".join([longer] * 2000)}
    for kind, text in worse.items():
        for options in (svi, ["--method", "cavi", "--spill", f"{folder}/spill", "--max-iter", "100000", "--tol", "0"]):
            for quietly in (False, True):
                write(f"{folder}/changing.ldac", "\n".join(lines) + "\n")
                changed_meanwhile(folder, corpus, over(corpus, text.encode()), "models/topics/lda.lehr", f"w={corpus}", "--set", "K=3", *options,
                                  quietly=quietly)
        print("ok changes:", kind, flush=True)
    table = f"{folder}/kinds_then.csv"
    rows = "c,y\n" + "oak,0.5\nash,1.5\nelm,2.5\n" * 500
    for text in (rows.replace("oak", "fir"), rows.replace("0.5", "NA ").replace("ash", "NA "), rows.replace("oak", "123").replace("ash", "123").replace("elm", "123")):
        write(f"{folder}/kinds_then.csv", rows)
        changed_meanwhile(folder, table, over(table, text.encode()), f"{folder}/kinds.lehr", table, *svi, quietly=True)
    array, group = f"{folder}/s_then.npy", np.load(f"{folder}/s.npy")
    np.save(array, group)
    changed_meanwhile(folder, array, lambda: np.save(array, group + 100), f"{folder}/sequences.lehr", f"x={array}", *svi, quietly=True)
    print("ok changes: text and arrays", flush=True)


def left_behind(folder):
    """What a killed fit leaves in --spill goes with the next one there, and nothing else does."""
    spill, corpus = f"{folder}/left", f"{folder}/many.ldac"
    command = [LEHR, "fit", "models/topics/lda.lehr", "--data", f"w={corpus}", "--set", "K=3", "--stream", "--spill", spill, "--quiet", "--tol", "0"]
    others = [os.path.join(spill, name) for name in ("lehr-photos", "lehr-notes")]
    for other in others:
        os.makedirs(other)
        write(f"{other}/1", "precious")

    def start(name):
        running = started(*command, "--max-iter", "100000", "--out", f"{folder}/{name}", path=f"{folder}/{name}/trace.csv", lines=6)
        assert running.poll() is None
        return running

    killed, goes_on = start("killed"), start("goes_on")
    killed.kill()
    killed.wait()
    assert len(os.listdir(spill)) == 4, os.listdir(spill)
    lehr(*command[1:], "--max-iter", "2", "--out", f"{folder}/next")
    assert len(os.listdir(spill)) == 3, os.listdir(spill)
    assert goes_on.poll() is None, "a fit that runs lost its files"
    goes_on.send_signal(signal.SIGINT)
    goes_on.wait()
    assert all(os.listdir(other) == ["1"] for other in others) and len(os.listdir(spill)) == 2, os.listdir(spill)
    print("ok left behind", flush=True)


def refusals(folder):
    lines = documents(200)
    bad = write(f"{folder}/bad.ldac", "\n".join(lines[:150] + ["2 3:1"] + lines[150:]) + "\n")
    lda, lines_of = "models/topics/lda.lehr", ["--set", "K=3"]
    assert f"{bad}:151" in run(folder, lda, [f"w={bad}"], *lines_of, expect=4)
    table = np.abs(R.normal(size=(100, 2)))
    table[77, 1] = np.inf
    np.save(f"{folder}/inf.npy", table)
    assert "x[77, 1] is inf" in run(folder, "models/mixtures/gmm_diagonal.lehr", [f"x={folder}/inf.npy"], expect=4)
    assert "compressed" in run(folder, "models/mixtures/gmm_diagonal.lehr", [f"x={folder}/small.npz:x"], expect=4)
    assert "cannot be read in pieces" in run(folder, lda, ["w=models/data/topics/kos.ldac.gz"], expect=4)
    np.save(f"{folder}/far.npy", 1e6 + R.normal(size=(100, 2)))
    assert "subtract" in run(folder, "models/mixtures/gmm_diagonal.lehr", [f"x={folder}/far.npy"], expect=4)
    assert "--init" in run(folder, "models/mixtures/gmm_diagonal.lehr", [f"x={folder}/x.npy"], "--init", "points", expect=2)
    crossed = run(folder, "models/factors/matrix_factorisation.lehr", ["models/data/factors/ratings.csv"], expect=4)
    assert "in pieces" in crossed, crossed
    classes = write(f"{folder}/classes.lehr", KINDS.replace("observe c[n]  ~ Categorical(p[z[n]]);", "").replace("p[k]          ~ Dirichlet(concentration = 1) over kind;", "")
                    .replace("plate kind;", ""))
    table = write(f"{folder}/classes.csv", "z,y\n" + "0,1\n1,2\n" * 60 + ",3\n")  # the gap is not in the first piece
    named = ["--data", f"z={table}:z", "--data", f"y={table}:y"]
    lehr("fit", classes, *named, "--out", f"{folder}/classes", "--quiet")
    for data in (named, ["--data", table]):
        for words in (["fit", classes], ["score", f"{folder}/classes"], ["predict", f"{folder}/classes"]):
            out = [] if words[0] == "score" else ["--out", f"{folder}/none.csv"]
            said = lehr(*words, *data, "--stream", *out, code=4).stderr
            assert "the data have 'z', and 'z' is latent in the model" in said, said
    print("ok refusals", flush=True)


with temporary() as here:
    formats(here)
    models(here)
    names_like_numbers(here)
    ascents(here)
    heavy_items(here)
    scores(here)
    predictions(here)
    if sys.argv[2:] != ["bits"]:
        memory(here)
        changes(here)
        left_behind(here)
        refusals(here)
