#!/usr/bin/env python3
"""Built models in programs of their own: what they need, what their headers say, and how they behave under the tools that
watch programs. Exit code 77: a tool is not installed.

usage: programs.py LEHR TEST, from the root of the repository
"""
import glob
import math
import os
import re
import sys

sys.path.append(f"{sys.path[0]}/../helpers")
import lehr_tests  # noqa: E402
from lehr_tests import LEHR, ROOT, arrays, model_file, need, read, temporary, write  # noqa: E402

HERE = os.path.join(ROOT, "tests/embedding")
SMALL = ["--set", "K=2", "--sizes", "dim=1"]  # the mixture that walk.c and threads.c want
C = ["cc", "-std=c99", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-I."]


def run(*command, fails=False):
    done = lehr_tests.run(*command, code=None if fails else 0)
    assert (done.returncode != 0) == fails, done
    return done.stdout + done.stderr


def model(name):
    return os.path.join(ROOT, model_file(name))


def build(name, *options, prefix=None):
    return run(LEHR, "build", model(name), "-o", prefix or name, *options)


def undefined(path):
    return {line.split()[-1].split("@")[0] for line in run("nm", "-u", path).splitlines() if line.strip()}


def declared_in(header, name):
    """Functions that the object has; those of the library are defined in the header."""
    return set(re.findall(rf"\b({name}_\w+)\(", read(header).split("#ifdef LEHR_PREDICT_H")[0]))


def exported(path):
    return {line.split()[-1] for line in run("nm", "-g", "--defined-only", path).splitlines() if line.strip()}


# Of joint factors.
SIZES = {"contaminated_regression": "d=3", "least_absolute_deviations": "d=3", "sequential_logistic": "cut=2", "vector_autoregression": "kind=2"}
OVER_ITEMS = {"half_cauchy_schools"}  # one factor with a coordinate for each item: there is no object for any number of them


def every_model():
    """Every model: symbols in and out, and headers that C99 and C++20 compilers take without a warning."""
    allowed = {"exp", "frexp", "ldexp", "memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"}
    built = []
    for path in sorted(glob.glob(os.path.join(ROOT, "models/*/*.lehr"))):
        name = os.path.basename(path)[:-5]
        if name in OVER_ITEMS:
            refused = run(LEHR, "build", path, "-o", name, fails=True)
            assert "of which every data set has its own number" in refused, refused
            continue
        build(name, "--depfile", "deps.d", *(["--sizes", SIZES[name]] if name in SIZES else []))
        needed, given = undefined(name + ".o"), exported(name + ".o")
        assert needed <= allowed, f"{name}: {needed - allowed}"
        assert given and all(s.startswith(name + "_") for s in given), f"{name}: {given}"
        declared = declared_in(name + ".h", name)
        assert given <= declared | {name + "_svi_step"}, f"{name}: {given - declared}"
        assert declared - given <= {name + "_svi_step"}, f"{name}: {declared - given}"
        assert read("deps.d") == f"{name}.o {name}.h {name}.hpp : {path}\n"
        run(*C, "-fsyntax-only", "-x", "c", name + ".h")
        built.append(name)
    write("use.cpp", "".join(f'#include "{name}.hpp"\n' for name in built)
          + f"int main() {{ return {' + '.join(name + '_abi()' for name in built)} == 0; }}\n")
    run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "use.cpp")

    for name in ("coin", "lda", "logistic_regression"):
        build(name, "--method", "gibbs")
        given = exported(name + ".o")
        assert {f"{name}_gibbs_step", f"{name}_draw", f"{name}_log_joint"} <= given and f"{name}_step" not in given
        assert given == declared_in(name + ".h", name), name
        run(*C, "-fsyntax-only", "-x", "c", name + ".h")
        write("use.cpp", f"""#include "{name}.hpp"
              void sample({name}::State& s) {{ s.gibbs_step(1, 2, 3); s.draw(); s.log_joint(); s.load(s.save()); }}""")
        run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "use.cpp")


def processors():
    """Objects for other processors than this one's; no sections that a program could write to."""
    for cpu in ("generic", "x86-64-v2", "x86-64-v3", "x86-64-v4"):
        build("gmm", "--cpu", cpu, "--target", "x86_64-linux-gnu")
    build("gmm", "--target", "aarch64-linux-gnu", "--cpu", "generic")
    assert "AArch64" in run("readelf", "-h", "gmm.o")
    sections = run("readelf", "-SW", "gmm.o")
    for kind in (".data", ".bss"):
        sizes = re.findall(rf" {re.escape(kind)} +\w+ +\w+ +\w+ +(\w+)", sections)
        assert all(int(s, 16) == 0 for s in sizes), sections
    assert "native is this machine" in run(LEHR, "build", model("gmm"), "-o", "x", "--target", "aarch64-linux-gnu", fails=True)
    assert "no processor 'z80'" in run(LEHR, "build", model("gmm"), "-o", "x", "--cpu", "z80", fails=True)
    assert "no machine 'vax'" in run(LEHR, "build", model("gmm"), "-o", "x", "--target", "vax", "--cpu", "generic", fails=True)
    assert "not a 64-bit" in run(LEHR, "build", model("gmm"), "-o", "x", "--target", "i686-linux-gnu", "--cpu", "generic", fails=True)
    assert "no linker" in run(LEHR, "build", model("gmm"), "-o", "x", "--shared", "--linker", "no-such-linker", fails=True)
    assert "no variable 'nu'" in run(LEHR, "build", model("gmm"), "-o", "x", "--missing", "nu", fails=True)
    assert "single values are kept" in run(LEHR, "build", model("gmm"), "-o", "x", "--missing", "Lambda", fails=True)
    needed = run(LEHR, "build", os.path.join(ROOT, "tests/cli/data/counts.lehr"), "-o", "x", fails=True)
    assert "constant 'a' has no value" in needed and "--set a=" in needed


NASTY = """
model int {
  plate new;
  plate t in new;
  plate abi = 2;
  plate linux;
  plate mu0 = 2;
  plate μ₀ = 3;
  data t_offsets[new] : real;
  data int_data[new] : real;
  data int64_t[new] : linux;

  tau               ~ Gamma(shape = 1, rate = 1);
  mu                ~ Normal(mean = 0, precision = 0.1 * tau);
  mu_precision      ~ InverseGamma(shape = 2, scale = 1);
  switch[linux]     ~ Normal(mean = 0, sd = 1);
  μ[μ₀, mu0, abi]  ~ Normal(mean = 0, sd = 1);
  observe ж[new, t]  ~ Normal(mean = sum(μ₀) μ[μ₀, 0, 0], sd = 1);
  observe double[new] ~ Normal(mean = mu, precision = tau);
  observe class[new]  ~ Normal(mean = t_offsets[new] * switch[int64_t[new]] + int_data[new], variance = mu_precision);
  guide joint(mu, tau);
}
"""


def names():
    """Keywords, macros and types of C and C++, other scripts, and names that are alike: legal headers, all different."""
    library = "model gamma { plate time; p ~ Beta(1, 1); observe x[time] ~ Bernoulli(p); }"
    for name, text in (("int", NASTY), ("gamma", library), ("std", library.replace("gamma", "std")), ("INT_MAX", library.replace("gamma", "INT_MAX")),
                       ("stdin", library.replace("gamma", "stdin").replace("time", "EAGAIN").replace("x[", "stdout["))):
        run(LEHR, "build", write("m.lehr", text), "-o", "m")
        for language, standards in (("c", ("c11", "gnu11")), ("c++", ("c++17", "gnu++17"))):
            for standard in standards:
                for with_library in ([], ["-include", os.path.join(ROOT, "compiler/library/predict.h")]):
                    run("cc", f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", *with_library, "-x", language, "m.h")
        given = exported("m.o")
        declared = declared_in("m.h", name)
        assert given == declared and all(s.isascii() for s in given), given ^ declared
        included = "".join(f"#include {header}\n" for header in ("<cerrno>", "<climits>", "<cmath>", "<cstdio>", "<ctime>", '"m.hpp"'))
        write("use.cpp", included + f"int main() {{ return {name}_abi() == 0; }}\n")
        run("c++", "-std=c++20", "-Wall", "-Wextra", "-pedantic", "-Werror", "use.cpp", "m.o", "-o", "use")
        run("./use")


MANY = 12

STACK = """
import ctypes, sys, threading
import numpy as np
vectors, extent = int(sys.argv[1]), int(sys.argv[2])
library = ctypes.CDLL("./many.so")
library.many_state_bytes.restype = library.many_abi.restype = ctypes.c_uint64
x = np.arange(vectors * extent, dtype=float).reshape(vectors, extent) % 7
sizes, data = (ctypes.c_uint64 * 1)(library.many_abi()), (ctypes.c_int64 * vectors)(*(row.ctypes.data for row in x))
memory = np.empty(library.many_state_bytes(sizes), np.uint8)
state, codes, nats = ctypes.c_void_p(memory.ctypes.data), [], ctypes.c_double()
def work():
    codes.append(library.many_init(state, ctypes.c_size_t(memory.size), sizes, data, ctypes.c_uint64(1)))
    codes.append(library.many_step(state, None, ctypes.c_double(1)))
    codes.append(library.many_elbo(state, ctypes.byref(nats)))
threading.stack_size(256 * 1024)
thread = threading.Thread(target=work)
thread.start()
thread.join()
# x = v + noise, both of precision 1, v of mean 0: normal with variance 2
exact = -0.5 * (x.size * np.log(4 * np.pi) + (x ** 2).sum() / 2)
assert codes == [0, 0, 0] and abs(nats.value - exact) < 1e-9 * abs(exact), (codes, nats.value, exact)
"""


def stack():
    """Many matrices at work in a thread with little stack: they are in the memory of the state."""
    line = "v{0} ~ MvNormal(mean = 0, precision = 1) over d;\nobserve x{0} ~ MvNormal(mean = v{0}, precision = 1) over d;\n"
    write("many.lehr", "model many { plate d = 48;\n" + "".join(line.format(v) for v in range(MANY)) + "}\n")
    run(LEHR, "build", "many.lehr", "-o", "many", "--shared")
    run("/usr/bin/python3", write("stack.py", STACK), str(MANY), "48")


def stream():
    """The C example: the four clusters, each of one component or some, in the same memory however long the stream."""
    build("gmm", "--set", "K=8", "--sizes", "dim=2")
    run(*C, os.path.join(ROOT, "examples/stream/stream.c"), "gmm.o", "-lm", "-o", "stream")
    short, long = run("./stream", "20000"), run("./stream", "400000")
    print(long)
    assert re.search(r"in (\d+) bytes", short)[1] == re.search(r"in (\d+) bytes", long)[1]
    found = [tuple(map(float, m)) for m in re.findall(r"([\d.]+) % at \( *(-?[\d.]+), +(-?[\d.]+)\)", long)]
    for x, y in ((-4, -3), (4, -3), (0, 1), (0, 6)):
        near = [(w, a, b) for w, a, b in found if math.hypot(a - x, b - y) < 1.5]
        weight = sum(w for w, _, _ in near)
        assert abs(weight - 25) < 2, (x, y, near)
        assert math.hypot(sum(w * a for w, a, _ in near) / weight - x, sum(w * b for w, _, b in near) / weight - y) < 0.1
    # The entropy of the mixture is 1.386 + 2.838 + 2 E log sd = 3.155 nats a point when the clusters are apart.
    score = float(re.search(r"new points: (-?[\d.]+)", long)[1])
    assert -3.155 - 0.35 < score < -3.155 + 0.35, score


def ranges():
    """The examples with OpenMP and with threads of C++: numbers that depend on the ranges by rounding, and not on threads."""
    build("gmm", "--set", "K=8", "--sizes", "dim=2")
    source = os.path.join(ROOT, "examples/ranges/")
    run(*C, "-fopenmp", source + "openmp.c", "gmm.o", "-lm", "-o", "openmp")
    run("c++", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-I.", "-pthread", source + "threads.cpp", "gmm.o", "-lm",
        "-o", "threads")
    elbos = []
    for count in ("1", "7", "32"):
        printed = {run("env", f"OMP_NUM_THREADS={threads}", "./openmp", count) for threads in (1, 3)}
        printed |= {run("./threads", count, threads) for threads in ("1", "4")}
        assert len(printed) == 1, printed
        elbos.append(float(printed.pop().split()[-1]))
    assert max(elbos) - min(elbos) < 1e-9 * abs(elbos[0]), elbos


def python():
    """The Python example finds the two kinds of eruptions, with the ELBO that `lehr fit` has from the same start."""
    build("gmm", "--shared", "--set", "K=4", "--sizes", "dim=2")
    out = run("/usr/bin/python3", os.path.join(ROOT, "examples/python/faithful.py"), "./gmm.so",
              os.path.join(ROOT, "models/data/mixtures/faithful.csv"))
    print(out)
    sizes = sorted(int(n) for n in re.findall(r"(\d+) eruptions", out))
    assert sum(sizes[-2:]) > 260 and 90 <= sizes[-2] <= 105, sizes
    import numpy as np
    x = np.loadtxt(os.path.join(ROOT, "models/data/mixtures/faithful.csv"), delimiter=",", skiprows=1)
    np.save("x.npy", (x - x.mean(0)) / x.std(0))
    sweeps, elbo = re.search(r"(\d+) sweeps, ELBO (-?[\d.]+)", out).groups()
    fit = run(LEHR, "fit", model("gmm"), "--data", "x=x.npy", "--set", "K=4", "--max-iter", sweeps, "--out", "fit")
    assert abs(float(re.search(r"ELBO (-?[\d.]+)", fit)[1]) - float(elbo)) < 1e-5, fit


def same_bits():
    """What `lehr fit` writes and what the object that `lehr build` writes computes: the same bits."""
    import ctypes
    import numpy as np
    x = np.loadtxt(os.path.join(ROOT, "models/data/mixtures/faithful.csv"), delimiter=",", skiprows=1)
    np.save("x.npy", x)
    run(LEHR, "fit", model("gmm"), "--data", "x=x.npy", "--set", "K=4", "--max-iter", "7", "--seed", "3", "--save-locals",
        "--out", "fit")
    build("gmm", "--shared", "--set", "K=4", "--sizes", "dim=2")
    library = ctypes.CDLL("./gmm.so")
    library.gmm_abi.restype = library.gmm_state_bytes.restype = ctypes.c_uint64
    sizes, data = (ctypes.c_int64 * 2)(library.gmm_abi(), len(x)), (ctypes.c_int64 * 2)(len(x), x.ctypes.data)
    memory = np.empty(library.gmm_state_bytes(sizes), np.uint8)
    state = ctypes.c_void_p(memory.ctypes.data)
    assert library.gmm_init(state, ctypes.c_size_t(memory.size), sizes, data, ctypes.c_uint64(3)) == 0
    for _ in range(7):
        assert library.gmm_step(state, None, ctypes.c_double(1)) == 0
    fitted = arrays("fit/posterior.npz")
    assert len(fitted) == 6
    for name in fitted:
        get = library["gmm_get_" + name.replace(".", "_")]
        get.restype = ctypes.POINTER(ctypes.c_double)
        built = np.ctypeslib.as_array(get(state, None), fitted[name].shape)
        assert built.tobytes() == fitted[name].tobytes(), name


def missing():
    """Missing throws are left out where the object was built for them, and refused otherwise."""
    write("throws.c", """#include <math.h>
#include <stdio.h>
#include "coin.h"
static _Alignas(64) unsigned char memory[1 << 20];
int main(void) {
  const double x[] = {1, NAN, 0, 1, NAN};
  const coin_sizes sizes = {.abi = COIN_ABI, .throw_ = 5};
  const coin_data data = {.throw_ = 5, .x = x};
  int32_t status = coin_init(memory, sizeof memory, &sizes, &data, 1);
  if (status == COIN_OK) status = coin_step(memory, NULL, 1);
  if (status == COIN_OK) printf("Beta(%g, %g)\\n", *coin_get_p_a(memory, NULL), *coin_get_p_b(memory, NULL));
  return (int)status;
}
""")
    for options, expected in ((["--missing", "x"], "Beta(3, 2)\n"), ([], "")):
        build("coin", *options)
        run(*C, "-std=c11", "throws.c", "coin.o", "-lm", "-o", "throws")
        assert lehr_tests.run("./throws", code=0 if expected else 6).stdout == expected


def known():
    """Classes that the caller knows are kept, the others inferred: Bayes' rule with weights 1/2 and means 0 and 1."""
    write("classes.lehr", """model classes {
  plate n;
  plate k = 2;
  data theta : simplex over k;
  data m[k] : real;
  z[n] ~ Categorical(theta);
  observe x[n] ~ Normal(mean = m[z[n]], sd = 1);
}
""")
    write("classes.c", """#include <stdio.h>
#include "classes.h"
static _Alignas(64) unsigned char memory[1 << 20];
int main(void) {
  const double theta[] = {0.5, 0.5}, m[] = {0, 1}, x[] = {0, 0};
  int64_t z[] = {1, -1};
  const classes_sizes sizes = {.abi = CLASSES_ABI, .n = 2};
  const classes_data data = {.n = 2, .theta = theta, .m = m, .x = x, .z = z};
  int32_t status = classes_init(memory, sizeof memory, &sizes, &data, 1);
  if (status == CLASSES_OK) status = classes_step(memory, NULL, 1);
  if (status == CLASSES_OK) {
    const double* p = classes_get_z_probs(memory, NULL);
    printf("%g %g %.6f %.6f\\n", p[0], p[1], p[2], p[3]);
  }
  z[0] = 2;
  return status == CLASSES_OK && classes_step(memory, &data, 1) != CLASSES_OK ? 0 : 1;
}
""")
    run(LEHR, "build", "classes.lehr", "-o", "classes", "--missing", "z")
    run(*C, "-std=c11", "classes.c", "classes.o", "-lm", "-o", "classes")
    one = 1 / (1 + math.exp(-0.5))
    assert lehr_tests.run("./classes").stdout == f"0 1 {one:.6f} {1 - one:.6f}\n"


def item_temperatures():
    """Items with 1 / T of their own weigh as much: of throws of a coin, the posterior is Beta(1 + sum 1/T heads, ...)."""
    write("tempered.c", """#include <stdio.h>
#include "coin.h"
static _Alignas(64) unsigned char memory[1 << 20];
int main(void) {
  const double x[] = {1, 0, 1, 1}, b[] = {0.5, 0.25, 1, 0.125};
  const coin_sizes sizes = {.abi = COIN_ABI, .throw_ = 4};
  const coin_data data = {.throw_ = 4, .inverse_temperature = b, .x = x};
  double e[4];
  int32_t status = coin_init(memory, sizeof memory, &sizes, &data, 1);
  if (status == COIN_OK) status = coin_step(memory, NULL, 1);
  if (status == COIN_OK) status = coin_item_energies(memory, NULL, e, 4);
  printf("%.15g %.15g\\n", *coin_get_p_a(memory, NULL), *coin_get_p_b(memory, NULL));
  for (int i = 0; i < 4; ++i)
    printf("%.15g\\n", e[i]);
  return (int)status;
}
""")
    build("coin", "--item-temperatures")
    run(*C, "-std=c11", "tempered.c", "coin.o", "-lm", "-o", "tempered")
    a, b, *energies = map(float, run("./tempered").split())
    assert (a, b) == (1 + 0.5 + 1 + 0.125, 1 + 0.25)
    from scipy.special import digamma
    head, tail = digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)
    assert all(abs(x - y) < 1e-12 for x, y in zip(energies, (head, tail, head, head), strict=True)), energies
    refused = run(LEHR, "build", model("stochastic_block_model"), "-o", "x", "--item-temperatures", fails=True)
    assert "cannot be tempered" in refused


LOOPS = """#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include "gmm.h"

int main(void) {
  double points[2 * 272];
  for (int i = 0; i < 2 * 272; ++i) points[i] = sin(i) + (i / 2 %% 3 ? 4 : 0);
  const gmm_sizes sizes = {.abi = GMM_ABI, .n = 272};
  const gmm_data data = {.n = 272, .x = points};
  void* state = malloc(gmm_state_bytes(&sizes));
  gmm_init(state, gmm_state_bytes(&sizes), &sizes, &data, 1);
  const size_t bytes = gmm_range_bytes(state);
  char* memory = malloc(bytes * (size_t)omp_get_max_threads());
  (void)memory;
  %s
  gmm_elbo(state, &elbo);
  printf("%%.8g\\n", elbo);
  return 0;
}
"""
BATCHES = """#include <stdio.h>
#include <stdlib.h>
#include "coin.h"

static const double throws[] = {1, 0, 1, 1, 1, 0, 1, 1};
static int next_batch(coin_data* batch) {
  static int at = 0;
  *batch = (coin_data){.throw_ = 2, .x = throws + (at += 2)};
  return at < 8;
}

int main(void) {
  const coin_sizes sizes = {.abi = COIN_ABI, .throw_ = 8};
  const coin_data first = {.throw_ = 2, .x = throws};
  const size_t bytes = coin_state_bytes(&sizes);
  void* state = malloc(bytes);
  coin_data batch;
  %s
  printf("Beta(%%g, %%g)\\n", *coin_get_p_a(state, NULL), *coin_get_p_b(state, NULL));
  free(state);
  return 0;
}
"""
LOOPS_CPP = """#include <cmath>
#include <cstdio>
#include <span>
#include "gmm.hpp"

int main() {
  double points[2 * 272];
  for (int i = 0; i < 2 * 272; ++i) points[i] = std::sin(i) + (i / 2 %% 3 ? 4 : 0);
  %s
  std::printf("%%d %%.8g\\n", static_cast<int>(means.size()), state.elbo());
}
"""


def documented(text):
    """The parts of programs of the page, in programs: all find the same optimum."""
    _, plain, batches, threaded = re.findall(r"```c\n(.*?)```", text, re.S)
    parts = {"plain": plain, "threaded": "double elbo = 0;\nfor (int sweep = 0; sweep < 200; ++sweep) {\n" + threaded + "}"}
    build("gmm", "--set", "K=3", "--sizes", "dim=2")
    elbo = {}
    for name, part in parts.items():
        run(*C, "-fopenmp", write(f"{name}.c", LOOPS % part), "gmm.o", "-lm", "-o", name)
        elbo[name] = float(run(f"./{name}"))
    write("object.cpp", LOOPS_CPP % re.search(r"```cpp\n(.*?)```", text, re.S)[1])
    run("c++", "-std=c++20", "-Wall", "-Werror", "-I.", "object.cpp", "gmm.o", "-lm", "-o", "object")
    numbers, elbo["object"] = map(float, run("./object").split())
    build("coin", "--updates")
    run(*C, write("batches.c", BATCHES % batches), "coin.o", "-lm", "-o", "batches")
    assert run("./batches") == "Beta(7, 3)\n"
    assert numbers == 6 and max(elbo.values()) - min(elbo.values()) < 1e-4 * abs(elbo["plain"]), elbo


def headers():
    """The programs of the documentation, and a program in C++."""
    text = read(os.path.join(ROOT, "docs/embedding.md"))
    write("first.c", re.search(r"```c\n(#include.*?)```", text, re.S)[1])
    build("coin")
    run(*C, "first.c", "coin.o", "-lm", "-o", "first")
    assert run("./first") == "Beta(7, 3)\n"
    documented(text)
    build("gmm", *SMALL)
    run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I.", os.path.join(HERE, "walk.cpp"), "gmm.o", "-lm", "-o", "walk")
    run("./walk")


def walk(*options, wrapper=(), compiler=C):
    build("gmm", *SMALL, *options)
    run(*compiler, "-g", os.path.join(HERE, "walk.c"), "gmm.o", "-lm", "-o", "walk")
    return [float(x) for x in run(*wrapper, "./walk").split()]


def cross():
    """The object for aarch64, run by qemu, against the one for this machine."""
    need("aarch64-linux-gnu-gcc", "qemu-aarch64")
    here = walk()
    there = walk("--target", "aarch64-linux-gnu", "--cpu", "generic", wrapper=["qemu-aarch64"],
                 compiler=["aarch64-linux-gnu-gcc", "-static", *C[1:]])
    assert len(here) == len(there) > 20
    for a, b in zip(here, there):
        assert abs(a - b) <= 1e-7 * (1 + abs(a)), (a, b)


def valgrind():
    """Every function of a header: no error of memory, no value that depends on what was there before."""
    need("valgrind")
    # Memcheck knows no AVX-512.
    walk("--cpu", "x86-64-v3", wrapper=["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"])


def address():
    """The same with every access of the object checked."""
    walk("--sanitize", "address", compiler=[*C, "-fsanitize=address"])


def threads():
    """Two states in two threads, 100,000 steps each, and one with two threads on its items, every access of the object watched."""
    build("gmm", *SMALL, "--sanitize", "thread")
    run(*C, "-g", "-fsanitize=thread", "-pthread", os.path.join(HERE, "threads.c"), "gmm.o", "-lm", "-o", "threads")
    run("./threads", "100000")


TESTS = {f.__name__: f for f in (every_model, processors, names, stack, stream, ranges, python, same_bits, missing, known, headers, item_temperatures, cross, valgrind, address, threads)}

if __name__ == "__main__":
    with temporary() as folder:
        os.chdir(folder)
        TESTS[sys.argv[2]]()
