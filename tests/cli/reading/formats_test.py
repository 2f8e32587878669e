#!/usr/bin/env python3
"""The same data in every format give the same bytes: a corpus as LDA-C, Matrix Market, SVMlight and AnnData's HDF5 (by rows,
by columns, dense), a table with commas, semicolons, tabs, decimal commas and from the standard input.

Usage: formats_test.py LEHR, from the root of the repository
"""
import ctypes
import ctypes.util
import os
import sys
import warnings
import zipfile
import zlib

import netCDF4
import numpy

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import ROOT, arrays, lehr, read, read_json, run, temporary, write, write_json  # noqa: E402

KINDS = "model m { plate n; plate k; p ~ Dirichlet(concentration = 1) over k; observe kind[n] ~ Categorical(p); }"
MIXTURE = ("model m { plate n; plate k = 2; m[k] ~ Normal(mean = 0, precision = 1); z[n] ~ Uniform() over k;"
           " observe y[n] ~ Normal(mean = m[z[n]], precision = 1); }")


def posterior(*words, **how):
    lehr("fit", *words, "--search", "none", "--max-iter", "10", "--quiet", "--out", "out", **how)
    return read("out/posterior.npz", "rb")


def write_lines(path, lines):
    return write(path, "\n".join(lines) + "\n")


def corpus():
    """Documents as lists of pairs of term and count, and the terms."""
    lines = read(f"{ROOT}/compiler/commands/starters/lda.ldac").splitlines()
    documents = [[tuple(map(int, pair.split(":"))) for pair in line.split()[1:]] for line in lines]
    return documents, read(f"{ROOT}/compiler/commands/starters/lda.vocab.txt").split()


def put(group, name, values):
    values = numpy.asarray(values)
    group.createDimension(f"of_{name}", len(values))
    text = values.dtype.kind in "UO"
    group.createVariable(name, str if text else values.dtype, (f"of_{name}",))[:] = values.astype(object) if text else values


def put_matrix(group, kind, shape, pointers, indices, values):
    group.setncattr("encoding-type", kind)
    group.setncattr("shape", numpy.array(shape))
    put(group, "indptr", numpy.array(pointers))
    put(group, "indices", numpy.array(indices, numpy.int32))
    put(group, "data", numpy.array(values, numpy.float32))


def anndata(path, documents, terms):
    """The layout of AnnData's files: https://anndata.readthedocs.io, "on-disk format"."""
    counts = numpy.zeros((len(documents), len(terms)))
    for row, document in enumerate(documents):
        for term, count in document:
            counts[row, term] = count
    with netCDF4.Dataset(path, "w") as file:
        put_matrix(file.createGroup("X"), "csr_matrix", counts.shape, numpy.cumsum([0] + [len(d) for d in documents]),
                   [term for d in documents for term, _ in d], [count for d in documents for _, count in d])
        columns = file.createGroup("layers/columns")
        entries = [(term, row, counts[row, term]) for term in range(len(terms)) for row in range(len(documents)) if counts[row, term]]
        put_matrix(columns, "csc_matrix", counts.shape, numpy.cumsum([0] + [int((counts[:, t] > 0).sum()) for t in range(len(terms))]),
                   [row for _, row, _ in entries], [value for _, _, value in entries])
        layers = file["layers"]
        layers.createDimension("row", counts.shape[0])
        layers.createDimension("column", counts.shape[1])
        layers.createVariable("scaled", "f8", ("row", "column"))[:] = counts / 2
        for name, labels in (("obs", [f"document {i}" for i in range(len(documents))]), ("var", terms)):
            table = file.createGroup(name)
            table.setncattr("_index", "names")
            put(table, "names", labels)
        put(file["obs"], "length", counts.sum(axis=1))
        kinds = file["obs"].createGroup("kind")
        kinds.setncattr("encoding-type", "categorical")
        put(kinds, "categories", ["short", "long"])
        put(kinds, "codes", numpy.where(counts.sum(axis=1) > 25, 1, 0).astype(numpy.int8))
    return counts


def sparse():
    documents, terms = corpus()
    entries = [f"{row + 1} {term + 1} {count}" for row, document in enumerate(documents) for term, count in document]
    head = ["%%MatrixMarket matrix coordinate integer general", f"{len(documents)} {len(terms)} {len(entries)}"]
    write_lines("rows.mtx", head + entries)
    write_lines("columns.mtx", head + sorted(entries, key=lambda e: [int(word) for word in e.split()][1::-1]))
    write_lines("w.svm", [" ".join(["0"] + [f"{term + 1}:{count}" for term, count in d]) for d in documents])
    counts = anndata("w.h5ad", documents, terms)
    model = [f"{ROOT}/compiler/commands/starters/lda.lehr"]
    wanted = posterior(*model, "--data", f"w={ROOT}/compiler/commands/starters/lda.ldac", "--labels", f"term={ROOT}/compiler/commands/starters/lda.vocab.txt")
    run("gzip", "-k", "rows.mtx")
    for binding in ["rows.mtx", "rows.mtx.gz", "columns.mtx", "w.svm", "w.h5ad", "w.h5ad:layers/columns"]:
        assert posterior(*model, "--data", f"w={binding}") == wanted, binding
    posterior(*model, "--data", "w=w.h5ad")
    topics = lehr("show", "out", "beta", "--top", "3").stdout
    assert any(term in topics for term in terms) and "term 0" not in topics, topics

    lehr("fit", f"{ROOT}/compiler/commands/starters/lda.lehr", "--data", "w=w.h5ad:layers/scaled", "--out", "x", code=4)
    write("normal.lehr", "model m { plate n; plate j; mu[j] ~ Normal(mean = 0, precision = 1); observe x[n, j] ~ Normal(mean = mu[j], precision = 1); }")
    numpy.save("x.npy", counts)
    dense = posterior("normal.lehr", "--data", "x=x.npy")
    for binding in ["rows.mtx:dense", "w.svm:dense", "w.h5ad:dense", "w.h5ad:layers/columns,dense"]:
        assert posterior("normal.lehr", "--data", f"x={binding}") == dense, binding
    write_lines("array.mtx", ["%%MatrixMarket matrix array real general", " ".join(map(str, counts.shape)), *map(str, counts.T.ravel())])
    for binding in ["array.mtx", "array.mtx:dense"]:
        assert posterior("normal.lehr", "--data", f"x={binding}") == dense, binding
    error = lehr("fit", "normal.lehr", "--data", "x=array.mtx:sparse", "--out", "x", code=4).stderr
    assert "there is no part 'sparse'" in error, error
    order = numpy.random.default_rng(2).permutation(len(terms))
    place = numpy.argsort(order)
    anndata("moved.h5ad", [[(place[term], count) for term, count in d] for d in documents], [terms[k] for k in order])
    labels = ["--labels", f"term={ROOT}/compiler/commands/starters/lda.vocab.txt"]
    assert posterior(*model, *labels, "--data", "w=moved.h5ad") == wanted
    assert posterior("normal.lehr", "--labels", labels[1].replace("term", "j"), "--data", "x=moved.h5ad:dense") == dense
    numpy.save("x.npy", counts / 2)
    assert posterior("normal.lehr", "--data", "x=x.npy") == posterior("normal.lehr", "--data", "x=w.h5ad:layers/scaled")

    write("kinds.lehr", KINDS)
    posterior("kinds.lehr", "--data", "kind=w.h5ad:obs/kind")
    shown = lehr("show", "out", "p").stdout
    assert "short" in shown and "long" in shown, shown
    error = lehr("fit", "kinds.lehr", "--data", "kind=w.h5ad:obs/sort", "--out", "x", code=4).stderr
    assert "w.h5ad:obs/sort: error: it is not in the file" in error and "kind, length, names" in error, error
    error = lehr("fit", "kinds.lehr", "--data", "kind=w.h5ad:obs", "--out", "x", code=4).stderr
    assert "it is no array" in error, error
    whole = read("w.h5ad", "rb")
    for content, wanted in ((b"", "the file is empty"), (whole[:8], "not an HDF5 file"), (whole[:-1], "not an HDF5 file"),
                            (b"a,b\n1,2\n", "not an HDF5 file")):
        write("broken.h5ad", content)
        error = lehr("fit", "kinds.lehr", "--data", "kind=broken.h5ad:obs/kind", "--out", "x", code=4).stderr
        assert f"broken.h5ad: error: {wanted}" in error, error


def damaged():
    """Numbers of a file that others are found by are looked at first, NaN among them."""
    write("kinds.lehr", KINDS)
    nan, inf = numpy.nan, numpy.inf
    matrices = {"pointers": [[0, nan, 2], [nan, 1, 2], [0, 1, nan], [0, 2, 1], [0, -1, 2], [0, 0.5, 2], [0, inf, 2], [0, 3, 2], [0, 2], []],
                "indices": [[0, nan], [0, 2], [-1, 0], [0.5, 1], [0, inf], [0]],
                "values": [[1], [1, 2, 3], [nan, 1], [-1, 1]],
                "shape": [[nan, 2], [2, nan], [1e300, 2], [-1, 2], [2], [2, 2, 2]]}
    whole = {"kind": "csr_matrix", "shape": [2, 2], "pointers": [0, 1, 2], "indices": [0, 1], "values": [1, 1]}
    cases = [{**whole, part: value} for part, values in matrices.items() for value in values]
    cases += [{**whole, "kind": "csc_matrix", "shape": [2**31 - 1, 2]}, {**whole, "pointers": ["a", "b", "c"]}]
    for case in cases:
        with netCDF4.Dataset("bad.h5ad", "w") as file:
            group = file.createGroup("X")
            group.setncattr("encoding-type", case["kind"])
            group.setncattr("shape", numpy.array(case["shape"], float))
            for name, part in (("indptr", "pointers"), ("indices", "indices"), ("data", "values")):
                text = case[part] and isinstance(case[part][0], str)
                put(group, name, numpy.array(case[part], None if text else float))
        for data in "w=bad.h5ad", "w=bad.h5ad:dense":
            if not (data.endswith("dense") and case["values"] in matrices["values"][2:]):  # any numbers are well there
                error = lehr("fit", f"{ROOT}/models/topics/lda.lehr", "--set", "K=2", "--data", data, "--out", "x", code=4).stderr
                assert error.startswith("bad.h5ad:X: error: ") or error.startswith("bad.h5ad: error: "), (case, error)
    for codes in ([0, nan, 1], [0, 2], [0, 0.5], [-2, 0], [inf], [-inf], ["a"]):
        for categories in [["a", "b"], [10.0, 20.0]]:
            with netCDF4.Dataset("bad.h5ad", "w") as file:
                kinds = file.createGroup("obs/kind")
                kinds.setncattr("encoding-type", "categorical")
                put(kinds, "categories", categories)
                put(kinds, "codes", numpy.array(codes))
            error = lehr("fit", "kinds.lehr", "--data", "kind=bad.h5ad:obs/kind", "--out", "x", code=4).stderr
            assert "bad.h5ad:obs/kind: error: " in error and ("has no category" in error or "no numbers" in error), error
    with netCDF4.Dataset("bad.h5ad", "w") as file:
        masked = file.createGroup("obs/kind")
        put(masked, "values", numpy.arange(3))
        masked.createDimension("short", 2)
        masked.createVariable("mask", "i1", ("short",))[:] = 0
    error = lehr("fit", "kinds.lehr", "--data", "kind=bad.h5ad:obs/kind", "--out", "x", code=4).stderr
    assert "'mask' and its 'values' do not belong together" in error, error


def twice():
    """An archive with two arrays of one name is refused, however it is read."""
    write("two.lehr", MIXTURE)
    numpy.savez("y.npz", y=numpy.arange(5.0))
    lehr("fit", "two.lehr", "--data", "y.npz", "--out", "x")
    with zipfile.ZipFile("y.npz") as archive:
        member = archive.read("y.npy")
    with warnings.catch_warnings(), zipfile.ZipFile("y.npz", "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("y.npy", member)
    for options in ([], ["--stream", "--method", "svi"]):
        for data in "y.npz", "y=y.npz:y":
            error = lehr("fit", "two.lehr", "--data", data, "--out", "x", *options, code=4).stderr
            assert "y.npz: error: there are two arrays of the name 'y'" in error, error


class Hdf5:
    """What files of HDF5 can say and netCDF4 cannot write, by the library itself: numbers that are in other files."""

    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library("hdf5_serial") or "libhdf5_serial.so.103")
        self.library.H5open()

    def call(self, function, *arguments):
        f = getattr(self.library, function)
        f.restype = ctypes.c_int64
        out = f(*[ctypes.c_int64(a) if isinstance(a, int) else a for a in arguments])
        assert out >= 0, function
        return out

    def known(self, name):
        return ctypes.c_int64.in_dll(self.library, name).value

    def write(self, path, kind, name, other, numbers=3):
        """A dataset, or a link to one, whose numbers are in the file `other`."""
        file = self.call("H5Fcreate", path.encode(), 2, 0, 0)
        double, size = self.known("H5T_IEEE_F64LE_g"), (ctypes.c_uint64 * 1)(numbers)
        if kind in ("link", "link on the way"):
            self.call("H5Lcreate_external", other.encode(), b"/x", file, name.encode(), 0, 0)
        else:
            space = self.call("H5Screate_simple", 1, size, None)
            made = self.call("H5Pcreate", self.known("H5P_CLS_DATASET_CREATE_ID_g"))
            if kind == "external":
                self.call("H5Pset_external", made, other.encode(), 0, ctypes.c_uint64(8 * numbers))
            elif kind == "virtual":
                self.call("H5Pset_virtual", made, space, other.encode(), b"/x", space)
            self.call("H5Dclose", self.call("H5Dcreate2", file, name.encode(), double, space, 0, made, 0))
        self.call("H5Fclose", file)


def outside():
    """No file of HDF5 makes another file be read, or waited for."""
    hdf5 = Hdf5()
    write("secret", numpy.array([42.0, 43, 44]).tobytes())
    with netCDF4.Dataset("secret.h5", "w") as file:
        put(file, "x", numpy.array([42.0, 43, 44]))
    for name in "pipe", "pipe.h5", "pipe.npz":
        os.mkfifo(name)
    write("two.lehr", MIXTURE)
    ways = [[], ["--stream", "--method", "svi"]]
    hdf5.write("plain.h5", "plain", "x", "")
    for options in ways:
        lehr("fit", "two.lehr", "--data", "y=plain.h5:x", "--out", "x", *options)
    for kind, other in (("external", "secret"), ("external", f"{os.getcwd()}/secret"), ("external", "pipe"), ("virtual", "secret.h5"),
                        ("virtual", "pipe"), ("link", "secret.h5"), ("link", "pipe"), ("link on the way", "secret.h5")):
        path = "link/x" if kind == "link on the way" else "x"
        hdf5.write("outside.h5", kind, path.partition("/")[0], other)
        for options in ways:
            for data in ["y=outside.h5:" + path] + ["y=outside.h5"] * (not options and path == "x"):
                error = lehr("fit", "two.lehr", "--data", data, "--out", "x", *options, code=4).stderr
                assert "error: its numbers are in another file, which is not read" in error, (kind, other, options, error)
    assert "regular file" in lehr("fit", "two.lehr", "--data", "y=pipe.h5:x", "--stream", "--method", "svi", "--out", "x", code=4).stderr
    assert "regular file" in lehr("fit", "two.lehr", "--data", "y=pipe.npz", "--stream", "--method", "svi", "--out", "x", code=4).stderr
    lehr("fit", "two.lehr", "--data", "y=plain.h5:x", "--method", "gibbs", "--warmup", "2", "--draws", "4", "--out", "chains")
    hdf5.write("chains/draws.nc", "external", "x", f"{os.getcwd()}/pipe")
    content = read("chains/draws.nc", "rb")
    text = read_json("chains/fit.json")
    text["files"]["draws.nc"] = {"size": len(content), "crc32": zlib.crc32(content)}
    write_json("chains/fit.json", text)
    error = lehr("show", "chains", "m", "--format", "csv", code=4).stderr
    assert "draws.nc: error: not a file of draws: parts of it are in another file" in error, error


def tables():
    text = read(f"{ROOT}/compiler/commands/starters/gmm.csv")
    model = [f"{ROOT}/compiler/commands/starters/gmm.lehr"]
    wanted = posterior(*model, "--data", f"x={ROOT}/compiler/commands/starters/gmm.csv")
    forms = {"tabs.tsv": text.replace(",", "\t"), "tabs.csv": text.replace(",", "\t"), "semicolons.csv": text.replace(",", ";"),
             "decimal.csv": text.replace(",", ";").replace(".", ",")}
    for name, content in forms.items():
        write(name, content)
        assert posterior(*model, "--data", f"x={name}") == wanted, name
    for content in [text, forms["tabs.tsv"], forms["decimal.csv"]]:
        assert posterior(*model, "--data", "x=-", input=content) == wanted
        assert posterior(*model, "--data", "x=-:a,b", input=content) == wanted
    write("two.lehr", "model m { plate n; data a[n] : real; w ~ Normal(mean = 0, precision = 1); observe b[n] ~ Normal(mean = w * a[n], precision = 1); }")
    named = posterior("two.lehr", "--data", f"{ROOT}/compiler/commands/starters/gmm.csv")
    assert posterior("two.lehr", "--data", "-", input=text) == named
    assert posterior("two.lehr", "--data", "a=-:a", "--data", "b=-:b", input=text) == named
    error = lehr("fit", "two.lehr", "--data", "-", "--out", "x", code=4, input="a,b\n1,x\"\n1,2,3\n").stderr
    assert error.startswith("-:3:1: error: the row has 3 fields"), error


def single_column():
    """One column of a table is a vector, and columns of one; a number that is none is not passed over."""
    rows = ["1.0,u", "2.5,v", "4.0,u", "5.5,u"]
    write_lines("one.csv", ["hours,kind"] + rows)
    write("two.lehr", "model m { plate n; plate d; data x[n] : vector over d; w ~ MvNormal(mean = 0, precision = 1) over d;"
          " observe y[n] ~ Normal(mean = dot(w, x[n]), precision = 1); }")
    write("scalar.lehr", "model m { plate n; data x[n] : real; w ~ Normal(mean = 0, precision = 1); observe y[n] ~ Normal(mean = w * x[n], precision = 1); }")
    data = ["--data", "x=one.csv:hours", "--data", "y=one.csv:hours"]
    posterior("two.lehr", *data)
    assert '"d": [\n' in (text := read("out/fit.json")) and '"hours"' in text, text
    vector = arrays("out/posterior.npz")["w.mean"]
    lehr("predict", "out", "--data", "x=one.csv:hours", "--out", "p.csv")
    posterior("scalar.lehr", *data)
    numpy.testing.assert_allclose(vector, [arrays("out/posterior.npz")["w.mean"]], rtol=1e-12)
    write_lines("gap.csv", ["a,b"] + [f"{k},{'n/a' if k == 2 else k}" for k in range(5)])
    error = lehr("fit", "two.lehr", "--data", "x=gap.csv", "--data", "y=gap.csv:a", "--out", "x", code=4).stderr
    assert error.startswith("gap.csv:4:3: error: 'n/a' is not a number, in column 'b'") and "x=file.csv:a,b" in error, error


def columns():
    """Columns are those of the fit by their names, not by their places; other names stand for them in their order."""
    starter = f"{ROOT}/compiler/commands/starters/gmm"
    rows = [line.split(",") for line in read(f"{starter}.csv").split()]
    write_lines("swapped.csv", [f"{b},{a}" for a, b in rows])
    write_lines("renamed.csv", ["u,v"] + [",".join(row) for row in rows[1:]])
    write_lines("other.csv", ["b,v"] + [",".join(row) for row in rows[1:]])
    lehr("fit", f"{starter}.lehr", "--data", f"x={starter}.csv", "--out", "named")

    def predicted(data):
        lehr("predict", "named", "--data", f"x={data}", "--out", "p.csv")
        return read("p.csv")
    wanted = predicted(f"{starter}.csv")
    for data in (f"{starter}.csv:b,a", "swapped.csv", "renamed.csv"):
        assert predicted(data) == wanted, data
    for command in ("predict", "score", "diagnose"):
        error = lehr(command, "named", "--data", "x=other.csv", code=4).stderr
        assert "'v' is no element of plate 'dim'" in error and "its elements are a, b" in error, error
    write("names.txt", "b\na\n")
    labelled = posterior(f"{starter}.lehr", "--data", f"x={starter}.csv", "--labels", "dim=names.txt")
    assert labelled == posterior(f"{starter}.lehr", "--data", "x=swapped.csv")
    write("films.lehr", "model m { plate u; plate f; m[f] ~ Normal(mean = 0, precision = 1); observe x[u, f] ~ Normal(mean = m[f], precision = 1); }")
    write_lines("two.csv", ["a,b", "1,5", "2,6"])
    write_lines("three.csv", ["c,b,a", ",5,1", ",6,2"])
    lehr("fit", "films.lehr", "--data", "x=two.csv", "--out", "named")
    said = lehr("predict", "named", "--data", "x=three.csv", "--out", "p.csv").stderr
    assert "'f' has 1 element that the fit has not seen ('c')" in said, said
    lines = [line.split(",")[:3] for line in read("p.csv").splitlines() if line.startswith(("m,", "x,"))]
    assert lines == [["m", "c", ""], ["x", "c", "0"], ["x", "c", "1"]]
    # A column of covariates that the fit does not know may be one of something else.
    write("slopes.lehr", "model m { plate n; plate k; data x[n, k] : real; w[k] ~ Normal(mean = 0, sd = 3);"
          " observe y[n] ~ Normal(mean = sum(k) w[k] * x[n, k], sd = 1); }")
    write_lines("slopes.csv", ["a,b,y", "1,0,10", "0,1,20", "1,1,30"])
    write_lines("year.csv", ["a,year,b", "1,2020,0"])
    lehr("fit", "slopes.lehr", "--data", "x=slopes.csv:a,b", "--data", "y=slopes.csv:y", "--out", "named")
    error = lehr("predict", "named", "--data", "x=year.csv", "--out", "p.csv", code=4).stderr
    assert "'year' is no element of plate 'k', and others of the columns are" in error and "--sizes k=+1" in error, error
    lehr("predict", "named", "--data", "x=year.csv", "--sizes", "k=+1", "--out", "p.csv")
    assert read("p.csv").splitlines()[1].startswith("w,year,"), read("p.csv")


def gaps():
    """--drop-missing fits what a file without the incomplete rows would give; a series keeps its gaps."""
    rows = ["1,2,u", "NA,3,v", "4,,u", "5,6,v", "7,8,"]
    write_lines("gaps.csv", ["a,b,s"] + rows)
    write_lines("whole.csv", ["a,b,s"] + rows[:1] + rows[3:])
    model = "model m {{ plate n{}; plate k = 2; data a[n] : real; w ~ Normal(mean = 0, precision = 1); p ~ Dirichlet(concentration = 1) over k; s[n] ~ Categorical(p); m[k] ~ Normal(mean = 0, precision = 1); observe b[n] ~ Normal(mean = w * a[n] + m[s[n]], precision = 1); }}"
    write("gaps.lehr", model.format(""))
    write("series.lehr", model.format(" ordered"))
    lehr("fit", "gaps.lehr", "--data", "gaps.csv", "--out", "x", code=4)
    whole = posterior("gaps.lehr", "--data", "whole.csv")
    assert posterior("gaps.lehr", "--data", "gaps.csv", "--drop-missing") == whole
    said = lehr("fit", "gaps.lehr", "--data", "gaps.csv", "--drop-missing", "--out", "x").stderr
    assert "--drop-missing: 2 of 5 elements of 'n' are left out" in said, said
    lehr("diagnose", "x", "--data", "gaps.csv", "--drop-missing", "--draws", "100", "--most", "0")
    error = lehr("fit", "series.lehr", "--data", "gaps.csv", "--drop-missing", "--out", "x", code=4).stderr
    assert "gaps.csv, column 'a': error: elements of 'n' with missing values cannot be left out: it is ordered" in error, error
    series = ["--data", f"{ROOT}/models/data/sequences/us_gnp_gaps.csv"]
    lehr("fit", f"{ROOT}/models/sequences/markov_switching.lehr", *series, "--max-iter", "5", "--out", "x")
    said = lehr("predict", "x", *series, "--out", "p.csv").stderr
    assert "note: gaps of 'growth' belong to the fit, whose posterior has them" in said, said
    write_lines("none.csv", ["a,b", "1,", ",2"])
    error = lehr("fit", "gaps.lehr", "--data", "none.csv", "--drop-missing", "--out", "x", code=4).stderr
    assert "every element of 'n' has missing values" in error, error


def changed_bytes():
    """Whatever its bytes, a file is read or refused: what crashes the library of HDF5 or NetCDF does not end the program."""
    random = numpy.random.default_rng(3)
    write("normal.lehr", "model m { plate n; mu ~ Normal(mean = 0, precision = 1); observe x[n] ~ Normal(mean = mu, precision = 1); }")
    with netCDF4.Dataset("whole.h5", "w") as file:
        file.createDimension("n", 50)
        file.createVariable("x", "f8", ("n",), zlib=True)[:] = numpy.arange(50.0)
        put(file.createGroup("g"), "names", list("abcdefg"))
    lehr("fit", "normal.lehr", "--data", "whole.h5", "--method", "gibbs", "--draws", "20", "--warmup", "5", "--quiet", "--out", "drawn")
    for name, to, tries, words in (
            ("whole.h5", "bad.h5", 80, ["fit", "normal.lehr", "--max-iter", "0", "--search", "none", "--out", "x", "--data", "bad.h5"]),
            ("drawn/draws.nc", "drawn/draws.nc", 20, ["report", "drawn", "--out", "report.html"])):
        whole = read(name, "rb")
        for _ in range(tries):
            content = bytearray(whole)
            for at in random.integers(0, len(content), random.integers(1, 5)):
                content[at] = random.choice([0, 255, content[at] ^ (1 << random.integers(8)), random.integers(256)])
            write(to, bytes(content))
            done = lehr(*words, code=None, timeout=100)
            assert done.returncode in (0, 4), (done.returncode, done.stderr)


with temporary() as directory:
    os.chdir(directory)
    for test in [tables, single_column, columns, sparse, gaps, damaged, changed_bytes, outside, twice]:
        test()
print("ok")
