"""Running Coq on proofs/: where it is, what builds it, and what its theorems assume."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[2] / "proofs"
CLOSED = "Closed under the global context"
needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="needs coq and mathcomp; see proofs/README.md")


def make(directory, *targets):
    """`make` in a directory: (exit code, everything it printed)."""
    command = ["make", "-j1", "-C", str(directory), *targets]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    return done.returncode, done.stdout + done.stderr


def coqc(file, directory=PROOFS):
    """Compile one file against the development in `directory`: (exit code, everything it printed)."""
    command = ["coqc", "-q", "-Q", str(directory), "rheocheck", "-w", "none", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    return done.returncode, done.stdout + done.stderr


def listed():
    """The files of the development, in reading order, as _CoqProject has them."""
    return [line for line in (PROOFS / "_CoqProject").read_text().splitlines() if line.endswith(".v")]


def theorems(text):
    """The names of the theorems in a Coq text, in order."""
    return re.findall(r"^Theorem (\w+)", text, re.M)
