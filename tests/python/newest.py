"""The newest packages that pip has, in a virtual environment of the build tree, for what Debian has older or not at all."""
import os
import subprocess
import sys

PACKAGES = ["anndata", "arviz<1", "h5netcdf", "pyarrow", "scikit-learn"]
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def _has_all(python):
    imports = "import anndata, arviz, h5netcdf, pyarrow, sklearn"
    return os.path.exists(python) and subprocess.run([python, "-c", imports], capture_output=True).returncode == 0


def run_inside(build):
    """Runs the program again where the packages are: that of $LEHR_NEWEST_PYTHON, else one that is made. Ends with its exit
    code, or SKIPPED where pip cannot have them."""
    if sys.argv[-1] == "inside":
        return
    given = os.environ.get("LEHR_NEWEST_PYTHON")
    python = given or os.path.join(build, "newest", "bin", "python")
    if not _has_all(python) and not given:
        for command in ([sys.executable, "-m", "venv", os.path.join(build, "newest")],
                        [python, "-m", "pip", "install", "--quiet", "--timeout", "10", "--retries", "1", *PACKAGES]):
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=600)
            except (OSError, subprocess.TimeoutExpired) as e:
                skip(e)
            if done.returncode != 0:
                skip(f"{' '.join(command)}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    if not _has_all(python):
        skip(f"{python} has not {', '.join(PACKAGES)}")
    sys.exit(subprocess.run([python, *sys.argv, "inside"]).returncode)
