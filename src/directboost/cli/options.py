"""Options shared by several commands; those of `fit` and `cv` are derived from the estimator."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from ..losses import LOSSES
from ..margins import MARGINS
from ..oracles import LEARNERS
from ..penalties import PENALTIES
from ..solvers import SOLVERS
from .tables import NAMES

# Headings under which `--help` lists the options.
DATA = "Data options"
SEARCH = "Search options"
MODEL = "Model options"
SOLVER = "Solver options"
HEADINGS = (DATA, SEARCH, MODEL, SOLVER)

_SETS = ", ".join(NAMES)


def number_or_name(text: Any) -> Any:
    """Return a float if the text is a number, else the text itself."""
    try:
        return float(text)
    except ValueError:
        return text


def integer_or_auto(text: Any) -> int | str:
    """Return an integer, or "auto"."""
    return "auto" if text == "auto" else _integer(text, "auto")


def integer_or_none(text: Any) -> int | None:
    """Return an integer, or None for "none"."""
    return None if text in (None, "none") else _integer(text, "none")


def _integer(text: Any, other: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither an integer nor {other!r}") from None


def option(text: str, *flags: str, heading: str | None = None, **more: Any) -> Any:
    """Return a `typer.Option` with a help text, listed under a heading or under "Options"."""
    return typer.Option(*flags, help=text, rich_help_panel=heading, **more)


def _typed(kind: Any, metavar: str, heading: str, text: str, **more: Any) -> Any:
    return Annotated[kind, option(text, heading=heading, metavar=metavar, **more)]


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"CSV or Parquet file, - for CSV on standard input, or an embedded data set: {_SETS}.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file.")]
ModelOut = Annotated[
    Path | None, option("File to write the model to.", "-o", "--out", metavar="FILE")
]
Report = Annotated[
    Path | None,
    option(
        "HTML file to write a report about the model to. Unless --holdout or --test-data is given, "
        "a second fit on 80 % of the rows measures the quality on the others.",
        metavar="FILE",
    ),
]
Json = Annotated[bool, option("Print the result as a single JSON object.", "--json")]
Quiet = Annotated[bool, option("Do not print progress and notes.", "--quiet", "-q")]

Target = Annotated[
    str | None,
    option("Column with the class labels. Embedded data sets do not need it.", metavar="COLUMN"),
]
Missing = Annotated[
    list[str] | None,
    option(
        "Text that marks a missing value in CSV, such as NA. May be repeated.",
        heading=DATA,
        metavar="TEXT",
    ),
]
Date = Annotated[
    list[str] | None,
    option(
        "Column of dates to read as numbers, days since 1970-01-01. May be repeated.",
        heading=DATA,
        metavar="COLUMN",
    ),
]
Encoding = Annotated[
    str | None,
    option(
        "Encoding of CSV, such as latin-1. UTF-8 by default.",
        heading=DATA,
        metavar="NAME",
    ),
]
Separator = Annotated[
    str | None,
    option(
        "Separator of CSV columns. By default a tab in .tsv files, else a comma.",
        heading=DATA,
        metavar="CHARACTER",
    ),
]

#: How the training data are read: options of every command that fits a model.
_TRAINING_DATA: dict[str, Any] = {
    "target": Target,
    "sample_weight": _typed(str | None, "COLUMN", DATA, "Column with the sample weights."),
    "categorical": _typed(
        list[str] | None,
        "COLUMN",
        DATA,
        "Numeric column to treat as categories. May be repeated. Text columns are always "
        "categories.",
    ),
    "drop": _typed(list[str] | None, "COLUMN", DATA, "Column to ignore. May be repeated."),
    "date": Date,
    "missing": Missing,
    "separator": Separator,
    "encoding": Encoding,
    "holdout": _typed(
        float | None,
        "FRACTION",
        DATA,
        "Fraction of the rows to hold out from the fit, on which the model is evaluated.",
        min=0,
        max=0.9,
    ),
    "test_data": _typed(
        str | None, "DATA", DATA, "Other rows on which the model is evaluated, in the same format."
    ),
    "feature_cost": _typed(
        list[str] | None, "NAME=COST", MODEL, "Cost of a feature, 1 by default. May be repeated."
    ),
}

#: The option for each parameter of an estimator that the command line supports. The estimator sets
#: the default, and the registries list the names.
_PARAMETERS: dict[str, Any] = {
    "nus": _typed(int, "INTEGER", SEARCH, "Number of points on the path of nu.", min=1),
    "nu_min": _typed(float, "NUMBER", SEARCH, "Last point of the path, relative to nu_max."),
    "scoring": _typed(str | None, "NAME", SEARCH, "Scorer of scikit-learn. Accuracy by default."),
    "max_cost": _typed(
        float | None, "NUMBER", SEARCH, "Maximum total cost of the features of the model."
    ),
    "loss": _typed(str, "NAME", MODEL, f"Loss: {', '.join(LOSSES)}."),
    "margin": _typed(str, "NAME", MODEL, f"Margin: {', '.join(MARGINS)}."),
    "penalty": _typed(
        Any,
        "NAME",
        MODEL,
        f"Penalty: {'; '.join(PENALTIES)}; or a number p for l1,p.",
        parser=number_or_name,
    ),
    "nu": _typed(float, "NUMBER", MODEL, "Strength of the penalty."),
    "nu_scale": _typed(
        str, "NAME", MODEL, "Scale of nu: relative (to nu_max), absolute, or paper."
    ),
    "learner": _typed(str, "NAME", MODEL, f"Weak classifiers: auto, {', '.join(LEARNERS)}."),
    "interactions": _typed(
        list[str] | None,
        "INTEGER|NAME,NAME",
        MODEL,
        "With --learner pair or auto: number of features that form pairs, the strongest ones; or "
        "the names of the features of a pair or of a larger group, which may be repeated. All "
        "pairs by default.",
    ),
    "pair_bins": _typed(
        int,
        "INTEGER",
        MODEL,
        "With --learner pair or auto: maximum number of bins per feature in a pair.",
    ),
    "interaction_cost": _typed(
        float,
        "NUMBER",
        MODEL,
        "With --learner pair or auto: factor on the cost of a product of stumps.",
    ),
    "max_learners": _typed(int | None, "INTEGER", MODEL, "Maximum number of weak classifiers."),
    "max_bins": _typed(
        Any,
        "INTEGER",
        MODEL,
        "Maximum number of bins per feature, or none to use every threshold.",
        parser=integer_or_none,
    ),
    "feature_costs": _typed(
        Path | None,
        "FILE",
        MODEL,
        "File with the costs of the features: a JSON object, or CSV with the columns feature and "
        "cost.",
    ),
    "class_weight": _typed(
        str | None, "NAME", MODEL, "balanced gives all classes the same total weight."
    ),
    "tol": _typed(float, "NUMBER", SOLVER, "Certified relative duality gap at which to stop."),
    "solver": _typed(str, "NAME", SOLVER, f"Solver: auto, {', '.join(SOLVERS)}."),
    "pricing": _typed(str, "NAME", SOLVER, "Rule that selects new columns: exact or paper."),
    "columns_per_round": _typed(
        Any, "INTEGER", SOLVER, "Number of columns per round, or auto.", parser=integer_or_auto
    ),
    "n_iter_no_change": _typed(
        int | None,
        "INTEGER",
        SOLVER,
        "With --validation: number of points without improvement after which to stop, 5 by "
        "default.",
    ),
    "n_jobs": _typed(int | None, "INTEGER", SOLVER, "Number of threads. -1 uses all cores."),
    "random_state": _typed(
        int | None, "INTEGER", SOLVER, "Random seed. --holdout uses 0 by default."
    ),
}


def training_options(estimator: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of an estimator and of its training data.

    The command receives them as keyword arguments. An option that the command declares itself takes
    precedence.

    Parameters
    ----------
    estimator : type
        The parameters of its constructor are the options, with the same names and defaults.
    """
    parameters = inspect.signature(estimator).parameters
    options = {
        name: (_PARAMETERS[name], parameter.default)
        for name, parameter in parameters.items()
        if name in _PARAMETERS
    }
    options |= {name: (annotation, None) for name, annotation in _TRAINING_DATA.items()}

    def add_options(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command).parameters
        arguments = [p for p in own.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        derived = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
            )
            for name, (annotation, default) in options.items()
            if name not in own
        ]
        declared = [p for p in own.values() if p.kind is p.KEYWORD_ONLY]
        cast(Any, command).__signature__ = inspect.Signature([*arguments, *derived, *declared])
        return command

    return add_options
