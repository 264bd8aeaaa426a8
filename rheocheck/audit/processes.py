"""Other Python processes that run a subject plainly, each with hashes of its own.

What hangs on the order of a set, on `hash` of a str or on state left behind by this process is the same in every run
here, and an enumeration sees one of its ways only. So a subject that can be imported by name is also run in COUNT other
processes with different PYTHONHASHSEED. They are started once, when they are first needed, and keep what they have
imported: torch is loaded once per process and not once per audit. Jobs and words are lines of JSON over pipes.
"""

import atexit
import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from rheocheck.audit.fingerprint import function_text
from rheocheck.audit.settings import Value
from rheocheck.core.errors import InputError
from rheocheck.core.pair import Context

START = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from rheocheck.audit.worker import serve; serve()"
PATIENCE = 120.0  # seconds for the imports of one job

Job = dict[str, Any]


class Unable(Exception):
    """Another process cannot run the subject; says why."""


@dataclass(frozen=True)
class Importable:
    """How another process gets the subject: what `load_subject` takes, or a function of a module as it is.

    settings  None: the function itself
    code      the text of a function (`function_text`): what is imported there must be what is audited here
    """

    spec: str
    settings: dict[str, Value] | None
    what: str = "SUBJECT"
    code: str | None = None

    def job(
        self, context: Context, tokens: int, eos: int | None, count: int, seed: int, global_seed: int, stream: int,
        number: int,
    ) -> Job:  # fmt: skip
        """What a process is told: everything that it needs to draw `count` words."""
        module = sys.modules.get(self.spec.partition(":")[0])
        return {
            "spec": self.spec, "settings": self.settings, "what": self.what, "code": self.code,
            "file": getattr(module, "__file__", None), "path": _path(), "cwd": os.getcwd(), "context": list(context),
            "tokens": tokens, "eos": eos, "count": count, "seed": seed, "global_seed": global_seed, "stream": stream,
            "number": number,
        }  # fmt: skip


def importable(subject: Any, spec: str | None, settings: dict[str, Value] | None, what: str) -> Importable | None:
    """By what name another process can import the subject; None where it cannot."""
    code = function_text(subject) if isinstance(subject, FunctionType) else None
    if spec is not None:
        return None if spec.partition(":")[0] == "__main__" else Importable(spec, settings or {}, what, code)
    if not isinstance(subject, FunctionType) or subject.__module__ in (None, "__main__"):
        return None
    home, name = subject.__module__, subject.__qualname__
    module = sys.modules.get(home)
    if getattr(module, "__file__", None) is None or getattr(module, name, None) is not subject:
        return None
    return Importable(f"{home}:{name}", None, what, code)


class Processes:
    """COUNT processes and the job that they are at. `shared` are those of this Python process."""

    COUNT = 4
    _shared: "Processes | None" = None

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._jobs: Sequence[Job] = ()
        self._workers: list[subprocess.Popen[bytes] | None] = [None] * self.COUNT

    @classmethod
    def shared(cls) -> "Processes":
        """The processes that belong to this one, started when they get a job."""
        if cls._shared is None or cls._shared.owner != os.getpid():  # a fork does not own its parent's
            cls._shared = cls()
            atexit.register(cls._shared.close)
        return cls._shared

    def begin(self, jobs: Sequence[Job]) -> None:
        """Hand a job to each process."""
        self._jobs = jobs
        for k, job in enumerate(jobs):
            self._send(k, job)

    def finish(self, seconds: float) -> list[list[Context]]:
        """The words of each process, when the runs take about so long here.

        Raises Unable where one cannot begin, and InputError where the subject fails after that.
        """
        end = time.monotonic() + PATIENCE + 10 * seconds
        try:
            answers = [self._fresh_answer(k, job, end) for k, job in enumerate(self._jobs)]
        except BaseException:
            self.close()
            raise
        for answer in answers:
            if "failed" in answer:
                raise InputError(answer["failed"])
            if "words" not in answer:
                raise Unable(answer.get("error", "its file keeps changing"))
        return [[tuple(word) for word in answer["words"]] for answer in answers]

    def close(self) -> None:
        """End the processes."""
        if self.owner == os.getpid():
            for k in range(self.COUNT):
                self._stop(k)

    def _send(self, k: int, job: Job) -> None:
        worker = self._workers[k]
        if worker is None or worker.poll() is not None:
            self._stop(k)
            worker = self._workers[k] = _started(k)
        assert worker.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has died: the answer will say so
            worker.stdin.write(json.dumps(job).encode() + b"\n")
            worker.stdin.flush()

    def _fresh_answer(self, k: int, job: Job, end: float) -> dict[str, Any]:
        answer = self._answer(k, end)
        if "stale" not in answer:
            return answer
        self._stop(k)  # a module has changed since it was imported there
        self._send(k, job)
        return self._answer(k, end)

    def _answer(self, k: int, end: float) -> dict[str, Any]:
        worker = self._workers[k]
        assert worker is not None and worker.stdout is not None
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([worker.stdout], [], [], max(0.0, end - time.monotonic()))
            part = os.read(worker.stdout.fileno(), 1 << 20) if ready else b""
            if not part:
                raise Unable("it took too long" if not ready else "it died")
            line += part
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _stop(self, k: int) -> None:
        worker, self._workers[k] = self._workers[k], None
        if worker is not None:
            worker.kill()
            worker.wait()
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()


def _started(k: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", START, json.dumps(_path())],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONHASHSEED": str(k + 1), "OMP_NUM_THREADS": "1"},
        start_new_session=True,  # Ctrl-C is for the process that asks
    )  # fmt: skip


def _path() -> list[str]:
    return [entry or os.getcwd() for entry in sys.path]
