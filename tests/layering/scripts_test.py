#!/usr/bin/env python3
"""A file that begins with #! can be run as the documentation calls it: it is executable, and no other file is."""
import subprocess
import sys

listed = subprocess.run(["git", "ls-files", "-s"], capture_output=True, text=True)
if listed.returncode != 0:
    print("skipped: modes are those of a clone")
    sys.exit(77)
wrong = []
for line in listed.stdout.splitlines():
    mode, path = line.split()[0], line.split("\t")[1]
    if mode.startswith("100"):
        with open(path, "rb") as f:
            script = f.read(2) == b"#!"
        if script != (mode == "100755"):
            wrong.append(path)
if wrong:
    sys.exit("the mode of these files is not that of their first line (git update-index --chmod):\n" + "\n".join(wrong))
