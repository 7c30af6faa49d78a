"""The status of a fit, and the records of its rounds."""

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """The reason why a fit stopped.

    A member equals the string of its value. A fit of an estimator ends with one of the first
    seven, and on a cluster also with `OUT_OF_REACH`. Only baselines end with one of the last four;
    they also end with `MAX_ITER`, `NO_BETTER_COLUMN`, `STOPPED` or `INTERRUPTED`.

    Attributes
    ----------
    OPTIMAL : "optimal"
        The certified relative gap is at most `tol`.
    MAX_ITER : "max_iter"
        The maximum number of rounds is reached, or several rounds made no progress.
    NO_BETTER_COLUMN : "no_better_column"
        The pricing rule finds no further weak classifier.
    BUDGET : "budget"
        The maximum number of weak classifiers is reached.
    TIME_LIMIT : "time_limit"
        The callback `TimeLimit` stopped the fit.
    STOPPED : "stopped"
        Another callback stopped the fit.
    INTERRUPTED : "interrupted"
        The fit was interrupted from the keyboard.
    OUT_OF_REACH : "out_of_reach"
        The training rows on the cluster are no longer available.
    CONVERGED : "converged"
        The baseline reached the optimum of its own objective.
    SEPARATED : "separated"
        The weak classifiers separate the training rows, so no example weight is left.
    NO_EDGE : "no_edge"
        No weak classifier is better than chance.
    WORSE_THAN_HALF : "worse_than_half"
        The weighted error of the best weak classifier is not below one half.

    Examples
    --------
    >>> from directboost import Status
    >>> Status("time_limit")
    <Status.TIME_LIMIT: 'time_limit'>
    >>> Status.OPTIMAL == "optimal"
    True
    """

    OPTIMAL = "optimal"
    MAX_ITER = "max_iter"
    NO_BETTER_COLUMN = "no_better_column"
    BUDGET = "budget"
    TIME_LIMIT = "time_limit"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    OUT_OF_REACH = "out_of_reach"
    CONVERGED = "converged"
    SEPARATED = "separated"
    NO_EDGE = "no_edge"
    WORSE_THAN_HALF = "worse_than_half"


class RowsUnavailableError(RuntimeError):
    """Raised when the training rows are no longer available.

    Attributes
    ----------
    state : LoopState or None
        State of the boosting loop at that moment, if the loop had started.
    """

    state: Any = None


@dataclass(frozen=True)
class Record:
    """One round of column generation.

    `history_` of a fitted estimator holds one record per round. Callbacks receive it after the
    round has been priced, before its columns are added.

    Attributes
    ----------
    round : int
        Number of the round, starting at 0.
    columns : int
        Number of columns of the restricted master problem: whole features with all their
        thresholds for block descent, otherwise single weak classifiers.
    primal : float
        Best objective so far.
    dual : float
        Best lower bound so far. If the weak classifiers are found by search, it is the bound over
        those found up to this round.
    gap : float
        primal - dual.
    relative_gap : float
        The gap divided by the reducible part of the objective, the unit of `tol`.
    max_price : float
        Highest price of a weak classifier in this round.
    nu : float
        Absolute strength of the penalty.
    seconds_pricing, seconds_master : float
        Seconds spent so far on pricing, and on the restricted master problem.
    seconds : float
        Seconds since the start of the fit.
    bytes_moved : int
        Bytes sent since the previous record, if the rows are on a cluster; otherwise 0.
    iterations : int or None
        Iterations of the solver of the restricted master problem since the previous record.
    solved : bool or None
        Whether that solver reached the accuracy it was asked for. Both are None if unknown.
    learners : int or None
        Number of weak classifiers of the best model so far; None if unknown. The fitted model may
        have fewer, since those that the tolerance does not need are removed at the end.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> last = DirectBoostClassifier().fit(X, y).history_[-1]
    >>> last.primal >= last.dual, last.relative_gap <= 0.01
    (True, True)
    """

    round: int
    columns: int
    primal: float
    dual: float
    gap: float
    relative_gap: float
    max_price: float
    nu: float
    seconds_pricing: float
    seconds_master: float
    seconds: float
    bytes_moved: int = 0
    iterations: int | None = None
    solved: bool | None = None
    learners: int | None = None

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the fields, in order."""
        return tuple(f.name for f in fields(cls))


@dataclass(frozen=True)
class FoldRecord:
    """The scores of one point of a cross-validation.

    Attributes
    ----------
    nu : float
        The point, a fraction of nu_max.
    point, points : int
        Number of the point, counted from 1, and of all points.
    mean_score, standard_error : float
        Mean and standard error of the scores over the folds.
    best_score : float
        The highest mean score so far.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifierCV
    >>> from directboost.callbacks import Progress
    >>> class Collect(Progress):
    ...     def on_folds(self, record):
    ...         records.append(record)
    >>> records = []
    >>> clf = DirectBoostClassifierCV(nus=3, nu_min=0.1, cv=2, callbacks=Collect(every=1e9))
    >>> clf = clf.fit(*load_iris(return_X_y=True))
    >>> [record.point for record in records]
    [1, 2, 3]
    """

    nu: float
    point: int
    points: int
    mean_score: float
    standard_error: float
    best_score: float


@dataclass(frozen=True)
class RoundRecord:
    """One round of a baseline.

    A number that the method does not have is NaN.

    Attributes
    ----------
    round : int
        Number of the round.
    learners : int
        Number of weak classifiers so far.
    vote : float
        Step size of the round.
    error : float
        Weighted error of the weak classifiers that the round added.
    objective : float
        The objective that the method minimises, after the round.
    seconds : float
        Seconds since the start of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import SAMME
    >>> X, y = load_iris(return_X_y=True)
    >>> record = SAMME(n_rounds=5).fit(X, y).history_[-1]
    >>> record.learners
    5
    """

    round: int
    learners: int
    vote: float
    error: float
    objective: float
    seconds: float
