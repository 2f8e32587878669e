#!/usr/bin/env python3
"""Names of elements: numbers that are names, in one table or several, beside words or without; names of columns and of rows in
other orders. Every posterior mean is compared with the closed form for the right match.

Usage: names_test.py LEHR, from the root of the repository
"""
import csv
import sys

import numpy

sys.path.append(f"{sys.path[0]}/../../helpers")
from lehr_tests import LEHR, each, read_json, run, write, write_json  # noqa: E402

PEOPLE = """model people {
  plate n;
  plate person;
  data of[n] : person;
  data age[person] : real;
  mu[person] ~ Normal(mean = age[person], sd = 10);
  observe y[n] ~ Normal(mean = mu[of[n]], sd = 1);
}"""
GROUPS = """model groups {
  plate n;
  plate g;
  data of[n] : g;
  mu[g] ~ Normal(mean = 0, sd = 10);
  observe y[n] ~ Normal(mean = mu[of[n]], sd = 1);
}"""


def lehr(*arguments, code=0):
    return run(LEHR, *arguments, code=code)


def means(directory, variable):
    """The posterior means by the name of the element."""
    header, *rows = csv.reader(lehr("show", directory, variable, "--format", "csv").stdout.splitlines())
    return {row[1]: float(row[header.index("mean")]) for row in rows}


def posterior(values, prior):
    """The mean of a Normal with prior N(prior, 10^2), given values of sd 1."""
    return (prior / 100 + sum(values)) / (0.01 + len(values))


def close(found, right, where):
    assert set(found) == set(right), (where, found, right)
    for name, x in right.items():
        assert abs(found[name] - x) < 1e-4 * (1 + abs(x)), (where, name, found, right)


def joined(d):
    """Ids in both tables, whatever they look like and however the lines stand."""
    model = write(f"{d}/people.lehr", PEOPLE)
    for k, ids in enumerate([["2", "0", "1", "5"], ["1224", "9586", "1288", "2000"], ["10000000001", "10000000002", "10000000003", "3"],
                             ["2", "1", "0", "bob"], ["ann", "bob", "eve", "tom"]]):
        ages = dict(zip(ids, [300, 100, 50, 7]))
        people = write(f"{d}/people{k}.csv", "person,age\n" + "".join(f"{i},{a}\n" for i, a in ages.items()))
        for order in [[0, 1, 1, 2, 0], [2, 2, 1, 0, 1]]:
            y = dict(zip(range(5), [10, 20, 30, 12, 14]))
            rows = write(f"{d}/rows{k}.csv", "of,y\n" + "".join(f"{ids[order[j]]},{y[j]}\n" for j in y))
            lehr("fit", model, "--data", people, "--data", rows, "--quiet", "--out", f"{d}/joined")
            right = {i: posterior([y[j] for j in y if ids[order[j]] == i], a) for i, a in ages.items()}
            close(means(f"{d}/joined", "mu"), right, (ids, order))


def joined_wrongly(d):
    model = write(f"{d}/people.lehr", PEOPLE)
    rows = write(f"{d}/rows.csv", "of,y\n0,1\n1,2\n2,3\n")
    for lines, complaint in [("2,1\n0,2\n3,3\n", "no line is that of person 1"), ("2,1\n2,2\n1,3\n", "two lines are those of person 2")]:
        people = write(f"{d}/wrong.csv", "person,age\n" + lines)
        error = lehr("fit", model, "--data", people, "--data", rows, "--out", f"{d}/wrong", code=4).stderr
        assert complaint in error, error


def leading_zeros(d):
    """Quoted numbers with leading zeros are names as they stand, and other elements than those without; unquoted ones are numbers."""
    model, y = write(f"{d}/zeros.lehr", GROUPS), [10, 20, 30, 40]
    ids = ["007", "7", "007", "12"]
    rows = write(f"{d}/zeros.csv", "of,y\n" + "".join(f'"{i}",{v}\n' for i, v in zip(ids, y)))
    lehr("fit", model, "--data", rows, "--quiet", "--out", f"{d}/zeros")
    close(means(f"{d}/zeros", "mu"), {"007": posterior([10, 30], 0), "7": posterior([20], 0), "12": posterior([40], 0)}, ids)
    new = write(f"{d}/new.csv", 'of\n"7"\n"007"\n')
    lehr("predict", f"{d}/zeros", "--data", new, "--out", f"{d}/new.json")
    assert numpy.allclose(read_json(f"{d}/new.json")["y.mean"], [posterior([20], 0), posterior([10, 30], 0)], rtol=1e-6)
    rows = write(f"{d}/plain.csv", "of,y\n" + "".join(f"{i},{v}\n" for i, v in zip(["01", "1", "0", "00"], y)))
    lehr("fit", model, "--data", rows, "--quiet", "--out", f"{d}/plain")
    close(means(f"{d}/plain", "mu"), {"0": posterior([30, 40], 0), "1": posterior([10, 20], 0)}, "numbers")


def digits_and_words(d):
    """A column of digits beside one of words: both are names."""
    model = write(f"{d}/teams.lehr", """model teams {
      plate n; plate team;
      data home[n] : team; data away[n] : team;
      s[team] ~ Normal(mean = 0, sd = 10);
      observe y[n] ~ Normal(mean = s[home[n]] + 0 * s[away[n]], sd = 1);
    }""")
    table = write(f"{d}/teams.csv", "home,away,y\n1,2,5\nx,0,7\n1,2,6\n")
    lehr("fit", model, "--data", table, "--quiet", "--out", f"{d}/teams")
    close(means(f"{d}/teams", "s"), {"0": 0, "1": posterior([5, 6], 0), "2": 0, "x": posterior([7], 0)}, "teams")


def later_data(d):
    """New data of a fit whose names look like numbers, or that has no names."""
    model = write(f"{d}/groups.lehr", GROUPS)
    first = write(f"{d}/first.csv", "of,y\n1,10\n10,20\n2,30\nx,40\n")
    lehr("fit", model, "--data", first, "--quiet", "--out", f"{d}/named")
    new = write(f"{d}/new.csv", "of,y\n1,10\n2,30\n")
    lehr("score", f"{d}/named", "--data", new)
    score = read_json(f"{d}/named/score.json")
    right = sum(-0.5 * numpy.log(2 * numpy.pi) - (y - posterior([y], 0)) ** 2 / 2 for y in (10, 30))  # at posterior means
    assert abs(score["total"] - right) < 1e-6, (score, right)
    unknown = write(f"{d}/unknown.csv", "of,y\n3,10\n")
    assert "'3'" in lehr("score", f"{d}/named", "--data", unknown, code=4).stderr
    numbers = write(f"{d}/numbers.csv", "of,y\n0,10\n1,20\n")
    lehr("fit", model, "--data", numbers, "--quiet", "--out", f"{d}/numbered")
    words = write(f"{d}/words.csv", "of,y\nx,10\ny,20\n")
    for command in ["score", "predict"]:
        error = lehr(command, f"{d}/numbered", "--data", words, code=4).stderr
        assert "numbers in the fit" in error, error


def labelled(d):
    model = write(f"{d}/groups.lehr", GROUPS)
    table = write(f"{d}/postcodes.csv", "of,y\n20095,1\n1067,2\n20095,3\n")
    names = write(f"{d}/names.txt", "20095\n50667\n01067\n")
    lehr("fit", model, "--data", table, "--labels", f"g={names}", "--quiet", "--out", f"{d}/labelled")
    close(means(f"{d}/labelled", "mu"), {"20095": posterior([1, 3], 0), "50667": 0, "01067": posterior([2], 0)}, "labels")
    # Labels that are words, some of them numbers, as in a vocabulary: the numbers of data are positions.
    names = write(f"{d}/vocabulary.txt", "war\n1\npeace\nand\n")
    table = write_json(f"{d}/positions.json", {"of": [0, 3, 2], "y": [1, 2, 3]})
    lehr("fit", model, "--data", table, "--labels", f"g={names}", "--quiet", "--out", f"{d}/positions")
    close(means(f"{d}/positions", "mu"), {"war": posterior([1], 0), "1": 0, "peace": posterior([3], 0), "and": posterior([2], 0)}, "words")


def columns(d):
    """Columns a and b in both orders."""
    two = write(f"{d}/two.lehr", """model two {
      plate n; plate m; plate k;
      w[k] ~ Normal(mean = 0, sd = 10);
      observe x[n, k] ~ Normal(mean = w[k], sd = 1);
      observe z[m, k] ~ Normal(mean = w[k], sd = 1);
    }""")
    x = write(f"{d}/x.csv", "a,b\n10,20\n11,21\n")
    z = write(f"{d}/z.csv", "b,a\n22,12\n")
    lehr("fit", two, "--data", f"x={x}", "--data", f"z={z}", "--quiet", "--out", f"{d}/two")
    close(means(f"{d}/two", "w"), {"a": posterior([10, 11, 12], 0), "b": posterior([20, 21, 22], 0)}, "columns")
    other = write(f"{d}/other.csv", "b,c\n22,12\n")
    assert "'c'" in lehr("fit", two, "--data", f"x={x}", "--data", f"z={other}", "--out", f"{d}/two", code=4).stderr
    words = write(f"{d}/words.lehr", """model words {
      plate n; plate m; plate k;
      data of[m] : k;
      w[k] ~ Normal(mean = 0, sd = 10);
      observe x[n, k] ~ Normal(mean = w[k], sd = 1);
      observe v[m] ~ Normal(mean = w[of[m]], sd = 1);
    }""")
    long = write(f"{d}/long.csv", "of,v\na,12\nb,22\n")
    z = write(f"{d}/wide.csv", "b,a\n20,10\n21,11\n")
    lehr("fit", words, "--data", f"x={z}", "--data", long, "--quiet", "--out", f"{d}/words")
    close(means(f"{d}/words", "w"), {"a": posterior([10, 11, 12], 0), "b": posterior([20, 21, 22], 0)}, "words")
    keyed = write(f"{d}/keyed.lehr", """model keyed {
      plate n; plate k;
      data m[k] : real;
      w[k] ~ Normal(mean = m[k], sd = 10);
      observe x[n, k] ~ Normal(mean = w[k], sd = 1);
    }""")
    keys = write(f"{d}/keys.csv", "k,m\nb,200\na,100\n")
    lehr("fit", keyed, "--data", f"x={x}", "--data", keys, "--quiet", "--out", f"{d}/keyed")
    close(means(f"{d}/keyed", "w"), {"a": posterior([10, 11], 100), "b": posterior([20, 21], 200)}, "keys")


def square(d):
    """Both sides of a covariance follow the names of its columns."""
    model = write(f"{d}/square.lehr", """model square {
      plate n; plate k;
      data S : matrix over k, k;
      mu ~ MvNormal(mean = 0, precision = 0.01) over k;
      observe x[n] ~ MvNormal(mean = mu, covariance = S);
    }""")
    rows = numpy.array([[1.0, 10, 3], [2, 12, 5], [3, 11, 4]])
    covariance = numpy.array([[1, 0.5, 0.2], [0.5, 100, 3], [0.2, 3, 9]])
    precision = numpy.linalg.inv(covariance)
    right = numpy.linalg.solve(0.01 * numpy.eye(3) + 3 * precision, precision @ rows.sum(axis=0))
    x = write(f"{d}/rows.csv", "a,b,c\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))
    for order in [[0, 1, 2], [1, 0, 2], [2, 0, 1]]:
        s = write(f"{d}/s.csv", ",".join("abc"[j] for j in order) + "\n"
                  + "".join(",".join(str(covariance[i, j]) for j in order) + "\n" for i in order))
        lehr("fit", model, "--data", f"x={x}:a,b,c", "--data", f"S={s}", "--quiet", "--out", f"{d}/square")
        close(means(f"{d}/square", "mu"), dict(zip("abc", right)), order)


def said(d):
    """What is only a guess is said."""
    model = write(f"{d}/months.lehr", """model months {
      plate n; plate month ordered;
      data of[n] : month;
      x[month] ~ Normal(mean = x[month-1], sd = 1) start Normal(mean = 0, sd = 10);
      observe y[n] ~ Normal(mean = x[of[n]], sd = 1);
    }""")
    table = write(f"{d}/months.csv", "of,y\nJan,1\nFeb,2\nMar,3\n")
    assert "order of the alphabet" in lehr("fit", model, "--data", table, "--quiet", "--out", f"{d}/months").stderr
    names = write(f"{d}/months.txt", "Jan\nFeb\nMar\n")
    done = lehr("fit", model, "--data", table, "--labels", f"month={names}", "--quiet", "--out", f"{d}/months")
    assert "alphabet" not in done.stderr, done.stderr
    constant = write(f"{d}/constant.lehr", GROUPS.replace("plate n;", "const s = 10; plate n;").replace("sd = 10", "sd = s"))
    data = write_json(f"{d}/constant.json", {"of": [0, 1], "y": [1, 2], "s": 3})
    assert "is not read" in lehr("fit", constant, "--data", data, "--quiet", "--out", f"{d}/constant").stderr
    nested = write(f"{d}/nested.lehr", """model nested {
      plate batch; plate cask in batch; plate n;
      data b[n] : batch; data c[n] : cask; data size[batch, cask] : real;
      mu[batch, cask] ~ Normal(mean = size[batch, cask], sd = 10);
      observe y[n] ~ Normal(mean = mu[b[n], c[n]], sd = 1);
    }""")
    casks = write(f"{d}/casks.csv", "batch,cask,size\nz,1,101\nz,0,100\n")
    uses = write(f"{d}/uses.csv", "b,c,y\nz,0,1\nz,1,2\n")
    error = lehr("fit", nested, "--data", casks, "--data", uses, "--out", f"{d}/nested", code=4).stderr
    assert "sort the lines" in error, error


each(joined, joined_wrongly, leading_zeros, digits_and_words, later_data, labelled, columns, square, said)
