"""The paper's algorithms by the names it gives them.

Each function returns a `DirectBoostClassifier` set up as the paper describes: one column per
round, chosen by the best single class, all weights solved again, nu as printed, at most 500 weak
classifiers. nu is a value from the middle of the paper's grid. Every parameter can be overridden::

    multiboost_l1_hinge(nu=0.02, max_learners=100)
"""

from typing import Any

from .estimators.classifier import DirectBoostClassifier

__all__ = [
    "multiboost_fast",
    "multiboost_group",
    "multiboost_group_hinge",
    "multiboost_l1_exp",
    "multiboost_l1_hinge",
]


def multiboost_l1_hinge(**parameters: Any) -> DirectBoostClassifier:
    """Return MultiBoost with the hinge loss and the l1 penalty. Paper: Algorithm 1."""
    return _paper(parameters, loss="hinge", penalty="l1", nu=0.01)


def multiboost_l1_exp(**parameters: Any) -> DirectBoostClassifier:
    """Return MultiBoost with the exponential loss and the l1 penalty. Paper: Eq. 11 (primal)."""
    return _paper(parameters, loss="exponential", penalty="l1", nu=1e-6)


def multiboost_group(p: float = 2.0, **parameters: Any) -> DirectBoostClassifier:
    """Return MultiBoost with the logistic loss and the l1,p penalty. Paper: Algorithm 2."""
    return _paper(parameters, loss="logistic", penalty=p, nu=1e-3)


def multiboost_group_hinge(p: float = 2.0, **parameters: Any) -> DirectBoostClassifier:
    """Return MultiBoost with the hinge loss and the l1,p penalty. Paper: Algorithm 2."""
    return _paper(parameters, loss="hinge", penalty=p, nu=1e-3)


def multiboost_fast(p: float = 2.0, **parameters: Any) -> DirectBoostClassifier:
    """Return the fast form: logistic loss, one-vs-all margins, l1,p. Paper: Eq. 63 (primal)."""
    return _paper(parameters, loss="logistic", margin="one-vs-all", penalty=p, nu=1e-3)


def _paper(given: dict[str, Any], **preset: Any) -> DirectBoostClassifier:
    letter = {"pricing": "paper", "columns_per_round": 1, "nu_scale": "paper"}
    return DirectBoostClassifier(**{**letter, "max_learners": 500, **preset, **given})
