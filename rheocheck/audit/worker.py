"""What another process does: read a job, import the subject by name, run it plainly, write its words."""

import json
import os
import sys
from typing import Any

from rheocheck.audit.fingerprint import function_text
from rheocheck.audit.processes import Job
from rheocheck.audit.subject import LiveSource, load_subject
from rheocheck.core.errors import InputError, RheocheckError
from rheocheck.formats.loading import load_attribute
from rheocheck.intercept.seeding import seed_globals

APART = 2**24  # calls between the seeds of two processes


def serve() -> None:
    """Answer jobs until the pipe is closed. What a subject prints goes nowhere."""
    jobs, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    subjects: dict[str, Any] = {}
    seen: dict[str, int] = {}
    for line in jobs:
        job = json.loads(line)
        answers.write(json.dumps(_answer(job, subjects, seen)) + "\n")
        answers.flush()


def _answer(job: Job, subjects: dict[str, Any], seen: dict[str, int]) -> dict[str, Any]:
    """The answer to a job.

    {"words": ..}   what was drawn
    {"error": ..}   why the subject cannot be run here at all
    {"failed": ..}  what it raised after its first word
    {"stale": ..}   what was imported is not what there is now
    """
    if _stale(job, seen):
        return {"stale": True}
    sys.path[:] = job["path"]
    words: list[list[int]] = []
    try:
        os.chdir(job["cwd"])
        key = json.dumps([job["spec"], job["settings"], job["what"], job["context"]])
        if key not in subjects:
            subjects[key] = _subject(job)
        source = _source(subjects[key], job)
        while len(words) < job["count"]:
            words.append(source.draw(1).words[0].tolist())
    except (Exception, SystemExit) as error:
        text = str(error) if isinstance(error, RheocheckError) else f"{type(error).__name__}: {error}"
        return {"failed" if words else "error": " ".join(text.split())}
    finally:
        _remember(seen)
    return {"words": words}


def _subject(job: Job) -> Any:
    if job["settings"] is None:
        subject = load_attribute(job["spec"], job["what"])
    else:
        subject = load_subject(job["spec"], job["settings"], tuple(job["context"]), what=job["what"])
    if job["code"] is not None and function_text(subject) != job["code"]:
        raise InputError(f"{job['spec']} must be the audited function, got other code in its file: import it anew")
    return subject


def _source(subject: Any, job: Job) -> LiveSource:
    seed_globals(job["global_seed"])
    return LiveSource(
        subject, tuple(job["context"]), job["tokens"], seed=job["seed"], stream=job["stream"],
        calls=(job["number"] + 1) * APART, one_by_one=True, eos=job["eos"],
    )  # fmt: skip


def _stale(job: Job, seen: dict[str, int]) -> bool:
    """Whether a file has changed since its module was imported, or the module of that name is another one."""
    module = sys.modules.get(job["spec"].partition(":")[0])
    if module is not None and job["file"] is not None and getattr(module, "__file__", None) != job["file"]:
        return True
    return any(_changed_at(file) != at for file, at in seen.items())


def _remember(seen: dict[str, int]) -> None:
    """When the files of the modules changed last; those that were installed do not."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file not in seen and not file.startswith((sys.prefix, sys.base_prefix)):
            seen[file] = _changed_at(file)


def _changed_at(file: str) -> int:
    try:
        return os.stat(file).st_mtime_ns
    except OSError:
        return 0
