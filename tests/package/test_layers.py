"""The order of the packages: which one may import which, read from the import lines."""

import ast
from functools import cache
from pathlib import Path

import pytest

import directboost

#: Lowest line first. A package or top-level module imports only from the lines above its own;
#: names on one line do not import each other. Inside a package there is no import cycle.
ORDER = """
arrays history
kernels callbacks datasets
losses margins penalties model
data
problem plotting
oracles export
solvers certificate
training
estimators
dask baselines presets
loading
masters
directboost
research
cli
__main__
"""

LEVELS = {
    package: level
    for level, line in enumerate(ORDER.strip().splitlines())
    for package in line.split()
}
SOURCE = Path(directboost.__file__).parent


def module_of(path):
    """Return the dotted name of a file below the package; "" is the package itself."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def package_of(name):
    """Return the package or top-level module that a module belongs to."""
    return name.split(".")[0] or "directboost"


@cache
def imports_of(name, text=None):
    """Return the modules of the package that the import lines of a module name."""
    tree = ast.parse(FILES[name].read_text(encoding="utf-8") if text is None else text)
    package = name if FILES[name].name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            full = [alias.name.split(".") for alias in node.names]
            found |= {".".join(parts[1:]) for parts in full if parts[0] == "directboost"}
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            if base is not None:
                found |= _named(base, node.names)
    return frozenset(found)


def _base(node, package):
    """Return the module after "from", relative to the package, or None for a foreign one."""
    if node.level == 0:
        first, _, rest = (node.module or "").partition(".")
        return rest if first == "directboost" else None
    parts = package.split(".") if package else []
    parts = parts[: len(parts) - (node.level - 1)]
    return ".".join([*parts, *((node.module or "").split(".") if node.module else [])])


def _named(base, names):
    """Return base.x for every imported x that is a module, and base for all other names."""
    full = [f"{base}.{alias.name}".lstrip(".") for alias in names]
    return {name if name in FILES else base for name in full}


def faults_of(name, imports):
    """Return the imports of a module that break the order of the packages."""
    own = package_of(name)
    return sorted(
        other
        for other in imports
        if package_of(other) != own and LEVELS[package_of(other)] >= LEVELS[own]
    )


def reached_from(name):
    """Return all modules that a module imports, directly or through others."""
    seen, todo = set(), [name]
    while todo:
        for other in imports_of(todo.pop()) - seen:
            seen.add(other)
            todo.append(other)
    return seen


def test_every_package_has_a_place():
    """A new package is added to ORDER, and one that is removed is taken out."""
    assert set(LEVELS) == {package_of(name) for name in FILES}


def test_imports_follow_the_order():
    faults = {name: faults_of(name, imports_of(name)) for name in FILES}
    assert {name: found for name, found in faults.items() if found} == {}


def test_no_import_cycles():
    """Modules can be sorted so that each imports only from those before it."""
    left = {name: imports_of(name) - {name} for name in FILES}
    while left:
        free = [name for name, imports in left.items() if not imports & left.keys()]
        assert free, f"these modules import each other: {sorted(left)}"
        for name in free:
            del left[name]


def test_the_certificate_knows_no_solver_and_no_oracle():
    """The proof does not depend on the code that finds columns or solutions, even indirectly."""
    packages = {package_of(name) for name in reached_from("certificate")}
    assert "problem" in packages
    assert not packages & {"oracles", "solvers", "training", "estimators"}


def test_research_and_commands_use_public_names():
    """Benchmarks, experiments and the command line use the library as a user does."""
    timed = ("forecast", "cost_model", "pair_costs")  # they time the pieces of a fit
    pieces = {f"research.bench.{name}" for name in timed}
    public = {"", "arrays", "baselines", "callbacks", "dask", "datasets", "presets"}
    registries = {"losses", "margins", "oracles", "penalties", "solvers"}
    more = {"cli": {"research", "model", "export"} | registries, "research": set()}
    for name in FILES.keys() - pieces:
        own = package_of(name)
        if own in more:
            others = {package_of(other) if other else "" for other in imports_of(name)}
            assert others - {own} <= public | more[own], name


@pytest.mark.parametrize(
    "name", ["model.ensemble", "model.learners", "estimators.base", "export", "export.report"]
)
def test_a_fitted_model_needs_no_training_code(name):
    """Prediction, export and the report run without oracles, solvers and the boosting loop."""
    packages = {package_of(other) for other in reached_from(name)}
    assert not packages & {"problem", "oracles", "solvers", "training", "dask", "baselines"}


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        ("arrays", "from .history import Status", ["history"]),
        ("certificate", "from .solvers.base import Solver", ["solvers.base"]),
        ("certificate", "import directboost.solvers", ["solvers"]),
        ("losses.hinge", "from ..margins import Pairwise", ["margins"]),
        ("losses.hinge", "from .base import Loss", []),
        ("kernels.structs", "from .. import problem", ["problem"]),
        ("kernels", "from directboost.estimators import x", ["estimators"]),
        ("problem.objective", "def f():\n    from ..training import result", ["training.result"]),
        ("problem.objective", "from ..losses import Loss\nimport numpy", []),
    ],
)
def test_the_reader_sees_faults(name, line, fault):
    """Every form of import line is read, at any depth."""
    assert faults_of(name, imports_of(name, line)) == fault
