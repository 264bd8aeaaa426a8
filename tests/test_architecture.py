"""The layers of the design, exported names, and what an import costs."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import rheocheck

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "rheocheck"

# What each package may import of ours, and of third parties. Front doors may import everything, late.
LAYERS = {
    "core": set(),
    "exact": {"core"},
    "stats": set(),
    "intercept": {"core"},
    "formats": {"core"},
    "reference": {"core", "formats"},
    "production": {"core", "formats"},
    "generation": {"core", "production"},
    "bench": {"core", "generation", "production"},
    "adapters": {"core", "formats", "generation", "production"},
    "audit": {"core", "exact", "formats", "intercept", "stats"},
    "report": {"audit", "bench", "core", "exact"},
    "cli": {"core", "exact", "stats", "audit", "formats", "generation", "report", "production", "bench"},
    "pytest_plugin": {"core", "exact", "stats", "audit", "formats", "report"},
}
THIRD = {
    "core": set(),
    "exact": {"gmpy2"},
    "stats": {"numpy", "scipy"},
    "intercept": {"numpy", "torch", "jax"},
    "reference": {"numpy", "jax", "jaxtyping"},
    "formats": set(),
    "production": {"numpy", "torch", "triton", "jaxtyping"},
    "generation": {"torch", "transformers", "jaxtyping"},
    "bench": {"numpy", "scipy", "torch", "transformers", "tokenizers", "jaxtyping", "tqdm"},
    "adapters": {"flashspec", "numpy", "seqspecdecod", "torch", "transformers"},
    "audit": {"numpy", "pyarrow", "tqdm"},
    "report": {"rich", "matplotlib"},
    "cli": {"click", "tqdm", "rich", "numpy"},
    "pytest_plugin": {"pytest"},
}
HEAVY = {"flashspec", "jax", "matplotlib", "pyarrow", "seqspecdecod", "tokenizers", "torch", "transformers"}


def imports(path):
    """(module, whether at the top level of the file) of every import statement."""
    tree = ast.parse(path.read_text())
    top = set(
        ast.walk(ast.Module(body=[n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)], type_ignores=[]))
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            yield node.module, node in top


def files(package):
    return sorted((PACKAGE / package).rglob("*.py"))


@pytest.mark.parametrize("package", LAYERS)
def test_arrows_point_down(package):
    assert files(package)
    for path in files(package):
        for module, _ in imports(path):
            if module.split(".")[0] == "rheocheck":
                below = module.split(".")[1] if "." in module else None
                assert below in LAYERS[package] | {package}, f"{path} imports {module}"


@pytest.mark.parametrize("package", THIRD)
def test_third_parties_stay_in_their_place(package):
    for path in files(package):
        for module, _ in imports(path):
            name = module.split(".")[0]
            if name not in sys.stdlib_module_names and name != "rheocheck":
                assert name in THIRD[package], f"{path} imports {module}"


def import_graph(paths):
    """{module: modules of ours that it imports, anywhere in the file}."""
    names = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__") for path in paths
    }
    graph = {}
    for path in paths:
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        below = graph.setdefault(module, set())
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                below |= {alias.name for alias in node.names} & names
            elif isinstance(node, ast.ImportFrom):
                said = {f"{node.module}.{alias.name}" for alias in node.names}
                below |= said & names or {node.module} & names
    return graph


def test_no_import_circles():
    """Not between packages, not inside one, and not by imports that are made late."""
    graphlib.TopologicalSorter(import_graph(sorted(PACKAGE.rglob("*.py")))).prepare()


def test_an_import_circle_would_be_found():
    graph = import_graph(sorted(PACKAGE.rglob("*.py")))
    graph["rheocheck.core.errors"].add("rheocheck.core.pair")
    with pytest.raises(graphlib.CycleError, match="rheocheck.core.pair"):
        graphlib.TopologicalSorter(graph).prepare()


def test_a_class_name_means_one_thing():
    """`Witness` is the exception, of `verify` and of `audit`, until both have one verdict."""
    classes = [
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    ]
    assert {name for name in classes if classes.count(name) > 1} == {"Witness"}


def test_every_package_has_a_layer():
    assert {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(LAYERS)


BACKENDS = {
    "generation",
    "production",
    "reference",
}  # written in torch and in jax, and reached late themselves: by name, or inside
# The benchmark trains and decodes: some of its files are made of torch. The others must not load it.
WITH_TORCH = {"bench"}
LIGHT = ("cells", "claims", "evidence", "intervals", "paper", "pieces", "result", "settings", "text")
# Files about one library, which import it at the top and are themselves imported late, once that library is there.
ABOUT_ONE = {
    f"intercept/{name}.py"
    for name in ("doors_torch", "jax_halves", "sources/jax", "sources/torch", "torch_operations", "torch_tensors")
}


@pytest.mark.parametrize("package", sorted(set(LAYERS) - BACKENDS - WITH_TORCH))
def test_heavy_third_parties_are_imported_late(package):
    late = {f"rheocheck.{file.removesuffix('.py').replace('/', '.')}" for file in ABOUT_ONE}
    for path in files(package):
        if str(path.relative_to(PACKAGE)) not in ABOUT_ONE:
            for module, top in imports(path):
                assert not (top and (module.split(".")[0] in HEAVY or module in late)), f"{path}: {module} at the top"


@pytest.mark.parametrize("package", sorted(set(LAYERS) - BACKENDS - WITH_TORCH))
def test_backends_are_imported_late(package):
    for path in files(package):
        for module, top in imports(path):
            assert not (top and module.startswith(tuple(f"rheocheck.{name}" for name in BACKENDS))), path


def test_what_reports_read_of_the_benchmark_is_light():
    statement = "; ".join(f"import rheocheck.bench.{name}" for name in LIGHT)
    assert not loaded_by(statement) & HEAVY


def test_nothing_imports_front_doors_or_toys():
    for path in PACKAGE.rglob("*.py"):
        for module, _ in imports(path):
            assert module.split(".")[0] != "toy_models", path
            if path.parts[-2] not in ("cli", "pytest_plugin") and path.name != "__main__.py":
                assert not module.startswith(("rheocheck.cli", "rheocheck.pytest_plugin")), path


def loaded_by(statement):
    script = f"import sys; before = set(sys.modules); {statement}; print(*sorted(set(sys.modules) - before))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return {module.split(".")[0] for module in printed.stdout.split()}


def heavy(modules):
    return {m for m in modules if m not in sys.stdlib_module_names and m not in {"rheocheck", "toy_models"}}


@pytest.mark.parametrize(
    "statement",
    ["import rheocheck", "import rheocheck.core", "import rheocheck.audit", "from rheocheck import Pair, Decoder"],
)
def test_importing_is_light(statement):
    assert heavy(loaded_by(statement)) == set()


def test_the_light_import_test_can_fail():
    assert "numpy" in heavy(loaded_by("import numpy"))


def test_help_does_not_load_numpy():
    statement = "from rheocheck.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    script = f"import sys\n{statement}\nprint('numpy' in sys.modules, 'torch' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert printed.stdout.strip().endswith("False False")


def test_exported_names():
    assert set(rheocheck.__all__) == {
        "Budget", "Decoder", "InputError", "MissingExtra", "Node", "Pair", "RheocheckError", "Shape", "Slot", "Tree",
        "Verification", "Witness", "certify", "load_pair", "normalise", "relabel", "verify",
    }  # fmt: skip
    for name in rheocheck.__all__:
        assert getattr(rheocheck, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rheocheck.nothing  # noqa: B018


@pytest.mark.parametrize("package", ["core", "exact", "formats", "generation", "intercept", "production", "reference"])
def test_packages_export_what_they_say(package):
    module = __import__(f"rheocheck.{package}", fromlist=["__all__"])
    assert module.__all__ == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def test_each_backend_loads_its_own_alone():
    assert not loaded_by("import rheocheck.reference") & {"torch", "triton"}
    assert not loaded_by("import rheocheck.production") & {"jax", "jaxlib"}


def test_core_files_are_short():
    """The core is the lesson: one idea a file, read in one sitting."""
    for path in files("core"):
        assert len(path.read_text().splitlines()) <= 210, path


def test_top_level_is_fixed():
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT)
    if tracked.returncode:
        pytest.fail("the top level is read from git; run the tests in a checkout")
    tops = {line.split("/")[0] for line in tracked.stdout.splitlines()}
    allowed = {"pyproject.toml", "rheocheck", "toy_models", "tests", "proofs", "README.md", "LICENSE", "CHANGELOG.md"}
    assert {top for top in tops if not top.startswith(".")} <= allowed


@pytest.mark.parametrize(("package", "third"), [("generation", "torch"), ("production", "torch"), ("reference", "jax")])
def test_a_missing_backend_is_one_line(package, third):
    code = (
        f"import sys; sys.modules[{third!r}] = None\n"
        "from rheocheck.core import MissingExtra\n"
        f"try:\n    import rheocheck.{package}\n"
        "except MissingExtra as error:\n    print(error)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert f"{third} is missing: pip install 'rheocheck[{third}]'" in printed.stdout
