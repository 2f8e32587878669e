#!/usr/bin/env python3
"""An installed Lehr, in a prefix or from its Debian packages, used from a directory outside the repository: the command, the
CMake package, pkg-config, and the examples. Exit code 77: a tool is not installed.

usage: install_test.py BUILD prefix|packages, from the root of the repository
"""
import glob
import os
import re
import shutil
import sys

import numpy as np

import dynamic_test
import lehr_tests
from lehr_tests import ROOT, arrays, need, read, temporary, write

BUILD = os.path.abspath(sys.argv[1])
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(*command, **environment):
    return lehr_tests.run(*command, env={**os.environ, **environment}).stdout


def libraries(path):
    return set(re.findall(r"NEEDED.*\[(.*?)\.so", run("readelf", "-d", path)))


def check_mixture(prefix, out):
    """The example with Eigen: the ELBO of `lehr fit`, and the two kinds of eruptions that single out short ones."""
    rows = np.loadtxt(f"{prefix}/share/lehr/models/data/mixtures/faithful.csv", delimiter=",", skiprows=1)
    scaled = (rows - rows.mean(0)) / rows.std(0)
    held_out = len(rows) // 5
    np.save("train.npy", scaled[held_out:])
    fit = run(f"{prefix}/bin/lehr", "fit", f"{prefix}/share/lehr/models/mixtures/gmm.lehr", "--data", "x=train.npy", "--set", "K=4",
              "--restarts", "3", "--out", "fit")
    elbos = dict(re.findall(r"^(\w+) +ELBO (-?[\d.]+)", out, re.M))
    assert abs(float(elbos["plain"]) - float(re.search(r"ELBO (-?[\d.]+)", fit)[1])) < 2e-3, (out, fit)
    assert float(elbos["annealed"]) >= float(elbos["plain"]) and len(elbos) == 3, out

    short = rows[:held_out, 0] < 3
    found = {round(float(m[1]), 2): int(m[0]) for m in re.findall(r"^(\d+) new points at (-?[\d.]+)", out, re.M)}
    below = sum(n for mean, n in found.items() if mean < 0)
    assert sum(found.values()) == held_out and abs(below - short.sum()) <= 1, (out, short.sum())

    # Two Gaussians fitted to the two kinds by their moments score nearly the same: no prior, no latent variables.
    training, kinds = scaled[held_out:], rows[held_out:, 0] < 3
    density = 0
    for kind in (kinds, ~kinds):
        x = training[kind]
        difference = scaled[:held_out] - x.mean(0)
        precision = np.linalg.inv(np.cov(x.T))
        density = density + kind.mean() * np.sqrt(np.linalg.det(precision)) / (2 * np.pi) * np.exp(
            -0.5 * np.einsum("ni,ij,nj->n", difference, precision, difference))
    score = float(re.search(r"held out: (-?[\d.]+)", out)[1])
    assert abs(score - np.log(density).mean()) < 0.1, (score, np.log(density).mean())


def examples(prefix):
    """The examples, and that a model is built again when it has changed and not otherwise."""
    shutil.copytree(f"{prefix}/share/lehr/examples", "examples")
    shutil.copytree(f"{prefix}/share/lehr/models", "models")
    run("cmake", "-S", "examples", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_FLAGS={' '.join(WARNINGS)}")
    assert "lehr build gmm" in run("cmake", "--build", "build")
    assert "lehr build gmm" not in run("cmake", "--build", "build")
    before = run("build/stream", "20000")
    assert re.search(r"in \d+ bytes", before), before
    assert libraries("build/stream") == {"libm", "libc"}, libraries("build/stream")
    assert "ELBO" in run("build/ranges_threads", "8")
    check_mixture(prefix, run("build/mixture", "models/mixtures/gmm.lehr", "models/data/mixtures/faithful.csv"))

    write("models/mixtures/gmm.lehr", read("models/mixtures/gmm.lehr").replace("alpha0 = 0.1", "alpha0 = 5"))
    assert "lehr build gmm" in run("cmake", "--build", "build")
    changed = run("build/stream", "20000")
    assert changed != before
    write("examples/CMakeLists.txt", read("examples/CMakeLists.txt").replace("SET K=8", "SET K=8 alpha0=0.1"))
    assert "lehr build gmm" in run("cmake", "--build", "build")
    assert run("build/stream", "20000") == before

    run(f"{prefix}/bin/lehr", "build", "models/mixtures/gmm.lehr", "-o", "gmm", "--shared", "--set", "K=4", "--sizes", "dim=2")
    assert "eruptions" in run("/usr/bin/python3", "examples/python/faithful.py", "./gmm.so", "models/data/mixtures/faithful.csv")


def command(prefix):
    version = run(f"{prefix}/bin/lehr", "--version").strip()
    models = f"{prefix}/share/lehr/models"
    run(f"{prefix}/bin/lehr", "fit", f"{models}/distributions/coin.lehr", "--data", f"{models}/data/distributions/coin.csv", "--out", "coin")
    posterior = arrays("coin/posterior.npz")
    assert posterior["p.a"] == 15 and posterior["p.b"] == 7, posterior
    return version


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", read(f"{ROOT}/{page}"), re.S)


def watched(program):
    """A fit that is watched, as docs/library.md has it, after the compilation of its first program."""
    part = next(b for b in blocks("docs/library.md", "cpp") if "bar.show" in b)
    head, tail = program.split("int main() {")
    head = head.replace("plate throw;", "plate n; plate dim;").replace("x[throw] ~ Bernoulli(p)", "x[n, dim] ~ Bernoulli(p)")
    return f"""#include <Eigen/Dense>
{head}
struct Bar {{
  int shown = 0;
  void show(std::int64_t, std::int64_t, double) {{ ++shown; }}
}} bar;
const bool stop_button = false;

int main() {{
  const lehr::Compilation coin = lehr::compile(kCoin, {{.name = "coin"}});
  const lehr::Program& program = *coin.program;
  const Eigen::Matrix2d points{{{{1, 0}}, {{1, 1}}}};
  {part}
  std::printf("%d", fit ? bar.shown : 0);
  return 0;
}}
"""


def cmake_files(prefix):
    """The files for CMake of the pages, in one: a program with the library, one with a model, one with both."""
    (first, topics), (both,) = blocks("docs/library.md", "cmake"), blocks("README.md", "cmake")
    lines = [line for block in (topics, both) for line in block.splitlines() if not line.startswith("find_package")]
    os.mkdir("projects")
    os.symlink(f"{ROOT}/models", "projects/models")
    for name, text in (("coin", read("coin.cpp")), ("server", '#include "topics.h"\nint main() { return LDA_ABI == 0; }\n'),
                       ("app", '#include "gmm.hpp"\n#include "lehr/lehr.h"\nint main() { return GMM_ABI == 0; }\n')):
        write(f"projects/{name}.cpp", text)
    write("projects/CMakeLists.txt", first + "add_executable(server server.cpp)\nadd_executable(app app.cpp)\n" + "\n".join(lines) + "\n")
    run("cmake", "-S", "projects", "-B", "projects/build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", "projects/build")
    for name in "coin", "server", "app":
        run(f"projects/build/{name}")


def pkg_config(prefix, version):
    """The first program of docs/library.md, as it stands there, with the prediction at its end, and what they say there."""
    page = read(f"{prefix}/share/lehr/docs/library.md")
    (program, printed), (more, said) = re.findall(r"```cpp\n([^`]*)```\n\n```text\n([^`]*)```", page)
    end = "  return 0;\n}\n"
    assert program.endswith(end), program
    program, printed = program.removesuffix(end) + more + end, printed + said
    write("coin.cpp", program)
    write("watched.cpp", watched(program))
    here = {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    flags = run("pkg-config", "--cflags", "--libs", "lehr", **here).split()
    run("c++", "-std=c++20", *WARNINGS, "coin.cpp", "-o", "first_program", *flags)
    assert run("./first_program", LD_LIBRARY_PATH=f"{prefix}/lib") == printed
    run("c++", "-std=c++20", *WARNINGS, "-isystem", "/usr/include/eigen3", "watched.cpp", "-o", "watched", *flags)
    assert int(run("./watched", LD_LIBRARY_PATH=f"{prefix}/lib")) > 1
    assert "lehr " + run("pkg-config", "--modversion", "lehr", **here).strip() == version


def no_traces(prefix):
    """Nothing that was installed knows where it was built."""
    for folder, _, names in os.walk(f"{prefix}/lib"):
        for name in names:
            assert BUILD.encode() not in read(os.path.join(folder, name), "rb"), os.path.join(folder, name)
    loaded = dynamic_test.loaded_in(prefix)
    assert len(loaded) >= 4, loaded  # the command, the library, and what they load
    dynamic_test.check(loaded)
    for path in loaded:
        assert not re.search("RPATH|RUNPATH", run("readelf", "-d", path)), path


def prefix():
    """Installed as docs/library.md says, and then moved."""
    need("cmake", "c++", "pkg-config")
    os.mkdir("docs")
    for name, target in (("build", BUILD), ("models", f"{ROOT}/models"), ("examples", f"{ROOT}/examples")):
        os.symlink(target, f"docs/{name}")
    assert "held out" in run("sh", "-ec", "cd docs\nPWD=$(pwd)\n" + "".join(blocks("docs/library.md", "sh")))
    os.rename("docs/out/lehr", "moved")
    at = os.path.abspath("moved")
    version = command(at)
    no_traces(at)
    pkg_config(at, version)
    cmake_files(at)
    examples(at)


def packages():
    need("cpack", "dpkg-deb", "dpkg-shlibdeps", "dpkg-query")
    run("cpack", "--config", f"{BUILD}/CPackConfig.cmake", "-B", os.path.abspath("packages"))
    files = {re.match(r"(.*?)_", os.path.basename(p))[1]: p for p in glob.glob("packages/*.deb")}
    assert set(files) == {"lehr", "lehr-dev"}, files
    field = lambda package, name: run("dpkg-deb", "-f", files[package], name).strip()
    contents = {p: run("dpkg-deb", "-c", files[p]) for p in files}
    for expected in ("./usr/bin/lehr", "./usr/lib/liblehr.so.0", "./usr/share/lehr/models/topics/lda.lehr",
                     "./usr/share/lehr/docs/language.md", "./usr/share/man/man1/lehr.1",
                     "./usr/share/bash-completion/completions/lehr"):
        assert expected in contents["lehr"] and expected + "\n" not in contents["lehr-dev"], expected
    for expected in ("./usr/include/lehr/lehr.h", "./usr/lib/cmake/Lehr/LehrConfig.cmake", "./usr/lib/pkgconfig/lehr.pc",
                     "./usr/lib/liblehr.so ->", "./usr/share/lehr/examples/"):
        assert expected in contents["lehr-dev"] and expected not in contents["lehr"], expected
    depends = re.findall(r"([\w.+-]+)(?: \(.*?\))?(?:, |$)", field("lehr", "Depends"))
    assert {"libllvm19", "libc6", "libstdc++6", "libfmt9", "zlib1g", "libzip4", "libnetcdf19", "libhdf5-103-1"} <= set(depends), depends
    for package in depends:
        assert "installed" in run("dpkg-query", "-W", "-f=${db:Status-Status}", package), package
    version = field("lehr", "Version")
    assert field("lehr-dev", "Depends") == f"lehr (= {version})"

    for path in files.values():
        run("dpkg-deb", "-x", path, "root")
    at = os.path.abspath("root/usr")
    assert command(at) == f"lehr {version}"
    no_traces(at)
    examples(at)


if __name__ == "__main__":
    with temporary() as directory:
        os.chdir(directory)
        {"prefix": prefix, "packages": packages}[sys.argv[2]]()
