"""The rule of .ci/run that a skip is a failure, tested on a project of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = (Path(__file__).parent / "conftest.py").read_text()
SUITE = """
import pytest

def test_runs(): pass

@pytest.mark.gpu
def test_excused(): pytest.skip("no GPU")

{more}
"""


@pytest.mark.parametrize(
    ("more", "forbidden", "code"),
    [
        ("", "1", 0),
        ('def test_skips(): pytest.skip("missing")', "1", 1),
        ('def test_skips(): pytest.skip("missing")', "0", 0),
        ('pytest.skip("no torch", allow_module_level=True)', "1", 2),
    ],
)
def test_a_skip_fails_the_build(tmp_path, more, forbidden, code):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_suite.py").write_text(SUITE.format(more=more))
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    gpu: x\n    slow: x\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTEST_ADDOPTS": "", "RHEOCHECK_NO_SKIPS": forbidden},
    )
    assert done.returncode == code, done.stdout.decode()
