"""The command line: parse, call, print, exit code.

Exit codes: 0 lossless or no bias found, 1 biased, 2 usage or input error (one line on stderr), 3 inconclusive.
"""

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import click

from rheocheck.core.errors import RheocheckError

COMMANDS = {
    "verify": ("rheocheck.cli.verify", "Say exactly whether a decoder emits the target's law on a toy pair."),
    "curves": ("rheocheck.cli.curves", "Draw exact block length and acceptance over m, T, K, D or N."),
    "audit": ("rheocheck.cli.audit", "Test whether somebody's decoder emits the target's law."),
    "matrix": ("rheocheck.cli.matrix", "Audit many settings of a decoder exactly, in one table."),
    "plan": ("rheocheck.cli.plan", "Say how many draws an audit needs, before a single one is drawn."),
    "generate": ("rheocheck.cli.generate", "Sample from a model, drafted by another, with the target's own law."),
    "bench": ("rheocheck.cli.bench", "Measure the claims of the RheoSampling paper in miniature, beside the paper's."),
    "demo": ("rheocheck.cli.demo", "Show the main job on real input: an exact table, then an audit."),
}


class LazyGroup(click.Group):
    """Loads a command's module when it is called, so that --help does not import numpy or torch."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        from importlib import import_module

        command: click.Command = getattr(import_module(COMMANDS[name][0]), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("rheocheck")
    except PackageNotFoundError:
        return "unknown (not installed)"


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(_version(), prog_name="rheocheck")
def cli() -> None:
    """Does a speculative decoder still emit exactly the target model's distribution?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; every expected error is one line on stderr and exit code 2."""
    sys.set_int_max_str_digits(0)  # exact answers may have more than 4300 digits
    sys.exit(run(lambda: cli.main(args=arguments, prog_name="rheocheck", standalone_mode=False)))


def run(command: Callable[[], Any]) -> int:
    """The exit code of a click command run outside its standalone mode."""
    try:
        code = command()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "rheocheck"
        return _refused(path, f"{error.format_message()} (try: {path} --help)")
    except RheocheckError as error:
        return _refused("rheocheck", str(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("rheocheck: interrupted before there was anything to report", err=True)
        return 3
    except OSError as error:  # stdout is full or closed: nothing was answered
        with contextlib.suppress(OSError):
            click.echo(f"rheocheck: error: the answer could not be written: {error}", err=True)
        sys.stdout = open(os.devnull, "w")  # else the interpreter complains once more at exit
        return 2
    except Exception as error:  # a bug of ours must never leave with the exit code of "biased"
        return _refused("rheocheck", f"internal error, please report it: {type(error).__name__}: {error}")
    except BaseException as error:  # a guest's cancelled task or exit passes by `Exception`, and is no verdict either
        last = traceback.extract_tb(error.__traceback__)[-1]
        raised = f"{type(error).__name__} at {os.path.basename(last.filename)}:{last.lineno}"
        return _refused("rheocheck", f"code that is looked at must raise an Exception or none, got {raised}: {error}")
    return code if isinstance(code, int) else 0


def _refused(path: str, message: str) -> int:
    click.echo(f"{path}: error: {' '.join(message.split())}", err=True)
    return 2
