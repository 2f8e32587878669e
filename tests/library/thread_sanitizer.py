#!/usr/bin/env python3
"""library_threads_test under ThreadSanitizer, in a build tree of its own beside the present one: the first run builds
everything. LLVM and the ANTLR runtime are not instrumented: what they do between themselves is not looked at.

usage: thread_sanitizer.py SOURCE BUILD COMPILER_LAUNCHER
"""
import os
import subprocess
import sys

source, build, launcher = sys.argv[1], os.path.join(sys.argv[2], "thread-sanitizer"), sys.argv[3]
subprocess.run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}", "-DCMAKE_CXX_FLAGS=-fsanitize=thread -g1",
                "-DCMAKE_CXX_FLAGS_RELEASE=-O1"], check=True, stdout=subprocess.DEVNULL)
subprocess.run(["cmake", "--build", build, "--target", "library_threads_test"], check=True, stdout=subprocess.DEVNULL)
suppressions = os.path.join(build, "suppressions.txt")
with open(suppressions, "w") as f:
    f.write("called_from_lib:libLLVM\ncalled_from_lib:libantlr4-runtime\n")
sys.exit(subprocess.run([os.path.join(build, "tests/library/library_threads_test")],
                        env={**os.environ, "TSAN_OPTIONS": f"suppressions={suppressions} exitcode=66"}).returncode)
