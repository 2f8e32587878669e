#!/usr/bin/env python3
"""The Python of docs/python.md, block after block, prints what stands under it.

usage: docs_test.py LEHR, from the root of the repository
"""
import contextlib
import io
import re
import sys

with open("docs/python.md", encoding="utf-8") as page:
    blocks = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```\n", page.read(), re.S | re.M)
names = {}
wrong = 0
for code, expected in blocks:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "docs/python.md", "exec"), names)
    if printed.getvalue() != expected:
        wrong += 1
        print(f"{code}\nprints\n{printed.getvalue()}\nand not\n{expected}")
sys.exit(1 if wrong or len(blocks) < 4 else 0)
