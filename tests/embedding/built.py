"""Built objects in this process, by the structures and functions of their headers."""
import ctypes
import os
import re
import sys

import numpy as np

sys.path.append(f"{sys.path[0]}/../helpers")
from lehr_tests import read  # noqa: E402


class Built:
    """NAME.so and NAME.h, and a state of these sizes without factors."""

    def __init__(self, name, sizes):
        self.name, self.library = name, ctypes.CDLL(os.path.abspath(name + ".so"))
        self.header = read(name + ".h")
        self("model").restype = ctypes.c_void_p
        self("state_bytes").restype = ctypes.c_size_t
        self("error").restype = ctypes.c_char_p
        self.kept = []
        self.sizes = self.structure("sizes", {"abi": int(re.search(r"_ABI UINT64_C\((0x\w+)\)", self.header)[1], 16), **sizes})
        self.bytes = self("state_bytes")(ctypes.byref(self.sizes))
        self.memory = ctypes.create_string_buffer(self.bytes)
        assert self.init(None) == 0

    def __call__(self, function):
        return getattr(self.library, f"{self.name}_{function}")

    def init(self, data):
        return self("init")(self.memory, ctypes.c_size_t(self.bytes), ctypes.byref(self.sizes), data and ctypes.byref(data), ctypes.c_uint64(1))

    def elbo(self):
        out = ctypes.c_double()
        assert self("elbo")(self.memory, ctypes.byref(out)) == 0
        return out.value

    def structure(self, kind, values):
        """The members of the header in their order; arrays that `values` does not have are null."""
        text = re.search(rf"typedef struct {self.name}_{kind} {{(.*?)}}", self.header, re.S)[1]
        fields = re.findall(r"^  (u?int64_t|const \w+\*) (\w+);", text, re.M)
        made = type(kind, (ctypes.Structure,), {"_fields_": [(n, ctypes.c_void_p if "*" in t else ctypes.c_int64) for t, n in fields]})()
        for t, n in fields:
            if "*" not in t:
                setattr(made, n, ctypes.c_int64(values[n]).value)
            elif n in values:
                numbers = np.ascontiguousarray(values[n], np.float64)
                self.kept.append(np.where(np.isnan(numbers), -1, numbers).astype(np.int64) if "int64" in t else numbers)
                setattr(made, n, self.kept[-1].ctypes.data)
        return made
