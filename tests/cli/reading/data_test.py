#!/usr/bin/env python3
"""Data as files have them at their worst: rounding, contradictions, other encodings, control characters, sizes beyond any
machine. All of it is an error of the data, or said in a warning; none of it is a fault, or takes memory first.

Usage: data_test.py LEHR, from the root of the repository.
"""
import gzip
import io
import os
import struct
import sys
import zipfile
import zlib

import numpy

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, arrays, each, memory_limit, read, read_json, run, write, write_json  # noqa: E402

MATRIX = "tests/cli/data/matrix.lehr"


def lehr(*arguments, code=0, memory=8):
    done = run(LEHR, *arguments, code=code, errors="replace", timeout=600, preexec_fn=memory_limit(memory))
    assert "internal" not in done.stderr, done.stderr
    assert not any(c in done.stdout + done.stderr for c in "\x1b\x07\x00\x9b\u202e"), repr(done.stdout + done.stderr)
    assert len(done.stderr) < 20000, len(done.stderr)
    return done


def symmetric(d):
    rng = numpy.random.default_rng(1)
    a = rng.normal(size=(4, 4))
    exact = a @ a.T + numpy.eye(4)
    x = rng.normal(size=(30, 4))
    rounded, wrong = exact.copy(), exact.copy()
    rounded[0, 1] *= 1 + 2e-9
    rounded[2, 3] += 1e-8
    wrong[0, 1] *= 1 + 1e-4
    elbo = {}
    for name, s in {"exact": (rounded + rounded.T) / 2, "rounded": rounded}.items():
        numpy.savez(f"{d}/{name}.npz", S=s, x=x)
        done = lehr("fit", MATRIX, "--data", f"{d}/{name}.npz", "--out", f"{d}/{name}")
        assert ("symmetric part is used" in done.stderr) == (name == "rounded"), done.stderr
        elbo[name] = read_json(f"{d}/{name}/fit.json")["elbo"]
    assert elbo["exact"] == elbo["rounded"], elbo
    numpy.savez(f"{d}/wrong.npz", S=wrong, x=x)
    assert "is not symmetric" in lehr("fit", MATRIX, "--data", f"{d}/wrong.npz", "--out", f"{d}/wrong", code=4).stderr
    tiny = numpy.eye(2)
    tiny[0, 1] = 1e-17
    numpy.savez(f"{d}/tiny.npz", S=tiny, x=x[:, :2])
    lehr("fit", MATRIX, "--data", f"{d}/tiny.npz", "--out", f"{d}/tiny")


def totals(d):
    data = write_json(f"{d}/counts.json", {"x": [[1, 2, 0], [1, 2, 2]], "y": [2, 4], "m": [3, 3], "g": [0, 1], "t": [3, 4]})
    for name, statement, where in [
        ("constant", "observe x[n] ~ Multinomial(n = 3, p = p) over j;", "x[1, 0] on sum to 5, but the n of Multinomial is 3"),
        ("expression", "const c = 2; observe x[n] ~ Multinomial(n = c + 1, p = p) over j;", "x[1, 0] on sum to 5"),
        ("lookup", "plate h; data g[n] : h; data t[h] : count; observe x[n] ~ Multinomial(n = t[g[n]], p = p) over j;",
         "x[1, 0] on sum to 5, but the n of Multinomial is 4"),
        ("trials", "data m[n] : count; q ~ Beta(1, 1); observe x[n] ~ Multinomial(p) over j; observe y[n] ~ Binomial(m[n], q);",
         "y[1] is 4, but the n of Binomial is 3"),
    ]:
        model = write(f"{d}/{name}.lehr", f"model m {{ plate n; plate j; p ~ Dirichlet(concentration = 1) over j; {statement} }}")
        error = lehr("fit", model, "--data", data, "--out", f"{d}/{name}", code=4).stderr
        assert "counts.json" in error and where in error, error
    model = write(f"{d}/well.lehr", "model m { plate n; plate j; data m[n] : count; p ~ Dirichlet(concentration = 1) over j; "
                  "observe x[n] ~ Multinomial(n = m[n], p = p) over j; }")
    well = write_json(f"{d}/well.json", {"x": [[1, 2, 0], [1, 2, 2]], "m": [3, 5]})
    lehr("fit", model, "--data", well, "--out", f"{d}/well")


LABELS = "model m { plate n; plate k; p ~ Dirichlet(concentration = 1) over k; observe x[n] ~ Categorical(p); }"


def encodings(d):
    model = write(f"{d}/labels.lehr", LABELS)
    numbers = write(f"{d}/x.csv", "x\n0\n1\n1\n")
    out = f"{d}/out"
    latin = write(f"{d}/latin.txt", "caf\u00e9\nth\u00e9\n".encode("latin-1"))
    error = lehr("fit", model, "--data", numbers, "--labels", f"k={latin}", "--out", out, code=4).stderr
    assert "latin.txt:1:4: error: byte 0xe9 (number 3 of the file) is not UTF-8" in error, error
    cells = write(f"{d}/cells.csv", "n,x\n1,th\u00e9\n2,caf\u00e9\n".encode("latin-1"))
    error = lehr("fit", model, "--data", cells, "--out", out, code=4).stderr
    assert "cells.csv:2:5: error: byte 0xe9" in error, error
    header = write(f"{d}/header.csv", "caf\u00e9,b\n1,2\n".encode("latin-1"))
    assert "header.csv:1:4" in lehr("fit", "models/mixtures/gmm.lehr", "--data", f"x={header}", "--set", "K=1", "--out", out, code=4).stderr
    text = write(f"{d}/x.json", b'{"x": ["caf\xe9", "b"]}')
    assert "x.json:1:" in lehr("fit", model, "--data", text, "--out", out, code=4).stderr
    named = f"{d}/named.npz"
    with zipfile.ZipFile(named, "w") as archive:
        archive.writestr("caf@.npy", npy(numpy.zeros(3)))
    write(named, read(named, "rb").replace(b"caf@", b"caf\xe9"))
    assert "not UTF-8" in lehr("fit", model, "--data", named, "--out", out, code=4).stderr
    write(f"{d}/wrong.lehr", b"model m\xe9 { }")
    lehr("fit", f"{d}/wrong.lehr", "--data", numbers, "--out", out, code=3)
    # The names of files are bytes: they must not lose a fit.
    lehr("fit", write(os.path.join(d, os.fsdecode(b"caf\xe9.lehr")), LABELS), "--data", numbers, "--out", out, "--quiet")
    assert read_json(f"{out}/fit.json")["status"] == "converged"
    lehr("show", out)

    twice = write(f"{d}/twice.txt", "red\ngreen\nred\n")
    error = lehr("fit", model, "--data", numbers, "--labels", f"k={twice}", "--out", out, code=4).stderr
    assert "twice.txt:3: error: the label 'red' is that of line 1" in error, error


def terminal(d):
    model = write(f"{d}/labels.lehr", LABELS)
    evil = "\x1b]0;owned\x07\x1b[31mred"
    labels = write(f"{d}/labels.txt", f"{evil}\nab\x00c\n\u202egnp\n{'w' * 5000}\n")
    lehr("fit", model, "--data", write(f"{d}/x.csv", "x\n0\n1\n2\n3\n1\n"), "--labels", f"k={labels}", "--out", f"{d}/fit")
    shown = lehr("show", f"{d}/fit").stdout
    assert "\\x1b[31mred" in shown and "\\u202egnp" in shown and "w" * 500 not in shown, shown
    lehr("fit", "models/mixtures/gmm.lehr", "--data", f"x={write(f'{d}/header.csv', f'{evil},b{chr(10)}1,{evil}{chr(10)}')}:{evil},b",
         "--out", f"{d}/x", code=4)
    lehr("fit", "models/mixtures/gmm.lehr", "--data", f"x={write(f'{d}/huge.csv', 'a,b' + chr(10) + '1,' + 'z' * 50_000_000 + chr(10))}:a,b",
         "--out", f"{d}/x", code=4)
    lehr("fit", model, "--data", write_json(f"{d}/evil.json", {evil: [[1], 2]}), "--out", f"{d}/x", code=4)
    with zipfile.ZipFile(f"{d}/evil.npz", "w") as archive:
        archive.writestr(f"{evil}.npy", b"nothing")
    lehr("fit", model, "--data", f"{d}/evil.npz", "--out", f"{d}/x", code=4)


def npy(array):
    out = io.BytesIO()
    numpy.save(out, array)
    return out.getvalue()


def decompression(d):
    """Members that expand to far more than their arrays, or than there is."""
    model = write(f"{d}/labels.lehr", LABELS)
    body = npy(numpy.zeros(4)) + bytes(3 << 30 if "--large" in sys.argv else 300 << 20)
    with zipfile.ZipFile(f"{d}/padded.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("x.npy", body)
    error = lehr("fit", model, "--data", f"{d}/padded.npz", "--out", f"{d}/x", code=4, memory=1).stderr
    assert "accounts for" in error, error
    del body
    # An honest header of 16 GB of zeros.
    head = npy(numpy.zeros(4)).replace(b"(4,), }" + b" " * 9, b"(2147483648,), }")
    assert b"2147483648" in head
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = [squeeze.compress(head[:-32])]
    crc, block = zlib.crc32(head[:-32]), bytes(1 << 24)
    blocks = 16  # the rest of the stream is never reached
    for _ in range(blocks):
        packed.append(squeeze.compress(block))
    packed = b"".join(packed) + squeeze.flush() + bytes(20 << 20)
    size = len(head) - 32 + 8 * 2147483648
    with zipfile.ZipFile(f"{d}/zeros.npz", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("x.npy", packed)
    raw = bytearray(read(f"{d}/zeros.npz", "rb"))
    wide = struct.pack("<HHQQ", 1, 16, size, len(packed))
    central = raw.rindex(b"PK\x01\x02")
    raw[central + 10:central + 12] = struct.pack("<H", 8)
    raw[central + 20:central + 28] = b"\xff" * 8
    raw[central + 30:central + 32] = struct.pack("<H", len(wide))
    raw[central + 51:central + 51] = wide
    end = raw.rindex(b"PK\x05\x06")
    raw[end + 12:end + 16] = struct.pack("<I", end - central)
    write(f"{d}/zeros.npz", bytes(raw))
    error = lehr("fit", model, "--data", f"{d}/zeros.npz", "--out", f"{d}/x", code=4, memory=2).stderr
    assert "memory" in error, error
    with gzip.open(f"{d}/zeros.csv.gz", "wb", compresslevel=9) as file:
        for _ in range(48):
            file.write(b"0\n" * (8 << 20))
    error = lehr("fit", model, "--data", f"{d}/zeros.csv.gz", "--out", f"{d}/x", code=4, memory=1).stderr
    assert "expands to more than" in error, error


def sizes(d):
    """What cannot be had is said before anything is done."""
    model = write(f"{d}/labels.lehr", LABELS)
    data = write(f"{d}/x.csv", "x\n0\n1\n1\n")
    most = 1 << 62
    error = lehr("fit", model, "--data", data, "--sizes", f"k={most}", "--out", f"{d}/x", code=2).stderr
    assert "at most" in error, error
    error = lehr("fit", model, "--data", data, "--sizes", "k=900000000000", "--out", f"{d}/x", code=4).stderr
    assert "these sizes need 7.2 TB of memory" in error and "note: p: 7.2 TB" in error, error
    lda = ["models/topics/lda.lehr", "--set", "K=100000"]
    corpus = write(f"{d}/w.ldac", "1 0:1\n2 0:1 1:2\n")
    error = lehr("fit", *lda, "--data", f"w={corpus}", "--sizes", "term=1000000", "--out", f"{d}/x", code=4).stderr
    assert "note: beta: 800 GB" in error, error
    for size in ["term=4611686018427387904", "doc=4611686018427387904"]:
        lehr("simulate", *lda, "--sizes", f"doc=3,token=4,{size}".replace("doc=3,", "" if "doc=4" in size else "doc=3,"), "--out",
             f"{d}/x.npz", code=2)
    error = lehr("simulate", *lda, "--sizes", "doc=3,token=4,term=1000000", "--out", f"{d}/x.npz", code=4).stderr
    assert "beta: 1.6 TB" in error, error
    lehr("simulate", *lda, "--sizes", "doc=900000000000,token=900000000000,term=2", "--out", f"{d}/x.npz", code=4)
    many = write(f"{d}/many.ldac", "1 0:2147483647\n")
    write(f"{d}/copies.lehr", "model m { plate doc; plate token in doc; plate term; p ~ Dirichlet(concentration = 1) over term; "
          "observe w[doc, token] ~ Categorical(p); }")
    lehr("fit", f"{d}/copies.lehr", "--data", f"w={many}", "--out", f"{d}/x", code=4)
    numpy.save(f"{d}/empty.npy", numpy.zeros((0,)))
    lehr("fit", model, "--data", f"x={d}/empty.npy", "--out", f"{d}/x", code=4)


def odd(d):
    """Files that no program should have written: read for what they are, or refused with a word."""
    header = b"\x93NUMPY\x01\x00v\x00"
    files = {
        "nul.csv": b"a,b\n1,\0\n2,3\n", "open_quote.csv": b'"a","b\n1,2', "two_quotes.csv": b'a,b\n"1""2",3\n',
        "only_cr.csv": b"a,b\r1,2\r3,4\r5,7\r", "only_nul.csv": b"\0\0\0", "only_bom.csv": b"\xef\xbb\xbf",
        "utf16.csv": "a,b\n1,2\n".encode("utf-16"), "no_names.csv": b",,,,\n,,,,\n", "infinite.csv": b"a,b\ninf,2\n3,4\n",
        "huge.csv": b"a,b\n1e308,-1e308\n1e308,1e308\n-1e308,3\n", "hex.csv": b"a,b\n0x10,2\n3,4\n",
        "empty.json": b'{"x": [[]]}', "deep.json": b'{"x": ' + b"[" * 100000, "beyond.json": b'{"x": [[1, 2], [3, 1e999]]}',
        "nested.json": b'{"x": {"y": 1}}', "surrogate.json": b'{"\\ud800": 1}', "twice.json": b'{"x": [[1, 2]], "x": 1}',
        "no_rows.npy": header + b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807), }".ljust(117) + b"\n",
        "objects.npy": npy(numpy.array(["a", "b"])), "complex.npy": npy(numpy.ones(3, complex)), "cube.npy": npy(numpy.ones((2, 2, 2))),
        "cut.npz": b"PK\x03\x04", "not.csv.gz": b"\x1f\x8b\x08", "digits.ldac": b"1 99999999999999999999:1\n",
    }
    expected = {"only_cr.csv": 0, "two_quotes.csv": 0, "huge.csv": None}
    for name, content in files.items():
        path = write(f"{d}/{name}", content)
        data = path if name.endswith((".json", ".npz")) else f"x={path}"
        done = lehr("fit", "models/mixtures/gmm.lehr", "--data", data, "--set", "K=1", "--quiet", "--out", f"{d}/fit", code=None)
        wanted = expected.get(name, 4)
        assert done.returncode == wanted or wanted is None and done.returncode in (0, 5), (name, done.returncode, done.stderr)
        assert done.returncode == 0 or name in done.stderr or wanted is None, (name, done.stderr)
    os.mkdir(f"{d}/folder.csv")
    assert "directory" in lehr("fit", "models/mixtures/gmm.lehr", "--data", f"x={d}/folder.csv", "--out", f"{d}/fit", code=4).stderr


def not_files(d):
    """Pipes and devices in the place of files are refused without waiting for them; what a shell opens is read."""
    os.mkfifo(f"{d}/pipe.csv")
    os.symlink("/dev/zero", f"{d}/zero.csv")
    coin = ["models/distributions/coin.lehr", "--data", "models/data/distributions/coin.csv", "--out", f"{d}/fit", "--quiet"]
    lehr("fit", *coin)
    for name in ["pipe.csv", "zero.csv"]:
        for words in (["--data", f"x={d}/{name}"], ["--labels", f"throw={d}/{name}"]):
            error = lehr("fit", "models/distributions/coin.lehr", *words, "--out", f"{d}/x", code=4).stderr
            assert "a pipe or a device" in error and name in error, error
        assert "a pipe or a device" in lehr("check", f"{d}/{name}", code=2).stderr
    for name in ["posterior.npz", "fit.json"]:
        os.remove(f"{d}/fit/{name}")
        os.mkfifo(f"{d}/fit/{name}")
        error = lehr("show", f"{d}/fit", code=4).stderr
        assert "a pipe or a device" in error and name in error, error
    labelled = f"{LEHR} fit models/topics/lda.lehr --data w=models/data/topics/kos.ldac.gz --max-iter 1 --quiet --out {d}/lda --labels term="
    for path in ["<(cat models/data/topics/kos.vocab.txt)", "/dev/stdin < <(cat models/data/topics/kos.vocab.txt)"]:
        run("bash", "-c", labelled + path, timeout=600)


def words(d):
    """Words are names of elements, and nothing is said of them as of numbers; one that means a missing value is named."""
    model = write(f"{d}/m.lehr", """model m { plate n; plate user; data who[n] : user; bu[user] ~ Normal(mean = 0, sd = 1);
      observe y[n] ~ Normal(mean = bu[who[n]], sd = 1); }""")
    table = "who,y\n" + "".join(f"u{k:03},{k / 7}\n" for k in range(120))
    fit = ["fit", model, "--quiet", "--out", f"{d}/fit"]
    assert lehr(*fit, "--data", write(f"{d}/words.csv", table)).stderr == ""
    names = write(f"{d}/names.txt", "".join(f"u{k:03}\n" for k in range(120)))
    assert lehr(*fit, "--data", f"{d}/words.csv", "--labels", f"user={names}").stderr == ""
    said = lehr(*fit, "--data", write(f"{d}/missing.csv", table + "N/A,1\n")).stderr
    assert "'N/A' is an element of plate 'user'" in said and "an empty field" in said, said
    plate = write(f"{d}/plate.csv", table.replace("who", "user"))  # a column with the name of the plate, not of the data
    said = lehr(*fit, "--data", plate, code=4).stderr
    assert "nothing is bound to who[n]" in said and "bind the column by --data who=FILE.csv:user" in said, said
    assert lehr(*fit, "--data", f"y={plate}:y", "--data", f"who={plate}:user").stderr == ""


def known_among_unknown(d):
    """A number that is known has no digits to lose."""
    model = write(f"{d}/m.lehr", """model gaps { plate n; a ~ Normal(mean = 0, sd = 10); b ~ Normal(mean = 0, sd = 10);
      observe m[n] ~ Normal(mean = a, sd = 1); observe y[n] ~ Normal(mean = b * m[n], sd = 1); }""")
    data = write(f"{d}/x.json", '{"m": [0.4, null], "y": [0.3, 0.5]}')
    for more in ([], ["--save-locals"]):
        said = lehr("fit", model, "--data", data, "--quiet", "--out", f"{d}/fit", *more).stderr
        assert "nats" not in said, said


def no_tokens(d):
    """Documents without words are data like others: they add nothing."""
    fit = ["fit", "models/topics/lda.lehr", "--set", "K=2", "--labels", "term=" + write(f"{d}/v.txt", "a\nb\nc\n"), "--quiet", "--search", "none"]
    elbo = {}
    for name, text in {"some": "2 0:3 1:1\n1 2:4\n", "more": "2 0:3 1:1\n0\n1 2:4\n0\n", "none": "0\n"}.items():
        lehr(*fit, "--init", "flat", "--data", "w=" + write(f"{d}/{name}.ldac", text), "--out", f"{d}/{name}")
        elbo[name] = read_json(f"{d}/{name}/fit.json")["elbo"]
    assert abs(elbo["none"]) < 1e-9 and abs(elbo["more"] - elbo["some"]) < 1e-9, elbo
    lehr("update", f"{d}/some", "--data", f"w={d}/none.ldac", "--quiet", "--out", f"{d}/updated")
    a, b = (arrays(f"{d}/{name}/posterior.npz")["beta.concentration"] for name in ("some", "updated"))
    assert numpy.allclose(a, b)


EMPTY = [  # a model, some data, and what is a batch without items
    ("x[n] : vector over d; tau ~ Gamma(shape = 2, rate = 1); w[d] ~ Normal(mean = 0, precision = 0.1); "
     "observe y[n] ~ Normal(mean = sum(d) w[d] * x[n, d], precision = tau);", "plate n; plate d; data ",
     "a,b,y\n1,2,3\n1,-1,0\n1,0.5,2\n", ["x=FILE:a,b", "y=FILE:y"]),
    ("who[n] : user; mu ~ Normal(mean = 3, sd = 1); b[user] ~ Normal(mean = mu, sd = 1); "
     "observe y[n] ~ Normal(mean = b[who[n]], sd = 1);", "plate n; plate user; data ", "who,y\nann,1\nbob,2\nann,3\n", ["FILE"]),
    ("w[n] : count; p ~ Dirichlet(concentration = 1) over k; mu[k] ~ Normal(mean = 0, sd = 10); z[n] ~ Categorical(p); "
     "observe y[n] ~ Normal(mean = mu[z[n]], sd = 1);", "plate n times w; plate k = 2; data ", "w,y\n1,1\n2,2\n1,8\n", ["FILE"]),
    ("m ~ Normal(mean = 0, sd = 10); a[g] ~ Normal(mean = m, sd = 1); observe y[g, n] ~ Normal(mean = a[g], sd = 1);",
     "plate g; plate n in g; ", "g,y\n0,1\n0,2\n1,8\n", ["FILE"]),
]


def no_items(d):
    """A table of no rows is a batch: an update leaves the posterior, the score is that of no observation, and the table of
    predictions has no rows. A fit of nothing is refused."""
    for body, plates, table, bindings in EMPTY:
        model = write(f"{d}/m.lehr", "model m { " + plates + body + " }")
        data = lambda path: [x for b in bindings for x in ("--data", b.replace("FILE", path))]
        some = data(write(f"{d}/some.csv", table))
        none = data(write(f"{d}/none.csv", table.split("\n")[0] + "\n"))
        names = table.split("\n")[0].split(",") if len(bindings) == 1 else "xy"
        lists = ["--data", write_json(f"{d}/none.json", {name: [] for name in names if name != "g"})]
        lehr("fit", model, *some, "--quiet", "--search", "none", "--out", f"{d}/some")
        for empty in (none, lists):
            lehr("update", f"{d}/some", *empty, "--quiet", "--out", f"{d}/updated")
            a, b = (arrays(f"{d}/{name}/posterior.npz") for name in ("some", "updated"))
            assert list(a) == list(b), (list(a), list(b))
            for name in a:
                numpy.testing.assert_allclose(a[name], b[name], rtol=1e-12, err_msg=body)
            assert "log predictive 0.000000 of 0 observations\n" in lehr("score", f"{d}/some", *empty).stdout
            score = read_json(f"{d}/some/score.json")
            assert (score["total"], score["observations"], score["per_observation"]) == (0, 0, None), score
            lehr("predict", f"{d}/some", *empty, "--out", f"{d}/predicted.csv")
            lines = read(f"{d}/predicted.csv").splitlines()
            assert len(lines) == 1 and lines[0].startswith("variable,"), lines
            said = lehr("fit", model, *empty, "--quiet", "--out", f"{d}/x", code=4).stderr
            assert "=..." in said or f"{d}/none." in said and "there is nothing to fit: plate '" in said and "for the update of a fit" in said, said
            assert "=..." not in said or "plate 'd'" in said or "plate 'user'" in said, said
    half = write(f"{d}/m.lehr", "model m { plate n; plate m; mu ~ Normal(mean = 0, sd = 10); observe x[n] ~ Normal(mean = mu, sd = 1); "
                 "observe y[m] ~ Normal(mean = mu, sd = 2); }")
    lehr("fit", half, "--data", write(f"{d}/half.json", '{"x": [1, 2], "y": []}'), "--quiet", "--out", f"{d}/half")
    q = arrays(f"{d}/half/posterior.npz")
    numpy.testing.assert_allclose([q["mu.precision"], q["mu.mean"]], [2.01, 3 / 2.01])
    chain = write(f"{d}/m.lehr", "model m { plate t ordered; z[t] ~ Normal(mean = z[t-1], sd = 1) start Normal(mean = 0, sd = 1); "
                  "observe x[t] ~ Normal(mean = z[t], sd = 1); }")
    said = lehr("fit", chain, "--data", write(f"{d}/none.json", '{"x": []}'), "--quiet", "--out", f"{d}/x", code=4).stderr
    assert "plate 't' has no elements" in said, said


def not_finite(d):
    """A fit that fails writes no number that is none."""
    model = write(f"{d}/m.lehr", """model e { plate n; data x[n] : real; r ~ Gamma(shape = 1, rate = 1);
      observe y[n] ~ Poisson(r * exp(x[n])); }""")
    data = write(f"{d}/x.json", '{"x": [709.7, 709.7], "y": [1, 2]}')
    said = lehr("fit", model, "--data", data, "--quiet", "--search", "none", "--out", f"{d}/fit", code=5).stderr
    assert "r.rate is not finite" in said, said
    posterior = arrays(f"{d}/fit/posterior.npz")
    assert "r.rate" not in posterior and all(numpy.isfinite(x).all() for x in posterior.values()), list(posterior)
    assert "r: Gamma" in lehr("show", f"{d}/fit").stdout


each(symmetric, totals, encodings, terminal, odd, not_files, words, known_among_unknown, no_tokens, no_items, not_finite,
     *[decompression, sizes] if memory_limit(1) else [])
