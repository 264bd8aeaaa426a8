"""The README runs: every Python block, and every console block against its printed output.

Seconds differ from run to run, and a third party's line numbers between its versions: they are masked, nothing else.
"""

import re
import shlex
from pathlib import Path

import pytest

from rheocheck.cli import main

README = (Path(__file__).parents[1] / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.S)
CONSOLE = re.findall(r"```console\n\$ (.*?)\n(.*?)```", README, re.S)


def without_seconds(text):
    return re.sub(r"\.py:\d+", ".py:...", re.sub(r"\d+\.\d\d s\b", "... s", text)).strip()


def test_there_are_blocks():
    assert len(PYTHON) >= 1 and len(CONSOLE) >= 2


@pytest.mark.parametrize("block", PYTHON)
def test_python(block):
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


@pytest.mark.parametrize(("command", "printed"), CONSOLE, ids=[command[:60] for command, _ in CONSOLE])
def test_console(command, printed, capsys):
    program, *arguments = shlex.split(command)
    assert program == "rheocheck"
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert without_seconds(capsys.readouterr().out) == without_seconds(printed)
    assert ended.value.code in (0, 1)


def test_first_screen():
    """One sentence, one command with its real output, the two set-up commands."""
    screen = "\n".join(README.splitlines()[:26])
    assert screen.index("?\n") < screen.index("```console") < screen.index('pip install ".[hf]" && rheocheck demo')
    assert 'pip install ".[test]" && pytest' in screen


def test_ci_runs_the_test_command():
    script = (Path(__file__).parents[1] / ".ci" / "run").read_text()
    install, test = 'python -m pip install ".[test]" && pytest'.split(" && ")
    assert install.replace("install ", "install --quiet ") in script
    assert script.rstrip().endswith(test)
