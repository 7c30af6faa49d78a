"""The order of the modules: who may import whom, written once and read from the import lines."""

import ast
from pathlib import Path

import pytest

import directboost


def folder(name, *files):
    """Name the files of a folder, and the folder itself (its `__init__`) at the end."""
    return [*(f"{name}.{file}" for file in files), name]


#: Lowest layer first. A module imports only from lower layers and, inside a folder, from the files
#: listed before it; other modules of one layer meet as arguments, never as imports.
LAYERS = [
    ["arrays", "status", "history", "memory", "whole_files"],
    ["matrices", "thresholds"],
    folder(
        "kernels",
        *("kinds", "work", "row_prox", "simplex", "jumps", "reference_block", "reference_model"),
        *("reference_newton", "reference_lists", "reference_losses", "reference"),
        *("library", "native", "team"),
    ),
    ["frames", "naming"],
    ["encoding"],
    [
        *("learners", "inputs", "reading", "probabilities", "callbacks", "sklearn_callbacks"),
        *folder("margins", "base", "pairwise", "one_vs_all"),
        *folder(
            "losses",
            *("base", "elementwise", "multinomial", "smoothed_hinge", "hinge"),
            *("exponential", "logistic", "squared_hinge", "smooth"),
        ),
        *folder("penalties", "base", "l1", "group"),
    ],
    ["trees", "monotone"],
    ["leaf_words"],
    ["columns", "ensemble", "leaf_bins", "summary"],
    ["column_bins"],
    folder(
        "plotting",
        *("canvas", "reading", "convergence", "levels", "feature", "margins", "path", "regions"),
        "sharing",
    ),
    ["code_lists", "sparse_cuts"],
    ["sparse_binning"],
    ["binning"],
    ["tree_growth"],
    ["feature_columns", "problem"],
    folder(
        "oracles",
        *("base", "ranking", "catalogue", "binned", "stump", "tree", "pool", "classifier"),
    ),
    ["certificate"],
    folder(
        "masters",
        *("base", "margin_rows", "linear_program", "cones", "interior_point", "conic"),
        *("lbfgsb", "proximal", "point", "row_sample", "quadratic", "line", "moves"),
        "feature_blocks",
        *("smoothed_blocks", "smoothing", "column_blocks"),
        *("block_update", "hinge_update", "row_blocks", "acceleration", "alternation"),
        *("consensus", "admm"),
    ),
    ["boosting_run"],
    ["ending"],
    ["column_generation", "settings"],
    ["continuation", "request"],
    ["task"],
    ["solving", "compaction", "between"],
    folder(
        "model_file",
        *("faults", "kinds", "composites", "labels", "parameters", "trees", "learners"),
        *("weights", "layout", "schema", "consistency", "forms"),
        *("text", "reading", "writing"),
    ),
    folder(
        "export",
        *("c_text", "c_rounding", "c_model", "c_parts", "c_tables", "c_turns", "c_jumps"),
        *("c_trees", "c_pool", "c_layout", "c_comment", "c_functions", "c_header"),
        *("c_self_test", "c_export"),
        *("onnx_graph", "onnx_sums", "onnx_stumps", "onnx_trees", "onnx_scores"),
        *("onnx_decoding", "onnx_answers", "onnx_export"),
    ),
    folder(
        "report",
        *("packing", "rows", "quality", "convergence", "tables", "rules", "sample", "facts"),
        "page",
    ),
    ["shipping"],
    ["training", "prediction"],
    ["walk", "explaining"],
    ["path"],
    ["fitting"],
    ["estimators"],
    folder(
        "dask",
        *("sketches", "bins", "partitions", "survey", "coding", "places", "softening"),
        *("shards", "sums", "scratch", "passes", "kinks", "crew", "cluster", "balance", "groups"),
        *("workers", "site", "loading", "sampling", "field", "objective", "columns", "rows"),
        *("stumps", "gathering", "hinge", "smoothing", "consensus", "turns", "task"),
        *("outcomes", "refusals", "prediction", "estimator"),
    ),
    folder(
        "baselines",
        "search",
        "rounds",
        "votes",
        "base",
        "hamming_votes",
        "adaboost_mh",
        *("sharing_search", "joint_boost", "running_losses", "group_steps", "grad_boost"),
        *("leaf_labels", "label_boosting", "adaboost_m1", "samme"),
        *("pair_weights", "multiboost_cw"),
        *("coloured_pairs", "coloured_rounds", "colourings"),
        *("pattern_items", "pattern_mining", "patterns"),
        *("adaboost_oc", "adaboost_ecc", "adaboost_sip"),
        *("codes", "decoding", "binary_adaboosts", "adaboost_mo"),
        *("distinct_rows", "binary_boosters", "binary_problems", "one_vs_all"),
        *("edge_program", "lp_boost"),
        *("corrective_solvers", "corrective_boosters", "cg_boost"),
    ),
    folder("sources", "base", "generated", "known_sums", "checksums", "files", "openml"),
    ["fold_model", "model_path", "multi_label", "presets", "datasets"],
    ["budgets"],
    ["fold_scores"],
    ["cross_validation", "restoring"],
    ["loading"],
    [""],  # the public names
    folder(
        "bench",
        *("tables", "methods", "peers", "measure", "contest", "apart"),
        *("speed", "quality", "growth", "hinge", "plots", "report"),
        *("simulation", "cost_model", "rates", "cluster_sizes", "cluster", "forecast", "suite"),
    ),
    folder(
        "experiments",
        *("base", "store", "report", "stopping", "runner", "methods", "measuring", "drawing"),
        *("averages", "grids", "sampling", "images", "image_folders", "many_classes"),
        *("share_curves", "sharing_figure", "character_setting", "characters"),
        *("error_dots", "block_marks", "clusters", "uci_setting", "uci", "digit_blocks"),
        *("caltech", "rings", "feature_share", "mnist", "abcdetc"),
        *("signed_hog", "kernel_machines", "error_curves", "recognition_setting", "recognition"),
        *("scene", "traffic_signs"),
    ),
    folder(
        "tables",
        *("reading", "csv_blocks", "numbers", "wanted", "streaming", "training", "writing"),
        "embedded",
    ),
    folder(
        "cli",
        *("words", "options", "screen", "time_left", "progress", "source", "answering", "tally"),
        *("judging", "learning", "facts", "fit", "predict", "evaluate", "inspect", "export"),
        *("curve", "cv", "bench", "reproduce", "app"),
    ),
    ["__main__"],
]

SOURCE = Path(directboost.__file__).parent
PLACES = {
    name: (layer, place) for layer, names in enumerate(LAYERS) for place, name in enumerate(names)
}


def module_of(path):
    """Return the dotted name of a file below the package; "" is the package itself."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def folder_of(name):
    """Return the folder a module lies in; a folder lies in itself."""
    return name if (SOURCE / name).is_dir() else name.rpartition(".")[0]


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
    return found


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
    """Return the imports that go up, or sideways to another folder or a later file."""
    layer, place = PLACES[name]
    faults = []
    for other in sorted(imports):
        there, position = PLACES[other]
        near = folder_of(other) == folder_of(name) != "" and position < place
        if not (there < layer or (there == layer and near)):
            faults.append(other)
    return faults


def test_every_module_has_a_place():
    """A new file is put into LAYERS, and one that is gone is taken out."""
    assert sorted(PLACES) == sorted(FILES)
    assert len(PLACES) == sum(map(len, LAYERS))


@pytest.mark.parametrize("name", FILES, ids=lambda name: name or "directboost")
def test_imports_go_down(name):
    assert faults_of(name, imports_of(name)) == []


def test_the_certificate_knows_no_solver():
    """What is proved does not lean on who found it, not even through others."""
    seen, todo = set(), ["certificate"]
    while todo:
        for other in imports_of(todo.pop()) - seen:
            seen.add(other)
            todo.append(other)
    assert "problem" in seen
    assert not [name for name in seen if name.split(".")[0] in ("masters", "column_generation")]


def test_the_estimators_are_on_top():
    public = {"", "presets", "estimators", "fold_model", "model_path", "cross_validation"}
    public |= {"multi_label", "budgets", "fold_scores", "dask", "dask.estimator", "loading"}
    tops = ("bench", "experiments", "cli", "__main__")
    above = {name for name in FILES if name.split(".")[0] in tops}
    for name in FILES.keys() - public - above:
        assert not imports_of(name) & public, name


def test_the_benchmark_and_the_commands_use_public_names():
    pieces = {"bench.rates", "bench.simulation"}  # know the pieces of a fit on a cluster
    for name in FILES.keys() - pieces:
        top = name.split(".")[0]
        if top in ("bench", "experiments", "cli"):
            others = {other for other in imports_of(name) if other.split(".")[0] != top}
            public = {"", "arrays", "baselines", "bench", "callbacks", "dask", "datasets"}
            public |= {"presets"}
            more = {"experiments", "naming", "summary", "tables", "whole_files"}
            assert others <= public | (more if top == "cli" else set()), name


def test_prediction_needs_no_training_code():
    """A fitted model is read by the ensemble, the learners and the kernels alone."""
    below = {"arrays", "kernels", "kernels.team", "kernels.work", "learners"}
    assert imports_of("ensemble") <= below | {"matrices", "trees"}
    assert imports_of("learners") <= {"arrays", "matrices"}


@pytest.mark.parametrize(
    ("name", "line", "fault"),
    [
        ("arrays", "from .status import Status", ["status"]),
        ("certificate", "from .masters.base import Master", ["masters.base"]),
        ("certificate", "import directboost.masters", ["masters"]),
        ("losses.hinge", "from .exponential import Exponential", ["losses.exponential"]),
        ("losses.hinge", "from ..margins import Pairwise", ["margins"]),
        ("losses.hinge", "from . import base, smooth", ["losses.smooth"]),
        ("kernels.work", "from .. import problem", ["problem"]),
        ("kernels", "from directboost.estimators import x", ["estimators"]),
        ("problem", "def f():\n    from .training import train", ["training"]),
        ("problem", "from .columns import Columns\nimport numpy", []),
        ("losses", "from .smooth import SmoothLoss", []),
    ],
)
def test_the_reader_sees_faults(name, line, fault):
    """Every form of import line is read, at any depth."""
    assert faults_of(name, imports_of(name, line)) == fault
