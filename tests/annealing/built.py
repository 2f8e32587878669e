"""A model built by `lehr build --shared` and loaded into this process: its functions on NumPy arrays."""
import ctypes as c
import os
import re
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import read, run, write  # noqa: E402

DOUBLES = c.POINTER(c.c_double)


class Built:
    """`sizes` and every data set give the fields of the header's structures by name; fields are eight bytes each."""

    def __init__(self, lehr, text, folder, *options):
        self.name = re.search(r"model (\w+)", text)[1]
        at = os.path.join(folder, self.name)
        write(at + ".lehr", text)
        done = run(lehr, "build", at + ".lehr", "-o", at, "--shared", *options, code=None)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        self.header = read(at + ".h")
        self.library = c.CDLL(at + ".so")
        self.abi = int(re.search(r"_ABI UINT64_C\((\w+)\)", self.header)[1], 16)
        self.fields = {s: re.findall(r"^  (?:const )?(\w+)(\*?) (\w+);", re.search(
            rf"struct {self.name}_{s} {{(.*?)^}}", self.header, re.S | re.M)[1], re.M) for s in ("sizes", "data")}
        self.kept = []

    def structure(self, which, values):
        """The address of a structure; its arrays live as long as this object."""
        words = []
        for kind, star, name in self.fields[which]:
            if not star:
                words.append(self.abi if name == "abi" else int(values[name]))
                continue
            array = np.ascontiguousarray(values[name], np.float64 if kind == "double" else np.int64)
            self.kept.append(array)
            words.append(array.ctypes.data)
        self.kept.append(np.array(words, np.uint64))
        return c.c_void_p(self.kept[-1].ctypes.data)

    def call(self, function, *arguments, result=c.c_int32):
        f = getattr(self.library, f"{self.name}_{function}")
        f.restype = result
        return f(*[c.c_double(a) if isinstance(a, float) else c.c_int64(a) if isinstance(a, int) else a for a in arguments])

    def check(self, function, *arguments):
        status = self.call(function, *arguments)
        if status != 0:
            raise RuntimeError(f"{function}: {self.call('error', c.c_int32(status), result=c.c_char_p).decode()}")


class State:
    """A state with room for the data it starts with."""

    def __init__(self, built, sizes, data, seed=1):
        self.built = built
        room = built.structure("sizes", sizes)
        self.memory = np.empty(built.call("state_bytes", room, result=c.c_size_t), np.uint8)
        self.at = c.c_void_p(self.memory.ctypes.data)
        built.check("init", self.at, c.c_size_t(self.memory.size), room, built.structure("data", data), seed)

    def __call__(self, function, *arguments):
        self.built.check(function, self.at, *arguments)

    def data(self, values):
        return self.built.structure("data", values)

    def set(self, start):
        for name, value in start.items():
            x = np.ascontiguousarray(value, np.float64)
            self(f"set_{name.replace('.', '_')}", c.c_void_p(x.ctypes.data), c.c_size_t(x.size))

    def get(self, name):
        count = c.c_size_t()
        x = self.built.call(f"get_{name.replace('.', '_')}", self.at, c.byref(count), result=DOUBLES)
        return np.ctypeslib.as_array(x, (count.value,)).copy()

    def number(self, function, *arguments):
        out = c.c_double()
        self(function, *arguments, c.byref(out))
        return out.value
