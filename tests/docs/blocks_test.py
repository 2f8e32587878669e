#!/usr/bin/env python3
"""Every block of code in README.md and docs/ is run by some test: this one checks what is in the language of models, and knows
which test has the others. Blocks of `text` are what programs print. Every option that a page names is in the help of a command.

usage: blocks_test.py LEHR, from the root of the repository
"""
import glob
import os
import re
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import read, run, temporary, write  # noqa: E402

# Commands and sessions: tests/cli/pages/docs_test.py.
SHELL = ("sh", "console")
PROGRAMS = {
    ("c", "docs/embedding.md"): "tests/embedding/programs.py",
    ("cpp", "docs/embedding.md"): "tests/embedding/programs.py",
    ("cpp", "docs/library.md"): "tests/install/install_test.py",
    ("cmake", "docs/library.md"): "tests/install/install_test.py",
    ("cmake", "README.md"): "tests/install/install_test.py",
    ("python", "docs/python.md"): "tests/python/docs_test.py",
    ("python", "docs/output.md"): "tests/cli/pages/docs_test.py",
    ("python", "docs/scale.md"): "tests/cli/runs/shards_test.py",
}
# What surrounds parts of models, by their first words.
AROUND = {
    "const K = 3;": """plate n; plate topic = K; p ~ Dirichlet(concentration = a0) over topic; m ~ Normal(mean = beta0, sd = alpha);
        observe y[n] ~ Categorical(p); observe x[n] ~ Normal(mean = m, sd = 1);""",
    "mu[k]        ~": """plate n; plate k = 2; plate doc; plate topic = 3; plate dim; pi ~ Dirichlet(concentration = 1) over k;
        z[n] ~ Categorical(pi); tau ~ Gamma(shape = 1, rate = 1);""",
    "b            ~": """plate n; plate d; plate q = 2; plate k = 2; A[d] ~ MvNormal(mean = 0, precision = 1) over q;
        h[n] ~ MvNormal(mean = 0, precision = 1) over q; tau[d] ~ Gamma(shape = 1, rate = 1); pi ~ Dirichlet(concentration = 1) over k;
        rate[k] ~ Gamma(shape = 1, rate = 1) over d; z[n] ~ Categorical(pi);""",
    "data x[n] : real;": """plate n; plate rating; plate person; plate doc; plate d; mu ~ Normal(mean = 0, sd = 1);
        observe y[n] ~ Normal(mean = mu, sd = 1);""",
    "  theta[doc] ": """const alpha = 1; plate doc; plate token in doc; plate topic = 2; plate term;
        beta[topic] ~ Dirichlet(concentration = 1) over term;""",
}
# Options of other programs: cmake, ctest, pkg-config, Slurm, and scripts of bench/ and tests/.
OTHERS = set("""--answers --array --build --cells --cflags --checks --components --corpora --count --datasets --full --inits --install --kinds --levels
 --libs --man --methods --ntasks --prefix --preset --quick --runs --sets --step --test-dir --topics --wait --wrap""".split())
COMMAND = re.compile(r"^(\$ |lehr [a-z]+ [a-z./]*\S|scripts/|cmake |mpirun |python3 )")


def check(lehr, block, folder):
    """The messages of a model, or of a part of one in what surrounds it."""
    if "model " not in block:
        around = [text for words, text in AROUND.items() if block.startswith(words)]
        if len(around) != 1:
            return "nothing is known that surrounds this part of a model"
        block = f"model part {{ {around[0]}\n{block} }}"
    write(f"{folder}/block.lehr", block)
    done = run(lehr, "check", f"{folder}/block.lehr", code=None)
    return None if done.returncode == 0 else done.stderr


def wrong(lehr, page, language, block, folder):
    if language == "lehr":
        return check(lehr, block, folder)
    if language == "text":
        return "a command that is marked as text" if any(COMMAND.match(line) for line in block.splitlines()) else None
    if language in SHELL or (language, page) in PROGRAMS:
        return None
    return f"no test runs `{language}` of this page"


def unknown_options(lehr, pages):
    """Options that a page names and no command of lehr, nor another program, has."""
    names = re.findall(r"`lehr ([a-z-]+)", read("docs/commands.md").partition("|---|")[2])
    calls = [["--help"], *([name, "--help"] for name in dict.fromkeys(names))]
    helps = "".join(run(lehr, *call).stdout for call in calls)
    options = set(re.findall(r"--[a-z][a-z-]*", helps)) | OTHERS
    for page in pages:
        text = read(page)
        known = set(options)
        for script in set(re.findall(r"(?:bench|scripts|tests)/[\w/.-]+\.py", text)):
            if os.path.exists(script):
                known |= set(re.findall(r"--[a-z][a-z-]*", read(script)))
        for option in sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) - known):
            yield f"{page}: no command has {option}"


def main():
    lehr, failed, seen = os.path.abspath(sys.argv[1]), 0, 0
    pages = ["README.md", "CONTRIBUTING.md"] + sorted(glob.glob("docs/**/*.md", recursive=True))
    for message in unknown_options(lehr, pages):
        failed += 1
        print(message)
    with temporary() as folder:
        for page in pages:
            blocks = re.findall(r"^```(\w*)\n(.*?)^```$", read(page), re.S | re.M)
            for language, block in blocks:
                seen += 1
                if message := wrong(lehr, page, language, block, folder):
                    failed += 1
                    print(f"{page}: {message}\n{block}")
    print(f"{seen - failed} of {seen} blocks")
    sys.exit(1 if failed or seen < 100 else 0)


main()
