#!/usr/bin/env python3
"""Times fits of many small data sets: regressions y ~ a + b x, with the noise known or not. Prints milliseconds a fit:
the time of the processor for one fit after another and for all together on one thread, what the sweeps take of it, and the
wall time of all together on all threads.

usage: PYTHONPATH=python LEHR_LIBRARY=build/liblehr.so bench/many_fits.py [FITS [POINTS]]
"""
import sys
import time
import warnings

import numpy as np

import lehr

LINE = """model line {{
  plate n;
  data x[n] : real;
  a            ~ Normal(mean = 0, sd = 10);
  b            ~ Normal(mean = 0, sd = 10);
  {noise}
}}"""
NOISES = {"known": "observe y[n] ~ Normal(mean = a + b * x[n], sd = 1);",
          "unknown": "tau ~ Gamma(shape = 1, rate = 1);\n  observe y[n] ~ Normal(mean = a + b * x[n], precision = tau);"}


def best(clock, work):
    """The least milliseconds of three runs by this clock, and the last result."""
    out = []
    for _ in range(3):
        begin = clock()
        result = work()
        out.append(1000 * (clock() - begin))
    return min(out), result


def main():
    fits, points = [int(x) for x in sys.argv[1:]] + [1000, 100][len(sys.argv) - 1:]
    rng = np.random.default_rng(1)
    data = [{"x": x, "y": 1 + 2 * x + rng.normal(size=points)} for x in rng.normal(size=(fits, points))]
    warnings.simplefilter("ignore")
    print("noise    one by one   together   sweeps   all threads, wall time")
    for name, noise in NOISES.items():
        model = lehr.Model(LINE.format(noise=noise))
        few = data[:min(100, fits)]
        single = best(time.process_time, lambda: [model.fit(d, threads=1) for d in few])[0] / len(few)
        together, result = best(time.process_time, lambda: model.fit_many(data, threads=1))
        wall = best(time.perf_counter, lambda: model.fit_many(data))[0] / fits
        seconds = [result[k].trace_["seconds"] for k in range(0, fits, max(1, fits // 100))]
        sweeps = 1000 * np.median([s[-1] - s[0] for s in seconds])
        print(f"{name:8} {single:10.3f} {together / fits:10.3f} {sweeps:8.3f} {wall:12.3f}")


if __name__ == "__main__":
    main()
