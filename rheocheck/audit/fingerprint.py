"""What an audit's evidence is about: the code of subject and target, their values, the libraries below them.

    fingerprint({"subject": f, "target": law})
    {"python": "3.11.7", "decoder.py": "9f2c..",
     "code and values of the subject": "03aa..", "torch": "2.13.0"}

Modules are followed through their import statements, in functions too, and through what the objects at hand are made
of; a module of the user's counts by its content, a library by its version. What a model's weights hold is not read.
"""

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import platform
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from rheocheck.audit.samples_file import RecordedSamples
from rheocheck.audit.target import Target
from rheocheck.core.pair import Pair

Fingerprint = dict[str, str]
DEEPEST = 6
MOST_BYTES = 2**24  # of one array: a larger one counts by its shape
SCALARS = (int, float, complex, str, bytes, bool, type(None), Fraction)
# Numbers come from these, whichever library imports them.
NUMERIC = {"torch", "numpy", "jax", "jaxlib", "scipy", "transformers", "tokenizers", "triton", "accelerate"}


def fingerprint(sides: Mapping[str, Any]) -> Fingerprint:
    """What stands behind the objects {name: object}, each part under the name that a user knows it by."""
    found: Fingerprint = {"python": platform.python_version(), **_versions({"rheocheck", "numpy"})}
    names: set[str] = set()
    for name, side in sides.items():
        if not isinstance(side, RecordedSamples):  # a recording is compared draw by draw
            reach = _Reach()
            reach.follow(side)
            found[f"code and values of the {name}"] = reach.digest.hexdigest()[:16]
            names |= reach.modules
    files, libraries = _imported(names)
    for file in sorted(files):
        found[_label(file, files)] = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return found | _versions(libraries)


def function_text(function: types.FunctionType) -> str:
    """What tells an edited function from the one that was imported before, the same in every process."""
    return f"{function.__code__.co_firstlineno} {_code(function.__code__)}"


def of_files(name: Any) -> Fingerprint:
    """The content of the file that a target's name is, if it is one."""
    if not isinstance(name, str) or not Path(name).is_file():
        return {}
    return {Path(name).name: hashlib.sha256(Path(name).read_bytes()).hexdigest()[:16]}


def changes(there: Fingerprint, now: Fingerprint) -> list[str]:
    """What is another thing now, in words a user can act on. New parts come with a changed file that names them."""
    words = []
    for name, old in sorted(there.items(), key=lambda item: (" " in item[0], item)):  # files and libraries first
        new = now.get(name)
        if new is None:
            words.append(f"{name} is no longer used")
        elif new != old:
            a_version = old[:1].isdigit() and "." in old
            words.append(f"{name} {old} there, {new} now" if a_version else f"{name} changed since")
    return words


@dataclass
class _Reach:
    """Follows an object into what it is made of: modules by name, values and code without a file into a digest."""

    modules: set[str] = field(default_factory=set)
    digest: Any = field(default_factory=hashlib.sha256)
    _seen: dict[int, Any] = field(default_factory=dict)

    def follow(self, thing: Any, deep: int = DEEPEST) -> None:
        """Take in `thing` and what it leads to."""
        if isinstance(thing, SCALARS):
            self._note(repr(thing))
        elif deep >= 0 and id(thing) not in self._seen:
            self._seen[id(thing)] = thing
            self._module(thing)
            for part in self._parts(thing):
                self.follow(part, deep - 1)

    def _module(self, thing: Any) -> None:
        kind = thing if isinstance(thing, type | types.FunctionType) else type(thing)
        self.modules.add(thing.__name__ if isinstance(thing, types.ModuleType) else str(kind.__module__))

    def _parts(self, thing: Any) -> Iterator[Any]:
        if isinstance(thing, types.FunctionType):
            yield from self._of_function(thing)
        elif isinstance(thing, types.MethodType):
            yield from (thing.__self__, thing.__func__)
        elif isinstance(thing, functools.partial):
            yield from (thing.func, *thing.args, *thing.keywords.items())
        elif isinstance(thing, tuple | frozenset):
            yield from sorted(thing, key=repr) if isinstance(thing, frozenset) else thing
        elif isinstance(thing, Pair):
            yield from (thing.vocab_size, repr(sorted(thing.draft.items())), repr(sorted(thing.target.items())))
        elif isinstance(thing, Target):
            yield from (thing.law, thing.vocab_size, thing.boundary)
        elif isinstance(thing, np.ndarray):
            self._note(f"{thing.dtype}{thing.shape}")
            if thing.nbytes <= MOST_BYTES and not thing.dtype.hasobject:
                self.digest.update(np.ascontiguousarray(thing).tobytes())
        elif isinstance(thing, dict):
            yield from (part for item in sorted(thing.items(), key=str) if isinstance(item[0], str) for part in item)
        elif isinstance(thing, type):
            if _file_of(thing.__module__) is not None:
                yield from (part for _, part in sorted(vars(thing).items()) if isinstance(part, types.FunctionType))
        elif not isinstance(thing, types.ModuleType) and _file_of(type(thing).__module__) is not None:
            yield from (type(thing), getattr(thing, "__dict__", {}))

    def _of_function(self, function: types.FunctionType) -> Iterator[Any]:
        yield from (function.__defaults__ or (), tuple(sorted((function.__kwdefaults__ or {}).items())))
        for cell in function.__closure__ or ():
            yield _content(cell)
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            yield wrapped
        in_file = Path(function.__code__.co_filename).is_file()
        if not in_file or _file_of(function.__module__) is not None:
            self._note(_code(function.__code__))  # of a file too: it may have been edited after it was imported
        for name in sorted(_names(function.__code__)):
            used = function.__globals__.get(name)
            if isinstance(used, types.FunctionType | type | types.ModuleType) or not in_file:
                yield used

    def _note(self, text: str) -> None:
        self.digest.update(text.encode(errors="replace") + b"\0")


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a variable without a value yet
        return None


def _code(code: types.CodeType) -> str:
    """A function that has no file, as text: what it does, with which constants and names."""
    constants = [_code(x) if isinstance(x, types.CodeType) else _shown(x) for x in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}"


def _shown(constant: Any) -> str:
    """repr, the same in every process: a set of strings has no order of its own."""
    return repr(sorted(constant, key=repr) if isinstance(constant, frozenset) else constant)


def _names(code: types.CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(x) for x in code.co_consts if isinstance(x, types.CodeType)))


def _imported(names: set[str]) -> tuple[set[Path], set[str]]:
    """(the user's files behind these modules and all that they import, the libraries that these import)."""
    files: set[Path] = set()
    libraries: set[str] = set()
    pending, done = sorted(names), set(names)
    while pending:
        name = pending.pop()
        top = name.partition(".")[0]
        file = _file_of(name)
        if file is None:
            libraries.add(top)
            if name not in names or top != "rheocheck":
                continue
            file = _origin(name)  # our own adapters are subjects too
            if file is None:
                continue
        files.add(file)
        for found in (name.rpartition(".")[0], *_imports(file, name)):
            if found and found not in done:
                done.add(found)
                pending.append(found)
    return files, libraries - set(sys.stdlib_module_names)


def _imports(file: Path, module: str) -> Iterator[str]:
    """The modules that a file names in import statements, wherever they stand."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # no Python source, such as a compiled module
        return
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            start = ".".join(part for part in (base, node.module) if part)
            yield start
            yield from (f"{start}.{alias.name}" for alias in node.names)  # perhaps modules themselves


def _file_of(name: str) -> Path | None:
    """The file of a module that is the user's own; None for a library's, ours, and for what is no module."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top in ("rheocheck", "builtins"):
        return None
    file = _origin(name)
    return None if file is None or any(part.endswith("-packages") for part in file.parts) else file


def _origin(name: str) -> Path | None:
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is None:
        try:  # imported later, in a function: where it would come from
            spec = importlib.util.find_spec(name) if name.rpartition(".")[0] in {"", *sys.modules} else None
        except (ImportError, ValueError, AttributeError):
            spec = None
        file = spec.origin if spec is not None and spec.has_location else None
    return Path(file) if file and Path(file).is_file() else None


def _label(file: Path, files: set[Path]) -> str:
    """A file's name, with as much of its path as tells it apart."""
    alike = [other for other in files if other.name == file.name]
    return file.name if len(alike) == 1 and file.name != "__init__.py" else "/".join(file.parts[-2:])


def _versions(libraries: set[str]) -> Fingerprint:
    """The installed version of each library, and of the numeric ones that it builds on."""
    found: Fingerprint = {}
    for name in sorted(libraries):
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:  # installed under another name than it is imported by
            version = getattr(sys.modules.get(name), "__version__", None)
            found |= {name: str(version)} if version is not None else {}
            continue
        below = {x for x in NUMERIC if any(need.lower().startswith(x) for need in needs)} if name != "rheocheck" else ()
        for one in (name, *below):
            try:
                found[one] = importlib.metadata.version(one)
            except importlib.metadata.PackageNotFoundError:  # an extra that is not installed
                continue
    return found
